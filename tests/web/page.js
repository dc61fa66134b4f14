// What the tests of the page stand on: a browser, and a page that watches itself.

import assert from "node:assert/strict";
import {existsSync, mkdirSync, readFileSync} from "node:fs";
import {createRequire} from "node:module";
import path from "node:path";
import {it} from "node:test";
import {chromium} from "playwright-core";
import {ROOT, SLOWNESS} from "../daemon.mjs";

export {Daemon, SLOWNESS} from "../daemon.mjs";

export const SHOTS = path.join(process.env.MT_BUILD_DIR ?? path.join(ROOT, "build/release"), "screenshots");
/** The directory of a model that is delivered with the program. */
export const bundled = (name) => path.join(ROOT, "weights", name);

// How long a page may take until what a test waits for is there: so long that a busy machine does not matter.
const WAIT_MS = 60_000 * SLOWNESS;

const CHROMIUM = process.env.CHROMIUM ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);
export const launch = () => chromium.launch({executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]});

/** A page of a context of its own that keeps what went wrong in it. */
export class Visit {
    static async begin(browser, daemon, options = {}) {
        const visit = new Visit();
        visit.daemon = daemon;
        visit.context = await browser.newContext({viewport: {width: 1280, height: 900}, colorScheme: "light", reducedMotion: "reduce", acceptDownloads: true, ...options});
        visit.problems = [];
        visit.requests = [];
        const page = (visit.page = await visit.context.newPage());
        page.setDefaultTimeout(WAIT_MS);
        page.on("console", (message) => message.type() === "error" && visit.problems.push(`console: ${message.text()}`));
        page.on("pageerror", (error) => visit.problems.push(`exception: ${error.stack}`));
        page.on("request", (request) => visit.requests.push(request));
        await page.addInitScript(() => {
            document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
        });
        return visit;
    }

    /** Opens the page, with the fields of a deep link. */
    async open({hash = "", ...fields} = {}) {
        const query = Object.keys(fields).length ? `?${new URLSearchParams({source: "en", target: "de", ...fields})}` : "";
        await this.page.goto(`${this.daemon.url}/${query}${hash}`);
        await this.page.waitForSelector("html[data-ready]");
    }

    /** Waits until the words of the translation are linked. */
    async linked() {
        await this.page.waitForSelector("#inside:not([hidden]):not(.stale) .word");
    }

    targetWord(text) {
        return this.page.locator(".words[aria-label^='Translation']").getByText(text, {exact: true});
    }

    sourceWord(text) {
        return this.page.locator(".words[aria-label^='Source']").getByText(text, {exact: true});
    }

    async shot(name, selector) {
        mkdirSync(SHOTS, {recursive: true});
        const file = path.join(SHOTS, `${name}.png`);
        await (selector ? this.page.locator(selector).screenshot({path: file}) : this.page.screenshot({path: file, fullPage: true}));
    }

    /** The file that a click brings. */
    async download(selector) {
        const [download] = await Promise.all([this.page.waitForEvent("download"), this.page.click(selector)]);
        return {name: download.suggestedFilename(), bytes: readFileSync(await download.path())};
    }

    /** Different colours on a canvas: a blank one has one. */
    colours(selector) {
        return this.page.$eval(selector, (canvas) => {
            const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(data.buffer)).size;
        });
    }

    /** Ends the visit; nothing may have gone wrong, and nothing have left the origin. */
    async end({allowing} = {}) {
        const left = this.requests.map((request) => request.url()).filter((url) => !url.startsWith(`${this.daemon.url}/`) && !/^(blob|data):/.test(url));
        await this.context.close();
        assert.deepEqual(left, [], "requests left the origin");
        assert.deepEqual(this.problems.filter((problem) => !allowing?.test(problem)), []);
    }
}

/** A test that makes a visit, which must end without a fault; on: another daemon. */
export const visitingWith = (browser, daemon) => (name, test, {options, allowing, on = daemon} = {}) =>
    it(name, async () => {
        const visit = await Visit.begin(browser, on, options);
        try {
            await test(visit, visit.page);
        } catch (error) {
            await visit.shot(`failed-${name.replace(/\W+/g, "-")}`).catch(() => {});
            await visit.context.close();
            throw error;
        }
        await visit.end({allowing});
    });

/** Asks again until the check passes: a page follows an action when the browser has time for it. */
export async function eventually(check) {
    for (const end = Date.now() + WAIT_MS; ; await new Promise((resolve) => setTimeout(resolve, 20)))
        try {
            return await check();
        } catch (error) {
            if (Date.now() > end)
                throw error;
        }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds that keeps people out. The page's policy forbids scripts of others, so it is put in by the debugger. */
export async function barriers(page) {
    await page.evaluate(AXE);
    // What is being computed is paler, and what changes is on its way from one colour to another: neither is the page.
    await page.waitForFunction(() => !document.querySelector("[aria-busy=true], .stale") && document.getAnimations().every((animation) => animation.effect.getComputedTiming().endTime === Infinity));
    const {violations} = await page.evaluate(() => window.axe.run({resultTypes: ["violations"]}));
    const serious = violations.filter(({impact}) => impact === "serious" || impact === "critical");
    return serious.map(({id, help, nodes}) => `${id}: ${help}: ${nodes.map(({html, failureSummary}) => `${html.slice(0, 160)} ${failureSummary}`).join(" | ")}`);
}
