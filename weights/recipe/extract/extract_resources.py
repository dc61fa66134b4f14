"""Catalogues in the forms of programming languages and frameworks: YAML (Rails, Symfony), PHP arrays, .resw and .xaml of
Windows, Apple's .strings, JavaScript objects. Needs PyYAML (Debian's python3-yaml)."""
import re
import xml.etree.ElementTree as ET

import yaml

from extract_common import *

FULL = {"de": "de-DE", "fr": "fr-FR", "ja": "ja-JP"}
UNDER = {"de": "de_DE", "fr": "fr_FR", "ja": "ja_JP"}
STRING = r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\""


def of_yaml(text):
    """Keys without the first, which Rails has for the language."""
    class Loader(yaml.SafeLoader):
        pass
    Loader.add_multi_constructor("", lambda loader, suffix, node: None)
    try:
        return {k.split("\x00", 2)[-1] if k.count("\x00") > 1 else k: v for k, v in flatten(yaml.load(text, Loader))}
    except yaml.YAMLError:
        return {}


def of_symfony(text):
    """Keys as they are."""
    try:
        return dict(flatten(yaml.safe_load(text)))
    except yaml.YAMLError:
        return {}


def unquoted(match, at):
    text = match[at] if match[at] is not None else match[at + 1]
    return re.sub(r"\\(['\"\\])", r"\1", text)


def of_php(text):
    out, path = {}, []
    for line in re.sub(r"/\*.*?\*/", "", text, flags=re.S).splitlines():
        if match := re.match(rf"\s*(?:{STRING})\s*=>\s*(?:\[|array\()\s*$", line):
            path.append(unquoted(match, 1))
        elif re.match(r"\s*[\])],?;?\s*$", line):
            path[-1:] = []
        elif match := re.match(rf"\s*(?:{STRING})\s*=>\s*(?:{STRING}),?\s*(?://.*)?$", line):
            out["\x00".join(path + [unquoted(match, 1)])] = unquoted(match, 3)
    return out


def of_xml(text):
    """<data name=""><value>, or <sys:String x:Key="">."""
    out = {}
    try:
        root = ET.fromstring(text.encode())
    except ET.ParseError:
        return out
    for element in root.iter():
        key = next((value for name, value in element.attrib.items() if name in ("name", "{http://schemas.microsoft.com/winfx/2006/xaml}Key")), None)
        value = element.find("value") if element.tag == "data" else element if element.tag.endswith("}String") else None
        if key and value is not None and value.text:
            out[key] = value.text
    return out


def of_strings(text):
    return {match[1]: re.sub(r'\\(["\\])', r"\1", match[2]) for match in re.finditer(r'(?m)^"((?:[^"\\]|\\.)*)" = "((?:[^"\\]|\\.)*)";', text)}


def of_javascript(text):
    return {unquoted(match, 1) if match[3] is None else match[3]: unquoted(match, 4)
            for match in re.finditer(rf"(?m)^\s*(?:{STRING}|(\w+)):\s*(?:{STRING}),?\s*$", text)}


def run(name, repository, pairs, parse, names_itself=False, prep=lambda text: text):
    """pairs(paths, language): (English repository or None for the same, its path, the other path). names_itself: the key is the English text."""
    w = Writer(name)
    own = Repo(repository)
    try:
        paths = own.ls()
    except Exception as e:
        print("skipped", repository, e)
        return
    english_repos = {}
    for l in LANGS:
        for where, english, other in pairs(paths, l):
            english_repo = own if where is None else english_repos.setdefault(where, Repo(where))
            b = parse(own.read(other) or "")
            a = {key: key for key in b} if names_itself else parse(english_repo.read(english) or "")
            for key, text in b.items():
                if isinstance(a.get(key), str) and isinstance(text, str):
                    w.add(prep(a[key]), prep(text), l)
    w.close()


def beside(pattern, codes):
    """Paths that differ in the language code, the pattern's only group."""
    def found(paths, l):
        for path in sorted(paths):
            match = re.search(pattern, path)
            other = match and path[:match.start(1)] + codes[l] + path[match.end(1):]
            if other and other in paths:
                yield None, path, other
    return found


SHORT = {l: l for l in LANGS}


def laravel(text):
    """:name is a placeholder there."""
    return re.sub(r"(?<![\w:]):(\w+)", r"{\1}", text)


def rails(text):
    return re.sub(r"%\{(\w+)\}", r"{\1}", text)


if __name__ == "__main__":
    run("solidus", "solidusio/solidus_i18n", lambda P, l: [("solidusio/solidus", "core/config/locales/en.yml", f"config/locales/{l}.yml")], of_yaml, prep=rails)
    run("spree", "spree-contrib/spree_i18n", lambda P, l: [("spree/spree", path, f"config/locales/{l}.yml") for path in Repo("spree/spree").ls() if re.search(r"(core|admin|storefront|emails)/config/locales/en\.yml$", path)], of_yaml, prep=rails)
    run("fat-free-crm", "fatfreecrm/fat_free_crm", lambda P, l: [(None, "config/locales/fat_free_crm.en-US.yml", f"config/locales/fat_free_crm.{code}.yml") for code in (l, FULL[l]) if f"config/locales/fat_free_crm.{code}.yml" in P], of_yaml, prep=rails)
    run("sylius", "Sylius/Sylius", beside(r"translations/(?:messages|flashes|validators)\.(en)\.ya?ml$", SHORT), of_symfony)
    run("grav-admin", "getgrav/grav-plugin-admin", beside(r"^languages/(en)\.yaml$", SHORT), of_symfony)
    run("bookstack", "BookStackApp/BookStack", beside(r"^lang/(en)/\w+\.php$", SHORT), of_php, prep=laravel)
    run("kanboard", "kanboard/kanboard", lambda P, l: [(None, "", f"app/Locale/{UNDER[l]}/translations.php")], of_php, names_itself=True)
    run("bagisto", "bagisto/bagisto", beside(r"Resources/lang/(en)/app\.php$", SHORT), of_php, prep=laravel)
    run("files", "files-community/Files", lambda P, l: [(None, "src/Files.App/Strings/en-US/Resources.resw", f"src/Files.App/Strings/{code}/Resources.resw") for code in (l, FULL[l])], of_xml)
    run("calculator", "microsoft/calculator", beside(r"Resources/(en-US)/Resources\.resw$", FULL), of_xml)
    run("playnite", "JosefNemec/Playnite", lambda P, l: [(None, "source/Playnite/Localization/LocSource.xaml", f"source/Playnite/Localization/{UNDER[l]}.xaml")], of_xml)
    run("home-assistant-ios", "home-assistant/iOS", beside(r"App/Resources/(en)\.lproj/Localizable\.strings$", SHORT), of_strings)
    run("jodit", "xdan/jodit", lambda P, l: [(None, "", path) for path in sorted(P) if path.endswith(f"langs/{l}.js")], of_javascript, names_itself=True)
