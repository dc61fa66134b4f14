// What a view shows as an SVG of its own: to be saved, and to be printed. Words and pieces are text in it.

import {weightImage, weightPalette} from "./colours.js";
import {element, readable} from "./dom.js";
import {slantOf} from "./heatmap.js";
import {t} from "./text_inside.js";

const FONT = "system-ui, sans-serif";
const MARGIN = 16;
const TITLE = 28;
const [ROW, TOKEN_ROW, THUMB, GAP] = [24, 28, 110, 10];
// Of more cells a map is an image in the picture.
const MOST_CELLS = 8000;
// A canvas cannot be larger everywhere.
const [MOST_SIDE, MOST_PIXELS, SCALE] = [16_000, 64_000_000, 2];

const escaped = (text) => String(text).replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
const attributes = (given) => Object.entries(given).map(([name, value]) => ` ${name}="${escaped(typeof value === "number" ? +value.toFixed(2) : value)}"`).join("");

class Sheet {
    constructor() {
        const style = getComputedStyle(document.documentElement);
        for (const name of ["card", "ink", "muted", "line", "accent"])
            this[name] = style.getPropertyValue(`--${name}`).trim();
        this.parts = [];
    }

    add(tag, given, text) {
        this.parts.push(text === undefined ? `<${tag}${attributes(given)}/>` : `<${tag}${attributes(given)}>${escaped(text)}</${tag}>`);
    }

    text(x, y, text, {size = 13, fill = this.ink, anchor = "start", ...more} = {}) {
        this.add("text", {x, y: y + 0.35 * size, "font-size": size, fill, "text-anchor": anchor, ...more}, text);
    }

    image(x, y, width, height, values, columns) {
        const canvas = element("canvas", {width: columns, height: values.length / columns});
        canvas.getContext("2d").putImageData(weightImage(values, columns), 0, 0);
        this.add("image", {x, y, width, height, preserveAspectRatio: "none", "image-rendering": "pixelated", href: canvas.toDataURL()});
    }

    /** {svg, width, height}; what is left of and above x and y is cut off. */
    end(width, height, x = 0, y = 0) {
        const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}" font-family="${FONT}"><rect${attributes({x, y, width, height, fill: this.card})}/>${this.parts.join("")}</svg>`;
        return {svg, width, height};
    }
}

/** Width of texts at 13 pixels. */
function measure(texts) {
    const context = element("canvas").getContext("2d");
    context.font = `13px ${FONT}`;
    return Math.max(0, ...texts.map((text) => context.measureText(text).width));
}

const nameOf = ({token}) => readable(token.piece);
const inputOf = ({input}) => (input ? `${readable(input.piece)}  →` : "");

/** matrix: {values, axes, name}, as the heat map shows it. */
export function mapPicture({values, axes, name}) {
    const sheet = new Sheet();
    const n = axes.columns.length;
    const cell = Math.max(15, Math.min(40, 700 / n));
    const slant = slantOf(cell);
    const names = measure(axes.rows.map(nameOf));
    const inputs = measure(axes.rows.map(inputOf));
    const [left, top] = [MARGIN + names + (inputs ? inputs + 12 : 0) + 8, TITLE + MARGIN + Math.sin(slant) * measure(axes.columns.map(nameOf)) + 14];
    sheet.text(MARGIN, MARGIN + 6, name, {fill: sheet.muted});
    axes.rows.forEach((row, i) => {
        const y = top + (i + 0.5) * ROW;
        sheet.text(left - 8, y, nameOf(row), {anchor: "end", fill: row.token.special ? sheet.muted : sheet.ink});
        if (row.input)
            sheet.text(left - 20 - measure([nameOf(row)]), y, inputOf(row), {anchor: "end", fill: sheet.muted, size: 11});
    });
    axes.columns.forEach((column, j) => {
        const [x, y] = [left + (j + 0.5) * cell, top - 8];
        sheet.text(x, y, nameOf(column), {fill: column.token.special ? sheet.muted : sheet.ink, transform: `rotate(${(-180 * slant / Math.PI).toFixed(1)} ${x.toFixed(1)} ${y.toFixed(1)})`});
    });
    if (values.length > MOST_CELLS) {
        sheet.image(left, top, n * cell, axes.rows.length * ROW, values, n);
    } else {
        const colour = weightPalette();
        values.forEach((weight, i) => sheet.add("rect", {x: left + (i % n) * cell, y: top + Math.floor(i / n) * ROW, width: cell - 1, height: ROW - 1, fill: colour(weight)}));
    }
    return sheet.end(Math.ceil(Math.max(left + n * cell + 0.8 * (top - TITLE), MARGIN * 2 + measure([name]))), Math.ceil(top + axes.rows.length * ROW + MARGIN));
}

/** The head view: lines.strokes() says what is drawn. */
export function linesPicture(lines) {
    const sheet = new Sheet();
    const {axes, name} = lines;
    const left = MARGIN + measure(axes.rows.map((row) => inputOf(row) + nameOf(row))) + 20;
    const [right, top] = [left + 320, TITLE + MARGIN];
    const y = (i) => top + (i + 0.5) * TOKEN_ROW;
    sheet.text(MARGIN, MARGIN + 6, name, {fill: sheet.muted});
    for (const {row, column, weight, colour, opacity} of lines.strokes())
        sheet.add("path", {d: `M${left} ${y(row)}C${left + 128} ${y(row)} ${right - 128} ${y(column)} ${right} ${y(column)}`, fill: "none", stroke: colour, "stroke-width": 0.75 + 3 * weight, "stroke-opacity": opacity});
    axes.rows.forEach((row, i) => {
        sheet.text(left - 8, y(i), nameOf(row), {anchor: "end", fill: row.token.special ? sheet.muted : sheet.ink});
        if (row.input)
            sheet.text(left - 20 - measure([nameOf(row)]), y(i), inputOf(row), {anchor: "end", fill: sheet.muted, size: 11});
    });
    axes.columns.forEach((column, j) => sheet.text(right + 8, y(j), nameOf(column), {fill: column.token.special ? sheet.muted : sheet.ink}));
    const width = Math.max(right + 8 + measure(axes.columns.map(nameOf)), measure([name])) + MARGIN;
    return sheet.end(Math.ceil(width), Math.ceil(top + TOKEN_ROW * Math.max(axes.rows.length, axes.columns.length) + MARGIN));
}

