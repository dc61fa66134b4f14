// The texts of what is below the translation, in a file of their own.

import {loadTexts} from "./text.js";

export {decimal, integer, language, parts, t} from "./text.js";

await loadTexts("inside");
