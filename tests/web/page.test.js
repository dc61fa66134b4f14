// The page at / as people use it, in Chromium against a running daemon.

import assert from "node:assert/strict";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {describe, it} from "node:test";
import {Daemon, SHOTS, SLOWNESS, Visit, barriers, eventually, launch, visitingWith} from "./page.js";
import {takePicture} from "./picture.js";

const STATION = "Where is the train station?";
const PHONE = "I would have called you yesterday, but I lost my phone.";
// Long enough that the views have to scroll.
const LONG = "When the old man who had lived by the sea for more than forty years finally came back to the village where he was born, nobody recognised him, " +
    "because his hair had turned white and his voice had become so quiet that even his sister did not know who he was.";
const N_CANDIDATES = 10;
// More tokens than the model takes at a time, and not one full stop.
const ENDLESS = `${Array(120).fill("The old man went down to the sea").join(" and ")}.`;
// 2,000 words of several paragraphs: how a chapter begins, and all of it, twice.
const PARAGRAPHS = readFileSync(new URL("chapter.txt", import.meta.url), "utf8").trimEnd().split("\n\n");
const CHAPTER = [...PARAGRAPHS.slice(0, 5), ...PARAGRAPHS, ...PARAGRAPHS].join("\n\n");

// Not in a hook: those of the outermost level are not run by node 18.
const [daemon, browser] = await Promise.all([Daemon.start(), launch()]);
process.on("exit", () => daemon.process.kill("SIGKILL"));

const visiting = visitingWith(browser, daemon);

/** The open table of numbers, as the view has them. */
function tableOf(page) {
    return page.$$eval("#table tbody tr", (rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.textContent))));
}

function assertClose(seen, expected, tolerance) {
    assert.deepEqual(seen.map((row) => row.length), expected.map((row) => row.length));
    seen.forEach((row, i) => row.forEach((value, j) => assert.ok(Math.abs(value - expected[i][j]) <= tolerance, `[${i}, ${j}]: ${value}, expected ${expected[i][j]}`)));
}

