// "Why this word?": one step of the decoder, or one word of the source in the encoder, as the moments of
// its computation, drawn with the numbers of POST /attention. Loaded when it is opened first.

import {$, announce, arrow, directionOf, element, embed, hashFields, isolated, readable, replaceHash, roving} from "./dom.js";
import {copyButtons} from "./copying.js";
import {firstOf, lacks} from "./inspector.js";
import {Numbers} from "./player_numbers.js";
import {MOMENTS} from "./player_moments.js";
import {t} from "./text_why.js";
import {WhatIf} from "./whatif.js";

const PLAY_MS = 2500;
const list = (text) => (text ? text.split(",") : []);

/** What the address says: #view=why&step=4&at=6&layer=1&head=7&side=source&off=cross.1.6&ids=12,7&without=3&roles=1 */
export function readAddress() {
    const fields = hashFields();
    const number = (name) => (/^\d{1,4}$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : 0);
    const numbers = (name) => list(fields.get(name)).filter((text) => /^\d{1,6}$/.test(text)).map(Number);
    return {
        side: fields.get("side") === "source" ? "source" : "translation",
        step: number("step"),
        at: number("at") || 6,
        layer: fields.has("layer") ? number("layer") : undefined,
        head: fields.has("head") ? number("head") : undefined,
        off: list(fields.get("off")),
        ids: numbers("ids"),
        without: numbers("without"),
        hasRoles: fields.has("roles"),
    };
}

function loadStyle() {
    const link = element("link", {rel: "stylesheet", href: "web/player.css"});
    const loaded = new Promise((resolve) => (link.onload = link.onerror = resolve));
    document.head.append(link);
    return loaded;
}

export class Player {
    static async open(box) {
        await loadStyle();
        return new Player(box);
    }

    constructor(box) {
        Object.assign(this, readAddress());
        this.box = box;
        this.wire();
        this.pointToWhole();
    }

    wire() {
        const button = (name, label, onclick) => element("button.quiet", {type: "button", textContent: name, "aria-label": label, onclick});
        this.title = element("h3.moment-title");
        this.lead = element("p.lead");
        this.body = element("div.moment");
        this.note = element("p.readout", {role: "status"});
        this.notice = element("p.hint", {hidden: true});
        this.steps = element("div.player-strip.pieces", {role: "listbox", "aria-label": t`Step`});
        this.moments = element("div.player-strip.moments", {role: "tablist", "aria-label": t`Moments of the step`});
        this.pickers = element("div.controls");
        this.sideButton = element("button.quiet", {type: "button", onclick: () => this.choose({side: this.sideButton.dataset.to, step: 0, layer: undefined, head: undefined})});
        this.playing = element("button.quiet.play", {type: "button", textContent: t`Play`, "aria-pressed": "false", onclick: () => this.play(!this.timer)});
        const tools = element("div.player-tools", {}, button("‹", t`Previous step`, () => this.go(-1)), this.count = element("span"), button("›", t`Next step`, () => this.go(1)), this.playing, element("span.grow"), this.sideButton);
        this.whatIf = new WhatIf(this);
        this.about = element("p.readout", {hidden: !embed});
        this.whole = element("a", {target: "_blank", rel: "noopener", textContent: t`Open the whole page`});
        const copies = embed ? element("p.hint", {}, this.whole) : copyButtons(() => ({path: "attention", body: {...this.run.request, ...this.numbers.shown}}), {hasFrame: true});
        const panel = element("div", {id: "moment", role: "tabpanel"}, this.title, this.pickers, this.lead, this.body, this.note);
        this.box.replaceChildren(this.about, this.notice, tools, this.steps, this.moments, panel, copies, this.whatIf.box);
        roving(this.steps, "[role=option]");
        roving(this.moments, "[role=tab]");
        document.addEventListener("themechange", () => this.box.querySelectorAll("canvas").forEach((canvas) => canvas.repaint?.()));
    }

    // Which sentence, and which run of it -----------------------------------------------------------

    /** inspector: of the sentence that is looked at. */
    async show(inspector) {
        const isOther = this.inspector && this.inspector.sentence.source.text !== inspector.sentence.source.text;
        this.inspector = inspector;
        if (isOther)
            Object.assign(this, {step: 0, ids: [], without: []});
        this.whatIf.reset();
        await this.load();
    }

    get isAltered() {
        return this.off.length > 0 || this.ids.length > 0 || this.without.length > 0;
    }

