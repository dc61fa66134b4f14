// "Copy as curl" and its relatives: the request behind what is shown, for a terminal, a notebook or a page of one's own.

import {hasKey} from "./api.js";
import {announce, element} from "./dom.js";
import {t} from "./text.js";

const FRAME = [900, 620];

const address = (path) => new URL(path, document.baseURI).href;
const inShell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** JSON is Python but for true and false, and null, which no request has. */
function inPython(value) {
    if (Array.isArray(value))
        return `[${value.map(inPython).join(", ")}]`;
    if (typeof value === "object")
        return `{${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${inPython(one)}`).join(", ")}}`;
    return typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
}

/** {path, body}; without a body it is a GET. */
function curl({path, body}) {
    const key = hasKey() ? ' -H "Authorization: Bearer $API_KEY"' : "";
    const fields = body ? ` -H 'Content-Type: application/json' -d ${inShell(JSON.stringify(body))}` : "";
    return `curl -s ${inShell(address(path))}${key}${fields}`;
}

function python({path, body}) {
    const headers = {...(body && {"Content-Type": "application/json"})};
    const key = hasKey() ? ['request.add_header("Authorization", "Bearer " + os.environ["API_KEY"])'] : [];
    const fields = body ? [`fields = ${inPython(body)}`, `request = urllib.request.Request(${JSON.stringify(address(path))}, json.dumps(fields).encode(), ${inPython(headers)})`] : [`request = urllib.request.Request(${JSON.stringify(address(path))})`];
    return [`import json${hasKey() ? ", os" : ""}, urllib.request`, "", ...fields, ...key, "reply = json.load(urllib.request.urlopen(request))", `print(${body ? 'reply["sentences"][0].keys()' : "reply.keys()"})`, ""].join("\n");
}

/** What is shown, in a frame of another page. */
function frame() {
    const url = new URL(location.href);
    url.searchParams.set("embed", "why");
    const attribute = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    return `<iframe src="${attribute(url.href)}" width="${FRAME[0]}" height="${FRAME[1]}" title="attentiond"></iframe>`;
}

async function copy(text, box) {
    try {
        await navigator.clipboard.writeText(text);
        announce(t`Copied.`);
        return true;
    } catch {
        // Not here, where the page was not fetched by TLS: it is shown, and chosen.
        const field = element("textarea", {readOnly: true, rows: 4, value: text, "aria-label": t`To be copied`});
        box.querySelector("textarea")?.remove();
        box.append(field);
        field.select();
        return document.execCommand("copy");
    }
}

/** Buttons that copy what request() gives: {path, body}. hasFrame: the address shows it in a frame, too. */
export function copyButtons(request, {hasFrame = false} = {}) {
    const button = (id, name, make) => element("button", {type: "button", textContent: name, "data-copy": id, onclick: async ({currentTarget: one}) => {
        if (await copy(make(request()), box)) {
            one.textContent = t`Copied`;
            setTimeout(() => (one.textContent = name), 1500);
        }
    }});
    const box = element("div.downloads.copies", {role: "group", "aria-label": t`Copy what is shown`}, element("span", {textContent: t`Copy as`}), button("curl", "curl", curl), button("Python", "Python", python));
    if (hasFrame)
        box.append(button("frame", t`frame`, frame), element("p.hint", {textContent: t`A frame shows this card in another page, where the server's frame_ancestors allows that page.`}));
    return box;
}
