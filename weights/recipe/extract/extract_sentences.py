"""Texts of several sentences, cut into pairs of one sentence or two: for the scripts that read prose."""
import re
from extract_common import clean
from extract_md import marks

MAX = 400    # characters: prepare.py takes no more
WORDS = 3    # English words at least: there are enough short strings elsewhere
RATIO = {"de": (0.5, 1.9), "fr": (0.5, 2.0), "ja": (0.15, 1.1)}  # of the lengths
EXPECTED = {"de": 1.13, "fr": 1.17, "ja": 0.45}                  # how much longer than English
RESIDUE = re.compile(r"\{[{%.:#]|\]\(|<|[$]\{|\(\s*\)|\((?:see|siehe|voir) \)|\s[.,;](?:\s|$)")  # of markup, and gaps that it leaves
BEADS = [(1, 1, 0), (2, 1, 0.3), (1, 2, 0.3), (2, 2, 0.6)]       # how many sentences of each, and what that costs

CLOSED = re.compile(r"[.!?…][\"”“’')»]*$")
OPENED = re.compile(r"[\"“„‚‘(«»¿]*[A-ZÄÖÜÀÉÈÊÇÎÔ0-9]")
NOT_CLOSED = re.compile(r"(?:^|[\s(\"“„.])(?:\w|\d+|[A-Z]\.[A-Z]|e\.g|i\.e|z\.B|d\.h|u\.a|bzw|etc|vs|No|Nr|Dr|Mr|Mrs|Ms|St|Sr|Jr|Prof|usw|ca|ggf|vgl|sog|Inc|Ltd|Co|Corp|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Mme|Mlle|MM|Jan|Feb|Aug|Sept?|Oct|Okt|Nov|Dec|Dez)\.$")


def sentences(text, lang):
    if lang == "ja":
        return [x for x in re.split(r"(?<=[。！？])(?![」』）])\s*", text) if x]
    out = []
    for word in text.split(" "):
        if out and not (CLOSED.search(out[-1]) and OPENED.match(word) and not NOT_CLOSED.search(out[-1][-12:])):
            out[-1] += " " + word
        else:
            out.append(word)
    return out


def fits(a, b, lang):
    low, high = RATIO[lang]
    return low < (len(b) + 15) / (len(a) + 15) < high


def cost(a, b, lang):
    """Of holding a for the source of b: by lengths, and by numbers, capitals and code."""
    x, y = len(a) * EXPECTED[lang] + 8, len(b) + 8
    left, right = marks(a), marks(b)
    union = len(left | right)
    return 1.5 * abs(x - y) / (x + y) + (0.5 * (1 - len(left & right) / union) if union else 0)


def cut(a, b, lang):
    """[(source, target)] of one text and its translation, in order and without leaving a sentence out."""
    x, y = sentences(a, "en"), sentences(b, lang)
    join = "" if lang == "ja" else " "
    best = {(0, 0): (0, None)}
    for i in range(len(x) + 1):
        for j in range(len(y) + 1):
            if (i, j) not in best:
                continue
            for m, n, price in BEADS:
                if i + m <= len(x) and j + n <= len(y):
                    total = best[i, j][0] + price + cost(" ".join(x[i:i + m]), join.join(y[j:j + n]), lang)
                    if total < best.get((i + m, j + n), (1e9,))[0]:
                        best[i + m, j + n] = (total, (i, j))
    at, out = (len(x), len(y)), []
    if at not in best:
        return [(a, b)]
    while best[at][1]:
        i, j = best[at][1]
        out.append((" ".join(x[i:at[0]]), join.join(y[j:at[1]])))
        at = (i, j)
    return out[::-1]


def add(w, a, b, lang, whole=False):
    """Gives a writer the pairs of a text and its translation that look like sentences and their translations."""
    a, b = (re.sub(r"\s*(?:\[#\d+\]|\^\[[^\]]*\]|(?<=[.,]) :\d+(?= |$))", "", clean(t.replace("\n", " "))) for t in (a, b))
    a, b = (re.sub(r"!?\[([^\[\]]+)\]\([^()]*\)", r"\1", t) for t in (a, b))
    for s, t in [(a, b)] if whole and max(len(a), len(b)) <= MAX else cut(a, b, lang):
        if len(s.split()) >= WORDS and max(len(s), len(t)) <= MAX and s != t and fits(s, t, lang) and not RESIDUE.search(s) and not RESIDUE.search(t):
            w.add(s, t, lang)