describe("translating", () => {
    visiting("translates what is typed and links the words of both", async (visit, page) => {
        await visit.open();
        await eventually(async () => assert.equal(await page.isVisible("#inside"), false));
        await page.getByLabel("Text to translate").pressSequentially(STATION, {delay: 5});
        await visit.linked();
        await eventually(async () => assert.equal(await page.textContent("#translation"), "Wo ist der Bahnhof?"));
        await eventually(async () => assert.match(await page.textContent("#status"), /Translation: Wo ist der Bahnhof\?/));
        await visit.targetWord("Bahnhof").hover();
        await eventually(async () => assert.match(await page.textContent("#links-note"), /^Bahnhof looked at (train|station) \d+ %/));
        for (const word of ["train", "station"])
            await eventually(async () => assert.match(await visit.sourceWord(word).getAttribute("class"), /linked/));
        await eventually(async () => assert.doesNotMatch(await visit.sourceWord("Where").getAttribute("class"), /linked/));
        await eventually(async () => assert.ok((await page.locator(".thread.active").count()) >= 2));
        assert.ok(await page.$eval("#links", (box) => box.scrollWidth === box.clientWidth && box.querySelectorAll(".band").length === 1), "a short sentence fits");
        await visit.shot("links");
        await visit.sourceWord("Where").hover();
        await eventually(async () => assert.match(await page.textContent("#links-note"), /^Where was looked at by Wo/));
    });

    visiting("aborts the request before when more is typed", async (visit, page) => {
        const failed = [];
        page.on("requestfailed", (request) => failed.push(JSON.parse(request.postData()).q));
        await visit.open();
        let release;
        const held = new Promise((resolve) => (release = resolve));
        await page.route("**/translate", async (route) => {
            if (JSON.parse(route.request().postData()).q === "Thank you.")
                await held;
            await route.continue().catch(() => {});
        });
        const [first] = await Promise.all([page.waitForRequest("**/translate"), page.fill("#source-text", "Thank you.")]);
        assert.equal(JSON.parse(first.postData()).q, "Thank you.");
        await page.fill("#source-text", STATION);
        await visit.linked();
        release();
        await eventually(() => assert.deepEqual(failed, ["Thank you."]));
        await eventually(async () => assert.equal(await page.textContent("#translation"), "Wo ist der Bahnhof?"));
    });

    visiting("waits for a pause in typing before it asks", async (visit, page) => {
        const asked = () => visit.requests.filter((request) => request.url().endsWith("/translate")).length;
        await page.clock.install();
        await visit.open();
        // The page's time passes as the test says, because on a busy machine there are pauses between the keys, too.
        await page.clock.pauseAt(Date.now() + 60_000);
        for (const letter of "Thank you.") {
            await page.getByLabel("Text to translate").pressSequentially(letter);
            await page.clock.runFor(100);
        }
        assert.equal(asked(), 0);
        await page.clock.resume();
        await visit.linked();
        assert.equal(asked(), 1);
    });

    visiting("shows alternatives, and the attention of the one that is chosen", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        const first = await page.textContent("#translation");
        const other = page.locator(".alternative").first();
        const text = await other.textContent();
        assert.notEqual(text, first);
        const [request] = await Promise.all([page.waitForRequest((one) => one.url().endsWith("/attention") && one.postData().includes("target_text")), other.click()]);
        assert.equal(JSON.parse(request.postData()).target_text, text);
        await visit.linked();
        await eventually(async () => assert.equal(await page.textContent("#translation"), text));
        await eventually(async () => assert.equal(await page.locator(".words").nth(1).textContent(), text));
        await eventually(async () => assert.ok((await page.locator(".alternative").allTextContents()).includes(first)));
    });

    visiting("copies the translation", async (visit, page) => {
        await visit.context.grantPermissions(["clipboard-read", "clipboard-write"]);
        await visit.open({q: STATION});
        await page.click("#copy");
        await page.waitForFunction(() => document.querySelector("#copy")?.textContent === "Copied");
        await eventually(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "Wo ist der Bahnhof?"));
    });

    visiting("opens a deep link and keeps the address up to date", async (visit, page) => {
        await visit.open({q: "Thank you & good luck?", hash: "#view=head&kind=encoder&layer=3&head=2"});
        await visit.linked();
        await eventually(async () => assert.equal(await page.inputValue("#source-text"), "Thank you & good luck?"));
        await eventually(async () => assert.equal(await page.getAttribute("#tab-head", "aria-selected"), "true"));
        await eventually(async () => assert.deepEqual([await page.inputValue("#layer"), await page.inputValue("#head")], ["3", "2"]));
        await page.fill("#source-text", STATION);
        await page.waitForFunction((q) => new URLSearchParams(location.search).get("q") === q, STATION);
        const fields = new URL(page.url()).searchParams;
        assert.deepEqual([fields.get("source"), fields.get("target")], ["en", "de"]);
        await page.click("#clear");
        await page.waitForFunction(() => location.search === "");
        await eventually(async () => assert.equal(await page.isVisible("#inside"), false));
    });

    visiting("says which layer or heads of an address the model lacks", async (visit, page) => {
        await visit.open({q: STATION, hash: "#view=head&kind=cross&layer=77&head=66"});
        await eventually(async () => assert.equal(await page.textContent("#lacks"), "The model en-de has no cross.77: left out."));
        await page.evaluate(() => (location.hash = "#view=head&kind=cross&layer=1&head=2&heads=1,66"));
        await eventually(async () => assert.equal(await page.textContent("#lacks"), "The model en-de has no cross.1.66: left out."));
        await page.selectOption("#head", "3");
        await eventually(async () => assert.equal(await page.isVisible("#lacks"), false));
    });

    visiting("says when a linked language is not served", async (visit, page) => {
        await visit.open({q: STATION, target: "fr"});
        await visit.linked();
        await eventually(async () => assert.match(await page.textContent("#error"), /does not translate from English into French/));
        await eventually(async () => assert.equal(await page.inputValue("#target-lang"), "de"));
    });

    visiting("shows one sentence of several at a time, and any that is pointed at", async (visit, page) => {
        await visit.open({q: `Thank you. ${STATION} I am tired.`});
        await visit.linked();
        await eventually(async () => assert.equal((await page.textContent("#sentences span")).trim(), "Sentence 1 of 3"));
        await page.click("#sentences [aria-label='Next sentence']");
        await eventually(async () => assert.equal(await page.locator(".words").nth(0).textContent(), STATION));
        await page.locator("#translation .out").first().click();
        await eventually(async () => assert.equal((await page.textContent("#sentences span")).trim(), "Sentence 1 of 3"));
        await page.locator("#translation .out", {hasText: "Bahnhof"}).hover();
        await eventually(async () => assert.ok((await page.locator("#source-marks mark").allTextContents()).some((word) => /train|station/.test(word))));
    });

    visiting("links the sentences of a chapter as they are looked at", async (visit, page) => {
        assert.ok(CHAPTER.split(/\s+/).length > 2000);
        await visit.open();
        await page.fill("#source-text", CHAPTER);
        await visit.linked();
        const n = Number(/of (\d+)$/.exec((await page.textContent("#sentences span")).trim())[1]);
        assert.ok(n > 100, `${n} sentences`);
        assert.equal(await page.locator("#translation .sentence").count(), n);
        const gaps = (text) => text.match(/\n+/g);
        assert.deepEqual(gaps(await page.textContent("#translation")), gaps(CHAPTER));
        // What the model did not write so itself: a heading in capitals, and one without a full stop.
        for (const [index, source] of [[0, "CHAPTER THREE"], [1, "The keeper of the lamp"], [2, "The boat came at half past four, when nobody was waiting for it any more."], [n - 1, "\"Until it is light,\" she said."]]) {
            await page.locator("#translation .sentence").nth(index).locator(".out").first().click();
            await eventually(async () => assert.equal(await page.locator(".words").nth(0).textContent(), source));
            await visit.linked();
            assert.equal(await page.locator(".words").nth(1).textContent(), await page.locator("#translation .sentence").nth(index).textContent());
            await eventually(async () => assert.ok((await page.locator(".thread").count()) >= 1));
        }
        assert.equal(await page.isVisible("#error"), false);
        // On hover, the words of a sentence that was not looked at yet.
        await page.locator("#translation .sentence").nth(n - 9).locator(".out").first().hover();
        await eventually(async () => assert.ok((await page.locator("#source-marks mark").count()) >= 1));
        assert.equal(await page.textContent("#source-marks"), CHAPTER);
        const isInSight = await page.$eval("#source-marks mark", (mark) => {
            const [own, field] = [mark.getBoundingClientRect(), document.querySelector("#source-text").getBoundingClientRect()];
            return own.top >= field.top && own.bottom <= field.bottom;
        });
        assert.ok(isInSight, "the words that it came from are in sight");
        await visit.shot("chapter");
    });

    visiting("cuts a sentence that is too long for the model, says so, and links its pieces", async (visit, page) => {
        await visit.open();
        await page.fill("#source-text", `Thank you. ${ENDLESS} ${STATION}`);
        await visit.linked();
        assert.match(await page.textContent("#warnings li:first-child"), /^Sentence 2, “The old man went down .*…”: /);
        assert.match(await page.textContent("#warnings"), /was made in pieces, because the sentence is too long for the model\./);
        await page.locator("#warnings button").first().click();
        await eventually(async () => assert.equal((await page.textContent("#sentences span")).trim().slice(0, 10), "Sentence 2"));
        await visit.linked();
        await eventually(async () => assert.match(await page.locator(".words").nth(0).textContent(), /^The old man went/));
        assert.equal(await page.isVisible("#error"), false);
    });

    visiting("names the alternatives of one sentence of several, and puts one in its place", async (visit, page) => {
        const q = `Thank you.\n\n${PHONE}\n${STATION}`;
        await visit.open({q});
        await visit.linked();
        await page.click("#sentences [aria-label='Next sentence']");
        await eventually(async () => assert.equal(await page.textContent("#alternatives h3"), "Other translations of sentence 2"));
        const other = await page.locator(".alternative").first().textContent();
        assert.doesNotMatch(other, /\n/);
        const [first, , third] = await page.locator("#translation .sentence").allTextContents();
        await page.locator(".alternative").first().click();
        await eventually(async () => assert.equal(await page.textContent("#translation"), `${first}\n\n${other}\n${third}`));
        await visit.linked();
        await eventually(async () => assert.equal(await page.locator(".words").nth(1).textContent(), other));
        await eventually(async () => assert.equal((await page.textContent("#sentences span")).trim(), "Sentence 2 of 3"));
    });

    visiting("links what has placeholders in it", async (visit, page) => {
        await visit.open({q: "Thank you. The price is %d euros today. 😀 I am tired."});
        await visit.linked();
        await page.click("#sentences [aria-label='Next sentence']");
        await eventually(async () => assert.equal(await page.locator(".words").nth(0).textContent(), "The price is %d euros today."));
        await visit.linked();
        await eventually(async () => assert.match(await page.locator(".words").nth(1).textContent(), /%d/));
    });

    visiting("says in plain words what the server suspects, of any kind", async (visit, page) => {
        const warnings = [
            {kind: "repetition", sentence: 0, text: 0},
            {kind: "truncated", sentence: 1, text: 0},
            {kind: "numbers", sentence: 1, text: 0, missing: ["12", "7"], added: ["21"], repaired: ["12"]},
            {kind: "odd_spacing", sentence: 1, text: 0},
            {kind: "unsure", sentence: 0, text: 0},
            {kind: "length", model: "de-fr", sentence: 4, text: 0},
            {kind: "source_language", text: 0, language: "nl"},
        ];
        await page.route("**/translate", async (route) => {
            const response = await route.fetch();
            await route.fulfill({response, json: {...(await response.json()), warnings}});
        });
        await visit.open({q: `Thank you. ${PHONE}`});
        await visit.linked();
        assert.deepEqual(await page.locator("#warnings li").allTextContents(), [
            "Sentence 1, “Thank you.”: says the same over and over; is one that the model is unsure of.",
            "Sentence 2, “I would have called you …”: was cut off, because it grew too long; has other numbers than what it translates (missing: 12, 7; not in the source: 21; corrected to: 12); may be wrong: odd spacing.",
            "Sentence 5 of de-fr: is much longer or shorter than what it translates.",
            "The translation: comes from a text that seems to be in another language than the chosen one (language nl).",
        ]);
        await page.locator("#warnings button").nth(1).click();
        await eventually(async () => assert.equal((await page.textContent("#sentences span")).trim(), "Sentence 2 of 2"));
        await visit.shot("warnings", ".translate");
        // Another translation of a sentence is not the one that was warned of.
        await page.locator(".alternative").first().click();
        await eventually(async () => assert.deepEqual(await page.locator("#warnings li").count(), 3));
        assert.doesNotMatch(await page.textContent("#warnings"), /Sentence 2/);
        await page.unroute("**/translate");
        await page.fill("#source-text", STATION);
        await eventually(async () => assert.equal(await page.isVisible("#warnings"), false));
    });
});

