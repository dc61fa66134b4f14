// What the page runs first: it is in the reader's language, and seen, before the rest of its code is there.

import {wireLanguage} from "./text.js";

wireLanguage();
