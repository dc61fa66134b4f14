// The page's own language. English stands in the code and the page; what it is in another language stands in a file
// (text/), which is fetched when that language is chosen (early.js).

const NAME = "attentiond-language";
const ATTRIBUTES = ["aria-label", "title", "placeholder", "data-empty", "content"];

/** {lang} where the address chooses the language: an address that goes on from here has it, too. */
export const addressed = Object.fromEntries([...new URLSearchParams(location.search)].filter(([name]) => name === "lang"));

/** The language of the page, as early.js chose it. */
export const language = document.documentElement.lang;

const texts = new Map();

/** FNV-1a of the UTF-16 units: what a text is called in a file of translations (embed.py). */
function nameOf(text) {
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i++)
        hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
    return hash.toString(36);
}

/** Fetches a file of translations, "page", "inside", ..., before anything is said with it. Without it the page speaks English. */
export async function loadTexts(part) {
    if (language === "en")
        return;
    try {
        const reply = await fetch(`web/${part}.${language}.json`);
        for (const [name, text] of Object.entries(await reply.json()))
            texts.set(name, text);
    } catch (error) {
        console.warn(error);
    }
}

const integers = new Intl.NumberFormat(language);
const plurals = new Intl.PluralRules(language);

/** A number of the page's language, with n digits behind the point. */
export const decimal = (value, n) => new Intl.NumberFormat(language, {minimumFractionDigits: n, maximumFractionDigits: n, useGrouping: false}).format(value).replace("-", "−");

export const integer = (value) => integers.format(value);

/** A share of 1 with n digits behind the point. */
export const percentOf = (share, n) => t`${decimal(100 * share, n)} %`;

/** Sentences behind one another. */
export const sentences = (...all) => all.filter(Boolean).join(language === "ja" ? "" : " ");

const translated = (key) => texts.get(nameOf(key)) ?? key;
const shown = (value) => (typeof value === "number" ? integers.format(value) : value);

/** t`Step ${step} of ${n}`: in the page's language, numbers as it writes them. The key of that text is "Step {0} of {1}". */
export const t = (strings, ...values) => parts(strings, ...values).join("");

/** The same as a list of strings and of the values as they are, elements among them. */
export function parts(strings, ...values) {
    const key = strings.reduce((text, part, i) => `${text}{${i - 1}}${part}`);
    return translated(key).split(/\{(\d)\}/).map((part, i) => (i % 2 ? shown(values[part]) : part)).flat().filter((part) => part !== "");
}

/** one() or other(), as the language counts n. */
export const plural = (n, one, other) => (plurals.select(n) === "one" ? one() : other());

/** A language by its name in the page's own; name: the server's, which is English. */
export function languageName(code, name) {
    if (language === "en" && name)
        return name;
    try {
        return new Intl.DisplayNames([language], {type: "language"}).of(code);
    } catch {
        return name ?? code; // It is no code.
    }
}

/** [{key, put}] for every text and named attribute of the page as it was sent: put(text) replaces it. */
export function textsOf(root) {
    const found = [];
    const isOurs = (node) => !node.closest("script, style, noscript, [translate=no], [lang]:not(html)");
    const add = (text, put) => /\p{L}/u.test(text) && found.push({key: text.trim().replace(/\s+/g, " "), put});
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.currentNode; node; node = walker.nextNode())
        if (node.nodeType === Node.TEXT_NODE) {
            if (isOurs(node.parentElement))
                add(node.data, (text) => (node.data = node.data.replace(/\S[\s\S]*\S|\S/, () => text)));
        } else if (isOurs(node) && (node.localName !== "meta" || node.name === "description")) {
            for (const name of ATTRIBUTES)
                add(node.getAttribute(name) ?? "", (text) => node.setAttribute(name, text));
        }
    return found;
}

/** Keeps the choice, and begins anew with the text that is there. */
function change(code) {
    const url = new URL(location.href);
    const text = document.querySelector("#source-text");
    url.searchParams.delete("lang");
    try {
        localStorage.setItem(NAME, code);
        if (text)
            sessionStorage.setItem(NAME, text.value);
    } catch {
        url.searchParams.set("lang", code); // Storage is switched off.
    }
    if (url.href === location.href)
        location.reload();
    else
        location.assign(url);
}

/** The text that was there before the language was changed, once. */
export function keptText() {
    try {
        const text = sessionStorage.getItem(NAME);
        sessionStorage.removeItem(NAME);
        return text;
    } catch {
        return null;
    }
}

/** Puts what was sent into the page's language, as far as its texts are there. */
export function say(root) {
    if (language !== "en")
        for (const {key, put} of textsOf(root))
            put(translated(key));
}

/** Puts the page that was sent into its language, shows it, and wires the choice of another. */
export function wireLanguage() {
    say(document.documentElement);
    document.documentElement.dataset.said = language;
    for (const link of document.querySelectorAll("[href=docs], [href='./']"))
        link.search = new URLSearchParams(addressed);
    const select = document.querySelector("#page-language");
    for (const [code, name] of Object.entries(window.attentiondLanguages)) {
        const option = Object.assign(document.createElement("option"), {value: code, textContent: name, lang: code});
        select.append(option);
    }
    select.value = language;
    select.addEventListener("change", () => change(select.value));
}

await loadTexts("page");
