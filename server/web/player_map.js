// The whole model as a map (Vaswani et al. 2017, figure 1), read from top to bottom: each part leads to its moment. The
// layer that is looked at is drawn open, in the order in which this model adds and normalises.

import {element, percent, svg} from "./dom.js";
import {t} from "./text_why.js";

// Moments of each part: what it computes, the addition behind it, and its norm in a model that normalises before it.
const ENCODER = [{at: 12, add: 5, norm: 13}, {at: 8, add: 9, norm: 5}];
const DECODER = [{at: 4, add: 5, norm: 13}, {at: 6, add: 7, norm: 5}, {at: 8, add: 9, norm: 7}];

class Side {
    constructor(player, moments, side, units) {
        Object.assign(this, {player, moments, side, units});
        [this.nLayers, this.nHeads] = player.inspector.shape(side === "source" ? "encoder" : "cross");
        this.open = Math.min(player.layer, this.nLayers - 1);
    }

    /** A part as a link to its moment; of a layer. */
    part(at, name, hint = "", layer) {
        const {player, side} = this;
        const to = {at, side, step: side === player.side ? player.step : 0, ...(layer !== undefined && {layer})};
        const link = element("a.part", {href: player.addressOf(to), onclick: (event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey)
                return;
            event.preventDefault();
            player.choose(to);
        }}, name, ...(hint ? [element("small", {textContent: hint})] : []));
        link.dataset.part = [side, at, ...(layer === undefined ? [] : [layer])].join(" ");
        return link;
    }

    name(at) {
        const {model} = this.player.run;
        return at === 4 && model.no_decoder_attention ? t`Recurrent cell` : this.moments.find(({id}) => id === at).name;
    }

    /** A part, with the way around it to the sum: the norm follows the sum, or comes first on the part's own way. */
    sublayer({at, add, norm}) {
        const {open, player, units} = this;
        const hint = at === 8 ? t`${units} units` : at === 4 && player.run.model.no_decoder_attention ? "" : t`${this.nHeads} heads`;
        const isBefore = player.isPreNorm;
        const main = this.part(at, this.name(at), hint, open);
        const normed = this.part(isBefore ? norm : add, t`Norm`, "", open);
        const sum = this.part(add, t`Add`, "", open);
        return isBefore ? [element("div.around", {}, normed, main, sum)] : [element("div.around", {}, main, sum), normed];
    }

    layers(sublayers) {
        return Array.from({length: this.nLayers}, (_, layer) => {
            if (layer !== this.open)
                return this.part(sublayers[0].at, t`layer ${layer}`, "", layer);
            return element("div.layer", {}, element("b", {textContent: t`layer ${layer}`}), ...sublayers.flatMap((one) => this.sublayer(one)));
        });
    }

    column(title, before, sublayers, after) {
        return element("div.column", {role: "group", "aria-label": title}, element("h4", {textContent: title}), ...before, element("div.layers", {}, ...this.layers(sublayers)), ...after);
    }
}

/** The encoder's last vectors are what every decoder layer looks at: a line from one to the other. */
function bridge(figure, from, to) {
    const path = svg("path", {fill: "none"});
    const line = svg("svg", {class: "bridge", "aria-hidden": "true"});
    line.append(path);
    figure.append(line);
    const draw = () => {
        const [box, a, b, column] = [figure, from, to, to.closest(".column")].map((one) => one.getBoundingClientRect());
        const middle = (a.right + column.left) / 2 - box.left;
        path.setAttribute("d", `M${a.right - box.left} ${(a.top + a.bottom) / 2 - box.top}H${middle}V${(b.top + b.bottom) / 2 - box.top}H${b.left - box.left}m-5 -4l5 4l-5 4`);
    };
    new ResizeObserver(draw).observe(figure);
}

export async function wholeModel(player, moments) {
    const {run, numbers, side, step} = player;
    const at = (which) => (which === side ? Math.min(step, player.tokens.length - 1) : 0);
    const [encoded, decoded] = await Promise.all(["source", "translation"].map((which) => numbers.stream(which, 0, at(which))));
    const isWriting = side === "translation";
    const now = at("translation");
    const encoder = new Side(player, moments, "source", encoded.hidden.length);
    const decoder = new Side(player, moments, "translation", decoded.hidden.length);
    const numbered = t`${run.model.d_model} numbers each`;
    const read = decoder.part(3, decoder.name(3), t`${run.sources.length} vectors`);
    const written = run.outputs[now];
    const figure = element("div.model-map", {role: "group", "aria-label": t`The whole model`},
        encoder.column(t`Encoder`, [encoder.part(1, encoder.name(1), numbered), encoder.part(2, encoder.name(2))], ENCODER, [read]),
        decoder.column(t`Decoder`, [decoder.part(1, decoder.name(1), numbered), decoder.part(2, decoder.name(2))], DECODER,
            [decoder.part(10, decoder.name(10)), decoder.part(11, decoder.name(11), isWriting ? `${player.nameOf(now)} ${percent(Math.exp(written.logprob))}` : "")]));
    bridge(figure, read, figure.querySelector("[data-part^='translation 6 ']"));
    return {
        lead: t`The encoder reads the source, all of it at once; the decoder writes the translation, a piece at a step. Each part leads to its moment.`,
        note: player.isPreNorm ? t`This model is pre-norm: each part reads its vector normalised, and what it finds is added to the vector as it was.` : t`This model is post-norm: what each part finds is added to its vector, and the sum is normalised.`,
        parts: [figure],
    };
}
