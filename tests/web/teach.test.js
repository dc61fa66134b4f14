// What teachers take from the page at /: a card in a frame of their own page, and the request behind what is shown.

import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {createServer} from "node:http";
import {describe, it} from "node:test";
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

const [daemon, framed, browser] = await Promise.all([Daemon.start(), Daemon.start("--frame-ancestors", `https://example.org, ${COURSE}`), launch()]);
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
        await page.waitForFunction(() => /mean of all heads/.test(document.querySelector("#table caption").textContent));
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
        assert.match(await frame.locator("#player").textContent(), /I would have called you yesterday, but I lost my phone\. → Ich /);
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

describe("the end", () => {
    it("lets the daemons stop in good order", async () => {
        await browser.close();
        course.close();
        for (const one of [daemon, framed])
            assert.equal(await one.stop(), 0, one.log);
    });
});
