// The same for what is loaded later: the comparison of two translations.

import {loadTexts} from "./text.js";

export {decimal, integer, parts, percentOf, plural, sentences, t} from "./text.js";

await loadTexts("compare");