/** Of the lines between the words of both sides: how many words each runs through, but for its own two. Those into another
 * band run behind the words between. */
function crossings(page) {
    return page.evaluate(() => {
        const bands = [...document.querySelectorAll(".band")].map((band) => band.getBoundingClientRect());
        const bandAt = (y) => bands.findIndex(({top, bottom}) => y >= top && y <= bottom);
        const words = [...document.querySelectorAll(".words .word")].map((word) => word.getBoundingClientRect());
        const box = document.querySelector(".threads").getBoundingClientRect();
        const isIn = (rect, x, y) => x > rect.left && x < rect.right && y > rect.top + 2 && y < rect.bottom - 2;
        return [...document.querySelectorAll(".thread")].map((path) => {
            const length = path.getTotalLength();
            const crossed = new Set();
            if (bandAt(path.getPointAtLength(0).y + box.top) !== bandAt(path.getPointAtLength(length).y + box.top))
                return 0;
            for (let i = 1; i < 60; i++) {
                const {x, y} = path.getPointAtLength((length * i) / 60);
                words.forEach((rect, k) => isIn(rect, x + box.left, y + box.top) && crossed.add(k));
            }
            return crossed.size;
        });
    });
}

describe("looking inside", () => {
    visiting("shows every kind, layer and head as the server has them", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        const reply = await daemon.attention({q: PHONE, kinds: ["cross", "encoder", "decoder"]});
        const [sentence] = reply.sentences;
        await page.click("#table summary");
        await eventually(async () => assertClose(await tableOf(page), sentence.alignment.matrix, 1e-3));
        await eventually(async () => assert.ok((await visit.colours("#map canvas")) > 50));
        await visit.shot("map", "#viewer");
        for (const [kind, layer, head] of [["cross", 2, 3], ["encoder", 3, 7], ["decoder", 1, 0]]) {
            await page.check(`#kind [value=${kind}]`);
            await page.selectOption("#layer", String(layer));
            await page.selectOption("#head", String(head));
            await page.waitForFunction((name) => document.querySelector("#table caption")?.textContent === name, `${kind} attention, layer ${layer}, head ${head}`);
            await eventually(async () => assertClose(await tableOf(page), sentence[kind][layer][head], 1e-3));
        }
        await page.selectOption("#head", "mean");
        await page.waitForFunction(() => /mean of all heads/.test(document.querySelector("#table caption")?.textContent));
        const heads = sentence.decoder[1];
        await eventually(async () => assertClose(await tableOf(page), heads[0].map((row, i) => row.map((_, j) => heads.reduce((sum, one) => sum + one[i][j] / heads.length, 0))), 1e-3));
    });

    visiting("names a step by what it read and what it wrote", async (visit, page) => {
        await visit.open({q: STATION});
        await visit.linked();
        await page.locator("#map .matrix").focus();
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("ArrowDown");
        await eventually(async () => assert.match(await page.textContent("#map-note"), /^Step 1, which read “Wo” and wrote “ist”, gave “Where” \d+ % of its attention\.$/));
        await page.keyboard.press("Enter");
        await page.waitForSelector(".bars");
        await eventually(async () => assert.match(await page.textContent("#step h3"), /Step 1: having read “Wo”, it wrote ist/));
    });

    visiting("shows all heads, and opens the one that is clicked", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        await page.click("#tab-grid");
        await page.waitForFunction(() => document.querySelectorAll(".thumb.ready").length === 24);
        await eventually(async () => assert.ok((await visit.colours(".thumb canvas")) > 10));
        await visit.shot("grid", "#viewer");
        await page.check("#kind [value=encoder]");
        await page.waitForFunction(() => document.querySelectorAll(".thumb.ready").length === 32);
        await page.locator(".thumb").first().focus();
        for (const key of ["ArrowDown", "ArrowRight", "ArrowRight"])
            await page.keyboard.press(key);
        await eventually(async () => assert.match(await page.textContent("#grid-note"), /^Layer 1, head 2: a row's largest weight is \d+ % on average/));
        await page.keyboard.press("Enter");
        await eventually(async () => assert.equal(await page.getAttribute("#tab-head", "aria-selected"), "true"));
        await eventually(async () => assert.deepEqual([await page.inputValue("#layer"), await page.inputValue("#head")], ["1", "2"]));
        assert.match(page.url(), /#view=head&kind=encoder&layer=1&head=2$/);
    });

    visiting("shows next tokens, their probabilities and the entropy for a token that is clicked", async (visit, page) => {
        await visit.open({q: PHONE, hash: "#view=head&kind=cross&layer=2&head=3"});
        await visit.linked();
        await page.waitForSelector(".tokens .token");
        await eventually(async () => assert.ok((await visit.colours("#lines canvas")) > 20));
        const {next_tokens: steps, output_tokens: outputs} = (await daemon.attention({q: PHONE, next_tokens: N_CANDIDATES})).sentences[0];
        const step = outputs.findIndex(({piece}) => piece === "▁Telefon");
        const token = page.locator(".tokens.left .token").nth(step);
        await token.hover();
        await eventually(async () => assert.match(await page.textContent("#lines-note"), /^in → Telefon: step \d+, looked most at phone, \d+ %\.$/));
        await visit.shot("head", "#viewer");
        await token.click();
        await page.waitForSelector(".bars .written");
        const names = await page.locator(".bars .name").allTextContents();
        assert.deepEqual(names, steps[step].top.map(({piece}) => piece.replaceAll("▁", " ").trim() || "␣"));
        const first = Math.round(Math.exp(steps[step].top[0].logprob) * 100);
        await eventually(async () => assert.equal(await page.locator(".bars .value").first().textContent(), `${first} %`));
        await eventually(async () => assert.ok((await page.textContent("#step .hint")).includes(`Entropy ${(steps[step].entropy / Math.LN2).toFixed(2)} bits`)));
        await visit.shot("next-tokens", "[aria-labelledby=steps-title]");
        await visit.targetWord("gestern").click();
        await page.waitForFunction(() => /wrote gestern$/.test(document.querySelector("#step h3")?.textContent));
    });

    visiting("shows the positional encoding in both layouts", async (visit, page) => {
        await visit.open({q: STATION, hash: "#view=positions"});
        await visit.linked();
        await page.waitForFunction(() => /concatenated/.test(document.querySelector(".positions canvas")?.getAttribute("aria-label")));
        await eventually(async () => assert.match(await page.textContent("#layout label:has(:checked)"), /\(this model\)/));
        await eventually(async () => assert.ok((await visit.colours(".positions canvas")) > 50));
        await visit.shot("positions", "#viewer");
        await page.check("#layout [value=interleaved]");
        await page.waitForFunction(() => /interleaved: 64 positions downwards, 256/.test(document.querySelector(".positions canvas")?.getAttribute("aria-label")));
        await page.fill("#positions-n", "32");
        await page.waitForFunction(() => /: 32 positions/.test(document.querySelector(".positions canvas")?.getAttribute("aria-label")));
        const {name, bytes} = await visit.download("#downloads [data-format=npy]");
        assert.equal(name, "positions-interleaved-32.npy");
        assert.match(bytes.subarray(0, 128).toString("latin1"), /^.NUMPY.*'shape': \(32, 256\)/s);
    });

    visiting("stays quick with many tokens and all heads", async (visit, page) => {
        await page.addInitScript(() => {
            window.longest = 0;
            new PerformanceObserver((list) => list.getEntries().forEach(({duration}) => (window.longest = Math.max(window.longest, duration)))).observe({type: "longtask"});
        });
        await visit.open({q: LONG, hash: "#view=map&kind=encoder&layer=0&head=0"});
        await visit.linked();
        await page.click("#tab-grid");
        await page.waitForFunction(() => document.querySelectorAll(".thumb.ready").length === 32);
        await page.click("#tab-head");
        await page.waitForSelector(".tokens .token");
        const n = await page.locator(".tokens.left .token").count();
        assert.ok(n >= 45, `only ${n} tokens`);
        for (let i = 0; i < 20; i++)
            await page.mouse.move(300 + i, 400 + 10 * i);
        await page.click("#tab-map");
        const drawing = await page.evaluate(async () => {
            const box = document.querySelector(".matrix");
            const start = performance.now();
            for (let i = 0; i < 20; i++) {
                box.scrollTop = 17 * i;
                await new Promise(requestAnimationFrame);
                await new Promise(requestAnimationFrame);
            }
            return (performance.now() - start) / 40;
        });
        // Far above what it takes (some 17 ms a frame, some 100 ms at once), so that a busy machine passes and only a
        // drawing whose cost grows with the square of the text fails.
        assert.ok(drawing < 2000 * SLOWNESS, `a frame takes ${drawing} ms`);
        const longest = await page.evaluate(() => window.longest);
        assert.ok(longest < 20_000 * SLOWNESS, `the page stood still for ${longest} ms`);
        await visit.shot("long", "#viewer");
    });
});

describe("taking along", () => {
    visiting("downloads pictures, JSON, bertviz and safetensors of what is shown", async (visit, page) => {
        await visit.open({q: STATION, hash: "#view=map&kind=cross&layer=2&head=3"});
        await visit.linked();
        const [sentence] = (await daemon.attention({q: STATION, kinds: ["cross", "encoder", "decoder"]})).sentences;
        const [nRows, nColumns] = [sentence.output_tokens.length, sentence.source_tokens.length];

        const png = await visit.download("#downloads [data-format=png]");
        assert.equal(png.name, "attention-cross-layer2-head3.png");
        const size = await page.evaluate(async (data) => {
            const image = new Image();
            image.src = `data:image/png;base64,${data}`;
            await image.decode();
            return [image.naturalWidth, image.naturalHeight];
        }, png.bytes.toString("base64"));
        assert.ok(size[0] > 100 && size[1] > 100, size);

        const svg = await visit.download("#downloads [data-format=svg]");
        const picture = await page.evaluate((text) => {
            const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
            return [root.localName, root.querySelector("parsererror") === null, root.textContent];
        }, svg.bytes.toString());
        assert.deepEqual(picture.slice(0, 2), ["svg", true]);
        assert.match(picture[2], /layer 2.*head 3/s);

        const json = JSON.parse((await visit.download("#downloads [data-format=json]")).bytes);
        assert.deepEqual(json.sentences[0].cross, sentence.cross);

        const tensors = await visit.download("#downloads [data-format=safetensors]");
        assert.equal(tensors.name, "attention-cross.safetensors");
        checkSafetensors(tensors.bytes, [3, 8, nRows, nColumns]);

        const page_ = await visit.download("#downloads [data-format=bertviz]");
        assert.equal(page_.name, "attention-all.bertviz.html");
        checkBertviz(page_.bytes.toString(), sentence);
        await checkBertvizLoads(page_.bytes.toString(), sentence);
    });

    visiting("downloads the alignment", async (visit) => {
        await visit.open({q: STATION});
        await visit.linked();
        const {name, bytes} = await visit.download("#downloads [data-format=json]");
        assert.equal(name, "attention-alignment.json");
        const [sentence] = JSON.parse(bytes).sentences;
        sentence.alignment.matrix.forEach((row) => assert.ok(Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-3));
        assert.deepEqual([sentence.cross.length, sentence.encoder.length, sentence.decoder.length], [3, 4, 3]);
        assert.equal((await visit.download("#downloads [data-format=png]")).bytes.subarray(1, 4).toString(), "PNG");
    });
});

/** Reads the format by its definition: length, header, numbers. */
function checkSafetensors(bytes, shape) {
    const headerLength = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.subarray(8, 8 + headerLength));
    const {dtype, shape: seen, data_offsets: [begin, end]} = header["sentences.0.cross"];
    assert.equal(dtype, "F32");
    assert.deepEqual(seen, shape);
    const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset + 8 + headerLength + begin, bytes.byteOffset + 8 + headerLength + end));
    assert.equal(values.length, shape.reduce((a, b) => a * b));
    for (let row = 0; row < values.length; row += shape[3])
        assert.ok(Math.abs(values.subarray(row, row + shape[3]).reduce((a, b) => a + b) - 1) < 1e-4);
}

