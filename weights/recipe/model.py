"""The paper's Transformer as MarianMT has it (post-norm, ReLU, sinusoidal positions, tied embeddings), in PyTorch from 1.13 on:
training, decoding by steps with a cache, and the directory that attentiond and others read. And a student as Marian's are: its
decoder remembers the target by a recurrent cell, and its positions follow Marian's formula."""

import json
import math
import os
import random
import shutil
import struct

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

EOS = 0
MAX_POSITIONS = 512
SIZES = ("d_model", "heads", "ffn", "encoder_layers", "decoder_layers", "vocab")
NORM_EPSILON = {False: 1e-5, True: 1e-9}  # of students: Marian's
HAS_FUSED_ATTENTION = hasattr(F, "scaled_dot_product_attention")

# Random numbers are slow on a CPU: masks are windows of one pool.
POOL_SIZE = 1 << 24
POOLS = {}


class Masked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mask):
        ctx.mask = mask
        return x * mask

    @staticmethod
    def backward(ctx, g):
        return g * ctx.mask, None


def drop(x, p, training):
    n = x.numel()
    if not training or p <= 0:
        return x
    if x.is_cuda or n >= POOL_SIZE:
        return F.dropout(x, p, True)
    if p not in POOLS:
        # Its own generator, so that a training that goes on draws the same as one that was never stopped.
        POOLS[p] = (torch.rand(POOL_SIZE, generator=torch.Generator().manual_seed(1)) >= p).float() / (1 - p)
    at = random.randrange(POOL_SIZE - n)
    return Masked.apply(x, POOLS[p][at:at + n].view(x.shape).to(x.dtype))


class Attention(nn.Module):
    def __init__(self, d, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout * 0.67
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d) for _ in range(4))

    def split(self, y):
        return y.view(y.shape[0], y.shape[1], self.heads, -1).transpose(1, 2)

    def attend(self, q, k, v, mask, is_causal=False):
        """mask [B, 1, 1, S]: what may be seen; None: everything, or with is_causal what is not in the future."""
        if HAS_FUSED_ATTENTION:
            x = F.scaled_dot_product_attention(q, k, v, mask, self.dropout if self.training else 0.0, is_causal)
        else:
            scores = (q @ k.transpose(-1, -2)).float() * q.shape[-1] ** -0.5
            if is_causal:
                mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
            if mask is not None:
                scores = scores.masked_fill(~mask, -1e9)
            x = drop(torch.softmax(scores, -1).to(q.dtype), self.dropout, self.training) @ v
        return self.out_proj(x.transpose(1, 2).reshape(q.shape[0], q.shape[2], -1))

    def forward(self, x, memory, mask, is_causal=False):
        return self.attend(self.split(self.q_proj(x)), self.split(self.k_proj(memory)), self.split(self.v_proj(memory)), mask, is_causal)


class Cell(nn.Module):
    """SSRU (Kim et al. 2019, "From Research to Production and Back"), in the place of the decoder's self-attention. Both products are
    made for all positions at once; only what is elementwise goes from position to position."""

    def __init__(self, d):
        super().__init__()
        self.input, self.forget = nn.Linear(d, d, bias=False), nn.Linear(d, d)

    def forward(self, x, state=None):
        """x [B, T, D], and the state [B, D] before it, zero at first -> (what the cell says [B, T, D], the last state)"""
        keep = torch.sigmoid(self.forget(x).float())
        new = (1 - keep) * self.input(x).float()
        state, states = torch.zeros_like(new[:, 0]) if state is None else state, []
        for k, n in zip(keep.unbind(1), new.unbind(1)):
            state = torch.addcmul(n, k, state)
            states.append(state)
        return F.relu(torch.stack(states, 1)), state


