// The texts of what is below the translation, in a file of their own.

import {loadTexts, say} from "./text.js";

export {decimal, integer, language, parts, plural, sentences, t} from "./text.js";

await loadTexts("inside");
say(document.querySelector("#inside"));
