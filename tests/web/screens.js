// Every view of the page in both themes, on a phone and a desk, to be looked at:
//
//   node tests/web/screens.js FOLDER [language] [view...]

import {mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {Daemon, Visit, bundled, launch} from "./page.js";

const PHONE = "I would have called you yesterday, but I lost my phone.";
const WIDTHS = [390, 1440];
const MOST_HEIGHT = 1500;

/** A folder of models: the Japanese one, and the German one said to be of languages that are written from right to left. */
function makeModels() {
    const folder = mkdtempSync(path.join(tmpdir(), "screens-"));
    const [original, other] = [bundled("en-de"), path.join(folder, "he-ar")];
    symlinkSync(bundled("en-ja"), path.join(folder, "en-ja"));
    mkdirSync(other);
    const name = "tokenizer_config.json";
    readdirSync(original).filter((one) => one !== name).forEach((one) => symlinkSync(path.join(original, one), path.join(other, one)));
    const config = JSON.parse(readFileSync(path.join(original, name), "utf8"));
    writeFileSync(path.join(other, name), JSON.stringify({...config, source_lang: "he", target_lang: "ar"}));
    return folder;
}

const why = (at, side = "translation") => ({q: PHONE, hash: `#view=why&step=3&at=${at}&layer=1&head=2${side === "source" ? "&side=source" : ""}`});
const view = (name, rest = "") => ({q: PHONE, hash: `#view=${name}${rest}`});

const VIEWS = {
    start: {},
    map: view("map"),
    "map-cross": view("map", "&kind=cross&layer=0&head=7"),
    grid: view("grid", "&kind=encoder"),
    head: view("head", "&kind=cross&layer=0&head=7"),
    positions: view("positions"),
    ...Object.fromEntries([14, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((at) => [`why-${at}`, why(at)])),
    ...Object.fromEntries([14, 1, 2, 12, 5, 8, 9].map((at) => [`why-source-${at}`, why(at, "source")])),
    "what-if": {q: PHONE, hash: "#view=why&step=3&at=6&layer=0&head=7&off=cross.1&without=5"},
    "compare-yours": {q: PHONE, hash: "#view=compare&with=yours&b=Ich+h%C3%A4tte+dich+gestern+angerufen."},
    "compare-sentence": {q: "The bank of the river was green.", hash: "#view=compare&with=sentence&b=The+bank+lends+money.&kind=encoder&layer=2&head=mean"},
    japanese: {q: "I would like to go to the station tomorrow.", target: "ja"},
    "japanese-why": {q: "I would like to go to the station tomorrow.", target: "ja", hash: "#view=why&step=2&at=6"},
    long: {q: Array(12).fill(PHONE).join(" ")},
    "right-to-left": {q: PHONE, source: "he", target: "ar", hash: "#view=map"},
    "right-to-left-why": {q: PHONE, source: "he", target: "ar", hash: "#view=why&step=2&at=6"},
    unknown: {q: "Hi", source: "xx", target: "de"},
    "too-long": {q: "word ".repeat(1200)},
    docs: {address: "docs"},
};

const SHOWN = {
    why: ".moment[data-at]:not([aria-busy])",
    compare: "#comparison[data-shown]:not([aria-busy])",
};

const CARDS = {why: "#why", compare: "#compare"};

async function show(visit, {address, hash = "", ...fields}, language) {
    const {page} = visit;
    const query = new URLSearchParams({...(fields.q && {source: "en", target: "de"}), ...fields, lang: language});
    await page.goto(`${visit.daemon.url}/${address ?? ""}?${query}${hash}`);
    await page.waitForSelector(address ? ".operation" : "html[data-ready]");
    const view = /view=(\w+)/.exec(hash)?.[1];
    if (hash || fields.target === "ja")
        await visit.linked();
    if (SHOWN[view])
        await page.waitForSelector(SHOWN[view]);
    await page.waitForLoadState("networkidle");
    await page.evaluate(() => document.activeElement.blur());
}

/** The card that is looked at, or all of the page, in parts that a screen holds. */
async function shoot(page, {hash = "", address}, name) {
    const card = CARDS[/view=(\w+)/.exec(hash)?.[1]] ?? "body";
    const {x, y, width, height} = await page.locator(card).evaluate((node) => {
        const box = node.getBoundingClientRect();
        return {x: box.x, y: box.y + scrollY, width: box.width, height: box.height};
    });
    const end = Math.min(y + height, address ? MOST_HEIGHT : Infinity);
    for (let [top, part] = [y, 1]; top < end; top += MOST_HEIGHT, part++)
        await page.screenshot({path: `${name}-${part}.png`, fullPage: true, clip: {x, y: top, width, height: Math.min(MOST_HEIGHT, end - top)}});
}

const [folder, language = "en", ...views] = process.argv.slice(2);
const models = makeModels();
mkdirSync(folder, {recursive: true});
const [daemon, browser] = await Promise.all([Daemon.start("--model", bundled("en-de"), "--models-directory", models), launch()]);
for (const colorScheme of ["light", "dark"])
    for (const width of WIDTHS) {
        const visit = await Visit.begin(browser, daemon, {colorScheme, viewport: {width, height: 900}});
        for (const name of views.length ? views : Object.keys(VIEWS)) {
            await show(visit, VIEWS[name], language);
            const wide = await visit.page.evaluate(() => document.documentElement.scrollWidth);
            if (wide !== width)
                console.log(`${name} is ${wide} px wide at ${width}`);
            await shoot(visit.page, VIEWS[name], path.join(folder, `${language}-${name}-${width}-${colorScheme}`));
        }
        await visit.context.close();
    }
await browser.close();
await daemon.stop();
rmSync(models, {recursive: true});
