// Everything below the translation: which sentence, which step, which kind, layer and head are looked
// at, and the views that show them.

import * as api from "./api.js";
import {$, element, embed, roving} from "./dom.js";
import {weightColour} from "./colours.js";
import {copyButtons} from "./copying.js";
import {saveAttention, savePositions} from "./downloads.js";
import {Grid} from "./grid.js";
import {HeatMap, fillTable} from "./heatmap.js";
import {Inspector} from "./inspector.js";
import {Lines} from "./lines.js";
import {Links} from "./links.js";
import {Positions} from "./positions.js";
import {Steps} from "./steps.js";

const VIEWS = ["map", "grid", "head", "positions"];
const KINDS = {
    alignment: "How the translation looked at the source, as the mean of chosen heads: rows are its pieces, columns those of the source.",
    cross: "The decoder looking at the source: each row is a step, and what it looked at while it wrote a piece.",
    encoder: "The source looking at itself: how each piece takes in its surroundings.",
    decoder: "The decoder looking back at what it has written: a step knows no later ones, so the upper half is empty.",
};
const LEGEND = [0, 0.05, 0.2, 0.5, 1];

/** What the address says: #view=grid&kind=cross&layer=2&head=5 */
function readHash() {
    const fields = new URLSearchParams(location.hash.slice(1));
    const [layer, head] = [Number(fields.get("layer") ?? 0), fields.get("head") ?? "mean"];
    return {
        view: VIEWS.includes(fields.get("view")) ? fields.get("view") : "map",
        kind: fields.get("kind") in KINDS ? fields.get("kind") : "alignment",
        layer: Number.isInteger(layer) && layer >= 0 ? layer : 0,
        head: /^\d+$/.test(head) ? Number(head) : "mean",
    };
}

const isWhy = () => new URLSearchParams(location.hash.slice(1)).get("view") === "why";

export class Viewer {
    /** onPicked(index): of the sentence that is looked at. onFailed(error, retry) */
    constructor({onPicked, onFailed}) {
        Object.assign(this, readHash(), {onPicked, onFailed});
        const onStep = (step) => this.chooseStep(step);
        this.links = new Links($("#links"), $("#links-note"), {onStep});
        this.steps = new Steps($("#pieces"), $("#step"), {onStep});
        this.map = new HeatMap($("#map"), $("#map-note"), {onStep});
        this.headView = new Lines($("#lines"), $("#lines-note"), {onStep});
        this.grid = new Grid($("#grid"), $("#grid-note"), {onOpen: (layer, head) => this.open(layer, head)});
        this.positions = new Positions($("#positions"), $("#positions-note"));
        this.wire();
    }

    wire() {
        for (const view of VIEWS)
            $(`#tab-${view}`).addEventListener("click", () => this.choose({view}));
        roving($(".tabs"), "[role=tab]");
        $("#kind").addEventListener("change", (event) => this.chooseKind(event.target.value));
        $("#layer").addEventListener("change", (event) => this.choose({layer: Number(event.target.value)}));
        $("#head").addEventListener("change", (event) => this.choose({head: event.target.value === "mean" ? "mean" : Number(event.target.value)}));
        $("#downloads").addEventListener("click", (event) => event.target.dataset.format && this.download(event.target));
        $("#sentences").addEventListener("click", (event) => event.target.dataset.step && this.pickSentence(this.index + Number(event.target.dataset.step)));
        $("#layout").addEventListener("change", () => this.showPositions());
        $("#positions-n").addEventListener("input", () => this.showPositions());
        $("#table").addEventListener("toggle", () => this.fillNumbers());
        window.addEventListener("hashchange", () => (isWhy() ? this.reopenWhy() : this.choose(readHash())));
        $("#open-why").addEventListener("click", () => this.openWhy());
        $("#downloads").after(copyButtons(() => this.request()));
        document.addEventListener("themechange", () => this.fillLegend());
        this.fillLegend();
    }

    fillLegend() {
        const swatches = LEGEND.map((weight) => {
            const colour = element("i");
            colour.style.background = weightColour(weight);
            return element("span", {}, colour, `${weight * 100} %`);
        });
        $("#legend").replaceChildren(...swatches);
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
        const picked = (this.index = Math.max(0, Math.min(n - 1, index)));
        // Another pick, perhaps of the same sentence with another translation, makes this one's reply old.
        const pick = (this.pick = Symbol());
        $("#sentences").hidden = n < 2;
        $("#sentences span").textContent = `Sentence ${picked + 1} of ${n}`;
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
        $("#model").textContent = `${id}: ${layers_enc} encoder and ${layers_dec} decoder layers of ${heads} heads, counted from 0`;
        if (!reply.sentences.length)
            return;
        this.inspector?.close();
        this.inspector = new Inspector(reply, request);
        this.step = undefined;
        this.links.show(this.inspector, reply);
        this.steps.show(this.inspector);
        this.markStep();
        this.showView();
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
        if (this.player?.side === "translation")
            this.player.choose({step});
        const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
        $("#step").scrollIntoView({block: "nearest", behavior: isCalm ? "auto" : "smooth"});
    }

