// What the page asks the server. Addresses are relative, so that it works below any prefix.

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

const MOST_BUSY_TRIES = 3;

async function request(path, options) {
    for (let tries = 1; ; tries++) {
        const response = await send(path, options);
        if (response.ok)
            return response;
        if (response.status !== 503 || tries === MOST_BUSY_TRIES)
            throw await failure(response);
        await pause(Number(response.headers.get("Retry-After")) || 1, options.signal);
    }
}

function post(path, body, signal) {
    return request(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body), signal});
}

export const languages = async () => (await request("languages", {})).json();

let mostAlternatives = 3;

/** How many hypotheses translate() makes the search keep, where the model does not keep more. */
export const beamSize = () => mostAlternatives + 1;

/** {translatedText, alternatives} */
export async function translate(text, source, target, signal) {
    try {
        return await (await post("translate", {q: text, source, target, alternatives: mostAlternatives}, signal)).json();
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

const positionsPath = (layout, n, format) => `positions?${new URLSearchParams({...(layout && {layout}), n, format})}`;
export const positions = async (layout, n, signal) => (await request(positionsPath(layout, n, "json"), {signal})).json();
export const positionsFile = async (layout, n, format) => (await request(positionsPath(layout, n, format), {})).blob();
