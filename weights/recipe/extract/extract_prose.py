"""Longer prose about things other than programs' windows: handbooks, guides, notices, encyclopaedic descriptions, problems in words."""
import re, sys
from extract_common import *
from extract_md import align, blocks, plain
from extract_po import po
from extract_sentences import add


# ---- Markdown ----

def markdown(name, en, other, path):
    """other: language -> repository; path(language): a regular expression of the translation's path, and the English one's path"""
    w = Writer(name)
    for l in LANGS:
        if l not in other:
            continue
        e, o = Repo(en), Repo(other[l])
        expression, english = path(l)
        for p in sorted(o.ls()):
            if re.search(expression, p):
                a, b = e.read(re.sub(expression, english, p)), o.read(p)
                if a and b and a != b:
                    for x, y in pairs(tidy(a), tidy(b)):
                        add(w, x, y, l)
    w.close()


def pairs(a, b):
    """Blocks of two documents, without code."""
    return [(plain(x[1]), plain(y[1])) for x, y in align(blocks(a), blocks(b)) if x[0] != "c"]


def tidy(text):
    """Without the attributes that Material for MkDocs and Hugo add, and without icons."""
    text = re.sub(r"\{\s*[.:#][^{}\n]*\}|\[?:(?:material|octicons|simple|fontawesome)-[\w-]+:|(?m:^\s*(?:!!!|\?\?\?).*$)", "", text)
    return re.sub(r"(\]\([^()\s]*) \"[^\"]*\"\)", r"\1)", text)


# ---- gettext ----

def gettext(name, repository, path, keep=lambda repository, p: True):
    w, r = Writer(name), Repo(repository)
    for l in LANGS:
        for p in sorted(r.ls()):
            if re.search(path(l), p) and keep(r, p):
                for a, b in po(r.read(p) or ""):
                    if "\n\n" in a.strip() or a.lstrip().startswith(("#", "- ", "* ")):
                        for x, y in pairs(a, b):
                            add(w, x, y, l)
                    else:
                        add(w, a, b, l)
    w.close()


def free(repository, path):
    """A sky culture under CC-BY-SA: not all of them are free."""
    text = repository.read(path.split("/")[0] + "/description.md") or ""
    m = re.search(r"(?im)^#+ *licen[cs]e\s*\n([\s\S]*?)(?=^#|\Z)", text)
    return bool(m and re.search(r"CC.BY.SA", m[1]) and not re.search(r"\bN[CD]\b|GPL", m[1]))


# ---- files of keys and texts ----

def yaml(text):
    """{path of keys: text} of the plain YAML of translations: no lists, no anchors."""
    out, keys, rows, i = {}, [], text.replace("\r", "").split("\n"), 0
    while i < len(rows):
        m = re.match(r"( *)([\w.-]+):(?: +(.*))?$", rows[i])
        i += 1
        if not m:
            continue
        indent, value = len(m[1]), (m[3] or "").strip()
        while keys and keys[-1][0] >= indent:
            keys.pop()
        keys.append((indent, m[2]))
        if not value or value[0] in "[{&*":
            continue
        quote = value[0] if value[0] in "\"'" else ""
        while i < len(rows) and (not closed(value, quote) if quote else rows[i].startswith(" " * (indent + 1)) and
                                 (value[0] in "|>" or not re.match(r" *[\w.-]+:( |$)", rows[i]))):
            value = (value[:-1] if value.endswith("\\") else value + " ") + rows[i].strip()
            i += 1
        value = re.sub(r"^[|>][-+]? ", "", value)
        if quote:
            value = value[1:-1].replace("''", "'") if quote == "'" else re.sub(r"\\(.)", lambda x: {"n": "\n"}.get(x[1], x[1]), value[1:-1])
        out["/".join(k for _, k in keys)] = value
    return out


def closed(value, quote):
    return len(value) > 1 and bool(re.search(r"(?<!\\)(?:\\\\)*\"$" if quote == '"' else r"(?<!')(?:'')*'$", value))


def lang_files(text):
    """The .lang files of older Mozilla pages: a line of ;English, a line of the translation."""
    rows = [row for row in text.split("\n") if not row.startswith("#")]
    return {a[1:].strip(): re.sub(r"\s*\{ok\}\s*$", "", b).strip() for a, b in zip(rows, rows[1:]) if a.startswith(";") and not b.startswith(";")}


def keyed(name, repository, read, english, path, top=False):
    w, r = Writer(name), Repo(repository)
    for l in LANGS:
        for p in sorted(r.ls()):
            if re.search(path(l), p):
                a, b = (read(r.read(q) or "") for q in (p if read is lang_files else re.sub(path(l), english, p), p))
                if top:
                    a, b = ({k.split("/", 1)[-1]: v for k, v in d.items()} for d in (a, b))
                for k, v in b.items():
                    x = k if read is lang_files else a.get(k)
                    if x and len(x.split("\n")) == len(v.split("\n")):
                        for s, t in zip(x.split("\n"), v.split("\n")):
                            add(w, s, t, l)
    w.close()


# ---- others ----

def math():
    """Word problems of MGSM: the English file and the others have the same order."""
    w, r = Writer("mgsm"), Repo("google-research/url-nlp")
    a = (r.read("mgsm/mgsm_en.tsv") or "").strip().split("\n")
    for l in LANGS:
        b = (r.read("mgsm/mgsm_%s.tsv" % l) or "").strip().split("\n")
        if len(a) == len(b):
            for x, y in zip(a, b):
                add(w, x.split("\t")[0], y.split("\t")[0], l)
    w.close()


