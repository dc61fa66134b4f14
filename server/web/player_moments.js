// The moments of a step, in the order of the computation (Vaswani et al. 2017): each fetches its numbers
// and gives {lead, note, parts}.

import {element, percent, readable} from "./dom.js";
import {integer, percentOf, sentences, t} from "./text_why.js";
import {wholeModel} from "./player_map.js";
import {decimals, strip, strips, table} from "./player_numbers.js";
import {roles} from "./roles.js";

const BOTH = ["translation", "source"];
const quote = (token) => (token.special ? token.piece : t`“${readable(token.piece)}”`);
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
    const named = player.side === "source" ? t`This is a piece of the source.` : t`What the decoder reads at this step is the piece that it wrote last; at the first step, a sign that it is to begin.`;
    return {
        lead: sentences(named, t`The vocabulary gives ${quote(token)} the number ${String(token.id)}, and the number finds a row of the table of embeddings: ${sum.length} numbers, which were learned.`),
        note: word ? t`Row ${String(token.id)} of the table, as it enters the sum with the position.` : t`Here the sum with the position is normalised at once, so that the row by itself is not to be seen.`,
        parts: [element("p.ids", {textContent: `${quote(token)} → ${token.id}`}), strips([{name: word ? t`embedding` : t`embedding and position`, values: word ?? sum}], t`Embedding of ${readable(token.piece)}`)],
    };
}

/** As the paper has it, for a base of one's own: all sines, then all cosines. */
function wave(position, d, base) {
    const half = d / 2;
    return Array.from({length: d}, (_, i) => (i < half ? Math.sin : Math.cos)(position / base ** ((2 * (i % half)) / d)));
}

function baseSlider(step, d) {
    const value = element("output", {textContent: integer(10000)});
    const drawn = element("div.vector-row");
    const draw = (base) => drawn.replaceChildren(element("span", {textContent: t`position ${step}`}), strip(wave(step, d, base), t`Position ${step} with base ${base}`, 1), element("small", {textContent: t`base ${base}`}));
    const slider = element("input", {type: "range", min: 2, max: 4, step: 0.1, value: 4, "aria-label": t`Base of the waves, from 100 to 10,000`});
    slider.addEventListener("input", () => {
        const base = Math.round(10 ** Number(slider.value));
        value.textContent = integer(base);
        draw(base);
    });
    draw(10000);
    return [element("p.lead", {textContent: t`Why 10,000? With a small base all waves are fast, and far positions look alike again. This row is computed here, and is not the model's:`}), element("label.picker", {}, t`Base`, " ", slider, value), drawn];
}

async function order(player) {
    const {sum, position, word} = await first(player);
    const token = readToken(player);
    const rows = [...(word ? [{name: t`embedding`, values: word}] : []), ...(position ? [{name: t`position ${player.step}`, values: position}] : []), {name: t`sum`, values: sum}];
    return {
        lead: t`Attention knows no order. So each position has a pattern of waves, which is added to the piece's row: the same word in another place is another vector.`,
        note: position ? "" : t`The positions of this model were learned, and are not to be had alone.`,
        parts: [strips(rows, t`${readable(token.piece)} at position ${player.step}`), ...(position ? baseSlider(player.step, sum.length) : [])],
    };
}

async function sourceRead({run, numbers}) {
    const vectors = await numbers.encoded();
    const most = vectors.flat().reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const rows = vectors.map((values, i) => element("div.vector-row", {}, element("span", {textContent: quote(run.sources[i])}), strip(values, readable(run.sources[i].piece), most), element("small")));
    return {
        lead: t`Before the first piece is written, the encoder has read the whole source. Each of its ${vectors.length} pieces is now a vector that knows its surroundings; all steps use the same ones, as keys and values.`,
        parts: [element("div", {}, ...rows)],
    };
}

// Attention ----------------------------------------------------------------------------------------

function product(query, key, value, name) {
    const products = query.map((value, i) => value * key[i]);
    const sum = products.reduce((a, b) => a + b, 0);
    const columns = [{name: t`query`, values: query}, {name: t`key`, values: key}, {name: t`query × key`, values: products}];
    return [...[...columns, {name: t`value`, values: value}].map(({name: what, values}) => element("div.vector-row", {}, element("span", {textContent: what}), strip(values, what), element("small"))), table(columns, t`Query times key of ${name}, cell by cell`, sum)];
}

