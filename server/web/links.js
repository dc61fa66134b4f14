// Source above, translation below, and a line for every strong link between their words.

import {bidi, directionOf, element, frame, percent, svg} from "./dom.js";
import {cutIntoBands} from "./bands.js";
import {inkOn, weightColour} from "./colours.js";
import {parts, t} from "./text_inside.js";
import {linkWords} from "./words.js";

const SHOWN_IN_NOTE = 3;
// Below this a share is noise, and is not worth a tint.
const FAINT = 0.07;
// Below this a line is only drawn for the word that is pointed at.
const DRAWN = 0.12;
// A line into another band runs behind the words between, and is paler until one of its own is pointed at.
const PALER = 0.4;
const TITLES = {source: t`Source`, target: t`Translation`};

export class Links {
    constructor(scroller, note, {onStep}) {
        const container = (this.container = element("div.strip"));
        scroller.append(container);
        this.scroller = scroller;
        this.note = note;
        this.onStep = onStep;
        this.svg = svg("svg", {class: "threads", "aria-hidden": "true"});
        this.draw = frame(() => this.drawThreads());
        new ResizeObserver(() => this.fit()).observe(container);
        document.fonts?.addEventListener("loadingdone", () => this.fit(true));
        document.addEventListener("themechange", () => this.paint());
        container.addEventListener("keydown", (event) => this.onKey(event));
        container.addEventListener("pointerleave", () => this.activate(this.focused()));
    }

    show(inspector, {source, target}) {
        const linked = linkWords(inspector, source, target);
        this.words = {source: linked.sources, target: linked.targets};
        this.languages = {source, target};
        this.buttons = {};
        this.cells = {source: this.cellsOf("source", inspector.sentence.source), target: this.cellsOf("target", inspector.sentence.target)};
        this.active = null;
        this.scroller.scrollTop = 0;
        this.room = undefined;
        this.fit();
        this.paint();
    }

    /** Each word, with what stands before and behind it: what may be cut off as one. */
    cellsOf(side, {text, begin_utf16: begin}) {
        const words = this.words[side];
        const between = (i) => text.slice(i ? words[i - 1].end - begin : 0, i < words.length ? words[i].begin - begin : text.length);
        // A gap belongs to the word before it up to its last blank, and opening marks to the word behind it.
        const cut = (gap) => (/\s/.test(gap) ? /^.*\s/su.exec(gap)[0].length : gap.search(/[\p{Ps}\p{Pi}]*$/u));
        this.buttons[side] = words.map((word, i) => this.button(side, word, i));
        return this.buttons[side].map((button, i) => {
            const [before, behind] = [between(i), between(i + 1)];
            const isLast = i === words.length - 1;
            return element("span.cell", {}, i ? before.slice(cut(before)) : before, button, isLast ? behind : behind.slice(0, cut(behind)));
        });
    }

    button(side, word, i) {
        const button = element("button.word", {type: "button", textContent: word.text, tabIndex: i === 0 ? 0 : -1});
        button.setAttribute("aria-label", `${word.text}: ${this.describe(side, word)}`);
        button.addEventListener("pointerenter", () => this.activate({side, i}));
        button.addEventListener("focus", () => this.onFocus(side, i));
        button.addEventListener("click", () => {
            this.activate({side, i});
            if (side === "target" && word.steps.length)
                this.onStep(word.step);
        });
        return button;
    }

    // Bands -------------------------------------------------------------------------------------------

    /** Lays the words out in lines that fit; again where the room has changed. */
    fit(isForced = false) {
        const room = this.container.clientWidth;
        if (!this.words || !room || (room === this.room && !isForced))
            return;
        this.room = room;
        const focus = document.activeElement;
        this.layOut([{source: [0, this.words.source.length], target: [0, this.words.target.length]}]);
        const lines = this.container.querySelectorAll(".words");
        if ([...lines].some((line) => line.scrollWidth > line.clientWidth)) {
            const widths = (side) => this.cells[side].map((cell) => cell.getBoundingClientRect().width);
            const style = getComputedStyle(lines[0]);
            this.layOut(cutIntoBands({source: widths("source"), target: widths("target")}, this.words.target, room - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 1), true);
        }
        if (this.container.contains(focus))
            focus.focus({preventScroll: true});
        this.draw();
    }

    layOut(bands, mayWrap = false) {
        this.bandOf = {source: [], target: []};
        const line = (side, [begin, end], band) => {
            this.bandOf[side].splice(begin, end - begin, ...Array(end - begin).fill(band));
            const {length} = this.words[side];
            const row = element("p.words", {role: "group", lang: this.languages[side], dir: directionOf(this.languages[side])}, ...this.cells[side].slice(begin, end));
            row.setAttribute("aria-label", end - begin < length ? t`${TITLES[side]}, word by word: ${begin + 1} to ${end} of ${length}` : t`${TITLES[side]}, word by word`);
            return row;
        };
        const title = (side) => element("span.side", {textContent: TITLES[side], "aria-hidden": "true"});
        const isEmpty = ([begin, end]) => begin === end;
        const nodes = bands.map((ranges, band) => element("div.band", {}, ...["source", "target"].filter((side) => bands.length === 1 || !isEmpty(ranges[side])).map((side) => line(side, ranges[side], band))));
        nodes.splice(bands.findLastIndex(({target}) => !isEmpty(target)) + 1, 0, title("target"));
        this.container.classList.toggle("banded", mayWrap);
        this.container.replaceChildren(this.svg, title("source"), ...nodes);
    }

