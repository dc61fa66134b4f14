// What the page asks the server. Addresses are relative, so that it works below any prefix.

import {embed} from "./dom.js";
import {explain, waiting} from "./messages.js";
import {sentences, t} from "./text.js";

/** An error whose message is for the reader; said: the API's own. status 0: no answer at all. */
export class ApiError extends Error {
    constructor(message, status, said = "", seconds = NaN) {
        super(message);
        Object.assign(this, {status, said, seconds});
    }
}

const pause = (seconds, signal) =>
    new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, seconds * 1000);
        signal?.addEventListener("abort", () => {
            clearTimeout(timer);
            reject(signal.reason);
        });
    });

async function send(path, options) {
    try {
        return await fetch(path, options);
    } catch (error) {
        if (error.name === "AbortError")
            throw error;
        throw new ApiError(t`The server does not answer. Your text is still here.`, 0);
    }
}

async function failure(response) {
    let said = "";
    try {
        const {error, message} = await response.json(); // message: DeepL's routes
        said = String(error ?? message ?? "");
    } catch {
        // A proxy's page, perhaps.
    }
    const seconds = Number(response.headers.get("Retry-After") ?? NaN);
    return new ApiError(explain(response.status, said, seconds), response.status, said, seconds);
}

// The API key, where the server's operator wants one: asked for when it is missed, and kept in this browser.
const KEY_NAME = "attentiond-api-key";
let mayAsk = !embed;

function loadKey() {
    try {
        return localStorage.getItem(KEY_NAME);
    } catch {
        return null; // Storage is switched off.
    }
}

function storeKey(value) {
    try {
        if (value)
            localStorage.setItem(KEY_NAME, value);
        else
            localStorage.removeItem(KEY_NAME);
    } catch {
        // Then it is good for this visit.
    }
}

let key = embed ? null : loadKey();

/** Whether programs need one here, as far as the page knows. */
export const hasKey = () => Boolean(key);

/** Whether it is worth another try, after the server has refused that key (null: none). */
function askForKey(message, refused) {
    if (key !== refused)
        return true; // Another request has asked meanwhile.
    if (!mayAsk)
        return false;
    const given = window.prompt(sentences(message, t`API key:`))?.trim() || null;
    mayAsk = given !== null;
    key = given;
    storeKey(key);
    return key !== refused;
}

const withKey = (options) => (key ? {...options, headers: {...options.headers, Authorization: `Bearer ${key}`}} : options);

const MOST_BUSY_TRIES = 3;
// Who is asked to wait longer is told so, and may try again.
const MOST_WAIT_SECONDS = 60;

const tell = (text) => document.dispatchEvent(new CustomEvent("waiting", {detail: text}));

async function wait({status, seconds}, signal) {
    tell(waiting(status, seconds));
    try {
        await pause(seconds, signal);
    } finally {
        tell("");
    }
}

/** The reply to it, if it is a good one; what is busy is asked again. */
export async function request(path, options) {
    for (let tries = 1; ; ) {
        const used = key;
        const response = await send(path, withKey(options));
        if (response.ok)
            return response;
        const error = await failure(response);
        const isBusy = error.status === 503 || error.status === 429;
        error.seconds ||= 1;
        if (isBusy && error.seconds <= MOST_WAIT_SECONDS && tries++ < MOST_BUSY_TRIES)
            await wait(error, options.signal);
        else if (error.status !== 403 || !/API key/.test(error.said) || !askForKey(error.message, used))
            throw error;
    }
}

function post(path, body, signal) {
    return request(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body), signal});
}

/** {charLimit, ...}; of the key, where there is one. */
export const settings = async () => (await request("frontend/settings", {})).json();
export const languages = async () => (await request("languages", {})).json();

export const models = async () => (await (await request("models", {})).json()).models;

let mostAlternatives = 3;

/** How many hypotheses translate() makes the search keep, where the model does not keep more. */
export const beamSize = () => mostAlternatives + 1;

/** {translatedText, alternatives, sentences, and more where there is something to say} */
export async function translate(text, source, target, signal, model) {
    try {
        return await (await post("translate", {q: text, source, target, alternatives: mostAlternatives, return_sentences: true, ...(model && {model})}, signal)).json();
    } catch (error) {
        // An operator may allow fewer.
        const limit = /alternatives parameter must be <= (\d+)/.exec(error.said);
        if (!limit)
            throw error;
        mostAlternatives = Number(limit[1]);
        return translate(text, source, target, signal, model);
    }
}

export const attention = async (body, signal) => (await post("attention", body, signal)).json();
export const attentionFile = async (body, signal) => (await post("attention", body, signal)).blob();

const positionsPath = (layout, n, format, model) => `positions?${new URLSearchParams({...(layout && {layout}), n, format, ...(model && {model})})}`;
export const positions = async (layout, n, signal, model) => (await request(positionsPath(layout, n, "json", model), {signal})).json();
export const positionsFile = async (layout, n, format, model) => (await request(positionsPath(layout, n, format, model), {})).blob();
