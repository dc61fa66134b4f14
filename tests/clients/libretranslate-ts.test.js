// The npm package libretranslate-ts: JSON, with api_key null where there is no key.

import assert from "node:assert/strict";
import {describe, it} from "node:test";
import ts from "libretranslate-ts";
import {BAHNHOF, KEY, LANGUAGES, MAX_CHARACTERS, STATION, TOO_LONG, ask, serve, withKeys} from "./session.js";

// Not in a hook: those of the outermost level are not run by node 18.
const daemon = await serve();
const client = ts.libreTranslate;
client.setApiEndpoint(daemon.url);

describe("libretranslate-ts", () => {
    it("lists the languages", async () => {
        assert.deepEqual(await client.listLanguages(), LANGUAGES);
    });

    it("detects a language", async () => {
        const reply = await client.detect(BAHNHOF);
        assert.deepEqual([reply.status, reply.language, reply.error], [200, "de", undefined]);
        assert.ok(reply.confidence > 50 && reply.confidence <= 100, String(reply.confidence));
    });

    it("translates", async () => {
        assert.deepEqual(await client.translate(STATION, "en", "de"), {status: 200, translatedText: BAHNHOF, alternatives: undefined, error: undefined});
    });

    it("translates from a language that it does not know", async () => {
        assert.equal((await client.translate(STATION, "auto", "de")).translatedText, BAHNHOF);
    });

    it("gets alternatives", async () => {
        const {translatedText, alternatives} = await client.translate(STATION, "en", "de", 3);
        assert.equal(translatedText, BAHNHOF);
        assert.ok(alternatives.length >= 1 && alternatives.length <= 3, String(alternatives));
        assert.equal(new Set([translatedText, ...alternatives]).size, alternatives.length + 1);
        assert.deepEqual(alternatives, (await ask(daemon, {q: STATION, alternatives: 3})).alternatives);
    });

    it("hands an array on, and gets one", async () => {
        const q = [STATION, "Thank you.", ""];
        const {translatedText} = await client.translate(q, "en", "de");
        assert.deepEqual([translatedText.length, translatedText[0], translatedText[2]], [3, BAHNHOF, ""]);
        assert.deepEqual(translatedText, (await ask(daemon, {q})).translatedText);
    });

    it("keeps any character", async () => {
        const text = "\u{1F642} \"quoted\" \\ <b> & \u00E4\u00F6\u00FC\n\ttab";
        assert.equal((await client.translate(text, "de", "de")).translatedText, text);
    });

    it("shows what the server refuses", async () => {
        for (const [call, error] of [
            [() => client.translate("", "en", "de"), "Invalid request: missing q parameter"],
            [() => client.translate(STATION, "", "de"), "Invalid request: missing source parameter"],
            [() => client.translate(STATION, "en", undefined), "Invalid request: missing target parameter"],
            [() => client.translate(STATION, "xx", "de"), "xx is not supported"],
            [() => client.translate(STATION, "de", "en"), "English (en) is not available as a target language from German (de)"],
            [() => client.translate(STATION, "en", "de", 1000), /^Invalid request: alternatives parameter must be <= \d+$/],
            [() => client.translate(TOO_LONG, "en", "de"), `Invalid request: request (${TOO_LONG.length}) exceeds text limit (${MAX_CHARACTERS})`],
            [() => client.detect(""), "Invalid request: missing q parameter"],
        ]) {
            const reply = await call();
            assert.equal(reply.status, 500); // what the client makes of any error
            if (error instanceof RegExp)
                assert.match(reply.error, error);
            else
                assert.equal(reply.error, error);
        }
    });

    it("sends its key, and shows what the server thinks of it", () => withKeys(1, async (url) => {
        client.setApiEndpoint(url);
        for (const [key, error] of [["", /^Please contact the server operator/], ["wrong", /^Invalid API key$/], [KEY, undefined], [KEY, /^Slowdown: 1 per 1 minute$/]]) {
            client.setApiKey(key);
            const reply = await client.translate(STATION, "en", "de");
            if (error)
                assert.match(reply.error, error);
            else
                assert.deepEqual([reply.status, reply.translatedText], [200, BAHNHOF]);
        }
        client.setApiKey(null);
        client.setApiEndpoint(daemon.url);
    }));

    it("lets the daemon stop in good order", async () => {
        assert.equal(await daemon.stop(), 0, daemon.log);
        assert.match((await client.translate(STATION, "en", "de")).error, /ECONNREFUSED/);
    });
});
