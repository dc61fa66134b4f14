// The upper card: text in, translation out while typing, and the words of both linked on hover.

import * as api from "./api.js";
import {$, announce, changeHash, directionOf, element, embed, frame, hashFields, percent} from "./dom.js";
import {AUTO, Choices} from "./choices.js";
import {tooLong} from "./messages.js";
import {addressed, keptText, languageName, plural, t} from "./text.js";
import {Translation} from "./translation.js";
import {describeWarnings} from "./warnings.js";
import {findWords, markChanged, weightsOf, wordsOf} from "./words.js";

const DEBOUNCE_MS = 250;
// Beyond this a link would not fit everywhere that links are pasted.
const MOST_LINK_CHARACTERS = 1500;
// A highlight in the text field, for weights that are more than noise.
const MARKED_WEIGHT = 0.1;
const LEVELS = 5;
// The pointer rests on a word, and does not only pass over it.
const REST_MS = 60;
const MOST_WARNINGS = 8;
// A text that comes near the server's limit is counted.
const NEAR_LIMIT = 0.8;

const EXAMPLES = {
    en: ["Where is the train station?", "I would have called you, but I lost my phone.", "The children are playing in the garden."],
    de: ["Wo ist der Bahnhof?", "Ich hätte dich angerufen, aber ich habe mein Telefon verloren."],
};

export class Translator {
    /**
     * onTranslation(translation or null, sentence): what is there now (translation.js), and the
     * sentence to look at. onPointed(sentence): another one. Both by index.
     */
    constructor({onTranslation, onPointed}) {
        Object.assign(this, {onTranslation, onPointed});
        this.text = $("#source-text");
        this.marks = $("#source-marks");
        this.output = $("#translation");
        this.source = $("#source-lang");
        this.target = $("#target-lang");
        this.choices = new Choices(this);
        this.grow = frame(() => this.fitText());
        this.wire();
        if (!embed)
            this.text.focus({preventScroll: true});
    }

    wire() {
        this.text.addEventListener("input", () => this.onInput());
        this.text.addEventListener("scroll", () => (this.marks.scrollTop = this.text.scrollTop));
        this.source.addEventListener("change", () => {
            this.fillTargets();
            this.run();
        });
        this.target.addEventListener("change", () => {
            this.choices.fill(this.source.value, this.target.value);
            this.run();
        });
        $("#clear").addEventListener("click", () => {
            this.text.value = "";
            this.text.focus();
            this.onInput();
        });
        $("#copy").addEventListener("click", () => this.copy());
        this.output.addEventListener("pointerover", (event) => this.point(event.target));
        this.output.addEventListener("pointerleave", () => this.mark(null));
        this.output.addEventListener("click", (event) => this.choose(event.target));
        // A text field cuts off on paper what it does not show.
        window.addEventListener("beforeprint", () => this.marks.firstChild ?? this.marks.append(this.text.value));
        window.addEventListener("afterprint", () => this.mark(null));
        document.addEventListener("waiting", ({detail}) => this.showWaiting(detail));
        new ResizeObserver(this.grow).observe(this.text.parentElement);
    }

    async start() {
        const asked = new URLSearchParams(location.search);
        this.text.value = keptText() ?? asked.get("q") ?? "";
        this.fitText();
        try {
            [this.languages, {charLimit: this.limit, supportedFilesFormat: this.formats}] = await Promise.all([api.languages(), api.settings(), this.choices.start()]);
        } catch (error) {
            this.fail(error, () => this.start());
            return;
        }
        this.fillLanguages(asked.get("source"), asked.get("target"));
        this.fillExamples();
        this.offerFiles();
        await this.run();
    }

    // Languages ---------------------------------------------------------------------------------

