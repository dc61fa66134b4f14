// The same for what is loaded later: the step player and its switches.

import {loadTexts} from "./text.js";

export {decimal, integer, parts, percentOf, plural, sentences, t} from "./text.js";

await loadTexts("why");
