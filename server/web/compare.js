// Two translations side by side: the model's and the reader's own, of two models, or of two sentences. Loaded when
// it is opened first.

import {attention} from "./api.js";
import {signedCell} from "./colours.js";
import {announce, element, frame, hashFields, percent, readable, replaceHash} from "./dom.js";
import {HeatMap} from "./heatmap.js";
import {Inspector} from "./inspector.js";
import {decimals} from "./player_numbers.js";
import {plural, t} from "./text_compare.js";
import {markChanged} from "./words.js";

const MODES = {yours: t`Your translation`, model: t`Another model`, sentence: t`Another sentence`};
const KINDS = {alignment: t`Alignment`, cross: t`Cross`, encoder: t`Encoder`, decoder: t`Decoder`};
const DEBOUNCE_MS = 400;
// More cells than people compare by eye.
const MOST_DIFFERENCES = 1600;

/** What the address says: #view=compare&with=sentence&b=...&kind=encoder&layer=3&head=2 */
export function readAddress() {
    const fields = hashFields();
    const number = (name) => (/^\d{1,4}$/.test(fields.get(name) ?? "") ? Number(fields.get(name)) : undefined);
    return {
        mode: fields.get("with") in MODES ? fields.get("with") : "yours",
        other: fields.get("b") ?? "",
        kind: fields.get("kind") in KINDS ? fields.get("kind") : "alignment",
        layer: number("layer") ?? 0,
        head: number("head") ?? "mean",
    };
}

const total = ({output_tokens: tokens}) => tokens.reduce((sum, {logprob}) => sum + (logprob ?? 0), 0);
const samePieces = (a, b) => a.length === b.length && a.every(({token}, i) => token.piece === b[i].token.piece);

export class Comparison {
    /** models: those that can be asked, as GET /models names them. onTake(text): look into the reader's own translation. */
    constructor(box, models, {onTake}) {
        Object.assign(this, readAddress(), {box, models, onTake});
        this.wire();
    }

    wire() {
        const radio = (mode, name) => element("label", {}, element("input", {type: "radio", name: "compare-with", value: mode, checked: mode === this.mode, onchange: () => this.choose({mode, other: ""})}), element("span", {textContent: name}));
        const modes = element("fieldset.segments", {}, element("legend", {textContent: t`Compare with`}), ...Object.entries(MODES).map(([mode, name]) => radio(mode, name)));
        this.field = element("div.compare-field");
        this.note = element("p.readout", {role: "status"});
        this.sides = element("div.compare-sides");
        this.pickers = element("div.controls");
        this.maps = element("div.compare-sides");
        this.difference = element("div");
        this.box.replaceChildren(element("div.controls", {}, modes), this.field, this.note, this.sides, this.pickers, this.maps, this.difference);
        this.heat = ["A", "B"].map((name) => {
            const [title, map, note] = [element("h3", {textContent: name}), element("div"), element("p.readout")];
            this.maps.append(element("div", {}, title, map, note));
            return new HeatMap(map, note, {onStep: () => {}});
        });
        this.redraw = frame(() => this.drawMaps());
        document.addEventListener("themechange", this.redraw);
    }

    /** inspector: of the sentence that is looked at, which is A. */
    async show(inspector) {
        const isOther = this.inspector && this.inspector.sentence.source.text !== inspector.sentence.source.text;
        this.inspector = inspector;
        if (isOther && this.mode === "yours")
            this.other = "";
        this.fillField();
        await this.ask();
    }

    async choose(changes) {
        const isOther = "other" in changes || "mode" in changes;
        Object.assign(this, changes);
        if ("mode" in changes)
            this.fillField();
        await (isOther ? this.ask() : this.drawMaps());
        this.keepAddress();
    }

    keepAddress() {
        const {mode, other, kind, layer, head} = this;
        const {sentence, taken} = Object.fromEntries(hashFields());
        replaceHash({view: "compare", with: mode, ...(other && {b: other}), ...(kind === "alignment" ? {} : {kind, layer, head}), sentence, taken});
    }

    // What B is ---------------------------------------------------------------------------------------

    fillField() {
        clearTimeout(this.timer); // what was typed last belongs to the field that goes
        const {mode, inspector} = this;
        const {source, target} = inspector.request;
        for (const input of this.box.querySelectorAll("[name=compare-with]"))
            input.checked = input.value === mode;
        if (mode === "model")
            this.field.replaceChildren(this.modelPicker());
        else
            this.field.replaceChildren(this.textField(mode === "yours" ? target : source));
    }