    fillLanguages(source, target) {
        const others = ({code, targets}) => targets.filter((one) => one !== code);
        const sources = this.languages.filter((language) => others(language).length);
        if (!sources.length && source && target)
            sources.push({code: source, name: source, targets: [target]});
        this.sources = sources;
        this.source.replaceChildren(...sources.map(({code}) => element("option", {value: code, textContent: this.nameOf(code)})));
        if (sources.length)
            this.source.append(element("option", {value: AUTO, textContent: t`Detect language`}));
        const isKnown = source === AUTO || sources.some(({code}) => code === source);
        this.source.value = isKnown ? source : (sources[0]?.code ?? "");
        this.fillTargets(target);
        const isServed = (!source || isKnown) && (!target || this.target.value === target);
        this.notice = isServed ? "" : t`This server does not translate from ${this.nameOf(source ?? this.source.value)} into ${this.nameOf(target ?? this.target.value)}.`;
        if (!sources.length)
            this.notice = t`This server does not say which languages its model translates: set source_lang and target_lang.`;
    }

    nameOf(code) {
        return languageName(code, this.languages.find((one) => one.code === code)?.name);
    }

    fillTargets(wanted = this.target.value) {
        const code = this.source.value;
        const sources = this.sources.filter((one) => code === AUTO || one.code === code);
        const targets = [...new Set(sources.flatMap((one) => one.targets.filter((target) => target !== one.code)))];
        this.target.replaceChildren(...targets.map((code) => element("option", {value: code, textContent: this.nameOf(code)})));
        // Who reads the page in a language wants translations into it.
        const preferred = [wanted, document.documentElement.lang].find((one) => targets.includes(one));
        this.target.value = preferred ?? targets[0] ?? "";
        this.choices.fill(code, this.target.value);
        this.pointStart();
        this.text.lang = code === AUTO ? "" : code;
        this.output.lang = this.target.value;
        this.text.dir = this.marks.dir = directionOf(this.source.value);
        this.output.dir = directionOf(this.target.value);
    }

    fillExamples() {
        const examples = EXAMPLES[this.source.value.split("-")[0]] ?? [];
        $("#examples").append(...examples.map((text) => element("button.example", {type: "button", lang: this.source.value, textContent: text, onclick: () => this.fill(text)})));
        $("#examples").classList.toggle("empty", !examples.length);
    }

    offerFiles() {
        $("#file").hidden = embed || !this.formats.length || !this.target.value;
        $("#file").title = t`Translate files (${this.formats.join(" ")}): choose them here, or drop them on the page`;
    }

    /** The walk through the steps leads to an example in a language that is served. */
    pointStart() {
        const [q] = EXAMPLES[this.source.value.split("-")[0]] ?? [];
        const fields = new URLSearchParams({...addressed, source: this.source.value, target: this.target.value, q: q ?? ""});
        for (const link of $("#start").querySelectorAll("a")) {
            link.dataset.hash ??= link.hash;
            link.href = q ? `?${fields}${link.dataset.hash}&step=3` : "#source-text";
        }
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
        this.age();
        this.fitText();
        this.showCount();
        this.timer = setTimeout(() => this.run(), DEBOUNCE_MS);
    }

    /** What is shown belongs to another text from now on. */
    age() {
        for (const selector of ["#inside", "#alternatives", "#warnings"])
            $(selector).classList.add("stale");
        this.output.setAttribute("aria-busy", "true");
    }

    /** Translates what is there now; what is on its way is dropped. */
    async run() {
        clearTimeout(this.timer);
        this.controller?.abort();
        this.controller = new AbortController();
        const {signal} = this.controller;
        const q = this.text.value;
        this.fitText();
        this.showCount();
        this.keepLink(q);
        if (!q.trim()) {
            this.clear();
            return;
        }
        this.age();
        this.setBusy(true);
        try {
            this.checkLength(q);
            const {model} = this.choices;
            const reply = await api.translate(q, this.source.value, this.target.value, signal, model);
            this.show(new Translation(q, this.source.value, this.target.value, reply, signal, model));
            await this.onTranslation(this.current, this.index);
        } catch (error) {
            if (error.name !== "AbortError")
                this.drop();
            this.fail(error, () => this.run());
        } finally {
            if (signal === this.controller.signal)
                this.setBusy(false);
        }
    }

