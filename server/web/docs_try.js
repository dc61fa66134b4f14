// The form below an operation: choose an example, change it, send it, see what comes.

import {announce, element} from "./dom.js";
import {t} from "./text_docs.js";

const JSON_TYPE = "application/json";
const MULTIPART = "multipart/form-data";

/** Where keys and tokens go, which the description has apart from the parameters. */
const AUTHORIZATION = {name: "Authorization", in: "header", schema: {type: "string"}};

const isFile = (schema) => Boolean(schema?.contentMediaType);

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** A picture or a file to keep, for what is no text. */
function shownBlob(blob) {
    const address = URL.createObjectURL(blob);
    if (blob.type.startsWith("image/"))
        return element("img", {src: address, alt: t`The picture that the server sent`});
    return element("a", {href: address, download: "reply"}, t`Save the reply (${blob.size} bytes)`);
}

function readable(text, type) {
    if (!type.startsWith(JSON_TYPE))
        return text;
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return text;
    }
}

class Trial {
    constructor(api, path, method, operation, parameters) {
        Object.assign(this, {api, path, method, operation});
        this.content = operation.requestBody?.content ?? {};
        const isKeyed = ["401", "403"].some((status) => status in operation.responses);
        this.controls = [...parameters, ...(isKeyed ? [AUTHORIZATION] : [])].map((parameter) => this.control(parameter));
        this.outcome = element("div.outcome", {role: "group", "aria-label": t`Answer`});
        this.send = element("button.send", {type: "submit"}, t`Send`);
        this.form = element("form", {onsubmit: (event) => this.submit(event)});
        if (this.controls.length)
            this.form.append(element("div.row", {}, ...this.controls.map(({label}) => label)));
        if (Object.keys(this.content).length)
            this.form.append(...this.bodyControls());
        this.form.append(element("div.row", {}, this.send), this.outcome);
    }

    control(parameter) {
        const choices = parameter.schema.enum;
        const input = choices ? element("select", {}, ...["", ...choices].map((value) => element("option", {}, value))) : element("input", {type: "text", value: parameter.example ?? ""});
        input.required = Boolean(parameter.required);
        return {parameter, input, label: element("label", {}, element("code", {translate: false}, parameter.name), input)};
    }

    bodyControls() {
        this.type = element("select", {translate: false, onchange: () => this.offerExamples()}, ...Object.keys(this.content).map((type) => element("option", {}, type)));
        this.example = element("select", {lang: "en", onchange: () => this.fill()});
        this.files = element("div.row", {hidden: true});
        this.editor = element("textarea", {spellcheck: false, rows: 8});
        this.offerExamples();
        return [
            element("div.row", {}, element("label", {}, t`Sent as`, this.type), element("label", {}, t`Example`, this.example)),
            this.files,
            element("label", {}, t`Fields, as JSON`, this.editor),
        ];
    }

    offerExamples() {
        const {examples = {}, schema} = this.content[this.type.value];
        this.example.replaceChildren(...Object.entries(examples).map(([name, {summary}]) => element("option", {value: name}, summary ?? name)));
        this.members = this.api.resolve(schema).properties ?? {};
        const members = Object.entries(this.members).filter(([, member]) => isFile(member));
        this.files.replaceChildren(...members.map(([name]) => element("label", {}, element("code", {translate: false}, name), element("input", {type: "file", name}))));
        this.files.hidden = members.length === 0;
        this.fill();
    }

    exampleOf() {
        return this.content[this.type.value].examples?.[this.example.value];
    }

    fill() {
        this.editor.value = JSON.stringify(this.exampleOf()?.value ?? {}, null, 2);
    }

