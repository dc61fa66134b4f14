// The page at / in other languages than English: nothing is left in English, and no text is missing or unused.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import path from "node:path";
import {describe, it} from "node:test";
import {ROOT} from "../daemon.mjs";
import {Daemon, Visit, barriers, eventually, launch} from "./page.js";
import {FOLDER, PARTS, textsOfCode} from "./texts.js";

const LANGUAGES = ["de", "fr", "ja"];
const MOST_BYTES = 4096;
const Q = "We sing.";
// Names of formats, programs, settings, models and mathematics, which every language writes so.
const NAMES = new Set("attentiond API PNG SVG JSON HTML bertviz safetensors npy curl Python frame_ancestors ja en de pad sin cos cross encoder decoder pre post norm train station Bahnhof".split(" "));
/** Endings of the files that are translated. */
const ENDINGS = "txt srt vtt html po json arb properties strings yml md xml resx xliff tmx ts stringsdict xcstrings docx pptx xlsx odt odp ods epub".split(" ");
ENDINGS.forEach((ending) => NAMES.add(ending));

const [daemon, browser] = await Promise.all([Daemon.start("--model", path.join(ROOT, "weights/en-ja")), launch()]);
process.on("exit", () => daemon.process.kill("SIGKILL"));

function visiting(name, test, {options, allowing} = {}) {
    it(name, async () => {
        const visit = await Visit.begin(browser, daemon, options);
        try {
            await test(visit, visit.page);
        } catch (error) {
            await visit.shot(`failed-languages-${name.replace(/\W+/g, "-")}`).catch(() => {});
            await visit.context.close();
            throw error;
        }
        await visit.end({allowing});
    });
}

const read = (part, language) => JSON.parse(readFileSync(path.join(FOLDER, "text", `${part}.${language}.json`), "utf8"));

/** The texts of index.html and docs.html, as the pages themselves find them. */
async function textsOfPages(page) {
    return page.evaluate(async () => {
        const {textsOf} = await import("/web/text.js");
        const pages = await Promise.all(["/", "/docs"].map(async (path) => (await fetch(path)).text()));
        return pages.flatMap((html) => textsOf(new DOMParser().parseFromString(html, "text/html").documentElement).map(({key}) => key));
    });
}

