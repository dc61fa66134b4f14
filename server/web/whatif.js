// What if: heads, layers and words of the source as switches, and what becomes of the translation.

import {announce, element, roving} from "./dom.js";
import {decimal, t} from "./text_why.js";
import {findWords, markChanged} from "./words.js";

const KINDS = {encoder: t`Encoder`, decoder: t`Decoder, looking back`, cross: t`Decoder, looking at the source`};
const N_LISTED = 5;

const total = ({output_tokens: tokens}) => tokens.reduce((sum, {logprob}) => sum + (logprob ?? 0), 0);

export class WhatIf {
    constructor(player) {
        this.player = player;
        this.body = element("div");
        this.box = element("details.what-if", {ontoggle: () => this.fill()}, element("summary", {}, element("h3", {textContent: t`What if a head were off, or a word not there?`})), this.body);
    }

    /** Another sentence. */
    reset() {
        this.controller?.abort();
        this.costs = null;
    }

    words(sentence) {
        return findWords(sentence.source.text, this.player.inspector.request.source);
    }

    /** The text without the words that are switched off. */
    remaining(sentence) {
        const {text} = sentence.source;
        const words = this.words(sentence);
        let [rest, at] = ["", 0];
        for (const index of [...this.player.without].sort((a, b) => a - b)) {
            rest += text.slice(at, words[index].begin);
            at = words[index].end;
        }
        return (rest + text.slice(at)).replace(/\s+/g, " ").trim();
    }

    /** The player has another run. */
    show({off, ids, without}) {
        Object.assign(this, {off, ids, without});
        if (off.length || ids.length || without.length)
            this.box.open = true;
        this.fill();
    }

    toggle(name) {
        const {off} = this.player;
        this.player.choose({off: off.includes(name) ? off.filter((one) => one !== name) : [...off, name]});
    }

    fill() {
        if (!this.box.open || !this.player.run)
            return;
        const focus = document.activeElement?.dataset?.name;
        this.body.replaceChildren(element("p.lead", {textContent: t`Switch off a head and what it gathers is 0; the model translates without it, and everything above is of that run.`}), this.result(), this.tools(), ...this.grids(), this.sourceWords());
        if (focus)
            this.body.querySelector(`[data-name="${focus}"]`)?.focus();
    }

    // Before and after ------------------------------------------------------------------------------

    result() {
        const before = this.player.inspector.sentence;
        const after = this.player.run.sentence;
        const row = (name, text, score) => element("div.outcome", {}, element("span", {textContent: name}), element("p", {lang: this.player.inspector.request.target, dir: "auto"}, ...text), element("small", {textContent: t`log-probability ${decimal(score, 2)}`}));
        const same = before.target.text === after.target.text;
        announce(this.player.isAltered ? (same ? t`The translation stays the same.` : t`Now: ${after.target.text}`) : "");
        if (!this.player.isAltered)
            return element("div.outcomes", {}, row(t`As it is`, [before.target.text], total(before)));
        return element("div.outcomes", {}, row(t`Before`, [before.target.text], total(before)), row(same ? t`Now (the same)` : t`Now`, markChanged(after.target.text, before.target.text, this.player.inspector.request.target), total(after)));
    }

    tools() {
        const all = element("button.quiet", {type: "button", textContent: t`As it was`, disabled: !this.player.isAltered, onclick: () => this.player.choose({off: [], ids: [], without: []})});
        this.measuring = element("button.quiet", {type: "button", textContent: t`Measure all heads`, onclick: () => this.measure()});
        this.progress = element("span.hint", {role: "status", textContent: this.costs ? this.summary() : ""});
        return element("div.player-tools", {}, all, this.measuring, this.progress);
    }

    // Switches ----------------------------------------------------------------------------------------

    names() {
        const {inspector} = this.player;
        const kinds = Object.keys(KINDS).filter((kind) => kind !== "decoder" || !inspector.model.no_decoder_attention);
        return kinds.map((kind) => {
            const [nLayers, nHeads] = inspector.shape(kind);
            return {kind, layers: Array.from({length: nLayers}, (_, layer) => ({name: `${kind}.${layer}`, heads: Array.from({length: nHeads}, (_, head) => `${kind}.${layer}.${head}`)}))};
        });
    }

