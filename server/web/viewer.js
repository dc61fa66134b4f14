// Everything below the translation: which sentence, which step, which kind, layer and head are looked
// at, and the views that show them.

import * as api from "./api.js";
import {$, changeHash, element, embed, hashFields, percent, replaceHash, roving} from "./dom.js";
import {headColour, signedColour, weightColour} from "./colours.js";
import {copyButtons} from "./copying.js";
import {saveAttention, savePicture, savePositions} from "./downloads.js";
import {HeatMap, fillTable} from "./heatmap.js";
import {Inspector, firstOf, lacks, mean} from "./inspector.js";
import {Links} from "./links.js";
import {gridPicture, linesPicture, linkPictures, mapPicture, positionsPicture, putOnPaper} from "./pictures.js";
import {Steps} from "./steps.js";
import {integer, sentences, t} from "./text_inside.js";

const VIEWS = ["map", "grid", "head", "positions"];
const KINDS = {
    alignment: t`How the translation looked at the source, as the mean of chosen heads: rows are its pieces, columns those of the source.`,
    cross: t`The decoder looking at the source: each row is a step, and what it looked at while it wrote a piece.`,
    encoder: t`The source looking at itself: how each piece takes in its surroundings.`,
    decoder: t`The decoder looking back at what it has written: a step knows no later ones, so the upper half is empty.`,
};
const NAMES = {cross: t`cross attention`, encoder: t`encoder attention`, decoder: t`decoder attention`};
const LEGEND = [0, 0.05, 0.2, 0.5, 1];
const SIGNED_LEGEND = [-1, -0.5, 0, 0.5, 1];

/** What the address says: #view=grid&kind=cross&layer=2&head=5&step=3; layer and head are undefined where it names none. */
function readHash() {
    const fields = hashFields();
    const number = (name) => (/^\d{1,4}$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : undefined);
    return {
        view: VIEWS.includes(fields.get("view")) ? fields.get("view") : "map",
        kind: fields.get("kind") in KINDS ? fields.get("kind") : "alignment",
        layer: number("layer"),
        head: fields.get("head") === "mean" ? "mean" : number("head"),
        heads: (fields.get("heads") ?? "").split(",").filter((text) => /^\d{1,4}$/.test(text)).map(Number),
        step: isWhy() ? undefined : number("step"), // the player has steps of its own
    };
}

const isWhy = () => hashFields().get("view") === "why";

// Views that are loaded when they are looked at first.
const LATER = {
    grid: async (viewer) => {
        const {Grid} = await import("./grid.js");
        return new Grid($("#grid"), $("#grid-note"), {onOpen: (layer, head) => viewer.open(layer, head)});
    },
    headView: async (viewer) => {
        const {Lines} = await import("./lines.js");
        const lines = new Lines($("#lines"), $("#lines-note"), {onStep: (step) => viewer.chooseStep(step)});
        lines.select(viewer.step);
        lines.setThreshold(Number($("#threshold").value) / 100);
        return lines;
    },
    positions: async () => {
        const {Positions} = await import("./positions.js");
        return new Positions($("#positions"), $("#positions-note"));
    },
};

export class Viewer {
    /** onPicked(index): of the sentence that is looked at. onInspected(inspector): its numbers are there. onFailed(error, retry) */
    constructor({onPicked, onInspected, onFailed}) {
        this.read();
        Object.assign(this, {onPicked, onInspected, onFailed});
        const onStep = (step) => this.chooseStep(step);
        this.links = new Links($("#links"), $("#links-note"), {onStep});
        this.steps = new Steps($("#pieces"), $("#step"), {onStep});
        this.map = new HeatMap($("#map"), $("#map-note"), {onStep});
        this.wire();
    }

    /** Takes over what the address says. */
    read() {
        const {view, kind, step, ...picked} = readHash();
        Object.assign(this, {view, kind, step, picked});
    }

