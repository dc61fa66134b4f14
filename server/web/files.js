// Files: each is translated as a whole, and beside its name stands what came back. Loaded when one is wanted first.

import * as api from "./api.js";
import {$, announce, bidi, element} from "./dom.js";
import {save} from "./downloads.js";
import {integer, parts, t} from "./text_files.js";
import {describeWarning} from "./warnings.js";

// Of what a file's report lists, so many lines are shown, with so many numbers in each.
const MOST_LINES = 8;
const MOST_NUMBERS = 20;

// How long it is until the server is asked again how far a file is.
const FIRST_PAUSE_MS = 200;
const MOST_PAUSE_MS = 2000;

// Why texts stayed as they were, by the server's words for one of them.
const REASONS = {
    "its translation is the text itself": t`The same in both languages`,
    "its translation lacks a placeholder, or has them in another order": t`The translation lost a placeholder`,
    "it was not translated": t`Not translated`,
    "it cannot be written again": t`The file's format does not allow the translation`,
};

// Why there is no translation at all, by the API's words.
const ERRORS = [
    [/file extension: "(.*?)"/, ([, ending], formats) => (ending ? t`Files that end in “${ending}” are not translated. These are: ${formats}` : t`The file's name does not say what it is. These are translated: ${formats}`)],
    [/\d+ bytes, at most \d+|body is longer/, () => t`This file is larger than the server takes.`],
    [/language are equal/, () => t`This file is in the language already that it is to be translated to.`],
    [/are disabled/, () => t`This server translates no files.`],
    [/save it as (\.\w+)/, ([, ending]) => t`This is another kind of file than its name says: open it, save it as ${ending} and take that.`],
];

/** An error in the page's words; of a file that is damaged also where, in the server's. */
function explain({status, said = "", message}, formats) {
    const [pattern, says] = ERRORS.find(([one]) => one.test(said)) ?? [];
    if (pattern)
        return [says(pattern.exec(said), formats.join(", "))];
    const isOfFile = status === 400 && !/^(Invalid request|Value for)/.test(said);
    return isOfFile ? [t`The server cannot read this file: it is damaged, or not what its name says.`, element("small", {lang: "en", textContent: ` (${said})`})] : [message];
}

/** Lines of [what, [number, ...]], folded below a title that counts them; nothing where there are none. */
function folded(title, lines) {
    if (!lines.length)
        return "";
    const items = lines.slice(0, MOST_LINES).map(([what, numbers]) => element("li", {}, ...parts`${what}: ${numbers.slice(0, MOST_NUMBERS).join(t`, `) + (numbers.length > MOST_NUMBERS ? " …" : "")}`));
    if (lines.length > MOST_LINES)
        items.push(element("li", {textContent: "…"}));
    return element("details", {}, element("summary", {textContent: title}), element("ul", {}, ...items));
}

/** Texts count from 1 for people; sentence is named where a text has several. */
const placeOf = ({text, sentence}) => (sentence ? t`${text + 1} (sentence ${sentence + 1})` : integer(text + 1));

function groupBy(items, nameOf) {
    const groups = new Map();
    for (const item of items)
        groups.set(nameOf(item), [...(groups.get(nameOf(item)) ?? []), item]);
    return [...groups];
}

/** What the server says of a file's translation. */
function report({texts, translated, left, encoding, warnings = [], via = []}, nameOf) {
    const reasons = groupBy(left, ({reason}) => reason).map(([reason, all]) => [REASONS[reason] ?? bidi("span", reason), all.map(placeOf)]);
    const suspicions = groupBy(warnings, describeWarning).map(([what, all]) => [what, all.map(placeOf)]);
    const said = texts ? t`Texts translated: ${translated} of ${texts}. Encoding: ${encoding}.` : t`There is no text in this file.`;
    const way = via.length ? element("div", {textContent: t`Translated through ${via.map(nameOf).join(t` and `)}.`}) : "";
    return [said, way, folded(t`Left as they were: ${texts - translated}`, reasons), folded(t`These may be wrong: ${warnings.length}`, suspicions)];
}

export class Files {
    constructor(translator) {
        this.translator = translator;
        this.list = element("ul");
        this.box = element("section.alternatives.files", {"aria-labelledby": "files-title"}, element("h3", {id: "files-title", textContent: t`Files`}), this.list);
        $(".panes").after(this.box);
        this.last = Promise.resolve();
    }

