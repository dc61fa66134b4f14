"""JSON / ARB / JSON5 / INI / properties catalogues keyed alike in English and in the other language."""
import re, json
from extract_common import *


def j5(t):
    t = re.sub(r"(?m)^\s*//.*$", "", t)
    t = re.sub(r"/\*.*?\*/", "", t, flags=re.S)
    t = re.sub(r",(\s*[}\]])", r"\1", t)
    return t


def load(t):
    if not t:
        return {}
    try:
        return json.loads(t)
    except ValueError:
        try:
            return json.loads(j5(t))
        except ValueError:
            return {}


def flat(o):
    out = {}
    for k, v in flatten(o):
        k = re.sub(r"\x00(string|message)$", "", k)
        if k.split("\x00")[-1].startswith(("@", "_comment")) or "\x00@" in k:
            continue
        out[k] = v
    return out


def ini(t):
    out, sec = {}, ""
    for line in (t or "").splitlines():
        if line.startswith("["):
            sec = line
        elif "=" in line and not line.startswith((";", "#")):
            k, v = line.split("=", 1)
            out[sec + k.strip()] = v.strip().strip('"`')
    return out


def props(t):
    from extract_mozilla import props as p
    return p(t or "")


def tilde(s):
    """LibreOffice marks the access key with ~"""
    return re.sub(r"\(~\w\)|~", "", s)


def run(name, rn, pairs, parse=lambda t: flat(load(t)), keys=False, top=None, drop=None, prep=lambda s: s, english=None):
    """pairs(paths, lang) gives (english path, other path); keys=True: the key is the English text; top: removes the language's own top key; english: the repository of the English paths, where it is another"""
    w = Writer(name)
    r = Repo(rn)
    er = Repo(english) if english else r
    try:
        paths = r.ls()
    except Exception as e:
        print("skipped", rn, e); return
    for l in LANGS:
        for ep, op in pairs(paths, l):
            b = parse(r.read(op)) if op in paths else {}
            if top:
                b = {re.sub(r"^\x00[\w-]+", "", k): v for k, v in b.items()}
            if keys:
                a = {k: k.split("\x00")[-1] for k in b}
            else:
                a = parse(er.read(ep))
                if top:
                    a = {re.sub(r"^\x00[\w-]+", "", k): v for k, v in a.items()}
            for k, v in b.items():
                e = a.get(k)
                if drop and drop(k):
                    continue
                if isinstance(e, str):
                    if "|" in e and "|" in v and e.count("|") == v.count("|") and name.startswith("shopware"):
                        for x, y in zip(e.split("|"), v.split("|")):
                            w.add(x, y, l)
                    else:
                        w.add(prep(e), prep(v), l)
    w.close()


def same(en, fmt):
    """paths that differ in the language code only; fmt(l) gives the other code(s)"""
    def f(paths, l):
        for code in fmt(l):
            for p in sorted(paths):
                if re.search(en, p):
                    q = re.sub(en, lambda m: p[m.start():m.start(1)] + code + p[m.end(1):m.end()], p)
                    if q in paths and q != p:
                        yield p, q
    return f


def core(t):
    """iD's core.yaml: nested keys, one-line values"""
    out, stack = {}, []
    for line in (t or "").splitlines():
        m = re.match(r"(\s*)([\w-]+|'[^']+'):\s*(.*)$", line)
        if m:
            d = len(m.group(1)) // 2
            stack[d:] = [m.group(2).strip("'")]
            v = m.group(3).strip()
            if v and v[0] not in ">|":
                out["\x00".join([""] + stack[1:])] = v[1:-1].replace("''", "'") if v[:1] in "'\"" and v[-1:] == v[:1] else v
    return out


