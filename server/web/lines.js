// The head view: two columns of tokens, and a line for every weight between them. Lines are drawn on
// a canvas that stays in sight while the columns scroll.

import {element, fitCanvas, frame, inRow, percent, readable} from "./dom.js";
import {inkOn, weightColour} from "./colours.js";
import {t} from "./text_inside.js";

const ROW = 28;
// Fainter lines cannot be told from the paper.
const FAINTEST = 0.02;
// Lines of about the same weight are drawn as one path: a dozen strokes instead of thousands.
const LEVELS = 12;

export class Lines {
    constructor(container, note, {onStep}) {
        this.note = note;
        this.onStep = onStep;
        this.threshold = FAINTEST;
        this.canvas = element("canvas", {"aria-hidden": "true"});
        this.middle = element("div.lines-middle", {}, this.canvas);
        this.columns = {rows: element("ul.tokens.left"), columns: element("ul.tokens.right")};
        this.box = element("div.lines", {}, this.columns.rows, this.middle, this.columns.columns);
        container.append(this.box);
        this.draw = frame(() => this.paint());
        this.box.addEventListener("scroll", this.draw, {passive: true});
        new ResizeObserver(this.draw).observe(container);
        document.addEventListener("themechange", () => this.activate(this.active));
        this.box.addEventListener("pointerleave", () => this.activate(null));
        this.box.addEventListener("keydown", (event) => this.onKey(event));
    }

    /** heads: several of {values, colour}, which are drawn in the place of values, their mean. */
    show({values, axes, name, hasSteps, heads}) {
        Object.assign(this, {values, axes, name, hasSteps, heads, active: null});
        this.buttons = {rows: this.fill("rows"), columns: this.fill("columns")};
        const height = ROW * Math.max(axes.rows.length, axes.columns.length);
        this.middle.style.height = `${height}px`;
        this.activate(null);
        this.select(this.chosen);
    }

    fill(side) {
        const items = this.axes[side].map(({token, input}, i) => {
            const button = element("button.token", {type: "button", tabIndex: i === 0 ? 0 : -1, textContent: readable(token.piece)});
            button.classList.toggle("special", token.special);
            button.setAttribute("aria-label", this.describe(side, i));
            if (input)
                button.prepend(element("small", {textContent: `${readable(input.piece)} → `}));
            button.addEventListener("pointerenter", () => this.activate({side, i}));
            button.addEventListener("focus", () => this.onFocus(side, i));
            if (side === "rows" && this.hasSteps)
                button.addEventListener("click", () => this.onStep(i));
            return button;
        });
        this.columns[side].setAttribute("aria-label", side === "rows" ? t`Looking` : t`Looked at`);
        this.columns[side].replaceChildren(...items.map((item) => element("li", {}, item)));
        return items;
    }

    onFocus(side, i) {
        this.buttons[side].forEach((button, j) => (button.tabIndex = i === j ? 0 : -1));
        this.activate({side, i});
    }

    onKey(event) {
        const side = ["rows", "columns"].find((one) => this.buttons?.[one].includes(document.activeElement));
        if (!side || event.ctrlKey || event.altKey || event.metaKey)
            return;
        const from = this.buttons[side].indexOf(document.activeElement);
        const across = {ArrowRight: side === "rows", ArrowLeft: side === "columns"}[event.key];
        const next = across ? this.buttons[side === "rows" ? "columns" : "rows"][this.strongest(side, from)] : this.buttons[side][inRow(from, event.key.replace(/Arrow(Left|Right)/, ""), this.buttons[side].length)];
        if (!next)
            return;
        event.preventDefault();
        next.focus();
    }

    weight(row, column, values = this.values) {
        return values[row * this.axes.columns.length + column];
    }

    /** Weights below it are not drawn. */
    setThreshold(threshold) {
        this.threshold = Math.max(FAINTEST, threshold);
        this.draw();
    }

    /** The weights between a token and all of the other side. */
    weightsOf(side, i) {
        return side === "rows"
            ? this.axes.columns.map((_, column) => this.weight(i, column))
            : this.axes.rows.map((_, row) => this.weight(row, i));
    }

