"""Markdown documents: blocks are aligned by dynamic programming (kind, length, numbers, inline code), then sentences where
both sides have as many."""
import re
from extract_common import *


def blocks(t):
    t = re.sub(r"\A---\n.*?\n---\n", "", t, flags=re.S)
    t = re.sub(r"<!--.*?-->", "", t, flags=re.S)
    out, buf, code = [], [], None
    def flush():
        if buf:
            out.append(("p", " ".join(x.strip() for x in buf))); buf.clear()
    for line in t.split("\n"):
        f = re.match(r"\s*(```+|~~~+)", line)
        if code:
            if f and line.strip().startswith(code):
                code = None
            continue
        if f:
            flush(); code = f.group(1)[:3]; out.append(("c", "")); continue
        if not line.strip():
            flush(); continue
        m = re.match(r"\s*(#{1,6})\s+(.*?)\s*(?:\{[#/].*\})?$", line)
        if m:
            flush(); out.append(("h%d" % len(m.group(1)), m.group(2))); continue
        m = re.match(r"\s*(?:[-*+]|\d+[.)])\s+(.*)$", line)
        if m:
            flush(); buf.append(m.group(1)); continue
        if line.lstrip().startswith(("|", ":::", "{{", "<", "import ", "![", "{%")):
            flush(); continue
        buf.append(re.sub(r"^\s*>\s?", "", line))
    flush()
    return out


def plain(s):
    s = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", s)
    s = re.sub(r"\{\{<.*?>\}\}|\{%.*?%\}|\{\{.*?\}\}", "", s)
    s = re.sub(r"\[\^?([^\]]*)\]\([^)]*\)", r"\1", s)
    s = re.sub(r"\[([^\]]*)\]\[[^\]]*\]", r"\1", s)
    s = re.sub(r"\{:[^}]*\}|\{#[^}]*\}", "", s)
    s = re.sub(r"\*\*|__|`", "", s)
    s = re.sub(r"(?<![\w*])[*_]([^*_]+)[*_](?![\w*])", r"\1", s)
    return clean(s)


def marks(s):
    return set(re.findall(r"`[^`]+`|\d+|https?://[^\s)]+|[A-Z]{2,}", s))


def cost(a, b):
    if a[0][0] != b[0][0]:
        return 3.0
    if a[0] == "c":
        return 0.0
    r = abs(a[2] - b[2]) / (a[2] + b[2])
    u = len(a[3] | b[3])
    j = len(a[3] & b[3]) / u if u else 0.6
    return 1.6 * r + (1 - j) * 0.8 + (0.3 if a[0] != b[0] else 0)


def align(A, B, skip=0.55, band=50):
    A = [(k, t, len(t) + 10, marks(t)) for k, t in A]
    B = [(k, t, len(t) + 10, marks(t)) for k, t in B]
    n, m = len(A), len(B)
    INF = 1e9
    D = [{0: 0.0}] + [{} for _ in range(n)]
    T = [{} for _ in range(n + 1)]
    for j in range(1, m + 1): D[0][j], T[0][j] = j * skip, 2
    for i in range(1, n + 1):
        D[i][0], T[i][0] = i * skip, 1
        mid = i * m // max(1, n)
        up, here = D[i - 1], D[i]
        for j in range(max(1, mid - band), min(m, mid + band) + 1):
            x = up.get(j - 1, INF)
            best, t = (x + cost(A[i-1], B[j-1]) if x < INF else INF), 0
            y = up.get(j, INF) + skip
            if y < best: best, t = y, 1
            y = here.get(j - 1, INF) + skip
            if y < best: best, t = y, 2
            here[j], T[i][j] = best, t
    i, j, out = n, m, []
    while i and j:
        t = T[i].get(j, 1)
        if t == 0:
            i -= 1; j -= 1
            if cost(A[i], B[j]) < (0.95 if A[i][3] & B[j][3] else 0.75): out.append((A[i][:2], B[j][:2]))
        elif t == 1: i -= 1
        else: j -= 1
    return out[::-1]


