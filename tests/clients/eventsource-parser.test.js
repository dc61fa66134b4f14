// Streams as programs read them: fetch with the npm package eventsource-parser, and curl -N.

import assert from "node:assert/strict";
import {after, describe, it} from "node:test";
import {spawn} from "node:child_process";
import {EventSourceParserStream} from "eventsource-parser/stream";
import {STATION, ask, serve} from "./session.js";

const TEXT = `I am tired.  ${STATION}\n\nThe house is \u{1F3E0} red. Thank you!\n`;
const daemon = await serve("--stream-keepalive-ms", "100");

async function open(fields, signal) {
    const response = await fetch(`${daemon.url}/translate`, {method: "POST", signal, headers: {"Content-Type": "application/json"}, body: JSON.stringify({source: "en", target: "de", stream: true, ...fields})});
    assert.deepEqual([response.status, response.headers.get("content-type")], [200, "text/event-stream"]);
    return response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
}

/** The texts put together from their pieces, and the reply; checks that nothing else came. */
async function read(events) {
    const texts = [];
    let result, n = 0;
    for await (const {event, data} of events) {
        assert.notEqual(result, "over", data);
        if (data === "[DONE]")
            return {texts, result, n};
        if (event === "result") {
            result = data;
        } else {
            const {index, text} = JSON.parse(data);
            texts[index] = (texts[index] ?? "") + text;
            n++;
        }
    }
    assert.fail("no [DONE]");
}

describe("event streams", () => {
    after(async () => assert.equal(await daemon.stop(), 0, daemon.log));

    for (const stream_mode of ["sentence", "token"])
        it(`are read by ${stream_mode}`, async () => {
            const plain = await ask(daemon, {q: [TEXT, STATION], beam_size: 1});
            const {texts, result, n} = await read(await open({q: [TEXT, STATION], beam_size: 1, stream_mode}));
            assert.deepEqual(texts, plain.translatedText);
            assert.equal(result, JSON.stringify(plain));
            assert.ok(n >= 5, `${n} pieces`);
        });

    it("are read 32 at a time", async () => {
        const plain = await ask(daemon, {q: TEXT});
        const all = await Promise.all(Array.from({length: 32}, async () => read(await open({q: TEXT, stream_mode: "token"}))));
        for (const {texts} of all)
            assert.deepEqual(texts, [plain.translatedText]);
    });

    it("can be left, and then their work ends", async () => {
        const running = async () => /attentiond_sentences_running (\d+)/.exec(await (await fetch(`${daemon.url}/metrics`)).text())[1];
        for (const after_first of [false, true]) {
            const controller = new AbortController();
            const q = Array.from({length: 12}, () => "I am tired. ".repeat(12));
            const events = await open({q, beam_size: 4, min_decoding_length: 400, max_decoding_length: 500, split_sentences: "off", stream_mode: "token"}, controller.signal);
            const reader = events.getReader();
            const first = reader.read();
            if (after_first)
                await first;
            while (await running() === "0")
                await new Promise((resolve) => setTimeout(resolve, 5));
            controller.abort();
            await assert.rejects(async () => {
                await first;
                while (!(await reader.read()).done);
            }, {name: "AbortError"});
            while (await running() !== "0")
                await new Promise((resolve) => setTimeout(resolve, 5));
        }
    });

    it("come through curl -N piece by piece", async () => {
        const curl = spawn("curl", ["-sN", `${daemon.url}/translate`, "-d", "source=en", "-d", "target=de", "-d", "stream=true", "--data-urlencode", `q=${TEXT}`]);
        const chunks = [];
        for await (const chunk of curl.stdout)
            chunks.push(chunk);
        const text = Buffer.concat(chunks).toString();
        assert.ok(text.endsWith("data: [DONE]\n\n"), text);
        const pieces = [...text.matchAll(/^data: (\{"index".*\})$/gm)].map((match) => JSON.parse(match[1]).text);
        assert.equal(pieces.join(""), (await ask(daemon, {q: TEXT.trimEnd()})).translatedText);
    });
});