    /** What the address asks for and this model does not have is left out, and said. */
    forgetUnknown() {
        const {model, sentence} = this.inspector;
        const has = (name) => {
            const [, kind, layer, head] = /^(encoder|decoder|cross)\.(\d+)(?:\.(\d+))?$/.exec(name) ?? [];
            const [nLayers, nHeads] = kind ? this.inspector.shape(kind) : [0, 0];
            return Number(layer) < nLayers && Number(head ?? 0) < nHeads && !(kind === "decoder" && model.no_decoder_attention);
        };
        const unknown = [...this.inspector.beyond(this.kind, this.layer ?? firstOf(this.kind, this.inspector).layer, [this.head]), ...this.off.filter((name) => !has(name))];
        this.off = this.off.filter(has);
        const nWords = this.whatIf.words(sentence).length;
        this.without = this.without.filter((word) => word < nWords);
        this.notice.textContent = lacks(model, unknown);
        this.notice.hidden = !unknown.length;
    }

    request() {
        const {target_text: given, ...free} = this.inspector.request;
        const request = given && !this.ids.length && !this.without.length ? {...free, target_text: given} : {...free};
        if (this.off.length)
            request.switch_off = this.off;
        if (this.ids.length)
            request.target_prefix_ids = this.ids;
        if (this.without.length)
            request.q = this.whatIf.remaining(this.inspector.sentence);
        return request;
    }

    async load() {
        const {inspector} = this;
        this.numbers?.close();
        this.forgetUnknown();
        const {off, ids, without} = this;
        const request = this.request();
        this.box.setAttribute("aria-busy", "true");
        try {
            let {sentence} = inspector;
            const numbers = (this.numbers = new Numbers(request, inspector.model));
            if (this.isAltered)
                [sentence] = (await numbers.ask({})).sentences;
            if (numbers !== this.numbers)
                return;
            if (!sentence)
                throw new Error(t`No word is left to translate.`);
            this.run = {request, sentence, model: inspector.model, sources: sentence.source_tokens, inputs: sentence.decoder_input_tokens, outputs: sentence.output_tokens};
            this.about.textContent = `${isolated(sentence.source.text)} ${arrow()} ${isolated(sentence.target.text)}`;
            this.whatIf.show({off, ids, without});
            this.fillSteps();
            await this.draw();
        } catch (error) {
            this.fail(error);
        }
        this.box.removeAttribute("aria-busy");
    }

    fail(error) {
        if (error.name === "AbortError")
            return;
        this.body.replaceChildren(element("p.error", {textContent: error.message}));
    }

    // What of it is looked at ------------------------------------------------------------------------

    /** Changes of the run (off, ids, without) make another one; others only draw. */
    async choose(changes) {
        const isRun = ["off", "ids", "without"].some((name) => name in changes);
        Object.assign(this, changes);
        if (isRun) {
            await this.load();
        } else if (this.run) {
            if ("side" in changes)
                this.fillSteps();
            await this.draw();
        }
        this.keepAddress();
    }

    /** The whole page, where this is a card in a frame. */
    pointToWhole() {
        const url = new URL(location.href);
        url.searchParams.delete("embed");
        this.whole.href = url.href;
    }

    /** What the address says behind the #, here or behind changes of what is looked at. */
    fields(changes) {
        const {step, at, layer, head, off, ids, without, side, hasRoles} = {...this, ...changes};
        const {sentence, taken} = Object.fromEntries(hashFields());
        return {view: "why", step, at, layer, head, ...(side === "source" && {side}), ...(off.length && {off}), ...(ids.length && {ids}), ...(without.length && {without}), ...(hasRoles && {roles: 1}), sentence, taken};
    }

    addressOf(changes) {
        return `#${new URLSearchParams(Object.entries(this.fields(changes)).filter(([, value]) => value !== undefined))}`;
    }

    keepAddress() {
        replaceHash(this.fields());
        this.pointToWhole();
    }

    get kind() {
        return this.side === "source" ? "encoder" : "cross";
    }

    get tokens() {
        return this.side === "source" ? this.run.sources : this.run.outputs;
    }

    /** A step as people read it in a line of a direction: what was read, and what was written then. */
    nameOf(step, direction) {
        const {inputs, outputs, sources} = this.run;
        const quote = (token) => isolated(token.special ? token.piece : readable(token.piece)); // as they are, among words from right to left
        return this.side === "source" ? quote(sources[step]) : `${quote(inputs[step])} ${arrow(direction)} ${quote(outputs[step])}`;
    }

    go(by) {
        const step = this.step + by;
        if (step >= 0 && step < this.tokens.length)
            this.choose({step});
    }

    play(isOn) {
        clearInterval(this.timer);
        this.timer = isOn ? setInterval(() => this.tick(), PLAY_MS) : 0;
        this.playing.setAttribute("aria-pressed", String(isOn));
        this.playing.textContent = isOn ? t`Pause` : t`Play`;
    }

