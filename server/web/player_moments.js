// The moments of a step, in the order of the computation (Vaswani et al. 2017): each fetches its numbers
// and gives {lead, note, parts}.

import {element, percent, readable} from "./dom.js";
import {decimals, strip, strips, table} from "./player_numbers.js";

const BOTH = ["translation", "source"];
const quote = (token) => (token.special ? token.piece : `“${readable(token.piece)}”`);
const readToken = ({run, side, step}) => (side === "source" ? run.sources : run.inputs)[step];

// Vectors -----------------------------------------------------------------------------------------

async function first(player) {
    const {side, step, numbers, run} = player;
    const [{states}, position] = await Promise.all([numbers.stream(side, 0, step), numbers.position(step)]);
    const isPlain = position && !run.model.normalize_embedding;
    return {sum: states[0], position, word: isPlain ? states[0].map((value, i) => value - position[i]) : null};
}

async function words(player) {
    const {sum, word} = await first(player);
    const token = readToken(player);
    const named = player.side === "source" ? "This is a piece of the source." : "What the decoder reads at this step is the piece that it wrote last; at the first step, a sign that it is to begin.";
    return {
        lead: `${named} The vocabulary gives ${quote(token)} the number ${token.id}, and the number finds a row of the table of embeddings: ${sum.length} numbers, which were learned.`,
        note: word ? `Row ${token.id} of the table, as it enters the sum with the position.` : "Here the sum with the position is normalised at once, so that the row by itself is not to be seen.",
        parts: [element("p.ids", {textContent: `${quote(token)} → ${token.id}`}), strips([{name: word ? "embedding" : "embedding and position", values: word ?? sum}], `Embedding of ${readable(token.piece)}`)],
    };
}

/** As the paper has it, for a base of one's own: all sines, then all cosines. */
function wave(position, d, base) {
    const half = d / 2;
    return Array.from({length: d}, (_, i) => (i < half ? Math.sin : Math.cos)(position / base ** ((2 * (i % half)) / d)));
}

function baseSlider(step, d) {
    const value = element("output", {textContent: "10,000"});
    const drawn = element("div.vector-row");
    const draw = (base) => drawn.replaceChildren(element("span", {textContent: `position ${step}`}), strip(wave(step, d, base), `Position ${step} with base ${base}`, 1), element("small", {textContent: `base ${base.toLocaleString("en")}`}));
    const slider = element("input", {type: "range", min: 2, max: 4, step: 0.1, value: 4, "aria-label": "Base of the waves, from 100 to 10,000"});
    slider.addEventListener("input", () => {
        const base = Math.round(10 ** Number(slider.value));
        value.textContent = base.toLocaleString("en");
        draw(base);
    });
    draw(10000);
    return [element("p.lead", {textContent: "Why 10,000? With a small base all waves are fast, and far positions look alike again. This row is computed here, and is not the model's:"}), element("label.picker", {}, "Base ", slider, value), drawn];
}

async function order(player) {
    const {sum, position, word} = await first(player);
    const token = readToken(player);
    const rows = [...(word ? [{name: "embedding", values: word}] : []), ...(position ? [{name: `position ${player.step}`, values: position}] : []), {name: "sum", values: sum}];
    return {
        lead: "Attention knows no order. So each position has a pattern of waves, which is added to the piece's row: the same word in another place is another vector.",
        note: position ? "" : "The positions of this model were learned, and are not to be had alone.",
        parts: [strips(rows, `${readable(token.piece)} at position ${player.step}`), ...(position ? baseSlider(player.step, sum.length) : [])],
    };
}

async function sourceRead({run, numbers}) {
    const vectors = await numbers.encoded();
    const most = vectors.flat().reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const rows = vectors.map((values, i) => element("div.vector-row", {}, element("span", {textContent: quote(run.sources[i])}), strip(values, readable(run.sources[i].piece), most), element("small")));
    return {
        lead: `Before the first piece is written, the encoder has read the whole source. Each of its ${vectors.length} pieces is now a vector that knows its surroundings; all steps use the same ones, as keys and values.`,
        parts: [element("div", {}, ...rows)],
    };
}

// Attention ----------------------------------------------------------------------------------------

