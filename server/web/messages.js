// What the API refuses, in the page's words.

import {language, languageName, sentences, t} from "./text.js";

/** A time in its unit, as the page's language counts it. */
function duration(seconds) {
    const [n, unit] = seconds < 90 ? [Math.ceil(seconds), "second"] : seconds < 5400 ? [Math.round(seconds / 60), "minute"] : [Math.round(seconds / 3600), "hour"];
    return new Intl.NumberFormat(language, {style: "unit", unit, unitDisplay: "long"}).format(n);
}

// The API's own texts, which clients of LibreTranslate know.
const TEXTS = [
    [/exceeds text limit \((\d+)\)/, ([, limit]) => tooLong(undefined, Number(limit))],
    [/^Slowdown: \d+ characters/, () => t`This server translates no more characters for you today.`],
    [/^Slowdown/, () => t`You have asked this server more often than it allows.`],
    [/limits violations/, () => t`You have asked this server too often, and it no longer answers you: try again in an hour.`],
    [/numbers.*(allowed|limit)|max_attention_values|can be matched/, () => t`This sentence is too long for the server to show all of that at once.`],
    [/seems to be in .*?\((\S+)\), and .*?\((\S+)\) is not available/, ([, source, target]) => t`This text seems to be in another language, ${languageName(source)}, from which this server does not translate into ${languageName(target)}. If it is not, choose its language.`],
    [/^model: there is no "(.*?)"/, ([, name]) => t`This server has no model ${name}.`],
    [/^no (model|way) |is not supported$|^the model \S+ translates/, () => t`This server does not translate between these languages.`],
    [/^target_(prefix_)?ids/, () => t`The address goes on from pieces that this model does not have.`],
    [/positions are learned/, () => t`The positions of this model were learned, and are not to be had alone.`],
    [/sentences: at most|more than \d+ sentences/, () => t`That is more than this server takes at a time.`],
    [/^Invalid API key/, () => t`This server does not know that API key.`],
    [/get an API key/, () => t`This server asks for an API key: its operator has them.`],
];

const STATUSES = {
    404: t`This server does not have what the page asked for: reload the page.`,
    413: t`That is more than this server takes at a time.`,
    500: t`The server made a mistake. Your text is still here.`,
    502: t`The server behind this address does not answer. Your text is still here.`,
    503: t`The server is busy.`,
    504: t`The server took too long to answer. Your text is still here.`,
};

/** What no text of the page says: in English as it is. */
function quoted(message) {
    const said = message.replace(/^Invalid request: (.)/, (_, first) => first.toUpperCase());
    return language === "en" ? said : t`The server refused that, with these words: ${said}`;
}

/** status and the API's own message, if there is one; seconds that it asks to wait, or NaN. */
export function explain(status, message, seconds) {
    const [pattern, says] = TEXTS.find(([one]) => one.test(message)) ?? [];
    const what = pattern ? says(pattern.exec(message)) : (STATUSES[status] ?? (message ? quoted(message) : t`The server answered ${status}.`));
    return (status === 429 || status === 503) && seconds > 0 ? sentences(what, t`Try again in ${duration(seconds)}.`) : what;
}

/** Another try comes by itself. */
export const waiting = (status, seconds) => (status === 429 ? t`You have asked this server more often than it allows: the page tries again in ${duration(seconds)}.` : t`The server is busy: the page tries again in ${duration(seconds)}.`);

export const tooLong = (n, limit) => (n ? t`This text has ${n} characters; this server takes ${limit} at a time.` : t`This server takes no more than ${limit} characters at a time.`);