/** The viewer's own demands on its params (bertviz, head_view.py and head_view.js). */
function checkBertviz(html, sentence) {
    const params = JSON.parse(/<script id="params" type="application\/json">(.*?)<\/script>/s.exec(html)[1]);
    assert.deepEqual(params.attention.map(({name}) => name).sort(), ["Cross", "Decoder", "Encoder"]);
    for (const {attn, left_text: left, right_text: right} of params.attention)
        for (const layer of attn)
            for (const head of layer) {
                assert.equal(head.length, left.length);
                head.forEach((row) => assert.equal(row.length, right.length));
            }
    const cross = params.attention.find(({name}) => name === "Cross");
    assert.deepEqual(cross.attn, sentence.cross.slice(0, params.include_layers.length));
    assert.ok(html.includes(`<div id="${params.root_div_id}">`));
    assert.ok(["layer", "filter", "vis"].every((id) => html.includes(`id="${id}"`)));
}

/** That the page hands its params to the viewer, for which a stand-in is put where it is published. */
async function checkBertvizLoads(html, sentence) {
    const context = await browser.newContext();
    const asked = [];
    await context.route("**", (route) => {
        const url = route.request().url();
        asked.push(url);
        if (url === "http://downloaded/")
            return route.fulfill({contentType: "text/html", body: html});
        const body = url.endsWith("require.min.js") ? "window.requirejs = (names, run) => run(...names); requirejs.config = () => {};" : "requirejs(['jquery', 'd3'], () => { window.seen = PYTHON_PARAMS; });";
        return route.fulfill({contentType: "text/javascript", headers: {"Access-Control-Allow-Origin": "*"}, body});
    });
    const page = await context.newPage();
    await page.goto("http://downloaded/");
    await page.waitForFunction(() => window.seen);
    const seen = await page.evaluate(() => window.seen);
    assert.deepEqual(seen.attention.find(({name}) => name === "Cross").attn[0], sentence.cross[0]);
    assert.deepEqual(asked.map((url) => new URL(url).host), ["downloaded", "cdnjs.cloudflare.com", "cdn.jsdelivr.net"]);
    assert.match(asked[2], /\/bertviz\/head_view\.js$/);
    await context.close();
}

