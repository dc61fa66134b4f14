// From tokens to words: where words stand in a text, and how much each looked at each.

/** [{begin, end, text}] of a text's words, in UTF-16 units from offset. Punctuation is none. */
export function findWords(text, language, offset = 0) {
    if (window.Intl?.Segmenter) {
        const segments = [...new Intl.Segmenter(language || undefined, {granularity: "word"}).segment(text)];
        return segments.filter((part) => part.isWordLike).map((part) => word(part.segment, part.index + offset));
    }
    return [...text.matchAll(/[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+)*/gu)].map((match) => word(match[0], match.index + offset));
}

const word = (text, begin) => ({text, begin, end: begin + text.length});

/** The word that a token is part of: its index, or -1. A mark without a place of its own ("▁") belongs to the word behind it. */
function wordOf(token, words) {
    if (token.special || token.begin_utf16 === undefined)
        return -1;
    let [best, most] = [-1, 0];
    words.forEach((candidate, i) => {
        const isMark = token.begin_utf16 === token.end_utf16 && token.begin_utf16 === candidate.begin;
        const shared = Math.min(token.end_utf16, candidate.end) - Math.max(token.begin_utf16, candidate.begin);
        if (isMark || shared > most)
            [best, most] = [i, isMark ? Infinity : shared];
    });
    return best;
}

// A link is as strong as half the strongest of its word: "Bahnhof" comes from "train" and "station".
const STRONG = 0.5;

/**
 * The words of a sentence and their links: {sources, targets} with each target's `from` and each
 * source's `to`, strongest first, as [{index, weight, isStrong}]; targets have their `steps`.
 */
export function linkWords(inspector, sourceLanguage, targetLanguage) {
    const {sentence, alignment} = inspector;
    const sources = findWords(sentence.source.text, sourceLanguage, sentence.source.begin_utf16);
    const targets = findWords(sentence.target.text, targetLanguage, sentence.target.begin_utf16);
    const columns = inspector.sources.map((token) => wordOf(token, sources));
    targets.forEach((target) => (target.steps = []));
    inspector.outputs.forEach((token, step) => targets[wordOf(token, targets)]?.steps.push(step));
    sources.forEach((source) => (source.to = []));
    targets.forEach((target, index) => {
        const weights = weightsOf(target.steps, columns, sources.length, alignment);
        const most = Math.max(0, ...weights);
        target.from = Array.from(weights, (weight, i) => ({index: i, weight, isStrong: weight > 0 && weight >= STRONG * most}));
        target.from.forEach((link) => sources[link.index].to.push({...link, index}));
        target.from.sort((a, b) => b.weight - a.weight);
    });
    sources.forEach((source) => source.to.sort((a, b) => b.weight - a.weight));
    return {sources, targets};
}

function weightsOf(steps, columns, nSources, alignment) {
    const weights = new Float64Array(nSources);
    for (const step of steps)
        columns.forEach((source, column) => {
            if (source >= 0)
                weights[source] += alignment[step * columns.length + column] / steps.length;
        });
    return weights;
}

/** Which words of b are not in a, in order: the longest common subsequence stays unmarked. */
export function changed(a, b) {
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
