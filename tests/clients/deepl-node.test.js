// The npm package deepl-node, DeepL's own, with another server's address: forms that repeat a field.

import assert from "node:assert/strict";
import {after, describe, it} from "node:test";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as deepl from "deepl-node";
import {BAHNHOF, MAX_CHARACTERS, STATION, TOO_LONG, ask, serve} from "./session.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "attentiond-keys-"));
const keys = path.join(folder, "keys");
fs.writeFileSync(keys, "a-key-of-the-shop\na-key-of-the-poor chars_per_day=60\n", {mode: 0o600});
const daemon = await serve("--api-keys-file", keys, "--data-directory", path.join(folder, "data"));
const options = {serverUrl: daemon.url, maxRetries: 0};
const client = new deepl.DeepLClient("a-key-of-the-shop", options);
const poor = new deepl.DeepLClient("a-key-of-the-poor", options);

describe("deepl-node", () => {
    after(async () => {
        fs.rmSync(folder, {recursive: true});
        assert.equal(await daemon.stop(), 0, daemon.log);
    });

    it("translates a text", async () => {
        const {text, detectedSourceLang, billedCharacters} = await client.translateText(STATION, "en", "de");
        assert.deepEqual([text, detectedSourceLang, billedCharacters], [BAHNHOF, "en", STATION.length]);
    });

    it("translates several texts from languages that it does not know", async () => {
        const results = await client.translateText([STATION, "Guten Morgen, wie geht es Ihnen heute?", "I am tired."], null, "de");
        assert.deepEqual(results.map((result) => result.detectedSourceLang), ["en", "de", "en"]);
        const {translatedText} = await ask(daemon, {q: [STATION, "I am tired."]});
        assert.deepEqual([results[0].text, results[2].text], translatedText);
        assert.equal(results[1].text, "Guten Morgen, wie geht es Ihnen heute?");
    });

    it("keeps any character", async () => {
        const text = "\u{1F642} \"quoted\" \\ <b> & \u00E4\u00F6\u00FC +%41\n\ttab";
        assert.equal((await client.translateText(text, "de", "de")).text, text);
    });

    it("translates html, and leaves elements alone", async () => {
        const html = "<p>Where is the <keep>train station</keep>?</p>";
        const {text} = await client.translateText(html, "en", "de", {tagHandling: "html", ignoreTags: ["keep"]});
        assert.match(text, /^<p>.*<keep>train station<\/keep>.*<\/p>$/);
        const plain = await client.translateText(html, "en", "de", {tagHandling: "html"});
        assert.equal(plain.text, (await ask(daemon, {q: html, format: "html"})).translatedText);
        assert.doesNotMatch(plain.text, /train/);
    });

    it("splits sentences as it is told", async () => {
        const text = "I am tired. I am\nhungry.";
        const translated = async (splitSentences) => (await client.translateText(text, "en", "de", {splitSentences})).text;
        const of = async (q, split_sentences) => (await ask(daemon, {q, split_sentences})).translatedText;
        assert.equal(await translated("on"), await of(text, "on"));
        assert.equal(await translated("off"), await of(text, "off"));
        assert.equal(await translated("nonewlines"), await of("I am tired. I am hungry.", "on"));
    });

    it("ignores what can only help", async () => {
        const {text} = await client.translateText(STATION, "en", "de", {context: "At the post office.", preserveFormatting: true, formality: "prefer_less", modelType: "prefer_quality_optimized"});
        assert.equal(text, BAHNHOF);
    });

    it("is told what there is not", async () => {
        const refused = (message, ...args) => assert.rejects(client.translateText(STATION, ...args), {name: "Error", message: new RegExp(message)});
        await refused("Bad request, message: Value for 'target_lang' not supported", "en", "fr");
        await refused("Bad request, message: Value for 'source_lang' not supported", "fr", "de");
        await refused("'formality' is not supported", "en", "de", {formality: "more"});
        await refused("there is no such glossary", "en", "de", {glossary: "g"});
    });

    describe("glossaries", () => {
        const entries = new deepl.GlossaryEntries({entries: {"train station": "Hauptbahnhof", "a \"quoted\" one": "ein, zwei"}});

        it("have one dictionary", async () => {
            assert.deepEqual(await client.getGlossaryLanguagePairs(), [{sourceLang: "en", targetLang: "de"}]);
            const glossary = await client.createGlossary("stations", "en", "de", entries);
            assert.deepEqual([glossary.name, glossary.ready, glossary.sourceLang, glossary.targetLang, glossary.entryCount], ["stations", true, "en", "de", 2]);
            assert.deepEqual([await client.getGlossary(glossary.glossaryId), await client.listGlossaries()], [glossary, [glossary]]);
            assert.deepEqual((await client.getGlossaryEntries(glossary)).entries(), entries.entries());
            assert.equal((await client.translateText(STATION, "en", "de", {glossary})).text, "Wo ist der Hauptbahnhof?");
            const csv = await client.createGlossaryWithCsv("csv", "en", "de", Buffer.from('"a ""quoted"" one","ein, zwei",en,de'));
            assert.deepEqual((await client.getGlossaryEntries(csv)).entries(), {'a "quoted" one': "ein, zwei"});
            await assert.rejects(poor.getGlossary(glossary.glossaryId), deepl.GlossaryNotFoundError);
            await Promise.all([glossary, csv].map((each) => client.deleteGlossary(each)));
            await assert.rejects(client.getGlossary(glossary.glossaryId), deepl.GlossaryNotFoundError);
        });

        it("have several", async () => {
            const pairs = [["en", "de"], ["de", "en"]].map(([sourceLangCode, targetLangCode]) => ({sourceLangCode, targetLangCode, entries}));
            const glossary = await client.createMultilingualGlossary("both", pairs);
            assert.deepEqual(glossary.dictionaries.map(({sourceLangCode, entryCount}) => [sourceLangCode, entryCount]), [["de", 2], ["en", 2]]);
            await client.updateMultilingualGlossaryName(glossary, "renamed");
            await client.updateMultilingualGlossaryDictionaryWithCsv(glossary, "en", "de", "train station,Zughalt");
            await client.replaceMultilingualGlossaryDictionary(glossary, {...pairs[1], entries: new deepl.GlossaryEntries({entries: {a: "b"}})});
            await client.deleteMultilingualGlossaryDictionary(glossary, "de", "en");
            const [known] = await client.listMultilingualGlossaries();
            assert.deepEqual([known.name, known.dictionaries], ["renamed", [{sourceLangCode: "en", targetLangCode: "de", entryCount: 2}]]);
            const read = await client.getMultilingualGlossaryDictionaryEntries(glossary, "en", "de");
            assert.equal(read.entries.entries()["train station"], "Zughalt");
            assert.equal((await client.translateText(STATION, "en", "de", {glossary})).text, "Wo ist der Zughalt?");
            await client.deleteMultilingualGlossary(glossary);
            assert.deepEqual(await client.listMultilingualGlossaries(), []);
        });
    });

    describe("documents", () => {
        const input = path.join(folder, "letter.txt");
        const expected = `${BAHNHOF}\n`;
        const output = (name) => path.join(folder, name);
        fs.writeFileSync(input, `${STATION}\n`);

        it("come back as files, streams and bytes", async () => {
            const status = await client.translateDocument(input, output("a.txt"), null, "de");
            assert.deepEqual([status.done(), status.billedCharacters, fs.readFileSync(output("a.txt"), "utf8")], [true, STATION.length + 1, expected]);
            await client.translateDocument(fs.readFileSync(input), output("b.txt"), "en", "de", {filename: input});
            assert.equal(fs.readFileSync(output("b.txt"), "utf8"), expected);
            const handle = await client.uploadDocument(fs.createReadStream(input), null, "de", {filename: "test.txt"});
            await client.isDocumentTranslationComplete(handle);
            await client.downloadDocument(handle, fs.createWriteStream(output("c.txt"), {flags: "wx"}));
            assert.equal(fs.readFileSync(output("c.txt"), "utf8"), expected);
            await assert.rejects(client.getDocumentStatus(handle), /Not found/);
        });

        it("are asked after step by step", async () => {
            let handle = await client.uploadDocument(input, null, "de");
            handle = {documentId: handle.documentId, documentKey: handle.documentKey};
            for (let status; !status?.done(); ) {
                status = await client.getDocumentStatus(handle);
                assert.ok(status.ok());
            }
            await client.downloadDocument(handle, output("d.txt"));
            assert.equal(fs.readFileSync(output("d.txt"), "utf8"), expected);
        });

        it("are not there before they are done, and then said not to be ready", async () => {
            const other = await serve("--max-text-chars", "100000");
            const patient = new deepl.DeepLClient("any", {...options, serverUrl: other.url});
            const handle = await patient.uploadDocument(Buffer.from(`${STATION}\n\n`.repeat(400)), "en", "de", {filename: "long.txt"});
            await assert.rejects(patient.downloadDocument(handle, output("e.txt")), deepl.DocumentNotReadyError);
            await patient.isDocumentTranslationComplete(handle);
            await patient.downloadDocument(handle, output("f.txt"));
            assert.equal(fs.readFileSync(output("f.txt"), "utf8"), `${BAHNHOF}\n\n`.repeat(400));
            assert.equal(await other.stop(), 0, other.log);
        });

        it("are refused as DeepL refuses them", async () => {
            let n = 0;
            const refused = (file, message, ...args) => assert.rejects(client.translateDocument(file, output(`refused-${n++}.txt`), ...args), new RegExp(message));
            await refused(input, "Source and target language", "de", "de");
            await refused(input, "formality", null, "de", {formality: "formality"});
            await refused(Buffer.from("Test"), "nvalid file", null, "de", {filename: "document.invalid"});
            await assert.rejects(client.getDocumentStatus({documentId: "1234".repeat(8), documentKey: "5678".repeat(16)}), /Not found/);
            await assert.rejects(poor.translateDocument(Buffer.from(`${STATION}\n`.repeat(3)), output("g.txt"), null, "de", {filename: input}), /Quota for this billing period has been exceeded/);
        });
    });

    it("lists languages", async () => {
        assert.deepEqual(await client.getSourceLanguages(), [{name: "English", code: "en"}]);
        assert.deepEqual(await client.getTargetLanguages(), [{name: "German", code: "de", supportsFormality: false}]);
    });

    it("says what was used", async () => {
        const {character} = await client.getUsage();
        assert.deepEqual([character.count, character.limit], [0, 1e12]);
        await poor.translateText([STATION, "I am tired."], "en", "de");
        const usage = (await poor.getUsage()).character;
        assert.deepEqual([usage.count, usage.limit], [STATION.length + 11, 60]);
        await assert.rejects(poor.translateText([STATION, STATION], "en", "de"), deepl.QuotaExceededError);
    });

    it("is refused with an unknown key", async () => {
        const stranger = new deepl.DeepLClient("nobody", options);
        await assert.rejects(stranger.translateText(STATION, "en", "de"), (error) => error instanceof deepl.AuthorizationError && /Invalid API key/.test(error.message));
        await assert.rejects(stranger.getUsage(), deepl.AuthorizationError);
    });

    it("is told that a text is too long", async () => {
        await assert.rejects(client.translateText(TOO_LONG, "en", "de"), new RegExp(`413.*exceeds text limit \\(${MAX_CHARACTERS}\\)`));
    });
});