describe("faults", () => {
    visiting("says what the server refuses, and goes on", async (visit, page) => {
        const small = await Daemon.start("--max-text-chars", "40");
        visit.daemon = small;
        try {
            await visit.open({q: "This sentence is longer than forty characters, so it is refused."});
            await page.waitForSelector("#error:not([hidden])");
            await eventually(async () => assert.match(await page.textContent("#error"), /^This text has 64 characters; this server takes 40 at a time\./));
            assert.equal(await page.getByRole("button", {name: "Try again"}).count(), 0); // in vain
            await page.fill("#source-text", STATION);
            await visit.linked();
            await eventually(async () => assert.equal(await page.isVisible("#error"), false));
            assert.equal(await page.textContent("#translation"), "Wo ist der Bahnhof?");
            await small.stop("SIGKILL");
            await page.fill("#source-text", "Are you there?");
            await page.waitForSelector("#error:not([hidden])");
            await eventually(async () => assert.match(await page.textContent("#error"), /The server does not answer\. Your text is still here\./));
            await eventually(async () => assert.equal(await page.inputValue("#source-text"), "Are you there?"));
            await eventually(async () => assert.ok(await page.getByRole("button", {name: "Try again"}).isVisible()));
            // What was there is the translation of another text.
            assert.equal(await page.textContent("#translation"), "");
            for (const selector of ["#alternatives", "#inside", "#warnings"])
                assert.equal(await page.isVisible(selector), false, selector);
            assert.ok(await page.isDisabled("#copy"));
            await visit.shot("error", ".translate");
        } finally {
            await small.stop("SIGKILL");
        }
    }, {allowing: /Failed to load resource/});

    visiting("says that a sentence cannot be looked into, and shows the others", async (visit, page) => {
        await page.route("**/attention", (route) => (JSON.parse(route.request().postData()).q === "Thank you." ? route.fulfill({status: 400, body: '{"error":"too long"}'}) : route.continue()));
        await visit.open({q: `Thank you. ${STATION}`});
        await page.waitForSelector("#error:not([hidden])");
        assert.match(await page.textContent("#error"), /too long/);
        assert.match(await page.textContent("#translation"), /Wo ist der Bahnhof\?$/);
        await page.locator("#translation .out", {hasText: "Bahnhof"}).click();
        await visit.linked();
        assert.equal(await page.isVisible("#error"), false);
        assert.equal(await page.locator(".words").nth(0).textContent(), STATION);
    }, {allowing: /400/});

    visiting("tries again when the server is busy", async (visit, page) => {
        let n = 0;
        await page.route("**/translate", (route) => (n++ ? route.continue() : route.fulfill({status: 503, headers: {"Retry-After": "0.05"}, body: '{"error":"busy"}'})));
        await visit.open({q: STATION});
        await visit.linked();
        assert.equal(n, 2);
        await eventually(async () => assert.equal(await page.isVisible("#error"), false));
    }, {allowing: /503/});
});