def tico():
    w, r = Writer("tico-19"), Repo("tico-19/tico-19.github.io")
    for unit in re.findall(r'<tu tuid="(?!CMU).*?</tu>', r.read("data/TM/all.en-fr.tmx") or "", flags=re.S):
        m = re.findall(r"<seg>(.*?)</seg>", unit, flags=re.S)
        if len(m) == 2:
            add(w, m[0], m[1], "fr")
    w.close()


def docbook(text):
    """(kind, text) of the paragraphs and titles of the PHP manual."""
    text = re.sub(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<(programlisting|screen|literallayout|synopsis|methodsynopsis)\b.*?</\1>", "", text, flags=re.S)
    out = []
    for m in re.finditer(r"<(para|simpara|title|refpurpose)\b[^>]*>((?:(?!<para\b|<simpara\b|<title\b).)*?)</\1>", text, flags=re.S):
        inner = re.sub(r"&(?!amp;|lt;|gt;|quot;|apos;|#)[\w.-]+;", "\x00", m[2])
        inner = re.sub(r"<(?:function|methodname)>([^<]*)</(?:function|methodname)>", r"\1", inner)
        out.append(("h1" if m[1] == "title" else "p", "" if "\x00" in inner else clean(re.sub(r"\s+", " ", inner))))
    return out


def php():
    """Chapters of the PHP manual that explain, without those that list functions; only files of as many blocks on both sides."""
    w, e = Writer("php-manual"), Repo("php/doc-en")
    for l in LANGS:
        o = Repo("php/doc-" + l)
        for p in sorted(o.ls()):
            if not re.match(r"(?:appendices|chapters|faq|features|install|language|security|reference/[^/]+/(?:book|intro|setup|configure|constants)|preface)\b.*\.xml$", p):
                continue
            a, b = docbook(e.read(p) or ""), docbook(o.read(p) or "")
            if len(a) == len(b):
                for x, y in zip(a, b):
                    if x[1] and y[1]:
                        add(w, x[1], y[1], l)
    w.close()


def every(repository):
    return {l: repository for l in LANGS}


JOBS = {
    "privacy-guides": lambda n: markdown(n, "privacyguides/privacyguides.org", every("privacyguides/i18n"), lambda l: (r"^i18n/%s/(.*\.md)$" % l, r"docs/\1")),
    "letsencrypt": lambda n: markdown(n, "letsencrypt/website", every("letsencrypt/website"), lambda l: (r"^content/%s/(.*\.md)$" % l, r"content/en/\1")),
    "mozilla-legal": lambda n: markdown(n, "mozilla/legal-docs", every("mozilla/legal-docs"), lambda l: (r"^%s/([\w-]+\.md)$" % l, r"en/\1")),
    "twelve-factor": lambda n: markdown(n, "heroku/12factor", every("heroku/12factor"), lambda l: (r"^content/%s/(.*\.md)$" % l, r"content/en/\1")),
    "corona-warn-documents": lambda n: markdown(n, "corona-warn-app/cwa-documentation", {"de": "corona-warn-app/cwa-documentation"}, lambda l: (r"^translations/(.*)\.de\.md$", r"\1.md")),
    "monero-guides": lambda n: markdown(n, "monero-project/monero-site", every("monero-project/monero-site"), lambda l: (r"^_i18n/%s/(.*\.md)$" % l, r"_i18n/en/\1")),
    "debian-handbook": lambda n: gettext(n, "Debian-VN/debian-handbook", lambda l: r"^%s/.*\.po$" % {"de": "de-DE", "fr": "fr-FR", "ja": "ja-JP"}[l]),
    "gnome-help": lambda n: gettext(n, "GNOME/gnome-user-docs", lambda l: r"/%s/%s\.po$" % (l, l)),
    "sky-cultures": lambda n: gettext(n, "Stellarium/stellarium-skycultures", lambda l: r"^[^/]+/po/%s\.po$" % l, free),
    "mozilla-foundation": lambda n: gettext(n, "mozilla-l10n/fomo-l10n", lambda l: r"/locale/%s/LC_MESSAGES/django\.po$" % l),
    "monero-site": lambda n: keyed(n, "monero-project/monero-site", yaml, "_i18n/en.yml", lambda l: r"^_i18n/%s\.yml$" % l),
    "bitcoin-org": lambda n: keyed(n, "bitcoin-dot-org/bitcoin.org", yaml, "_translations/en.yml", lambda l: r"^_translations/%s\.yml$" % l, top=True),
    "sdg": lambda n: keyed(n, "open-sdg/sdg-translations", yaml, r"translations/en/\1", lambda l: r"^translations/%s/(global_.*\.yml)$" % l),
    "covid-certificate": lambda n: keyed(n, "admin-ch/CovidCertificate-App-Config-Service", yaml, r"\1_en.properties", lambda l: r"^(.*/messages)_%s\.properties$" % l, top=True),
    "mozilla-org": lambda n: keyed(n, "mozilla-l10n/www.mozilla.org", lang_files, r"en-US/\1", lambda l: r"^%s/(.*\.lang)$" % l),
    "mozilla-campaigns": lambda n: keyed(n, "mozilla-l10n/engagement-l10n", lang_files, r"en/\1", lambda l: r"^%s/(.*\.lang)$" % l),
    "mgsm": lambda n: math(),
    "tico-19": lambda n: tico(),
    "php-manual": lambda n: php(),
}

if __name__ == "__main__":
    for job in sys.argv[1:] or JOBS:
        JOBS[job](job)
