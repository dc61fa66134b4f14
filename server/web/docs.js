// The page at /docs: openapi.json made readable, one card per operation. Written for this file's own
// needs: what the description does not use is not known here. The description is the one that programs read, and so in
// English; what stands around it is in the reader's language.

import {$, element, wireTheme} from "./dom.js";
import {Description, english, prose} from "./docs_schema.js";
import {tryIt} from "./docs_try.js";
import {language, t, wireLanguage} from "./text_docs.js";

// Narrower, the list of operations would push the first of them off the screen.
const PHONE = matchMedia("(max-width: 46rem)");

const code = (text) => element("code", {translate: false}, text);

/** What scrolls must be reachable by keyboard. */
export const listing = (text, label) => element("pre", {tabIndex: 0, role: "region", "aria-label": label}, code(text));

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** A path, which may break behind slashes and underscores. */
const broken = (path) => path.split(/(?<=[/_])(?=.)/).flatMap((part) => [element("wbr"), part]).slice(1);

function methodBadge(method) {
    return element(`span.method.${method}`, {translate: false}, method.toUpperCase());
}

function parameterList(api, parameters) {
    const items = parameters.map((parameter) => api.field(parameter.name, {...parameter.schema, description: parameter.description}, parameter.required, parameter.in));
    return [element("h4", {}, t`Parameters`), element("ul.fields", {}, ...items)];
}

function bodyOf(api, content) {
    return Object.entries(content).map(([type, {schema}]) =>
        element("div", {}, element("p", {}, code(type), " ", element("span.field-type", {}, ...api.type(schema))), element("details", {}, element("summary", {}, t`Fields`), ...api.members(api.resolve(schema)))));
}

function exampleOf(name, example) {
    const summary = element("summary", {lang: "en"}, example.summary ?? name);
    const asked = example["x-request"];
    const request = asked === undefined ? [] : [element("p.hint", {}, t`asked with`), listing(shown(asked), t`Request of ${name}`), element("p.hint", {}, t`answers`)];
    return element("details", {}, summary, ...request, listing(shown(example.value), t`Example ${name}`));
}

/** Many are folded into one. */
function exampleList(examples) {
    const all = Object.entries(examples).map(([name, example]) => exampleOf(name, example));
    return all.length < 3 ? all : [element("details", {}, element("summary", {}, t`${all.length} examples`), ...all)];
}

function answer(api, status, response) {
    const {description, content = {}, headers = {}} = api.resolve(response);
    const parts = Object.entries(content).flatMap(([type, {schema, examples = {}}]) => [
        element("details", {}, element("summary", {}, code(type)), api.view(schema)),
        ...exampleList(examples),
    ]);
    const names = Object.keys(headers).map((name) => element("p.hint", {}, t`with`, " ", code(name)));
    return element("li", {}, element("span.code", {}, status === "default" ? t`else` : status), english("span", description), ...names, ...parts);
}

function operationCard(api, path, method, operation) {
    const {operationId: id, summary, description, parameters = [], requestBody, responses} = operation;
    const resolved = parameters.map((parameter) => api.resolve(parameter));
    const title = element("h3", {id: `${id}-title`}, methodBadge(method), element("code", {translate: false}, ...broken(path)));
    const form = element("details.try", {}, element("summary", {}, t`Try it`));
    const fill = () => form.childElementCount > 1 || form.append(tryIt(api, path, method, operation, resolved));
    // The click comes at once, so that Tab finds the form; a search within the page opens without one.
    form.firstChild.addEventListener("click", fill);
    form.addEventListener("toggle", fill);
    return element(
        "section.card.operation",
        {id, "aria-labelledby": `${id}-title`},
        title,
        english("p", `${summary}.`),
        ...(description ? [prose(description)] : []),
        ...(resolved.length ? parameterList(api, resolved) : []),
        ...(requestBody ? [element("h4", {}, t`Body`), ...bodyOf(api, requestBody.content)] : []),
        element("h4", {}, t`Answers`),
        element("ul.answers", {}, ...Object.entries(responses).map(([status, response]) => answer(api, status, response))),
        form,
    );
}

function operationsOf(spec, tag) {
    return Object.entries(spec.paths).flatMap(([path, methods]) =>
        Object.entries(methods).filter(([, {tags}]) => tags.includes(tag)).map(([method, operation]) => ({path, method, operation})));
}

function contents(spec) {
    const groups = spec.tags.flatMap(({name}) => [
        english("h2", name),
        ...operationsOf(spec, name).map(({path, method, operation}) => element("a", {href: `#${operation.operationId}`}, methodBadge(method), element("span", {translate: false}, ...broken(path)))),
    ]);
    const list = element("details", {open: !PHONE.matches}, element("summary", {}, t`Operations`), ...groups, element("h2", {}, t`Schemas`), element("a", {href: "#schemas"}, t`What is sent and answered`));
    PHONE.addEventListener("change", () => (list.open = !PHONE.matches));
    list.addEventListener("click", (event) => event.target.closest("a") && PHONE.matches && (list.open = false));
    return list;
}

function schemaCard(api, name, schema) {
    return element("section.card.schema", {id: `schema-${name}`, "aria-labelledby": `schema-${name}-title`}, element("h3", {id: `schema-${name}-title`, translate: false}, name), api.view(schema, {isTop: true}));
}

function render(spec) {
    const api = new Description(spec);
    const groups = spec.tags.flatMap(({name, description}) => [
        english("h2.group", name),
        ...(description ? [english("p.lead", description)] : []),
        ...operationsOf(spec, name).map(({path, method, operation}) => operationCard(api, path, method, operation)),
    ]);
    $("#contents").append(contents(spec));
    $("#content").append(
        element("section.card.intro", {"aria-label": t`About`}, element("p.hint", {}, t`Version ${spec.info.version}, OpenAPI ${spec.openapi}`, language === "en" ? "" : t`. The descriptions are in English, as the names in them are.`), prose(spec.info.description)),
        ...groups,
        element("h2.group", {id: "schemas"}, t`Schemas`),
        ...Object.entries(spec.components.schemas).map(([name, schema]) => schemaCard(api, name, schema)),
    );
}

async function start() {
    try {
        const reply = await fetch("openapi.json");
        if (!reply.ok)
            throw new Error(t`The server answered ${reply.status}.`);
        render(await reply.json());
    } catch (error) {
        $("#error").textContent = t`The description cannot be shown. ${error.message}`;
        $("#error").hidden = false;
    }
    // What a link points at was not there when the page was loaded.
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
    document.documentElement.dataset.ready = "true";
}

wireLanguage();
wireTheme();
await start();
