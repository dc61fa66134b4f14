// What the page at / says and shows is so, in Chromium against running daemons: words without spaces, text from right
// to left, long sentences, a busy server, paper.

import assert from "node:assert/strict";
import {mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {describe, it} from "node:test";
import {Daemon, barriers, bundled, eventually, launch, visitingWith} from "./page.js";

const STATION = "Where is the train station?";
const PHONE = "I would have called you yesterday, but I lost my phone.";
const TO_JAPANESE = [
    "I would like to go to the station, but I lost my map.", "What time does the train leave?", "I want to eat something warm.", "She does not have to come tomorrow.",
    "The children are playing in the garden.", "Could you tell me where the post office is?", "I have never been to Kyoto.", "We sing.",
    "The book that you gave me is very interesting.", "It began to rain, so we went home.", "You should not have said that.", "My brother works in a big company.",
];
const N_LONG = 187;

/** The bundled English-German model, whose alignment is that of head 7 of layer 0 alone. */
function makeAligned() {
    const folder = mkdtempSync(path.join(tmpdir(), "aligned-"));
    const original = bundled("en-de"), own = "attentiond.json";
    for (const name of readdirSync(original))
        if (name !== own)
            symlinkSync(path.join(original, name), path.join(folder, name));
    writeFileSync(path.join(folder, own), JSON.stringify({...JSON.parse(readFileSync(path.join(original, own), "utf8")), alignment_layers: "0", alignment_heads: "7"}));
    return folder;
}

const alignedModel = makeAligned();
const [browser, ...daemons] = await Promise.all([
    launch(), Daemon.start(), Daemon.start("--model", bundled("en-ja")), Daemon.start("--source-lang", "en", "--target-lang", "he"), Daemon.start("--max-text-chars", "200"),
    Daemon.start("--model", alignedModel),
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
                    assert.doesNotMatch(await page.textContent("#links-note"), /100 % went to/, text);
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
        assert.deepEqual([alignment.layers, alignment.heads], [[0], [7]]);
        await page.check("#kind [value=cross]");
        await eventually(async () => assert.deepEqual([await page.inputValue("#layer"), await page.inputValue("#head")], ["0", "7"]));
        await page.click("#open-why");
        await page.waitForSelector(".moment[data-at^='translation '][data-at$=' 0 0 7']");
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
        const edges = await page.$$eval(".alternative", (all) => all.map((one) => Math.abs(one.getBoundingClientRect().right - document.querySelector("#alternatives ul").getBoundingClientRect().right)));
        assert.ok(edges.length && Math.max(...edges) < 12, `other translations end ${edges} pixels from the right`);
        // The steps scroll to the one that is looked at.
        await page.setViewportSize({width: 390, height: 844});
        await page.click("#open-why");
        for (const step of [0, 5, 9]) {
            await page.locator(".player-strip.pieces [role=option]").nth(step).click();
            await page.waitForSelector(`.moment[data-at^="translation 6 ${step} "]:not([aria-busy])`);
            const [one, all] = await page.$$eval(".player-strip.pieces [aria-selected=true], .player-strip.pieces", (nodes) => nodes.map((node) => node.getBoundingClientRect()).sort((a, b) => a.width - b.width));
            assert.ok(one.left >= all.left && one.right <= all.right, `step ${step} is at ${one.left} to ${one.right} in ${all.left} to ${all.right}`);
        }
        // What was read stands on the right there, and the arrow leads from it to what was written.
        assert.match(await page.locator(".player-strip.pieces [role=option]").nth(1).textContent(), /\u2068.+\u2069 ← \u2068.+\u2069/);
    }, {on: hebrew});

    visiting("a line of one language alone is not named after the other", async (visit, page) => {
        await visit.open({q: "I would like to go to the station tomorrow.", target: "ja"});
        await visit.linked();
        const rows = await page.$$eval(".strip .words, .strip .side", (all) => all.map((row) => (row.ariaLabel ?? row.textContent).split(",")[0]));
        assert.deepEqual(rows, ["Source", "Source", "Translation", "Translation", "Source"]);
        assert.ok(await page.$$eval(".strip .words", (all) => all.every((row) => row.querySelector(".word"))));
        assert.equal(await page.isVisible(".steps-note"), false); // nor is there an arrow that is not drawn
    }, {on: japanese, options: {viewport: {width: 390, height: 844}}});

    visiting("names of columns do not stand on each other where these are narrow", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        const distances = await page.evaluate(async () => {
            const {slantOf} = await import("/web/heatmap.js");
            return [15, 16, 20, 52].map((width) => width * Math.sin(slantOf(width)));
        });
        assert.ok(Math.min(...distances) >= 14, distances.join());
    });

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
            // A line into another band goes all the way, from a word of the source to one of the translation.
            const broken = await page.evaluate(() => {
                const box = document.querySelector(".strip").getBoundingClientRect();
                const isNear = (x, y, side) => [...document.querySelectorAll(`.words[aria-label^=${side}] .word`)].some((word) => {
                    const {left, right, top, bottom} = word.getBoundingClientRect();
                    return x > left - box.left - 1 && x < right - box.left + 1 && Math.min(Math.abs(y - top + box.top), Math.abs(y - bottom + box.top)) < 2;
                });
                const ends = [...document.querySelectorAll(".thread")].map((path) => path.getAttribute("d").match(/-?[\d.]+/g).map(Number));
                return ends.filter((all) => all.length !== 8 || !isNear(all[0], all[1], "Source") || !isNear(all[6], all[7], "Translation"));
            });
            assert.deepEqual(broken, []);
            await page.fill("#source-text", `Donau${"dampfschiff".repeat(30)}`); // one word that fits nowhere
            await eventually(async () => assert.match(await page.locator(".words").first().textContent(), /^Donau/));
            await visit.linked();
            assert.equal(await page.$eval("#links", (box) => box.scrollWidth - box.clientWidth), 0);
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

