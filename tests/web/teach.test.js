// What teachers use the page at / for: two translations side by side, a card in a frame of their own page, the request
// behind what is shown.

import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import path from "node:path";
import {describe, it} from "node:test";
import {ROOT} from "../daemon.mjs";
import {Daemon, Visit, barriers, eventually, launch} from "./page.js";

const PHONE = "I would have called you yesterday, but I lost my phone.";
const QUOTES = 'It\'s "50 % & more", isn\'t it?';

/** A page of a teacher's own, on another origin than the daemon. */
const course = createServer((request, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(`<!DOCTYPE html><title>Lesson</title><p style="height: 1500px">Lesson</p>${course.frame}`);
});
await new Promise((resolve) => course.listen(0, "127.0.0.1", resolve));
const COURSE = `http://127.0.0.1:${course.address().port}`;

/** A folder of models: the bundled English-German one by another name, and the same files said to translate back. */
function makeModels() {
    const folder = mkdtempSync(path.join(tmpdir(), "models-"));
    symlinkSync(path.join(ROOT, "weights/en-de"), path.join(folder, "second"));
    const back = path.join(folder, "de-en");
    mkdirSync(back);
    const original = path.join(ROOT, "tests/models/en-de");
    for (const name of readdirSync(original))
        if (name !== "tokenizer_config.json")
            symlinkSync(path.join(original, name), path.join(back, name));
    const config = JSON.parse(readFileSync(path.join(original, "tokenizer_config.json"), "utf8"));
    writeFileSync(path.join(back, "tokenizer_config.json"), JSON.stringify({...config, source_lang: "de", target_lang: "en"}));
    return folder;
}

const models = makeModels();
const [daemon, framed, browser] = await Promise.all([Daemon.start("--models-directory", models), Daemon.start("--frame-ancestors", `https://example.org, ${COURSE}`), launch()]);
process.on("exit", () => [daemon, framed].forEach((one) => one.process.kill("SIGKILL")));

function visiting(name, test, {options, on = daemon, allowing} = {}) {
    it(name, async () => {
        const visit = await Visit.begin(browser, on, options);
        try {
            await test(visit, visit.page);
        } catch (error) {
            await visit.shot(`failed-teach-${name.replace(/\W+/g, "-")}`).catch(() => {});
            await visit.context.close();
            throw error;
        }
        await visit.end({allowing});
    });
}

const drawn = async (page, at = "") => {
    await page.waitForSelector(`.moment[data-at^="${at}"]:not([aria-busy])`);
    await page.waitForSelector("#player:not([aria-busy])");
};