    /** {url, options, curl}; throws where the fields are no JSON. */
    request() {
        const query = new URLSearchParams();
        const headers = {};
        let path = this.path.slice(1);
        for (const {parameter, input} of this.controls) {
            if (parameter.in === "path")
                path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
            else if (input.value && parameter.in === "query")
                query.set(parameter.name, input.value);
            else if (input.value)
                headers[parameter.name] = input.value;
        }
        const url = new URL(path + (`${query}` && `?${query}`), new URL(".", location.href));
        const options = {method: this.method.toUpperCase(), headers};
        const parts = ["curl -s", quoted(url.href), ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)];
        if (this.editor)
            parts.push(...this.addBody(options));
        return {url, options, curl: parts.join(" ")};
    }

    /** Puts the fields into options.body; returns what curl is to be told. */
    addBody(options) {
        const type = this.type.value;
        const fields = JSON.parse(this.editor.value);
        if (type === JSON_TYPE) {
            options.body = JSON.stringify(fields);
            options.headers["Content-Type"] = JSON_TYPE;
            return [`-H ${quoted(`Content-Type: ${JSON_TYPE}`)}`, `-d ${quoted(options.body)}`];
        }
        const body = type === MULTIPART ? new FormData() : new URLSearchParams();
        const words = [];
        for (const [name, value] of this.formFields(fields)) {
            const isUpload = value instanceof File;
            body.append(name, value);
            words.push(`${type === MULTIPART ? "-F" : "--data-urlencode"} ${quoted(`${name}=${isUpload ? `@${value.name}` : value}`)}`);
        }
        options.body = body;
        return words;
    }

    /** [[name, text or file]]: a file is what was chosen, or else the text among the fields, under the name in x-file-name. */
    formFields(fields) {
        const chosen = [...this.files.querySelectorAll("input")].flatMap((input) => [...input.files].map((file) => [input.name, file]));
        const replaced = new Set(chosen.map(([name]) => name));
        const written = Object.entries(fields).filter(([name]) => !replaced.has(name)).flatMap(([name, value]) => [value].flat().map((item) => [name, isFile(this.members[name]) ? new File([item], this.exampleOf()?.["x-file-name"] ?? name) : item]));
        return [...chosen, ...written];
    }

    async submit(event) {
        event.preventDefault();
        let request;
        try {
            request = this.request();
        } catch (error) {
            this.say(t`The fields are no JSON: ${error.message}`, true);
            return;
        }
        this.send.disabled = true;
        this.outcome.replaceChildren(this.listing(request.curl, t`The same with curl`));
        try {
            await this.show(request);
        } catch (error) {
            this.say(t`The server does not answer. ${error.message}`, true);
        }
        this.send.disabled = false;
    }

    async show({url, options}) {
        const start = performance.now();
        const reply = await fetch(url, options);
        const type = reply.headers.get("Content-Type") ?? "";
        const isText = /json|^text\//.test(type);
        const verdict = this.say(`${reply.status} ${reply.statusText}`, !reply.ok);
        if (isText) {
            const box = this.listing("", t`The answer`);
            this.outcome.append(box);
            await this.fillAsItComes(reply, box.firstChild, type);
        } else {
            this.outcome.append(shownBlob(await reply.blob()));
        }
        verdict.textContent = t`${verdict.textContent} in ${Math.round(performance.now() - start)} ms, ${type}`;
        announce(verdict.textContent);
    }

    /** Events are shown one by one; all else is complete at once. */
    async fillAsItComes(reply, box, type) {
        const decoder = new TextDecoder();
        let text = "";
        for (const reader = reply.body.getReader();;) {
            const {done, value} = await reader.read();
            if (done)
                break;
            text += decoder.decode(value, {stream: true});
            if (type.startsWith("text/event-stream"))
                box.textContent = text;
        }
        box.textContent = readable(text, type);
    }

    say(text, isBad) {
        const verdict = element(`p.verdict${isBad ? ".bad" : ""}`, {}, text);
        this.outcome.append(verdict);
        if (isBad)
            announce(text);
        return verdict;
    }

    listing(text, label) {
        return element("pre", {tabIndex: 0, role: "region", "aria-label": label}, element("code", {}, text));
    }
}

export const tryIt = (...operation) => new Trial(...operation).form;
