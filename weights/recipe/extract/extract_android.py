"""Android resources: res/values/*.xml (English) against values-de, values-fr, values-ja."""
import re, sys, xml.etree.ElementTree as ET
from extract_common import *

SETS = {
    "android-aosp": ["LineageOS/android_packages_apps_Contacts", "LineageOS/android_packages_apps_UnifiedEmail",
        "LineageOS/android_packages_apps_Dialer", "LineageOS/android_packages_apps_Messaging",
        "LineageOS/android_packages_apps_DocumentsUI", "LineageOS/android_packages_apps_TvSettings",
        "LineageOS/android_packages_apps_Car_Settings", "LineageOS/android_packages_apps_ManagedProvisioning",
        "LineageOS/android_packages_apps_DeskClock", "CyanogenMod/android_packages_apps_Camera2",
        "LineageOS/android_packages_apps_Calendar", "CyanogenMod/android_packages_apps_Gallery2",
        "LineageOS/android_packages_apps_SetupWizard", "LineageOS/android_packages_apps_LineageParts",
        "LineageOS/android_packages_services_Telephony", "LineageOS/android_packages_modules_Permission",
        "CyanogenMod/android_packages_apps_Mms", "CyanogenMod/android_packages_apps_Email",
        "LineageOS/android_packages_apps_Launcher3", "Katsuna/public_packages_apps_Settings", "Ankits-lab/frameworks_base"] + [a for a in sys.argv[1:]],
    "android-mozilla": ["mozilla-mobile/fenix", "mozilla-mobile/focus-android", "mozilla-mobile/android-components"],
    "android-thunderbird": ["thunderbird/thunderbird-android"],
    "android-corona-warn": ["corona-warn-app/cwa-app-android"],
    "android-wikipedia": ["wikimedia/apps-android-wikipedia"],
    "android-pocket-casts": ["Automattic/pocket-casts-android"],
    "android-element": ["vector-im/element-android"],
}


def unesc(s):
    s = SP.sub(" ", s).strip()
    if len(s) > 1 and s[0] == '"' and s[-1] == '"':
        s = s[1:-1]
    s = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m.group(1), 16)), s)
    return re.sub(r"\\(.)", lambda m: {"n": " ", "t": " "}.get(m.group(1), m.group(1)), s)


def text(e):
    return unesc("".join(e.itertext()))


def parse(t):
    t = re.sub(r"<(/?)xliff:g[^>]*>", "", t)
    t = re.sub(r"<!DOCTYPE.*?\]>", "", t, flags=re.S)
    t = re.sub(r"&(?!amp;|lt;|gt;|quot;|apos;|#)[\w.]+;", "", t)
    out = {}
    try:
        root = ET.fromstring(t.encode())
    except ET.ParseError:
        return out
    for e in root:
        n = e.get("name")
        if e.get("translatable") == "false" or n is None:
            continue
        if e.tag == "string":
            out[n] = text(e)
        elif e.tag == "plurals":
            for i in e:
                out[n + "\x00" + (i.get("quantity") or "")] = text(i)
        elif e.tag in ("string-array", "array"):
            for k, i in enumerate(e):
                out[n + "\x00%d" % k] = text(i)
    return out


for name, repos in SETS.items():
    w = Writer(name)
    for rn in repos:
        r = Repo(rn)
        try:
            paths = r.ls()
        except Exception as e:
            print("skipped", rn, e)
            continue
        for l in LANGS:
            dirs = {}
            for p in paths:
                m = re.match(r"(.*/)?values-%s(-r(?:DE|FR|JP))?/[^/]+\.xml$" % l, p)
                if m:
                    dirs.setdefault(p.rsplit("/values-", 1)[0], []).append(p)
            for d, files in dirs.items():
                en = {}
                for p in paths:
                    if p.startswith(d + "/values/") and p.endswith(".xml"):
                        t = r.read(p)
                        if t and "<string" in t or t and "<plurals" in t:
                            en.update(parse(t))
                for p in files:
                    for k, v in parse(r.read(p) or "").items():
                        e = en.get(k)
                        if e is None and "\x00" in k:      # Japanese has only "other"
                            e = en.get(k.split("\x00")[0] + "\x00other")
                        if e:
                            w.add(e, v, l)
    w.close()