    wire() {
        for (const view of VIEWS)
            $(`#tab-${view}`).addEventListener("click", () => this.choose({view}));
        roving($(".tabs"), "[role=tab]");
        $("#kind").addEventListener("change", (event) => this.chooseKind(event.target.value));
        $("#layer").addEventListener("change", (event) => this.choose({layer: Number(event.target.value)}));
        $("#head").addEventListener("change", (event) => this.choose({head: event.target.value === "mean" ? "mean" : Number(event.target.value), heads: []}));
        $("#heads").addEventListener("click", (event) => event.target.dataset.head && this.toggleHead(Number(event.target.dataset.head)));
        roving($("#heads"), "button");
        $("#threshold").addEventListener("input", () => this.showThreshold());
        $("#downloads").addEventListener("click", (event) => event.target.dataset.format && this.download(event.target));
        $("#link-downloads").addEventListener("click", (event) => event.target.dataset.format && savePicture(linkPictures(this.links)[0], "links", event.target.dataset.format));
        $("#sentences").addEventListener("click", (event) => event.target.dataset.step && this.pickSentence(this.index + Number(event.target.dataset.step)));
        $("#layout").addEventListener("change", () => this.showPositions());
        for (const slider of ["#positions-n", "#positions-base"])
            $(slider).addEventListener("input", () => this.showPositions());
        $("#table").addEventListener("toggle", () => this.fillNumbers());
        window.addEventListener("hashchange", () => this.onHash());
        $("#open-why").addEventListener("click", () => this.openWhy());
        $("#downloads").after(copyButtons(() => this.request()));
        document.addEventListener("themechange", () => this.fillLegend());
        document.addEventListener("themechange", () => this.view === "head" && this.inspector && this.showMatrix());
        window.addEventListener("beforeprint", () => this.putOnPaper());
        this.fillLegend();
    }

    onHash() {
        if (hashFields().get("view") === "compare")
            return; // that is app.js's
        if (isWhy()) {
            this.reopenWhy();
            return;
        }
        this.read();
        this.choose({});
        this.chooseStep(this.step);
    }

    /** A promise of one of LATER, which then is this[name]. */
    async part(name) {
        this.parts ??= {};
        this.parts[name] ??= LATER[name](this);
        this.parts[name].catch(() => delete this.parts[name]); // It may come at another try.
        return (this[name] = await this.parts[name]);
    }

    fillLegend() {
        const swatch = (background, name) => {
            const colour = element("i");
            colour.style.background = background;
            return element("span", {}, colour, name);
        };
        $("#legend").replaceChildren(...LEGEND.map((weight) => swatch(weightColour(weight), percent(weight))));
        $("#signed-legend").replaceChildren(...SIGNED_LEGEND.map((value) => swatch(signedColour(value), String(value).replace("-", "−"))));
    }

    // What is looked at -------------------------------------------------------------------------

    /** A sentence of a translation (translation.js); null: there is none. */
    async show(translation, index = 0) {
        this.translation = translation;
        if (translation?.sentences.length && !translation.pivot)
            await this.pickSentence(index);
        else
            this.hide();
    }

    hide() {
        this.inspector?.close();
        $("#inside").hidden = true;
    }

    async pickSentence(index) {
        const {translation} = this;
        const n = translation.sentences.length;
        const picked = Math.max(0, Math.min(n - 1, index));
        if (this.index !== undefined) { // what the address says of a step is about the first
            this.step = undefined;
            changeHash({sentence: picked || undefined, ...(!isWhy() && {step: undefined})});
        }
        this.index = picked;
        // Another pick, perhaps of the same sentence with another translation, makes this one's reply old.
        const pick = (this.pick = Symbol());
        $("#sentences").hidden = n < 2;
        $("#sentences span").textContent = t`Sentence ${picked + 1} of ${n}`;
        $("#sentences [data-step='-1']").disabled = picked === 0;
        $("#sentences [data-step='1']").disabled = picked === n - 1;
        $("#inside").classList.add("stale"); // what is shown belongs to another sentence
        this.onPicked(picked);
        try {
            const found = await translation.attention(picked);
            if (translation === this.translation && pick === this.pick)
                this.inspect(...found);
        } catch (error) {
            if (translation !== this.translation || pick !== this.pick)
                return;
            if (error.name !== "AbortError")
                this.hide();
            this.onFailed(error, () => this.pickSentence(picked));
        }
    }

    /** reply: POST /attention's, about one sentence; request: what asked for it. */
    inspect(reply, request) {
        $("#inside").classList.remove("stale");
        $("#inside").hidden = !reply.sentences.length;
        const {id, layers_enc, layers_dec, heads} = reply.model;
        $("#model").textContent = t`${id}: ${layers_enc} encoder and ${layers_dec} decoder layers of ${heads} heads, counted from 0`;
        if (!reply.sentences.length)
            return;
        this.inspector?.close();
        this.inspector = new Inspector(reply, request);
        this.links.show(this.inspector, reply);
        this.steps.show(this.inspector);
        if (!(this.step < this.inspector.outputs.length))
            this.step = undefined;
        this.markStep();
        this.showView();
        this.onInspected(this.inspector);
        if (this.player)
            this.player.show(this.inspector);
        else if (isWhy() || embed)
            this.openWhy();
    }

    // The step player, which is loaded when it is wanted first.