function product(query, key, value, name) {
    const products = query.map((value, i) => value * key[i]);
    const sum = products.reduce((a, b) => a + b, 0);
    const columns = [{name: "query", values: query}, {name: "key", values: key}, {name: "query × key", values: products}];
    return [...[...columns, {name: "value", values: value}].map(({name: what, values}) => element("div.vector-row", {}, element("span", {textContent: what}), strip(values, what), element("small"))), table(columns, `Query times key of ${name}, cell by cell`, sum)];
}

function headTable(found, tokens) {
    const {query, keys, scores, weights, values, output} = found;
    const root = Math.sqrt(query.length);
    const largest = (rows) => rows.flat().reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const [mostKey, mostValue] = [largest(keys), largest(values)];
    const best = weights.indexOf(Math.max(...weights));
    const cell = (content, kind = "") => element(`td${kind}`, {}, content);
    const head = ["piece", `key, ${query.length} cells`, "query · key", `/ √${query.length}`, "softmax", "", "value"];
    const rows = tokens.flatMap((token, j) => {
        const isMasked = scores[j] === null;
        const opened = element("tr.opened", {hidden: true}, element("td", {colSpan: head.length}));
        const name = quote(token);
        const button = element("button.row", {type: "button", textContent: name, "aria-expanded": "false", "aria-label": `${name}: query times key, cell by cell`, disabled: isMasked, onclick: () => {
            opened.hidden = !opened.hidden;
            button.setAttribute("aria-expanded", String(!opened.hidden));
            if (!opened.firstChild.children.length)
                opened.firstChild.append(...product(query, keys[j], values[j], name));
        }});
        const bar = element("i.weight");
        bar.style.inlineSize = `${100 * weights[j]}%`;
        const row = element("tr", {}, element("th", {scope: "row"}, button), cell(strip(keys[j], `key of ${name}`, mostKey), ".strip"), cell(isMasked ? "" : decimals(scores[j] * root, 1), ".wide"), cell(decimals(scores[j])), cell(`${(100 * weights[j]).toFixed(1)} %`), cell(bar, ".bar"), cell(strip(values[j], `value of ${name}`, mostValue), ".strip"));
        row.dataset.column = j;
        row.classList.toggle("masked", isMasked);
        row.classList.toggle("best", j === best);
        return [row, opened];
    });
    const sum = weights.reduce((a, b) => a + b, 0);
    const asked = element("tr", {}, element("th", {scope: "row", textContent: "query"}), cell(strip(query, "query"), ".strip"), ...[".wide", "", "", ".bar", ".strip"].map((kind) => cell("", kind)));
    const total = element("tr.total", {}, element("th", {scope: "row", textContent: "sum"}), cell("", ".strip"), cell("", ".wide"), cell(""), cell(`${(100 * sum).toFixed(0)} %`), cell("weights × values =", ".bar"), cell(strip(output, "what the head gathered"), ".strip"));
    const kinds = ["", ".strip", ".wide", "", "", ".bar", ".strip"];
    return element("table.head-table", {}, element("thead", {}, element("tr", {}, ...head.map((name, i) => element(`th${kinds[i]}`, {scope: "col", textContent: name})))), element("tbody", {}, asked, ...rows, total));
}

const LOOKS = {
    decoder: {sublayer: 0, lead: "The decoder looks back at what it has read so far. Later pieces are not there yet: their scores are masked, which is −∞ before the softmax, and 0 behind it."},
    cross: {sublayer: 1, lead: "The query of this step is held against the key of every piece of the source. What fits well gets much of the attention, and its value goes into the sum."},
    encoder: {sublayer: 0, lead: "The piece looks at all pieces of the source, itself among them, and takes in its surroundings."},
};

