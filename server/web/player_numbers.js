// The numbers of one run, fetched a layer and a step at a time, and how they are drawn: strips of colour,
// with every number in a table below.

import {attention, positions} from "./api.js";
import {signedImage} from "./colours.js";
import {element} from "./dom.js";
import {decimal, t} from "./text_why.js";

const MOST_KEPT = 50;
const PRECISION = 5;

export class Numbers {
    constructor(request, model) {
        Object.assign(this, {request, model});
        this.controller = new AbortController();
        this.kept = new Map();
    }

    close() {
        this.controller.abort();
    }

    /** shown: the first fields that were asked for since it was cleared, which are a moment's own. */
    ask(fields) {
        this.shown ??= fields;
        const key = JSON.stringify(fields);
        const reply = this.kept.get(key) ?? attention({...this.request, ...fields}, this.controller.signal);
        this.kept.delete(key);
        this.kept.set(key, reply); // the latest last
        reply.catch(() => this.kept.delete(key));
        if (this.kept.size > MOST_KEPT)
            this.kept.delete(this.kept.keys().next().value);
        return reply;
    }

    /** Another request, which is not kept. */
    plain(request, signal) {
        return attention(request, signal);
    }

    async sentence(fields) {
        return (await this.ask({precision: PRECISION, ...fields})).sentences[0];
    }

    /** One head at one row: {query, keys, scores, weights, values, output}. scores are null where masked. */
    async head(kind, layer, head, step) {
        const include = ["queries", "keys", "scores", "values", "head_outputs"];
        const found = await this.sentence({kinds: [kind], layers: [layer], heads: [head], steps: [step], include});
        const of = (name) => found[name][kind][0][0];
        return {query: of("queries")[0], keys: of("keys"), scores: of("scores")[0], weights: found[kind][0][0][0], values: of("values"), output: of("head_outputs")[0]};
    }

    /** What all heads of a layer gathered at a row, side by side. */
    async joined(kind, layer, step) {
        const found = await this.sentence({kinds: [kind], layers: [layer], steps: [step], include: ["head_outputs"]});
        return found.head_outputs[kind][0].flatMap(([row]) => row);
    }

    /** A layer's stream at a row: states before each sublayer and behind the last, what each adds, what norms read. */
    async stream(side, layer, step) {
        const kind = side === "source" ? "encoder" : "cross";
        const of = side === "source" ? "encoder" : "decoder";
        const found = await this.sentence({kinds: [kind], layers: [layer], heads: [0], steps: [step], include: ["states", "sublayers", "residuals", "hidden"]});
        const row = (name) => found[name][of][0].map(([one]) => one);
        return {states: row("states"), added: row("sublayers"), norms: row("residuals"), hidden: found.hidden[of][0][0]};
    }

    /** What leaves the encoder, a vector for each source token. */
    async encoded() {
        const found = await this.sentence({kinds: ["encoder"], layers: [-1], heads: [0], include: ["states"]});
        return found.states.encoder[0][2];
    }

    /** The row that is added at a position; null where the model's are learned. */
    async position(step) {
        try {
            this.positions ??= positions("", Math.max(16, step + 1), this.controller.signal, this.model.id);
            let {matrix} = await this.positions;
            if (!matrix[step])
                ({matrix} = await (this.positions = positions("", step + 1, this.controller.signal, this.model.id)));
            return matrix[step];
        } catch (error) {
            if (error.name === "AbortError")
                throw error;
            return null;
        }
    }
}

const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);

/** Where there is less room than numbers, several share a cell: that of them which is farthest from 0. */
function shared(values, room) {
    const begin = (i) => Math.floor((i * values.length) / room);
    return room < values.length ? Array.from({length: room}, (_, i) => values.slice(begin(i), begin(i + 1)).reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most))) : values;
}

const room = new ResizeObserver((entries) => entries.forEach(({target}) => target.repaint()));

/** A vector as a strip of cells: blue above 0, orange below, as strong as its largest number allows. */
export function strip(values, what, most = largest(values)) {
    const canvas = element("canvas.vector", {height: 1, role: "img", "aria-label": t`${what}: ${values.length} numbers`});
    canvas.repaint = () => {
        const cells = shared(values.map((value) => value / most), Math.round(canvas.clientWidth * devicePixelRatio) || values.length);
        canvas.width = cells.length;
        canvas.getContext("2d").putImageData(signedImage(cells, cells.length), 0, 0);
    };
    canvas.repaint();
    room.observe(canvas);
    return canvas;
}

export const decimals = (value, n = 2) => (value === null ? "−∞" : decimal(value, n));

/** The numbers behind strips, one row a cell: [{name, values}]. */
export function table(columns, caption, sum) {
    const head = element("tr", {}, element("th", {scope: "col", textContent: t`cell`}), ...columns.map(({name}) => element("th", {scope: "col", textContent: name})));
    const rows = columns[0].values.map((_, i) => element("tr", {}, element("th", {scope: "row", textContent: i}), ...columns.map(({values}) => element("td", {textContent: decimals(values[i], 3)}))));
    const foot = sum === undefined ? [] : [element("tr", {}, element("th", {scope: "row", textContent: t`sum`}), ...columns.map((_, i) => element("td", {textContent: i === columns.length - 1 ? decimals(sum, 3) : ""})))];
    return element("div.table-scroll", {tabIndex: 0, role: "region", "aria-label": caption}, element("table", {}, element("caption", {textContent: caption}), element("thead", {}, head), element("tbody", {}, ...rows, ...foot)));
}

/** Named strips below each other, and a table of their numbers to open. */
export function strips(columns, caption) {
    const rows = columns.map(({name, values, hint = ""}) => element("div.vector-row", {}, element("span", {textContent: name}), strip(values, name), element("small", {textContent: hint})));
    const details = element("details.numbers", {}, element("summary", {textContent: t`Numbers as a table`}));
    const same = columns.filter(({values}) => values.length === columns[0].values.length);
    details.addEventListener("toggle", () => details.open && details.children.length < 2 && details.append(table(same, caption)));
    return element("div", {}, ...rows, details);
}