    strongest(side, i) {
        const weights = this.weightsOf(side, i);
        return weights.indexOf(Math.max(...weights));
    }

    describe(side, i) {
        const other = this.axes[side === "rows" ? "columns" : "rows"];
        const best = this.strongest(side, i);
        const {token, input} = this.axes[side][i];
        const who = input ? t`${readable(input.piece)} → ${readable(token.piece)}: step ${i},` : t`${readable(token.piece)}:`;
        const [whom, share] = [readable(other[best].token.piece), percent(this.weightsOf(side, i)[best])];
        return side === "rows" ? t`${who} looked most at ${whom}, ${share}` : t`${who} was looked at most by ${whom}, ${share}`;
    }

    select(step) {
        this.chosen = step;
        this.buttons?.rows.forEach((button, i) => button.classList.toggle("chosen", Boolean(this.hasSteps) && i === step));
    }

    activate(active) {
        this.active = active;
        if (!this.buttons)
            return;
        const weights = active && this.weightsOf(active.side, active.i);
        for (const side of ["rows", "columns"])
            this.buttons[side].forEach((button, i) => {
                const weight = active && active.side !== side ? weights[i] : 0;
                const isTinted = weight >= FAINTEST;
                button.classList.toggle("active", active?.side === side && active.i === i);
                button.style.background = isTinted ? weightColour(weight) : "";
                button.style.color = isTinted ? inkOn(weight) : "";
            });
        this.note.textContent = active ? t`${this.describe(active.side, active.i)}.` : this.hasSteps ? t`Left looks at right. Point at a token to see its lines alone; click one on the left for what else could have been written.` : t`Left looks at right. Point at a token to see its lines alone.`;
        this.draw();
    }

    paint() {
        const width = this.middle.clientWidth;
        if (!this.axes || !width)
            return;
        const height = Math.min(this.box.clientHeight, this.middle.clientHeight);
        const context = fitCanvas(this.canvas, width, height);
        const top = this.box.scrollTop;
        for (const {values, colour} of this.drawn()) {
            context.strokeStyle = colour;
            this.levels(values, top, top + height).forEach((lines, level) => {
                const weight = (level + 0.5) / LEVELS;
                context.globalAlpha = this.opacity(weight);
                context.lineWidth = 0.75 + 3 * weight;
                context.beginPath();
                for (const [row, column] of lines) {
                    const [y1, y2] = [(row + 0.5) * ROW - top, (column + 0.5) * ROW - top];
                    context.moveTo(0, y1);
                    context.bezierCurveTo(width * 0.4, y1, width * 0.6, y2, width, y2);
                }
                context.stroke();
            });
        }
        context.globalAlpha = 1;
    }

    opacity(weight) {
        return this.active ? 0.15 + 0.85 * Math.sqrt(weight) : 0.06 + 0.94 * weight;
    }

    /** What is drawn: one matrix, or those of several heads. */
    drawn() {
        return this.heads ?? [{values: this.values, colour: getComputedStyle(this.box).getPropertyValue("--accent").trim()}];
    }

    /** Every line as {row, column, weight, colour, opacity}. */
    strokes() {
        return this.drawn().flatMap(({values, colour}) => this.levels(values, 0, Infinity).flat().map(([row, column]) => {
            const weight = this.weight(row, column, values);
            return {row, column, weight, colour, opacity: this.opacity(weight)};
        }));
    }

    /** [row, column] pairs by level, of lines that cross the window from top to bottom. */
    levels(values, top, bottom) {
        const levels = Array.from({length: LEVELS}, () => []);
        const inSight = (i) => (i + 1) * ROW > top && i * ROW < bottom;
        const [rows, columns] = [this.axes.rows.length, this.axes.columns.length];
        for (let row = 0; row < rows; row++) {
            if (this.active?.side === "rows" && this.active.i !== row)
                continue;
            for (let column = 0; column < columns; column++) {
                const weight = this.weight(row, column, values);
                const isHidden = weight < this.threshold || (this.active?.side === "columns" && this.active.i !== column);
                if (!isHidden && (inSight(row) || inSight(column)))
                    levels[Math.min(LEVELS - 1, Math.floor(weight * LEVELS))].push([row, column]);
            }
        }
        return levels;
    }
}
