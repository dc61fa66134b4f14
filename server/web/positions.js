// The positional encoding as a picture: a row per position, a column per dimension, with axes; and drawn with another
// base than the model's.

import {element, fitCanvas, frame} from "./dom.js";
import {signedImage} from "./colours.js";
import {decimal, language, t} from "./text_inside.js";

export const BASE = 10_000; // the paper's, and that of every model
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 14, 44, 40];
const FONT = "11px system-ui, sans-serif";
const N_TICKS = 8;
const LAYOUTS = {concatenated: t`concatenated`, interleaved: t`interleaved`};

const number = (value) => new Intl.NumberFormat(language, {maximumSignificantDigits: 3}).format(value);

/** Whole numbers from 0 below n, some N_TICKS of them. */
function ticksBelow(n) {
    const step = [1, 2, 4, 5, 8, 10, 16, 20, 32, 40, 50, 64, 100, 128, 200, 256].find((one) => n / one <= N_TICKS) ?? Math.ceil(n / N_TICKS);
    return Array.from({length: Math.ceil(n / step)}, (_, i) => i * step);
}

export class Positions {
    constructor(container, note) {
        this.note = note;
        this.base = BASE;
        this.canvas = element("canvas", {role: "img"});
        this.box = element("div.positions", {}, this.canvas);
        container.append(this.box);
        this.draw = frame(() => this.paint());
        new ResizeObserver(this.draw).observe(container);
        document.addEventListener("themechange", () => this.draw());
        this.canvas.addEventListener("pointermove", (event) => this.point(event));
        this.canvas.addEventListener("pointerleave", () => (this.note.textContent = this.hint()));
    }

    /** reply: GET /positions' */
    show(reply, base = this.base) {
        Object.assign(this, {reply, base});
        this.readWaves();
        this.values = base === BASE ? Float32Array.from(reply.matrix.flat()) : this.compute();
        this.canvas.setAttribute("aria-label", t`Positional encoding, ${LAYOUTS[reply.layout]}: ${reply.n} positions downwards, ${reply.d_model} dimensions across, base ${base}`);
        this.note.textContent = this.hint();
        this.draw();
    }

    /** Which columns are the sine and the cosine of wave i. */
    columnsOf(i) {
        const half = this.reply.d_model / 2;
        return this.reply.layout === "concatenated" ? [i, half + i] : [2 * i, 2 * i + 1];
    }

    /** What the rows say of the model's formula: the power of the base in each wave, and the first position. */
    readWaves() {
        const {d_model: d, matrix: [zero, one = zero]} = this.reply;
        const angle = (row, i) => Math.atan2(...this.columnsOf(i).map((column) => row[column]));
        const half = Math.floor(d / 2);
        const measured = (i) => -Math.log((angle(one, i) - angle(zero, i) + 2 * Math.PI) % (2 * Math.PI)) / Math.log(BASE);
        // The paper's, and tensor2tensor's. A wave in the middle tells them apart.
        const formulas = [(i) => (2 * i) / d, (i) => i / (half - 1)];
        const middle = Math.floor(half / 2);
        const off = formulas.map((formula) => Math.abs(formula(middle) - measured(middle)));
        this.powers = Array.from({length: half}, (_, i) => formulas[off[1] < off[0] ? 1 : 0](i));
        this.first = Math.round((angle(zero, 0) + 2 * Math.PI) % (2 * Math.PI));
    }

    compute() {
        const {n, d_model: d} = this.reply;
        const values = new Float32Array(n * d);
        this.powers.forEach((power, i) => {
            const frequency = this.base ** -power;
            const [sine, cosine] = this.columnsOf(i);
            for (let row = 0; row < n; row++) {
                values[row * d + sine] = Math.sin((row + this.first) * frequency);
                values[row * d + cosine] = Math.cos((row + this.first) * frequency);
            }
        });
        return values;
    }

