// A long sentence and its translation, cut into bands: each has a line of the source and one of the
// translation, and as many links as can be lie within one.

// What a band costs, in links: a sentence is not cut into more of them than its width asks for.
const BAND = 0.5;

/** How many items from begin on fit into room; at least one, where there is one. */
function fitting(widths, begin, room) {
    let [end, width] = [begin, 0];
    while (end < widths.length && (end === begin || width + widths[end] <= room))
        width += widths[end++];
    return end - begin;
}

/** sums[i * (m + 1) + j]: the weight of all links between the first i sources and the first j targets. */
function sumsOf(targets, n) {
    const m = targets.length;
    const sums = new Float64Array((n + 1) * (m + 1));
    targets.forEach((target, j) => target.from.forEach(({index, weight}) => (sums[(index + 1) * (m + 1) + j + 1] = weight)));
    for (let i = 1; i <= n; i++)
        for (let j = 1; j <= m; j++)
            sums[i * (m + 1) + j] += sums[(i - 1) * (m + 1) + j] + sums[i * (m + 1) + j - 1] - sums[(i - 1) * (m + 1) + j - 1];
    return sums;
}

/** Where a band that begins at (i, j) may end: one of its lines is full. */
function endsOf(widths, i, j, room) {
    const [most, mostOther] = [fitting(widths.source, i, room), fitting(widths.target, j, room)];
    const ends = [];
    for (let k = Math.min(1, mostOther); k <= mostOther; k++)
        ends.push([i + most, j + k]);
    for (let k = Math.min(1, most); k < most; k++)
        ends.push([i + k, j + mostOther]);
    return ends;
}

/**
 * [{source: [begin, end], target: [begin, end]}] of words, whose widths are given by side, so that no line is wider
 * than room; targets: linkWords'.
 */
export function cutIntoBands(widths, targets, room) {
    const [n, m] = [widths.source.length, widths.target.length];
    const sums = sumsOf(targets, n);
    const at = (i, j) => sums[i * (m + 1) + j];
    const best = new Map([[0, {value: 0}]]);
    const key = (i, j) => i * (m + 1) + j;
    for (let i = 0; i <= n; i++)
        for (let j = 0; j <= m; j++) {
            const here = best.get(key(i, j));
            if (!here || (i === n && j === m))
                continue;
            for (const [toI, toJ] of endsOf(widths, i, j, room)) {
                const value = here.value - BAND + at(toI, toJ) - at(i, toJ) - at(toI, j) + at(i, j);
                if (value > (best.get(key(toI, toJ))?.value ?? -Infinity))
                    best.set(key(toI, toJ), {value, from: [i, j]});
            }
        }
    const bands = [];
    for (let [i, j] = [n, m]; i || j; ) {
        const [fromI, fromJ] = best.get(key(i, j)).from;
        bands.unshift({source: [fromI, i], target: [fromJ, j]});
        [i, j] = [fromI, fromJ];
    }
    return bands;
}
