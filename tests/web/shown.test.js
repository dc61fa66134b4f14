// What the page at / says and shows is so, in Chromium against running daemons: words without spaces, text from right
// to left, long sentences, a busy server, paper.

import assert from "node:assert/strict";
import {describe, it} from "node:test";
import {Daemon, bundled, eventually, launch, visitingWith} from "./page.js";

const STATION = "Where is the train station?";
const PHONE = "I would have called you yesterday, but I lost my phone.";
const TO_JAPANESE = [
    "I would like to go to the station, but I lost my map.", "What time does the train leave?", "I want to eat something warm.", "She does not have to come tomorrow.",
    "The children are playing in the garden.", "Could you tell me where the post office is?", "I have never been to Kyoto.", "We sing.",
    "The book that you gave me is very interesting.", "It began to rain, so we went home.", "You should not have said that.", "My brother works in a big company.",
];
const N_LONG = 187;

const [browser, ...daemons] = await Promise.all([
    launch(), Daemon.start(), Daemon.start("--model", bundled("en-ja")), Daemon.start("--source-lang", "en", "--target-lang", "he"), Daemon.start("--max-text-chars", "200"),
    Daemon.start("--alignment-layers", "1", "--alignment-heads", "3"),
]);
const [daemon, japanese, hebrew, guarded, aligned] = daemons;
process.on("exit", () => daemons.forEach((one) => one.process.kill("SIGKILL")));
const visiting = visitingWith(browser, daemon);

describe("words and pieces", () => {
    for (const [part, sentences] of [["first", TO_JAPANESE.slice(0, 6)], ["last", TO_JAPANESE.slice(6)]])
        visiting(`every Japanese word has the row of its piece, the ${part} six sentences`, async (visit, page) => {
            for (const q of sentences) {
                await visit.open({q, target: "ja"});
                await visit.linked();
                const words = await page.locator(".words[aria-label^='Translation'] .word").all();
                assert.ok(words.length > 2);
                for (const word of words) {
                    const text = await word.textContent();
                    await word.click();
                    const piece = await page.textContent("#pieces [aria-selected=true] span");
                    assert.ok([...text].some((letter) => piece.includes(letter)), `${text} of ${q}: ${piece}`);
                    assert.doesNotMatch(await page.textContent("#links-note"), /100 %/, text);
                }
            }
        }, {on: japanese});

    visiting("a piece of two words gives its row to both, and its weight in parts", async (visit, page) => {
        await visit.open();
        const linked = await page.evaluate(async () => {
            const {linkWords} = await import("/web/words.js");
            const token = (begin, end) => ({begin_utf16: begin, end_utf16: end});
            const sentence = {source: {text: "of the sea", begin_utf16: 0}, target: {text: "vom Meer", begin_utf16: 0}};
            const inspector = {sentence, sources: [token(0, 6), token(7, 10)], outputs: [token(0, 8), {special: true}], alignment: Float32Array.of(0.5, 0.25, 0, 1)};
            const {sources, targets} = linkWords(inspector, "en", "de");
            return [targets.map(({steps}) => steps), targets[0].from.map(({index, weight}) => [index, weight]).sort(), targets[1].rest, sources.length];
        });
        assert.deepEqual(linked[0], [[0], [0]]);
        assert.deepEqual(linked[1].map(([index]) => index), [0, 1, 2]);
        linked[1].forEach(([index, weight]) => assert.ok(Math.abs(weight - [0.2, 0.3, 0.25][index]) < 1e-6, `${index}: ${weight}`));
        assert.ok(Math.abs(linked[2] - 0.25) < 1e-6);
        assert.equal(linked[3], 3);
    });
});