class Layer(nn.Module):
    def __init__(self, d, heads, ffn, dropout, is_decoder, is_student=False):
        super().__init__()
        self.dropout, epsilon = dropout, NORM_EPSILON[is_student]
        if is_decoder and is_student:
            self.cell, self.cell_layer_norm = Cell(d), nn.LayerNorm(d, epsilon)
        else:
            self.self_attn, self.self_attn_layer_norm = Attention(d, heads, dropout), nn.LayerNorm(d, epsilon)
        if is_decoder:
            self.encoder_attn, self.encoder_attn_layer_norm = Attention(d, heads, dropout), nn.LayerNorm(d, epsilon)
        self.fc1, self.fc2, self.final_layer_norm = nn.Linear(d, ffn), nn.Linear(ffn, d), nn.LayerNorm(d, epsilon)

    def added(self, x, y):
        return x + drop(y, self.dropout, self.training)

    def feed_forward(self, x):
        y = self.fc2(drop(F.relu(self.fc1(x)), self.dropout * 0.5, self.training))
        return self.final_layer_norm(self.added(x, y))

    def forward(self, x, mask, memory=None):
        if memory is None:
            return self.feed_forward(self.self_attn_layer_norm(self.added(x, self.self_attn(x, x, mask))))
        if hasattr(self, "cell"):
            x = self.cell_layer_norm(self.added(x, self.cell(x)[0]))
        else:
            x = self.self_attn_layer_norm(self.added(x, self.self_attn(x, x, None, True)))
        x = self.encoder_attn_layer_norm(self.added(x, self.encoder_attn(x, memory, mask)))
        return self.feed_forward(x)


class Transformer(nn.Module):
    """sizes: {name of SIZES: number}; vocab counts the pad row, which is the last; student, which may be missing, is 1 for Marian's."""

    def __init__(self, sizes, dropout=0.0):
        super().__init__()
        self.sizes, self.dropout = {name: int(sizes[name]) for name in SIZES} | {"student": int(sizes.get("student", 0))}, dropout
        is_student = self.sizes["student"] == 1
        d, heads, ffn, vocab = (self.sizes[name] for name in ("d_model", "heads", "ffn", "vocab"))
        self.pad = vocab - 1
        self.shared = nn.Embedding(vocab, d)
        self.encoder = nn.ModuleList(Layer(d, heads, ffn, dropout, False, is_student) for _ in range(self.sizes["encoder_layers"]))
        self.decoder = nn.ModuleList(Layer(d, heads, ffn, dropout, True, is_student) for _ in range(self.sizes["decoder_layers"]))
        self.final_logits_bias = nn.Parameter(torch.zeros(vocab))
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
        for module in self.modules():
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        nn.init.normal_(self.shared.weight, 0, d ** -0.5)
        self.shared.weight.data[self.pad] = 0  # the decoder starts from a zero embedding, as Marian does
        exponents = torch.arange(d // 2) / (d // 2 - is_student)  # the last of Marian's is 1
        angles = torch.arange(float(MAX_POSITIONS))[:, None] / torch.pow(torch.tensor(10000.0), exponents)
        self.register_buffer("positions", torch.cat([angles.sin(), angles.cos()], 1), persistent=False)

    def embed(self, ids, at=0):
        x = self.shared(ids) * math.sqrt(self.sizes["d_model"]) * (ids != self.pad).unsqueeze(-1) + self.positions[at:at + ids.shape[1]]
        return drop(x, self.dropout, self.training)

    def encode(self, source):
        """source [B, S], padded -> memory [B, S, D], mask [B, 1, 1, S]"""
        mask, x = (source != self.pad)[:, None, None, :], self.embed(source)
        for layer in self.encoder:
            x = layer(x, mask)
        return x, mask

    def decode(self, target, memory, mask):
        """target [B, T], beginning with pad -> [B, T, D]. Padding is behind and sees what it likes: nobody looks at it."""
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, mask, memory)
        return x

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))

    def logits(self, x):
        return F.linear(x, self.shared.weight, self.final_logits_bias)


