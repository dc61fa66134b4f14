"""Beam search with one model or the mean of several's probabilities, in batches; beam 1 is greedy."""

import math

import torch

from model import EOS, Steps


def log_probabilities(steps, ids):
    each = [torch.log_softmax(step.step(ids).float(), -1) for step in steps]
    return each[0] if len(each) == 1 else torch.logsumexp(torch.stack(each), 0) - math.log(len(each))


@torch.no_grad()
def search(models, source, beam=1, limit=200, penalty=1.0):
    """models: in eval mode, of one vocabulary; source [B, S], padded. Returns [B, limit + 1], each row ended by EOS and padded,
    and whether each ended by itself. A hypothesis counts sum / length ** penalty, EOS included, and a sentence is over when as many
    as the beam has have ended, and no other can become better: as Hugging Face does it, and attentiond."""
    steps = [Steps(model, source, beam, limit + 1) for model in models]
    pad, device, n = models[0].pad, source.device, source.shape[0]
    ids = torch.full((n * beam,), pad, device=device)
    sums = torch.full((n, beam), -math.inf, device=device)
    sums[:, 0] = 0
    written = torch.full((n, beam, limit + 1), pad, device=device)
    best, answers = torch.full((n,), -math.inf, device=device), torch.full((n, limit + 1), pad, device=device)
    alive = torch.arange(n, device=device)
    pool = torch.full((n, beam), -math.inf, device=device)  # the best that have ended, of those alive
    over = torch.zeros(n, dtype=torch.bool, device=device)  # no hypothesis can get into the pool any more
    for t in range(limit + 1):
        scores = log_probabilities(steps, ids)
        scores[:, pad] = -math.inf
        if t == limit:
            scores[:, EOS] = 0
            scores[:, EOS + 1:] = -math.inf
        m, v = len(alive), scores.shape[-1]
        top, flat = (sums[:, :, None] + scores.view(m, beam, v)).view(m, beam * v).topk(2 * beam)
        parents, tokens = torch.div(flat, v, rounding_mode="floor"), flat % v
        is_eos = tokens == EOS

        ended = (top[:, :beam] / (t + 1) ** penalty).masked_fill(~is_eos[:, :beam] | over[:, None], -math.inf)
        pool = torch.cat([pool, ended], 1).topk(beam).values
        value, which = ended.max(1)
        better = value > best[alive]
        parent = parents.gather(1, which[:, None])
        answer = written.gather(1, parent[:, :, None].expand(-1, -1, limit + 1))[:, 0]
        answer[:, t] = EOS
        best[alive] = torch.where(better, value, best[alive])
        answers[alive] = torch.where(better[:, None], answer, answers[alive])

        sums, chosen = top.masked_fill(is_eos, -math.inf).topk(beam)
        parents, ids = parents.gather(1, chosen), tokens.gather(1, chosen)
        written = written.gather(1, parents[:, :, None].expand(-1, -1, limit + 1))
        written[:, :, t] = ids
        ids = ids.view(-1)
        over |= pool[:, -1] >= sums[:, 0] / (t + 1) ** penalty
        if t == limit or t % 4 == 3 and bool(over.all()):
            break
        rows = (torch.arange(m, device=device)[:, None] * beam + parents).view(-1)
        if beam > 1:
            for step in steps:
                step.select(rows)
        if t % 8 == 7 and int(over.sum()) * 4 > m:
            kept = (~over).nonzero()[:, 0]
            rows = (kept[:, None] * beam + torch.arange(beam, device=device)).view(-1)
            alive, over, pool, sums, written, ids = alive[kept], over[kept], pool[kept], sums[kept], written[kept], ids[rows]
            for step in steps:
                step.keep(rows)
    return answers, (answers[:, limit] == pad)
