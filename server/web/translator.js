// The upper card: text in, translation out while typing, and the words of both linked on hover.

import * as api from "./api.js";
import {$, announce, element, frame, percent} from "./dom.js";
import {findWords} from "./words.js";

const DEBOUNCE_MS = 250;
// Beyond this a link would not fit everywhere that links are pasted.
const MOST_LINK_CHARACTERS = 1500;
// A highlight in the text field, for weights that are more than noise.
const MARKED_WEIGHT = 0.1;
const LEVELS = 5;

const EXAMPLES = {
    en: ["Where is the train station?", "I would have called you, but I lost my phone.", "The children are playing in the garden."],
    de: ["Wo ist der Bahnhof?", "Ich hätte dich angerufen, aber ich habe mein Telefon verloren."],
};

export class Translator {
    /**
     * onTranslation(translation or null, signal): {q, text, source, target, forced, isPivoted};
     * forced is the text of a translation that is not the model's first, isPivoted says that it
     * went through several models. onPointed(sentence): a sentence's index.
     */
    constructor({onTranslation, onPointed}) {
        Object.assign(this, {onTranslation, onPointed});
        this.text = $("#source-text");
        this.marks = $("#source-marks");
        this.output = $("#translation");
        this.source = $("#source-lang");
        this.target = $("#target-lang");
        this.grow = frame(() => this.fitText());
        this.wire();
    }

    wire() {
        this.text.addEventListener("input", () => this.onInput());
        this.text.addEventListener("scroll", () => (this.marks.scrollTop = this.text.scrollTop));
        this.source.addEventListener("change", () => {
            this.fillTargets();
            this.run();
        });
        this.target.addEventListener("change", () => this.run());
        $("#clear").addEventListener("click", () => {
            this.text.value = "";
            this.text.focus();
            this.onInput();
        });
        $("#copy").addEventListener("click", () => this.copy());
        this.output.addEventListener("pointerover", (event) => this.point(event.target));
        this.output.addEventListener("pointerleave", () => this.mark(null));
        this.output.addEventListener("click", (event) => this.choose(event.target));
        new ResizeObserver(this.grow).observe(this.text.parentElement);
    }

    async start() {
        const asked = new URLSearchParams(location.search);
        this.text.value = asked.get("q") ?? "";
        try {
            this.languages = await api.languages();
        } catch (error) {
            this.fail(error, () => this.start());
            return;
        }
        this.fillLanguages(asked.get("source"), asked.get("target"));
        this.fillExamples();
        await this.run();
    }

    // Languages ---------------------------------------------------------------------------------

    fillLanguages(source, target) {
        const others = ({code, targets}) => targets.filter((one) => one !== code);
        const sources = this.languages.filter((language) => others(language).length);
        if (!sources.length && source && target)
            sources.push({code: source, name: source, targets: [target]});
        this.sources = sources;
        this.source.replaceChildren(...sources.map(({code, name}) => element("option", {value: code, textContent: name})));
        const isKnown = sources.some(({code}) => code === source);
        this.source.value = isKnown ? source : (sources[0]?.code ?? "");
        this.fillTargets(target);
        const isServed = (!source || isKnown) && (!target || this.target.value === target);
        this.notice = isServed ? "" : `This server does not translate from ${source ?? this.source.value} into ${target ?? this.target.value}.`;
        if (!sources.length)
            this.notice = "This server does not say which languages its model translates: set source_lang and target_lang.";
    }

    nameOf(code) {
        return this.languages.find((language) => language.code === code)?.name ?? code;
    }

    fillTargets(wanted = this.target.value) {
        const source = this.sources.find(({code}) => code === this.source.value);
        const targets = (source?.targets ?? []).filter((code) => code !== source.code);
        this.target.replaceChildren(...targets.map((code) => element("option", {value: code, textContent: this.nameOf(code)})));
        this.target.value = targets.includes(wanted) ? wanted : (targets[0] ?? "");
        this.text.lang = this.source.value;
        this.output.lang = this.target.value;
    }