    /** One after the other, however often some are chosen. */
    translate(files) {
        const {source, target, choices} = this.translator;
        const asked = {source: source.value, target: target.value, ...(choices.model && {model: choices.model})};
        for (const file of files) {
            const row = this.row(file, asked);
            this.last = this.last.then(() => row.begin());
        }
        this.box.scrollIntoView({block: "nearest"});
        return this.last;
    }

    row(file, asked) {
        const {translator} = this;
        const nameOf = (code) => translator.nameOf(code);
        const controller = new AbortController();
        const what = element("div.file-report");
        const buttons = element("span.file-buttons");
        const remove = () => {
            controller.abort();
            item.remove();
            this.box.hidden = !this.list.childElementCount;
            $("#file").focus();
        };
        const button = (name, onclick) => element("button.example", {type: "button", textContent: name, "aria-label": t`${name}: ${file.name}`, onclick});
        const show = (state, parts, ...all) => {
            item.dataset.state = state;
            what.replaceChildren(...parts);
            buttons.replaceChildren(...all, button(state === "busy" ? t`Cancel` : t`Remove`, remove));
            item.setAttribute("aria-busy", String(state === "busy"));
        };
        const languages = `${asked.source === "auto" ? "" : nameOf(asked.source)} → ${nameOf(asked.target)}`;
        const item = element("li.file", {}, element("div.file-head", {}, bidi("b", file.name), element("span.hint", {textContent: languages}), buttons), what);
        this.list.append(item);
        this.box.hidden = false;
        show("busy", [t`is being translated …`]);

        const fail = (error, retry) => {
            if (error.name === "AbortError")
                return;
            const said = explain(error, translator.formats);
            show("failed", said, button(t`Try again`, retry));
            announce(t`${file.name}: ${said[0]}`);
        };
        const begin = async () => {
            if (controller.signal.aborted)
                return;
            const bar = element("progress", {max: 1, value: 0, "aria-label": t`${file.name}: ${t`is being translated …`}`});
            show("busy", [t`is being translated …`, bar]);
            try {
                const document = await send(file, asked, controller.signal);
                const reply = await finished(document, controller.signal, (share) => (bar.value = share)).catch(gone);
                const done = report(reply, nameOf);
                const fetchIt = () => download(document).catch(gone).catch((error) => fail(error, begin));
                show("done", done, ...(reply.texts ? [button(t`Save`, fetchIt)] : []));
                announce(t`${file.name}: ${done[0]}`);
            } catch (error) {
                fail(error, begin);
            }
        };
        return {begin};
    }
}

/** What the server knows the file by from then on. */
async function send(file, {source, target, model}, signal) {
    try {
        await file.slice(0, 1).arrayBuffer();
    } catch {
        throw new api.ApiError(t`This browser cannot read the file: it may be a folder, or be gone.`, 0);
    }
    const body = new FormData();
    for (const [name, value] of Object.entries({source_lang: source === "auto" ? "" : source, target_lang: target, ...(model && {model})}))
        body.append(name, value);
    body.append("file", file);
    return (await api.request("v2/document", {method: "POST", body, signal})).json();
}

const pathOf = ({document_id, document_key}, what = "") => `v2/document/${document_id}${what}?document_key=${document_key}`;

/** The report on the translation when it is there; until then the share that is done is told of. Who no longer waits ends it. */
async function finished(document, signal, tell) {
    const stop = () => api.request(pathOf(document), {method: "DELETE"}).catch(() => {});
    signal.addEventListener("abort", stop);
    try {
        for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(1.5 * pause, MOST_PAUSE_MS)) {
            const reply = await (await api.request(pathOf(document), {signal})).json();
            if (reply.status === "done")
                return reply;
            if (reply.status === "error")
                throw new api.ApiError(t`The server could not translate this file: try again later.`, 0, reply.error_message);
            tell(reply.progress ?? 0);
            await new Promise((resolve) => setTimeout(resolve, pause));
        }
    } finally {
        signal.removeEventListener("abort", stop);
    }
}

function gone(error) {
    throw error.status === 404 ? new api.ApiError(t`The server no longer has this translation: have it made again.`, 404) : error;
}

async function download(document) {
    const reply = await api.request(pathOf(document, "/result"), {});
    const [, name] = /filename\*=UTF-8''([^;]+)/.exec(reply.headers.get("Content-Disposition") ?? "") ?? [];
    save(await reply.blob(), name ? decodeURIComponent(name) : "translation");
}