ONE = lambda l: [l]
LONG = lambda l: [{"de": "de-DE", "fr": "fr-FR", "ja": "ja-JP"}[l]]
if __name__ == "__main__":
    run("shopware-administration", "shopware/administration", same(r"/(en-GB)\.json$", LONG))
    run("shopware-storefront", "shopware/storefront", lambda P, l: [("Resources/snippet/en_GB/storefront.en-GB.json", "Resources/snippet/de_DE/storefront.de-DE.json")] + [(p, p.replace("en-GB", "de-DE")) for p in P if p.endswith("snippet/en-GB.json")] if l == "de" else [])
    run("libreoffice-online", "LibreOffice/online", lambda P, l: [("", "loleaflet/l10n/%s/%s.json" % (x, l)) for x in ("uno", "locore")], keys=True, prep=tilde)
    run("element-web", "matrix-org/matrix-react-sdk", lambda P, l: [("src/i18n/strings/en_EN.json", "src/i18n/strings/%s.json" % {"de": "de_DE", "fr": "fr", "ja": "ja"}[l])])
    run("mattermost-mobile", "mattermost/mattermost-mobile", lambda P, l: [("assets/base/i18n/en.json", "assets/base/i18n/%s.json" % l)])
    run("dspace", "DSpace/dspace-angular", lambda P, l: [("src/assets/i18n/en.json5", "src/assets/i18n/%s.json5" % l)])
    run("openrefine", "OpenRefine/OpenRefine", lambda P, l: [(p, p.replace("-en.json", "-%s.json" % {"ja": "jp" if p.replace("-en.json", "-ja.json") not in P else "ja"}.get(l, l))) for p in P if p.endswith("langs/translation-en.json")])
    run("nuxeo-web-ui", "nuxeo/nuxeo-web-ui", lambda P, l: [("i18n/messages.json", "i18n/messages-%s.json" % l)])
    run("node-red", "node-red/node-red", same(r"/locales/(en-US)/[^/]+\.json$", ONE))
    run("flutter-gallery", "flutter/gallery", lambda P, l: [("lib/l10n/intl_en.arb", "lib/l10n/intl_%s.arb" % l)])
    run("zulip-mobile", "zulip/zulip-mobile", lambda P, l: [("static/translations/messages_en.json", "static/translations/messages_%s.json" % l)], keys=True)
    run("rocketchat-mobile", "RocketChat/Rocket.Chat.ReactNative", lambda P, l: [("app/i18n/locales/en.json", "app/i18n/locales/%s.json" % l)])
    run("wekan", "wekan/wekan", lambda P, l: [("imports/i18n/data/en.i18n.json", "imports/i18n/data/%s.i18n.json" % l)])
    run("syncthing", "syncthing/syncthing", lambda P, l: [("gui/default/assets/lang/lang-en.json", "gui/default/assets/lang/lang-%s.json" % l)], keys=True)
    run("osm-tagging", "openstreetmap/id-tagging-schema", lambda P, l: [("dist/translations/en.json", "dist/translations/%s.json" % l)], top=True, drop=lambda k: "\x00terms" in k or "\x00aliases" in k)
    run("osm-id-editor", "openstreetmap/iD", lambda P, l: [("data/core.yaml", "dist/locales/%s.min.json" % l)], parse=lambda t: core(t) if t and not t.lstrip().startswith("{") else {re.sub(r"^\x00[\w-]+", "", k): v for k, v in flat(load(t)).items()})
    run("lighthouse", "GoogleChrome/lighthouse", lambda P, l: [("shared/localization/locales/en-US.json", "shared/localization/locales/%s.json" % l)])
    run("gogs", "gogs/gogs", lambda P, l: [("conf/locale/locale_en-US.ini", "conf/locale/locale_%s.ini" % LONG(l)[0])], parse=ini)
    run("jitsi-meet", "nordeck/jitsi-meet", lambda P, l: [("lang/main.json", "lang/main-%s.json" % l)])
    run("excalidraw", "excalidraw/excalidraw", same(r"locales/(en)\.json$", LONG))
    run("etherpad", "ether/etherpad-lite", same(r"^src/locales/(en)\.json$", ONE))
    run("visual-editor", "wikimedia/VisualEditor", same(r"i18n/(en)\.json$", ONE), drop=lambda k: "@metadata" in k)
    run("video-js", "videojs/video.js", same(r"^lang/(en)\.json$", ONE))
    run("shaka-player", "shaka-project/shaka-player", same(r"^ui/locales/(en)\.json$", ONE))
    run("guacamole", "apache/guacamole-client", same(r"translations/(en)\.json$", ONE))
    run("saleor-dashboard", "saleor/saleor-dashboard", same(r"^locale/(defaultMessages)\.json$", ONE))
    run("free-online-office", "freeonlineoffice/online", lambda P, l: [("", "browser/l10n/%s/%s.json" % (x, l)) for x in ("uno", "locore")], keys=True, prep=tilde)
