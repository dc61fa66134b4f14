// Runs before the page is drawn, so that it never flashes in the wrong colours or language, or as a whole where a part is wanted.
(() => {
    // "?embed=why": one card alone, in a frame of another page. It asks for no key and keeps nothing.
    const embed = new URLSearchParams(location.search).get("embed");
    if (embed === "why")
        document.documentElement.dataset.embed = embed;

    function stored(name) {
        try {
            return localStorage.getItem(name);
        } catch {
            return null; // Storage is switched off.
        }
    }

    // The address chooses the language first (?lang=), then the reader, then the browser. Until it is there, nothing is shown (style.css).
    const names = {en: "English", de: "Deutsch", fr: "Français", ja: "日本語"};
    const wanted = [new URLSearchParams(location.search).get("lang"), stored("attentiond-language"), ...navigator.languages];
    document.documentElement.lang = wanted.map((tag) => tag?.split("-")[0].toLowerCase()).find((tag) => Object.hasOwn(names, tag)) ?? "en";
    window.attentiondLanguages = names;
    if (document.documentElement.lang !== "en") // fetched while the code is that asks for it (text.js)
        document.head.append(Object.assign(document.createElement("link"), {rel: "preload", as: "fetch", crossOrigin: "anonymous", href: `web/page.${document.documentElement.lang}.json`}));

    const dark = matchMedia("(prefers-color-scheme: dark)");
    const choices = ["auto", "light", "dark"];

    let choice = choices.find((one) => one === stored("attentiond-theme")) ?? "auto";

    function apply() {
        show(choice === "auto" ? (dark.matches ? "dark" : "light") : choice);
    }

    function show(theme) {
        if (document.documentElement.dataset.theme === theme)
            return;
        document.documentElement.dataset.theme = theme;
        document.dispatchEvent(new Event("themechange"));
    }

    window.attentiondTheme = {
        get choice() {
            return choice;
        },
        next() {
            choice = choices[(choices.indexOf(choice) + 1) % choices.length];
            try {
                localStorage.setItem("attentiond-theme", choice);
            } catch {
                // Then the choice lasts as long as the page.
            }
            apply();
        },
    };
    dark.addEventListener("change", apply);
    // Paper is white.
    addEventListener("beforeprint", () => show("light"));
    addEventListener("afterprint", apply);
    apply();
})();