function headTable(found, tokens) {
    const {query, keys, scores, weights, values, output} = found;
    const root = Math.sqrt(query.length);
    const largest = (rows) => rows.flat().reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const [mostKey, mostValue] = [largest(keys), largest(values)];
    const best = weights.indexOf(Math.max(...weights));
    const cell = (content, kind = "") => element(`td${kind}`, {}, content);
    const head = [t`piece`, t`key, ${query.length} cells`, t`query · key`, `/ √${query.length}`, t`softmax`, "", t`value`];
    const rows = tokens.flatMap((token, j) => {
        const isMasked = scores[j] === null;
        const opened = element("tr.opened", {hidden: true}, element("td", {colSpan: head.length}));
        const name = quote(token);
        const button = element("button.row", {type: "button", textContent: name, "aria-expanded": "false", "aria-label": t`${name}: query times key, cell by cell`, disabled: isMasked, onclick: () => {
            opened.hidden = !opened.hidden;
            button.setAttribute("aria-expanded", String(!opened.hidden));
            if (!opened.firstChild.children.length)
                opened.firstChild.append(...product(query, keys[j], values[j], name));
        }});
        const bar = element("i.weight");
        bar.style.inlineSize = `${100 * weights[j]}%`;
        const row = element("tr", {}, element("th", {scope: "row"}, button), cell(strip(keys[j], t`key of ${name}`, mostKey), ".strip"), cell(isMasked ? "" : decimals(scores[j] * root, 1), ".wide"), cell(decimals(scores[j])), cell(percentOf(weights[j], 1)), cell(bar, ".bar"), cell(strip(values[j], t`value of ${name}`, mostValue), ".strip"));
        row.dataset.column = j;
        row.classList.toggle("masked", isMasked);
        row.classList.toggle("best", j === best);
        return [row, opened];
    });
    const sum = weights.reduce((a, b) => a + b, 0);
    const asked = element("tr.asked", {}, element("th", {scope: "row", textContent: t`query`}), cell(strip(query, t`query`), ".strip"), ...[".wide", "", "", ".bar", ".strip"].map((kind) => cell("", kind)));
    const total = element("tr.total", {}, element("th", {scope: "row", textContent: t`sum`}), cell("", ".strip"), cell("", ".wide"), cell(""), cell(percentOf(sum, 0)), cell(t`weights × values =`, ".bar"), cell(strip(output, t`what the head gathered`), ".strip"));
    const kinds = ["", ".strip", ".wide", "", "", ".bar", ".strip"];
    return element("table.head-table", {}, element("thead", {}, element("tr", {}, ...head.map((name, i) => element(`th${kinds[i]}`, {scope: "col", textContent: name})))), element("tbody", {}, asked, ...rows, total));
}

const N_BARS = 41;

/** How far the row's products lie apart, and behind the root: both on one axis, with 0 in its middle. */
function spread({query, scores}) {
    const divided = scores.filter((score) => score !== null);
    const root = Math.sqrt(query.length);
    const most = Math.max(...divided.map(Math.abs)) * root || 1;
    const row = (name, values) => {
        const counts = Array(N_BARS).fill(0);
        values.forEach((value) => counts[Math.round((value / most + 1) / 2 * (N_BARS - 1))]++);
        const mean = values.reduce((a, b) => a + b, 0) / values.length;
        const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
        const bars = counts.map((n) => element("i", {style: `block-size: ${100 * n / Math.max(...counts)}%`, "data-n": n}));
        return element("div.vector-row.spread", {}, element("span", {textContent: name}), element("div.histogram", {"aria-hidden": "true"}, ...bars), element("span", {textContent: t`deviation ${decimals(deviation)}`}));
    };
    return element("div", {}, row(t`query · key`, divided.map((score) => score * root)), row(`/ √${query.length}`, divided));
}

const LOOKS = {
    decoder: {sublayer: 0, lead: t`The decoder looks back at what it has read so far. Later pieces are not there yet: their scores are masked, which is −∞ before the softmax, and 0 behind it.`},
    cross: {sublayer: 1, lead: t`The query of this step is held against the key of every piece of the source. What fits well gets much of the attention, and its value goes into the sum.`},
    encoder: {sublayer: 0, lead: t`The piece looks at all pieces of the source, itself among them, and takes in its surroundings.`},
};