describe("the files of translations", () => {
    visiting("have every text of the page and its code, and none that nobody says", async (visit, page) => {
        await visit.open();
        const code = textsOfCode();
        assert.ok(PARTS.every((part) => code[part].size > 20));
        const own = await textsOfPages(page);
        assert.ok(own.length > 60);
        for (const language of LANGUAGES) {
            const files = PARTS.map((part) => Object.keys(read(part, language)));
            assert.deepEqual(files.flat().filter((text, i, all) => all.indexOf(text) !== i), [], `${language}: twice`);
            const wanted = new Set([...own, ...PARTS.flatMap((part) => [...code[part]])]);
            assert.deepEqual([...wanted].filter((text) => !files.flat().includes(text)), [], `${language}: missing`);
            assert.deepEqual(files.flat().filter((text) => !wanted.has(text)), [], `${language}: unused`);
            PARTS.forEach((part, i) => {
                const there = new Set([...files[0], ...(part === "docs" ? [] : files[1]), ...files[i]]);
                assert.deepEqual([...code[part]].filter((text) => !there.has(text)), [], `${language}: not yet there where ${part} says it`);
            });
        }
    });

    it("have the placeholders of each text", () => {
        for (const language of LANGUAGES)
            for (const [text, translation] of PARTS.flatMap((part) => Object.entries(read(part, language)))) {
                const placeholders = (one) => [...new Set(one.match(/\{\d\}/g))].sort();
                assert.deepEqual(placeholders(translation), placeholders(text), `${language}: ${text}`);
            }
    });

    it("are small on the wire", async () => {
        for (const language of LANGUAGES)
            for (const part of PARTS) {
                const reply = await fetch(`${daemon.url}/web/${part}.${language}.json`, {headers: {"Accept-Encoding": "gzip"}});
                const size = Number(reply.headers.get("content-length"));
                assert.ok(size > 500 && size <= MOST_BYTES, `${part}.${language}: ${size} bytes`);
                assert.equal(Object.keys(await reply.json()).length, Object.keys(read(part, language)).length);
            }
    });

    visiting("are not fetched by whom English is enough", async (visit) => {
        await visit.open({q: Q, target: "ja", hash: "#view=why"});
        await visit.page.waitForSelector(".moment[data-at]:not([aria-busy])");
        assert.deepEqual(visit.requests.map((request) => request.url()).filter((url) => url.endsWith(".json")), []);
        assert.equal(await visit.page.getAttribute("html", "lang"), "en");
    });

    it("quote as their language does", () => {
        for (const part of PARTS) {
            for (const translation of Object.values(read(part, "de")))
                assert.doesNotMatch(translation, /"| %|“[^“]*”/, translation);
            for (const translation of Object.values(read(part, "fr")))
                assert.doesNotMatch(translation, /"|'| [:;?!%»]|« /, translation);
            for (const translation of Object.values(read(part, "ja")))
                assert.doesNotMatch(translation, /[“”]|, |\. |[a-z]'/, translation);
        }
    });
});

/** The Latin words that are to be read, by eye or by ear, but for names and text in other languages. */
function latinWords(page) {
    return page.evaluate(() => {
        const found = [];
        const isOther = (node) => node.closest("script, style, noscript, [translate=no], textarea, [lang]:not([lang=ja])");
        const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        for (let node = walker.currentNode; node; node = walker.nextNode())
            if (node.nodeType === Node.TEXT_NODE)
                found.push(isOther(node.parentElement) ? "" : node.data);
            else if (!isOther(node))
                found.push(...["aria-label", "title", "placeholder", "alt", "aria-roledescription", "data-empty"].map((name) => node.getAttribute(name) ?? ""));
        return [...new Set(found.join("\n").match(/[A-Za-z_][A-Za-z_]+/g))];
    });
}

describe("Japanese", () => {
    const japanese = {locale: "ja-JP"};
    const asked = async (fields) => (await (await fetch(`${daemon.url}/attention`, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({q: Q, source: "en", target: "ja", ...fields})})).json()).sentences[0];

    /** The words in the pieces that any view may show. */
    async function piecesOf() {
        const found = await asked({next_tokens: 10, logit_lens: 3});
        const off = await asked({switch_off: ["cross.1"]});
        const pieces = JSON.stringify([found, off]).match(/"piece":"[^"]*"/g).join(" ").replaceAll('"piece":', "");
        return new Set(pieces.match(/[A-Za-z]+/g));
    }

    visiting("is all that a Japanese browser reads, in every view", async (visit, page) => {
        const pieces = await piecesOf();
        const isClean = (where) => eventually(async () => assert.deepEqual((await latinWords(page)).filter((word) => !NAMES.has(word) && !pieces.has(word)), [], where));
        await visit.open();
        assert.equal(await page.getAttribute("html", "lang"), "ja");
        assert.match(await page.title(), /翻訳/);
        await isClean("the start page");
        await visit.shot("ja-start");
        await visit.open({q: Q, target: "ja"});
        await visit.linked();
        await isClean("links");
        assert.deepEqual(await page.locator("#source-lang option").allTextContents(), ["英語", "言語を自動判定"]);
        for (const word of await page.locator(".word").all()) {
            await word.focus();
            await isClean("a word");
        }
        for (const piece of await page.locator("#pieces .piece").all()) {
            await piece.click();
            await page.waitForSelector("#step .bars");
            await isClean("a step");
        }
        for (const view of ["map", "grid", "head", "positions"])
            for (const kind of view === "positions" ? [""] : ["cross", "encoder", "decoder"]) {
                await page.click(`#tab-${view}`);
                if (kind)
                    await page.check(`#kind [value=${kind}]`);
                await page.waitForSelector(`#view-${view}:not([hidden]):not([aria-busy])`);
                await isClean(`${view} ${kind}`);
            }
        await page.click("#tab-map");
        await page.click("#table summary");
        await page.locator("#map .matrix").focus();
        await page.keyboard.press("ArrowDown");
        await isClean("a cell");
        await visit.shot("ja-views");
    }, {options: japanese});

    visiting("is what the player, its switches and the comparison say", async (visit, page) => {
        const pieces = await piecesOf();
        const isClean = (where) => eventually(async () => assert.deepEqual((await latinWords(page)).filter((word) => !NAMES.has(word) && !pieces.has(word)), [], where));
        for (const [side, moments] of [["translation", [14, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]], ["source", [14, 1, 2, 12, 5, 8, 9]]]) {
            await visit.open({q: Q, target: "ja", hash: `#view=why&step=1&side=${side}&at=${moments[0]}`});
            for (const at of moments) {
                await page.waitForSelector("#player:not([aria-busy]) .moment:not([aria-busy])");
                await page.click(`#moment-${at}`);
                await page.waitForSelector(`.moment[data-at^="${side} ${at} "]:not([aria-busy])`);
                await page.$$eval("#moment details", (all) => all.forEach((details) => (details.open = true)));
                if ([4, 6, 12].includes(at)) {
                    await page.locator("tr[data-column] .row").first().click();
                    await page.waitForSelector(".roles");
                }
                await isClean(`${side} ${at}`);
                await visit.shot(`ja-${side}-${at}`, "#why");
            }
        }
        await page.click(".what-if summary");
        await page.locator("[data-name='cross.1']").click();
        await page.waitForFunction(() => document.querySelectorAll(".outcome").length === 2);
        await isClean("what if");
        await page.click("#open-compare");
        for (const [mode, text] of [["yours", "私たちは歌う。"], ["sentence", "We sing."], ["model", ""]]) {
            await page.check(`#comparison [value=${mode}]`);
            if (text) {
                await page.fill("#comparison textarea", text);
                await page.waitForSelector("#comparison[data-shown]:not([aria-busy])");
            }
            await isClean(`compare ${mode}`);
        }
        await page.goto("about:blank");
        await visit.open({q: Q, target: "ja", hash: "#view=compare&with=model&b=nonsense"});
        await page.waitForSelector("#comparison .hint");
        await isClean("a model that is not there");
    }, {options: japanese});

    visiting("is spoken where something is wrong, too", async (visit, page) => {
        const isClean = (where) => eventually(async () => {
            assert.ok(await page.isVisible("#error"));
            assert.deepEqual((await latinWords(page)).filter((word) => !NAMES.has(word)), [], where);
        });
        for (const status of [404, 413, 429, 500, 502, 503, 504]) {
            await page.unroute("**/translate");
            await page.route("**/translate", (route) => route.fulfill({status, headers: {"Retry-After": "7200"}, body: "{}"}));
            await visit.open();
            await page.fill("#source-text", "愛");
            await isClean(String(status));
        }
        await page.unroute("**/translate");
        await page.route("**/translate", (route) => route.abort());
        await page.fill("#source-text", "夢");
        await isClean("no answer");
        await page.unroute("**/translate");
        for (const [status, error] of [[400, "no way leads from ja to de in at most 3 models"], [400, "the model en-ja translates en to ja, not de"], [404, 'model: there is no "愛", expected one that GET /models lists'], [413, "the request body is longer than this server accepts"], [503, "the queue is full: 512 sentences wait"], [504, "the request took longer than 10.0 s"]]) {
            await page.unroute("**/translate");
            await page.route("**/translate", (route) => route.fulfill({status, headers: {"Retry-After": "7200"}, body: JSON.stringify({error})}));
            await visit.open();
            await page.fill("#source-text", "愛");
            await isClean(error);
        }
        await page.unroute("**/translate");
        await visit.open({q: "¿Dónde está la estación de tren, y cuándo cierra?", source: "auto", target: "ja"});
        await eventually(async () => assert.match(await page.textContent("#error"), /スペイン語.*日本語/));
        await isClean("a language that is not served");
    }, {options: japanese, allowing: /Failed to load resource/});

    visiting("is spoken of an address that leads nowhere", async (visit, page) => {
        await visit.open({q: Q, target: "ja", hash: "#view=why&step=0&at=11&ids=99999"});
        await page.waitForSelector("#moment .error");
        const pieces = await piecesOf();
        assert.deepEqual((await latinWords(page)).filter((word) => !NAMES.has(word) && !pieces.has(word)), []);
    }, {options: japanese, allowing: /Failed to load resource/});

    /** Names of fields and examples, and values that fields may have. */
    function namesOf(node, found = new Set(["OpenAPI"])) {
        for (const [key, value] of Object.entries(node ?? {})) {
            const names = ["properties", "examples"].includes(key) ? Object.keys(value) : ["const", "default", "enum"].includes(key) ? [JSON.stringify(value)] : [];
            names.forEach((name) => name.match(/\w\w+/g)?.forEach((word) => found.add(word)));
            if (typeof value === "object")
                namesOf(value, found);
        }
        return found;
    }

    visiting("stands around the description of the API, which is in English", async (visit, page) => {
        const names = namesOf(await (await fetch(`${daemon.url}/openapi.json`)).json());
        const isClean = (where) => eventually(async () => assert.deepEqual((await latinWords(page)).filter((word) => !NAMES.has(word) && !names.has(word)), [], where));
        await visit.open();
        await page.click("footer a");
        await page.waitForSelector(".operation");
        await isClean("the description");
        assert.match(await page.textContent(".intro .hint"), /説明文は、.*英語です。$/);
        assert.equal(await page.getAttribute(".operation .prose", "lang"), "en");
        await page.click("#health .try > summary");
        await page.click("#health .send");
        await page.waitForSelector("#health .verdict");
        await page.$$eval("pre", (all) => all.forEach((one) => one.setAttribute("translate", "no")));
        await eventually(async () => assert.match(await page.textContent("#health .verdict"), /^200 OK（[\d,]+ ms、application\/json）$/));
        await page.$$eval("#health .verdict", (all) => all.forEach((one) => one.replaceChildren()));
        await page.evaluate(() => document.querySelector("#status").replaceChildren());
        await isClean("an answer");
        assert.deepEqual(await barriers(page), []);
        await visit.shot("ja-docs", ".intro"); // all of it is 20,000 pixels long
        await page.selectOption("#page-language", "de");
        await page.waitForSelector("html[lang=de][data-ready]");
        assert.equal(await page.title(), "attentiond: die API");
        await page.goto(`${daemon.url}/docs?lang=fr`);
        await page.waitForSelector("html[lang=fr][data-ready]");
        await page.click(".tagline a");
        await page.waitForSelector("html[lang=fr][data-ready] #source-text");
    }, {options: japanese});

    visiting("is the first that a Japanese browser shows, unless it is late", async (visit, page) => {
        const held = [];
        await page.route("**/web/page.ja.json", (route) => held.push(route));
        await page.addInitScript(() => {
            window.seen = [];
            for (const type of ["animationstart", "animationend"])
                document.addEventListener(type, ({animationName}) => window.seen.push(`${type} ${animationName}`));
        });
        await page.goto(daemon.url, {waitUntil: "commit"});
        await page.waitForFunction(() => String(window.seen) === "animationstart wait,animationend wait");
        assert.equal(await page.evaluate(() => getComputedStyle(document.body).visibility), "visible");
        assert.equal(await page.getAttribute("html", "data-said"), null);
        await eventually(() => assert.equal(held.length, 1)); // a busy machine asks for it after the wait's end
        await held[0].continue();
        await page.waitForSelector("html[data-said=ja]");
    }, {options: japanese});

    visiting("has no barriers and fits a phone", async (visit, page) => {
        await visit.open({q: Q, target: "ja", hash: "#view=why&step=1&at=6"});
        await page.waitForSelector(".moment[data-at]:not([aria-busy])");
        assert.deepEqual(await barriers(page), []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    }, {options: {...japanese, viewport: {width: 390, height: 844}, colorScheme: "dark"}});
});

describe("choosing", () => {
    for (const [locale, word, share] of [["de-CH", "Vergleichen", /^\d+\u00a0%$/], ["fr-CA", "Comparer", /^\d+\u202f%$/], ["nl", "Compare", /^\d+ %$/]])
        visiting(`follows a browser in ${locale}, with its numbers`, async (visit, page) => {
            await visit.open({q: Q, target: "ja"});
            await visit.linked();
            assert.equal((await page.textContent("#compare-title")).trim(), word);
            await page.locator("#pieces .piece").first().click();
            await page.waitForSelector("#step .bars");
            assert.match(await page.locator("#step .bars .value").first().textContent(), share);
            for (const width of [390, 2560, 1280]) {
                await page.setViewportSize({width, height: 900});
                assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
            }
            assert.deepEqual(await barriers(page), []);
            await visit.shot(`language-${locale}`);
        }, {options: {locale}});

    visiting("keeps what the reader chose, and the text", async (visit, page) => {
        const long = `${"We sing. ".repeat(200)}The end.`;
        await visit.open();
        await page.fill("#source-text", long);
        await page.focus("#page-language");
        await page.selectOption("#page-language", "fr");
        await page.waitForSelector("html[lang=fr][data-ready]");
        assert.equal(await page.inputValue("#source-text"), long);
        await visit.open();
        assert.equal(await page.getAttribute("html", "lang"), "fr");
        await page.goto(`${daemon.url}/?lang=ja`);
        await page.waitForSelector("html[lang=ja][data-ready]");
        await page.fill("#source-text", Q);
        await page.waitForFunction((q) => new URLSearchParams(location.search).get("q") === q, Q);
        assert.equal(new URL(page.url()).searchParams.get("lang"), "ja");
        await page.goto(`${daemon.url}/?lang=nonsense`);
        await page.waitForSelector("html[lang=fr][data-ready]");
    }, {allowing: /Failed to fetch/}); // It is left while it translates.

    visiting("speaks English where the translations do not come", async (visit, page) => {
        await page.route("**/web/*.de.json", (route) => route.fulfill({status: 500, body: "no"}));
        await visit.open({q: Q, target: "ja"});
        await visit.linked();
        assert.equal((await page.textContent("#compare-title")).trim(), "Compare");
    }, {options: {locale: "de"}, allowing: /500/});
});

describe("the end", () => {
    it("lets the daemon stop in good order", async () => {
        await browser.close();
        assert.equal(await daemon.stop(), 0, daemon.log);
    });
});