/** A picture in pixels: {width, height, colours}. */
const pixels = (page, bytes) => page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const all = context.getImageData(0, 0, canvas.width, canvas.height).data;
    return {width: canvas.width, height: canvas.height, colours: new Set(new Uint32Array(all.buffer)).size};
}, bytes.toString("base64"));

/** What an SVG is made of: its texts, and how many of each element. */
const partsOf = (page, bytes) => page.evaluate((text) => {
    const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const count = (tag) => root.querySelectorAll(tag).length;
    return {texts: [...root.querySelectorAll("text")].map((one) => one.textContent), n: Object.fromEntries(["rect", "path", "image", "parsererror"].map((tag) => [tag, count(tag)])), strokes: new Set([...root.querySelectorAll("path")].map((path) => path.getAttribute("stroke"))).size};
}, bytes.toString());

describe("pictures", () => {
    visiting("are of what is shown, with pieces as the page writes them", async (visit, page) => {
        await visit.open({q: PHONE, hash: "#view=map&kind=cross&layer=1&head=2"});
        await visit.linked();
        const [sentence] = (await daemon.attention({q: PHONE})).sentences;
        const [nRows, nColumns] = [sentence.output_tokens.length, sentence.source_tokens.length];
        const seen = {};
        for (const [view, ready, name] of [["map", "#map-note:not(:empty)", "attention-cross-layer1-head2"], ["grid", ".thumb.ready", "attention-cross-all-heads"], ["head", ".tokens .token", "attention-cross-layer1-head2-lines"]]) {
            await page.click(`#tab-${view}`);
            await page.waitForSelector(ready);
            await page.waitForSelector(`#view-${view}:not([aria-busy])`);
            const svg = await visit.download("#downloads [data-format=svg]");
            assert.equal(svg.name, `${name}.svg`);
            seen[view] = await partsOf(page, svg.bytes);
            assert.equal(seen[view].n.parsererror, 0);
            assert.ok(seen[view].texts.every((text) => !text.includes("▁")), "pieces as the page writes them");
            const png = await visit.download("#downloads [data-format=png]");
            assert.equal(png.name, `${name}.png`);
            const {width, height, colours} = await pixels(page, png.bytes);
            assert.ok(width > 300 && height > 300 && colours > 20, `${view}: ${width} x ${height}, ${colours} colours`);
        }
        assert.equal(seen.map.n.rect, nRows * nColumns + 1);
        assert.ok(seen.map.texts.includes("yesterday"));
        assert.deepEqual([seen.grid.n.image, seen.grid.n.rect], [24, 25]);
        assert.equal(seen.head.n.path, await page.evaluate(() => document.querySelectorAll(".tokens li").length) && sentenceLines(await head(1, 2)));
        assert.ok(seen.head.texts.includes("phone"));
    });

    const head = async (layer, one, q = PHONE) => (await daemon.attention({q, kinds: ["cross"], layers: [layer], heads: [one]})).sentences[0].cross[0][0];
    const sentenceLines = (matrix, least = 0.02) => matrix.flat().filter((weight) => weight >= least).length;

    visiting("of the links can be saved", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        const {texts, n} = await partsOf(page, (await visit.download("#link-downloads [data-format=svg]")).bytes);
        assert.equal(n.path, await page.locator(".thread").count());
        for (const word of ["yesterday", "gestern", "Telefon"])
            assert.ok(texts.includes(word), word);
        const {width, height, colours} = await pixels(page, (await visit.download("#link-downloads [data-format=png]")).bytes);
        assert.ok(width > 1000 && height > 200 && colours > 20, `${width} x ${height}, ${colours}`);
    });

    visiting("several heads have colours of their own, above a threshold", async (visit, page) => {
        await visit.open({q: PHONE, hash: "#view=head&kind=cross&layer=1&head=2"});
        await visit.linked();
        await page.click("#heads [data-head='1']");
        await page.click("#heads [data-head='4']");
        await page.waitForSelector("#view-head:not([aria-busy])");
        assert.match(page.url(), /heads=1%2C4/);
        await page.fill("#threshold", "20");
        assert.equal(await page.textContent("#threshold-value"), "20 %");
        const {strokes, n, texts} = await partsOf(page, (await visit.download("#downloads [data-format=svg]")).bytes);
        assert.equal(n.path, sentenceLines(await head(1, 1), 0.2) + sentenceLines(await head(1, 4), 0.2));
        assert.equal(strokes, 2);
        assert.ok(texts.includes("cross attention, layer 1, heads 1, 4"));
        await page.reload();
        await visit.linked();
        await eventually(async () => assert.deepEqual(await page.$$eval("#heads [aria-pressed=true]", (all) => all.map((one) => one.textContent)), ["1", "4"]));
        await page.selectOption("#head", "0");
        await eventually(async () => assert.equal(await page.locator("#heads [aria-pressed=true]").count(), 0));
        await visit.shot("heads", "#viewer");
    });

    visiting("positions have axes, and another base", async (visit, page) => {
        await visit.open({q: STATION, hash: "#view=positions"});
        await visit.linked();
        await page.waitForSelector("#positions-note:not(:empty)");
        await eventually(async () => assert.match(await page.textContent("#positions-note"), /fastest wave takes 6\.28 positions, the slowest 58,500/));
        const point = async () => {
            const canvas = page.locator(".positions canvas");
            const {width} = await canvas.boundingBox();
            for (const x of [20.3, 20.5]) // a pointer that rests says nothing
                await canvas.hover({position: {x: 52 + ((width - 66) * x) / 256, y: 44 + (320 * 9.5) / 64}});
            return page.textContent("#positions-note");
        };
        const {matrix} = await (await fetch(`${daemon.url}/positions?n=64`)).json();
        await eventually(async () => assert.ok((await point()).startsWith(`Position 9, dimension 20: sin(9 / 10000^(40/256)) = ${matrix[9][20].toFixed(3).replace("-", "−")};`), await point()));
        await page.fill("#positions-base", "2");
        assert.equal(await page.textContent("#positions-base-value"), "100");
        await eventually(async () => assert.ok((await point()).startsWith(`Position 9, dimension 20: sin(9 / 100^(40/256)) = ${Math.sin(9 / 100 ** (40 / 256)).toFixed(3).replace("-", "−")};`), await point()));
        const {texts, n} = await partsOf(page, (await visit.download("#downloads [data-format=svg]")).bytes);
        assert.equal(n.image, 1);
        for (const text of ["dimension", "position", "0", "32", "Positional encoding, concatenated, base 100"])
            assert.ok(texts.includes(text), text);
        await visit.shot("positions-base", "#viewer");
    });

    visiting("an empty view says that there is nothing to save", async (visit, page) => {
        await page.route("**/positions?*", (route) => route.fulfill({status: 400, body: '{"error":"the model\'s positions are learned"}'}));
        await visit.open({q: STATION, hash: "#view=positions"});
        await visit.linked();
        await page.click("#downloads [data-format=png]");
        await eventually(async () => assert.equal(await page.textContent("#download-note"), "PNG: there is nothing to save yet."));
    }, {allowing: /400/});
});

