// What to translate with: the language of the text found by the server, both languages swapped, a model by name.

import * as api from "./api.js";
import {$, element} from "./dom.js";
import {t} from "./text.js";

/** The source language that leaves it to the server. */
export const AUTO = "auto";

export class Choices {
    /** translator: whose languages and text these are. */
    constructor(translator) {
        this.translator = translator;
        this.model = new URLSearchParams(location.search).get("model") ?? "";
        $("#swap").addEventListener("click", () => this.swap());
        $("#model-id").addEventListener("change", (event) => {
            this.model = event.target.value;
            translator.run();
        });
    }

    async start() {
        try {
            this.models = await api.models();
        } catch {
            this.models = []; // Then there is no choice.
        }
    }

    /** The models for the languages that are chosen, where there are several. */
    fill(source, target) {
        const fits = ({sources, targets}) => (source === AUTO || sources.includes(source)) && targets.includes(target);
        const names = (this.models ?? []).filter(fits).map(({id}) => id);
        if (!names.includes(this.model))
            this.model = "";
        $("#model-id").replaceChildren(element("option", {value: "", textContent: t`automatic`}), ...names.map((value) => element("option", {value, textContent: value})));
        $("#model-id").value = this.model;
        $("#model-choice").hidden = names.length < 2;
        $("#swap").disabled = !this.swapped(source, target);
    }

    /** The other way, if it is served: [source, target]. */
    swapped(source, target) {
        const from = source === AUTO ? this.translator.current?.source : source;
        const isServed = this.translator.sources.some(({code, targets}) => code === target && targets.includes(from));
        return from && from !== AUTO && isServed ? [target, from] : null;
    }

    /** The translation becomes the text. */
    swap() {
        const {translator} = this;
        const languages = this.swapped(translator.source.value, translator.target.value);
        if (!languages)
            return;
        const {text} = translator.current ?? {};
        [translator.source.value] = languages;
        translator.fillTargets(languages[1]);
        if (text)
            translator.text.value = text;
        translator.run();
    }
}
