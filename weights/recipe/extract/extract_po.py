"""gettext .po catalogues."""
import re, ast
from extract_common import *


def unq(s):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": " ", "r": ""}.get(m.group(1), m.group(1)), s)


def po(t):
    """yields (msgid, msgstr) and (plural, last plural form) of entries that are not fuzzy"""
    for block in re.split(r"\n\s*\n", t.replace("\r", "")):
        if re.search(r"(?m)^#,.*\bfuzzy\b", block):
            continue
        cur, d = None, {}
        for line in block.split("\n"):
            if line.startswith("#"):
                continue
            m = re.match(r"(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?)\s+\"(.*)\"\s*$", line)
            if m:
                cur = m.group(1); d[cur] = m.group(2)
            elif cur and (m := re.match(r"\s*\"(.*)\"\s*$", line)):
                d[cur] += m.group(1)
        d = {k: unq(v) for k, v in d.items()}
        if not d.get("msgid"):
            continue
        if "msgstr" in d:
            yield d["msgid"], d["msgstr"]
        else:
            f = sorted(k for k in d if k.startswith("msgstr["))
            if len(f) > 1:
                yield d["msgid"], d[f[0]]
            if f and d.get("msgid_plural"):
                yield d["msgid_plural"], d[f[-1]]


def rst(s):
    s = re.sub(r":[\w:+-]+:`~?!?([^`<]*?)(?:\s*<[^`>]*>)?`", r"\1", s)
    s = re.sub(r"`([^`<]+?)\s*<[^`>]*>`_+", r"\1", s)
    return s.replace("``", "").replace("**", "").replace("`_", "").replace("`", "")


def bb(s):
    return re.sub(r"\[/?(?:b|i|u|code|codeblock|kbd|url|center|br|member|method|param|signal|constant|enum|annotation|theme_item)(?:[ =][^\]]*)?\]", "", s)


def run(name, rn, path, prep=lambda s: s, en=None):
    """path: language -> regular expression of the .po files"""
    w = Writer(name)
    r = Repo(rn) if isinstance(rn, str) else None
    for l in LANGS:
        rr = r or (Repo(*rn[l].split("@")) if l in rn else None)
        if not rr or not path(l):
            continue
        try:
            paths = sorted(rr.ls())
        except Exception as e:
            print("skipped", rr.name, e); continue
        for p in paths:
            if re.search(path(l), p):
                for a, b in po(rr.read(p) or ""):
                    if a.count("\n") == b.count("\n"):
                        for x, y in zip(a.split("\n"), b.split("\n")):
                            x, y = prep(x), prep(y)
                            w.add(re.sub(r"&(?=\w)|_(?=\w)(?<=^_)", "", x) if name != "python-docs" else x, re.sub(r"&(?=\w)", "", y), l)
    w.close()


if __name__ == "__main__":
    run("jupyterlab", "jupyterlab/language-packs", lambda l: r"language_pack_%s/locale/%s/LC_MESSAGES/.*\.po$" % (("%s_%s" % (l, {"de": "DE", "fr": "FR", "ja": "JP"}[l]),) * 2))
    run("wagtail", "wagtail/wagtail", lambda l: r"/locale/%s/LC_MESSAGES/.*\.po$" % l)
    run("godot-editor", "godotengine/godot-editor-l10n", lambda l: r"^(editor|properties|extractable)/%s\.po$" % l, bb)
    run("libreoffice-online-po", "LibreOffice/online", lambda l: r"^loleaflet/po/(ui|help|ios)-%s\.po$" % l, lambda s: re.sub(r"\(~\w\)|~(?=\w)", "", s))
    run("python-docs", {"fr": "python/python-docs-fr@3.13", "ja": "python/python-docs-ja"}, lambda l: r"\.po$", rst)
    run("free-online-office-po", "freeonlineoffice/online", lambda l: r"^browser/po/(ui|help|core|descriptions)-%s\.po$" % l, lambda s: re.sub(r"\(~\w\)|~(?=\w)", "", s))
    run("indico", "indico/indico", lambda l: r"^indico/translations/%s_%s/LC_MESSAGES/messages-all\.po$" % (l, {"de": "DE", "fr": "FR", "ja": "JP"}[l]))
    run("django-oscar", "django-oscar/django-oscar", lambda l: r"^src/oscar/locale/%s/LC_MESSAGES/.*\.po$" % l)
    run("pinta", "PintaProject/Pinta", lambda l: r"^po/%s\.po$" % l, lambda s: re.sub(r"_(?=\w)", "", s))
    run("horizon", "openstack/horizon", lambda l: r"^(horizon|openstack_auth|openstack_dashboard)/locale/%s/LC_MESSAGES/.*\.po$" % l)
