// A matrix as coloured cells, with its row and column names in sight wherever it is scrolled to. Only
// what is visible is drawn, so its size costs nothing.

import {element, fitCanvas, frame, isolated, percent, readable} from "./dom.js";
import {weightPalette} from "./colours.js";
import {decimal, t} from "./text_inside.js";

const LABEL_FONT = "13px system-ui, sans-serif";
const SMALL_FONT = "11px system-ui, sans-serif";
const [LEAST_CELL, MOST_CELL] = [15, 52];
const ROW_HEIGHT = 24;
const MOST_HEAD = 120; // of the columns' names
const LINE = 14.5; // of a column's name

/** How far names of columns that stand so close lean, as an angle: the closer, the steeper. */
export const slantOf = (cellWidth) => Math.max(Math.PI / 3.6, Math.asin(Math.min(1, LINE / cellWidth)));

export class HeatMap {
    /** onStep(row) is called for a row that is clicked or entered. */
    constructor(container, note, {onStep}) {
        this.note = note;
        this.onStep = onStep;
        this.canvas = element("canvas", {"aria-hidden": "true"});
        this.spacer = element("div.spacer", {}, this.canvas);
        this.box = element("div.matrix", {tabIndex: 0}, this.spacer);
        this.box.setAttribute("role", "application");
        this.box.setAttribute("aria-roledescription", t`heat map`);
        this.live = element("p.visually-hidden", {"aria-live": "polite"});
        container.append(this.box, this.live);
        this.draw = frame(() => this.paint());
        this.box.addEventListener("scroll", this.draw, {passive: true});
        new ResizeObserver(() => this.resize()).observe(container);
        document.addEventListener("themechange", this.draw);
        this.box.addEventListener("pointermove", (event) => this.point(this.cellAt(event)));
        this.box.addEventListener("pointerleave", () => this.point(null));
        this.box.addEventListener("click", (event) => this.choose(this.cellAt(event)));
        this.box.addEventListener("keydown", (event) => this.onKey(event));
    }

    /** axes: {rows, columns} of {token, input}; values [rows, columns]; hasSteps: rows are steps. */
    show({values, axes, name, hasSteps}) {
        Object.assign(this, {values, axes, name, hasSteps, cell: null});
        this.box.setAttribute("aria-label", t`${name}: ${axes.rows.length} rows, ${axes.columns.length} columns. Arrow keys move from cell to cell.`);
        this.note.textContent = this.hint();
        this.resize();
    }

    hint() {
        return this.hasSteps ? t`Point at a cell. Click a row for what else could have been written there.` : t`Point at a cell.`;
    }

    select(step) {
        this.chosen = step;
        this.draw();
    }

    resize() {
        const width = this.box.parentElement.clientWidth;
        if (!this.axes || !width)
            return;
        const context = this.canvas.getContext("2d");
        context.font = LABEL_FONT;
        const widest = (tokens) => Math.max(...tokens.map(({token}) => context.measureText(readable(token.piece)).width));
        const inputs = this.hasSteps ? Math.max(...this.axes.rows.map(({input}) => context.measureText(readable(input.piece)).width)) : 0;
        this.hasInputs = this.hasSteps && width > 560;
        this.left = Math.min(width * 0.45, widest(this.axes.rows) + (this.hasInputs ? inputs + 34 : 0) + 18);
        const room = Math.floor((width - this.left - 24) / this.axes.columns.length);
        this.cellWidth = Math.max(LEAST_CELL, Math.min(MOST_CELL, room));
        this.slant = slantOf(this.cellWidth);
        this.top = Math.min(MOST_HEAD, widest(this.axes.columns) * Math.sin(this.slant) + 26);
        // Room on the right for the last name, which leans outwards.
        this.width = Math.ceil(this.left + this.cellWidth * this.axes.columns.length + this.top * Math.cos(this.slant) * 1.25);
        this.height = Math.ceil(this.top + ROW_HEIGHT * this.axes.rows.length + 4);
        this.spacer.style.width = `${this.width}px`;
        this.spacer.style.height = `${this.height}px`;
        this.draw();
    }

