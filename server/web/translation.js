// A translation, sentence by sentence: what each became, what else it might have become, and the
// attention of each, fetched when it is first looked at. A text may be as long as it likes, because
// no more than a sentence is asked about at a time.

import * as api from "./api.js";

export class Translation {
    /** reply: POST /translate's, with the model of that name if one was asked for. signal: drops what is still on its way. */
    constructor(q, source, target, reply, signal, model) {
        Object.assign(this, {q, target, signal, model, source: reply.detectedLanguage?.language ?? source, warnings: reply.warnings ?? []});
        const {translatedText: text, alternatives = [], sentences, via, models} = reply;
        this.pivot = via && {via, models};
        this.sentences = sentences.map((one) => ({source: one.source, text: one.target.text, choices: [one.target.text, ...one.alternatives]}));
        this.attentions = new Map();
        // What stands between the sentences' translations, before the first and behind the last.
        const ends = [0, ...sentences.flatMap((one) => [one.target.begin_utf16, one.target.end_utf16]), text.length];
        this.gaps = ends.flatMap((end, i) => (i % 2 ? [text.slice(ends[i - 1], end)] : []));
        if (!sentences.length) // of several models, or none: there is nothing to look into
            this.whole = {text, choices: [text, ...alternatives]};
    }

    get text() {
        if (this.whole)
            return this.whole.text;
        return this.gaps.map((gap, i) => gap + (this.sentences[i]?.text ?? "")).join("");
    }

    /** What the alternatives of a sentence belong to. */
    part(index) {
        return this.whole ?? this.sentences[index];
    }

    /** Puts another of the model's translations in the place of a sentence's first. */
    take(index, text) {
        this.part(index).text = text;
        this.attentions.delete(index);
    }

    /** Which other translations were taken, as "sentence.choice,..."; undefined: none. */
    taken() {
        const parts = this.whole ? [this.whole] : this.sentences;
        return parts.map(({text, choices}, i) => [i, choices.indexOf(text)]).filter(([, choice]) => choice > 0).map((pair) => pair.join(".")).join() || undefined;
    }

    /** A promise of [reply, request] of a sentence: POST /attention's, and what asked for it. */
    attention(index) {
        if (!this.attentions.has(index)) {
            const found = this.findAttention(this.sentences[index]);
            found.catch(() => this.attentions.get(index) === found && this.attentions.delete(index));
            this.attentions.set(index, found);
        }
        return this.attentions.get(index);
    }

    /**
     * The tokens come from the model's own search; or from one as wide as the alternatives made it;
     * or from the text itself, which then is cut into pieces anew. The first counts whose reply is
     * about this text.
     */
    async findAttention({source, text, choices}) {
        const asked = {q: source.text, source: this.source, target: this.target, split_sentences: "off", ...(this.model && {model: this.model})};
        const forcing = {...asked, target_text: text};
        let request, reply;
        for (request of text === choices[0] ? [asked, {...asked, beam_size: api.beamSize()}, forcing] : [forcing]) {
            reply = await api.attention(request, this.signal);
            if (reply.target_text === text)
                break;
        }
        return [reply, request];
    }
}
