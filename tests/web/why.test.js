// The step player and its switches at /, in Chromium against a running daemon: what it draws are the API's numbers.

import assert from "node:assert/strict";
import {mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {describe, it} from "node:test";
import {ROOT} from "../daemon.mjs";
import {Daemon, Visit, barriers, eventually, launch, visitingWith} from "./page.js";

const PHONE = "I would have called you yesterday, but I lost my phone.";
const TRANSLATION_MOMENTS = [14, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const SOURCE_MOMENTS = [14, 1, 2, 12, 5, 8, 9];

/** The tests' model, said to normalise before each part. */
function makePreNorm() {
    const [original, folder] = [path.join(ROOT, "tests/models/en-de"), mkdtempSync(path.join(tmpdir(), "pre-norm-"))];
    for (const name of readdirSync(original).filter((one) => one !== "config.json"))
        symlinkSync(path.join(original, name), path.join(folder, name));
    const config = JSON.parse(readFileSync(path.join(original, "config.json"), "utf8"));
    writeFileSync(path.join(folder, "config.json"), JSON.stringify({...config, model_type: "attentiond", normalize_before: true}));
    process.on("exit", () => rmSync(folder, {recursive: true}));
    return folder;
}

const [daemon, other, preNorm, browser] = await Promise.all([Daemon.start(), Daemon.start("--threads-per-worker", "1"), Daemon.start("--model", makePreNorm()), launch()]);
process.on("exit", () => [daemon, other, preNorm].forEach((one) => one.process.kill("SIGKILL")));

const visiting = visitingWith(browser, daemon);

const address = (fields) => `#${new URLSearchParams({view: "why", ...fields})}`;

/** Waits until the moment that the player has been asked for is drawn. */
async function drawn(page, at) {
    await page.waitForSelector(`.moment${at ? `[data-at^="${at}"]` : "[data-at]"}:not([aria-busy])`);
    await page.waitForSelector("#player:not([aria-busy])");
}

async function open(visit, fields, q = PHONE) {
    await visit.open({q, hash: address(fields)});
    await drawn(visit.page, `${fields.side ?? "translation"} ${fields.at ?? 6}`);
}

/** The table of what the heads of a layer do. */
async function openRoles(page) {
    await page.getByText("What the heads of this layer do").evaluate((summary) => (summary.parentElement.open = true));
    await page.waitForSelector(".roles");
}

async function ask({on = daemon, ...fields}) {
    const body = JSON.stringify({q: PHONE, source: "en", target: "de", split_sentences: "off", precision: 9, ...fields});
    const reply = await fetch(`${on.url}/attention`, {method: "POST", headers: {"Content-Type": "application/json"}, body});
    assert.equal(reply.status, 200);
    const {model, sentences: [sentence]} = await reply.json();
    return {...sentence, model};
}

const number = (text) => Number(text.replace("−", "-").replace(/[ %,]/g, ""));
const close = (seen, expected, digits) => assert.ok(Math.abs(seen - expected) <= 0.6 * 10 ** -digits, `${seen}, expected ${expected}`);

describe("the numbers", () => {
    visiting("of a head are the API's, down to the product of a cell", async (visit, page) => {
        await open(visit, {step: 3, at: 6, layer: 1, head: 2});
        const found = await ask({kinds: ["cross"], layers: [1], heads: [2], steps: [3], include: ["queries", "keys", "scores"]});
        const [weights, scores] = [found.cross[0][0][0], found.scores.cross[0][0][0]];
        const rows = await page.$$eval("tr[data-column]", (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
        assert.equal(rows.length, weights.length);
        const query = found.queries.cross[0][0][0];
        rows.forEach(([, , dot, score, share], j) => {
            close(number(dot), scores[j] * Math.sqrt(query.length), 1);
            close(number(score), scores[j], 2);
            close(number(share), 100 * weights[j], 1);
        });
        const spread = await page.$$eval(".spread", (all) => all.map((row) => [row.lastChild.textContent, [...row.querySelectorAll("[data-n]")].map((bar) => Number(bar.dataset.n))]));
        const mean = scores.reduce((a, b) => a + b) / scores.length;
        const deviation = Math.sqrt(scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length);
        const most = Math.max(...scores.map(Math.abs));
        [Math.sqrt(query.length), 1].forEach((factor, i) => {
            const [text, counts] = spread[i];
            close(number(text.replace("deviation ", "")), factor * deviation, 2);
            const places = scores.map((score) => Math.round((score / most * factor / Math.sqrt(query.length) + 1) / 2 * (counts.length - 1)));
            assert.deepEqual(counts, counts.map((_, place) => places.filter((one) => one === place).length));
        });
        await page.locator("tr[data-column='1'] .row").click();
        const cells = await page.$$eval(".opened:not([hidden]) tbody tr", (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
        const key = found.keys.cross[0][0][1];
        assert.equal(cells.length, query.length + 1);
        cells.slice(0, -1).forEach(([i, q, k, product]) => {
            close(number(q), query[i], 3);
            close(number(k), key[i], 3);
            close(number(product), query[i] * key[i], 3);
        });
        close(number(cells.at(-1)[3]), scores[1] * Math.sqrt(query.length), 2);
    });

    visiting("of the mask, of what a norm reads, and of the layers' opinions are the API's", async (visit, page) => {
        await open(visit, {step: 2, at: 4, layer: 0, head: 1});
        const masked = await page.$$eval("tr.masked", (all) => all.map((row) => [row.dataset.column, row.cells[3].textContent, row.cells[4].textContent]));
        const {decoder, output_tokens: outputs} = await ask({kinds: ["decoder"], layers: [0], heads: [1], steps: [2]});
        assert.deepEqual(masked, Array.from({length: outputs.length - 3}, (_, i) => [String(i + 3), "−∞", "0.0 %"]));
        assert.equal(decoder[0][0][0].length, outputs.length);

        await page.click("#moment-7");
        await drawn(page, "translation 7");
        const {residuals} = await ask({kinds: ["cross"], layers: [0], steps: [2], include: ["residuals"]});
        const [mean, deviation] = (await page.textContent("#moment .readout")).match(/[−\d.]+\d/g).map(number);
        close(mean, residuals.decoder[0][1][0].mean, 3);
        close(deviation, residuals.decoder[0][1][0].deviation, 3);

        await page.click("#moment-10");
        await drawn(page, "translation 10");
        const {logit_lens: lens} = await ask({logit_lens: 3, steps: [2]});
        const ranks = await page.$$eval(".opinions .rank", (all) => all.map((one) => one.textContent.split("no. ")[1]));
        assert.deepEqual(ranks.map(number), lens[0].map(({rank}) => rank));

        await page.click("#moment-11");
        await drawn(page, "translation 11");
        const {next_tokens: next} = await ask({next_tokens: 10, steps: [2]});
        const shares = await page.$$eval("#moment .bars .value", (all) => all.map((one) => one.textContent));
        assert.deepEqual(shares, next[0].top.map(({logprob}) => (Math.exp(logprob) < 0.01 ? "< 1 %" : `${Math.round(100 * Math.exp(logprob))} %`)));
    });

    it("are the same at an address that is opened on another daemon", async () => {
        const seen = [];
        for (const on of [daemon, other]) {
            const visit = await Visit.begin(browser, on);
            await open(visit, {step: 4, at: 6, layer: 2, head: 5, off: "cross.1.6,encoder.0"});
            seen.push([await visit.page.textContent("#moment"), await visit.page.textContent(".outcomes")]);
            await visit.end();
        }
        assert.deepEqual(seen[0], seen[1]);
    });
});

describe("the heads of a layer", () => {
    const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
    const cells = (page) => page.$$eval(".roles tbody tr", (all) => all.map((row) => [...row.cells].map(({textContent}) => textContent)));
    const isMark = ({piece, special}) => special || !/[\p{L}\p{N}]/u.test(piece);

    /** The share of a layer's weights that f(row, column) is true of. */
    const share = (rows, f) => mean(rows.map((row, i) => row.reduce((sum, weight, j) => sum + (f(i, j) ? weight : 0), 0)));

    /** What a row of the table is to say of a head that looks at its own sentence. */
    function expected(rows, tokens, places, words) {
        const shares = [["the piece before", share(rows, (i, j) => j === i - 1)], ["the piece behind", share(rows, (i, j) => j === i + 1)], ["the same place", share(rows, (i, j) => j === i)], ["ends and punctuation", share(rows, (_, j) => isMark(tokens[j]))]];
        const [name, most] = shares.sort(([, a], [, b]) => b - a)[0];
        const entropy = mean(rows.map((row) => -row.reduce((sum, weight) => sum + (weight > 0 ? weight * Math.log2(weight) : 0), 0)));
        const links = rows.flatMap((row, i) => row.map((weight, j) => ({weight, i, j, far: Math.abs(places[i] - places[j])}))).filter(({weight, far}) => weight >= 0.4 && far > 0);
        const link = links.sort((a, b) => b.far - a.far || b.weight - a.weight)[0];
        return [most >= 0.4 ? `${name}, ${Math.round(100 * most)} %` : undefined, entropy.toFixed(2), link ? `\u2068${words[places[link.i]]}\u2069 → \u2068${words[places[link.j]]}\u2069, ${Math.round(100 * link.weight)} %, ${link.far} word${link.far > 1 ? "s" : ""} apart` : ""];
    }

    for (const [kind, side, at] of [["decoder", "translation", 4], ["encoder", "source", 12]])
        visiting(`have their roles, entropies and farthest strong links in the ${kind}, as their weights have them`, async (visit, page) => {
            await open(visit, {step: 3, at, layer: 1, head: 2, side});
            const found = await ask({kinds: [kind], layers: [1]});
            const tokens = kind === "decoder" ? found.decoder_input_tokens : found.source_tokens;
            const text = kind === "decoder" ? found.target.text : found.source.text;
            const words = text.match(/\p{L}+/gu);
            // Each piece of these sentences that has letters begins a word or goes on with it.
            let word = -1;
            const places = tokens.map((token) => (isMark(token) ? NaN : token.piece.startsWith("\u2581") ? ++word : word));
            await openRoles(page);
            const table = await cells(page);
            found[kind][0].forEach((rows, head) => {
                const [role, entropy, link] = expected(rows, tokens, places, words);
                const [name, what, bits, far] = table[head];
                assert.deepEqual([name, bits, far], [String(head), entropy, link]);
                assert.ok(role ? what === role : /^(here this, there that|spread over many), \d+ %$/.test(what), `${head}: ${what}, expected ${role}`);
            });
            assert.ok(table.some(([, , , far]) => far));
        });

    visiting("that looks at the source are named by the word that is translated", async (visit, page) => {
        await open(visit, {step: 3, at: 6, layer: 0, head: 0});
        await openRoles(page);
        assert.match((await cells(page))[7].join(), /^7,the word that is translated, [5-9]\d %,[\d.]+$/);
        assert.equal(await page.locator(".roles thead th").count(), 3);
        await page.getByText("What the heads of this layer do").focus();
        for (let i = 0; i < 8; i++)
            await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await drawn(page, "translation 6 3 0 7");
        await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.dataset.head), "7"));
        assert.equal(await page.getAttribute('.roles [data-head="7"]', "aria-current"), "true");
        await page.getByRole("button", {name: "Next step"}).click();
        await drawn(page, "translation 6 4 0 7");
        assert.equal(await page.locator(".roles tbody tr").count(), 8);
        await page.click("#tab-grid");
        await page.locator('[data-layer="0"] .thumb.ready').nth(7).hover();
        await eventually(async () => assert.match(await page.textContent("#grid-note"), /Looks at: the word that is translated, [5-9]\d %\.$/));
    }, {on: other});
});

describe("the map of the whole model", () => {
    const seen = (page) => page.$$eval(".column", (all) => all.map((column) => [...column.querySelectorAll(".part")].map((part) => [part.dataset.part, part.querySelector("small")?.textContent ?? ""])));
    const names = (column) => column.map(([part]) => part);

    visiting("has the model's layers and numbers, and each part leads to its moment", async (visit, page) => {
        await open(visit, {step: 3, at: 14, layer: 1, head: 0});
        const found = await ask({kinds: ["encoder", "cross"], layers: [0], heads: [0], steps: [3], include: ["hidden"]});
        const {model} = found;
        const [encoder, decoder] = await seen(page);
        const around = (side, parts, n) => Array.from({length: n}, (_, layer) => (layer === 1 ? parts : parts.slice(0, 1)).map((at) => `${side} ${at} ${layer}`)).flat();
        assert.deepEqual(names(encoder), ["source 1", "source 2", ...around("source", [12, 5, 5, 8, 9, 9], model.layers_enc), "translation 3"]);
        assert.deepEqual(names(decoder), ["translation 1", "translation 2", ...around("translation", [4, 5, 5, 6, 7, 7, 8, 9, 9], model.layers_dec), "translation 10", "translation 11"]);
        const hint = (column, part) => new Map(column).get(part);
        for (const column of [encoder, decoder])
            assert.equal(number(column[0][1].replace(" numbers each", "")), model.d_model);
        assert.equal(hint(encoder, "source 12 1"), `${model.heads_enc} heads`);
        assert.equal(hint(decoder, "translation 6 1"), `${model.heads} heads`);
        assert.equal(number(hint(encoder, "source 8 1").replace(" units", "")), found.hidden.encoder[0][0].length);
        assert.equal(number(hint(decoder, "translation 8 1").replace(" units", "")), found.hidden.decoder[0][0].length);
        assert.equal(hint(encoder, "translation 3"), `${found.source_tokens.length} vectors`);
        assert.ok(hint(decoder, "translation 11").endsWith(` ${Math.round(100 * Math.exp(found.output_tokens[3].logprob))} %`));
        assert.match(await page.textContent("#moment .readout"), /This model is post-norm/);

        for (const part of ["translation 6 1", "translation 8 1", "translation 4 2", "source 12 3", "translation 11"]) {
            await open(visit, {step: 3, at: 14, layer: 1, head: 0});
            const link = page.locator(`[data-part="${part}"]`);
            const href = await link.getAttribute("href");
            const [side, at, layer = "1"] = part.split(" ");
            await link.click();
            await drawn(page, `${side} ${at} ${side === "source" ? 0 : 3} ${layer}`);
            assert.equal(new URL(page.url()).hash, href);
        }
    });

    visiting("draws a model that normalises first in its order, as its moments are", async (visit, page) => {
        await open(visit, {step: 1, at: 14, layer: 0, head: 0}, "We sing.");
        const [encoder, decoder] = await seen(page);
        assert.deepEqual(names(encoder).slice(2, 8), [13, 12, 5, 5, 8, 9].map((at) => `source ${at} 0`));
        assert.deepEqual(names(decoder).slice(2, 11), [13, 4, 5, 5, 6, 7, 7, 8, 9].map((at) => `translation ${at} 0`));
        assert.match(await page.textContent("#moment .readout"), /This model is pre-norm/);
        const tabs = await page.$$eval("[role=tab][aria-controls=moment]", (all) => all.map(({id, textContent}) => [id, textContent]));
        assert.deepEqual(tabs.slice(4, 11).map(([id]) => Number(id.split("-")[1])), [13, 4, 5, 6, 7, 8, 9]);
        assert.equal(tabs[10][1], "10 Add");

        // What a norm reads is the stream before its part: shown where it stands.
        const {residuals} = await ask({on: preNorm, q: "We sing.", kinds: ["cross"], layers: [0], steps: [1], include: ["residuals"]});
        for (const [at, place] of [[13, 0], [5, 1], [7, 2]]) {
            await page.click(`#moment-${at}`);
            await drawn(page, `translation ${at}`);
            const [mean, deviation] = (await page.textContent("#moment .readout")).match(/[−\d.]+\d/g).map(number);
            close(mean, residuals.decoder[0][place][0].mean, 3);
            close(deviation, residuals.decoder[0][place][0].deviation, 3);
        }
        await page.click("#moment-9");
        await drawn(page, "translation 9");
        assert.equal(await page.textContent("#moment .readout"), "");
        assert.deepEqual(await barriers(page), []);
    }, {on: preNorm});
});

describe("walking", () => {
    visiting("is loaded when it is wanted, and follows what is chosen", async (visit, page) => {
        const isPlayer = (request) => /player|whatif/.test(request.url());
        await visit.open({q: PHONE});
        await visit.linked();
        assert.deepEqual(visit.requests.filter(isPlayer), []);
        await page.click("#open-why");
        await drawn(page, "translation 6 0");
        await page.getByRole("button", {name: "Next step"}).click();
        await drawn(page, "translation 6 1");
        await page.locator("#moment select").nth(1).selectOption("3");
        await drawn(page, "translation 6 1 1 3");
        assert.equal(new URL(page.url()).hash, address({step: 1, at: 6, layer: 1, head: 3}));
        await page.locator("#pieces .piece").nth(2).click();
        await drawn(page, "translation 6 2");
        await page.getByRole("button", {name: "Look at the source's words"}).click();
        await drawn(page, "source");
        await page.fill("#source-text", "Please close the door.");
        await eventually(async () => assert.match(await page.textContent(".player-strip.pieces"), /Please/));
    });

    visiting("needs only a keyboard, from a word to the product of a cell", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        await page.focus("#open-why");
        await page.keyboard.press("Enter");
        await drawn(page, "translation 6 0");
        const reach = async (selector) => {
            for (let i = 0; i < 40; i++) {
                if (await page.evaluate((one) => document.activeElement.matches(one), selector))
                    return;
                await page.keyboard.press("Tab");
            }
            assert.fail(`Tab does not reach ${selector}`);
        };
        await reach(".player-strip [role=option]");
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("Enter");
        await drawn(page, "translation 6 1");
        await reach("[role=tab][aria-controls=moment]");
        await page.keyboard.press("ArrowLeft");
        await page.keyboard.press("Enter");
        await drawn(page, "translation 5 1");
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("Enter");
        await drawn(page, "translation 6 1");
        await reach("tr[data-column] .row");
        await page.keyboard.press("Enter");
        assert.match(await page.textContent(".opened:not([hidden]) tbody tr"), /^0[−\d.]+/);
        await reach(".opened .table-scroll");
    });

    visiting("goes on from another piece, and back", async (visit, page) => {
        await open(visit, {step: 1, at: 11});
        const first = await page.textContent(".player-strip.pieces");
        await page.getByRole("button", {name: /go on from there/}).first().click();
        await eventually(async () => assert.match(page.url(), /ids=\d+%2C\d+/));
        await eventually(async () => assert.notEqual(await page.textContent(".player-strip.pieces"), first));
        await page.reload();
        await drawn(page, "translation 11 1");
        assert.notEqual(await page.textContent(".player-strip.pieces"), first);
        await page.getByRole("button", {name: "Back to what the model wrote"}).click();
        await eventually(async () => assert.equal(await page.textContent(".player-strip.pieces"), first));
    });

    visiting("plays by itself where motion is wanted", async (visit, page) => {
        await page.clock.install();
        await open(visit, {step: 0, at: 1});
        await page.click(".play");
        await page.clock.runFor(2600);
        await drawn(page, "translation 2 0");
        await page.click(".play");
        assert.equal(await page.textContent(".play"), "Play");
    }, {options: {reducedMotion: "no-preference"}});
});

describe("what if", () => {
    visiting("a head is off: before and after, in the address too", async (visit, page) => {
        await open(visit, {step: 0, at: 6});
        await page.click(".what-if summary");
        await page.locator("[data-name='cross.2']").click();
        await eventually(async () => assert.match(await page.textContent(".outcomes"), /Before.*Now/));
        const now = await ask({switch_off: ["cross.2"]});
        const plain = await ask({});
        const text = (sentence) => sentence.output_tokens.reduce((sum, {logprob}) => sum + logprob, 0).toFixed(2).replace("-", "−");
        const outcomes = await page.locator(".outcome").allTextContents();
        assert.ok(outcomes[0].includes(plain.target.text) && outcomes[0].includes(text(plain)), outcomes[0]);
        assert.ok(outcomes[1].includes(now.target.text) && outcomes[1].includes(text(now)), outcomes[1]);
        assert.equal((await page.locator(".outcome mark").count()) > 0, now.target.text !== plain.target.text);
        assert.match(page.url(), /off=cross.2$/);
        assert.equal(await page.getAttribute("[data-name='cross.2']", "aria-pressed"), "true");
        assert.ok(await page.isDisabled("[data-name='cross.2.1']"));
        await page.getByRole("button", {name: "As it was"}).click();
        await eventually(async () => assert.doesNotMatch(page.url(), /off/));
        await eventually(async () => assert.equal(await page.locator(".outcome").count(), 1));
    });

    visiting("a word is not there", async (visit, page) => {
        await open(visit, {step: 0, at: 6, without: "5"});
        await eventually(async () => assert.match(await page.textContent(".outcomes"), /Now/));
        const words = await page.locator("tr[data-column] th").allTextContents();
        assert.ok(!words.some((word) => /yesterday/.test(word)), words.join());
        assert.equal(await page.getAttribute("[data-name='word-5']", "aria-pressed"), "true");
    });

    visiting("all heads are measured", async (visit, page) => {
        await open(visit, {step: 0, at: 6}, "We sing.");
        await page.click(".what-if summary");
        await page.getByRole("button", {name: "Measure all heads"}).click();
        await page.waitForFunction(() => /Least/.test(document.querySelector(".what-if [role=status]")?.textContent));
        const cost = Number((await page.getAttribute("[data-name='cross.1.6']", "title")).split(": ")[1]);
        const total = ({output_tokens: tokens}) => tokens.reduce((sum, {logprob}) => sum + logprob, 0);
        const ids = (await ask({q: "We sing."})).output_tokens.map(({id}) => id);
        const [plain, off] = [await ask({q: "We sing.", target_ids: ids}), await ask({q: "We sing.", target_ids: ids, switch_off: ["cross.1.6"]})];
        close(cost, total(plain) - total(off), 3);
    });

    visiting("the address names a head that this model lacks", async (visit, page) => {
        await open(visit, {step: 99, at: 6, layer: 77, head: 66, off: "cross.9.9,cross.1.6,nonsense"});
        assert.match(await page.textContent("#player"), /The model en-de has no cross\.77, cross\.9\.9, nonsense: left out\./);
        assert.match(await page.textContent(".moment-title"), /layer 2, head 7/);
    });
});

describe("for everyone", () => {
    for (const colorScheme of ["light", "dark"])
        visiting(`has no barriers that axe-core knows, in ${colorScheme}`, async (visit, page) => {
            for (const [side, moments] of [["translation", TRANSLATION_MOMENTS], ["source", SOURCE_MOMENTS]]) {
                await open(visit, {step: 1, at: moments[0], side});
                for (const at of moments) {
                    await page.click(`#moment-${at}`);
                    await drawn(page, `${side} ${at}`);
                    if ([6, 12].includes(at))
                        await page.locator("tr[data-column] .row").first().click();
                    if ([4, 6, 12].includes(at))
                        await openRoles(page);
                    assert.deepEqual(await barriers(page), [], `${side} ${at}`);
                }
            }
            await page.click(".what-if summary");
            await page.locator("[data-name='cross.1']").click();
            await eventually(async () => assert.equal(await page.locator(".outcome").count(), 2));
            assert.deepEqual(await barriers(page), [], "what if");
            await visit.shot(`why-${colorScheme}`, "#why");
        }, {options: {colorScheme}});

    visiting("fits every width", async (visit, page) => {
        for (const width of [390, 768, 1280, 2560]) {
            await page.setViewportSize({width, height: 900});
            await open(visit, {step: 1, at: 1, off: "cross.1"});
            for (const at of TRANSLATION_MOMENTS) {
                await page.click(`#moment-${at}`);
                await drawn(page, `translation ${at}`);
                if (at === 6)
                    await page.locator("tr[data-column] .row").first().click();
                if ([4, 6].includes(at))
                    await openRoles(page);
                assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, `${at} at ${width}`);
                const [card, table] = await page.evaluate(() => ["#why", ".head-table"].map((one) => document.querySelector(one)?.getBoundingClientRect().right));
                assert.ok(!table || table < card, `the table of ${at} at ${width} ends at ${table}, the card at ${card}`);
            }
            await visit.shot(`why-${width}`, "#why");
        }
    });

    visiting("keeps the strongest of the units that share a pixel", async (visit, page) => {
        await open(visit, {step: 3, at: 8, layer: 1});
        const {hidden} = await ask({kinds: ["cross"], layers: [1], heads: [0], steps: [3], include: ["hidden"]});
        const units = hidden.decoder[0][0];
        const most = Math.max(...units.map(Math.abs));
        const strongest = units.findIndex((unit) => Math.abs(unit) === most);
        const canvas = page.locator(".moment canvas").first();
        await eventually(async () => assert.equal(await canvas.evaluate(({width}) => width), await canvas.evaluate(({clientWidth}) => clientWidth)));
        const n = await canvas.evaluate(({width}) => width);
        assert.ok(n < units.length);
        const cell = Array.from({length: n}, (_, i) => i).findLast((i) => Math.floor((i * units.length) / n) <= strongest);
        const [seen, expected] = await canvas.evaluate(async (drawn, [at, sign]) => {
            const {signedImage} = await import("/web/colours.js");
            return [[...drawn.getContext("2d").getImageData(at, 0, 1, 1).data], [...signedImage([sign], 1).data]];
        }, [cell, Math.sign(units[strongest])]);
        assert.deepEqual(seen, expected);
    }, {options: {viewport: {width: 390, height: 844}}});

    /** Words that go on in another line. One may end in no word of Latin letters, and in none that Japanese has from other languages. */
    const broken = (page, selector) => page.$$eval(selector, (all) => all.flatMap(({firstChild}) =>
        [...firstChild.data.matchAll(/[\p{Script=Latin}\p{Script=Katakana}ー]+,?/gu)].filter(({0: word, index}) => {
            const range = document.createRange();
            range.setStart(firstChild, index + (firstChild.data[index - 1] === "\u00ad")); // the hyphen that is drawn belongs to the first letter
            range.setEnd(firstChild, index + word.length);
            return range.getClientRects().length > 1;
        }).map(([word]) => word)));

    for (const locale of ["de", "fr", "ja"])
        visiting(`has the model and its heads' roles on a phone, with no name broken inside a word: ${locale}`, async (visit, page) => {
            await open(visit, {step: 1, at: 14, layer: 0});
            assert.deepEqual(await broken(page, ".part"), []);
            await visit.shot(`model-${locale}`, ".model-map");
            for (const [at, side] of [[4, "translation"], [6, "translation"], [12, "source"]]) {
                await open(visit, {step: 1, at, layer: 0, head: 1, side, roles: 1});
                await page.waitForSelector(".roles");
                assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
                assert.deepEqual(await broken(page, ".roles thead th, .roles td:nth-child(2)"), []);
                await visit.shot(`roles-${locale}-${at}`, ".roles");
            }
        }, {options: {locale, viewport: {width: 390, height: 844}}});

    visiting("stands still where motion is not wanted", async (visit, page) => {
        await open(visit, {step: 0, at: 6});
        assert.equal(await page.isVisible(".play"), false);
    });

    visiting("is black on white on paper", async (visit, page) => {
        await open(visit, {step: 0, at: 6});
        await page.emulateMedia({media: "print"});
        const colours = await page.evaluate(() => [getComputedStyle(document.body).color, getComputedStyle(document.documentElement).backgroundColor, getComputedStyle(document.querySelector("#why")).backgroundColor]);
        assert.deepEqual(colours, ["rgb(0, 0, 0)", "rgb(255, 255, 255)", "rgb(255, 255, 255)"]);
        assert.ok((await page.pdf({format: "A4"})).length > 10_000);
    }, {options: {colorScheme: "dark"}});

    visiting("is small on the wire", async (visit, page) => {
        const sizes = new Map();
        page.on("response", (reply) => sizes.set(new URL(reply.url()).pathname, Number(reply.headers()["content-length"] ?? 0)));
        const total = (...names) => [...sizes].filter(([path]) => /^\/(web\/.*)?$/.test(path) && !names.includes(path)).reduce((sum, [, size]) => sum + size, 0);
        await visit.open({q: PHONE});
        await visit.linked();
        const first = total();
        assert.ok(first > 20_000 && first <= 62 * 1024, `the first visit takes ${first} bytes`);
        await page.click("#open-why");
        await drawn(page, "translation");
        const player = total() - first;
        assert.ok(player > 1000 && player <= 25 * 1024, `the player takes ${player} bytes`);
    });
});

describe("the end", () => {
    it("lets the daemons stop in good order", async () => {
        await browser.close();
        for (const one of [daemon, other, preNorm])
            assert.equal(await one.stop(), 0, one.log);
    });
});