    cellAt(event) {
        const bounds = this.canvas.getBoundingClientRect(); // always in sight, where the box scrolls or not
        const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
        const row = Math.floor((y + this.box.scrollTop - this.top) / ROW_HEIGHT);
        const column = Math.floor((x + this.box.scrollLeft - this.left) / this.cellWidth);
        const isInside = y >= this.top && row >= 0 && row < this.axes.rows.length;
        if (!isInside)
            return null;
        const isCell = x >= this.left && column >= 0 && column < this.axes.columns.length;
        return {row, column: isCell ? column : -1};
    }

    point(cell) {
        if (this.cell?.row === cell?.row && this.cell?.column === cell?.column)
            return;
        this.cell = cell;
        this.note.textContent = cell ? this.describe(cell) : this.hint();
        this.draw();
    }

    choose(cell) {
        if (cell && this.hasSteps)
            this.onStep(cell.row);
    }

    describe({row, column}) {
        const {token, input} = this.axes.rows[row];
        const who = this.hasSteps ? t`Step ${row}, which read “${readable(input.piece)}” and wrote “${readable(token.piece)}”` : t`“${readable(token.piece)}”`;
        if (column < 0)
            return t`${who}.`;
        const weight = this.values[row * this.axes.columns.length + column];
        return t`${who}, gave “${readable(this.axes.columns[column].token.piece)}” ${percent(weight)} of its attention.`;
    }