    // One word ----------------------------------------------------------------------------------------

    onFocus(side, i) {
        this.buttons[side].forEach((button, j) => (button.tabIndex = i === j ? 0 : -1));
        this.activate({side, i});
    }

    /** "from train 43 %, station 25 %" */
    describe(side, word) {
        const links = (side === "target" ? word.from : word.to).filter((link) => link.isStrong).slice(0, SHOWN_IN_NOTE);
        const others = this.words[side === "target" ? "source" : "target"];
        if (!links.length)
            return side === "target" ? t`no word stands out` : t`no word came mostly from it`;
        const list = links.map((link) => `${others[link.index].text} ${percent(link.weight)}`).join(t`, `);
        return side === "target" ? t`from ${list}` : t`went into ${list}`;
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
        const forward = directionOf(this.languages[side]) === "rtl" ? -1 : 1;
        const along = {ArrowLeft: i - forward, ArrowRight: i + forward, Home: 0, End: last}[event.key];
        const other = side === "source" ? "target" : "source";
        const across = {ArrowUp: side === "target", ArrowDown: side === "source"}[event.key];
        const linked = (side === "target" ? this.words.target[i].from : this.words.source[i].to)[0];
        const next = along !== undefined ? this.buttons[side][along] : across && linked && this.buttons[other][linked.index];
        if (!next)
            return;
        event.preventDefault();
        next.focus();
    }

    /** Marks the words that a step wrote. */
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
        const word = this.words[side][i];
        const own = bidi("b", word.text);
        if (side === "target" && !word.steps.length) {
            this.note.replaceChildren(...parts`${own} is in no piece that the model wrote.`);
            return;
        }
        const others = this.words[side === "target" ? "source" : "target"];
        const links = [...weights.values()].filter((link) => link.weight >= FAINT).slice(0, SHOWN_IN_NOTE + 1);
        const named = links.flatMap((link, k) => [k ? t`, ` : "", bidi("b", others[link.index].text), ` ${percent(link.weight)}`]);
        const rest = side === "target" ? word.rest : 0;
        const list = named.length ? named : t`no word in particular`;
        const said = side === "source" ? parts`${own} was looked at by ${list}.` : rest >= FAINT ? parts`${own} looked at ${list}; ${percent(rest)} went to punctuation and the end of the sentence.` : parts`${own} looked at ${list}.`;
        this.note.replaceChildren(...said);
    }

    // Lines -------------------------------------------------------------------------------------------

    drawThreads() {
        if (!this.words || !this.container.offsetParent)
            return;
        const box = this.container.getBoundingClientRect();
        this.svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
        this.svg.replaceChildren(...this.threads(box).map(({path, state, width, opacity}) => svg("path", {class: `thread ${state}`, d: path, "stroke-width": width, "stroke-opacity": opacity})));
    }

    /** The lines, as they lie in a box on the screen; those of the active word last. */
    threads(box) {
        const threads = [];
        this.words.target.forEach((target, k) => {
            for (const link of target.from) {
                const isActive = this.active && (this.active.side === "target" ? this.active.i === k : this.active.i === link.index);
                if (isActive ? link.weight >= FAINT : link.isStrong && link.weight >= DRAWN)
                    threads.push(this.thread(link, k, box, isActive));
            }
        });
        return threads.sort((a, b) => (a.state === "active") - (b.state === "active"));
    }

    thread(link, k, box, isActive) {
        const from = this.buttons.source[link.index].getBoundingClientRect();
        const to = this.buttons.target[k].getBoundingClientRect();
        const isWithin = this.bandOf.source[link.index] === this.bandOf.target[k];
        const isUp = this.bandOf.source[link.index] > this.bandOf.target[k];
        const [x1, y1] = [from.left + from.width / 2 - box.left, (isUp ? from.top : from.bottom) - box.top];
        const [x2, y2] = [to.left + to.width / 2 - box.left, (isUp ? to.bottom : to.top) - box.top];
        const bend = Math.max(18, Math.abs(y2 - y1) / 2) * (isUp ? -1 : 1);
        return {
            path: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`,
            state: isActive ? "active" : this.active ? "faded" : "",
            width: (1 + 6 * link.weight).toFixed(2),
            opacity: (isActive ? 0.35 + 0.65 * link.weight : this.active ? 0.1 : (0.2 + 0.8 * link.weight) * (isWithin ? 1 : PALER)).toFixed(3),
        };
    }
}
