// One sentence under the glass: its tokens, and attention fetched when a view first needs it.

import {attention, attentionFile} from "./api.js";
import {t} from "./text_inside.js";

// Up to so many numbers all layers of a kind are fetched at once; beyond, each when it is shown.
const MOST_VALUES_AT_ONCE = 400_000;
const N_CANDIDATES = 10;

const flat = (rows) => Float32Array.from(rows.flat());

/** [layers, heads] of a kind. */
function shape(model, kind) {
    return kind === "encoder" ? [model.layers_enc, model.heads_enc] : [model.layers_dec, model.heads];
}

/** The layer and head of a kind that are seen first: of the decoder looking at the source the one that aligns best. */
export function firstOf(kind, inspector) {
    const {layers, heads} = inspector.sentence.alignment;
    if (kind !== "cross")
        return {layer: 0, head: "mean"};
    return {layer: layers[0], head: heads.length < inspector.shape(kind)[1] ? heads[0] : "mean"};
}

/** What is said of layers and heads that an address names, as in cross.1.6, and the model does not have. */
export const lacks = ({id}, names) => (names.length ? t`The model ${id} has no ${names.join(t`, `)}: left out.` : "");

export class Inspector {
    /** reply: POST /attention's, of one sentence; request: what asked for it, and gets the same tokens again. */
    constructor(reply, request) {
        this.model = reply.model;
        this.sentence = reply.sentences[0];
        this.request = request;
        this.controller = new AbortController();
        this.layers = new Map();
        this.alignment = flat(this.sentence.alignment.matrix);
    }

    /** Drops what is still on its way. */
    close() {
        this.controller.abort();
    }

    get sources() {
        return this.sentence.source_tokens;
    }

    get inputs() {
        return this.sentence.decoder_input_tokens;
    }

    get outputs() {
        return this.sentence.output_tokens;
    }

    /** What rows and columns of a kind stand for. A row of the decoder is a step: input and output. */
    axes(kind) {
        const steps = this.outputs.map((output, i) => ({token: output, input: this.inputs[i]}));
        const sources = this.sources.map((token) => ({token}));
        const inputs = this.inputs.map((token) => ({token}));
        if (kind === "encoder")
            return {rows: sources, columns: sources};
        return {rows: steps, columns: kind === "decoder" ? inputs : sources};
    }

    shape(kind) {
        return shape(this.model, kind);
    }

    /** Those of a layer and heads that the kind does not have. */
    beyond(kind, layer, heads) {
        const [nLayers, nHeads] = this.shape(kind);
        return layer >= nLayers ? [`${kind}.${layer}`] : heads.filter((head) => head >= nHeads).map((head) => `${kind}.${layer}.${head}`);
    }

    fetchAttention(fields) {
        return attention({...this.request, ...fields}, this.controller.signal);
    }

    fetchLayers(kind, layers) {
        const reply = this.fetchAttention({kinds: [kind], layers});
        const loaded = reply.then((body) => body.sentences[0][kind].map((heads) => heads.map(flat)));
        layers.forEach((layer, i) => {
            const one = loaded.then((all) => all[i]);
            one.catch(() => this.layers.delete(`${kind} ${layer}`));
            this.layers.set(`${kind} ${layer}`, one);
        });
    }

    /** A promise of a layer's heads, each a Float32Array [rows, columns]. */
    layer(kind, layer) {
        const key = `${kind} ${layer}`;
        if (!this.layers.has(key)) {
            const {rows, columns} = this.axes(kind);
            const [nLayers, nHeads] = this.shape(kind);
            const isSmall = rows.length * columns.length * nLayers * nHeads <= MOST_VALUES_AT_ONCE;
            this.fetchLayers(kind, isSmall ? [...Array(nLayers).keys()] : [layer]);
        }
        return this.layers.get(key);
    }

    /** A promise of one matrix. head "mean": of all heads of the layer. */
    async matrix({kind, layer, head}) {
        if (kind === "alignment")
            return this.alignment;
        const heads = await this.layer(kind, layer);
        return head === "mean" ? mean(heads) : heads[head];
    }

    /** A promise of [{entropy, top: [{piece, logprob}]}], one per step. */
    candidates() {
        this.steps ??= this.fetchAttention({next_tokens: N_CANDIDATES}).then((body) => body.sentences[0].next_tokens);
        this.steps.catch(() => (this.steps = undefined));
        return this.steps;
    }

    /** A promise of a file of every layer and head; of the alignment: of all kinds. */
    file(format, {kind}) {
        const fields = {format};
        if (format !== "bertviz")
            fields.kinds = kind !== "alignment" ? [kind] : this.model.no_decoder_attention ? ["cross", "encoder"] : ["cross", "encoder", "decoder"];
        return attentionFile({...this.request, ...fields});
    }
}

export function mean(matrices) {
    const out = new Float32Array(matrices[0].length);
    for (const matrix of matrices)
        for (let i = 0; i < out.length; i++)
            out[i] += matrix[i] / matrices.length;
    return out;
}