async function look(player, kind) {
    const {run, numbers, layer, head, step, side} = player;
    const {sublayer, lead} = LOOKS[kind];
    if (kind === "decoder" && run.model.no_decoder_attention) {
        const {added} = await numbers.stream(side, layer, step);
        return {lead: t`This decoder has a recurrent cell (SSRU) in the place of self-attention: there are no weights to show.`, parts: [strips([{name: t`what the cell adds`, values: added[0]}], t`Recurrent cell`)]};
    }
    const [found, joined, {added}] = await Promise.all([numbers.head(kind, layer, head, step), numbers.joined(kind, layer, step), numbers.stream(side, layer, step)]);
    const tokens = kind === "decoder" ? run.inputs : run.sources;
    const best = found.weights.indexOf(Math.max(...found.weights));
    const end = strips([{name: t`all heads, joined`, values: joined, hint: t`head ${head} is part ${head + 1}`}, {name: t`× output matrix`, values: added[sublayer], hint: t`what attention adds`}], t`Heads joined`);
    return {
        lead: sentences(lead, t`Scores are divided by √${found.query.length}, so that the softmax does not see large numbers alone. Open a row to see the product cell by cell.`),
        note: t`Head ${head} of layer ${layer} gave ${quote(tokens[best])} ${percent(found.weights[best])}. Blue is above 0, orange below.`,
        parts: [headTable(found, tokens), spread(found), end, await roles(player, kind)],
    };
}

// Residual, norm, feed-forward ---------------------------------------------------------------------

async function norm({numbers, layer, step, side}) {
    const {states: [x], norms: [{mean, deviation}]} = await numbers.stream(side, layer, step);
    return {
        lead: t`In this model a layer norm stands before each part: what the part reads is this vector, with the mean and the deviation that were learned.`,
        note: t`x has the mean ${decimals(mean, 3)} and the deviation ${decimals(deviation, 3)} over its ${x.length} numbers.`,
        parts: [strips([{name: "x", values: x}], t`Norm`)],
    };
}

async function add({numbers, layer, step, side, isPreNorm}, place) {
    const {states, added, norms} = await numbers.stream(side, layer, step);
    const [x, y, next] = [states[place], added[place], states[place + 1]];
    const read = norms[isPreNorm ? place + 1 : place]; // Before a part, the next one's norm reads the sum; the next layer's does behind the last.
    const rows = [{name: "x", values: x, hint: t`what was there`}, {name: "f(x)", values: y, hint: t`what this part adds`}];
    if (isPreNorm)
        rows.push({name: "x + f(x)", values: next, hint: t`goes on`});
    else
        rows.push({name: "x + f(x)", values: x.map((value, i) => value + y[i])}, {name: t`normalised`, values: next, hint: t`goes on`});
    return {
        lead: isPreNorm ? t`What was found is added to what was there: nothing is lost. In this model the layer norm comes first, so that f saw x normalised.` : t`What was found is added to what was there, so that nothing is lost; then the layer norm brings mean and deviation back to what was learned.`,
        note: read ? t`The sum has the mean ${decimals(read.mean, 3)} and the deviation ${decimals(read.deviation, 3)} over its ${x.length} numbers.` : "",
        parts: [strips(rows, t`Residual and norm`)],
    };
}

async function feedForward({numbers, layer, step, side}) {
    const {hidden, added} = await numbers.stream(side, layer, step);
    const n = hidden.filter((value) => value > 0).length;
    const most = hidden.map((value, i) => [value, i]).sort(([a], [b]) => b - a).slice(0, 3).map(([, i]) => i);
    return {
        lead: t`Now each position thinks by itself: ${hidden.length} units look at the vector, and those that find what they look for add their pattern.`,
        note: t`${n} of ${hidden.length} units are above 0; the strongest are ${most.join(t`, `)}.`,
        parts: [strips([{name: t`units`, values: hidden, hint: t`${n} above 0`}], t`Units of the feed-forward block`), strips([{name: "f(x)", values: added.at(-1), hint: t`what the block adds`}], t`What the feed-forward block adds`)],
    };
}

// What it would write -------------------------------------------------------------------------------

async function opinions({numbers, step, run}) {
    const [layers] = (await numbers.sentence({logit_lens: 3, steps: [step]})).logit_lens;
    const written = run.outputs[step];
    const cards = layers.map(({top, rank}, i) => {
        const bar = element("i.weight");
        bar.style.inlineSize = `${Math.max(2, 100 - 22 * Math.log10(rank))}%`;
        return element("li", {}, element("b", {textContent: i ? t`behind layer ${i - 1}` : t`embedding`}), element("span", {textContent: top.map(({piece}) => readable(piece)).join("  ·  ")}), element("span.rank", {textContent: t`${readable(written.piece)}: no. ${rank}`}), bar);
    });
    return {
        lead: t`What if the model had to write now? After each layer its vector is asked for the three pieces that fit best, and for the place of the one that was written in the end.`,
        note: t`${quote(written)} stands at place ${layers.map(({rank}) => integer(rank)).join(t`, then `)}.`,
        parts: [element("ol.opinions", {}, ...cards)],
    };
}

