// Runs before the page is drawn, so that it never flashes in the wrong colours, or as a whole where a part is wanted.
(() => {
    // "?embed=why": one card alone, in a frame of another page. It asks for no key and keeps nothing.
    const embed = new URLSearchParams(location.search).get("embed");
    if (embed === "why")
        document.documentElement.dataset.embed = embed;

    const dark = matchMedia("(prefers-color-scheme: dark)");
    const choices = ["auto", "light", "dark"];

    function stored() {
        try {
            const value = localStorage.getItem("attentiond-theme");
            return choices.includes(value) ? value : "auto";
        } catch {
            return "auto"; // storage may be forbidden
        }
    }

    let choice = stored();

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
