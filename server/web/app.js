// The page: what is typed is translated, what is translated is inspected, and the views show it.

import * as api from "./api.js";
import {$, announce, wireTheme} from "./dom.js";
import {Translator} from "./translator.js";
import {Viewer} from "./viewer.js";

// A text beyond this gets its links only on demand: the reply would be megabytes.
const MOST_LINKED_CHARACTERS = 4000;

const viewer = new Viewer();
const translator = new Translator({onTranslation: inspect, onPointed: (sentence) => viewer.pickSentence(sentence)});

/**
 * What may ask POST /attention for the tokens of a translation: the model's own search; the search as
 * wide as the alternatives made it; the text itself, which then is cut into pieces anew.
 */
function attentionRequests({q, source, target, text, forced}) {
    const forcing = {q, source, target, target_text: text};
    return forced !== undefined ? [forcing] : [{q, source, target}, {q, source, target, beam_size: api.beamSize()}, forcing];
}

/** The first of them whose reply is about this text, and the reply. */
async function findAttention(translation, signal) {
    let request, reply;
    for (request of attentionRequests(translation)) {
        reply = await api.attention(request, signal);
        if (reply.target_text === translation.text)
            break;
    }
    return [reply, request];
}

async function inspect(translation, signal) {
    if (!translation || translation.isPivoted) {
        viewer.hide();
        return;
    }
    if (translation.q.length > MOST_LINKED_CHARACTERS && !translation.isLinkingWanted) {
        viewer.hide();
        translator.offerLinks(() => inspect({...translation, isLinkingWanted: true}, signal));
        return;
    }
    viewer.markStale();
    const [reply, request] = await findAttention(translation, signal);
    translator.link(reply);
    viewer.show(reply, request);
}

window.addEventListener("unhandledrejection", (event) => {
    if (event.reason?.name === "AbortError")
        event.preventDefault();
});

wireTheme();
await translator.start();
document.documentElement.dataset.ready = "true";
if (!$("#source-text").value)
    announce("Type a text to translate it.");
