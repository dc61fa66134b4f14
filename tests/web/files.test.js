// Files on the page at /, in Chromium against a running daemon: chosen, dropped, translated, saved, refused.

import assert from "node:assert/strict";
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {describe, it} from "node:test";
import {Daemon, barriers, bundled, eventually, launch, visitingWith} from "./page.js";

const SRT = "1\n00:00:01,000 --> 00:00:02,000\nWhere is the train station?\n\n2\n00:00:03,000 --> 00:00:04,000\n♪\n";
const PO = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "Thank you."\nmsgstr ""\n\nmsgid "OK"\nmsgstr ""\n';
const BIG_BYTES = 3_000_000;

const [daemon, without, browser] = await Promise.all([
    Daemon.start("--model", bundled("en-de"), "--max-document-bytes", "2000000", "--max-text-chars", "10000"),
    Daemon.start("--files-translation", "off"),
    launch(),
]);
process.on("exit", () => [daemon, without].forEach((one) => one.process.kill("SIGKILL")));

const folder = mkdtempSync(path.join(tmpdir(), "attentiond-files-"));
const visiting = visitingWith(browser, daemon);

function fileOf(name, content) {
    const file = path.join(folder, name);
    writeFileSync(file, content);
    return file;
}

async function choose(page, ...files) {
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.click("#file")]);
    await chooser.setFiles(files);
}

/** Lets go of files above the page. */
async function drop(page, ...files) {
    const data = await page.evaluateHandle((all) => {
        const transfer = new DataTransfer();
        for (const [name, content] of all)
            transfer.items.add(new File([content], name));
        return transfer;
    }, files);
    await page.dispatchEvent("footer", "dragover", {dataTransfer: data});
    await eventually(async () => assert.equal(await page.locator(".dropping").count(), 1));
    await page.dispatchEvent("footer", "drop", {dataTransfer: data});
    await eventually(async () => assert.equal(await page.locator(".dropping").count(), 0));
}

const rows = (page, state) => page.locator(`.file[data-state=${state}]`);

async function translated(file, name) {
    const form = new FormData();
    form.append("file", new File([file], name));
    form.append("source", "en");
    form.append("target", "de");
    const {translatedFileUrl} = await (await fetch(`${daemon.url}/translate_file`, {method: "POST", body: form})).json();
    return Buffer.from(await (await fetch(translatedFileUrl)).arrayBuffer());
}

