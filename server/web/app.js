// The page: what is typed is translated, what is translated is inspected, and the views show it.

import * as api from "./api.js";
import {$, announce, element, hashFields, wireTheme} from "./dom.js";
import "./language.js";
import {t} from "./text.js";
import {Translator} from "./translator.js";
import {Viewer} from "./viewer.js";

const viewer = new Viewer({
    onPicked: (sentence) => translator.showPicked(sentence),
    onFailed: (error, retry) => translator.fail(error, retry),
    onInspected: (inspector) => (comparison || isCompared() ? compare(inspector, !comparison) : undefined),
});
const translator = new Translator({
    onTranslation: (translation, sentence) => viewer.show(translation, sentence),
    onPointed: (sentence) => viewer.pickSentence(sentence),
});

// The comparison, which is loaded when it is wanted first.

let comparison;
const isCompared = () => hashFields().get("view") === "compare";

async function compare(inspector, isOpened) {
    const button = $("#open-compare");
    button.disabled = true;
    try {
        const {Comparison} = await import("./compare.js");
        const models = await api.models();
        comparison ??= new Comparison($("#comparison"), models, {onTake: (text) => translator.take(viewer.index, text)});
    } catch (error) {
        button.disabled = false;
        translator.fail(error, () => compare(inspector, isOpened));
        return;
    }
    button.hidden = true;
    $("#comparison").hidden = false;
    await comparison.show(inspector);
    if (isOpened)
        $("#compare").scrollIntoView();
}

$("#open-compare").addEventListener("click", () => compare(viewer.inspector, true));
$("#own").addEventListener("click", async () => {
    await compare(viewer.inspector, true);
    await comparison?.choose({mode: "yours"});
    $("#comparison textarea")?.focus({preventScroll: true});
});
window.addEventListener("hashchange", async () => {
    if (!isCompared() || !viewer.inspector)
        return;
    const {readAddress} = await import("./compare.js");
    if (comparison)
        Object.assign(comparison, readAddress());
    await compare(viewer.inspector, true);
});

// Files, chosen or dropped anywhere.

let files, earlier = Promise.resolve();

/** In the order in which they come, also those that come before the code is here. */
function translateFiles(chosen) {
    earlier = earlier.then(async () => {
        try {
            const {Files} = await import("./files.js");
            files ??= new Files(translator);
        } catch (error) {
            translator.fail(error, () => translateFiles(chosen));
            return;
        }
        files.translate(chosen);
    });
}

$("#file").addEventListener("click", () => {
    const input = element("input", {type: "file", multiple: true, onchange: () => translateFiles([...input.files])});
    input.click();
});
for (const type of ["dragover", "dragleave", "drop"])
    window.addEventListener(type, (event) => {
        if ($("#file").hidden || !event.dataTransfer?.types.includes("Files"))
            return;
        event.preventDefault();
        $(".translate").classList.toggle("dropping", type === "dragover");
        if (type === "drop")
            translateFiles([...event.dataTransfer.files]);
    });

window.addEventListener("unhandledrejection", (event) => {
    if (event.reason?.name === "AbortError")
        event.preventDefault();
});

wireTheme();
await translator.start();
document.documentElement.dataset.ready = "true";
if (!$("#source-text").value)
    announce(t`Type a text to translate it.`);