    async openWhy() {
        const button = $("#open-why");
        button.disabled = true;
        try {
            const {Player} = await import("./player.js");
            this.player ??= await Player.open($("#player"));
        } catch (error) {
            button.disabled = false;
            this.onFailed(error, () => this.openWhy());
            return;
        }
        button.hidden = true;
        $("#player").hidden = false;
        const isAsked = isWhy() || embed;
        if (!isAsked && this.step !== undefined)
            this.player.step = this.step;
        await this.player.show(this.inspector);
        if (isAsked && !embed) // in a frame it would move the page around it
            $("#why").scrollIntoView();
        else
            $("#player [role=option][aria-selected=true]")?.focus({preventScroll: true});
    }

    async reopenWhy() {
        if (!this.player)
            return this.inspector && this.openWhy();
        const {readAddress} = await import("./player.js");
        return this.player.choose(readAddress());
    }

    async chooseStep(step) {
        this.step = step;
        await this.markStep();
        if (!isWhy())
            changeHash({view: this.view, kind: this.kind, step});
        if (step === undefined)
            return;
        if (this.player?.side === "translation")
            this.player.choose({step});
        const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
        $("#step").scrollIntoView({block: "nearest", behavior: isCalm ? "auto" : "smooth"});
    }

    markStep() {
        this.links.select(this.step);
        this.map.select(this.step);
        this.headView?.select(this.step);
        return this.steps.select(this.step);
    }

    // What of it is shown -----------------------------------------------------------------------

    chooseKind(kind) {
        this.choose({kind});
    }

    open(layer, head) {
        this.choose({layer, head, view: "head"});
        $("#tab-head").focus();
    }

    /** Another view or kind; a layer or a head that is picked is kept for all kinds. */
    choose({view = this.view, kind = this.kind, ...picked}) {
        Object.assign(this, {view, kind});
        Object.assign(this.picked, picked);
        if (this.inspector)
            this.showView();
        const {layer, head, step} = this;
        const {sentence, taken} = Object.fromEntries(hashFields());
        const heads = view === "head" && this.picked.heads.join() || undefined;
        replaceHash({view, kind, ...(kind !== "alignment" && {layer, head, heads}), step, sentence, taken});
    }

    /** Layers and heads that the kind does not have become ones that it has. */
    settle() {
        if (this.view === "grid" && this.kind === "alignment")
            this.kind = "cross";
        const isAlignment = this.kind === "alignment";
        const [nLayers, nHeads] = this.inspector.shape(this.kind);
        const first = firstOf(this.kind, this.inspector);
        this.layer = Math.min(this.picked.layer ?? first.layer, nLayers - 1);
        this.head = this.picked.head ?? (this.picked.layer === undefined ? first.head : "mean");
        if (this.head !== "mean")
            this.head = Math.min(this.head, nHeads - 1);
        const unknown = isAlignment || this.view === "grid" ? [] : this.inspector.beyond(this.kind, this.picked.layer ?? this.layer, [this.picked.head, ...this.picked.heads]);
        $("#lacks").textContent = lacks(this.inspector.model, unknown);
        $("#lacks").hidden = !unknown.length;
        fillSelect($("#layer"), [...Array(nLayers).keys()], this.layer);
        fillSelect($("#head"), ["mean", ...Array(nHeads).keys()], this.head);
        const hasNoPick = isAlignment || this.view === "grid";
        $("#layer").parentElement.hidden = $("#head").parentElement.hidden = hasNoPick;
        $(`#kind [value=${this.kind}]`).checked = true;
        $("#kind [value=alignment]").disabled = this.view === "grid";
    }

    /** Several heads in the head view, each in a colour. */
    toggleHead(head) {
        const {heads} = this.picked;
        this.choose({heads: heads.includes(head) ? heads.filter((one) => one !== head) : [...heads, head].sort((a, b) => a - b)});
    }

    fillHeads() {
        const nHeads = this.inspector.shape(this.kind)[1];
        this.picked.heads = this.picked.heads.filter((head) => head < nHeads);
        const isShown = this.view === "head" && this.kind !== "alignment";
        $("#heads").hidden = !isShown;
        if ($("#heads").querySelectorAll("button").length !== nHeads)
            $("#heads").replaceChildren(element("span", {textContent: t`Several in colours`}), ...Array.from({length: nHeads}, (_, head) => {
                const chip = element("button.chip", {type: "button", textContent: head, tabIndex: head ? -1 : 0, "aria-label": t`Head ${head}`});
                chip.dataset.head = head;
                return chip;
            }));
        for (const chip of $("#heads").querySelectorAll("button")) {
            chip.style.setProperty("--chip", headColour(Number(chip.dataset.head), nHeads));
            chip.setAttribute("aria-pressed", String(this.picked.heads.includes(Number(chip.dataset.head))));
        }
    }