describe("paper, few colours, no script", () => {
    visiting("paper has pictures that are not cut, black on white", async (visit, page) => {
        await visit.open({q: `${PHONE.slice(0, -1)}, and ${PHONE}`, hash: "#view=map&kind=alignment"});
        await visit.linked();
        await page.waitForSelector("#map-note:not(:empty)");
        const before = await page.evaluate(() => document.documentElement.dataset.theme);
        await page.evaluate(() => window.addEventListener("beforeprint", () => (window.printed = {
            theme: document.documentElement.dataset.theme, text: document.querySelector("#source-marks").textContent, pictures: [...document.querySelectorAll(".paper svg")].map((svg) => [svg.parentElement.parentElement.id, svg.querySelector("rect").getAttribute("fill"), svg.querySelector("text").textContent]),
        })));
        const pdf = await page.pdf({format: "A4"});
        assert.ok(pdf.length > 10_000);
        const {theme, text, pictures} = await page.evaluate(() => window.printed);
        assert.equal(text, await page.inputValue("#source-text"));
        assert.deepEqual([before, theme], ["dark", "light"]);
        assert.ok(pictures.some(([where]) => where === "links") && pictures.some(([where]) => where === "map"), JSON.stringify(pictures));
        for (const [, fill] of pictures)
            assert.match(fill, /^#f/);
        await page.emulateMedia({media: "print"});
        await page.setViewportSize({width: 718, height: 1000}); // A4 between its margins
        const [paper, rights] = await page.evaluate(() => [document.documentElement.clientWidth, [...document.querySelectorAll(".paper svg, .card, #translation")].map((one) => one.getBoundingClientRect().right)]);
        assert.ok(rights.length > 4 && rights.every((right) => right <= paper), rights.join());
        for (const selector of [".strip", ".matrix", "#source-text", "#why", "#compare"]) // what was not opened has only a button
            assert.equal(await page.isVisible(selector), false, selector);
        await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark"));
    }, {options: {colorScheme: "dark"}});

    visiting("forced colours keep bars and legend", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        await page.locator("#pieces .piece").nth(2).click();
        await page.waitForSelector(".bars .written");
        const [bar, paper, ...legend] = await page.evaluate(() => [".bars .track i", ".card", "#legend span:nth-child(1) i", "#legend span:nth-child(4) i"].map((one) => getComputedStyle(document.querySelector(one)).backgroundColor));
        assert.notEqual(bar, paper);
        assert.notEqual(legend[0], legend[1]);
        await visit.shot("forced-colours");
    }, {options: {forcedColors: "active"}});

    visiting("without JavaScript there is a form for this server", async (visit, page) => {
        await page.goto(`${daemon.url}/`);
        assert.doesNotMatch(await page.content(), /localhost:5000/);
        assert.equal(await page.isVisible("#source-text"), false);
        await page.getByLabel("Text", {exact: true}).fill(STATION);
        await page.getByRole("button", {name: "Translate"}).click();
        await page.waitForURL(`${daemon.url}/translate`);
        assert.match(await page.content(), /Wo ist der Bahnhof/);
    }, {options: {javaScriptEnabled: false}, allowing: /404/});
});