describe("copying", () => {
    /** What the button copies. */
    async function copied(page, box, name) {
        await page.evaluate(() => navigator.clipboard.writeText(""));
        await page.locator("#downloads").scrollIntoViewIfNeeded();
        await page.locator(`${box} [data-copy="${name}"]`).click();
        let text;
        await eventually(async () => assert.ok((text = await page.evaluate(() => navigator.clipboard.readText()))));
        return text;
    }

    const run = (command, ...args) => execFileSync(command, args, {encoding: "utf8"});

    visiting("gives commands that bring the numbers that are shown", async (visit, page) => {
        await visit.context.grantPermissions(["clipboard-read", "clipboard-write"]);
        await visit.open({q: QUOTES, hash: "#view=map&kind=cross&layer=2&head=3"});
        await visit.linked();
        await page.click("#table summary");
        await page.waitForSelector("#table td");
        const shown = () => page.$$eval("#table tbody tr", (rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.textContent))));
        const reply = JSON.parse(run("sh", "-c", await copied(page, "#viewer", "curl")));
        assert.equal(reply.sentences[0].source.text, QUOTES);
        const isShown = (rows) => eventually(async () => {
            const seen = await shown();
            assert.deepEqual(seen.map(({length}) => length), rows.map(({length}) => length));
            seen.flat().forEach((value, i) => assert.ok(Math.abs(value - rows.flat()[i]) < 2e-3, `${value}, expected ${rows.flat()[i]}`));
        });
        await isShown(reply.sentences[0].cross[0][0]);
        const python = await copied(page, "#viewer", "Python");
        assert.deepEqual(JSON.parse(run("python3", "-c", `${python}\nprint(json.dumps(reply))`).split("\n")[1]).sentences[0].cross, reply.sentences[0].cross);

        await page.selectOption("#head", "mean");
        await page.waitForFunction(() => /mean of all heads/.test(document.querySelector("#table caption")?.textContent));
        const mean = JSON.parse(run("sh", "-c", await copied(page, "#viewer", "curl"))).sentences[0].cross[0];
        await isShown(Array.isArray(mean[0][0]) ? mean[0] : mean);

        await page.click("#tab-positions");
        await page.waitForSelector("#positions-note:not(:empty)");
        const {n, matrix} = JSON.parse(run("sh", "-c", await copied(page, "#viewer", "curl")));
        assert.deepEqual([n, matrix.length], [64, 64]);
        assert.match(run("python3", "-c", await copied(page, "#viewer", "Python")), /matrix/);
    });

    visiting("gives the request of a moment, with what is switched off", async (visit, page) => {
        await visit.context.grantPermissions(["clipboard-read", "clipboard-write"]);
        await visit.open({q: PHONE, hash: "#view=why&step=3&at=6&layer=1&head=2&off=cross.1.6"});
        await drawn(page, "translation 6 3");
        const reply = JSON.parse(run("sh", "-c", await copied(page, "#player", "curl")));
        const [found] = reply.sentences;
        const shares = await page.$$eval("tr[data-column]", (rows) => rows.map((row) => row.cells[4].textContent));
        assert.deepEqual(shares, found.cross[0][0][0].map((weight) => `${(100 * weight).toFixed(1)} %`));
        assert.deepEqual(reply.switched_off, ["cross.1.6"]);
        await page.click("#moment-10");
        await drawn(page, "translation 10");
        assert.ok(JSON.parse(run("sh", "-c", await copied(page, "#player", "curl"))).sentences[0].logit_lens.length);
    });

    visiting("shows what is to be copied where the browser does not copy", async (visit, page) => {
        await page.addInitScript(() => {
            navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
            document.execCommand = () => false;
        });
        await visit.open({q: PHONE});
        await visit.linked();
        await page.locator("#downloads").scrollIntoViewIfNeeded();
        await page.click("#viewer [data-copy=curl]");
        await eventually(async () => assert.match(await page.inputValue("#viewer .copies textarea"), /^curl -s 'http/));
        assert.deepEqual(await barriers(page), []);
    });
});

describe("in a frame", () => {
    const code = (on, rest = "") => `<iframe src="${on.url}/?source=en&amp;target=de&amp;q=${encodeURIComponent(PHONE)}&amp;embed=why${rest}" width="900" height="620"></iframe>`;

    visiting("shows the card alone, keeps nothing and leaves the page around it where it is", async (visit, page) => {
        await visit.context.grantPermissions(["clipboard-read", "clipboard-write"]);
        await visit.open({q: PHONE, hash: "#view=why&step=3&at=11"});
        await drawn(page, "translation 11 3");
        await page.click('[data-copy="frame"]');
        await eventually(async () => assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^<iframe/));
        course.frame = await page.evaluate(() => navigator.clipboard.readText());
        await page.goto(COURSE);
        const frame = page.frameLocator("iframe");
        await frame.locator('.moment[data-at^="translation 11 3"]:not([aria-busy])').waitFor();
        assert.match(await frame.locator("#player").textContent(), /I would have called you yesterday, but I lost my phone\.\u2069 → \u2068Ich /);
        for (const hidden of [".top", "#source-text", "#translation", "#links", "#viewer", "footer", ".copies"])
            assert.equal(await frame.locator(hidden).first().isVisible(), false, hidden);
        const inner = page.frames()[1];
        assert.equal(await inner.evaluate(() => localStorage.length + document.cookie.length), 0);
        assert.equal(await page.evaluate(() => scrollY), 0);
        const [card, width] = await inner.evaluate(() => [document.querySelector("#why").getBoundingClientRect().width, document.documentElement.scrollWidth]);
        assert.ok(card > 800 && width <= 900);
        await frame.getByRole("button", {name: "Next step"}).click();
        await frame.locator('.moment[data-at^="translation 11 4"]:not([aria-busy])').waitFor();
        assert.match(inner.url(), /embed=why/);
        const whole = await frame.getByRole("link", {name: "Open the whole page"}).getAttribute("href");
        assert.match(whole, /step=4/);
        assert.doesNotMatch(whole, /embed/);
        await visit.shot("frame");
        visit.requests = visit.requests.filter((request) => !request.url().startsWith(COURSE));
    }, {on: framed});

    visiting("opens by itself at a moment of the page's choice", async (visit, page) => {
        course.frame = code(framed);
        await page.goto(COURSE);
        await page.frameLocator("iframe").locator(".moment[data-at]:not([aria-busy])").waitFor();
        visit.requests = visit.requests.filter((request) => !request.url().startsWith(COURSE));
    }, {on: framed});

    visiting("is not shown to sites that the operator has not named", async (visit, page) => {
        course.frame = code(daemon);
        await page.goto(COURSE);
        await eventually(() => assert.match(visit.problems.join(), /frame-ancestors 'none'/));
        assert.equal(await page.frameLocator("iframe").locator("#why").count(), 0);
        visit.requests = visit.requests.filter((request) => request.url().startsWith(daemon.url) && !request.url().includes("embed"));
    }, {allowing: /frame-ancestors|ERR_BLOCKED/});

    visiting("asks for no key, and says why there is nothing", async (visit, page) => {
        await page.route("**/languages", (route) => route.fulfill({status: 403, body: '{"error":"Please contact the server operator to get an API key"}'}));
        let asked = 0;
        page.on("dialog", (dialog) => dialog.dismiss(asked++));
        await page.goto(`${daemon.url}/?q=We+sing.&source=en&target=de&embed=why`);
        await page.waitForSelector("html[data-ready]");
        assert.ok(await page.isVisible("#error"));
        assert.equal(asked, 0);
    }, {allowing: /403/});
});