    showThreshold() {
        const value = Number($("#threshold").value);
        $("#threshold-value").textContent = percent(value / 100);
        this.headView?.setThreshold(value / 100);
    }

    name() {
        const {kind, layer, head} = this;
        const several = this.picked.heads;
        if (kind !== "alignment" && this.view === "head" && several.length)
            return several.length > 1 ? t`${NAMES[kind]}, layer ${layer}, heads ${several.join(t`, `)}` : t`${NAMES[kind]}, layer ${layer}, head ${several[0]}`;
        if (kind !== "alignment")
            return head === "mean" ? t`${NAMES[kind]}, layer ${layer}, mean of all heads` : t`${NAMES[kind]}, layer ${layer}, head ${head}`;
        const {layers, heads, mode} = this.inspector.sentence.alignment;
        if (layers.length === 1 && heads.length === 1)
            return t`alignment: layer ${layers[0]}, head ${heads[0]}`;
        if (layers.length === 1)
            return mode === "mean" ? t`alignment: mean of layer ${layers[0]}, heads ${ranges(heads)}` : t`alignment: maximum of layer ${layers[0]}, heads ${ranges(heads)}`;
        return mode === "mean" ? t`alignment: mean of layers ${ranges(layers)}, heads ${ranges(heads)}` : t`alignment: maximum of layers ${ranges(layers)}, heads ${ranges(heads)}`;
    }

    showView() {
        this.settle();
        this.fillHeads();
        for (const view of VIEWS) {
            const isShown = view === this.view;
            $(`#tab-${view}`).setAttribute("aria-selected", String(isShown));
            $(`#tab-${view}`).tabIndex = isShown ? 0 : -1;
            $(`#view-${view}`).hidden = !isShown;
        }
        const isPositions = this.view === "positions";
        $("#controls").hidden = $("#kind-note").hidden = isPositions;
        for (const button of $("#downloads").querySelectorAll("button"))
            button.hidden = (isPositions ? ["bertviz", "safetensors"] : ["npy"]).includes(button.dataset.format);
        $("#download-note").hidden = isPositions;
        const {shift} = this.inspector.sentence.alignment;
        $(".steps-note").hidden = this.kind === "encoder";
        $("#kind-note").textContent = sentences(KINDS[this.kind], this.kind === "alignment" && (shift === "input" ? t`Here: ${this.name()}, read at the step that has the piece as input.` : t`Here: ${this.name()}, read at the step that has the piece as output.`));
        if (isPositions)
            this.showPositions();
        else if (this.view === "grid")
            this.showGrid();
        else
            this.showMatrix();
    }

    async showGrid() {
        try {
            const grid = await this.part("grid");
            if (this.view === "grid")
                grid.show(this.inspector, this.kind);
        } catch (error) {
            $("#grid-note").textContent = error.message;
        }
    }

    async showMatrix() {
        const {inspector, kind, layer, head, view} = this;
        const selection = {kind, layer, head};
        const box = $(`#view-${view}`);
        box.setAttribute("aria-busy", "true");
        try {
            const found = await inspector.matrix(selection);
            const shown = view === "map" ? this.map : await this.part("headView");
            const chosen = view === "head" && kind !== "alignment" ? this.picked.heads : [];
            const all = chosen.length ? await inspector.layer(kind, layer) : [];
            if (inspector !== this.inspector || view !== this.view || kind !== this.kind || layer !== this.layer || head !== this.head)
                return;
            const heads = chosen.length ? chosen.map((one) => ({values: all[one], colour: headColour(one, all.length)})) : undefined;
            const values = heads ? mean(heads.map((one) => one.values)) : found;
            this.matrix = {values, heads, axes: inspector.axes(kind), name: this.name(), hasSteps: kind !== "encoder"};
            shown.show(this.matrix);
            this.fillNumbers();
        } catch (error) {
            if (error.name !== "AbortError" && inspector === this.inspector)
                $(view === "map" ? "#map-note" : "#lines-note").textContent = error.message;
        }
        box.removeAttribute("aria-busy");
    }

    fillNumbers() {
        if ($("#table").open && this.matrix)
            fillTable($("#table .table-scroll"), this.matrix);
    }

