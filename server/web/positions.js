// The positional encoding as a picture: a row per position, a column per dimension.

import {element, fitCanvas, frame} from "./dom.js";
import {signedImage} from "./colours.js";

export class Positions {
    constructor(container, note) {
        this.note = note;
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
    show(reply) {
        this.reply = reply;
        this.values = Float32Array.from(reply.matrix.flat());
        this.canvas.setAttribute("aria-label", `Positional encoding, ${reply.layout}: ${reply.n} positions downwards, ${reply.d_model} dimensions across`);
        this.note.textContent = this.hint();
        this.draw();
    }

    hint() {
        return `Positions 0 to ${this.reply.n - 1} downwards, dimensions 0 to ${this.reply.d_model - 1} across; blue above 0, orange below.`;
    }

    paint() {
        if (!this.reply || !this.box.clientWidth)
            return;
        const {n, d_model: columns} = this.reply;
        const small = new OffscreenCanvas(columns, n);
        small.getContext("2d").putImageData(signedImage(this.values, columns), 0, 0);
        const width = this.box.clientWidth;
        const context = fitCanvas(this.canvas, width, Math.max(180, Math.min(480, n * 5)));
        context.imageSmoothingEnabled = false;
        context.drawImage(small, 0, 0, width, parseFloat(this.canvas.style.height));
    }

    point(event) {
        const {n, d_model: columns, layout} = this.reply;
        const column = Math.min(columns - 1, Math.floor((event.offsetX / this.canvas.clientWidth) * columns));
        const row = Math.min(n - 1, Math.floor((event.offsetY / this.canvas.clientHeight) * n));
        const isConcatenated = layout === "concatenated";
        const half = columns / 2;
        const isSine = isConcatenated ? column < half : column % 2 === 0;
        const i = isConcatenated ? column % half : Math.floor(column / 2);
        const value = this.values[row * columns + column].toFixed(3);
        this.note.textContent = `Position ${row}, dimension ${column}: ${isSine ? "sin" : "cos"}(${row} / 10000^(${2 * i}/${columns})) = ${value}`;
    }
}