describe("for everyone", () => {
    for (const colorScheme of ["light", "dark"])
        visiting(`has no barriers that axe-core knows, in ${colorScheme}`, async (visit, page) => {
            await visit.open();
            await eventually(async () => assert.deepEqual(await barriers(page), [], "empty"));
            await page.fill("#source-text", `${PHONE} Thank you.`);
            await visit.linked();
            await visit.targetWord("gestern").click();
            await page.waitForSelector(".bars");
            await page.click("#table summary");
            await eventually(async () => assert.deepEqual(await barriers(page), [], "map"));
            await visit.shot(`page-${colorScheme}`);
            for (const [view, ready] of [["grid", ".thumb.ready"], ["head", ".token"], ["positions", "#positions-note:not(:empty)"]]) {
                await page.click(`#tab-${view}`);
                await page.waitForSelector(ready);
                await eventually(async () => assert.deepEqual(await barriers(page), [], view));
            }
        }, {options: {colorScheme}});

    for (const width of [1280, 390])
        visiting(`draws no line through a word, ${width} pixels wide`, async (visit, page) => {
            await visit.open({q: LONG});
            await visit.linked();
            await eventually(async () => assert.ok((await page.locator(".thread").count()) > 5));
            assert.deepEqual((await crossings(page)).filter((n) => n > 0), []);
            await visit.sourceWord("sister").focus();
            const box = await visit.sourceWord("sister").boundingBox();
            assert.ok(box.x >= 0 && box.x + box.width <= width, "a word that is focused is in sight");
            assert.ok((await page.locator(".band").count()) > 1);
            assert.equal(await page.$eval("#links", (box) => box.scrollWidth - box.clientWidth), 0);
            for (const [side, text] of [["Source", LONG], ["Translation", await page.textContent("#translation")]])
                assert.equal((await page.locator(`.words[aria-label^='${side}']`).allTextContents()).join(""), text);
            await visit.shot(`long-${width}`);
        }, {options: {viewport: {width, height: 844}}});

    for (const colorScheme of ["light", "dark"])
        visiting(`has links in its own colours, in ${colorScheme}`, async (visit, page) => {
            await visit.open();
            await page.waitForSelector(`html[data-theme=${colorScheme}]`);
            const colours = await page.$eval("footer a", (link) => {
                const probe = document.createElement("i");
                probe.style.color = "var(--accent-strong)";
                document.body.append(probe);
                return [getComputedStyle(link).color, getComputedStyle(probe).color];
            });
            assert.equal(colours[0], colours[1]);
        }, {options: {colorScheme}});

    visiting("follows the system's theme until one is chosen, and remembers that", async (visit, page) => {
        // The browser tells the page of a new system theme when it next has time, so each step waits.
        const becomes = (theme) => page.waitForSelector(`html[data-theme=${theme}]`);
        await visit.open();
        await becomes("light");
        await page.emulateMedia({colorScheme: "dark"});
        await becomes("dark");
        await page.click("#theme");
        await becomes("light");
        await eventually(async () => assert.equal(await page.textContent("#theme"), "Theme: light"));
        await page.reload();
        await becomes("light");
    });

    visiting("can be used with the keyboard alone", async (visit, page) => {
        await visit.open({q: STATION});
        await visit.linked();
        await page.focus("#page-language");
        await page.keyboard.press("Shift+Tab");
        await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.className), "skip"));
        await page.keyboard.press("Enter");
        // The address changes first: focus that comes after it would be taken from the word below.
        await page.waitForFunction(() => document.activeElement.id === "source-text");
        await page.locator(".words .word").first().focus();
        await page.keyboard.press("ArrowDown");
        await eventually(async () => assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^Wo: from Where \d+ %/));
        await page.keyboard.press("End");
        await eventually(async () => assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^Bahnhof: from (train|station) \d+ %/));
        await page.keyboard.press("Enter");
        await page.waitForSelector(".bars");
        await page.locator("#tab-map").focus();
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("Enter");
        await page.waitForSelector(".thumb.ready");
        await eventually(async () => assert.equal(await page.locator("[role=tab][tabindex='0']").count(), 1));
    });

    visiting("fits a phone", async (visit, page) => {
        const width = () => page.evaluate(() => document.documentElement.scrollWidth);
        await visit.open();
        await eventually(async () => assert.equal(await width(), 360));
        await page.fill("#source-text", `${PHONE} Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz.`);
        await visit.linked();
        await visit.targetWord("gestern").tap();
        await page.waitForSelector(".bars");
        await eventually(async () => assert.match(await page.textContent("#links-note"), /^gestern looked at yesterday/));
        await visit.shot("phone");
        const tab = await page.locator("#tab-positions").boundingBox();
        const tabs = await page.locator(".tabs").boundingBox();
        assert.ok(tab.x + tab.width <= tabs.x + tabs.width, "the last tab is cut off");
        for (const view of ["grid", "head", "positions", "map"]) {
            await page.tap(`#tab-${view}`);
            await page.waitForSelector(`#view-${view}:not([hidden]):not([aria-busy])`);
            await eventually(async () => assert.equal(await width(), 360, view));
        }
    }, {options: {viewport: {width: 360, height: 740}, deviceScaleFactor: 2, isMobile: true, hasTouch: true}});
});

