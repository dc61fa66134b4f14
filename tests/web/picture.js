// The picture of the page in docs/. It is taken anew, with the model that is delivered, by
//
//   ATTENTIOND_TEST_MODEL=weights/en-de node tests/web/picture.js docs/page.png

import assert from "node:assert/strict";
import {statSync} from "node:fs";
import {pathToFileURL} from "node:url";
import {Daemon, Visit, launch} from "./page.js";

// Two verbs that German puts at the end of their clauses: their lines cross the others.
const SENTENCE = "I would have called you yesterday, but I lost my phone.";
const WIDTH = 1280;
const MOST_BYTES = 150_000;

/** The words linked, and a verb pointed at. */
export async function takePicture(browser, daemon, file) {
    const visit = await Visit.begin(browser, daemon, {viewport: {width: WIDTH, height: 1000}});
    const {page} = visit;
    await visit.open({q: SENTENCE});
    await visit.linked();
    await page.evaluate(() => document.activeElement.blur());
    await visit.sourceWord("lost").hover();
    await page.waitForSelector(".thread.active");
    const card = await page.locator("section", {has: page.locator("#links")}).boundingBox();
    await page.screenshot({path: file, clip: {x: 0, y: 0, width: WIDTH, height: Math.ceil(card.y + card.height + 16)}});
    await visit.end();
    const {size} = statSync(file);
    assert.ok(size <= MOST_BYTES, `${file}: ${size} bytes, expected at most ${MOST_BYTES}`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    const [daemon, browser] = await Promise.all([Daemon.start(), launch()]);
    await takePicture(browser, daemon, process.argv[2]);
    await browser.close();
    await daemon.stop();
}
