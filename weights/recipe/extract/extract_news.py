"""Long sentences with names and facts: sentences of Wikipedia that translators translated or corrected (MLQE-PE, MT-GenEval,
PAWS-X), questions about its articles (MLQA), and the news, events and security notices of Debian's web pages."""
import io, json, re, tarfile
from extract_common import *
from extract_md import align
from extract_sentences import add

# MLQE-PE separates words from marks by blanks.
DETOKENIZED = [(re.compile(pattern), to) for pattern, to in (
    (r" ([.,;:!?%)\]}…])", r"\1"), (r"([(\[{$£€#]) (?=\S)", r"\1"), (r"(\w) (['’](?:s|re|ve|ll|d|m|t)\b)", r"\1\2"), (r"(s) (['’])(?= )", r"\1\2"),
    (r'(^|[ (])" ([^"]*?) ?"(?=[ .,;:!?)]|$)', r'\1"\2"'), (r"„ ([^“„]*?) “", r"„\1“"), (r"“ ([^“”]*?) ”", r"“\1”"), (r"(\w) / (?=\w)", r"\1/"), (r" - (?=\w+-)", r"-"))]


UNSURE = re.compile(r"""(?:^|\s)["„“”'’](?:\s|$)|\s[”’]|[„]\s|^["”“]?[.,;:]|\s[³²×]|° [CF]|[−±] ?\d|``|^['"”]?,""")  # marks of which the side is not known


def detokenized(text):
    text = text.replace("``", '"').replace("''", '"')
    for pattern, to in DETOKENIZED:
        text = pattern.sub(to, text)
    return text


def mlqe():
    """Post-edits of the shared task on quality estimation: the source, and what a translator made of a machine's translation."""
    w, r = Writer("mlqe-wikipedia"), Repo("sheffieldnlp/mlqe-pe")
    for part, stem in (("train", "train"), ("dev", "dev"), ("test", "test20")):
        data = r.read_bytes("data/post-editing/%s/en-de-%s.tar.gz" % (part, part))
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            a, b = (archive.extractfile("en-de-%s/%s.%s" % (part if part != "test" else stem, stem, end)).read().decode("utf-8").split("\n")
                    for end in ("src", "pe"))
        if len(a) != len(b):
            raise SystemExit("mlqe-pe %s: %d sources and %d post-edits, as many were expected" % (part, len(a), len(b)))
        for x, y in zip(a, b):
            x, y = detokenized(x), detokenized(y)
            if not UNSURE.search(x) and not UNSURE.search(y):
                add(w, x, y, "de", whole=True)
    w.close()


def geneval():
    """Sentences about people, in a masculine and in a feminine form, and the same with the sentence before (the tag <sep>)."""
    w, r = Writer("mt-geneval-wikipedia"), Repo("amazon-science/machine-translation-gender-eval")
    for l in LANGS:
        for part in ("dev", "test"):
            for form in ("feminine", "masculine"):
                stem = "data/sentences/%s/geneval-sentences-%s-%s.en_%s." % (part, form, part, l)
                lines(w, r, stem + "en", stem + l, l)
            stem = "data/context/geneval-context-wikiprofessions-%s-" + part + ".en_%s." % l
            lines(w, r, stem % "2to1" + "en", stem % "original" + l, l)
    w.close()


def lines(w, r, en, other, lang):
    a, b = r.read(en), r.read(other)
    if a is None or b is None:
        return
    a, b = a.split("\n"), b.split("\n")
    if len(a) != len(b):
        raise SystemExit("%s has %d lines and %s %d, as many were expected" % (en, len(a), other, len(b)))
    for x, y in zip(a, b):
        add(w, re.split(r"\s*<sep>\s*", x)[-1], y, lang, whole=True)