function candidateRow(candidate, isWritten, probability, onPick) {
    const name = readable(candidate.piece);
    const bar = element("i.weight");
    const value = element("span.value");
    const item = element("li", {}, element("button.row", {type: "button", textContent: name, disabled: isWritten, "aria-label": isWritten ? t`${name}: written` : t`${name}: go on from there`, onclick: onPick}), element("span.track", {}, bar), value);
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
    const value = element("output", {textContent: decimals(1, 1)});
    const slider = element("input", {type: "range", min: 0.2, max: 2, step: 0.1, value: 1, "aria-label": t`Temperature`});
    slider.addEventListener("input", () => {
        const heat = Number(slider.value);
        value.textContent = decimals(heat, 1);
        const powers = top.map(({logprob}) => Math.exp(logprob / heat));
        const sum = heat === 1 ? 1 : powers.reduce((a, b) => a + b, 0);
        powers.forEach((power, i) => rows[i].set(power / sum));
    });
    const undo = player.ids.length ? [element("button.quiet", {type: "button", textContent: t`Back to what the model wrote`, onclick: () => player.choose({ids: []})})] : [];
    return {
        lead: t`The last vector is held against every piece of the vocabulary, and the softmax makes probabilities of that. Choose another piece, and the model goes on from there.`,
        note: t`It wrote ${quote(written)} (${percent(Math.exp(written.logprob))}). Entropy ${decimals(entropy / Math.LN2)} bits: as unsure as between ${decimals(Math.exp(entropy), 1)} equally likely pieces.`,
        parts: [element("ol.bars", {"aria-label": t`Most probable pieces`}, ...rows.map(({item}) => item)), element("label.picker", {}, t`Temperature`, " ", slider, value), element("p.hint", {textContent: t`Only drawn, among these ten: the model chooses at temperature 1.`}), ...undo],
    };
}

const addLast = (player) => add(player, player.side === "source" ? 1 : 2);
const plain = (title) => () => title;
const inLayer = (title) => ({layer}) => t`${title}, layer ${layer}`;
const inHead = (title) => ({layer, head}) => t`${title}, layer ${layer}, head ${head}`;

/** isPreNorm: of models alone that normalise before each part, or behind it. */
export const MOMENTS = [
    {id: 14, name: t`The model`, title: plain(t`The whole model`), sides: BOTH, hasLayer: true, draw: (player) => wholeModel(player, MOMENTS)},
    {id: 1, name: t`Words to vectors`, title: plain(t`A piece becomes a vector`), sides: BOTH, draw: words},
    {id: 2, name: t`Order`, title: plain(t`Its place is added`), sides: BOTH, draw: order},
    {id: 3, name: t`Source read`, title: plain(t`The source, as the encoder left it`), sides: ["translation"], draw: sourceRead},
    {id: 13, name: t`Norm`, title: inLayer(t`Norm`), sides: BOTH, hasLayer: true, isPreNorm: true, draw: norm},
    {id: 4, name: t`Look back`, title: inHead(t`Look back`), sides: ["translation"], hasLayer: true, hasHead: true, draw: (player) => look(player, "decoder")},
    {id: 12, name: t`Look around`, title: inHead(t`Look around`), sides: ["source"], hasLayer: true, hasHead: true, draw: (player) => look(player, "encoder")},
    {id: 5, name: t`Add, norm`, title: inLayer(t`Add and norm`), sides: BOTH, hasLayer: true, draw: (player) => add(player, 0)},
    {id: 6, name: t`Look at the source`, title: inHead(t`Look at the source`), sides: ["translation"], hasLayer: true, hasHead: true, draw: (player) => look(player, "cross")},
    {id: 7, name: t`Add, norm`, title: inLayer(t`Add and norm`), sides: ["translation"], hasLayer: true, draw: (player) => add(player, 1)},
    {id: 8, name: t`Feed-forward`, title: inLayer(t`Feed-forward`), sides: BOTH, hasLayer: true, draw: feedForward},
    {id: 9, name: t`Add, norm`, title: inLayer(t`Add and norm`), sides: BOTH, hasLayer: true, isPreNorm: false, draw: addLast},
    {id: 9, name: t`Add`, title: inLayer(t`Add`), sides: BOTH, hasLayer: true, isPreNorm: true, draw: addLast},
    {id: 10, name: t`Opinions by layer`, title: plain(t`Opinions by layer`), sides: ["translation"], draw: opinions},
    {id: 11, name: t`Probabilities`, title: plain(t`Probabilities`), sides: ["translation"], draw: probabilities},
];
