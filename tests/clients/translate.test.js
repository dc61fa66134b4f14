// The npm package translate with its engine "libre": JSON without a format, an empty reply is an error.

import assert from "node:assert/strict";
import {describe, it} from "node:test";
import translate from "translate";
import {BAHNHOF, KEY, MAX_CHARACTERS, STATION, TOO_LONG, ask, serve, withKeys} from "./session.js";

const daemon = await serve();
translate.engine = "libre";
translate.url = `${daemon.url}/translate`;

describe("translate", () => {
    it("translates", async () => {
        assert.equal(await translate(STATION, {from: "en", to: "de"}), BAHNHOF);
    });

    it("takes languages by their names", async () => {
        assert.equal(await translate(STATION, {from: "English", to: "German"}), BAHNHOF);
    });

    it("takes the target alone, and English for the source", async () => {
        assert.equal(await translate(STATION, "de"), BAHNHOF);
    });

    it("sends many at once", async () => {
        const texts = Array.from({length: 20}, (_, i) => `${STATION} ${i + 1}`);
        const parallel = await Promise.all(texts.map((text) => translate(text, "de")));
        for (const [i, text] of texts.entries())
            assert.equal(parallel[i], (await ask(daemon, {q: text})).translatedText);
        assert.equal(new Set(parallel).size, texts.length);
    });

    it("takes a key that nobody asked for", async () => {
        const keyed = translate.Translate({engine: "libre", url: translate.url, key: "unknown"});
        assert.equal(await keyed(STATION, "de"), BAHNHOF);
    });

    it("sends its key, and shows what the server thinks of it", () => withKeys(1, async (url) => {
        const keyed = (key) => translate.Translate({engine: "libre", url: `${url}/translate`, key})(STATION, "de");
        await assert.rejects(keyed(undefined), /^Error: Please contact the server operator/);
        await assert.rejects(keyed("wrong"), {message: "Invalid API key"});
        assert.equal(await keyed(KEY), BAHNHOF);
        await assert.rejects(translate.Translate({engine: "libre", url: `${url}/translate`, key: KEY})("Thank you.", "de"), {message: "Slowdown: 1 per 1 minute"});
    }));

    it("shows what the server refuses", async () => {
        for (const [text, options, error] of [
            [STATION, {from: "de", to: "en"}, "English (en) is not available as a target language from German (de)"],
            [STATION, {from: "en", to: "fr"}, "fr is not supported"],
            [TOO_LONG, "de", `Invalid request: request (${TOO_LONG.length}) exceeds text limit (${MAX_CHARACTERS})`],
            ["", "de", "Invalid request: missing q parameter"],
        ])
            await assert.rejects(translate(text, options), {message: error});
    });

    it("lets the daemon stop in good order", async () => {
        assert.equal(await daemon.stop(), 0, daemon.log);
    });
});