    markStep() {
        this.links.select(this.step);
        this.map.select(this.step);
        this.headView.select(this.step);
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

    choose(changes) {
        Object.assign(this, changes);
        if (this.inspector)
            this.showView();
        const {view, kind, layer, head} = this;
        const hash = kind === "alignment" ? {view, kind} : {view, kind, layer, head};
        history.replaceState(null, "", `${location.pathname}${location.search}#${new URLSearchParams(hash)}`);
    }

    /** Layers and heads that the kind does not have become ones that it has. */
    settle() {
        if (this.view === "grid" && this.kind === "alignment")
            this.kind = "cross";
        const isAlignment = this.kind === "alignment";
        const [nLayers, nHeads] = this.inspector.shape(this.kind);
        this.layer = Math.min(this.layer, nLayers - 1);
        if (this.head !== "mean")
            this.head = Math.min(this.head, nHeads - 1);
        fillSelect($("#layer"), [...Array(nLayers).keys()], this.layer);
        fillSelect($("#head"), ["mean", ...Array(nHeads).keys()], this.head);
        const hasNoPick = isAlignment || this.view === "grid";
        $("#layer").parentElement.hidden = $("#head").parentElement.hidden = hasNoPick;
        $(`#kind [value=${this.kind}]`).checked = true;
        $("#kind [value=alignment]").disabled = this.view === "grid";
    }

    name() {
        const {kind, layer, head} = this;
        if (kind !== "alignment")
            return `${kind} attention, layer ${layer}, ${head === "mean" ? "mean of all heads" : `head ${head}`}`;
        const {layers, heads, mode} = this.inspector.sentence.alignment;
        return `alignment: ${mode === "mean" ? "mean" : "maximum"} of layers ${ranges(layers)}, heads ${ranges(heads)}`;
    }

    showView() {
        this.settle();
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
        $("#kind-note").textContent = KINDS[this.kind] + (this.kind === "alignment" ? ` Here: ${this.name()}, read at the step that has the piece as ${shift}.` : "");
        if (isPositions)
            this.showPositions();
        else if (this.view === "grid")
            this.grid.show(this.inspector, this.kind);
        else
            this.showMatrix();
    }

    async showMatrix() {
        const {inspector, kind, layer, head, view} = this;
        const selection = {kind, layer, head};
        const box = $(`#view-${view}`);
        box.setAttribute("aria-busy", "true");
        try {
            const values = await inspector.matrix(selection);
            if (inspector !== this.inspector || view !== this.view || kind !== this.kind || layer !== this.layer || head !== this.head)
                return;
            this.matrix = {values, axes: inspector.axes(kind), name: this.name(), hasSteps: kind !== "encoder"};
            (view === "map" ? this.map : this.headView).show(this.matrix);
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
        this.positionsRequest?.abort();
        this.positionsRequest = new AbortController();
        try {
            const reply = await api.positions(layout, n, this.positionsRequest.signal);
            $(`#layout [value=${reply.layout}]`).checked = true;
            if (!layout)
                $(`#layout [value=${reply.layout}]`).nextElementSibling.append(" (this model)");
            this.positions.show(reply);
        } catch (error) {
            if (error.name !== "AbortError")
                $("#positions-note").textContent = error.message;
        }
    }

    /** What asks for the numbers that are shown: {path, body}. */
    request() {
        const {view, kind, layer, head} = this;
        if (view === "positions") {
            const {layout, n} = this.positions.reply;
            return {path: `positions?layout=${layout}&n=${n}`};
        }
        const fields = kind === "alignment" ? {} : view === "grid" ? {kinds: [kind]} : {kinds: [kind], layers: [layer], ...(head === "mean" ? {reduce: "heads"} : {heads: [head]})};
        return {path: "attention", body: {...this.inspector.request, ...fields}};
    }

    async download(button) {
        const {format} = button.dataset;
        const {kind, layer, head} = this;
        button.disabled = true;
        try {
            if (this.view === "positions") {
                const {layout, n} = this.positions.reply;
                savePositions(await api.positionsFile(layout, n, format), {layout, n}, format);
            } else {
                await saveAttention(this.inspector, format, {kind, layer, head});
            }
            $("#download-note").classList.remove("error");
        } catch (error) {
            $("#download-note").hidden = false;
            $("#download-note").textContent = `${button.textContent}: ${error.message}`;
            $("#download-note").classList.add("error");
        }
        button.disabled = false;
    }
}

function fillSelect(select, values, chosen) {
    const names = values.map((value) => (value === "mean" ? "mean of all" : String(value)));
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
    return parts.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(", ");
}
