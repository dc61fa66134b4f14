// Source above, translation below, and a line for every strong link between their words.

import {element, frame, percent, svg} from "./dom.js";
import {inkOn, weightColour} from "./colours.js";
import {linkWords} from "./words.js";

const SHOWN_IN_NOTE = 3;
// Below this a share is noise, and is not worth a tint.
const FAINT = 0.07;
// Below this a line is only drawn for the word that is pointed at.
const DRAWN = 0.12;

export class Links {
    constructor(scroller, note, {onStep}) {
        // Each side is one line, however long: where it wrapped, the lines between the two would run
        // through words.
        const container = (this.container = element("div.strip"));
        scroller.append(container);
        this.scroller = scroller;
        this.note = note;
        this.onStep = onStep;
        this.rows = {source: element("p.words"), target: element("p.words")};
        this.svg = svg("svg", {class: "threads", "aria-hidden": "true"});
        const side = (title) => element("span.side", {textContent: title, "aria-hidden": "true"});
        container.append(this.svg, side("Source"), this.row("source", "Source"), this.row("target", "Translation"), side("Translation"));
        this.draw = frame(() => this.drawThreads());
        new ResizeObserver(this.draw).observe(container);
        document.addEventListener("themechange", () => this.paint());
        container.addEventListener("keydown", (event) => this.onKey(event));
        container.addEventListener("pointerleave", () => this.activate(this.focused()));
    }

    row(side, title) {
        this.rows[side].setAttribute("role", "group");
        this.rows[side].setAttribute("aria-label", `${title}, word by word`);
        return this.rows[side];
    }

    show(inspector, {source, target}) {
        const linked = linkWords(inspector, source, target);
        this.words = {source: linked.sources, target: linked.targets};
        this.buttons = {};
        this.fill("source", inspector.sentence.source, source);
        this.fill("target", inspector.sentence.target, target);
        this.active = null;
        this.scroller.scrollLeft = 0;
        this.paint();
    }

    fill(side, span, language) {
        const row = this.rows[side];
        row.lang = language;
        row.dir = "auto";
        const parts = [];
        let at = span.begin_utf16;
        this.buttons[side] = this.words[side].map((word, i) => {
            parts.push(span.text.slice(at - span.begin_utf16, word.begin - span.begin_utf16));
            at = word.end;
            parts.push(this.button(side, word, i));
            return parts.at(-1);
        });
        row.replaceChildren(...parts, span.text.slice(at - span.begin_utf16));
    }

    button(side, word, i) {
        const button = element("button.word", {type: "button", textContent: word.text, tabIndex: i === 0 ? 0 : -1});
        button.setAttribute("aria-label", `${word.text}: ${this.describe(side, word)}`);
        button.addEventListener("pointerenter", () => this.activate({side, i}));
        button.addEventListener("focus", () => this.onFocus(side, i));
        button.addEventListener("click", () => {
            this.activate({side, i});
            if (side === "target")
                this.onStep(word.steps[0]);
        });
        return button;
    }

    onFocus(side, i) {
        this.buttons[side].forEach((button, j) => (button.tabIndex = i === j ? 0 : -1));
        this.activate({side, i});
    }

    /** "from train 43 %, station 25 %" */
    describe(side, word) {
        const links = (side === "target" ? word.from : word.to).filter((link) => link.isStrong).slice(0, SHOWN_IN_NOTE);
        const others = this.words[side === "target" ? "source" : "target"];
        if (!links.length)
            return side === "target" ? "no word stands out" : "no word came mostly from it";
        const list = links.map((link) => `${others[link.index].text} ${percent(link.weight)}`).join(", ");
        return side === "target" ? `from ${list}` : `went into ${list}`;
    }

    focused() {
        const {side, i} = this.active ?? {};
        return side && this.buttons[side][i] === document.activeElement ? this.active : null;
    }

    onKey(event) {
        const {side, i} = this.focused() ?? {};
        if (!side || event.ctrlKey || event.altKey || event.metaKey)
            return;
        const last = this.buttons[side].length - 1;
        const along = {ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: last}[event.key];
        const other = side === "source" ? "target" : "source";
        const across = {ArrowUp: side === "target", ArrowDown: side === "source"}[event.key];
        const linked = (side === "target" ? this.words.target[i].from : this.words.source[i].to)[0];
        const next = along !== undefined ? this.buttons[side][along] : across && linked && this.buttons[other][linked.index];
        if (!next)
            return;
        event.preventDefault();
        next.focus();
    }

