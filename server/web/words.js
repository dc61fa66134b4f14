// From tokens to words: where words stand in a text, and how much each looked at each.

import {element} from "./dom.js";

/** [{begin, end, text}] of a text's words, in UTF-16 units from offset. Punctuation is none. */
export function findWords(text, language, offset = 0) {
    if (window.Intl?.Segmenter) {
        const segments = [...new Intl.Segmenter(language || undefined, {granularity: "word"}).segment(text)];
        return segments.filter((part) => part.isWordLike).map((part) => word(part.segment, part.index + offset));
    }
    return [...text.matchAll(/[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+)*/gu)].map((match) => word(match[0], match.index + offset));
}

const word = (text, begin) => ({text, begin, end: begin + text.length});

/**
 * The words that a token is part of, as [index, share]: a piece that spans several belongs to each, and its
 * weight is shared by their letters in it. A mark without a place of its own ("▁") belongs to the word behind it.
 */
export function wordsOf(token, words) {
    if (token.special || token.begin_utf16 === undefined)
        return [];
    const {begin_utf16: begin, end_utf16: end} = token;
    const letters = (one) => (begin === end ? Number(one.begin === begin) : Math.max(0, Math.min(end, one.end) - Math.max(begin, one.begin)));
    const shared = words.map((one, index) => [index, letters(one)]).filter(([, n]) => n > 0);
    const total = shared.reduce((sum, [, n]) => sum + n, 0);
    return shared.map(([index, n]) => [index, n / total]);
}

/** What n words get in the mean of rows of weights, one weight a column; shares: wordsOf of each column. */
export function weightsOf(rows, shares, n) {
    const weights = new Float64Array(n);
    for (const row of rows)
        shares.forEach((words, column) => {
            for (const [index, share] of words)
                weights[index] += (row[column] * share) / rows.length;
        });
    return weights;
}

// A link is as strong as half the strongest of its word: "Bahnhof" comes from "train" and "station".
const STRONG = 0.5;

/**
 * The words of a sentence and their links: {sources, targets} with each target's `from` and each source's
 * `to`, strongest first, as [{index, weight, isStrong}]. Targets have their `steps`, which words that share a
 * piece share, too, of them the first `step` that wrote letters, and the `rest` that went to no word.
 */
export function linkWords(inspector, sourceLanguage, targetLanguage) {
    const {sentence, alignment} = inspector;
    const sources = findWords(sentence.source.text, sourceLanguage, sentence.source.begin_utf16);
    const targets = findWords(sentence.target.text, targetLanguage, sentence.target.begin_utf16);
    const shares = inspector.sources.map((token) => wordsOf(token, sources));
    targets.forEach((target) => (target.steps = []));
    inspector.outputs.forEach((token, step) => wordsOf(token, targets).forEach(([index]) => targets[index].steps.push(step)));
    sources.forEach((source) => (source.to = []));
    targets.forEach((target, index) => {
        const rows = target.steps.map((step) => alignment.subarray(step * shares.length, (step + 1) * shares.length));
        const weights = weightsOf(rows, shares, sources.length);
        const most = Math.max(0, ...weights);
        target.step = target.steps.find((step) => inspector.outputs[step].end_utf16 > inspector.outputs[step].begin_utf16) ?? target.steps[0];
        target.rest = rows.length ? 1 - weights.reduce((sum, weight) => sum + weight, 0) : 0;
        target.from = Array.from(weights, (weight, i) => ({index: i, weight, isStrong: weight > 0 && weight >= STRONG * most}));
        target.from.forEach((link) => sources[link.index].to.push({...link, index}));
        target.from.sort((a, b) => b.weight - a.weight);
    });
    sources.forEach((source) => source.to.sort((a, b) => b.weight - a.weight));
    return {sources, targets};
}

/** Which words of b are not in a, in order: the longest common subsequence stays unmarked. */
function changed(a, b) {
    const length = Array.from({length: a.length + 1}, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--)
        for (let j = b.length - 1; j >= 0; j--)
            length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    const marks = b.map(() => true);
    for (let i = 0, j = 0; i < a.length && j < b.length; )
        if (a[i] === b[j])
            [marks[j], i, j] = [false, i + 1, j + 1];
        else if (length[i + 1][j] >= length[i][j + 1])
            i++;
        else
            j++;
    return marks;
}

/** A text as strings and elements, in which the words that another text lacks are marked. */
export function markChanged(text, other, language) {
    const [words, others] = [text, other].map((one) => findWords(one, language));
    const isNew = changed(others.map((one) => one.text), words.map((one) => one.text));
    const parts = [];
    let at = 0;
    words.forEach((word, i) => {
        parts.push(text.slice(at, word.begin), isNew[i] ? element("mark", {textContent: word.text}) : word.text);
        at = word.end;
    });
    return [...parts, text.slice(at)];
}
