"""Makes data/multilingual: four small models of many languages in the shapes of M2M100, SMaLL-100, NLLB-200 and mBART-50,
with seeded random weights, and what transformers makes of some sentences with them.

Needs transformers 4.40, torch and sentencepiece:  make_multilingual.py OUT
"""

import json
import pathlib
import struct
import sys

import sentencepiece
import torch
from transformers.models.m2m_100.configuration_m2m_100 import M2M100Config
from transformers.models.m2m_100.modeling_m2m_100 import M2M100ForConditionalGeneration
from transformers.models.m2m_100.tokenization_m2m_100 import M2M100Tokenizer
from transformers.models.mbart.configuration_mbart import MBartConfig
from transformers.models.mbart.modeling_mbart import MBartForConditionalGeneration
from transformers.models.mbart50.tokenization_mbart50 import MBart50Tokenizer
from transformers.models.nllb.tokenization_nllb import NllbTokenizer

OUT = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).resolve().parent
SPM = "sentencepiece.bpe.model"
FILLER = 8
SIZES = {"d_model": 64, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 128,
         "decoder_ffn_dim": 128, "max_position_embeddings": 64}
TEXTS = ["Where is the station?", "I have never been to Boston.", "Tom", "the the the", "She said that he was right.",
         "Übung macht den Meister: 365 Tage!", "日本 is not a piece.", "  two  blanks "]
# [source, target] in the codes of M2M100; the others' are found by their beginning.
PAIRS = [("en", "de"), ("en", "fr"), ("de", "en"), ("fr", "ja"), ("zh", "en"), ("en", "zu"), ("af", "ar"), ("en", "en")]
NLLB = {"en": "eng_Latn", "de": "deu_Latn", "fr": "fra_Latn", "ja": "jpn_Jpan", "zh": "zho_Hans", "zu": "zul_Latn",
        "af": "afr_Latn", "ar": "arb_Arab"}
MBART = {"en": "en_XX", "de": "de_DE", "fr": "fr_XX", "ja": "ja_XX", "zh": "zh_CN", "zu": "sl_SI", "af": "af_ZA",
         "ar": "ar_AR"}


def train_spm(path):
    """No character map: it alone would take more than all the rest."""
    sentencepiece.SentencePieceTrainer.train(
        input=str(HERE / "data" / "dev.txt"), model_prefix=str(path / "spm"), vocab_size=360, model_type="bpe",
        unk_id=0, bos_id=1, eos_id=2, pad_id=-1, normalization_rule_name="identity", minloglevel=2)
    (path / "spm.vocab").unlink()
    (path / "spm.model").rename(path / SPM)
    return sentencepiece.SentencePieceProcessor(model_file=str(path / SPM))


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def write_vocab(path, spm):
    """fairseq's ids are its own: here those of the .spm file backwards."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>"] + [spm.id_to_piece(i) for i in reversed(range(3, spm.get_piece_size()))]
    write_json(path / "vocab.json", {piece: i for i, piece in enumerate(pieces)})
    return len(pieces)


def write_safetensors(path, tensors):
    """Half precision; torch's names, in their order."""
    header, blobs, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, tensor in tensors.items():
        data = tensor.detach().to(torch.float16).contiguous().numpy().tobytes()
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [at, at + len(data)]}
        blobs.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def draw(model, seed):
    """Sharper than a model begins with, and words with less weight than what is made of them, so that ids vary and
    sentences end; rounded to what the file holds."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            spread = {1: 0.1, 2: 0.35}[parameter.dim()]
            if "shared" in name:
                spread = 0.03
            if "embed_positions" in name:
                spread = 0.5
            value = torch.randn(parameter.shape, generator=generator) * spread
            if "shared" in name:
                value[2] *= 2.5
            if "norm" in name and name.endswith("weight"):
                value = value + 1.0
            parameter.copy_(value.half().float())
    return model.eval()


def tensors_of(model):
    """As save_pretrained writes them: each shared table once."""
    seen, out = set(), {}
    for name, tensor in model.state_dict().items():
        if tensor.data_ptr() in seen or "embed_positions.weights" in name:
            continue
        seen.add(tensor.data_ptr())
        out[name] = tensor
    return out


def rounded(attentions):
    return [[[[round(float(x), 6) for x in row] for row in head] for head in layer[0]] for layer in attentions]


def vectors_of(name, model, encode, codes, first):
    for text, (source, target) in zip(TEXTS, PAIRS):
        ids = encode(text, codes(source), codes(target))
        record = {"model": name, "text": text, "source": codes(source), "target": codes(target), "source_ids": ids}
        inputs = torch.tensor([ids])
        for key, n_beams in (("greedy", 1), ("beam", 5)):
            made = model.generate(inputs, num_beams=n_beams, max_length=40, early_stopping=n_beams > 1,
                                  forced_bos_token_id=first(codes(target)), return_dict_in_generate=True,
                                  output_scores=True)
            record[key] = made.sequences[0, 1:].tolist()
            if n_beams > 1:
                record["beam_score"] = float(made.sequences_scores[0])
        if text == TEXTS[0]:
            out = model(input_ids=inputs, decoder_input_ids=torch.tensor([[2] + record["greedy"][:-1]]),
                        output_attentions=True)
            record["attention"] = {"encoder": rounded(out.encoder_attentions), "decoder": rounded(out.decoder_attentions),
                                   "cross": rounded(out.cross_attentions)}
        yield record


def make_m2m100(name, n_encoder, n_decoder, seed):
    """An older directory: no added_tokens_decoder. SMaLL-100's source names the target, and nothing is forced."""
    path = OUT / name
    path.mkdir(parents=True, exist_ok=True)
    n = write_vocab(path, train_spm(path))
    tokenizer = M2M100Tokenizer(str(path / "vocab.json"), str(path / SPM))
    config = M2M100Config(vocab_size=n + 100 + FILLER, encoder_layers=n_encoder, decoder_layers=n_decoder,
                          max_length=40, num_beams=5, early_stopping=True, **SIZES)
    model = draw(M2M100ForConditionalGeneration(config), seed)
    config.architectures = ["M2M100ForConditionalGeneration"]
    config.to_json_file(path / "config.json")
    write_json(path / "tokenizer_config.json", {
        "src_lang": None, "tgt_lang": None, "bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>",
        "unk_token": "<unk>", "pad_token": "<pad>", "tokenizer_class": "M2M100Tokenizer", "language_codes": "m2m100"})
    write_safetensors(path / "model.safetensors", tensors_of(model))
    is_small = n_decoder < n_encoder

    def encode(text, source, target):
        tokenizer.src_lang = target if is_small else source
        return tokenizer(text).input_ids

    return vectors_of(name, model, encode, lambda code: code,
                      lambda code: None if is_small else tokenizer.get_lang_id(code))


