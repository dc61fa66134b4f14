// The next-token view: each piece of the translation with its probability, and what else the model
// had to choose from when it wrote it.

import {announce, directionOf, element, percent, readable, roving} from "./dom.js";
import {decimal, parts, t} from "./text_inside.js";

export class Steps {
    constructor(list, panel, {onStep}) {
        this.list = list;
        this.panel = panel;
        this.onStep = onStep;
        roving(list, ".piece");
    }

    show(inspector) {
        this.inspector = inspector;
        this.pieces = inspector.outputs.map((token, step) => this.piece(token, step));
        this.list.dir = directionOf(inspector.request.target);
        this.list.replaceChildren(...this.pieces);
        this.pieces[0].tabIndex = 0;
        this.panel.replaceChildren();
        this.step = undefined;
    }

    piece(token, step) {
        const probability = Math.exp(token.logprob ?? 0);
        const bar = element("i.sure");
        bar.style.inlineSize = `${Math.max(2, probability * 100)}%`;
        const name = token.special ? t`end` : readable(token.piece);
        const button = element("button.piece", {type: "button", role: "option", tabIndex: -1, onclick: () => this.onStep(step)}, element("span", {textContent: name}), bar);
        button.setAttribute("aria-label", t`${token.special ? t`end of the sentence` : name}, probability ${percent(probability)}`);
        button.setAttribute("aria-selected", "false");
        button.classList.toggle("special", token.special);
        button.classList.toggle("starts-word", token.piece.startsWith("\u2581"));
        return button;
    }

    /** Shows a step; undefined shows none. */
    async select(step) {
        this.step = step;
        this.pieces?.forEach((piece, i) => {
            piece.setAttribute("aria-selected", String(i === step));
            piece.tabIndex = i === (step ?? 0) ? 0 : -1;
        });
        if (step === undefined || !this.pieces)
            return;
        const {inspector} = this;
        this.panel.setAttribute("aria-busy", "true");
        try {
            const steps = await inspector.candidates();
            if (inspector === this.inspector && step === this.step)
                this.fill(steps[step], step);
        } catch (error) {
            if (error.name !== "AbortError" && inspector === this.inspector)
                this.panel.replaceChildren(element("p.error", {textContent: error.message}));
        }
        this.panel.removeAttribute("aria-busy");
    }

    fill({entropy, top}, step) {
        const token = this.inspector.outputs[step];
        const input = this.inspector.inputs[step];
        const written = readable(token.piece);
        const rank = top.findIndex((candidate) => candidate.id === token.id);
        const bars = top.map((candidate) => bar(candidate, candidate.id === token.id));
        if (rank < 0)
            bars.push(bar({piece: token.piece, logprob: token.logprob}, true));
        const title = element("h3", {}, ...parts`Step ${step}: having read “${readable(input.piece)}”, it wrote ${element("b", {textContent: written})}`);
        announce(t`Step ${step} wrote ${written}. Most probable: ${top.slice(0, 3).map(({piece, logprob}) => `${readable(piece)} ${percent(Math.exp(logprob))}`).join(t`, `)}.`);
        this.panel.replaceChildren(title, element("ol.bars", {"aria-label": t`Most probable next pieces`}, ...bars), element("p.hint", {textContent: uncertainty(entropy) + choice(rank)}));
    }
}

function bar({piece, logprob}, isWritten) {
    const probability = Math.exp(logprob);
    const length = element("i");
    length.style.inlineSize = `${Math.max(0.3, probability * 100)}%`;
    const item = element("li", {}, element("span.name", {textContent: readable(piece)}), element("span.track", {}, length), element("span.value", {textContent: percent(probability)}));
    item.classList.toggle("written", isWritten);
    if (isWritten)
        item.append(element("span.visually-hidden", {textContent: t` (written)`}));
    return item;
}

function uncertainty(entropy) {
    if (entropy === undefined)
        return "";
    const bits = entropy / Math.LN2;
    return `${t`Entropy ${decimal(bits, 2)} bits: as unsure as between ${decimal(Math.exp(entropy), 1)} equally likely pieces.`} `;
}

function choice(rank) {
    if (rank === 0)
        return t`It wrote the most probable one.`;
    return t`It did not write the most probable one: beam search keeps several beginnings and takes the one that is best as a whole.`;
}