    hint() {
        const last = this.powers.at(-1);
        return t`Positions ${this.first} to ${this.first + this.reply.n - 1} downwards, dimensions 0 to ${this.reply.d_model - 1} across. The fastest wave takes ${number(2 * Math.PI)} positions, the slowest ${number(2 * Math.PI * this.base ** last)}.`;
    }

    title() {
        return t`Positional encoding, ${LAYOUTS[this.reply.layout]}, base ${this.base}`;
    }

    /** What is drawn, and where: {width, height, left, top, image, ticks of {x, y, text, anchor}}. */
    plot(outer = 900) {
        const {n, d_model: d} = this.reply;
        const [width, height] = [Math.max(120, outer - LEFT - RIGHT), Math.max(180, Math.min(480, n * 5))];
        const image = element("canvas", {width: d, height: n});
        image.getContext("2d").putImageData(signedImage(this.values, d), 0, 0);
        const x = (column) => LEFT + ((column + 0.5) / d) * width;
        const shown = ticksBelow(d).filter((_, i, all) => width > 420 || i % 2 === 0 || all.length < 4);
        const waveOf = (column) => Math.min(this.powers.length - 1, this.reply.layout === "concatenated" ? column % (d / 2) : Math.floor(column / 2));
        const ticks = [
            ...ticksBelow(n).map((row) => ({x: LEFT - 6, y: TOP + ((row + 0.5) / n) * height, text: row + this.first, anchor: "end"})),
            ...shown.map((column) => ({x: x(column), y: TOP + height + 11, text: column, anchor: "middle"})),
            ...shown.map((column) => ({x: x(column), y: TOP - 9, text: number(2 * Math.PI * this.base ** this.powers[waveOf(column)]), anchor: "middle"})),
            {x: LEFT + width / 2, y: TOP + height + 29, text: t`dimension`, anchor: "middle"},
            {x: LEFT + width / 2, y: TOP - 29, text: t`length of the wave, in positions`, anchor: "middle"},
            {x: 4, y: TOP - 29, text: t`position`, anchor: "start"},
        ];
        return {width, height, left: LEFT, top: TOP, bottom: BOTTOM, image, ticks, title: this.title()};
    }

    paint() {
        if (!this.reply || !this.box.clientWidth)
            return;
        const {width, height, left, top, bottom, image, ticks} = this.plot(this.box.clientWidth);
        const context = fitCanvas(this.canvas, this.box.clientWidth, top + height + bottom);
        context.imageSmoothingEnabled = false;
        context.drawImage(image, left, top, width, height);
        context.font = FONT;
        context.fillStyle = getComputedStyle(this.box).getPropertyValue("--muted");
        context.textBaseline = "middle";
        for (const {x, y, text, anchor} of ticks) {
            context.textAlign = {start: "left", middle: "center", end: "right"}[anchor];
            context.fillText(text, x, y);
        }
        this.size = {width, height};
    }

    point({offsetX, offsetY}) {
        const {n, d_model: d, layout} = this.reply;
        const [column, row] = [Math.floor(((offsetX - LEFT) / this.size.width) * d), Math.floor(((offsetY - TOP) / this.size.height) * n)];
        if (column < 0 || column >= d || row < 0 || row >= n) {
            this.note.textContent = this.hint();
            return;
        }
        const isSine = layout === "concatenated" ? column < d / 2 : column % 2 === 0;
        const i = layout === "concatenated" ? column % (d / 2) : Math.floor(column / 2);
        const power = Math.abs(this.powers[i] - (2 * i) / d) < 1e-3 ? `(${2 * i}/${d})` : decimal(this.powers[i], 4);
        const position = row + this.first;
        const value = decimal(this.values[row * d + column], 3);
        const formula = `${isSine ? "sin" : "cos"}(${position} / ${this.base}^${power}) = ${value}`;
        this.note.textContent = t`Position ${position}, dimension ${column}: ${formula}; its wave takes ${number(2 * Math.PI * this.base ** this.powers[i])} positions.`;
    }
}