    clear() {
        this.setBusy(false);
        this.drop();
        this.showNotice();
    }

    /** What is there is no translation of the text any more. */
    drop() {
        this.current = null;
        this.mark(null);
        this.output.replaceChildren();
        $("#alternatives").hidden = $("#warnings").hidden = true;
        for (const old of document.querySelectorAll(".stale"))
            old.classList.remove("stale");
        $("#copy").disabled = $("#own").disabled = true;
        this.onTranslation(null);
    }

    show(translation) {
        this.current = translation;
        if (translation.pivot) {
            const {via, models} = translation.pivot;
            this.notice = t`Translated through ${via.map((code) => this.nameOf(code)).join(t` and `)}, with ${models.join(t` and `)}. Attention is that of one model, so there is none to show.`;
        } else if (translation.whole) {
            this.notice = t`There is nothing here that the model could translate: the text stays as it is.`;
        }
        this.showDetected(translation.source);
        this.showNotice();
        this.index = this.restore(translation);
        this.fillOutput();
        this.fillWarnings();
        this.showPicked(this.index);
        announce(t`Translation: ${translation.text}`);
    }

    /** Which language the server found, where it was asked to. */
    showDetected(code) {
        const option = $(`[value=${AUTO}]`, this.source);
        if (!option)
            return;
        const isFound = this.source.value === AUTO && code !== AUTO;
        option.textContent = isFound ? t`Detected: ${this.nameOf(code)}` : t`Detect language`;
        this.choices.fill(this.source.value, this.target.value);
    }

    /** The other translations that the address names are taken; returns the sentence that it names. */
    restore(translation) {
        const fields = hashFields();
        for (const part of (fields.get("taken") ?? "").split(",")) {
            const [index, choice] = part.split(".");
            const text = translation.part(index)?.choices[choice];
            if (text !== undefined)
                translation.take(index, text);
        }
        return Math.min(Math.max(0, translation.sentences.length - 1), Number(/^\d+$/.exec(fields.get("sentence"))?.[0] ?? 0));
    }

    /** The sentences' words, which point at those of the source. */
    fillOutput() {
        const {whole, sentences, gaps, target, text} = this.current;
        this.mark(null);
        const parts = whole ? [whole.text] : gaps.flatMap((gap, i) => (i < sentences.length ? [gap, sentenceElement(sentences[i].text, i, target)] : [gap]));
        this.output.replaceChildren(...parts);
        $("#copy").disabled = !text;
        $("#own").disabled = !sentences.length;
    }

    fillWarnings() {
        const {warnings, sentences} = this.current;
        const isFirst = (one) => !one || one.text === one.choices[0];
        const lines = describeWarnings(warnings.filter(({sentence}) => isFirst(sentences[sentence])), sentences);
        const items = lines.slice(0, MOST_WARNINGS).map(({sentence, name, more, what}) => {
            const subject = sentence === undefined ? name : element("button.go", {type: "button", textContent: name, onclick: () => this.onPointed(sentence)});
            return element("li", {}, subject, t`${more}: ${what}.`);
        });
        if (lines.length > items.length)
            items.push(element("li", {textContent: plural(lines.length - items.length, () => t`There is one more.`, () => t`There are ${lines.length - items.length} more.`)}));
        $("#warnings ul").replaceChildren(...items);
        $("#warnings").hidden = !items.length;
        $("#warnings").classList.remove("stale");
    }

    /** A sentence is looked at: so are its alternatives. */
    showPicked(index) {
        this.forgive();
        const {sentences, target} = this.current;
        const {text, choices} = this.current.part(index);
        const others = choices.filter((choice) => choice !== text);
        const items = others.map((choice) => this.alternative(index, choice, text));
        $("#alternatives h3").textContent = sentences.length > 1 ? t`Other translations of sentence ${index + 1}` : t`Other translations the model found`;
        $("#alternatives ul").replaceChildren(...items);
        $("#alternatives").hidden = !others.length;
        $("#alternatives").classList.remove("stale");
        for (const one of this.output.querySelectorAll(".sentence"))
            one.classList.toggle("picked", sentences.length > 1 && Number(one.dataset.index) === index);
    }

