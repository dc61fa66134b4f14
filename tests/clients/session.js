// What the sessions of all clients share: the daemon, and what it is known to answer.

import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {Daemon} from "../daemon.mjs";

export const STATION = "Where is the train station?";
export const BAHNHOF = "Wo ist der Bahnhof?";
/** Of the texts below, so that a longer one is refused. */
export const MAX_CHARACTERS = 200;
export const TOO_LONG = "a".repeat(MAX_CHARACTERS + 1);

/** A daemon for the whole file; the last test stops it. */
export async function serve(...flags) {
    const daemon = await Daemon.start("--max-text-chars", String(MAX_CHARACTERS), ...flags);
    process.on("exit", () => daemon.process.kill("SIGKILL"));
    return daemon;
}

export const KEY = "alice-3f0c9a34";

/** Runs test with the address of a daemon that asks for the key, and lets so many requests a minute through. */
export async function withKeys(requestsPerMinute, test) {
    const folder = mkdtempSync(path.join(tmpdir(), "attentiond-clients-"));
    const file = path.join(folder, "keys");
    writeFileSync(file, `${KEY}\n`, {mode: 0o600});
    const daemon = await serve("--api-keys-file", file, "--key-required", "--requests-per-minute", String(requestsPerMinute));
    try {
        await test(daemon.url);
    } finally {
        rmSync(folder, {recursive: true});
        await daemon.stop();
    }
}

/** What POST /translate answers to exactly these fields: the measure for what a client hands on. */
export async function ask(daemon, fields) {
    const reply = await fetch(`${daemon.url}/translate`, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({source: "en", target: "de", ...fields})});
    return reply.json();
}

export const LANGUAGES = [
    {code: "en", name: "English", targets: ["de", "en"]},
    {code: "de", name: "German", targets: ["de"]},
];
