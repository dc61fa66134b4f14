// The daemon's description, taken apart into requests and the answers that it promises.

import {createInterface} from "node:readline";
import {spawn} from "node:child_process";
import {fileURLToPath} from "node:url";
import {SLOWNESS} from "../daemon.mjs";

export const JSON_TYPE = "application/json";
const MULTIPART_TYPE = "multipart/form-data";
const START_MS = 60_000 * SLOWNESS;

/** What a reference stands for; anything else is itself. */
export function resolve(spec, thing) {
    return thing.$ref ? thing.$ref.slice(2).split("/").reduce((node, key) => node[key], spec) : thing;
}

export function operations(spec) {
    return Object.entries(spec.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({path, method: method.toUpperCase(), id: operation.operationId, operation})));
}

/** [[name, value]], of an array one per item. */
const pairs = (fields) => Object.entries(fields).flatMap(([name, value]) => [value].flat().map((item) => [name, item]));

function encode(type, fields, {properties = {}}, fileName) {
    if (type === JSON_TYPE)
        return {headers: {"Content-Type": type}, body: JSON.stringify(fields)};
    const body = type === MULTIPART_TYPE ? new FormData() : new URLSearchParams();
    for (const [name, value] of pairs(fields))
        if (properties[name]?.contentMediaType)
            body.append(name, new Blob([value]), fileName);
        else
            body.append(name, value);
    return {body};
}

/**
 * A request of fetch: {method, path, headers?, body?}. values: of the body, in the type or else the first that the operation
 * takes, or of the parameters where there is none; fileName: of a file among them.
 */
export function request(spec, {path, method, operation}, values, {type, fileName} = {}) {
    if (operation.requestBody) {
        type ??= Object.keys(operation.requestBody.content)[0];
        return {method, path, ...encode(type, values, resolve(spec, operation.requestBody.content[type].schema), fileName)};
    }
    const query = new URLSearchParams(values);
    for (const name of path.match(/(?<=\{)\w+(?=\})/g) ?? []) {
        path = path.replace(`{${name}}`, query.get(name));
        query.delete(name);
    }
    return {method, path: query.toString() ? `${path}?${query}` : path};
}

/** Every request that the description shows as good: [{name, request, operation}]. */
export function goodRequests(spec) {
    return operations(spec).flatMap((entry) => {
        const {operation, id} = entry;
        const content = Object.entries(operation.requestBody?.content ?? {});
        if (content.length)
            return content.flatMap(([type, {examples}]) => Object.entries(examples ?? {}).map(([name, example]) => ({...entry, name: `${id}: ${name}`, example: name, request: request(spec, entry, example.value, {type, fileName: example["x-file-name"]})})));
        // What must be known from elsewhere has no example.
        if (operation.parameters?.some((parameter) => resolve(spec, parameter).required && resolve(spec, parameter).example === undefined))
            return [];
        const values = Object.fromEntries((operation.parameters ?? []).map((parameter) => resolve(spec, parameter)).filter(({example}) => example !== undefined).map(({name, example}) => [name, example]));
        return [{...entry, name: id, request: request(spec, entry, values)}];
    });
}

/** Every error that the description shows: [{name, request?, status, value}]; request is absent where the description leaves it out. */
export function badRequests(spec) {
    return operations(spec).flatMap((entry) =>
        Object.entries(entry.operation.responses).filter(([status]) => /^4/.test(status)).flatMap(([status, response]) =>
            Object.entries(resolve(spec, response).content?.[JSON_TYPE]?.examples ?? {}).map(([name, example]) => ({
                name: `${entry.id}: ${name}`,
                status: Number(status),
                value: example.value,
                request: "x-request" in example ? request(spec, entry, example["x-request"], {fileName: example["x-file-name"]}) : undefined,
            }))));
}

export const send = (origin, {path, ...options}) => fetch(origin + path, options);

/**
 * A copy in which no object of an answer may have members that it does not name. Published it is the
 * tolerant one: clients shall expect that there will be more.
 */
export function strict(spec) {
    const copy = structuredClone(spec);
    const close = (schema) => {
        if (typeof schema !== "object" || schema === null)
            return;
        if (schema.properties)
            schema.additionalProperties ??= false;
        Object.values(schema).forEach(close);
    };
    for (const [name, schema] of Object.entries(copy.components.schemas))
        if (!/(Request|Form)$/.test(name))
            close(schema);
    for (const {operation} of operations(copy))
        Object.values(operation.responses).forEach((response) => Object.values(response.content ?? {}).forEach(({schema}) => close(schema)));
    return copy;
}

/** Prism as a proxy in front of the upstream: what breaks the description is answered with an error of Prism's own. */
// Prism's node-fetch takes the listener that a node of 2026 leaves on an idle connection (CVE-2026-48931)
// for a reply that was cut off.
const WITHOUT_KEEP_ALIVE = "data:text/javascript,import http from 'node:http'; http.globalAgent = new http.Agent({keepAlive: false});";

export class Prism {
    static async start(file, upstream, ...flags) {
        const prism = new Prism();
        const cli = fileURLToPath(new URL("node_modules/@stoplight/prism-cli/dist/index.js", import.meta.url));
        prism.process = spawn(process.execPath, ["--import", WITHOUT_KEEP_ALIVE, cli, "proxy", file, upstream, "--errors", "--port", "0", ...flags], {stdio: ["ignore", "pipe", "inherit"]});
        const timer = setTimeout(() => prism.process.kill("SIGKILL"), START_MS);
        for await (const line of createInterface(prism.process.stdout)) {
            const origin = /Prism is listening on (http:\S+)/.exec(line)?.[1];
            if (!origin)
                continue;
            clearTimeout(timer);
            prism.process.stdout.resume();
            prism.origin = origin;
            return prism;
        }
        throw new Error("prism does not listen");
    }

    stop() {
        this.process.kill("SIGKILL");
    }
}

/** What Prism has against an answer; undefined: nothing. */
export async function violation(reply) {
    if (!reply.headers.get("content-type")?.startsWith("application/problem+json"))
        return undefined;
    return JSON.stringify(await reply.json(), null, 2);
}
