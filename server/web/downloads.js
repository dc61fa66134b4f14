// Files to take along.

import {element} from "./dom.js";
import {asFile} from "./pictures.js";

const EXTENSIONS = {png: ".png", svg: ".svg", json: ".json", bertviz: ".bertviz.html", safetensors: ".safetensors", npy: ".npy"};

export function save(blob, name) {
    const link = element("a", {href: URL.createObjectURL(blob), download: name});
    document.body.append(link);
    link.click();
    link.remove();
    // The browser has begun to read by then, however slow the disk.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The numbers as a file of the server's. */
export async function saveAttention(inspector, format, selection) {
    let blob = await inspector.file(format, selection);
    if (format === "bertviz")
        blob = bertvizPage(JSON.parse(await blob.text()), inspector.sentence.target.text);
    save(blob, `attention-${format === "bertviz" ? "all" : selection.kind}${EXTENSIONS[format]}`);
}

/** What is shown, as the page draws it. */
export const savePicture = async (picture, name, format) => save(await asFile(picture, format), name + EXTENSIONS[format]);

export const savePositions = (blob, {layout, n}, format) => save(blob, `positions-${layout}-${n}${EXTENSIONS[format]}`);

// The published viewer, at a commit, and the loader that it is written for.
const LOADER = "https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js";
const VIEWER = "https://cdn.jsdelivr.net/gh/jessevig/bertviz@aefce0c505b3e7f6f449b708683a06e96e2c0964/bertviz/head_view.js";

const inScript = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
const inHtml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** A page that shows params in bertviz' head view. It is unchanged, so it comes from where it is published. */
function bertvizPage(params, title) {
    const options = params.attention.map(({name}, i) => `<option value="${i}">${inHtml(name)}</option>`).join("");
    return new Blob([`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>${inHtml(title)} - bertviz</title>
<p>Attention of <q>${inHtml(title)}</q>, shown by bertviz. The viewer and its libraries are loaded from cdn.jsdelivr.net and cdnjs.cloudflare.com.</p>
<div id="${inHtml(params.root_div_id)}">
Layer: <select id="layer"></select> Attention: <select id="filter">${options}</select>
<div id="vis"></div>
</div>
<p id="problem"></p>
<script id="params" type="application/json">${inScript(params)}</script>
<script src="${LOADER}"></script>
<script>
fetch(${inScript(VIEWER)}).then(reply => reply.text()).then(code => {
    const script = document.createElement("script");
    script.textContent = code.replace("PYTHON_PARAMS", () => document.getElementById("params").textContent);
    document.body.append(script);
}).catch(() => {
    document.getElementById("problem").textContent = "The viewer could not be loaded: is this computer offline?";
});
</script>
</html>
`], {type: "text/html"});
}