def paws():
    """The parts of PAWS-X that people translated; line by line the same in all languages. English is in separate words."""
    w, r = Writer("paws-x-wikipedia"), Repo("GautamGupta17/MESH")
    for l in LANGS:
        for part in ("dev", "test"):
            a, b = ((r.read("data/pawsx/%s-%s.tsv" % (part, x)) or "").split("\n") for x in ("en", l))
            if len(a) != len(b):
                raise SystemExit("PAWS-X %s: %d lines in English and %d in %s, as many were expected" % (part, len(a), len(b), l))
            for x, y in zip(a, b):
                x, y = x.split("\t"), y.split("\t")
                if len(x) < 2 or x[2:] != y[2:]:  # the third says whether the two sentences mean the same; "test" is without it
                    continue
                for s, t in zip(x[:2], y[:2]):
                    s, t = detokenized(s), re.sub(r'^"(.*)"$', r"\1", t).replace('""', '"')
                    if not UNSURE.search(s):
                        add(w, s, t, l, whole=True)
    w.close()


def mlqa():
    """Questions with the same number in English and in German."""
    w, r, texts = Writer("mlqa-questions"), Repo("GautamGupta17/MESH"), {"en": {}, "de": {}}
    for p in sorted(r.ls()):
        m = re.match(r"data/mlqa/MLQA_V1/dev/dev-context-..-question-(en|de)\.json$", p)
        for article in json.loads(r.read(p) or "{}").get("data", []) if m else []:
            for paragraph in article["paragraphs"]:
                texts[m[1]].update((x["id"], x["question"]) for x in paragraph["qas"])
    for key, text in texts["de"].items():
        if key in texts["en"]:
            add(w, texts["en"][key], text, "de", whole=True)
    w.close()


BLOCK = re.compile(r"</?(?:p|li|ul|ol|dl|dt|dd|h[1-6]|tr|td|th|table|tbody|thead|div|blockquote|br|hr|pre|define-tag|toc-add-entry|toc-display|center|form)\b[^<>]*>", re.I)


def wml(text):
    """(kind, text) of the blocks of a page of Debian's."""
    text = re.sub(r"\\\n", "", text)
    text = re.sub(r"(?m)^#.*$", "", text)
    text = re.sub(r"<!--.*?-->|<:.*?:>|<pre\b.*?</pre>|<define-tag (?:release_date|report_date|secrefs|packages|isvulnerable|fixed)>.*?</define-tag>", "\n<p>\n", text, flags=re.S)
    text = re.sub(r"</?q>", '"', re.sub(r"</?code>|</?tt>", "", text))
    out, at = [], 0
    for m in list(BLOCK.finditer(text)) + [None]:
        piece = text[at:m.start() if m else len(text)]
        piece = clean(re.sub(r"\s+", " ", piece))
        if piece and not re.search(r'\$\(|<|%\d|https?:|mail to \.|""|\s[.,;](?:\s|$)|\(\s*\)', piece):
            out.append(("p", piece))
        at = m.end() if m else 0
    return out


def debian(name, folders):
    """Pages since 25 January 2012, which are under the licence of MIT (Expat): www.debian.org/license."""
    w, r = Writer(name), Repo("l/debian-webwml")
    for l, folder in (("de", "german"), ("fr", "french"), ("ja", "japanese")):
        for p in sorted(r.ls()):
            m = re.match(r"webwml/%s/((?:%s)/(\d{4})/.*\.wml)$" % (folder, folders), p)
            if not m or int(m[2]) < 2012 or re.search(r"/2012/(?:0[12]/|201201)", p):
                continue
            a, b = r.read("webwml/english/" + m[1]), r.read(p)
            if not a or not b or "\ufffd" in a + b:
                continue
            for x, y in align(wml(a), wml(b)):
                add(w, x[1], y[1], l)
    w.close()


if __name__ == "__main__":
    mlqe()
    geneval()
    paws()
    mlqa()
    debian("debian-news", "News|News/weekly|events")
    debian("debian-security", "security")