def make_nllb(name, legacy, seed):
    path = OUT / name
    path.mkdir(parents=True, exist_ok=True)
    n = train_spm(path).get_piece_size() + 1
    tokenizer = NllbTokenizer(str(path / SPM), legacy_behaviour=legacy)
    config = M2M100Config(vocab_size=n + 202 + 3, encoder_layers=1, decoder_layers=1, max_length=40, **SIZES)
    model = draw(M2M100ForConditionalGeneration(config), seed)
    config.to_json_file(path / "config.json")
    tokenizer.save_pretrained(path)
    write_json(path / "generation_config.json", {"bos_token_id": 0, "decoder_start_token_id": 2, "eos_token_id": 2,
                                                 "max_length": 40, "pad_token_id": 1, "num_beams": 5,
                                                 "early_stopping": True})
    write_safetensors(path / "model.safetensors", tensors_of(model))

    def encode(text, source, target):
        tokenizer.src_lang = source
        return tokenizer(text).input_ids

    return vectors_of(name, model, encode, NLLB.get, tokenizer.convert_tokens_to_ids)


def make_mbart50(name, seed):
    path = OUT / name
    path.mkdir(parents=True, exist_ok=True)
    n = train_spm(path).get_piece_size() + 1
    tokenizer = MBart50Tokenizer(str(path / SPM))
    config = MBartConfig(vocab_size=n + 52 + 1, encoder_layers=1, decoder_layers=1, max_length=40, num_beams=5,
                         activation_function="relu", scale_embedding=True, decoder_start_token_id=2,
                         early_stopping=True, **SIZES)
    model = draw(MBartForConditionalGeneration(config), seed)
    config.tokenizer_class = "MBart50Tokenizer"
    config.to_json_file(path / "config.json")
    write_json(path / "tokenizer_config.json", {"src_lang": None, "tgt_lang": None, "tokenizer_class": "MBart50Tokenizer"})
    write_safetensors(path / "model.safetensors", tensors_of(model))

    def encode(text, source, target):
        tokenizer.src_lang = source
        return tokenizer(text).input_ids

    return vectors_of(name, model, encode, MBART.get, lambda code: tokenizer.lang_code_to_id[code])


def main():
    torch.set_num_threads(1)
    records = [*make_m2m100("m2m100", 1, 1, 1), *make_m2m100("small100", 2, 1, 2), *make_nllb("nllb", False, 3),
               *make_nllb("nllb-legacy", True, 4), *make_mbart50("mbart50", 5)]
    with open(OUT / "transformers.jsonl", "w") as out:
        for record in records:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")


main()