/** All heads: cells of {layer, head, values, columns}; those whose values are not there yet are empty. */
export function gridPicture(cells, name) {
    const sheet = new Sheet();
    const [nLayers, nHeads] = ["layer", "head"].map((one) => Math.max(...cells.map((cell) => cell[one])) + 1);
    const [left, top, step] = [MARGIN + 60, TITLE + MARGIN + 18, THUMB + GAP];
    sheet.text(MARGIN, MARGIN + 6, name, {fill: sheet.muted});
    for (let head = 0; head < nHeads; head++)
        sheet.text(left + head * step + THUMB / 2, top - 12, head, {anchor: "middle", fill: sheet.muted});
    for (const {layer, head, values, columns} of cells) {
        const [x, y] = [left + head * step, top + layer * step];
        if (head === 0)
            sheet.text(MARGIN, y + THUMB / 2, t`Layer ${layer}`, {fill: sheet.muted});
        if (values)
            sheet.image(x, y, THUMB, THUMB, values, columns);
        sheet.add("rect", {x, y, width: THUMB, height: THUMB, fill: "none", stroke: sheet.line});
    }
    return sheet.end(left + nHeads * step + MARGIN - GAP, top + nLayers * step + MARGIN - GAP);
}

function drawCell(sheet, cell, box) {
    for (const node of cell.childNodes) {
        const isWord = node.nodeType === Node.ELEMENT_NODE;
        const style = getComputedStyle(isWord ? node : cell);
        const range = document.createRange();
        range.selectNodeContents(isWord ? node : cell);
        if (!isWord)
            range.selectNode(node);
        const rect = (isWord ? node : range).getBoundingClientRect();
        const [x, y] = [rect.left - box.left, rect.top - box.top];
        const isTinted = isWord && (node.classList.contains("active") || node.classList.contains("linked"));
        if (isTinted)
            sheet.add("rect", {x, y, width: rect.width, height: rect.height, rx: 7, fill: style.backgroundColor});
        if (node.textContent.trim())
            sheet.text(x + rect.width / 2, y + rect.height / 2, node.textContent.trim(), {size: parseFloat(style.fontSize), fill: style.color, anchor: "middle"});
    }
}

/** The words and their links as they stand on the page: one picture, or one for each band. */
export function linkPictures(links, isByBand = false) {
    const box = links.container.getBoundingClientRect();
    const threads = links.threads(box);
    const draw = (bands, y, height) => {
        const sheet = new Sheet();
        for (const {path, width, opacity} of threads)
            sheet.add("path", {d: path, fill: "none", stroke: sheet.accent, "stroke-linecap": "round", "stroke-width": width, "stroke-opacity": opacity});
        for (const cell of bands.flatMap((band) => [...band.querySelectorAll(".cell")]))
            drawCell(sheet, cell, box);
        return sheet.end(Math.ceil(box.width), Math.ceil(height), 0, y);
    };
    const bands = [...links.container.querySelectorAll(".band")];
    if (!isByBand)
        return [draw(bands, 0, box.height)];
    return bands.map((band) => {
        const {top, height} = band.getBoundingClientRect();
        return draw([band], top - box.top, height);
    });
}

/** The positions: plot() says where what stands. */
export function positionsPicture(positions) {
    const sheet = new Sheet();
    const {width, height, left, top, ticks, image, title} = positions.plot();
    sheet.text(MARGIN, MARGIN + 6, title, {fill: sheet.muted});
    sheet.add("image", {x: left, y: top + TITLE, width, height, preserveAspectRatio: "none", "image-rendering": "pixelated", href: image.toDataURL()});
    for (const {x, y, text, anchor} of ticks)
        sheet.text(x, y + TITLE, text, {size: 11, fill: sheet.muted, anchor});
    return sheet.end(Math.ceil(left + width + MARGIN), Math.ceil(top + height + TITLE + 2 * MARGIN));
}

/** A picture as a file. */
export async function asFile({svg, width, height}, format) {
    const file = new Blob([svg], {type: "image/svg+xml"});
    if (format === "svg")
        return file;
    const image = new Image();
    image.src = URL.createObjectURL(file);
    try {
        await image.decode();
    } finally {
        URL.revokeObjectURL(image.src);
    }
    const scale = Math.min(SCALE, MOST_SIDE / width, MOST_SIDE / height, Math.sqrt(MOST_PIXELS / (width * height)));
    const canvas = element("canvas", {width: Math.round(width * scale), height: Math.round(height * scale)});
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("This picture is too large for the browser; SVG is not."))), "image/png"));
}

const parsed = (svg) => document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);

/** Puts pictures where paper shows them in the place of what stands in container. */
export function putOnPaper(container, pictures) {
    container.querySelector(":scope > .paper")?.remove();
    container.append(element("div.paper", {"aria-hidden": "true"}, ...pictures.map(({svg}) => parsed(svg))));
}