    /** Another translation of a sentence, with the words that are not in the one that is there. */
    alternative(index, choice, text) {
        const {target} = this.current;
        const button = element("button.alternative", {type: "button", lang: target, onclick: () => this.take(index, choice)}, element("span", {}, ...markChanged(choice, text, target)));
        const item = element("li", {dir: directionOf(target)}, button);
        requestAnimationFrame(() => {
            if (button.firstChild.scrollHeight > button.firstChild.clientHeight + 1)
                item.append(element("button.quiet", {type: "button", textContent: t`All of it`, "aria-expanded": "false", onclick: ({target: more}) => {
                    const isOpen = button.classList.toggle("open");
                    more.setAttribute("aria-expanded", String(isOpen));
                    more.textContent = isOpen ? t`Less` : t`All of it`;
                }}));
        });
        return item;
    }

    /** Puts another of the model's translations in a sentence's place. */
    async take(index, text) {
        this.current.take(index, text);
        changeHash({taken: this.current.taken()});
        this.fillOutput();
        this.fillWarnings();
        this.showPicked(index);
        $("#alternatives button")?.focus();
        announce(t`Translation: ${text}`);
        await this.onTranslation(this.current, index);
    }

    // Errors and the like -----------------------------------------------------------------------

    fail(error, retry) {
        if (error.name === "AbortError")
            return;
        const isOurs = error instanceof api.ApiError;
        if (!isOurs)
            console.error(error);
        const message = element("span", {textContent: isOurs ? error.message : t`The page could not go on: try again, or reload it.`});
        const again = element("button.quiet", {type: "button", textContent: t`Try again`, onclick: () => {
            this.forgive();
            retry();
        }});
        const isInVain = error.status === 400 || error.status === 413; // The same request is refused again.
        $("#error").replaceChildren(message, ...(isInVain ? [] : [again]));
        $("#error").classList.remove("calm");
        $("#error").hidden = false;
        this.hasFailed = true;
    }

    forgive() {
        if (this.hasFailed)
            $("#error").hidden = true;
        this.hasFailed = false;
    }

    showNotice() {
        this.hasFailed = false;
        $("#error").replaceChildren(this.notice ?? "");
        $("#error").classList.toggle("calm", Boolean(this.current)); // there is a translation
        $("#error").hidden = !this.notice;
        this.notice = "";
    }

    /** Says that an answer comes later. */
    showWaiting(text) {
        $("#waiting").textContent = text;
        $("#waiting").hidden = !text;
    }

    checkLength(q) {
        const n = [...q].length;
        if (this.limit >= 0 && n > this.limit)
            throw new api.ApiError(tooLong(n, this.limit), 400);
    }

    /** How many characters there are, where the server's limit is near. */
    showCount() {
        const n = [...this.text.value].length;
        $("#count").hidden = !(this.limit >= 0 && n > NEAR_LIMIT * this.limit);
        $("#count").textContent = $("#count").hidden ? "" : t`${n} of ${this.limit} characters`;
        $("#count").classList.toggle("over", n > this.limit);
    }

    setBusy(isBusy) {
        $("#busy").classList.toggle("on", isBusy);
        this.output.setAttribute("aria-busy", String(isBusy));
    }

    async copy() {
        const button = $("#copy");
        try {
            await navigator.clipboard.writeText(this.current.text);
            button.textContent = t`Copied`;
        } catch {
            getSelection().selectAllChildren(this.output);
            button.textContent = document.execCommand("copy") ? t`Copied` : t`Selected`;
        }
        announce(t`The translation is copied.`);
        setTimeout(() => (button.textContent = t`Copy`), 1500);
    }

