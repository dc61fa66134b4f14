"""What a vocabulary's rows of the embeddings are made of where a model with another vocabulary is to go on with it: a piece that both
have keeps its row, any other one gets the mean of the rows of the old pieces that spell it. Needs neither torch nor sentencepiece."""

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