    /** Marks the word that a step wrote. */
    select(step) {
        this.words?.target.forEach((word, i) => {
            const isChosen = word.steps.includes(step);
            this.buttons.target[i].classList.toggle("chosen", isChosen);
        });
    }

    activate(active) {
        this.active = active;
        this.paint();
    }

    /** The links of the active word to each word of the other side: a weight by index. */
    weights() {
        const {side, i} = this.active;
        const links = side === "target" ? this.words.target[i].from : this.words.source[i].to;
        return new Map(links.map((link) => [link.index, link]));
    }

    paint() {
        if (!this.words)
            return;
        const weights = this.active && this.weights();
        for (const side of ["source", "target"])
            this.buttons[side].forEach((button, i) => {
                const isActive = this.active?.side === side && this.active.i === i;
                const weight = this.active && this.active.side !== side ? weights.get(i)?.weight ?? 0 : 0;
                const isTinted = weight >= FAINT;
                button.classList.toggle("active", isActive);
                button.classList.toggle("linked", isTinted);
                button.style.background = isTinted ? weightColour(weight) : "";
                button.style.color = isTinted ? inkOn(weight) : "";
            });
        this.paintNote(weights);
        this.draw();
    }

    paintNote(weights) {
        if (!this.active) {
            this.note.textContent = "";
            return;
        }
        const {side, i} = this.active;
        const others = this.words[side === "target" ? "source" : "target"];
        const links = [...weights.values()].filter((link) => link.weight >= FAINT).slice(0, SHOWN_IN_NOTE + 1);
        const quoted = (link) => [element("b", {textContent: others[link.index].text}), ` ${percent(link.weight)}`];
        const list = links.flatMap((link, k) => [k ? ", " : "", ...quoted(link)]);
        const own = element("b", {textContent: this.words[side][i].text});
        const rest = side === "target" ? 1 - [...weights.values()].reduce((sum, link) => sum + link.weight, 0) : 0;
        this.note.replaceChildren(own, side === "target" ? " looked at " : " was looked at by ", ...(list.length ? list : ["no word in particular"]),
            rest >= FAINT ? `; ${percent(rest)} went to punctuation and the end of the sentence.` : ".");
    }

    drawThreads() {
        if (!this.words || !this.container.offsetParent)
            return;
        // The shorter side is spread, so that words stay near those that they came from.
        this.scroller.classList.toggle("wide", this.scroller.scrollWidth > this.scroller.clientWidth);
        const box = this.container.getBoundingClientRect();
        this.svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
        const paths = [];
        this.words.target.forEach((target, t) => {
            for (const link of target.from) {
                const isActive = this.active && (this.active.side === "target" ? this.active.i === t : this.active.i === link.index);
                if (isActive ? link.weight >= FAINT : link.isStrong && link.weight >= DRAWN)
                    paths.push([this.thread(link, t, box, isActive), isActive]);
            }
        });
        paths.sort((a, b) => a[1] - b[1]);
        this.svg.replaceChildren(...paths.map(([path]) => path));
    }

    thread(link, t, box, isActive) {
        const from = this.buttons.source[link.index].getBoundingClientRect();
        const to = this.buttons.target[t].getBoundingClientRect();
        const [x1, y1] = [from.left + from.width / 2 - box.left, from.bottom - box.top];
        const [x2, y2] = [to.left + to.width / 2 - box.left, to.top - box.top];
        const bend = Math.max(18, (y2 - y1) / 2);
        const state = isActive ? "active" : this.active ? "faded" : "";
        const opacity = isActive ? 0.35 + 0.65 * link.weight : this.active ? 0.1 : 0.2 + 0.8 * link.weight;
        return svg("path", {
            class: `thread ${state}`,
            d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`,
            "stroke-width": (1 + 6 * link.weight).toFixed(2),
            "stroke-opacity": opacity.toFixed(3),
        });
    }
}
