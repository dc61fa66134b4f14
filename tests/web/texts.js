// The texts that the page's code says, as the files of translations have them.

import {readFileSync, readdirSync} from "node:fs";
import path from "node:path";
import {ROOT} from "../daemon.mjs";

export const FOLDER = path.join(ROOT, "server/web");
const PREFIXES = new Set(["t", "parts"]);

/** The end of a template that begins behind the backtick at i, and its strings. Templates within are read as well. */
function template(source, i, found) {
    const strings = [""];
    while (source[i] !== "`")
        if (source.startsWith("${", i)) {
            i = code(source, i + 2, found) + 1;
            strings.push("");
        } else {
            if (source[i] === "\\")
                strings[strings.length - 1] += source[i++];
            strings[strings.length - 1] += source[i++];
        }
    return [i + 1, strings];
}

/** Reads code up to the } that closes it; adds the texts that are said in it to found. */
function code(source, i, found) {
    for (let depth = 0; i < source.length; ) {
        const one = source[i];
        if (one === "`") {
            const prefix = /[\w$]*$/.exec(source.slice(Math.max(0, i - 20), i))[0];
            const [end, strings] = template(source, i + 1, found);
            if (PREFIXES.has(prefix))
                found.push(strings.reduce((text, part, k) => `${text}{${k - 1}}${part}`));
            i = end;
        } else if (one === '"' || one === "'") {
            for (i++; source[i] !== one; i++)
                if (source[i] === "\\")
                    i++;
            i++;
        } else if (source.startsWith("//", i) && source[i - 1] !== "\\") {
            i = source.indexOf("\n", i);
        } else if (source.startsWith("/*", i)) {
            i = source.indexOf("*/", i) + 2;
        } else if (one === "/" && /[(,=:[!&|?{};\n]\s*$/.test(source.slice(Math.max(0, i - 12), i))) {
            for (let isInClass = false, j = i + 1; ; j++)
                if (source[j] === "\\") {
                    j++;
                } else if (source[j] === "/" && !isInClass) {
                    i = j + 1;
                    break;
                } else {
                    isInClass = source[j] === "[" || (isInClass && source[j] !== "]");
                }
        } else if (one === "}" && depth === 0) {
            return i;
        } else {
            depth += (one === "{") - (one === "}");
            i++;
        }
    }
    return i;
}

/** The files of translations: the first is always there, the second where a text is translated. */
export const PARTS = ["page", "inside", "why", "compare", "files", "docs"];

/** What each part's code says: {page, inside, ...}, each a Set. */
export function textsOfCode() {
    const texts = Object.fromEntries(PARTS.map((part) => [part, new Set()]));
    for (const name of readdirSync(FOLDER).filter((one) => one.endsWith(".js"))) {
        const source = readFileSync(path.join(FOLDER, name), "utf8");
        const found = [];
        code(source, 0, found);
        const part = /from "\.\/text_(\w+)\.js"/.exec(source)?.[1] ?? "page";
        found.forEach((text) => texts[part].add(text));
    }
    return texts;
}
