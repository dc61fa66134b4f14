// What the heads of a layer are for: the role of each, as `attentiond inspect --gold` has it, how spread its weights
// are, and the farthest of its strong links.

import {$, element, isolated, percent} from "./dom.js";
import {decimal, plural, sentences, t} from "./text_inside.js";
import {findWords, wordsOf} from "./words.js";

// A head has a role where so much of its weight lies in one place, and a link is strong that has as much of a row.
const ROLE_SHARE = 0.4;

const ROLES = {previous: t`the piece before`, next: t`the piece behind`, same: t`the same place`, separator: t`ends and punctuation`, alignment: t`the word that is translated`, varying: t`here this, there that`, spread: t`spread over many`};

const isSeparator = ({piece, special}) => special || !/[\p{L}\p{N}]/u.test(piece);
const most = (row) => row.indexOf(Math.max(...row));

/** A matrix in rows. */
export const rowsOf = (values, columns) => Array.from({length: values.length / columns}, (_, row) => values.subarray(row * columns, (row + 1) * columns));

/** How much of the weight lies in each place, and how spread it is: rows and columns as Inspector.axes; aligned: the alignment's rows. */
export function roleOf(rows, columns, kind, aligned = []) {
    const shares = {previous: 0, next: 0, same: 0, separator: 0};
    const onWord = [0, 0]; // at the step that writes a word, and at the one that reads it
    let [entropy, largest] = [0, 0]; // means of the rows'
    rows.forEach((row, i) => {
        const same = kind === "cross" ? Math.floor(i * columns.length / rows.length) : i;
        row.forEach((weight, column) => {
            const part = weight / rows.length;
            if (column === same)
                shares.same += part;
            else if (kind !== "cross" && column + 1 === i)
                shares.previous += part;
            else if (kind === "encoder" && column === i + 1)
                shares.next += part;
            if (isSeparator(columns[column].token))
                shares.separator += part;
            if (weight > 0)
                entropy -= part * Math.log2(weight);
        });
        largest += Math.max(...row) / rows.length;
    });
    const words = aligned.map((row, step) => [step, most(row)]).filter(([, column]) => !isSeparator(columns[column].token));
    words.forEach(([step, column]) => onWord.forEach((_, late) => (onWord[late] += (rows[step + late]?.[column] ?? 0) / words.length)));
    if (kind === "cross")
        shares.alignment = Math.max(...onWord);
    const [name, share] = Object.entries(shares).reduce((a, b) => (b[1] > a[1] ? b : a));
    if (share >= ROLE_SHARE)
        return {name: ROLES[name], share, entropy};
    return {name: largest >= ROLE_SHARE ? ROLES.varying : ROLES.spread, share: largest, entropy};
}

/** The strong link whose words lie farthest apart; places: the word of each piece, if any. undefined: no link of two words is strong. */
export function farthest(rows, places) {
    let found;
    rows.forEach((row, i) => row.forEach((weight, j) => {
        const distance = Math.abs(places[i] - places[j]); // NaN beside what is no word
        if (weight >= ROLE_SHARE && distance > 0 && (!found || distance > found.distance || (distance === found.distance && weight > found.weight)))
            found = {from: places[i], to: places[j], distance, weight};
    }));
    return found;
}

function headRow(player, kind, head, rows, {columns, words, places, aligned}) {
    const {name, share, entropy} = roleOf(rows, columns, kind, aligned);
    const choose = async () => {
        await player.choose({head});
        $(`.roles [data-head="${head}"]`, player.box)?.focus();
    };
    const button = element("button.row", {type: "button", textContent: head, "aria-label": t`Head ${head}`, "aria-current": String(head === player.head), onclick: choose});
    button.dataset.head = head;
    const cells = [t`${name}, ${percent(share)}`, decimal(entropy, 2)];
    if (kind !== "cross") {
        const link = farthest(rows, places);
        cells.push(link ? t`${isolated(words[link.from].text)} → ${isolated(words[link.to].text)}, ${percent(link.weight)}, ${plural(link.distance, () => t`1 word apart`, () => t`${link.distance} words apart`)}` : "");
    }
    return element("tr", {}, element("th", {scope: "row"}, button), ...cells.map((textContent) => element("td", {textContent})));
}

async function roleTable(player, kind) {
    const {numbers, layer, run: {sentence, sources, inputs, outputs}, inspector: {request}} = player;
    const found = await numbers.sentence({kinds: [kind], layers: [layer]});
    const columns = (kind === "decoder" ? inputs : sources).map((token) => ({token}));
    const [side, language, tokens] = kind === "decoder" ? [sentence.target, request.target, [{special: true}, ...outputs]] : [sentence.source, request.source, sources];
    const words = findWords(side.text, language, side.begin_utf16);
    const places = tokens.map((token) => wordsOf(token, words)[0]?.[0]);
    const shown = {columns, words, places, aligned: sentence.alignment.matrix};
    const names = [t`Head`, t`looks at`, t`entropy, bits`, ...(kind === "cross" ? [] : [t`farthest strong link`])];
    const rows = found[kind][0].map((all, head) => headRow(player, kind, head, all, shown));
    return element("table.roles", {}, element("caption.visually-hidden", {textContent: t`The heads of layer ${layer}`}), element("thead", {}, element("tr", {}, ...names.map((textContent) => element("th", {scope: "col", textContent})))), element("tbody", {}, ...rows));
}

/** The table of a layer's heads, to be opened; it stays open at the next step. */
export async function roles(player, kind) {
    const details = element("details.numbers", {open: player.hasRoles}, element("summary", {textContent: t`What the heads of this layer do`}));
    const fill = async () => {
        if (player.hasRoles !== details.open) {
            player.hasRoles = details.open;
            player.keepAddress();
        }
        if (!details.open || details.children.length > 1)
            return;
        const lead = element("p.lead", {textContent: sentences(t`Over the whole sentence: a head has a role where at least 40 % of its weight lies in one place.`, kind !== "cross" && t`A link is strong that has as much of its row. Far words are one look apart, as near ones are.`)});
        details.append(lead);
        try {
            details.append(await roleTable(player, kind));
        } catch (error) {
            lead.textContent = error.message;
        }
    };
    await fill();
    details.addEventListener("toggle", fill);
    return details;
}