describe("the start page", () => {
    visiting("shows an example with the bundled model's own weights, and a walk through its steps", async (visit, page) => {
        await visit.open();
        await page.waitForSelector("#start:not([hidden])");
        const drawn = await page.$$eval("#start path", (paths) => paths.map((path) => Number(path.dataset.weight)));
        const [{alignment}] = (await daemon.attention({q: "Where is the train station?", model: "second"})).sentences;
        const {matrix} = alignment;
        [matrix[0][0], matrix[1][1], matrix[2][2], matrix[3][3], matrix[3][4]].forEach((weight, i) => assert.ok(Math.abs(drawn[i] - weight) < 0.02, `${drawn[i]}, expected ${weight}`));
        const links = page.locator("#start a");
        assert.equal(await links.count(), 7);
        assert.equal(visit.requests.filter((request) => request.method() === "POST").length, 0);
        for (const width of [390, 2560, 1280]) {
            await page.setViewportSize({width, height: 900});
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
            await visit.shot(`start-${width}`);
        }
        assert.deepEqual(await barriers(page), []);
        for (const [i, at] of [[4, "translation 6 3"], [2, "source 12 3"]]) {
            await visit.open();
            await links.nth(i).click();
            await page.waitForSelector(`.moment[data-at^="${at}"]:not([aria-busy])`);
            assert.equal(await page.isVisible("#start"), false);
        }
    });

    visiting("comes back with an empty text, in the dark too", async (visit, page) => {
        await visit.open();
        await page.waitForSelector("#start:not([hidden])");
        await page.fill("#source-text", "Thank you.");
        await visit.linked();
        assert.equal(await page.isVisible("#start"), false);
        await page.click("#clear");
        await page.waitForSelector("#start:not([hidden])");
        await page.fill("#source-text", "https://example.com/a?b=c");
        await eventually(async () => assert.equal(await page.textContent("#error"), "There is nothing here that the model could translate: the text stays as it is."));
        assert.equal(await page.textContent("#translation"), "https://example.com/a?b=c");
        await page.fill("#source-text", " \n ");
        await page.waitForSelector("#start:not([hidden])");
        await page.waitForSelector("#error", {state: "hidden"});
        assert.deepEqual(await barriers(page), []);
    }, {options: {colorScheme: "dark"}});
});