    async showPositions() {
        const n = Number($("#positions-n").value);
        $("#positions-n-value").textContent = n;
        // Without a layout the reply is in the model's own, and says which.
        const layout = $("#layout :checked")?.value;
        const base = Number((10 ** $("#positions-base").value).toPrecision(2));
        $("#positions-base-value").textContent = integer(base);
        this.positionsRequest?.abort();
        this.positionsRequest = new AbortController();
        try {
            const reply = await api.positions(layout, n, this.positionsRequest.signal, this.inspector.model.id);
            $(`#layout [value=${reply.layout}]`).checked = true;
            if (!layout)
                $(`#layout [value=${reply.layout}]`).nextElementSibling.append(t` (this model)`);
            (await this.part("positions")).show(reply, base);
        } catch (error) {
            if (error.name !== "AbortError")
                $("#positions-note").textContent = error.message;
        }
    }

    /** What asks for the numbers that are shown: {path, body}. */
    request() {
        const {view, kind, layer, head} = this;
        const several = view === "head" ? this.picked.heads : [];
        if (view === "positions") {
            const layout = $("#layout :checked")?.value;
            return {path: `positions?${layout ? `layout=${layout}&` : ""}n=${$("#positions-n").value}`};
        }
        const fields = kind === "alignment" ? {} : view === "grid" ? {kinds: [kind]} : {kinds: [kind], layers: [layer], ...(several.length ? {heads: several} : head === "mean" ? {reduce: "heads"} : {heads: [head]})};
        return {path: "attention", body: {...this.inspector.request, ...fields}};
    }

    /** What is shown, as a picture and a name for it; undefined: nothing yet. */
    async picture() {
        const {view, kind, layer, head} = this;
        if (view === "positions" && this.positions?.reply)
            return [positionsPicture(this.positions), `positions-${this.positions.reply.layout}-${this.positions.reply.n}`];
        if (view === "grid")
            return [gridPicture(await (await this.part("grid")).whole(), t`${NAMES[kind]}, all heads`), `attention-${kind}-all-heads`];
        if (!this.matrix || view === "positions")
            return undefined;
        const {heads} = this.picked;
        const chosen = view === "head" && heads.length ? `heads${heads.join("-")}` : head === "mean" ? "mean" : `head${head}`;
        const name = kind === "alignment" ? kind : `${kind}-layer${layer}-${chosen}`;
        return view === "map" ? [mapPicture(this.matrix), `attention-${name}`] : [linesPicture(this.headView), `attention-${name}-lines`];
    }

    /** Paper is as wide as it is, and does not scroll: pictures take the place of what does. */
    putOnPaper() {
        if (!this.inspector || $("#inside").hidden)
            return;
        putOnPaper($("#links"), linkPictures(this.links, true));
        if (this.view === "grid" && this.grid?.cells)
            putOnPaper($("#grid"), [gridPicture(this.grid.cells, t`${NAMES[this.kind]}, all heads`)]);
        else if (this.view === "positions" && this.positions?.reply)
            putOnPaper($("#positions"), [positionsPicture(this.positions)]);
        else if (this.view === "map" && this.matrix)
            putOnPaper($("#map"), [mapPicture(this.matrix)]);
        else if (this.view === "head" && this.headView?.axes)
            putOnPaper($("#lines"), [linesPicture(this.headView)]);
    }

    async download(button) {
        const {format} = button.dataset;
        const {kind} = this;
        button.disabled = true;
        try {
            if (format === "png" || format === "svg") {
                const [picture, name] = await this.picture();
                await savePicture(picture, name, format);
            } else if (this.view === "positions") {
                const {layout, n} = (await this.part("positions")).reply;
                savePositions(await api.positionsFile(layout, n, format, this.inspector.model.id), {layout, n}, format);
            } else {
                await saveAttention(this.inspector, format, {kind});
            }
            $("#download-note").classList.remove("error");
        } catch (error) {
            $("#download-note").hidden = false;
            $("#download-note").textContent = `${button.textContent}: ${error instanceof TypeError ? t`there is nothing to save yet.` : error.message}`;
            $("#download-note").classList.add("error");
        }
        button.disabled = false;
    }
}

function fillSelect(select, values, chosen) {
    const names = values.map((value) => (value === "mean" ? t`mean of all` : String(value)));
    if (select.dataset.names !== names.join()) {
        select.replaceChildren(...values.map((value, i) => element("option", {value, textContent: names[i]})));
        select.dataset.names = names.join();
    }
    select.value = chosen;
}

/** [0, 1, 2, 5] as "0–2, 5" */
function ranges(numbers) {
    const parts = [];
    for (const number of numbers) {
        const last = parts.at(-1);
        if (last && last[1] === number - 1)
            last[1] = number;
        else
            parts.push([number, number]);
    }
    return parts.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(t`, `);
}