    textField(language) {
        const isYours = this.mode === "yours";
        const area = element("textarea", {rows: 2, lang: language, dir: "auto", spellcheck: false, value: this.other || (isYours ? this.inspector.sentence.target.text : "")});
        area.addEventListener("input", () => {
            clearTimeout(this.timer);
            this.timer = setTimeout(() => this.choose({other: area.value}), DEBOUNCE_MS);
        });
        const label = element("label.compare-text", {}, isYours ? t`Your translation of the sentence` : t`The sentence to compare with`, area);
        if (!isYours)
            return label;
        const inside = element("button.quiet", {type: "button", textContent: t`Look into this one above`, onclick: () => area.value.trim() && this.onTake(area.value.trim())});
        return element("div", {}, label, inside);
    }

    modelPicker() {
        const {source, target} = this.inspector.request;
        const reads = ({sources, targets}) => sources.includes(source) && targets.length > 0;
        const names = this.models.filter(reads).sort((a, b) => b.targets.includes(target) - a.targets.includes(target)).map(({id}) => id).filter((id) => id !== this.inspector.model.id);
        if (!names.length)
            return element("p.hint", {textContent: t`This server has no other model that reads this language.`});
        if (!names.includes(this.other))
            this.other = names[0];
        const select = element("select", {onchange: () => this.choose({other: select.value})}, ...names.map((value) => element("option", {value, textContent: value})));
        select.value = this.other;
        return element("label.picker", {}, t`Model`, " ", select);
    }

    /** What B is asked with; null or undefined: there is nothing to compare with yet. */
    request() {
        const {mode, other, inspector} = this;
        const {target_text: given, beam_size: beams, ...plain} = inspector.request;
        if (mode === "yours")
            return {...plain, target_text: (other || inspector.sentence.target.text).trim()};
        if (!other.trim())
            return null;
        if (mode === "sentence")
            return {...plain, q: other.trim()};
        const {targets} = this.models.find(({id}) => id === other) ?? {};
        return targets && {...plain, model: other, target: targets.includes(plain.target) ? plain.target : targets[0]};
    }

    async ask() {
        this.controller?.abort();
        this.controller = new AbortController();
        const {inspector} = this;
        const request = this.request();
        this.second?.close();
        this.second = null;
        this.note.textContent = request ? "" : this.mode === "sentence" ? t`Type a sentence, for instance one in which a word means something else.` : "";
        if (!request) {
            this.box.removeAttribute("aria-busy");
            await this.draw();
            return;
        }
        this.box.setAttribute("aria-busy", "true");
        try {
            const reply = await attention(request, this.controller.signal);
            if (inspector !== this.inspector)
                return;
            if (reply.sentences.length)
                this.second = new Inspector(reply, request);
            else
                this.note.textContent = t`There is no word in it to translate.`;
            await this.draw();
            if (this.second && this.second.sentence.source.text.length < request.q.trim().length)
                this.note.textContent = t`It is too long for the model, which has read only its beginning.`;
        } catch (error) {
            if (error.name === "AbortError")
                return;
            this.draw();
            this.note.textContent = error.message;
        }
        this.box.removeAttribute("aria-busy");
    }

    // Side by side ------------------------------------------------------------------------------------

    side(name, own, other) {
        const {sentence, request, model} = own;
        const title = {yours: name === "B" ? t`yours` : t`as above`, model: model.id, sentence: name === "B" ? t`the other sentence` : t`this sentence`}[this.mode];
        const isComparable = other && other.request.target === request.target;
        const text = (value, theirs, language, kind) => element(`p.${kind}`, {lang: language, dir: "auto"}, ...(theirs === undefined ? [value] : markChanged(value, theirs, language)));
        const sum = total(sentence);
        const n = sentence.output_tokens.length;
        return element("div", {}, element("h3", {textContent: `${name}: ${title}`}),
            text(sentence.source.text, other?.sentence.source.text, request.source, "compare-source"),
            text(sentence.target.text, isComparable ? other.sentence.target.text : undefined, request.target, "compare-target"),
            element("p.hint", {textContent: plural(n, () => t`Log-probability ${decimals(sum)}; one piece.`, () => t`Log-probability ${decimals(sum)}, ${decimals(sum / n)} a piece; ${n} pieces.`)}));
    }

    async draw() {
        const {inspector, second} = this;
        this.sides.replaceChildren(this.side("A", inspector, second), ...(second ? [this.side("B", second, inspector)] : []));
        if (second) {
            const same = inspector.sentence.target.text === second.sentence.target.text;
            const gain = total(second.sentence) - total(inspector.sentence);
            const isJudged = this.mode === "yours" && !same;
            this.note.textContent = same ? t`Both translations are the same.` : isJudged ? (gain > 0 ? t`The model finds yours more probable, by ${decimals(gain)} in natural logarithms.` : t`The model finds yours less probable, by ${decimals(-gain)} in natural logarithms.`) : "";
            announce(this.note.textContent || `B: ${second.sentence.target.text}`);
        }
        await this.drawMaps();
    }