    fillExamples() {
        const examples = EXAMPLES[this.source.value.split("-")[0]] ?? [];
        $("#examples").append(...examples.map((text) => element("button.example", {type: "button", textContent: text, onclick: () => this.fill(text)})));
        $("#examples").classList.toggle("empty", !examples.length);
    }

    fill(text) {
        this.text.value = text;
        this.run();
    }

    // Translating -------------------------------------------------------------------------------

    onInput() {
        clearTimeout(this.timer);
        this.controller?.abort();
        this.mark(null);
        this.fitText();
        this.timer = setTimeout(() => this.run(), DEBOUNCE_MS);
    }

    /** Translates what is there now; what is on its way is dropped. */
    async run() {
        clearTimeout(this.timer);
        this.controller?.abort();
        this.controller = new AbortController();
        const {signal} = this.controller;
        const q = this.text.value;
        this.fitText();
        this.keepLink(q);
        if (!q.trim()) {
            this.clear();
            return;
        }
        this.setBusy(true);
        try {
            const reply = await api.translate(q, this.source.value, this.target.value, signal);
            this.show(q, reply);
            await this.onTranslation(this.current, signal);
        } catch (error) {
            this.fail(error, () => this.run());
        } finally {
            if (signal === this.controller.signal)
                this.setBusy(false);
        }
    }

    clear() {
        this.setBusy(false);
        this.output.replaceChildren();
        this.links = null;
        $("#alternatives").hidden = true;
        $("#copy").disabled = true;
        this.showNotice();
        this.onTranslation(null);
    }

    show(q, {translatedText, alternatives = [], models, via}) {
        const [source, target] = [this.source.value, this.target.value];
        this.current = {q, source, target, text: translatedText, isPivoted: Boolean(via)};
        if (via)
            this.notice = `Translated through ${via.map((code) => this.nameOf(code)).join(" and ")}, with ${models.join(" and ")}. Attention is that of one model, so there is none to show.`;
        this.choices = [translatedText, ...alternatives];
        this.showNotice();
        this.fillOutput(translatedText);
        this.fillAlternatives();
        announce(`Translation: ${translatedText}`);
    }

    fillOutput(text) {
        this.links = null;
        this.mark(null);
        this.output.replaceChildren(text);
        $("#copy").disabled = !text;
    }

    fillAlternatives() {
        const others = this.choices.filter((text) => text !== this.current.text);
        const items = others.map((text) => element("li", {}, element("button.alternative", {type: "button", lang: this.current.target, textContent: text, onclick: () => this.take(text)})));
        $("#alternatives ul").replaceChildren(...items);
        $("#alternatives").hidden = !others.length;
    }

    /** Puts another of the model's translations in the first one's place. */
    async take(text) {
        const isFirst = text === this.choices[0];
        this.current = {...this.current, text, forced: isFirst ? undefined : text};
        this.fillOutput(text);
        this.fillAlternatives();
        $("#alternatives button")?.focus();
        announce(`Translation: ${text}`);
        this.controller.abort();
        this.controller = new AbortController();
        try {
            await this.onTranslation(this.current, this.controller.signal);
        } catch (error) {
            this.fail(error, () => this.take(text));
        }
    }

    // Errors and the like -----------------------------------------------------------------------

    fail(error, retry) {
        if (error.name === "AbortError")
            return;
        if (!(error instanceof api.ApiError))
            console.error(error);
        const message = element("span", {textContent: error.message});
        const again = element("button.quiet", {type: "button", textContent: "Try again", onclick: retry});
        $("#error").replaceChildren(message, again);
        $("#error").hidden = false;
    }

    showNotice() {
        $("#error").replaceChildren(this.notice ?? "");
        $("#error").hidden = !this.notice;
        this.notice = "";
    }

    offerLinks(load) {
        const button = element("button.quiet", {type: "button", textContent: "Show where the words came from", onclick: async () => {
            $("#error").hidden = true;
            this.setBusy(true);
            try {
                await load();
            } catch (error) {
                this.fail(error, () => this.offerLinks(load));
            }
            this.setBusy(false);
        }});
        $("#error").replaceChildren(element("span", {textContent: "This is a long text, so its attention is not fetched by itself."}), button);
        $("#error").hidden = false;
    }

