// LibreTranslate's own server for the Model Context Protocol, as an assistant starts it: over its
// standard input and output. It sends forms, and always asks for three alternatives.

import assert from "node:assert/strict";
import {createRequire} from "node:module";
import {describe, it} from "node:test";
import {Client} from "@modelcontextprotocol/sdk/client/index.js";
import {StdioClientTransport} from "@modelcontextprotocol/sdk/client/stdio.js";
import {BAHNHOF, KEY, LANGUAGES, MAX_CHARACTERS, STATION, TOO_LONG, ask, serve, withKeys} from "./session.js";

const daemon = await serve();
const server = createRequire(import.meta.url).resolve("@libretranslate/mcp");

/** An assistant that has started the server, as its settings say. */
async function connect(env) {
    const client = new Client({name: "attentiond-tests", version: "1.0.0"});
    await client.connect(new StdioClientTransport({command: process.execPath, args: [server], env}));
    return client;
}

const client = await connect({LIBRETRANSLATE_API_URL: daemon.url});

async function call(name, fields = {}, assistant = client) {
    const {content, isError} = await assistant.callTool({name, arguments: fields});
    assert.deepEqual(content.map(({type}) => type), ["text"]);
    return {isError: Boolean(isError), value: JSON.parse(content[0].text)};
}

describe("@libretranslate/mcp", () => {
    it("offers its tools", async () => {
        const {tools} = await client.listTools();
        assert.deepEqual(tools.map(({name}) => name).sort(), ["detect", "languages", "translate"]);
    });

    it("lists the languages", async () => {
        assert.deepEqual(await call("languages"), {isError: false, value: LANGUAGES});
    });

    it("detects a language", async () => {
        const {isError, value} = await call("detect", {text: BAHNHOF});
        assert.deepEqual([isError, value.language, typeof value.confidence], [false, "de", "number"]);
    });

    it("translates, with alternatives", async () => {
        const {isError, value} = await call("translate", {text: STATION, source: "en", target: "de"});
        assert.equal(isError, false);
        assert.deepEqual(value, await ask(daemon, {q: STATION, alternatives: 3}));
        assert.equal(value.translatedText, BAHNHOF);
    });

    it("keeps what a form must escape", async () => {
        const text = "100 % & more = a+b; \u00E4 \u{1F642}\nsecond line";
        assert.equal((await call("translate", {text, source: "de", target: "de"})).value.translatedText, text);
    });

    it("shows what the server refuses", async () => {
        for (const [name, fields, error] of [
            ["translate", {text: STATION, source: "xx", target: "de"}, "xx is not supported"],
            ["translate", {text: "", source: "en", target: "de"}, "Invalid request: missing q parameter"],
            ["translate", {text: TOO_LONG, source: "en", target: "de"}, `Invalid request: request (${TOO_LONG.length}) exceeds text limit (${MAX_CHARACTERS})`],
            ["detect", {text: ""}, "Invalid request: missing q parameter"],
        ])
            assert.deepEqual(await call(name, fields), {isError: true, value: {error}});
    });

    // 2, because it starts itself twice and sends every request twice.
    it("sends its key, and shows what the server thinks of it", () => withKeys(2, async (url) => {
        for (const [key, error] of [["wrong", "Invalid API key"], [KEY, undefined]]) {
            const keyed = await connect({LIBRETRANSLATE_API_URL: url, LIBRETRANSLATE_API_KEY: key});
            const {isError, value} = await call("translate", {text: STATION, source: "en", target: "de"}, keyed);
            assert.deepEqual([isError, value.error, value.translatedText], [Boolean(error), error, error ? undefined : BAHNHOF]);
            await keyed.close();
        }
    }));

    it("ends, and the daemon too", async () => {
        await client.close();
        assert.equal(await daemon.stop(), 0, daemon.log);
    });
});
