// The page: what is typed is translated, what is translated is inspected, and the views show it.

import {$, announce, wireTheme} from "./dom.js";
import {Translator} from "./translator.js";
import {Viewer} from "./viewer.js";

const viewer = new Viewer({
    onPicked: (sentence) => translator.showPicked(sentence),
    onFailed: (error, retry) => translator.fail(error, retry),
});
const translator = new Translator({
    onTranslation: (translation, sentence) => viewer.show(translation, sentence),
    onPointed: (sentence) => viewer.pickSentence(sentence),
});

window.addEventListener("unhandledrejection", (event) => {
    if (event.reason?.name === "AbortError")
        event.preventDefault();
});

wireTheme();
await translator.start();
document.documentElement.dataset.ready = "true";
if (!$("#source-text").value)
    announce("Type a text to translate it.");