    settle() {
        const [a, b] = [this.inspector, this.second].map((one) => one.shape(this.kind === "alignment" ? "cross" : this.kind));
        const [nLayers, nHeads] = [Math.min(a[0], b[0]), Math.min(a[1], b[1])];
        this.layer = Math.min(this.layer, nLayers - 1);
        if (this.head !== "mean")
            this.head = Math.min(this.head, nHeads - 1);
        const picker = (name, choices, key) => {
            const select = element("select", {onchange: () => this.choose({[key]: /^\d+$/.test(select.value) ? Number(select.value) : select.value})}, ...choices.map(([value, label]) => element("option", {value, textContent: label})));
            select.value = this[key];
            select.dataset.key = key;
            return element("label.picker", {}, `${name} `, select);
        };
        const numbers = (n) => Array.from({length: n}, (_, i) => [i, String(i)]);
        const focused = document.activeElement?.dataset?.key;
        const kinds = Object.entries(KINDS).filter(([kind]) => kind !== "decoder" || !(this.inspector.model.no_decoder_attention || this.second.model.no_decoder_attention));
        this.pickers.replaceChildren(picker(t`Attention of`, kinds, "kind"), ...(this.kind === "alignment" ? [] : [picker(t`Layer`, numbers(nLayers), "layer"), picker(t`Head`, [["mean", t`mean of all`], ...numbers(nHeads)], "head")]));
        if (focused)
            this.pickers.querySelector(`[data-key=${focused}]`)?.focus();
    }

    async drawMaps() {
        const {inspector, second} = this;
        this.maps.hidden = this.pickers.hidden = !second;
        this.difference.replaceChildren();
        if (!second)
            return;
        this.settle();
        const {kind, layer, head} = this;
        try {
            const both = await Promise.all([inspector, second].map((one) => one.matrix({kind, layer, head})));
            if (second !== this.second || kind !== this.kind || layer !== this.layer || head !== this.head)
                return;
            const axes = [inspector, second].map((one) => one.axes(kind));
            const name = kind === "alignment" ? KINDS.alignment : head === "mean" ? t`${KINDS[kind]}, layer ${layer}, mean of all heads` : t`${KINDS[kind]}, layer ${layer}, head ${head}`;
            both.forEach((values, i) => this.heat[i].show({values, axes: axes[i], name: `${"AB"[i]}: ${name}`, hasSteps: false}));
            if (samePieces(axes[0].rows, axes[1].rows) && samePieces(axes[0].columns, axes[1].columns))
                this.difference.replaceChildren(...differences(both, axes[0]));
            this.box.dataset.shown = `${this.mode} ${kind} ${layer} ${head}`;
        } catch (error) {
            if (error.name !== "AbortError" && second === this.second)
                this.note.textContent = error.message;
        }
    }
}

/** A less B, cell by cell, where both are about the same pieces. */
function differences([a, b], {rows, columns}) {
    const values = Array.from(a, (value, i) => value - b[i]);
    const most = values.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    const title = element("h3", {textContent: t`A less B`});
    if (most < 0.005)
        return [title, element("p.hint", {textContent: t`Both look alike, to a hundredth.`})];
    const hint = element("p.hint", {textContent: t`The same pieces on both sides, so their weights can be subtracted: blue where A looks more, orange where B does. The largest difference is ${percent(most)}.`});
    if (values.length > MOST_DIFFERENCES)
        return [title, hint];
    const name = ({token}) => readable(token.piece);
    const cell = (value) => {
        const one = element("td", {textContent: Math.round(100 * value) ? decimals(100 * value, 0) : "0"});
        Object.assign(one.style, signedCell(most ? value / most : 0));
        return one;
    };
    const body = rows.map((row, i) => element("tr", {}, element("th", {scope: "row", textContent: name(row)}), ...columns.map((_, j) => cell(values[i * columns.length + j]))));
    const table = element("table", {}, element("caption", {textContent: t`Differences in hundredths`}), element("thead", {}, element("tr", {}, element("td"), ...columns.map((column) => element("th", {scope: "col", textContent: name(column)})))), element("tbody", {}, ...body));
    return [title, hint, element("div.table-scroll", {tabIndex: 0, role: "region", "aria-label": t`A less B`}, table)];
}