    tick() {
        const ids = this.shown.map(({id}) => id);
        const next = ids[ids.indexOf(this.at) + 1];
        if (!this.box.isConnected || this.box.closest("[hidden]"))
            this.play(false);
        else if (next)
            this.choose({at: next});
        else if (this.step + 1 < this.tokens.length)
            this.choose({at: ids[1], step: this.step + 1}); // behind the map
        else
            this.play(false);
    }

    fillSteps() {
        const direction = directionOf(this.inspector.request[this.side === "source" ? "source" : "target"]);
        const items = this.tokens.map((token, step) => {
            const piece = element("button.piece", {type: "button", role: "option", textContent: this.nameOf(step, direction), onclick: () => this.choose({step})});
            piece.classList.toggle("special", token.special);
            return piece;
        });
        this.steps.dir = direction;
        this.steps.replaceChildren(...items);
        this.sideButton.dataset.to = this.side === "source" ? "translation" : "source";
    }

    /** Whether each part reads its vector normalised; else its sum is. */
    get isPreNorm() {
        return Boolean(this.run.model.normalize_before);
    }

    get shown() {
        return MOMENTS.filter(({sides, isPreNorm = this.isPreNorm}) => sides.includes(this.side) && isPreNorm === this.isPreNorm);
    }

    fillMoments() {
        const tabs = this.shown.map(({id, name}, i) => element("button", {type: "button", role: "tab", id: `moment-${id}`, "aria-controls": "moment", textContent: `${i} ${name}`, onclick: () => this.choose({at: id})}));
        this.moments.replaceChildren(...tabs);
    }

    settle(moment) {
        this.step = Math.min(this.step, this.tokens.length - 1);
        const [nLayers, nHeads] = this.inspector.shape(this.kind);
        const first = firstOf(this.kind, this.inspector);
        this.layer ??= first.layer;
        this.head ??= first.head === "mean" ? 0 : first.head;
        this.layer = Math.min(this.layer, nLayers - 1);
        this.head = Math.min(this.head, nHeads - 1);
        this.playing.hidden = matchMedia("(prefers-reduced-motion: reduce)").matches;
        this.count.textContent = this.side === "source" ? t`word ${this.step + 1} of ${this.tokens.length}` : t`step ${this.step + 1} of ${this.tokens.length}`;
        this.sideButton.textContent = this.side === "source" ? t`Look at the translation's steps` : t`Look at the source's words`;
        const picker = (name, n) => {
            const select = element("select", {onchange: () => this.choose({[name]: Number(select.value)})}, ...Array.from({length: n}, (_, value) => element("option", {value, textContent: value})));
            select.value = this[name];
            return element("label.picker", {}, name === "layer" ? t`Layer` : t`Head`, " ", select);
        };
        this.pickers.replaceChildren(...(moment.hasLayer ? [picker("layer", nLayers)] : []), ...(moment.hasHead ? [picker("head", nHeads)] : []));
    }

    mark(box, index) {
        [...box.children].forEach((child, i) => {
            child.setAttribute("aria-selected", String(i === index));
            child.tabIndex = i === index ? 0 : -1;
        });
        const chosen = box.children[index];
        if (chosen) { // within the strip alone: the page stays where it is
            const [one, all] = [chosen, box].map((node) => node.getBoundingClientRect());
            box.scrollLeft += (one.left + one.right - all.left - all.right) / 2;
        }
    }

    async draw() {
        const focused = document.activeElement?.closest?.("[role=tab], [role=option], select");
        const {shown} = this;
        const moment = shown.find(({id}) => id === this.at) ?? shown[0];
        this.at = moment.id;
        this.settle(moment);
        const key = `${this.side} ${this.isPreNorm}`;
        if (this.moments.dataset.key !== key) {
            this.fillMoments();
            this.moments.dataset.key = key;
        }
        this.mark(this.steps, this.step);
        this.mark(this.moments, shown.indexOf(moment));
        $("#moment", this.box).setAttribute("aria-labelledby", `moment-${moment.id}`);
        if (focused?.matches("select"))
            $("select", this.pickers)?.focus();
        const drawing = (this.drawing = Symbol());
        this.numbers.shown = undefined;
        this.body.setAttribute("aria-busy", "true");
        try {
            const {lead, note, parts} = await moment.draw(this);
            if (drawing !== this.drawing)
                return;
            this.title.textContent = moment.title(this);
            this.lead.textContent = lead;
            this.note.textContent = note ?? "";
            this.body.replaceChildren(...parts);
            this.body.dataset.at = `${this.side} ${this.at} ${this.step} ${this.layer} ${this.head}`;
            announce(`${this.title.textContent}. ${this.note.textContent}`);
        } catch (error) {
            if (drawing === this.drawing)
                this.fail(error);
        }
        if (drawing === this.drawing)
            this.body.removeAttribute("aria-busy");
    }
}