describe("what belongs to the text that is there", () => {
    visiting("everything is grey while another text is on its way", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        let release;
        const held = new Promise((resolve) => (release = resolve));
        await page.route("**/translate", async (route) => {
            await held;
            await route.continue();
        });
        await page.getByLabel("Text to translate").press("End");
        await page.keyboard.type("!");
        for (const selector of ["#inside", "#alternatives"])
            assert.match(await page.getAttribute(selector, "class"), /stale/, selector);
        assert.equal(await page.getAttribute("#translation", "aria-busy"), "true");
        release();
        await visit.linked();
        assert.doesNotMatch(await page.getAttribute("#alternatives", "class"), /stale/);
        await eventually(async () => assert.equal(await page.getAttribute("#translation", "aria-busy"), "false"));
    });

    visiting("another translation that was taken and the step are in the address", async (visit, page) => {
        await visit.open({q: `Thank you. ${PHONE}`});
        await visit.linked();
        await page.click("#sentences [aria-label='Next sentence']");
        await eventually(async () => assert.equal(await page.textContent("#alternatives h3"), "Other translations of sentence 2"));
        await visit.linked();
        const text = await page.locator(".alternative").first().textContent();
        await page.locator(".alternative").first().click();
        await visit.linked();
        await eventually(async () => assert.ok((await page.textContent("#translation")).endsWith(text)));
        await page.locator("#pieces .piece").nth(2).click();
        await page.waitForSelector(".bars .written");
        const said = await page.textContent("#step h3");
        await page.reload();
        await visit.linked();
        await page.waitForSelector(".bars .written");
        assert.ok((await page.textContent("#translation")).endsWith(text));
        assert.equal((await page.textContent("#sentences span")).trim(), "Sentence 2 of 2");
        assert.equal(await page.textContent("#step h3"), said);
        // Of another text it says nothing.
        await page.fill("#source-text", STATION);
        await eventually(async () => assert.doesNotMatch(page.url(), /taken|sentence|step/));
    });

    visiting("cross attention is first that of the head that aligns", async (visit, page) => {
        await visit.open({q: STATION});
        await visit.linked();
        const {alignment} = (await aligned.attention({q: STATION})).sentences[0];
        assert.deepEqual([alignment.layers, alignment.heads], [[1], [3]]);
        await page.check("#kind [value=cross]");
        await eventually(async () => assert.deepEqual([await page.inputValue("#layer"), await page.inputValue("#head")], ["1", "3"]));
        await page.click("#open-why");
        await page.waitForSelector(".moment[data-at='translation 6 0 1 3']");
        await page.check("#kind [value=encoder]");
        await eventually(async () => assert.deepEqual([await page.inputValue("#layer"), await page.inputValue("#head")], ["0", "mean"]));
    }, {on: aligned});
});

describe("directions and lengths", () => {
    visiting("a translation from right to left begins on the right", async (visit, page) => {
        await visit.open({q: PHONE, target: "he"});
        await visit.linked();
        const sides = await page.evaluate(() => ["#translation", ".words[aria-label^=Translation]", ".words[aria-label^=Source]", "#source-text", "#pieces", ".alternative"].map((one) => getComputedStyle(document.querySelector(one)).direction));
        assert.deepEqual(sides, ["rtl", "rtl", "ltr", "ltr", "rtl", "rtl"]);
        const [first, last] = await page.$$eval(".words[aria-label^=Translation] .word", (all) => [all[0], all.at(-1)].map((one) => one.getBoundingClientRect()));
        assert.ok(first.top < last.top || first.left > last.left, "the first word stands on the right");
        await page.locator(".words[aria-label^=Translation] .word").first().focus();
        await page.keyboard.press("ArrowLeft");
        assert.ok(await page.$$eval(".words[aria-label^=Translation] .word", (all) => document.activeElement === all[1]));
    }, {on: hebrew});

    for (const width of [1280, 390])
        visiting(`a sentence of ${N_LONG} words wraps in bands, ${width} pixels wide`, async (visit, page) => {
            const q = `${Array.from({length: N_LONG - 1}, (_, i) => ["the", "old", "man", "went", "down", "to", "sea", "and"][i % 8]).join(" ")} again.`;
            await page.goto(`${daemon.url}/`);
            await page.waitForSelector("html[data-ready]");
            await page.fill("#source-text", q);
            await visit.linked();
            const {inside, wide, height} = await page.evaluate(() => ({
                inside: document.querySelector(".strip").scrollWidth - document.querySelector("#links").clientWidth,
                wide: document.documentElement.scrollWidth,
                height: document.documentElement.scrollHeight,
            }));
            assert.ok(inside <= 0 && wide === width, `${inside} ${wide}`);
            assert.ok(height < 6000, `the page is ${height} pixels long`);
            const lines = await page.$$eval(".words", (all) => all.map((line) => line.getBoundingClientRect().height));
            assert.ok(lines.length > 4 && Math.max(...lines) < 50, lines.join());
        }, {options: {viewport: {width, height: 844}}});

    visiting("other translations fold after three lines", async (visit, page) => {
        await visit.open({q: `${PHONE.slice(0, -1)}, and ${PHONE.replace("I", "then I")}`});
        await visit.linked();
        const lines = () => page.$$eval(".alternative span", (all) => all.map((one) => Math.round(one.clientHeight / parseFloat(getComputedStyle(one).lineHeight))));
        assert.equal(Math.max(...(await lines())), 3);
        await page.getByRole("button", {name: "All of it"}).first().click();
        assert.ok(Math.max(...(await lines())) > 3);
    }, {options: {viewport: {width: 320, height: 700}}});

    visiting("other translations show what is different in them", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        const first = (await page.textContent("#translation")).match(/\p{L}+/gu);
        const other = page.locator(".alternative").first();
        const marked = await other.locator("mark").allTextContents();
        assert.ok(marked.length > 0);
        const words = (await other.textContent()).match(/\p{L}+/gu);
        words.filter((word) => !first.includes(word)).forEach((word) => assert.ok(marked.includes(word), word));
        assert.ok(marked.length < words.length, "not all of it is different");
    });

    visiting("small maps of many tokens keep their largest weights", async (visit, page) => {
        await visit.open();
        const [small, same] = await page.evaluate(async () => {
            const {shrunk} = await import("/web/grid.js");
            const values = new Float32Array(301 * 200);
            values[300 * 200 + 199] = 0.9;
            values[150 * 200 + 7] = 0.4;
            const {values: out, columns} = shrunk(values, 200);
            return [[columns, out.length / columns, [...out].filter((x) => x > 0).map((x) => x.toFixed(1)), out.at(-1).toFixed(1)], shrunk(values.subarray(0, 100 * 100), 100).columns];
        });
        assert.deepEqual(small, [100, 101, ["0.4", "0.9"], "0.9"]);
        assert.equal(same, 100);
    });
});