describe("comparing", () => {
    const ask = async (fields) => (await daemon.attention({split_sentences: "off", ...fields})).sentences[0];
    const total = ({output_tokens: tokens}) => tokens.reduce((sum, {logprob}) => sum + logprob, 0);
    const compared = (page, what) => page.waitForSelector(`#comparison[data-shown^="${what}"]:not([aria-busy])`);
    const marks = (page, side) => page.locator(`.compare-sides > div:nth-child(${side}) .compare-target mark`).allTextContents();

    visiting("the model's translation and the reader's own, and looks into that", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        assert.deepEqual(visit.requests.filter((request) => /compare/.test(request.url())), []);
        const first = await ask({q: PHONE});
        await page.click("#own");
        await compared(page, "yours alignment");
        assert.match(await page.textContent("#comparison"), /Both translations are the same\./);
        const own = first.target.text.replace("gestern", "heute");
        assert.notEqual(own, first.target.text);
        await page.fill("#comparison textarea", own);
        const second = await ask({q: PHONE, target_text: own});
        await eventually(async () => assert.deepEqual([await marks(page, 1), await marks(page, 2)], [["gestern"], ["heute"]]));
        const difference = Math.abs(total(second) - total(first)).toFixed(2);
        await eventually(async () => assert.equal(await page.textContent("#comparison [role=status]"), `The model finds yours less probable, by ${difference} in natural logarithms.`));
        await visit.shot("compare", "#compare");
        await page.getByRole("button", {name: "Look into this one above"}).click();
        await eventually(async () => assert.equal(await page.textContent("#translation"), own));
        await eventually(async () => assert.equal(await page.locator(".words").nth(1).textContent(), own));
    });

    visiting("two sentences, at an address", async (visit, page) => {
        const other = "I would have called you today, but I lost my phone.";
        await visit.open({q: PHONE, hash: `#${new URLSearchParams({view: "compare", with: "sentence", b: other, kind: "encoder", layer: 1, head: 2})}`});
        await compared(page, "sentence encoder 1 2");
        assert.equal(await page.locator(".compare-source mark").first().textContent(), "yesterday");
        assert.equal(await page.locator("#comparison .matrix").count(), 2);
        assert.ok((await visit.colours("#comparison .matrix canvas")) > 20);
        await page.locator("#comparison select").first().selectOption("cross");
        await compared(page, "sentence cross 1 2");
        assert.equal(new URL(page.url()).hash, `#${new URLSearchParams({view: "compare", with: "sentence", b: other, kind: "cross", layer: 1, head: 2})}`);
    });

    visiting("two models, and subtracts their weights where both have the same pieces", async (visit, page) => {
        const pieces = (one) => [...one.source_tokens, ...one.output_tokens].map(({piece}) => piece).join(" ");
        let found;
        for (const q of ["Thank you.", "We sing.", "I am tired.", "Good morning.", "Where is the train station?", "He is here."]) {
            const both = await Promise.all([ask({q}), ask({q, model: "second"})]);
            if (pieces(both[0]) === pieces(both[1]))
                found ??= {q, both};
        }
        assert.ok(found, "no sentence of these has the same pieces in both models");
        const [a, b] = found.both.map(({alignment}) => alignment.matrix.flat());
        await visit.open({q: found.q, hash: "#view=compare&with=model&b=second"});
        await compared(page, "model alignment");
        const cells = await page.locator("#comparison tbody td").allTextContents();
        assert.equal(cells.length, a.length);
        cells.forEach((cell, i) => assert.ok(Math.abs(Number(cell.replace("−", "-")) - 100 * (a[i] - b[i])) <= 0.6, `${cell}, expected ${100 * (a[i] - b[i])}`));
        await page.getByLabel("Your translation", {exact: true}).check();
        await compared(page, "yours alignment");
        assert.match(await page.textContent("#comparison"), /Both look alike, to a hundredth\./);
    });

    visiting("says what cannot be compared", async (visit, page) => {
        await visit.open({q: "Thank you.", hash: "#view=compare&with=sentence"});
        await eventually(async () => assert.match(await page.textContent("#comparison"), /Type a sentence/));
        await page.fill("#comparison textarea", " . ");
        await eventually(async () => assert.doesNotMatch(await page.textContent("#comparison"), /Type a sentence/));
        await page.fill("#comparison textarea", "The cat sits there and sleeps. ".repeat(400));
        await eventually(async () => assert.match(await page.textContent("#comparison"), /has read only its beginning/));
        await page.fill("#comparison textarea", "We sing.");
        await compared(page, "sentence alignment");
        await page.route("**/attention", (route) => route.fulfill({status: 400, body: '{"error":"not today"}'}));
        await page.fill("#comparison textarea", "We run.");
        await eventually(async () => assert.match(await page.textContent("#comparison"), /[Nn]ot today/));
    }, {allowing: /400/});

    for (const colorScheme of ["light", "dark"])
        visiting(`has no barriers and fits every width, in ${colorScheme}`, async (visit, page) => {
            for (const width of [390, 768, 1280, 2560]) {
                await page.setViewportSize({width, height: 900});
                await visit.open({q: PHONE, hash: "#view=compare&with=sentence&b=We+sing+and+lost+it.&kind=cross&layer=1&head=1"});
                await compared(page, "sentence cross 1 1");
                assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
                await visit.shot(`compare-${colorScheme}-${width}`, "#compare");
            }
            assert.deepEqual(await barriers(page), []);
        }, {options: {colorScheme}});
});

