// The description at /openapi.json is valid, has every route and no other, its examples are what the
// daemon answers, and whatever the daemon answers is what it describes: Prism stands between and looks.

import assert from "node:assert/strict";
import {mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import path from "node:path";
import {describe, it} from "node:test";
import {Validator} from "@seriousme/openapi-schema-validator";
import {Daemon, ROOT} from "../daemon.mjs";
import {JSON_TYPE, Prism, badRequests, goodRequests, operations, resolve, send, strict, violation} from "./contract.js";

// Not in a hook: those of the outermost level are not run by node 18.
const data = mkdtempSync(path.join(tmpdir(), "attentiond-data-"));
const daemon = await Daemon.start("--data-directory", data);
process.on("exit", () => {
    daemon.process.kill("SIGKILL");
    rmSync(data, {recursive: true});
});
const spec = await (await fetch(`${daemon.url}/openapi.json`)).json();

const translate = (q, more) => ({method: "POST", path: "/translate", headers: {"Content-Type": JSON_TYPE}, body: JSON.stringify({q, source: "en", target: "de", ...more})});
// Requests that the description leaves out, because nobody would want to read them.
const LONG = {"translate: too_long": translate(Array(4097).fill("Hello."))};
const bad = badRequests(spec).map((example) => ({...example, request: example.request ?? LONG[example.name]}));

// Errors that are described in general: [request, status, what it says].
const OTHERS = {
    "a body over the limit": [translate("a".repeat(300_000)), 413, /longer than this server accepts/],
    "no time": [{...translate("Hello."), headers: {"Content-Type": JSON_TYPE, "X-Request-Timeout": "0"}}, 504, /took longer/],
    "a time that is no number": [{...translate("Hello."), headers: {"Content-Type": JSON_TYPE, "X-Request-Timeout": "soon"}}, 400, /expected a number of seconds/],
    "too many numbers": [{method: "POST", path: "/attention", headers: {"Content-Type": JSON_TYPE}, body: JSON.stringify({q: "a. ".repeat(20_000), kinds: ["cross"]})}, 413, /numbers needed, \d+ allowed/],
    "a type that is not known": [{method: "POST", path: "/attention", headers: {"Content-Type": "text/plain"}, body: "Hello."}, 415, /text\/plain/],
};

describe("the description", () => {
    it("is valid OpenAPI 3.1", async () => {
        const validator = new Validator();
        const {valid, errors} = await validator.validate(structuredClone(spec));
        assert.ok(valid, JSON.stringify(errors, null, 2));
        assert.equal(validator.version, "3.1");
        validator.resolveRefs();
    });

    it("is the same under both of its paths, and of the version that runs", async () => {
        assert.deepEqual(await (await fetch(`${daemon.url}/spec`)).json(), spec);
        const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
        assert.equal(spec.info.version, /attentiond_build_info\{version="([^"]*)"\}/.exec(metrics)[1]);
    });

    it("has every route of the daemon, every method, and no other", async () => {
        const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
        const routes = new Set([...metrics.matchAll(/^attentiond_http_request_duration_seconds_count\{route="([^"]*)"\}/gm)].map(([, route]) => route));
        routes.delete("none");
        const described = new Map(); // of a folder all that is below it
        for (const [route, methods] of Object.entries(spec.paths)) {
            const folder = route.replace(/\{.*/, "");
            described.set(folder, {...described.get(folder), ...methods});
        }
        assert.deepEqual([...described.keys()].sort(), [...routes].sort());
        for (const [route, methods] of described) {
            const reply = await fetch(daemon.url + route.replace(/(?<=.)\/$/, "/x"), {method: "OPTIONS"});
            assert.equal(reply.status, 200, route);
            const allowed = reply.headers.get("allow").split(", ").filter((method) => method !== "HEAD" && method !== "OPTIONS");
            assert.deepEqual(allowed.sort(), Object.keys(methods).map((method) => method.toUpperCase()).sort(), route);
        }
    });

    it("has every field that a handler reads", () => {
        const folder = path.join(ROOT, "server");
        const files = readdirSync(folder, {recursive: true}).filter((name) => name.endsWith(".c"));
        const code = files.map((name) => readFileSync(path.join(folder, name), "utf8"));
        const read = new Set(code.flatMap((text) => [...text.matchAll(/\bmt_params_(?:get|string|bool|integer|number|file)\([^"()]*"([a-z_]+)"/g)].map(([, name]) => name)));
        assert.ok(read.size > 10, String(read.size)); // All others are read by the table that the description is made of.
        const described = Object.values(spec.components.schemas).flatMap(({properties = {}}) => Object.keys(properties));
        const parameters = operations(spec).flatMap(({operation}) => (operation.parameters ?? []).map((parameter) => resolve(spec, parameter).name));
        const known = new Set([...described, ...parameters]);
        assert.deepEqual([...read].filter((name) => !known.has(name)), []);
    });

    it("has every member that an answer is written with, and none that no code writes", () => {
        const folder = path.join(ROOT, "server");
        // What the operator's own socket answers is no part of the description.
        const code = (inside) => readdirSync(path.join(folder, inside), {recursive: true}).filter((name) => name.endsWith(".c") && name !== "admin_api.c").map((name) => readFileSync(path.join(folder, inside, name), "utf8")).join("\n");
        const known = new Set(JSON.parse(readFileSync(path.join(folder, "web/replies.json"), "utf8")).map(({name}) => name));
        const written = [...code("api").matchAll(/\bmt_json_(?:key|member\w*)\(\w+, "([^"]*)"/g)].map(([, name]) => name);
        assert.ok(written.length > 50, String(written.length));
        const inRoutes = readFileSync(path.join(folder, "web/routes.json"), "utf8");
        const elsewhere = ["index", "directory"]; // of an event; of what the operator is told
        assert.deepEqual([...new Set(written)].filter((name) => !known.has(name) && !inRoutes.includes(`"${name}":`) && !elsewhere.includes(name)), []);
        const all = code(".");
        assert.deepEqual([...known].filter((name) => !all.includes(`"${name}"`) && !all.includes(`\\"${name}\\"`)), []);
    });

    it("names each operation once, under a tag of its list, and each schema that it has is used", () => {
        const ids = operations(spec).map(({id}) => id);
        assert.equal(new Set(ids).size, ids.length);
        const tags = new Set(spec.tags.map(({name}) => name));
        for (const {operation} of operations(spec)) {
            assert.ok(operation.tags.length === 1 && tags.has(operation.tags[0]), operation.operationId);
            assert.ok(operation.summary && "default" in operation.responses, operation.operationId);
        }
        const text = JSON.stringify(spec);
        for (const [kind, things] of Object.entries(spec.components))
            for (const name of Object.keys(things))
                assert.ok(kind === "securitySchemes" || text.includes(`"#/components/${kind}/${name}"`), `${kind}/${name}`);
    });
});

describe("the examples", () => {
    for (const {name, example, operation, request: asked} of goodRequests(spec))
        it(`${name} is answered as shown`, async () => {
            const reply = await send(daemon.url, asked);
            const body = await reply.text();
            assert.equal(reply.status, 200, body);
            const type = reply.headers.get("content-type").split(";")[0];
            const examples = resolve(spec, operation.responses[200]).content[type].examples ?? {};
            const shown = example ? examples[example] : Object.values(examples)[0];
            if (shown)
                assert.deepEqual(type === JSON_TYPE ? JSON.parse(body) : body, shown.value);
        });

    for (const {name, status, value, request: asked} of bad)
        it(`${name} is refused as shown`, async () => {
            assert.ok(asked, "the request is neither in the description nor here");
            const reply = await send(daemon.url, asked);
            assert.deepEqual([reply.status, await reply.json()], [status, value]);
        });

    it("of answers belong to requests", () => {
        for (const {id, operation} of operations(spec)) {
            const asked = Object.values(operation.requestBody?.content ?? {}).flatMap(({examples = {}}) => Object.keys(examples));
            const answered = Object.values(operation.responses[200]?.content ?? {}).flatMap(({examples = {}}) => Object.keys(examples));
            if (operation.requestBody)
                assert.deepEqual(answered.filter((name) => !asked.includes(name)), [], id);
            else
                assert.ok(answered.length <= 1, id);
        }
    });
});

describe("Prism between client and daemon", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "attentiond-contract-"));
    const file = path.join(folder, "openapi.json");
    writeFileSync(file, JSON.stringify(strict(spec)));
    // The second takes requests that break the description, to see the daemon's answers to them.
    const [both, answers] = await Promise.all([Prism.start(file, daemon.url), Prism.start(file, daemon.url, "--validate-request", "false")]);
    process.on("exit", () => [both, answers].forEach((prism) => prism.stop()));

    for (const {name, request: asked} of goodRequests(spec))
        it(`has nothing against ${name}`, async () => {
            const reply = await send(both.origin, asked);
            assert.equal(await violation(reply), undefined);
            assert.equal(reply.status, 200);
        });

    for (const {name, status, request: asked} of bad)
        it(`has nothing against the refusal of ${name}`, async () => {
            const reply = await send(answers.origin, asked);
            assert.equal(await violation(reply), undefined);
            assert.equal(reply.status, status);
        });

    for (const [name, [asked, status, pattern]] of Object.entries(OTHERS))
        it(`has nothing against the answer to ${name}`, async () => {
            const reply = await send(answers.origin, asked);
            assert.equal(await violation(reply), undefined);
            assert.equal(reply.status, status);
            assert.match((await reply.json()).error, pattern);
        });

    it("has nothing against the file that a link leads to", async () => {
        const [upload] = goodRequests(spec).filter(({name}) => name === "translateFile: srt");
        const reply = await send(both.origin, upload.request);
        const {pathname} = new URL((await reply.json()).translatedFileUrl);
        const file = await send(both.origin, {path: pathname});
        assert.equal(await violation(file), undefined);
        assert.deepEqual([file.status, await file.text()], [200, "1\n00:00:01,000 --> 00:00:02,000\nWo ist der Bahnhof?\n"]);
    });

    it("has nothing against what keys and rates refuse", async () => {
        const keys = path.join(folder, "keys");
        writeFileSync(keys, "alice-3f0c9a34 name=alice\n", {mode: 0o600});
        const guarded = await Daemon.start("--api-keys-file", keys, "--key-required", "--requests-per-minute", "1", "--max-limit-violations", "3");
        const prism = await Prism.start(file, guarded.url);
        const ask = (key) => send(prism.origin, translate("Hello.", {api_key: key}));
        const seen = [];
        for (const key of ["", "alice-3f0c9a34", "alice-3f0c9a34", ...Array(6).fill("wrong")]) {
            const reply = await ask(key);
            assert.equal(await violation(reply), undefined);
            seen.push([reply.status, (await reply.json()).error?.split(":")[0], reply.headers.has("retry-after")]);
        }
        prism.stop();
        assert.equal(await guarded.stop(), 0, guarded.log);
        const words = new Set(seen.map(([status, error]) => `${status} ${error}`));
        assert.deepEqual([...words].sort(), ["200 undefined", "403 Invalid API key", "403 Please contact the server operator to get an API key", "403 Too many request limits violations", "429 Slowdown"]);
        assert.ok(seen.every(([status, , hasTime]) => (status === 429) === hasTime));
    });

    it("refuses what breaks the description: the request, the status, a member too many or too few", async () => {
        const [first] = goodRequests(spec).filter(({id}) => id === "translate");
        assert.match(await violation(await send(both.origin, {...first.request, body: "{}"})), /must have required property 'q'/);
        let reply = {};
        const upstream = createServer((_, response) => response.writeHead(reply.status ?? 200, {"Content-Type": JSON_TYPE}).end(JSON.stringify(reply.body)));
        await new Promise((listening) => upstream.listen(0, "127.0.0.1", listening));
        const liar = await Prism.start(file, `http://127.0.0.1:${upstream.address().port}`);
        for (reply of [{body: {}}, {body: {translatedText: 1}}, {body: {translatedText: "", surplus: 1}}, {status: 400, body: {message: ""}}, {status: 418, body: {}}])
            assert.match((await violation(await send(liar.origin, first.request))) ?? "", /VIOLATIONS/, JSON.stringify(reply));
        reply = {body: {translatedText: ""}};
        assert.equal((await send(liar.origin, first.request)).status, 200);
        liar.stop();
        upstream.close();
    });

    it("ends, and the daemon in good order", async () => {
        [both, answers].forEach((prism) => prism.stop());
        rmSync(folder, {recursive: true});
        assert.equal(await daemon.stop(), 0, daemon.log);
    });
});
