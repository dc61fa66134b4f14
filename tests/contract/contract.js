// The daemon's description, taken apart into requests and the answers that it promises.

import {createInterface} from "node:readline";
import {spawn} from "node:child_process";
import {fileURLToPath} from "node:url";
import {SLOWNESS} from "../daemon.mjs";

export const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";
const MULTIPART_TYPE = "multipart/form-data";
const START_MS = 60_000 * SLOWNESS;

/** What a reference stands for; anything else is itself. */
export function resolve(spec, thing) {
    return thing.$ref ? thing.$ref.slice(2).split("/").reduce((node, key) => node[key], spec) : thing;
}

export function operations(spec) {
    return Object.entries(spec.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({path, method: method.toUpperCase(), id: operation.operationId, operation})));
}

function encode(type, fields) {
    if (type === JSON_TYPE)
        return {headers: {"Content-Type": type}, body: JSON.stringify(fields)};
    if (type === FORM_TYPE)
        return {body: new URLSearchParams(fields)};
    if (type === MULTIPART_TYPE) {
        const body = new FormData();
        Object.entries(fields).forEach(([name, value]) => body.append(name, value));
        return {body};
    }
    throw new Error(`no request can be made in ${type}`);
}

/** A request of fetch: {method, path, headers?, body?}. values: of the body, or of the parameters where there is none. */
export function request({path, method, operation}, values, type = JSON_TYPE) {
    if (operation.requestBody)
        return {method, path, ...encode(type, values)};
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
            return content.flatMap(([type, {examples}]) => Object.entries(examples ?? {}).map(([name, {value}]) => ({...entry, name: `${id}: ${name}`, example: name, request: request(entry, value, type)})));
        const values = Object.fromEntries((operation.parameters ?? []).map((parameter) => resolve(spec, parameter)).filter(({example}) => example !== undefined).map(({name, example}) => [name, example]));
        return [{...entry, name: id, request: request(entry, values)}];
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
                request: "x-request" in example ? request(entry, example["x-request"]) : undefined,
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
export class Prism {
    static async start(file, upstream, ...flags) {
        const prism = new Prism();
        const cli = fileURLToPath(new URL("node_modules/@stoplight/prism-cli/dist/index.js", import.meta.url));
        prism.process = spawn(process.execPath, [cli, "proxy", file, upstream, "--errors", "--port", "0", ...flags], {stdio: ["ignore", "pipe", "inherit"]});
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
