"""Shared by the extract_*.py scripts: reads files out of bare clones, cleans, filters, and writes en-LANG/NAME.tsv for
prepare.py. Python's standard library alone. In the environment: MIRROR, the folder of bare clones (OWNER+NAME/repo each,
at the commits of repositories.txt), and OUT."""
import os, re, sys, subprocess, html, random, json

MIRROR = os.environ.get("MIRROR", "mirror")
OUT = os.environ.get("OUT", "pairs")
ENV = dict(os.environ, GIT_NO_LAZY_FETCH="1", LC_ALL="C.UTF-8")
LANGS = ("de", "fr", "ja")


class Repo:
    def __init__(self, name, ref="HEAD"):
        self.name, self.ref = name, ref
        base = os.path.join(MIRROR, name.replace("/", "+"), "repo")
        self.git = os.path.join(base, ".git") if os.path.isdir(os.path.join(base, ".git")) else base
        self.paths = None
        self.proc = None

    def ls(self):
        if self.paths is None:
            out = subprocess.run(["git", "-C", self.git, "ls-tree", "-r", "-z", self.ref], env=ENV,
                                 stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", "replace")
            self.paths = {}
            for line in out.split("\0"):
                if line:
                    meta, p = line.split("\t", 1)
                    self.paths[p] = meta.split()[2]
        return self.paths

    def read(self, path):
        """text of a file at HEAD, or None when it is not there (absent path, or a blob the partial clone lacks)"""
        data = self.read_bytes(path)
        if data is None:
            return None
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16", "replace")
        return data.decode("utf-8-sig", "replace")

    def read_bytes(self, path):
        h = self.ls().get(path)
        if not h:
            return None
        if self.proc is None:
            self.proc = subprocess.Popen(["git", "-C", self.git, "cat-file", "--batch"], env=ENV,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            self.proc.stdin.write((h + "\n").encode())
            self.proc.stdin.flush()
            head = self.proc.stdout.readline().split()
        except BrokenPipeError:
            head = []
        if len(head) < 3:
            if self.proc.poll() is not None or not head:
                self.proc = None
            return None
        n = int(head[2])
        data = self.proc.stdout.read(n)
        self.proc.stdout.read(1)
        return data


TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
SP = re.compile(r"[\s\u00a0\u2007\u202f\u3000]+")
CTRL = re.compile(r"[\u0000-\u0008\u000b-\u001f\u007f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u00ad]")
JA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
FOREIGN = re.compile(r"[\u0400-\u04ff\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f\uac00-\ud7af]")
URL = re.compile(r"https?://|www\.|mailto:", re.I)
PH = re.compile(r"%(?:\d+\$)?[-+0 #]*[\d.]*[a-zA-Z@]|%\([^)]*\)[a-z]|\$?\{\{?[^{}]*\}?\}|%%|&[a-zA-Z.]+;|%[A-Za-z0-9_.]+%|__\w+__|<[^<>]*>")


def clean(s):
    s = html.unescape(s) if "&" in s and ";" in s else s
    s = re.sub(r"<br\s*/?>", " ", s)
    s = TAG.sub("", s)
    s = s.replace("\\n", " ").replace("\\t", " ")
    s = CTRL.sub("", s)
    return SP.sub(" ", s).strip()


def words(s, lang):
    return len(s.split()) if lang != "ja" else max(1, len(s) // 2)


def plausible(a, b, lang):
    """English a, other b: keep?"""
    if not a or not b or len(a) > 500 or len(b) > 600:
        return False
    if "\n" in a or "\n" in b:
        return False
    if "``" in a or "``" in b or "<" in a and ">" in a or "</" in b:
        return False
    if len(URL.findall(a)) > 1 or (URL.match(a) and " " not in a):
        return False
    la, lb = PH.sub("", a), PH.sub("", b)
    wa = re.findall(r"[^\W\d_]{2,}", la)
    if not wa:
        return False
    if not (1 <= words(a, "en") <= 60 and 1 <= words(b, lang) <= 70):
        return False
    if sum(c.isalpha() for c in la) < 0.5 * len(la.replace(" ", "")):
        return False
    if JA.search(a) or FOREIGN.search(a) or FOREIGN.search(b):
        return False
    if lang == "ja":
        if not JA.search(b):
            return False
        if not (0.12 <= len(lb) / max(1, len(la)) <= 2.0) and len(la) > 15:
            return False
    else:
        if JA.search(b):
            return False
        r = (len(lb) + 8) / (len(la) + 8)
        if not 0.45 <= r <= 2.4:
            return False
        if a == b and len(wa) > 2:                      # untranslated
            return False
        if len(wa) > 4:
            same = set(w.lower() for w in wa) & set(w.lower() for w in re.findall(r"[^\W\d_]{2,}", lb))
            if len(same) > 0.6 * len(set(w.lower() for w in wa)):
                return False
    if re.search(r"[{};]\s*$|^\s*(function|import|const|var|let|return|class|def)\b.*[({;=]|=>|::|==", a):
        return False
    if re.fullmatch(r"[\w./\\:-]*[_/\\.:][\w./\\:-]*", a):  # identifiers, paths
        return False
    na, nb = sorted(re.findall(r"\d{2,}", la)), sorted(re.findall(r"\d{2,}", lb))
    if na and nb and len(na) <= 3 and len(set(na) & set(nb)) == 0:
        return False
    return True


class Writer:
    def __init__(self, name):
        self.name = name
        self.rows = {l: {} for l in LANGS}
        self.seen = {l: 0 for l in LANGS}

    def add(self, a, b, lang):
        if not isinstance(a, str) or not isinstance(b, str):
            return
        a, b = clean(a), clean(b)
        self.seen[lang] += 1
        if plausible(a, b, lang):
            self.rows[lang].setdefault((a, b), None)

    def close(self):
        out = []
        for l in LANGS:
            rows = self.rows[l]
            if len(rows) < 15:
                continue
            d = os.path.join(OUT, "en-" + l)
            os.makedirs(d, exist_ok=True)
            with open(os.path.join(d, self.name + ".tsv"), "w", encoding="utf-8") as f:
                for a, b in rows:
                    f.write(a + "\t" + b + "\n")
            out.append("%s %d of %d" % (l, len(rows), self.seen[l]))
        print("%-26s %s" % (self.name, "; ".join(out) or "nothing"), flush=True)


def flatten(o, pre=""):
    if isinstance(o, dict):
        for k, v in o.items():
            yield from flatten(v, pre + "\x00" + str(k))
    elif isinstance(o, list):
        for i, v in enumerate(o):
            yield from flatten(v, pre + "\x00" + str(i))
    elif isinstance(o, str):
        yield pre, o