    onKey(event) {
        const {row = 0, column = 0} = this.cell ?? {};
        const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
        const move = moves[event.key];
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            this.choose(this.cell);
        }
        if (!move || !this.axes)
            return;
        event.preventDefault();
        const clamp = (x, n) => Math.max(0, Math.min(n - 1, x));
        const next = this.cell ? {row: clamp(row + move[0], this.axes.rows.length), column: clamp(column + move[1], this.axes.columns.length)} : {row: 0, column: 0};
        this.point(next);
        this.reveal(next);
        this.live.textContent = this.describe(next);
    }

    reveal({row, column}) {
        const [x, y] = [this.left + column * this.cellWidth, this.top + row * ROW_HEIGHT];
        const {scrollLeft, scrollTop, clientWidth, clientHeight} = this.box;
        if (x < scrollLeft + this.left)
            this.box.scrollLeft = x - this.left;
        else if (x + this.cellWidth > scrollLeft + clientWidth)
            this.box.scrollLeft = x + this.cellWidth - clientWidth;
        if (y < scrollTop + this.top)
            this.box.scrollTop = y - this.top;
        else if (y + ROW_HEIGHT > scrollTop + clientHeight)
            this.box.scrollTop = y + ROW_HEIGHT - clientHeight;
    }

    paint() {
        const {clientWidth, clientHeight, scrollLeft, scrollTop} = this.box;
        if (!this.axes || !clientWidth)
            return;
        const context = fitCanvas(this.canvas, Math.min(clientWidth, this.width), Math.min(clientHeight, this.height));
        const colours = getComputedStyle(this.box);
        const view = {
            context, clientWidth, clientHeight, scrollLeft, scrollTop,
            ink: colours.getPropertyValue("--ink"), muted: colours.getPropertyValue("--muted"), accent: colours.getPropertyValue("--accent"), hint: colours.getPropertyValue("--tint"),
            rows: visible(scrollTop, clientHeight - this.top, ROW_HEIGHT, this.axes.rows.length),
            columns: visible(scrollLeft, clientWidth - this.left, this.cellWidth, this.axes.columns.length),
        };
        this.paintCells(view);
        this.paintRowNames(view);
        this.paintColumnNames(view);
    }

    paintCells({context, rows, columns, scrollLeft, scrollTop, clientWidth, clientHeight, accent}) {
        const colour = weightPalette();
        const n = this.axes.columns.length;
        context.save();
        context.beginPath();
        context.rect(this.left, this.top, clientWidth, clientHeight);
        context.clip();
        context.translate(this.left - scrollLeft, this.top - scrollTop);
        for (let row = rows[0]; row < rows[1]; row++)
            for (let column = columns[0]; column < columns[1]; column++) {
                context.fillStyle = colour(this.values[row * n + column]);
                context.fillRect(column * this.cellWidth, row * ROW_HEIGHT, this.cellWidth - 1, ROW_HEIGHT - 1);
            }
        context.strokeStyle = accent;
        context.lineWidth = 2;
        if (this.hasSteps && this.chosen !== undefined && this.chosen < this.axes.rows.length)
            context.strokeRect(0, this.chosen * ROW_HEIGHT - 0.5, n * this.cellWidth - 1, ROW_HEIGHT);
        if (this.cell?.column >= 0)
            context.strokeRect(this.cell.column * this.cellWidth - 1, this.cell.row * ROW_HEIGHT - 1, this.cellWidth + 1, ROW_HEIGHT + 1);
        context.restore();
    }

    paintRowNames({context, rows, scrollTop, clientHeight, ink, muted, hint}) {
        context.save();
        context.beginPath();
        context.rect(0, this.top, this.left, clientHeight);
        context.clip();
        context.textAlign = "right";
        context.textBaseline = "middle";
        for (let row = rows[0]; row < rows[1]; row++) {
            const {token, input} = this.axes.rows[row];
            const y = this.top + (row + 0.5) * ROW_HEIGHT - scrollTop;
            if (this.cell?.row === row) {
                context.fillStyle = hint;
                context.fillRect(0, y - ROW_HEIGHT / 2, this.left - 4, ROW_HEIGHT - 1);
            }
            context.font = LABEL_FONT;
            context.fillStyle = token.special ? muted : ink;
            const name = readable(token.piece);
            context.fillText(name, this.left - 10, y);
            if (this.hasInputs) {
                const x = this.left - 10 - context.measureText(name).width;
                context.font = SMALL_FONT;
                context.fillStyle = muted;
                context.fillText(`${readable(input.piece)}  →`, x - 7, y);
            }
        }
        context.restore();
    }

    paintColumnNames({context, columns, scrollLeft, clientWidth, ink, muted, hint}) {
        context.save();
        context.beginPath();
        context.rect(this.left - 6, 0, clientWidth, this.top);
        context.clip();
        context.textAlign = "left";
        context.textBaseline = "middle";
        context.font = LABEL_FONT;
        for (let column = columns[0]; column < columns[1]; column++) {
            const {token} = this.axes.columns[column];
            const x = this.left + (column + 0.5) * this.cellWidth - scrollLeft;
            if (this.cell?.column === column) {
                context.fillStyle = hint;
                context.fillRect(x - this.cellWidth / 2, this.top - 10, this.cellWidth - 1, 8);
            }
            context.save();
            context.translate(x, this.top - 12);
            context.rotate(-this.slant);
            context.fillStyle = token.special ? muted : ink;
            context.fillText(readable(token.piece), 0, 0);
            context.restore();
        }
        context.restore();
    }
}

/** [first, end) of the items of a size that a window shows. */
function visible(scroll, room, size, n) {
    return [Math.max(0, Math.floor(scroll / size)), Math.min(n, Math.ceil((scroll + Math.max(0, room)) / size))];
}

/** The same as a table, for those who would rather read numbers. */
export function fillTable(container, {values, axes, name, hasSteps}) {
    const head = element("tr", {}, element("td"), ...axes.columns.map(({token}) => element("th", {scope: "col", textContent: readable(token.piece)})));
    const body = axes.rows.map(({token, input}, row) => {
        const title = hasSteps ? `${row}: ${isolated(readable(input.piece))} → ${isolated(readable(token.piece))}` : readable(token.piece);
        const cells = axes.columns.map((_, column) => element("td", {textContent: decimal(values[row * axes.columns.length + column], 3)}));
        return element("tr", {}, element("th", {scope: "row", textContent: title}), ...cells);
    });
    container.replaceChildren(element("table", {}, element("caption", {textContent: name}), element("thead", {}, head), element("tbody", {}, ...body)));
}