describe("a server that refuses", () => {
    visiting("characters are counted against its limit, and nothing is sent beyond", async (visit, page) => {
        await visit.open();
        await page.fill("#source-text", "We sing. ".repeat(19).trim());
        await eventually(async () => assert.equal(await page.textContent("#count"), "170 of 200 characters"));
        await visit.linked();
        const asked = visit.requests.length;
        await page.fill("#source-text", "x".repeat(560));
        await eventually(async () => assert.match(await page.textContent("#error"), /^This text has 560 characters; this server takes 200 at a time\./));
        assert.equal(await page.textContent("#count"), "560 of 200 characters");
        assert.equal(visit.requests.slice(asked).filter((request) => request.url().endsWith("/translate")).length, 0);
    }, {on: guarded});

    visiting("is waited for after 429, and the page says how long", async (visit, page) => {
        let n = 0;
        await page.route("**/translate", (route) => (n++ ? route.continue() : route.fulfill({status: 429, headers: {"Retry-After": "2"}, body: '{"error":"Slowdown: 4 per 1 minute"}'})));
        await page.goto(`${daemon.url}/?${new URLSearchParams({source: "en", target: "de", q: STATION})}`);
        await eventually(async () => assert.equal(await page.textContent("#waiting"), "You have asked this server more often than it allows: the page tries again in 2 seconds."));
        await visit.linked();
        assert.equal(n, 2);
        assert.equal(await page.isVisible("#waiting"), false);
    }, {allowing: /429/});

    visiting("says so in plain words where it would take long", async (visit, page) => {
        const answers = [[429, "Slowdown: 20 per 1 hour", "1500", /^You have asked this server more often than it allows\. Try again in 25 minutes\./], [429, "Slowdown: 1000 characters per 1 day", "7200", /^This server translates no more characters for you today\. Try again in 2 hours\./],
            [403, "Too many request limits violations", null, /too often, and it no longer answers you/], [502, null, null, /does not answer\. Your text is still here/], [400, "Invalid request: something odd", null, /^Something odd/]];
        for (const [status, error, after, expected] of answers) {
            await page.unroute("**/translate");
            await page.route("**/translate", (route) => route.fulfill({status, headers: after ? {"Retry-After": after} : {}, body: error ? JSON.stringify({error}) : "<html>Bad gateway</html>"}));
            await visit.open({q: STATION});
            await eventually(async () => assert.match(await page.textContent("#error"), expected));
        }
    }, {allowing: /40\d|429|502/});
});

describe("the end", () => {
    it("lets the daemons stop in good order", async () => {
        await browser.close();
        for (const one of daemons)
            assert.equal(await one.stop(), 0, one.log);
    });
});
