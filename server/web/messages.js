// What the API refuses, in the page's words.

import {language, t} from "./text.js";

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
    [/numbers.*(allowed|limit)|max_attention_values/, () => t`This sentence is too long for the server to show all of that at once.`],
];

const STATUSES = {
    404: t`This server does not have what the page asked for: reload the page.`,
    413: t`That is more than this server takes at a time.`,
    500: t`The server made a mistake. Your text is still here.`,
    502: t`The server behind this address does not answer. Your text is still here.`,
    503: t`The server is busy.`,
    504: t`The server took too long to answer. Your text is still here.`,
};

/** status and the API's own message, if there is one; seconds that it asks to wait, or NaN. */
export function explain(status, message, seconds) {
    const [pattern, says] = TEXTS.find(([one]) => one.test(message)) ?? [];
    const what = pattern ? says(pattern.exec(message)) : (message.replace(/^Invalid request: (.)/, (_, first) => first.toUpperCase()) || STATUSES[status] || t`The server answered ${status}.`);
    return (status === 429 || status === 503) && seconds > 0 ? `${what.replace(/([^.。])$/, "$1.")} ${t`Try again in ${duration(seconds)}.`}` : what;
}

/** Another try comes by itself. */
export const waiting = (status, seconds) => (status === 429 ? t`You have asked this server more often than it allows: the page tries again in ${duration(seconds)}.` : t`The server is busy: the page tries again in ${duration(seconds)}.`);

export const tooLong = (n, limit) => (n ? t`This text has ${n} characters; this server takes ${limit} at a time.` : t`This server takes no more than ${limit} characters at a time.`);