ABB = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bz\.B)(?<!\bz\. B)(?<!\bd\.h)(?<!\bbzw)(?<!\betc)(?<!\bvs)(?<!\bNr)(?<!\bDr)(?<!\busw)(?<!\bca)"


def sents(s, lang):
    if lang == "ja":
        return [x for x in re.split(r"(?<=[。！？])\s*", s) if x]
    return [x for x in re.split(ABB + r"(?<=[.!?:])[\"”“)]?\s+(?=[\"“„(A-ZÄÖÜÀÉÈÊÇ])", s) if x]


def pairs(te, to, lang):
    for a, b in align(blocks(te), blocks(to)):
        if a[0] == "c":
            continue
        x, y = plain(a[1]), plain(b[1])
        sx, sy = sents(x, "en"), sents(y, lang)
        if len(sx) == len(sy) and len(sx) > 1:
            ok = lang == "ja" or all(0.4 < (len(p) + 10) / (len(q) + 10) < 2.2 for p, q in zip(sx, sy))
            if ok:
                yield from zip(sx, sy)
                continue
        yield x, y


def run(name, en, other, path):
    """en: repository of the English text; other: language -> repository; path(l) -> (regex of the other's path, replacement giving the English path)"""
    w = Writer(name)
    for l in LANGS:
        if l not in other:
            continue
        try:
            E, O = Repo(en), Repo(other[l])
            E.ls(), O.ls()
        except Exception as e:
            print("skipped", en, other[l], e); continue
        rx, rep = path(l)
        for p in sorted(O.ls()):
            if re.search(rx, p):
                te, to = E.read(re.sub(rx, rep, p)), O.read(p)
                if te and to and te != to:
                    for a, b in pairs(te, to, l):
                        w.add(a, b, l)
    w.close()


def tldr():
    w = Writer("tldr")
    r = Repo("tldr-pages/tldr")
    for l in LANGS:
        for p in sorted(r.ls()):
            if p.startswith("pages.%s/" % l) and p.endswith(".md"):
                a, b = r.read(p.replace("pages." + l, "pages.en" if "pages.en/" in p else "pages")), r.read(p)
                if not a:
                    continue
                def items(t):
                    out = {}
                    intro = [x[1:].strip() for x in t.split("\n") if x.startswith(">") and "http" not in x]
                    for k, x in enumerate(intro): out["i%d" % k] = x
                    for m in re.finditer(r"(?m)^- (.*?):?\s*\n\s*\n`(.*)`", t):
                        out[re.sub(r"\{\{.*?\}\}", "X", m.group(2))] = m.group(1)
                    return out
                x, y = items(a), items(b)
                x0 = [k for k in x if re.match(r"i\d", k)]; y0 = [k for k in y if re.match(r"i\d", k)]
                for k, v in y.items():
                    if re.match(r"i\d", k) and len(x0) != len(y0):
                        continue
                    if k in x:
                        w.add(re.sub(r"[\[\]`]", "", x[k]), re.sub(r"[\[\]`]", "", v), l)
    w.close()


if __name__ == "__main__":
    import sys
    only = sys.argv[1:]
    _run = run
    run = lambda name, *a: _run(name, *a) if not only or name in only else None
    S = lambda r: {l: r for l in LANGS}
    if not only or "tldr" in only:
        tldr()
    run("opensource-guide", "github/opensource.guide", S("github/opensource.guide"), lambda l: (r"^_articles/%s/(.*\.md)$" % l, r"_articles/\1"))
    run("rust-book", "rust-lang/book", {"de": "rust-lang-de/rustbook-de"}, lambda l: (r"^src/(.*\.md)$", r"src/\1"))
    run("vue-docs", "vuejs/docs", {"de": "vuejs-translations/docs-de", "fr": "vuejs-translations/docs-fr", "ja": "vuejs-translations/docs-ja"}, lambda l: (r"^src/(.*\.md)$", r"src/\1"))
    run("react-docs", "reactjs/legacy.reactjs.org", {"de": "reactjs/de.reactjs.org", "fr": "reactjs/fr.reactjs.org", "ja": "reactjs/ja.reactjs.org"}, lambda l: (r"^content/((?:docs|tutorial|warnings).*\.md)$", r"content/\1"))
