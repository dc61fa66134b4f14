// What the server suspects of a translation, in plain words.

import {t} from "./text.js";

const QUOTED_CHARACTERS = 32;

// Of a translation; a kind that is not here is shown by its name.
const KINDS = {
    repetition: t`says the same over and over`,
    length: t`is much longer or shorter than what it translates`,
    truncated: t`was cut off, because it grew too long`,
    cut: t`was made in pieces, because the sentence is too long for the model`,
    numbers: t`has other numbers than what it translates`,
    untranslated: t`is the same as what it translates`,
    unaligned: t`was made without an alignment, for which the server had no memory left: numbers, tags and placeholders may be wrong`,
    unreadable: t`comes from a text with characters that the model cannot read`,
    source_words: t`seems to hold words that were not translated`,
    unsure: t`is one that the model is unsure of`,
    source_language: t`comes from a text that seems to be in another language than the chosen one`,
};

const words = (name) => name.replaceAll("_", " ");

function quote(text) {
    const line = text.replace(/\s+/g, " ");
    const end = line.lastIndexOf(" ", QUOTED_CHARACTERS);
    return line.length <= QUOTED_CHARACTERS ? line : `${line.slice(0, end > 0 ? end : QUOTED_CHARACTERS)} …`;
}

/** Numbers, as the source and the model wrote them. */
function numbers({missing = [], added = [], repaired = [], ...others}) {
    const parts = [[missing, t`missing`], [added, t`not in the source`], [repaired, t`corrected to`]].filter(([list]) => list.length).map(([list, what]) => `${what}: ${list.join(", ")}`);
    return (parts.length ? ` (${parts.join(t`; `)})` : "") + details(others);
}

/** Members that we know nothing of: "expected 12, found 21". */
function details(others) {
    const parts = Object.entries(others).map(([name, value]) => `${words(name)} ${[value].flat().map((one) => (typeof one === "object" ? JSON.stringify(one) : one)).join(", ")}`);
    return parts.length ? ` (${parts.join(t`; `)})` : "";
}

/** What is suspected, without who. */
export function describeWarning({kind = "unknown", sentence, model, text, ...others}) {
    return (Object.hasOwn(KINDS, kind) ? KINDS[kind] : t`may be wrong: ${words(kind)}`) + (kind === "numbers" ? numbers(others) : details(others));
}

/** Who is warned of, in two parts: the name, and what tells it apart from others. */
function nameOf({sentence, model}, sentences) {
    if (sentence === undefined)
        return [t`The translation`, ""];
    if (model)
        return [t`Sentence ${sentence + 1}`, t` of ${model}`];
    if (sentences.length === 1)
        return [t`The translation`, ""];
    return [t`Sentence ${sentence + 1}`, sentence in sentences ? t`, “${quote(sentences[sentence].source.text)}”` : ""];
}

/**
 * A line for each sentence: {sentence, name, more, what}. sentence is its index if the page shows
 * it, else undefined; sentences: a Translation's.
 */
export function describeWarnings(warnings, sentences) {
    const lines = new Map();
    for (const warning of warnings) {
        const [name, more] = nameOf(warning, sentences);
        const isShown = !warning.model && sentences.length > 1 && warning.sentence in sentences;
        const line = lines.get(name + more) ?? {sentence: isShown ? warning.sentence : undefined, name, more, what: []};
        line.what.push(describeWarning(warning));
        lines.set(name + more, line);
    }
    return [...lines.values()].map((line) => ({...line, what: line.what.join(t`; `)}));
}
