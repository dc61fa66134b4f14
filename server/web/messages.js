// What the API refuses, in the page's words.

const minutes = (seconds) => (seconds < 90 ? `${Math.ceil(seconds)} ${seconds <= 1 ? "second" : "seconds"}` : seconds < 5400 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3600)} hours`);

// The API's own texts, which clients of LibreTranslate know.
const TEXTS = [
    [/exceeds text limit \((\d+)\)/, ([, limit]) => tooLong(undefined, Number(limit))],
    [/^Slowdown: \d+ characters/, () => "This server translates no more characters for you today."],
    [/^Slowdown/, () => "You have asked this server more often than it allows."],
    [/limits violations/, () => "You have asked this server too often, and it no longer answers you: try again in an hour."],
    [/numbers.*(allowed|limit)|max_attention_values/, () => "This sentence is too long for the server to show all of that at once."],
];

const STATUSES = {
    404: "This server does not have what the page asked for: reload the page.",
    413: "That is more than this server takes at a time.",
    500: "The server made a mistake. Your text is still here.",
    502: "The server behind this address does not answer. Your text is still here.",
    503: "The server is busy.",
    504: "The server took too long to answer. Your text is still here.",
};

/** status and the API's own message, if there is one; seconds that it asks to wait, or NaN. */
export function explain(status, message, seconds) {
    const [pattern, says] = TEXTS.find(([one]) => one.test(message)) ?? [];
    const what = pattern ? says(pattern.exec(message)) : (message.replace(/^Invalid request: (.)/, (_, first) => first.toUpperCase()) || STATUSES[status] || `The server answered ${status}.`);
    return (status === 429 || status === 503) && seconds > 0 ? `${what.replace(/\.?$/, ".")} Try again in ${minutes(seconds)}.` : what;
}

/** Another try comes by itself. */
export const waiting = (status, seconds) => `${status === 429 ? "You have asked this server more often than it allows" : "The server is busy"}: the page tries again in ${minutes(seconds)}.`;

export const count = (n) => n.toLocaleString(document.documentElement.lang);

export const tooLong = (n, limit) => (n ? `This text has ${count(n)} characters; this server takes ${count(limit)} at a time.` : `This server takes no more than ${count(limit)} characters at a time.`);
