// How long a first visit takes until something is painted: each time a daemon that has just begun to listen, and a browser that has nothing yet.
//
//   node tests/web/first_paint.js [visits] [language...]

import path from "node:path";
import {Daemon, Visit, bundled, launch} from "./page.js";

const LIMIT_MS = 500;

/** One first visit: milliseconds from its beginning until the first text was seen, and until the page could be used. */
async function visitOnce(locale) {
    const browser = await launch();
    const daemon = await Daemon.start("--model", bundled("en-de"), "--models-directory", path.dirname(bundled("en-de")));
    const visit = await Visit.begin(browser, daemon, {locale});
    await visit.open();
    const times = await visit.page.evaluate(() => ({
        painted: performance.getEntriesByName("first-contentful-paint")[0].startTime,
        ready: performance.now(),
    }));
    await visit.end();
    await browser.close();
    await daemon.stop();
    return times;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const [n = "10", ...locales] = process.argv.slice(2);
let worst = 0;
for (const locale of locales.length ? locales : ["en", "ja"]) {
    const times = [];
    for (let i = 0; i < Number(n); i++)
        times.push(await visitOnce(locale));
    const of = (name) => times.map((time) => time[name]);
    const say = (name) => `${median(of(name)).toFixed(0)} ms (median), ${Math.max(...of(name)).toFixed(0)} ms (worst)`;
    console.log(`${locale}, ${times.length} first visits: painted after ${say("painted")}; ready after ${say("ready")}`);
    worst = Math.max(worst, ...of("painted"));
}
if (worst > LIMIT_MS) {
    console.error(`painted after ${worst.toFixed(0)} ms, expected at most ${LIMIT_MS}`);
    process.exitCode = 1;
}
