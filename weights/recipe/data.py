"""The files of ids that vocabulary.py writes, as batches on a device. No sentence is ever a Python object: an epoch is a few
flat arrays, and a batch is cut out of them by its rows' offsets."""

import numpy as np
import torch

from model import EOS


def gathered(ids, begins, lengths):
    """ids[begin, begin + length) of each row, one behind the other."""
    ends = np.cumsum(lengths)
    return ids[np.repeat(begins - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)]


def cut(flat, lengths, splits, chosen, random):
    """Cuts pieces in two where chosen (of flat's length) says so and they can be. (flat, lengths) anew."""
    n_cuts = (splits[:, :, 0] != 0).sum(1)
    chosen = chosen & (n_cuts[flat] > 0)
    n = 1 + chosen.astype(np.int64)
    out = np.repeat(flat, n)
    first = (np.cumsum(n) - n)[chosen]
    pieces = flat[chosen]
    halves = splits[pieces, (random.random_sample(len(pieces)) * n_cuts[pieces]).astype(np.int64)]
    out[first], out[first + 1] = halves[:, 0], halves[:, 1]
    row = np.repeat(np.arange(len(lengths)), lengths)
    return out, lengths + np.bincount(row[chosen], minlength=len(lengths))


class Pairs:
    """parts: [(name of a file of pairs, without .npz; factor of its weights)]"""

    def __init__(self, directory, parts, sampled, seed, longest=250):
        self.splits = np.load(f"{directory}/splits.npy").astype(np.int64)
        self.sampled, self.seed, self.longest = sampled, seed, longest
        ids, lengths, weights = [], [], []
        for name, factor in parts:
            with np.load(f"{directory}/{name}.npz") as part:
                ids.append(part["ids"])
                lengths.append(part["lengths"].astype(np.int64))
                weights.append(part["weights"].astype(np.float64) * factor)
        self.ids, self.lengths, self.weights = np.concatenate(ids), np.concatenate(lengths), np.concatenate(weights)
        if len(self.ids) != self.lengths.sum() or len(self.weights) != len(self.lengths):
            raise ValueError(f"{directory}: {len(self.ids)} ids for lengths of {self.lengths.sum()}, {len(self.weights)} weights for {len(self.lengths)} pairs")
        ends = np.cumsum(self.lengths.sum(1))
        self.begins = ends - self.lengths.sum(1)

    def epoch(self, number, tokens, device):
        """The batches of a pass, in an order of their own: a list of (begin, end), and what makes (source, target in, target out)
        of them and the pad's id. The same number gives the same ones."""
        random = np.random.RandomState((self.seed * 100003 + number) % 2**32)
        copies = np.floor(self.weights + random.random_sample(len(self.weights))).astype(np.int64)
        rows = np.repeat(np.arange(len(copies)), copies)
        lengths = self.lengths[rows]
        source = gathered(self.ids, self.begins[rows], lengths[:, 0]).astype(np.int64)
        target = gathered(self.ids, self.begins[rows] + lengths[:, 0], lengths[:, 1])
        n_source = lengths[:, 0]
        # Words are cut as they never are in earnest, on the source side alone: sampled targets teach a decoder to spell.
        share = np.where(random.random_sample(len(rows)) < self.sampled, random.random_sample(len(rows)) * 0.3, 0)
        for _ in range(2):
            chosen = random.random_sample(len(source)) < np.repeat(share, n_source)
            source, n_source = cut(source, n_source, self.splits, chosen, random)
        fits = n_source < self.longest
        order = np.nonzero(fits)[0]
        longest = np.maximum(n_source, lengths[:, 1])[order]
        order = order[np.argsort(longest + random.random_sample(len(order)) * (1 + 0.1 * longest), kind="stable")]
        sums = np.maximum.accumulate(n_source[order]) + np.maximum.accumulate(lengths[order, 1]) + 2
        borders = [0]
        while borders[-1] < len(order):
            at = borders[-1]
            n = max(8, tokens // sums[at])
            n = max(8, tokens // sums[min(at + n, len(order)) - 1])
            borders.append(min(at + n, len(order)))
        flats = [torch.from_numpy(np.append(flat, 0).astype(np.int32)).to(device) for flat in (source, target)]
        begins = [torch.from_numpy(np.cumsum(n) - n).to(device) for n in (n_source, lengths[:, 1])]
        counts = [torch.from_numpy(n).to(device) for n in (n_source, lengths[:, 1])]
        on_device, n_host = torch.from_numpy(order).to(device), (n_source, lengths[:, 1])

        def batch(a, b, pad):
            rows, made = on_device[a:b], []
            for side in range(2):
                width = int(n_host[side][order[a:b]].max()) + 1
                made.append(padded(flats[side], begins[side][rows], counts[side][rows], width, pad))
            return made[0], shifted(made[1], pad), made[1]

        return [(borders[i], borders[i + 1]) for i in random.permutation(len(borders) - 1)], batch


def padded(flat, begins, lengths, width, pad):
    """[rows, width]: each row's ids, EOS, then pad."""
    columns = torch.arange(width, device=flat.device)
    ids = flat[(begins[:, None] + columns).clamp_(max=len(flat) - 1)].long()
    ids.masked_fill_(columns > lengths[:, None], pad)
    return ids.masked_fill_(columns == lengths[:, None], EOS)


def shifted(target, pad):
    """What the decoder has read when it is to write target: pad first; and never EOS."""
    begun = torch.full_like(target, pad)
    begun[:, 1:] = target[:, :-1]
    return begun.masked_fill_(begun == EOS, pad)


def batch_of(lists, pad, device):
    """A few sentences (lists of ids) as a source [B, S]."""
    out = np.full((len(lists), max(map(len, lists)) + 1), pad)
    for row, ids in enumerate(lists):
        out[row, :len(ids)], out[row, len(ids)] = ids, EOS
    return torch.from_numpy(out).to(device)
