// The page at /docs, in Chromium against a running daemon.

import assert from "node:assert/strict";
import {describe, it} from "node:test";
import {Daemon, Visit, barriers, launch} from "./page.js";

const PHONE = {viewport: {width: 360, height: 740}, deviceScaleFactor: 2, isMobile: true, hasTouch: true};

// Not in a hook: those of the outermost level are not run by node 18.
const [daemon, browser] = await Promise.all([Daemon.start(), launch()]);
process.on("exit", () => daemon.process.kill("SIGKILL"));
const spec = await (await fetch(`${daemon.url}/openapi.json`)).json();
const operations = Object.entries(spec.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({path, method, ...operation})));

function visiting(name, test, {options, allowing} = {}) {
    it(name, async () => {
        const visit = await Visit.begin(browser, daemon, options);
        try {
            await test(visit, visit.page);
        } catch (error) {
            await visit.shot(`failed-docs-${name.replace(/\W+/g, "-")}`).catch(() => {});
            await visit.context.close();
            throw error;
        }
        await visit.end({allowing});
    });
}

async function open(visit, hash = "") {
    await visit.page.goto(`${visit.daemon.url}/docs${hash}`);
    await visit.page.waitForSelector("html[data-ready]");
}

/** The opened form of an operation. */
async function trial(page, id) {
    await page.click(`#${id} .try > summary`);
    return page.locator(`#${id} .try`);
}

/** What the form shows once the answer is complete. */
async function answer(form) {
    await form.locator(".verdict:has-text(' ms,')").waitFor();
    return form.locator("[aria-label='The answer']").textContent();
}

describe("reading", () => {
    visiting("shows every operation, its fields and its answers", async (visit, page) => {
        await open(visit);
        const cards = await page.$$eval(".operation", (all) => all.map((card) => ({id: card.id, title: card.querySelector("h3").textContent, text: card.textContent, codes: [...card.querySelectorAll(".answers .code")].map((code) => code.textContent)})));
        assert.deepEqual(cards.map(({id}) => id).sort(), operations.map(({operationId}) => operationId).sort());
        for (const {operationId, path, method, summary, responses, requestBody} of operations) {
            const {title, text, codes} = cards.find(({id}) => id === operationId);
            assert.equal(title, `${method.toUpperCase()}${path}`);
            assert.deepEqual(codes, Object.keys(responses).map((status) => status.replace("default", "else")));
            for (const part of [summary, ...Object.keys(requestBody?.content ?? {})])
                assert.ok(text.includes(part), part);
        }
        const card = page.locator("#schema-TranslateRequest");
        assert.deepEqual(await card.locator(".fields > li > .field-name").allTextContents(), Object.keys(spec.components.schemas.TranslateRequest.properties));
        assert.equal(await card.locator(".needed").count(), 3);
        assert.match(await card.locator("li", {hasText: /^length_penalty/}).textContent(), /number.*at least 0; at most 10/);
        await visit.shot("docs", ".intro");
    });

    visiting("has a target for each of its links", async (visit, page) => {
        await open(visit);
        const missing = await page.$$eval("a[href^='#']", (links) => links.map((link) => link.getAttribute("href")).filter((href) => !document.getElementById(href.slice(1))));
        assert.deepEqual(missing, []);
        assert.ok((await page.locator("#contents a").count()) > operations.length);
    });

    visiting("goes where a link points", async (visit, page) => {
        await open(visit, "#positions");
        assert.ok(Math.abs(await page.$eval("#positions", (card) => card.getBoundingClientRect().top)) < 40);
    });

    visiting("is linked from the page and links back", async (visit, page) => {
        await visit.open();
        await page.click("footer a");
        await page.waitForSelector(".operation");
        await page.click(".top a");
        await page.waitForSelector("#source-text");
    });

    visiting("says what is wrong where there is no description", async (visit, page) => {
        await page.route("**/openapi.json", (route) => route.fulfill({status: 500, body: ""}));
        await open(visit);
        assert.match(await page.textContent("#error"), /cannot be shown\. The server answered 500/);
    }, {allowing: /500/});

    visiting("breaks long paths behind slashes and underscores", async (visit, page) => {
        await open(visit);
        const broken = await page.$$eval("#contents a > span:last-child", (all) => all.flatMap((name) => [...name.childNodes].flatMap((node) => [...(node.data ?? "").matchAll(/[\w{}]+/g)].filter(({0: word, index}) => {
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            return range.getClientRects().length > 1;
        }).map(([word]) => word))));
        assert.deepEqual(broken, []);
        assert.ok(await page.getByText("/download_file/{name}").first().isVisible());
    });
});