describe("every view", () => {
    const VIEWS = {map: "&layer=1&head=2", grid: "", head: "&layer=1&head=2&heads=1%2C4", positions: ""};
    const ready = async (page, view) => {
        await page.waitForSelector({map: "#map-note:not(:empty)", grid: ".thumb.ready", head: ".tokens .token", positions: "#positions-note:not(:empty)"}[view]);
        await page.waitForSelector(`#view-${view}:not([aria-busy])`);
    };

    for (const colorScheme of ["light", "dark"])
        visiting(`has no barriers that axe-core knows, in ${colorScheme}`, async (visit, page) => {
            for (const [view, rest] of Object.entries(VIEWS)) {
                await visit.open({q: PHONE, hash: `#view=${view}&kind=cross${rest}`});
                await visit.linked();
                await ready(page, view);
                assert.deepEqual(await barriers(page), [], view);
            }
            await page.fill("#source-text", `${PHONE} `.repeat(4).replaceAll(".", ","));
            await visit.linked();
            assert.deepEqual(await barriers(page), [], "bands");
        }, {options: {colorScheme}});

    visiting("fits every width", async (visit, page) => {
        for (const width of [390, 768, 1280, 2560]) {
            await page.setViewportSize({width, height: 900});
            for (const [view, rest] of Object.entries(VIEWS)) {
                await visit.open({q: `${PHONE} `.repeat(3).replaceAll(".", ","), hash: `#view=${view}&kind=cross${rest}`});
                await visit.linked();
                await ready(page, view);
                assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, `${view} at ${width}`);
            }
        }
    });
});

describe("the end", () => {
    it("lets the daemons stop in good order", async () => {
        await browser.close();
        rmSync(alignedModel, {recursive: true});
        for (const one of daemons)
            assert.equal(await one.stop(), 0, one.log);
    });
});