async function look(player, kind) {
    const {run, numbers, layer, head, step, side} = player;
    const {sublayer, lead} = LOOKS[kind];
    if (kind === "decoder" && run.model.no_decoder_attention) {
        const {added} = await numbers.stream(side, layer, step);
        return {lead: `There is no attention to show: ${run.model.no_decoder_attention}.`, parts: [strips([{name: "what the cell adds", values: added[0]}], "Recurrent cell")]};
    }
    const [found, joined, {added}] = await Promise.all([numbers.head(kind, layer, head, step), numbers.joined(kind, layer, step), numbers.stream(side, layer, step)]);
    const tokens = kind === "decoder" ? run.inputs : run.sources;
    const best = found.weights.indexOf(Math.max(...found.weights));
    const end = strips([{name: "all heads, joined", values: joined, hint: `head ${head} is part ${head + 1}`}, {name: "× output matrix", values: added[sublayer], hint: "what attention adds"}], "Heads joined");
    return {
        lead: `${lead} Scores are divided by √${found.query.length}, so that the softmax does not see large numbers alone. Open a row to see the product cell by cell.`,
        note: `Head ${head} of layer ${layer} gave ${quote(tokens[best])} ${percent(found.weights[best])}. Blue is above 0, orange below.`,
        parts: [headTable(found, tokens), end],
    };
}

// Residual, norm, feed-forward ---------------------------------------------------------------------

async function add({numbers, layer, step, side, run}, place) {
    const {states, added, norms} = await numbers.stream(side, layer, step);
    const [x, y, next] = [states[place], added[place], states[place + 1]];
    const {mean, deviation} = norms[place];
    const isBefore = run.model.normalize_before;
    const rows = [{name: "x", values: x, hint: "what was there"}, {name: "f(x)", values: y, hint: "what this part adds"}];
    if (isBefore)
        rows.push({name: "x + f(x)", values: next, hint: "goes on"});
    else
        rows.push({name: "x + f(x)", values: x.map((value, i) => value + y[i])}, {name: "normalised", values: next, hint: "goes on"});
    return {
        lead: isBefore ? "What was found is added to what was there: nothing is lost. In this model the layer norm comes first, so that f saw x normalised." : "What was found is added to what was there, so that nothing is lost; then the layer norm brings mean and deviation back to what was learned.",
        note: `${isBefore ? "x" : "The sum"} has the mean ${decimals(mean, 3)} and the deviation ${decimals(deviation, 3)} over its ${x.length} numbers.`,
        parts: [strips(rows, "Residual and norm")],
    };
}

async function feedForward({numbers, layer, step, side}) {
    const {hidden, added} = await numbers.stream(side, layer, step);
    const n = hidden.filter((value) => value > 0).length;
    const most = hidden.map((value, i) => [value, i]).sort(([a], [b]) => b - a).slice(0, 3).map(([, i]) => i);
    return {
        lead: `Now each position thinks by itself: ${hidden.length} units look at the vector, and those that find what they look for add their pattern.`,
        note: `${n} of ${hidden.length} units are above 0; the strongest are ${most.join(", ")}.`,
        parts: [strips([{name: "units", values: hidden, hint: `${n} above 0`}], "Units of the feed-forward block"), strips([{name: "f(x)", values: added.at(-1), hint: "what the block adds"}], "What the feed-forward block adds")],
    };
}

// What it would write -------------------------------------------------------------------------------

async function opinions({numbers, step, run}) {
    const [layers] = (await numbers.sentence({logit_lens: 3, steps: [step]})).logit_lens;
    const written = run.outputs[step];
    const cards = layers.map(({top, rank}, i) => {
        const bar = element("i.weight");
        bar.style.inlineSize = `${Math.max(2, 100 - 22 * Math.log10(rank))}%`;
        return element("li", {}, element("b", {textContent: i ? `behind layer ${i - 1}` : "embedding"}), element("span", {textContent: top.map(({piece}) => readable(piece)).join("  ·  ")}), element("span.rank", {textContent: `${readable(written.piece)}: no. ${rank.toLocaleString("en")}`}), bar);
    });
    return {
        lead: "What if the model had to write now? After each layer its vector is asked for the three pieces that fit best, and for the place of the one that was written in the end.",
        note: `${quote(written)} stands at place ${layers.map(({rank}) => rank.toLocaleString("en")).join(", then ")}.`,
        parts: [element("ol.opinions", {}, ...cards)],
    };
}