    /** The address of the page leads back to this text. */
    keepLink(q) {
        if (embed)
            return; // It is another page's to say.
        const fields = new URLSearchParams({...addressed, source: this.source.value, target: this.target.value, ...(this.choices.model && {model: this.choices.model}), q});
        const isEmpty = !q.trim() || q.length > MOST_LINK_CHARACTERS;
        const isOther = this.linked !== undefined && this.linked !== String(fields);
        this.linked = String(fields);
        history.replaceState(null, "", (isEmpty ? location.pathname + (addressed.lang ? `?${new URLSearchParams(addressed)}` : "") : `?${fields}`) + location.hash);
        if (isOther) // these are of the text before
            changeHash({step: undefined, sentence: undefined, taken: undefined});
    }

    fitText() {
        this.text.style.height = "auto";
        this.text.style.height = `${Math.min(window.innerHeight * 0.5, this.text.scrollHeight + 2)}px`;
        $("#clear").hidden = !this.text.value;
        $("#examples").hidden = $("#start").hidden = Boolean(this.text.value.trim());
    }

    // Words linked on hover ---------------------------------------------------------------------

    point(node) {
        if (!node.classList.contains("out") || node === this.pointed)
            return;
        this.mark(node);
        clearTimeout(this.resting);
        this.resting = setTimeout(() => this.follow(node), REST_MS);
    }

    /** Marks where the word came from. */
    async follow(node) {
        const translation = this.current;
        const index = sentenceOf(node);
        let reply;
        try {
            [reply] = await translation.attention(index);
        } catch {
            return; // It is said when the sentence is looked at.
        }
        if (node === this.pointed && reply.sentences.length && this.text.value === translation.q)
            this.mark(node, weigh(node, reply.sentences[0], translation.source, translation.sentences[index].source.begin_utf16));
    }

    choose(node) {
        if (node.classList.contains("out") && !this.current.pivot)
            this.onPointed(sentenceOf(node));
    }

    /** Scrolls the text field to a mark behind it. */
    bringIntoSight(mark) {
        const {scrollTop, clientHeight} = this.text;
        if (mark && (mark.offsetTop < scrollTop || mark.offsetTop + mark.offsetHeight > scrollTop + clientHeight))
            this.text.scrollTop = mark.offsetTop - clientHeight / 3;
    }

    /** Highlights words behind the text field. */
    mark(node, words = []) {
        this.pointed?.classList.remove("pointed");
        this.pointed = node;
        node?.classList.add("pointed");
        const text = this.text.value;
        if (!words.length) {
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
        this.bringIntoSight($("mark", this.marks));
        this.marks.scrollTop = this.text.scrollTop;
    }
}

/** A sentence's words as elements that know where they begin in it. */
function sentenceElement(text, index, language) {
    const parts = [];
    let at = 0;
    for (const word of findWords(text, language)) {
        const span = element("span.out", {textContent: word.text});
        span.dataset.begin = word.begin;
        parts.push(text.slice(at, word.begin), span);
        at = word.end;
    }
    const sentence = element("span.sentence", {}, ...parts, text.slice(at));
    sentence.dataset.index = index;
    return sentence;
}

const sentenceOf = (word) => Number(word.parentElement.dataset.index);

/** The source's words, from offset on, and how much each was looked at for a word of the translation. */
function weigh(node, {source, source_tokens: sources, output_tokens: outputs, alignment}, language, offset) {
    const begin = Number(node.dataset.begin);
    const own = [{begin, end: begin + node.textContent.length}];
    const rows = outputs.flatMap((token, i) => (wordsOf(token, own).length ? [alignment.matrix[i]] : []));
    const words = findWords(source.text, language, source.begin_utf16);
    const weights = weightsOf(rows, sources.map((token) => wordsOf(token, words)), words.length);
    return words.map((word, i) => ({begin: word.begin + offset, end: word.end + offset, weight: weights[i]}));
}
