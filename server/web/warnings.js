// What the server suspects of a translation, in plain words.

const QUOTED_CHARACTERS = 32;

// Of a translation; a kind that is not here is shown by its name.
const KINDS = {
    repetition: "says the same over and over",
    length: "is much longer or shorter than what it translates",
    truncated: "was cut off, because it grew too long",
    cut: "was made in pieces, because the sentence is too long for the model",
    numbers: "has other numbers than what it translates",
    untranslated: "is the same as what it translates",
    unaligned: "was made without an alignment, for which the server had no memory left: numbers, tags and placeholders may be wrong",
    unreadable: "comes from a text with characters that the model cannot read",
    source_words: "seems to hold words that were not translated",
    unsure: "is one that the model is unsure of",
    source_language: "comes from a text that seems to be in another language than the chosen one",
};

const words = (name) => name.replaceAll("_", " ");

function quote(text) {
    const line = text.replace(/\s+/g, " ");
    const end = line.lastIndexOf(" ", QUOTED_CHARACTERS);
    return line.length <= QUOTED_CHARACTERS ? line : `${line.slice(0, end > 0 ? end : QUOTED_CHARACTERS)} …`;
}

/** Numbers, as the source and the model wrote them. */
function numbers({missing = [], added = [], repaired = [], ...others}) {
    const parts = [[missing, "missing"], [added, "not in the source"], [repaired, "corrected to"]].filter(([list]) => list.length).map(([list, what]) => `${what}: ${list.join(", ")}`);
    return (parts.length ? ` (${parts.join("; ")})` : "") + details(others);
}

/** Members that we know nothing of: "expected 12, found 21". */
function details(others) {
    const parts = Object.entries(others).map(([name, value]) => `${words(name)} ${[value].flat().map((one) => (typeof one === "object" ? JSON.stringify(one) : one)).join(", ")}`);
    return parts.length ? ` (${parts.join("; ")})` : "";
}

function describe({kind = "unknown", sentence, model, text, ...others}) {
    return (Object.hasOwn(KINDS, kind) ? KINDS[kind] : `may be wrong: ${words(kind)}`) + (kind === "numbers" ? numbers(others) : details(others));
}

/** Who is warned of, in two parts: the name, and what tells it apart from others. */
function nameOf({sentence, model}, sentences) {
    if (sentence === undefined)
        return ["The translation", ""];
    if (model)
        return [`Sentence ${sentence + 1}`, ` of ${model}`];
    if (sentences.length === 1)
        return ["The translation", ""];
    return [`Sentence ${sentence + 1}`, sentence in sentences ? `, “${quote(sentences[sentence].source.text)}”` : ""];
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
        line.what.push(describe(warning));
        lines.set(name + more, line);
    }
    return [...lines.values()].map((line) => ({...line, what: line.what.join("; ")}));
}