function candidateRow(candidate, isWritten, probability, onPick) {
    const name = readable(candidate.piece);
    const bar = element("i.weight");
    const value = element("span.value");
    const item = element("li", {}, element("button.row", {type: "button", textContent: name, disabled: isWritten, "aria-label": isWritten ? `${name}: written` : `${name}: go on from there`, onclick: onPick}), element("span.track", {}, bar), value);
    const set = (p) => {
        bar.style.inlineSize = `${Math.max(0.3, 100 * p)}%`;
        value.textContent = percent(p);
    };
    set(probability);
    item.classList.toggle("written", isWritten);
    return {item, set};
}

async function probabilities(player) {
    const {numbers, step, run} = player;
    const [{entropy, top}] = (await numbers.sentence({next_tokens: 10, steps: [step]})).next_tokens;
    const written = run.outputs[step];
    const before = run.outputs.slice(0, step).map(({id}) => id);
    const rows = top.map((candidate) => candidateRow(candidate, candidate.id === written.id, Math.exp(candidate.logprob), () => player.choose({ids: [...before, candidate.id], step})));
    const value = element("output", {textContent: "1.0"});
    const slider = element("input", {type: "range", min: 0.2, max: 2, step: 0.1, value: 1, "aria-label": "Temperature"});
    slider.addEventListener("input", () => {
        const t = Number(slider.value);
        value.textContent = t.toFixed(1);
        const powers = top.map(({logprob}) => Math.exp(logprob / t));
        const sum = t === 1 ? 1 : powers.reduce((a, b) => a + b, 0);
        powers.forEach((power, i) => rows[i].set(power / sum));
    });
    const undo = player.ids.length ? [element("button.quiet", {type: "button", textContent: "Back to what the model wrote", onclick: () => player.choose({ids: []})})] : [];
    return {
        lead: "The last vector is held against every piece of the vocabulary, and the softmax makes probabilities of that. Choose another piece, and the model goes on from there.",
        note: `It wrote ${quote(written)} (${percent(Math.exp(written.logprob))}). Entropy ${(entropy / Math.LN2).toFixed(2)} bits: as unsure as between ${Math.exp(entropy).toFixed(1)} equally likely pieces.`,
        parts: [element("ol.bars", {"aria-label": "Most probable pieces"}, ...rows.map(({item}) => item)), element("label.picker", {}, "Temperature ", slider, value), element("p.hint", {textContent: "Only drawn, among these ten: the model chooses at temperature 1."}), ...undo],
    };
}

const plain = (title) => () => title;
const inLayer = (title) => ({layer}) => `${title}, layer ${layer}`;
const inHead = (title) => ({layer, head}) => `${title}, layer ${layer}, head ${head}`;

export const MOMENTS = [
    {id: 1, name: "Words to vectors", title: plain("A piece becomes a vector"), sides: BOTH, draw: words},
    {id: 2, name: "Order", title: plain("Its place is added"), sides: BOTH, draw: order},
    {id: 3, name: "Source read", title: plain("The source, as the encoder left it"), sides: ["translation"], draw: sourceRead},
    {id: 4, name: "Look back", title: inHead("Look back"), sides: ["translation"], hasLayer: true, hasHead: true, draw: (player) => look(player, "decoder")},
    {id: 12, name: "Look around", title: inHead("Look around"), sides: ["source"], hasLayer: true, hasHead: true, draw: (player) => look(player, "encoder")},
    {id: 5, name: "Add, norm", title: inLayer("Add and norm"), sides: BOTH, hasLayer: true, draw: (player) => add(player, 0)},
    {id: 6, name: "Look at the source", title: inHead("Look at the source"), sides: ["translation"], hasLayer: true, hasHead: true, draw: (player) => look(player, "cross")},
    {id: 7, name: "Add, norm", title: inLayer("Add and norm"), sides: ["translation"], hasLayer: true, draw: (player) => add(player, 1)},
    {id: 8, name: "Feed-forward", title: inLayer("Feed-forward"), sides: BOTH, hasLayer: true, draw: feedForward},
    {id: 9, name: "Add, norm", title: inLayer("Add and norm"), sides: BOTH, hasLayer: true, draw: (player) => add(player, player.side === "source" ? 1 : 2)},
    {id: 10, name: "Opinions by layer", title: plain("Opinions by layer"), sides: ["translation"], draw: opinions},
    {id: 11, name: "Probabilities", title: plain("Probabilities"), sides: ["translation"], draw: probabilities},
];