describe("a server that wants a key", () => {
    const KEY = "0815-key-of-the-test";

    /** The test, against a daemon of its own; answers are what the reader says when asked for a key, null: nothing. */
    function locked(name, answers, test) {
        it(name, async () => {
            const file = path.join(mkdtempSync(path.join(tmpdir(), "keys-")), "keys");
            writeFileSync(file, `${KEY}\n`, {mode: 0o600});
            const own = await Daemon.start("--api-keys-file", file, "--key-required");
            const visit = await Visit.begin(browser, own);
            const questions = [];
            visit.page.on("dialog", (dialog) => {
                const answer = answers[questions.push(dialog.message()) - 1];
                return answer ? dialog.accept(answer) : dialog.dismiss();
            });
            try {
                await test(visit, visit.page, questions);
                await visit.end({allowing: /403/});
            } finally {
                await visit.context.close();
                rmSync(path.dirname(file), {recursive: true});
            }
            assert.equal(await own.stop(), 0, own.log);
            assert.ok(!own.log.includes(KEY));
        });
    }

    const MISSING = "This server asks for an API key: its operator has them. API key:";

    locked("asks for it once and keeps it", ["a-wrong-key", ` ${KEY} `], async (visit, page, questions) => {
        await visit.open({q: STATION});
        await visit.linked();
        assert.equal(await page.textContent("#translation"), "Wo ist der Bahnhof?");
        assert.deepEqual(questions, [MISSING, "This server does not know that API key. API key:"]);
        await page.reload();
        await visit.linked();
        assert.equal(questions.length, 2);
    });

    locked("does not ask again who has none", [null], async (visit, page, questions) => {
        await visit.open({q: STATION});
        await eventually(async () => assert.match(await page.textContent("body"), /asks for an API key: its operator/));
        await page.fill("#source-text", PHONE);
        await eventually(() => assert.ok(visit.requests.filter((request) => request.url().endsWith("/translate")).length >= 2));
        assert.deepEqual(questions, [MISSING]);
    });
});

describe("the end", () => {
    it("can have its picture taken", async () => {
        await takePicture(browser, daemon, path.join(SHOTS, "docs-page.png"));
    });

    it("lets the daemon stop in good order", async () => {
        await browser.close();
        assert.equal(await daemon.stop(), 0, daemon.log);
    });
});
