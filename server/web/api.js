// What the page asks the server. Addresses are relative, so that it works below any prefix.

import {embed} from "./dom.js";

/** An error whose message is for the reader. status 0: no answer at all. */
export class ApiError extends Error {
    constructor(message, status) {
        super(message);
        this.status = status;
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
        throw new ApiError("The server does not answer. Your text is still here.", 0);
    }
}

async function failure(response) {
    let message;
    try {
        message = (await response.json()).error;
    } catch {
        // A proxy's page, perhaps.
    }
    return new ApiError(message || `The server answered ${response.status} ${response.statusText}.`, response.status);
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
    const given = window.prompt(`${message}. API key:`)?.trim() || null;
    mayAsk = given !== null;
    key = given;
    storeKey(key);
    return key !== refused;
}

const withKey = (options) => (key ? {...options, headers: {...options.headers, Authorization: `Bearer ${key}`}} : options);

const MOST_BUSY_TRIES = 3;

async function request(path, options) {
    for (let tries = 1; ; ) {
        const used = key;
        const response = await send(path, withKey(options));
        if (response.ok)
            return response;
        const error = await failure(response);
        if (response.status === 503 && tries++ < MOST_BUSY_TRIES)
            await pause(Number(response.headers.get("Retry-After")) || 1, options.signal);
        else if (response.status !== 403 || !/API key/.test(error.message) || !askForKey(error.message, used))
            throw error;
    }
}

function post(path, body, signal) {
    return request(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body), signal});
}

export const languages = async () => (await request("languages", {})).json();

let mostAlternatives = 3;

/** How many hypotheses translate() makes the search keep, where the model does not keep more. */
export const beamSize = () => mostAlternatives + 1;

/** {translatedText, alternatives, sentences, and more where there is something to say} */
export async function translate(text, source, target, signal) {
    try {
        return await (await post("translate", {q: text, source, target, alternatives: mostAlternatives, return_sentences: true}, signal)).json();
    } catch (error) {
        // An operator may allow fewer.
        const limit = /alternatives parameter must be <= (\d+)/.exec(error.message);
        if (!limit)
            throw error;
        mostAlternatives = Number(limit[1]);
        return translate(text, source, target, signal);
    }
}

export const attention = async (body, signal) => (await post("attention", body, signal)).json();
export const attentionFile = async (body, signal) => (await post("attention", body, signal)).blob();

const positionsPath = (layout, n, format, model) => `positions?${new URLSearchParams({...(layout && {layout}), n, format, ...(model && {model})})}`;
export const positions = async (layout, n, signal, model) => (await request(positionsPath(layout, n, "json", model), {signal})).json();
export const positionsFile = async (layout, n, format) => (await request(positionsPath(layout, n, format), {})).blob();