async function saved(page, row) {
    const [download] = await Promise.all([page.waitForEvent("download"), row.getByText("Save").click()]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
}

describe("a file", () => {
    visiting("that is chosen comes back, with what became of its texts", async (visit, page) => {
        await visit.open();
        assert.ok(!visit.requests.some((request) => request.url().includes("files")), "what few need is not loaded by all");
        await choose(page, fileOf("film.srt", SRT));
        await rows(page, "done").waitFor();
        assert.match(await page.textContent(".file"), /film\.srtEnglish → German.*Texts translated: 1 of 1\. Encoding: UTF-8\./);
        await eventually(async () => assert.match(await page.textContent("#status"), /^film\.srt: Texts translated: 1 of 1/));
        assert.deepEqual(await saved(page, page.locator(".file")), ["film.de.srt", await translated(SRT, "film.srt")]);
        assert.deepEqual(await barriers(page), []);
        await visit.shot("files");
    });

    visiting("that is dropped anywhere, and others after it, one after the other", async (visit, page) => {
        await visit.open();
        await drop(page, ["a.po", PO], ["für dich.txt", "Thank you.\n"]);
        await drop(page, ["c.txt", "We sing.\n"]);
        await eventually(async () => assert.equal(await rows(page, "done").count(), 3));
        const first = page.locator(".file").first();
        assert.match(await first.textContent(), /Texts translated: 1 of 2\..*Left as they were: 1/);
        await first.locator("summary").click();
        assert.equal(await first.locator("details li").innerText(), "The same in both languages: 2");
        const [name, bytes] = await saved(page, page.locator(".file").nth(1));
        assert.deepEqual([name, String(bytes)], ["für dich.de.txt", "Vielen Dank.\n"]);
        for (let left = 3; left; left--) {
            assert.equal(await page.locator(".file").count(), left);
            await page.locator(".file").first().getByText("Remove").click();
        }
        assert.equal(await page.isVisible(".files"), false);
    });

    visiting("with a translation that looks wrong says which", async (visit, page) => {
        await visit.open();
        await choose(page, fileOf("odd.txt", "We sing.\n\nJe ne sais pas quoi faire de ma vie demain matin.\n"));
        await rows(page, "done").waitFor();
        await page.locator(".file summary").last().click();
        assert.match(await page.textContent(".file details:last-of-type li"), /in another language than the chosen one: 1 \(sentence 2\)$/);
    });

    visiting("shows how far it is, and ends with who no longer waits for it", async (visit, page) => {
        await visit.open();
        let share = 0.25;
        const ended = [];
        const status = () => ({json: {document_id: "0", status: "translating", progress: share}});
        await page.route("**/v2/document/*", (route) => (route.request().method() === "DELETE" ? (ended.push(route.request().url()), route.continue()) : route.fulfill(status())));
        await choose(page, fileOf("a.txt", "We sing.\n"));
        const bar = page.getByRole("progressbar", {name: "a.txt: is being translated …"});
        await eventually(async () => assert.equal(await bar.evaluate((node) => node.value), 0.25));
        await visit.shot("files-busy");
        share = 0.5;
        await eventually(async () => assert.equal(await bar.evaluate((node) => node.value), 0.5));
        await rows(page, "busy").getByText("Cancel").click();
        await eventually(() => assert.match(String(ended), /\/v2\/document\/[0-9a-f]{32}\?document_key=[0-9a-f]{64}$/));
        assert.equal(await page.isVisible(".files"), false);
    });

    visiting("without a text is nothing to save", async (visit, page) => {
        await visit.open();
        await drop(page, ["empty.txt", ""]);
        await rows(page, "done").waitFor();
        assert.match(await page.textContent(".file-report"), /There is no text in this file\./);
        assert.equal(await page.getByText("Save").count(), 0);
    });
});

describe("what cannot be translated", () => {
    const REFUSED = [
        ["picture.png", "x", /^Files that end in “\.png” are not translated. These are: \.txt, \.srt, .*\.epub$/],
        ["README", "x", /^The file's name does not say what it is/],
        ["letter.docx", "x", /^The server cannot read this file: it is damaged, or not what its name says\. \(expected a zip/],
        ["old.docx", Buffer.from("d0cf11e0a1b11ae1", "hex"), /^(This is another kind of file|The server cannot read this file)/],
        ["letter.odt", "{\\rtf1 Hello}", /^This is another kind of file than its name says: open it, save it as \.docx and take that\.$/],
        ["film.srt", "1\nno time\nHello.\n", /^The server cannot read this file.*\(line 2/],
        ["long.txt", "We sing. ".repeat(2000), /^This server takes no more than 10,000 characters at a time\.$/],
        ["big.txt", "a".repeat(BIG_BYTES), /^This file is larger than the server takes\.$/],
    ];
    visiting("is told of in the page's words, and the next file goes on", async (visit, page) => {
        await visit.open();
        for (const [name, content, said] of REFUSED) {
            await choose(page, fileOf(name, content));
            await rows(page, "failed").waitFor();
            assert.match(await page.textContent(".file-report"), said, name);
            await page.getByText("Remove").click();
        }
        await choose(page, fileOf("a.xyz", "x"), fileOf("b.txt", "We sing.\n"));
        await rows(page, "done").waitFor();
        assert.equal(await rows(page, "failed").count(), 1);
        await rows(page, "failed").getByText("Try again").click();
        await rows(page, "failed").waitFor();
        assert.deepEqual(await barriers(page), []);
        await visit.shot("files-refused");
    }, {allowing: /Failed to load resource/});

    visiting("is a folder", async (visit, page) => {
        await visit.open();
        const inner = path.join(folder, "inner.txt");
        writeFileSync(inner, "x");
        const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.click("#file")]);
        await page.route("**/v2/document", (route) => route.abort());
        await chooser.setFiles(inner);
        await rows(page, "failed").waitFor();
        assert.match(await page.textContent(".file-report"), /^The server does not answer\./);
        rmSync(inner);
        mkdirSync(inner);
        await page.getByText("Try again").click();
        await eventually(async () => assert.match(await page.textContent(".file-report"), /^This browser cannot read the file/));
    }, {allowing: /Failed to load resource/});

    visiting("is stopped by who no longer wants it", async (visit, page) => {
        await visit.open();
        await page.route("**/v2/document", () => {}, {times: 1});
        await choose(page, fileOf("a.txt", "We sing.\n"), fileOf("b.txt", "We sing.\n"));
        await eventually(async () => assert.equal(await rows(page, "busy").count(), 2));
        await rows(page, "busy").first().getByText("Cancel").click();
        await rows(page, "done").waitFor();
        assert.equal(await page.locator(".file b").innerText(), "b.txt");
    });

    visiting("any more is said where a translation has gone", async (visit, page) => {
        await visit.open();
        await choose(page, fileOf("a.txt", "We sing.\n"));
        await rows(page, "done").waitFor();
        await page.route("**/v2/document/*/result?*", (route) => route.fulfill({status: 404, body: "{}"}));
        await page.getByText("Save").click();
        await rows(page, "failed").waitFor();
        assert.equal(await page.textContent(".file-report"), "The server no longer has this translation: have it made again.");
        await page.getByText("Try again").click();
        await rows(page, "done").waitFor();
    }, {allowing: /Failed to load resource/});

    visiting("is not offered", async (visit, page) => {
        await visit.open();
        assert.equal(await page.isVisible("#file"), false);
    }, {on: without});
});

describe("in other languages", () => {
    for (const [locale, said] of [["ja", /^翻訳したテキスト: 1件中1件。文字コード: UTF-8。$/], ["de", /^Übersetzte Texte: 1 von 1\. Kodierung: UTF-8\.$/], ["fr", /^Textes traduits\u00a0: 1 sur 1\./]])
        visiting(`a report is in that of the page: ${locale}`, async (visit, page) => {
            await visit.open();
            await choose(page, fileOf("film.srt", SRT), fileOf("a.xyz", "x"));
            await rows(page, "done").waitFor();
            await rows(page, "failed").waitFor();
            assert.match(await page.textContent("[data-state=done] .file-report"), said);
            assert.doesNotMatch(await page.innerText(".files"), /[Tt]exts|Save|Remove|again|These|file\b/);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
            assert.deepEqual(await barriers(page), []);
            await visit.shot(`files-${locale}`);
        }, {options: {locale, viewport: {width: 390, height: 844}, colorScheme: "dark"}, allowing: /Failed to load resource/});
});

describe("the end", () => {
    it("lets the daemons stop in good order", async () => {
        await browser.close();
        rmSync(folder, {recursive: true});
        for (const one of [daemon, without])
            assert.equal(await one.stop(), 0, one.log);
    });
});
