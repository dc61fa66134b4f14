"""How a model that is there becomes the beginning of another one.

rows_of: what a new vocabulary's rows of the embeddings are made of: a piece that both have keeps its row, any other one gets the mean
of the rows of the old pieces that spell it. deepened: more encoder layers, which change nothing until they are trained. reshaped: a
student, with other sizes and another kind of decoder.
Needs neither torch nor sentencepiece."""

LEFT_OUT = 100  # a character that no piece has costs as much as so many pieces


def spelling(text, old):
    """ids in `old` ({piece: id}) of the fewest pieces that make up text; a character that no piece has is left out."""
    best = [(0, [])]  # of text[:end]: the cost, and the ids
    for end in range(1, len(text) + 1):
        found = (best[end - 1][0] + LEFT_OUT, best[end - 1][1])
        for begin in range(end):
            if text[begin:end] in old and best[begin][0] + 1 < found[0]:
                found = (best[begin][0] + 1, best[begin][1] + [old[text[begin:end]]])
        best.append(found)
    return best[-1][1]


def rows_of(pieces, old):
    """For each piece, and for the pad that comes behind them, the ids in `old` ({piece: id}, the pad last) whose rows' mean is to be its
    row. For bytes, and for what no old piece spells, all of them: such a piece begins as the average one."""
    pad = len(old) - 1
    texts = {piece: i for piece, i in old.items() if 1 < i < pad}  # without </s> and <unk>
    every = list(range(pad))
    rows = []
    for piece in pieces:
        is_byte = len(piece) == 6 and piece.startswith("<0x")
        rows.append([old[piece]] if piece in old else not is_byte and spelling(piece, texts) or every)
    return rows + [[pad]]


def deepened(state, n_layers, n_more):
    """The weights of a post-norm model whose n_layers encoder layers have n_more others among them, which compute the identity.

    A new layer has the projections of the one before it, but nothing comes out of its sublayers, as their last matrices are zero. What
    it then does is to normalise what is normalised already: so it takes over the gain and bias of the old layer's last norm, which
    leaves that one, and the new layer's first, with a gain of 1 and a bias of 0. The tensors need what torch's and numpy's have in common."""
    def named(layer, name):
        return f"encoder.{layer}.{name}"
    if not 0 <= n_more <= n_layers:
        raise ValueError(f"expected 0 to {n_layers} more encoder layers, found {n_more}")
    old = [{name.split(".", 2)[2]: value for name, value in state.items() if name.startswith(f"encoder.{i}.")} for i in range(n_layers)]
    layers = []
    for i, layer in enumerate(old):
        layers.append(dict(layer))
        if (i + 1) * n_more // n_layers == i * n_more // n_layers:
            continue
        new = dict(layer)
        for name in ("self_attn.out_proj", "fc2"):
            new[f"{name}.weight"], new[f"{name}.bias"] = layer[f"{name}.weight"] * 0, layer[f"{name}.bias"] * 0
        for one, norm in ((layers[-1], "final_layer_norm"), (new, "self_attn_layer_norm")):
            one[f"{norm}.weight"], one[f"{norm}.bias"] = layer[f"{norm}.weight"] * 0 + 1, layer[f"{norm}.bias"] * 0
        layers.append(new)
    made = {name: value for name, value in state.items() if not name.startswith("encoder.")}
    return made | {named(i, name): value for i, layer in enumerate(layers) for name, value in layer.items()}


def reshaped(state, n_layers, fresh, n_fresh_layers):
    """The weights of a model of which `fresh` has the names and sizes, with random numbers, where each begins as the old one's in so far
    as there is one. The old model's n_layers decoder layers become n_fresh_layers that lie evenly among them; the norm behind a cell is
    that of the attention whose place it takes. What a feed-forward layer is wider changes nothing until it is trained."""
    made = {}
    for name, value in fresh.items():
        parts = name.replace("cell_layer_norm", "self_attn_layer_norm").split(".")
        if parts[0] == "decoder":
            parts[1] = str((n_layers - 1) * int(parts[1]) // max(1, n_fresh_layers - 1))
        old = state.get(".".join(parts))
        made[name] = value
        if old is not None:
            made[name] = value * (0 if name.endswith("fc2.weight") else 1)
            made[name][tuple(slice(n) for n in old.shape)] = old
    return made
