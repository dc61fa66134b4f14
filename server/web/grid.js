// Every head of a kind as a small picture, a layer to a row. A layer is fetched and drawn when it
// comes into sight.

import {element, frame, inGrid, percent, readable, roving} from "./dom.js";
import {weightImage} from "./colours.js";
import {roleOf, rowsOf} from "./roles.js";
import {sentences, t} from "./text_inside.js";

export class Grid {
    constructor(container, note, {onOpen}) {
        this.container = container;
        this.note = note;
        this.onOpen = onOpen;
        this.observer = new IntersectionObserver((entries) => this.onSight(entries), {rootMargin: "4000px"});
        this.repaint = frame(() => this.cells?.forEach((cell) => paint(cell)));
        document.addEventListener("themechange", this.repaint);
    }

    show(inspector, kind) {
        const [nLayers, nHeads] = inspector.shape(kind);
        Object.assign(this, {inspector, kind});
        this.observer.disconnect();
        this.cells = [];
        this.container.replaceChildren();
        const {columns} = inspector.axes(kind);
        const grid = element("div.grid", {role: "grid", "aria-label": t`All heads: ${nLayers} layers of ${nHeads} heads`});
        grid.style.setProperty("--heads", nHeads);
        for (let layer = 0; layer < nLayers; layer++)
            grid.append(this.layerRow(layer, nHeads, columns.length));
        this.container.append(grid);
        roving(grid, "button", inGrid(nHeads));
        grid.querySelector("button").tabIndex = 0;
        this.note.textContent = t`Each square is a head: rows write, columns are looked at. Click one to open it.`;
    }

    layerRow(layer, nHeads, columns) {
        const row = element("div.grid-row", {role: "row"}, element("span.grid-name", {role: "rowheader", textContent: t`Layer ${layer}`}));
        row.dataset.layer = layer;
        for (let head = 0; head < nHeads; head++) {
            const canvas = element("canvas", {"aria-hidden": "true"});
            const label = t`Layer ${layer}, head ${head}`;
            const button = element("button.thumb", {type: "button", tabIndex: -1, "aria-label": label, onclick: () => this.onOpen(layer, head)}, canvas, element("span", {textContent: head, "aria-hidden": "true"}));
            row.append(element("div", {role: "gridcell"}, button));
            const cell = {canvas, columns, layer, head, label};
            this.cells.push(cell);
            const explain = () => (this.note.textContent = cell.values ? this.describe(cell) : t`${label}: loading.`);
            button.addEventListener("pointerenter", explain);
            button.addEventListener("focus", explain);
        }
        this.observer.observe(row);
        return row;
    }

    onSight(entries) {
        for (const entry of entries.filter((one) => one.isIntersecting)) {
            this.observer.unobserve(entry.target);
            this.load(Number(entry.target.dataset.layer));
        }
    }

    async load(layer) {
        const {inspector, kind} = this;
        try {
            const heads = await inspector.layer(kind, layer);
            if (inspector !== this.inspector || kind !== this.kind)
                return;
            for (const cell of this.cells.filter((one) => one.layer === layer)) {
                cell.values = heads[cell.head];
                paint(cell);
            }
        } catch (error) {
            if (error.name !== "AbortError")
                this.note.textContent = error.message;
        }
    }

    /** A promise of the cells with all of their values. */
    async whole() {
        const {inspector, kind, cells} = this;
        await Promise.all([...new Set(cells.map(({layer}) => layer))].map((layer) => this.load(layer)));
        if (inspector !== this.inspector || kind !== this.kind)
            throw new DOMException("Something else is shown.", "AbortError");
        return cells;
    }

    /** How sharp a head looks, where to, and what for: what tells heads apart at a glance. */
    describe({values, columns: n, label}) {
        const {inspector, kind} = this;
        const {columns} = inspector.axes(kind);
        const rows = rowsOf(values, n);
        const sums = new Float64Array(n);
        let sharpness = 0;
        for (const weights of rows) {
            sharpness += Math.max(...weights) / rows.length;
            weights.forEach((weight, column) => (sums[column] += weight / rows.length));
        }
        const most = sums.indexOf(Math.max(...sums));
        const favourite = columns[most].token;
        const {name, share} = roleOf(rows, columns, kind, rowsOf(inspector.alignment, inspector.sources.length));
        return sentences(t`${label}: a row's largest weight is ${percent(sharpness)} on average; “${readable(favourite.piece)}” gets most, ${percent(sums[most])}.`, t`Looks at: ${name}, ${percent(share)}.`);
    }
}

// A small map has no more rows and columns than this: several tokens share one, as the largest of their weights.
const MOST_SIDE = 120;

/** {values, columns} of a matrix of at most MOST_SIDE rows and columns. */
export function shrunk(values, columns) {
    const rows = values.length / columns;
    const [by, byColumns] = [Math.ceil(rows / MOST_SIDE), Math.ceil(columns / MOST_SIDE)];
    if (by === 1 && byColumns === 1)
        return {values, columns};
    const width = Math.ceil(columns / byColumns);
    const out = new Float32Array(Math.ceil(rows / by) * width);
    for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) {
            const at = Math.floor(row / by) * width + Math.floor(column / byColumns);
            out[at] = Math.max(out[at], values[row * columns + column]);
        }
    return {values: out, columns: width};
}

function paint({canvas, values, columns}) {
    if (!values)
        return;
    const small = shrunk(values, columns);
    canvas.width = small.columns;
    canvas.height = small.values.length / small.columns;
    canvas.getContext("2d").putImageData(weightImage(small.values, small.columns), 0, 0);
    canvas.parentElement.classList.add("ready");
}
