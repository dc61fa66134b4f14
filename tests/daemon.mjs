// A daemon for a test in JavaScript, as tests/http/serve.py has one for those in Python.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import path from "node:path";
import {fileURLToPath} from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BINARY = process.env.ATTENTIOND ?? path.join(ROOT, "build/release/attentiond");
const MODEL = process.env.ATTENTIOND_TEST_MODEL ?? path.join(ROOT, "tests/models/en-de");
export const SLOWNESS = Number(process.env.ATTENTIOND_TEST_SLOWNESS ?? 1);
const START_MS = 20_000 * SLOWNESS;

export class Daemon {
    /** Starts one on a port that the kernel chooses, and waits until it listens. Flags may name another model than the tests' own. */
    static async start(...flags) {
        const daemon = new Daemon();
        const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ATTENTIOND_")));
        environment.ATTENTIOND_MIN_PROBABILITY = "0"; // the small test model is unsure of much
        daemon.process = spawn(BINARY, ["serve", ...(flags.includes("--model") ? [] : ["--model", MODEL]), "--host", "127.0.0.1", "--port", "0", ...flags], {stdio: ["ignore", "ignore", "pipe"], env: environment});
        daemon.log = "";
        daemon.ended = new Promise((resolve) => {
            daemon.process.on("exit", (code, signal) => resolve(code ?? signal));
            daemon.process.on("error", (error) => resolve(error.message));
        });
        daemon.ended.then((how) => (daemon.end = how));
        daemon.process.stderr.setEncoding("utf8").on("data", (text) => (daemon.log += text));
        const end = Date.now() + START_MS;
        while (!daemon.port) {
            daemon.port = /listening on \S*:(\d+)/.exec(daemon.log)?.[1];
            assert.ok(Date.now() < end && daemon.end === undefined, `the daemon does not listen: ${daemon.end ?? ""}\n${daemon.log}`);
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
        daemon.url = `http://127.0.0.1:${daemon.port}`;
        return daemon;
    }

    async stop(signal = "SIGTERM") {
        if (this.end === undefined)
            this.process.kill(signal);
        return this.ended;
    }

    async attention(fields) {
        const reply = await fetch(`${this.url}/attention`, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({source: "en", target: "de", ...fields})});
        assert.equal(reply.status, 200);
        return reply.json();
    }
}