describe("choosing", () => {
    visiting("swaps the languages and the texts", async (visit, page) => {
        await visit.open({q: "Thank you."});
        await visit.linked();
        const text = await page.textContent("#translation");
        await page.click("#swap");
        await eventually(async () => assert.deepEqual([await page.inputValue("#source-lang"), await page.inputValue("#target-lang"), await page.inputValue("#source-text")], ["de", "en", text]));
        await visit.linked();
    });

    visiting("leaves the language to the server, and says which it found", async (visit, page) => {
        await visit.open({q: "Where is the train station, and when does it close?", source: "auto"});
        await visit.linked();
        await eventually(async () => assert.equal(await page.$eval("#source-lang", (select) => select.selectedOptions[0].textContent), "Detected: English"));
        await visit.targetWord("ist").first().click();
        await page.waitForSelector(".bars");
    });

    visiting("takes a model by its name, in the address, too", async (visit, page) => {
        await visit.open({q: PHONE});
        await visit.linked();
        await page.selectOption("#model-id", "second");
        await eventually(async () => assert.match(await page.textContent("#model"), /^second: /));
        assert.equal(new URL(page.url()).searchParams.get("model"), "second");
        await page.reload();
        await eventually(async () => assert.match(await page.textContent("#model"), /^second: /));
        await page.selectOption("#model-id", "");
        await eventually(async () => assert.match(await page.textContent("#model"), /^en-de: /));
    });
});

describe("docs/teaching.md", () => {
    const lessons = readFileSync(path.join(ROOT, "docs/teaching.md"), "utf8");
    const items = lessons.split(/^## /m).slice(1, 6).flatMap((lesson) => lesson.split(/^- /m).slice(1).map((item) => ({name: lesson.split("\n")[0], item: item.replace(/\s+/g, " ")})));

    it("has five lessons of addresses", () => {
        assert.equal(new Set(items.map(({name}) => name)).size, 5);
        assert.ok(items.every(({item}) => item.includes("](http://localhost:5000/?")));
    });

    it("shows at each address what the lesson says", async (test) => {
        const bundled = await Daemon.start("--model", path.join(ROOT, "weights/en-de"));
        test.after(() => bundled.stop()); // or a claim that fails would be waited for
        const visit = await Visit.begin(browser, bundled);
        const {page} = visit;
        for (const {name, item} of items) {
            let shown = "";
            for (const [, url] of item.matchAll(/\]\((http:[^)]*)\)/g)) {
                const fields = new URLSearchParams(new URL(url).hash.slice(1));
                const ready = {why: `.moment[data-at*=" ${fields.get("at")} ${fields.get("step")} "]:not([aria-busy])`, compare: "#comparison[data-shown]:not([aria-busy])", positions: "#positions-note:not(:empty)"}[fields.get("view")];
                await page.goto("about:blank");
                await page.goto(url.replace("http://localhost:5000", bundled.url));
                await visit.linked();
                await page.waitForSelector(ready ?? "#kind-note:not(:empty)");
                await page.waitForSelector("#player:not([aria-busy])", {state: "attached"});
                shown += (await page.evaluate(() => document.body.innerText)).replace(/[\u2068\u2069]/g, "").replace(/\s+/g, " ");
            }
            const claims = [...item.matchAll(/\*\*(.+?)\*\*/g)].map(([, claim]) => claim);
            assert.ok(claims.length, `nothing is claimed: ${item}`);
            for (const claim of claims)
                assert.ok(shown.includes(claim), `${name}: "${claim}" is not there: ${item}`);
        }
        await visit.end();
        assert.equal(await bundled.stop(), 0);
    });
});

describe("the end", () => {
    it("lets the daemons stop in good order", async () => {
        await browser.close();
        course.close();
        rmSync(models, {recursive: true});
        for (const one of [daemon, framed])
            assert.equal(await one.stop(), 0, one.log);
    });
});