    setBusy(isBusy) {
        $("#busy").classList.toggle("on", isBusy);
        this.output.setAttribute("aria-busy", String(isBusy));
    }

    async copy() {
        const button = $("#copy");
        try {
            await navigator.clipboard.writeText(this.current.text);
            button.textContent = "Copied";
        } catch {
            getSelection().selectAllChildren(this.output);
            button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
        }
        announce("The translation is copied.");
        setTimeout(() => (button.textContent = "Copy"), 1500);
    }

    /** The address of the page leads back to this text. */
    keepLink(q) {
        const fields = new URLSearchParams({source: this.source.value, target: this.target.value, q});
        const isEmpty = !q.trim() || q.length > MOST_LINK_CHARACTERS;
        history.replaceState(null, "", (isEmpty ? location.pathname : `?${fields}`) + location.hash);
    }

    fitText() {
        this.text.style.height = "auto";
        this.text.style.height = `${Math.min(window.innerHeight * 0.5, this.text.scrollHeight + 2)}px`;
        $("#clear").hidden = !this.text.value;
        $("#examples").hidden = Boolean(this.text.value);
    }

    // Words linked on hover ---------------------------------------------------------------------

    /** Makes the translation's words point at the source's: reply is POST /attention's. */
    link(reply) {
        const {text, source, target} = this.current;
        if (reply.target_text !== text)
            return;
        const spans = [];
        let at = 0;
        for (const word of findWords(text, target)) {
            const span = element("span.out", {textContent: word.text});
            span.dataset.begin = word.begin;
            spans.push(text.slice(at, word.begin), span);
            at = word.end;
        }
        this.output.replaceChildren(...spans, text.slice(at));
        this.links = {reply, words: findWords(reply.source_text, source)};
    }

    sentenceAt(at) {
        return this.links.reply.sentences.findIndex(({target}) => target.begin_utf16 <= at && at < target.end_utf16);
    }

    point(node) {
        if (!this.links || !node.classList.contains("out") || node === this.pointed)
            return;
        const begin = Number(node.dataset.begin);
        const end = begin + node.textContent.length;
        const sentence = this.links.reply.sentences[this.sentenceAt(begin)];
        if (sentence)
            this.mark(node, this.weigh(sentence, begin, end));
    }

    choose(node) {
        if (!this.links || !node.classList.contains("out"))
            return;
        const sentence = this.sentenceAt(Number(node.dataset.begin));
        if (sentence >= 0)
            this.onPointed(sentence);
    }

    /** How much each word of the source was looked at for [begin, end) of the translation. */
    weigh({source_tokens: sources, output_tokens: outputs, alignment}, begin, end) {
        const rows = outputs.flatMap((token, i) => (!token.special && token.begin_utf16 < end && token.end_utf16 > begin ? [alignment.matrix[i]] : []));
        return this.links.words.map((word) => {
            let weight = 0;
            sources.forEach((token, column) => {
                if (!token.special && token.begin_utf16 < word.end && token.end_utf16 > word.begin)
                    for (const row of rows)
                        weight += row[column] / rows.length;
            });
            return {...word, weight};
        });
    }

    /** Highlights words behind the text field. */
    mark(node, words = []) {
        this.pointed?.classList.remove("pointed");
        this.pointed = node;
        node?.classList.add("pointed");
        const text = this.text.value;
        if (!node || !this.links || text !== this.links.reply.source_text) {
            this.marks.replaceChildren();
            return;
        }
        const parts = [];
        let at = 0;
        for (const {begin, end, weight} of words.filter((word) => word.weight >= MARKED_WEIGHT)) {
            const level = Math.min(LEVELS, Math.ceil(weight * LEVELS * 1.4));
            parts.push(text.slice(at, begin), element(`mark.level-${level}`, {textContent: text.slice(begin, end), title: percent(weight)}));
            at = end;
        }
        this.marks.replaceChildren(...parts, text.slice(at));
        this.marks.scrollTop = this.text.scrollTop;
    }
}