describe("trying", () => {
    visiting("sends each example and shows its answer", async (visit, page) => {
        await open(visit);
        const form = await trial(page, "translate");
        const {examples} = spec.paths["/translate"].post.requestBody.content["application/json"];
        const answers = spec.paths["/translate"].post.responses[200].content;
        for (const name of Object.keys(examples)) {
            await form.getByLabel("Example").selectOption(name);
            await form.getByRole("button", {name: "Send"}).click();
            const text = await answer(form);
            const [type, content] = Object.entries(answers).find(([, content]) => name in content.examples);
            assert.deepEqual(type === "application/json" ? JSON.parse(text) : text, content.examples[name].value);
            assert.match(await form.locator(".verdict").textContent(), new RegExp(`^200 OK in [\\d,]+ ms, ${type}`));
        }
        assert.match(await form.locator("[aria-label='The same with curl']").textContent(), /^curl -s 'http:.*\/translate' -H 'Content-Type: application\/json' -d '\{"q":/);
        await visit.shot("docs-try", "#translate");
    });

    visiting("sends a form, and what was changed", async (visit, page) => {
        await open(visit);
        const form = await trial(page, "translate");
        await form.getByLabel("Sent as").selectOption("application/x-www-form-urlencoded");
        await form.getByLabel("Fields").fill('{"q": "Rain & snow = 100 %", "source": "de", "target": "de"}');
        const [request] = await Promise.all([page.waitForRequest("**/translate"), form.getByRole("button", {name: "Send"}).click()]);
        assert.match(request.headers()["content-type"], /^application\/x-www-form-urlencoded/);
        assert.deepEqual(JSON.parse(await answer(form)), {translatedText: "Rain & snow = 100 %"});
    });

    visiting("shows refusals, and fields that are no JSON", async (visit, page) => {
        await open(visit);
        const form = await trial(page, "translate");
        await form.getByLabel("Fields").fill('{"q": "Hello.", "source": "en", "target": "zz"}');
        await form.getByRole("button", {name: "Send"}).click();
        assert.deepEqual(JSON.parse(await answer(form)), {error: "zz is not supported"});
        assert.match(await form.locator(".verdict.bad").textContent(), /^400 Bad Request/);
        await form.getByLabel("Fields").fill('{"q": ');
        await form.getByRole("button", {name: "Send"}).click();
        await form.locator(".verdict", {hasText: "The fields are no JSON"}).waitFor();
    }, {allowing: /400/});

    visiting("takes parameters, and shows a picture", async (visit, page) => {
        await open(visit);
        const form = await trial(page, "positions");
        await form.getByLabel("format").selectOption("png");
        await form.getByRole("button", {name: "Send"}).click();
        const picture = form.locator("img");
        await picture.waitFor();
        await page.waitForFunction((image) => image.naturalWidth > 0, await picture.elementHandle());
        assert.match(await form.locator("[aria-label='The same with curl']").textContent(), /\/positions\?n=16&format=png'$/);
        await form.getByLabel("format").selectOption("npy");
        await form.getByRole("button", {name: "Send"}).click();
        await form.getByRole("link", {name: /Save the reply/}).waitFor();
        const file = await visit.download("#positions .outcome a");
        assert.equal(file.bytes.subarray(1, 6).toString(), "NUMPY");
    });

    visiting("sends a file, written or chosen, and a key", async (visit, page) => {
        await open(visit);
        const form = await trial(page, "translateFile");
        const fetched = async () => (await fetch(JSON.parse(await answer(form)).translatedFileUrl)).text();
        await form.getByLabel("Authorization").fill("Bearer nobody-asks");
        const [request] = await Promise.all([page.waitForRequest("**/translate_file"), form.getByRole("button", {name: "Send"}).click()]);
        assert.equal(request.headers().authorization, "Bearer nobody-asks");
        assert.match(await fetched(), /-->.*\nWo ist der Bahnhof\?\n$/);
        await form.getByLabel("file", {exact: true}).setInputFiles({name: "one.txt", mimeType: "text/plain", buffer: Buffer.from("We sing.")});
        await form.getByRole("button", {name: "Send"}).click();
        await form.locator("[aria-label='The same with curl']", {hasText: "file=@one.txt"}).waitFor();
        assert.equal(await fetched(), "Wir singen.");
    });

    visiting("fills in a path, and a header", async (visit, page) => {
        await open(visit);
        const file = await trial(page, "file");
        await file.getByRole("button", {name: "Send"}).click();
        assert.match(await answer(file), /:root \{/);
        const form = await trial(page, "detect");
        await form.getByLabel("X-Request-ID").fill("abc-1");
        const [request] = await Promise.all([page.waitForRequest("**/detect"), form.getByRole("button", {name: "Send"}).click()]);
        assert.equal(request.headers()["x-request-id"], "abc-1");
        await answer(form);
    });
});

describe("for everyone", () => {
    for (const colorScheme of ["light", "dark"])
        visiting(`has no barriers that axe-core knows, in ${colorScheme}`, async (visit, page) => {
            await open(visit);
            assert.deepEqual(await barriers(page), []);
            const form = await trial(page, "translate");
            await form.getByRole("button", {name: "Send"}).click();
            await answer(form);
            await page.$$eval("details", (all) => all.forEach((one) => (one.open = true)));
            await page.locator(".try form").nth(operations.length - 1).waitFor();
            assert.deepEqual(await barriers(page), [], "all open");
        }, {options: {colorScheme}});

    visiting("can be used with the keyboard alone", async (visit, page) => {
        await open(visit);
        await page.keyboard.press("Tab");
        assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
        await page.keyboard.press("Enter");
        assert.equal(await page.evaluate(() => document.activeElement.id), "content");
        const summary = page.locator("#languages .try > summary");
        await summary.focus();
        await page.keyboard.press("Enter");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        assert.ok(JSON.parse(await answer(page.locator("#languages .try"))).length > 0);
    });

    visiting("fits a phone", async (visit, page) => {
        const width = () => page.evaluate(() => document.documentElement.scrollWidth);
        await open(visit);
        assert.equal(await width(), 360);
        await page.tap("#contents summary");
        await page.locator("#contents a", {hasText: /POST\s*\/attention/}).tap();
        assert.equal(await page.$eval("#contents details", (list) => list.open), false);
        const form = await trial(page, "attention");
        await form.getByRole("button", {name: "Send"}).tap();
        await answer(form);
        await visit.shot("docs-phone", "#attention .try");
        await page.$$eval("details", (all) => all.forEach((one) => (one.open = true)));
        assert.equal(await width(), 360);
    }, {options: PHONE});
});

describe("the end", () => {
    it("lets the daemon stop in good order", async () => {
        await browser.close();
        assert.equal(await daemon.stop(), 0, daemon.log);
    });
});
