// The same for files, which are loaded when one is wanted first.

import {loadTexts} from "./text.js";

export {integer, parts, t} from "./text.js";

await loadTexts("files");
