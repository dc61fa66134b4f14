// Small helpers around the document.

import {t} from "./text.js";

export const $ = (selector, root = document) => root.querySelector(selector);

/** The card that is alone here, in a frame of another page; undefined: this is the whole page. */
export const {embed} = document.documentElement.dataset;

/** element("button.word", {type: "button", onclick}, "text", child...) */
export function element(description, properties = {}, ...children) {
    const [tag, ...classes] = description.split(".");
    const node = document.createElement(tag);
    if (classes.length)
        node.className = classes.join(" ");
    for (const [name, value] of Object.entries(properties)) {
        if (name.startsWith("on"))
            node.addEventListener(name.slice(2), value);
        else if (name in node && !name.includes("-"))
            node[name] = value;
        else
            node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
}

export function svg(tag, attributes) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes))
        node.setAttribute(name, value);
    return node;
}

/** The fields behind the # of the page's address. */
export const hashFields = () => new URLSearchParams(location.hash.slice(1));

/** Puts other fields there; those that are undefined are left out. */
export function replaceHash(fields) {
    const known = Object.entries(fields).filter(([, value]) => value !== undefined);
    history.replaceState(null, "", `${location.pathname}${location.search}${known.length ? `#${new URLSearchParams(known)}` : ""}`);
}

export const changeHash = (changes) => replaceHash({...Object.fromEntries(hashFields()), ...changes});

/** Text that may run in another direction than what it stands in. */
export const bidi = (tag, text) => element(tag, {textContent: text, dir: "auto"});

/** The same within a text. */
export const isolated = (text) => `\u2068${text}\u2069`;

// Arabic, Central Kurdish, Divehi, Persian, Hebrew, Pashto, Sindhi, Uyghur, Urdu, Yiddish.
const RIGHT_TO_LEFT = /^(ar|ckb|dv|fa|he|iw|ps|sd|ug|ur|yi)([-_]|$)|[-_](arab|hebr)/i;
export const directionOf = (language) => (RIGHT_TO_LEFT.test(language) ? "rtl" : "ltr");

/** From one text to the next, in a line of that direction. */
export const arrow = (direction = "ltr") => (direction === "rtl" ? "←" : "→");

/** Calls draw once before the next frame, however often it is asked. */
export function frame(draw) {
    let pending = 0;
    return () => {
        pending ||= requestAnimationFrame(() => {
            pending = 0;
            draw();
        });
    };
}

/**
 * One tab stop for many items: the arrow keys move within. move(index, key) gives the next index or
 * undefined; by default a row of items.
 */
export function roving(container, selector, move = inRow) {
    const items = () => [...container.querySelectorAll(selector)];
    container.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey)
            return;
        const all = items();
        const from = all.indexOf(document.activeElement);
        const to = from < 0 ? undefined : move(from, event.key, all.length);
        if (to === undefined || !all[to])
            return;
        event.preventDefault();
        all[to].focus();
    });
    container.addEventListener("focusin", (event) => {
        const chosen = event.target.closest(selector);
        if (chosen)
            items().forEach((item) => (item.tabIndex = item === chosen ? 0 : -1));
    });
}

export function inRow(index, key, n) {
    const to = {ArrowRight: index + 1, ArrowLeft: index - 1, ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: n - 1}[key];
    return to === undefined ? undefined : Math.max(0, Math.min(n - 1, to));
}

export function inGrid(columns) {
    return (index, key, n) => {
        const first = index - (index % columns);
        const to = {ArrowRight: index + 1, ArrowLeft: index - 1, ArrowDown: index + columns, ArrowUp: index - columns, Home: first, End: first + columns - 1}[key];
        return to >= 0 && to < n ? to : undefined;
    };
}

/** A canvas sized to its box in device pixels; its context counts in CSS pixels. */
export function fitCanvas(canvas, width, height) {
    const scale = Math.min(2, window.devicePixelRatio || 1);
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
}

export const percent = (x) => (x > 0 && x < 0.01 ? t`< ${1} %` : t`${Math.round(x * 100)} %`);

/** A piece as people read it: the mark of a word's beginning becomes a blank, or is dropped. */
export function readable(piece) {
    const text = piece.replaceAll("\u2581", " ");
    return text.trim() === "" ? "␣" : text.trim();
}

export const announce = (text) => {
    $("#status").textContent = text;
};

const THEMES = {auto: t`Theme: auto`, light: t`Theme: light`, dark: t`Theme: dark`};

/** The button of early.js. */
export function wireTheme() {
    const button = $("#theme");
    const label = () => (button.textContent = THEMES[window.attentiondTheme.choice]);
    button.addEventListener("click", () => {
        window.attentiondTheme.next();
        label();
    });
    label();
}