class Steps:
    """Decoding position by position: each row is one hypothesis of one sentence. The keys and values of what was written are
    kept in one tensor a layer, and those of the source once for each sentence where the hypotheses do not part it. A student has
    the state of its cells instead."""

    def __init__(self, model, source, beam, longest):
        self.model, self.t = model, 0
        memory, mask = model.encode(source)
        self.mask = mask.repeat_interleave(beam, 0)
        rows, heads = self.mask.shape[0], model.sizes["heads"]
        shape = (2, rows, heads, longest, model.sizes["d_model"] // heads)
        self.cross, self.own = [], []
        for layer in model.decoder:
            attention = layer.encoder_attn
            self.cross.append([attention.split(project(memory)).repeat_interleave(beam, 0) for project in (attention.k_proj, attention.v_proj)])
            own = torch.zeros(rows, model.sizes["d_model"]) if model.sizes["student"] else torch.empty(shape, dtype=self.cross[-1][0].dtype)
            self.own.append(own.to(source.device))

    def step(self, ids):
        """ids [rows] at this position -> logits [rows, V] of the next."""
        x, t = self.model.embed(ids[:, None], self.t), self.t
        for i, (layer, cross, own) in enumerate(zip(self.model.decoder, self.cross, self.own)):
            if self.model.sizes["student"]:
                y, self.own[i] = layer.cell(x, own)
                x = layer.cell_layer_norm(x + y)
            else:
                attention = layer.self_attn
                own[0, :, :, t:t + 1] = attention.split(attention.k_proj(x))
                own[1, :, :, t:t + 1] = attention.split(attention.v_proj(x))
                y = attention.attend(attention.split(attention.q_proj(x)), own[0, :, :, :t + 1], own[1, :, :, :t + 1], None)
                x = layer.self_attn_layer_norm(x + y)
            attention = layer.encoder_attn
            y = attention.attend(attention.split(attention.q_proj(x)), *cross, self.mask)
            x = layer.feed_forward(layer.encoder_attn_layer_norm(x + y))
        self.t += 1
        return self.model.logits(x[:, 0])

    def select(self, rows):
        """Goes on with these rows of the ones before, which stay with their sentence: the source's tensors need not move."""
        for own in self.own:
            if self.model.sizes["student"]:
                own[:] = own[rows]
            else:
                own[:, :, :, :self.t] = own[:, rows, :, :self.t]

    def keep(self, rows):
        """Goes on with these rows alone."""
        self.mask = self.mask[rows]
        self.cross = [[tensor[rows] for tensor in cross] for cross in self.cross]
        self.own = [own[rows] if self.model.sizes["student"] else own[:, rows] for own in self.own]


# ---- files ----

def marian_name(name):
    if name == "final_logits_bias":
        return name
    if name == "shared.weight":
        return "model.shared.weight"
    side, rest = name.split(".", 1)
    return f"model.{side}.layers.{rest}"


def write_safetensors(path, tensors, dtype):
    code, cast = {"float16": ("F16", "<f2"), "float32": ("F32", "<f4")}[dtype]
    header, offset, blobs = {"__metadata__": {"format": "pt"}}, 0, []
    for name in sorted(tensors):
        blob = tensors[name].astype(cast).tobytes()
        header[name] = {"dtype": code, "shape": list(tensors[name].shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) - 8 & 63)
    with open(path + ".part", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + b"".join(blobs))
    os.replace(path + ".part", path)


def write_directory(state, sizes, pieces, languages, vocabulary, out, dtype):
    """A MarianMT directory, or of a student one of attentiond's own, which tests/tools/export_marian.py makes Marian's of. pieces: of the SentencePiece model `vocabulary`, by id; languages: ("en", "de"). The pad token,
    which SentencePiece has not, is the id behind them."""
    os.makedirs(out, exist_ok=True)
    if len(set(pieces)) != len(pieces) or len(pieces) + 1 != sizes["vocab"] or pieces[EOS] != "</s>":
        raise ValueError(f"expected {sizes['vocab'] - 1} different pieces that begin with </s>, found {len(set(pieces))} of {len(pieces)}, {pieces[0]} first")
    tensors = {marian_name(name): (value[None] if name == "final_logits_bias" else value).cpu().float().numpy() for name, value in state.items()}
    write_safetensors(f"{out}/model.safetensors", tensors, dtype)
    pad = sizes["vocab"] - 1
    ids = dict(bad_words_ids=[[pad]], decoder_start_token_id=pad, eos_token_id=EOS, forced_eos_token_id=EOS, pad_token_id=pad,
               num_beams=4, length_penalty=1.0, max_length=256)
    config = dict(
        activation_function="relu", d_model=sizes["d_model"], vocab_size=sizes["vocab"],
        encoder_layers=sizes["encoder_layers"], decoder_layers=sizes["decoder_layers"], encoder_attention_heads=sizes["heads"],
        decoder_attention_heads=sizes["heads"], encoder_ffn_dim=sizes["ffn"], decoder_ffn_dim=sizes["ffn"], max_position_embeddings=MAX_POSITIONS,
        scale_embedding=True, static_position_embeddings=True, normalize_before=False, normalize_embedding=False, add_final_layer_norm=False,
        share_encoder_decoder_embeddings=True, tie_word_embeddings=True, is_encoder_decoder=True, torch_dtype=dtype, **ids)
    if sizes.get("student"):  # what MarianMT has not is said in attentiond's own words (model/files/hparams.h)
        config.update(model_type="attentiond", decoder_cell="ssru", position_formula="tensor2tensor", start_from_zero_embedding=True,
                      layer_norm_eps=NORM_EPSILON[True])
    else:
        config.update(architectures=["MarianMTModel"], model_type="marian")
    tokenizer = dict(source_lang=languages[0], target_lang=languages[1], model_max_length=512, tokenizer_class="MarianTokenizer",
                     unk_token="<unk>", eos_token="</s>", pad_token="<pad>")
    vocab = {piece: i for i, piece in enumerate(pieces)} | {"<pad>": pad}
    for name, document in (("config", config), ("generation_config", ids), ("tokenizer_config", tokenizer), ("vocab", vocab),
                           ("attentiond", {"max_length_factor": 2})):
        with open(f"{out}/{name}.json", "w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False, indent=1)
            file.write("\n")
    for side in ("source", "target"):
        shutil.copy(vocabulary, f"{out}/{side}.spm")


def read_directory(path):
    """(sizes, state) of a MarianMT directory that write_directory made."""
    with open(f"{path}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    sizes = dict(d_model=config["d_model"], heads=config["encoder_attention_heads"], ffn=config["encoder_ffn_dim"],
                 encoder_layers=config["encoder_layers"], decoder_layers=config["decoder_layers"], vocab=config["vocab_size"],
                 student=int(config.get("decoder_cell") == "ssru"))
    with open(f"{path}/model.safetensors", "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    state = {}
    for name in Transformer(sizes).state_dict():
        entry = header[marian_name(name)]
        numbers = np.frombuffer(data[slice(*entry["data_offsets"])], {"F16": "<f2", "F32": "<f4"}[entry["dtype"]]).astype(np.float32)
        shape = entry["shape"][1:] if name == "final_logits_bias" else entry["shape"]
        state[name] = torch.from_numpy(numbers.reshape(shape))
    return sizes, state


def packed_bytes(sizes):
    """What `attentiond import` writes: a byte for each weight, and for each column of a layer scale, sum and bias, 4 bytes each; and both
    sides' positions."""
    d, ffn, vocab = sizes["d_model"], sizes["ffn"], sizes["vocab"]
    attention, feed = (4 * d * d, 4 * d), (2 * d * ffn, ffn + d)
    own = (2 * d * d, 2 * d) if sizes.get("student") else attention
    weights, columns = (sizes["encoder_layers"] * (attention[i] + feed[i]) + sizes["decoder_layers"] * (own[i] + attention[i] + feed[i]) + vocab * (d, 1)[i]
                        for i in range(2))
    return weights + 12 * columns + 2 * 4 * MAX_POSITIONS * d


# ---- ids to text ----

def text_of(ids, pieces):
    """As SentencePiece joins pieces; bytes become characters."""
    out = bytearray()
    for i in ids:
        piece = pieces[i] if i < len(pieces) else ""
        if len(piece) == 6 and piece.startswith("<0x"):
            out.append(int(piece[3:5], 16))
        elif i > 1:
            out += piece.replace("▁", " ").encode()
    return out.decode(errors="replace").strip()