    grids() {
        const isOff = (name) => this.player.off.includes(name);
        const most = this.costs ? Math.max(...this.costs.values(), 1e-6) : 1;
        const button = (name, text, layer) => {
            const cost = this.costs?.get(name);
            const is = isOff(name) || isOff(layer);
            const one = element("button.switch", {type: "button", textContent: text, "aria-pressed": String(is), "aria-label": (layer ? "" : `${text}: `) + (is ? t`${name} is off` : t`${name} is on`) + (cost === undefined ? "" : t`, its absence costs ${decimal(cost, 2)}`), title: cost === undefined ? name : `${name}: ${decimal(cost, 3)}`, onclick: () => this.toggle(name)});
            one.dataset.name = name;
            if (layer && isOff(layer))
                one.disabled = true;
            if (cost !== undefined)
                one.style.setProperty("--cost", `${Math.round(100 * Math.max(0, cost) / most)}%`);
            return one;
        };
        return this.names().map(({kind, layers}) => {
            const rows = layers.map(({name, heads}, layer) => element("div.switches", {}, button(name, t`layer ${layer}`), ...heads.map((head, i) => button(head, String(i), name))));
            const group = element("div.switch-group", {role: "group", "aria-label": KINDS[kind]}, element("h4", {textContent: KINDS[kind]}), ...rows);
            roving(group, ".switch");
            return group;
        });
    }

    sourceWords() {
        const {inspector, without} = this.player;
        const words = this.words(inspector.sentence);
        const buttons = words.map(({text}, i) => {
            const isOff = without.includes(i);
            const one = element("button.switch", {type: "button", lang: inspector.request.source, textContent: text, "aria-pressed": String(isOff), "aria-label": isOff ? t`${text} is left out` : t`${text} is there`, onclick: () => this.player.choose({ids: [], without: isOff ? without.filter((one) => one !== i) : [...without, i]})});
            one.dataset.name = `word-${i}`;
            one.disabled = !isOff && without.length === words.length - 1;
            return one;
        });
        const group = element("div.switch-group", {role: "group", "aria-label": t`Words of the source`}, element("h4", {textContent: t`Words of the source`}), element("div.switches", {dir: "auto"}, ...buttons));
        roving(group, ".switch");
        return group;
    }

    // Every head, one after the other ----------------------------------------------------------------

    summary() {
        const sorted = [...this.costs].sort(([, a], [, b]) => b - a);
        return t`Their absence costs the translation most log-probability: ${sorted.slice(0, N_LISTED).map(([name, cost]) => `${name} ${decimal(cost, 2)}`).join(t`, `)}. Least: ${sorted.at(-1)[0]}.`;
    }

    /** How much less probable the model's own translation is without each head. */
    async measure() {
        this.controller?.abort();
        this.controller = new AbortController();
        const {signal} = this.controller;
        const {inspector, numbers} = this.player;
        const {sentence} = inspector;
        const {target_text: given, beam_size: beams, ...request} = inspector.request;
        const names = this.names().flatMap(({layers}) => layers.flatMap(({heads}) => heads));
        const ids = sentence.output_tokens.map(({id}) => id);
        const costs = new Map();
        this.measuring.disabled = true;
        try {
            const own = total((await numbers.plain({...request, target_ids: ids}, signal)).sentences[0]);
            for (const name of names) {
                const [found] = (await numbers.plain({...request, target_ids: ids, switch_off: [name]}, signal)).sentences;
                costs.set(name, own - total(found));
                this.progress.textContent = t`${costs.size} of ${names.length}`;
            }
            this.costs = costs;
            this.fill();
        } catch (error) {
            if (error.name !== "AbortError")
                this.progress.textContent = error.message;
        }
        this.measuring.disabled = false;
    }
}
