// The same for the description of the API: what stands around it, for the description itself is in English.

import {loadTexts} from "./text.js";

export {decimal, language, parts, plural, t, wireLanguage} from "./text.js";

await loadTexts("docs");
