"""Catalogues in the forms of programming languages and frameworks: YAML (Rails, Symfony), PHP arrays, .resw and .xaml of
Windows, Apple's .strings, JavaScript objects. Needs PyYAML (Debian's python3-yaml)."""
import re
import xml.etree.ElementTree as ET

import yaml

from extract_common import *
from extract_json import LONG, ONE, run, same

UNDER = {"de": "de_DE", "fr": "fr_FR", "ja": "ja_JP"}
STRING = r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\""


class Loader(yaml.SafeLoader):
    """Without what a tag asks for."""


Loader.add_multi_constructor("", lambda loader, suffix, node: None)


def of_yaml(text):
    try:
        return dict(flatten(yaml.load(text or "", Loader)))
    except yaml.YAMLError:
        return {}


def of_rails(text):
    """Without the first key, the language."""
    return {key.split("\x00", 2)[-1]: value for key, value in of_yaml(text).items()}


def unquoted(match, at):
    text = match[at] if match[at] is not None else match[at + 1]
    return re.sub(r"\\(['\"\\])", r"\1", text)


def of_php(text):
    out, path = {}, []
    for line in re.sub(r"/\*.*?\*/", "", text or "", flags=re.S).splitlines():
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
        root = ET.fromstring((text or "").encode())
    except ET.ParseError:
        return out
    for element in root.iter():
        key = next((value for name, value in element.attrib.items() if name in ("name", "{http://schemas.microsoft.com/winfx/2006/xaml}Key")), None)
        value = element.find("value") if element.tag == "data" else element if element.tag.endswith("}String") else None
        if key and value is not None and value.text:
            out[key] = value.text
    return out


def of_strings(text):
    return {match[1]: re.sub(r'\\(["\\])', r"\1", match[2]) for match in re.finditer(r'(?m)^"((?:[^"\\]|\\.)*)" = "((?:[^"\\]|\\.)*)";', text or "")}


def of_javascript(text):
    return {unquoted(match, 1) if match[3] is None else match[3]: unquoted(match, 4)
            for match in re.finditer(rf"(?m)^\s*(?:{STRING}|(\w+)):\s*(?:{STRING}),?\s*$", text or "")}


def laravel(text):
    """:name is a placeholder there."""
    return re.sub(r"(?<![\w:]):(\w+)", r"{\1}", text)


def rails(text):
    return re.sub(r"%\{(\w+)\}", r"{\1}", text)


if __name__ == "__main__":
    run("solidus", "solidusio/solidus_i18n", lambda P, l: [("core/config/locales/en.yml", f"config/locales/{l}.yml")], of_rails, prep=rails, english="solidusio/solidus")
    run("spree", "spree-contrib/spree_i18n", lambda P, l: [("spree/core/config/locales/en.yml", f"config/locales/{l}.yml")], of_rails, prep=rails, english="spree/spree")
    run("fat-free-crm", "fatfreecrm/fat_free_crm", lambda P, l: [("config/locales/fat_free_crm.en-US.yml", f"config/locales/fat_free_crm.{code}.yml") for code in (l, *LONG(l))], of_rails, prep=rails)
    run("sylius", "Sylius/Sylius", same(r"translations/(?:messages|flashes|validators)\.(en)\.ya?ml$", ONE), of_yaml)
    run("grav-admin", "getgrav/grav-plugin-admin", same(r"^languages/(en)\.yaml$", ONE), of_yaml)
    run("bookstack", "BookStackApp/BookStack", same(r"^lang/(en)/\w+\.php$", ONE), of_php, prep=laravel)
    run("kanboard", "kanboard/kanboard", lambda P, l: [("", f"app/Locale/{UNDER[l]}/translations.php")], of_php, keys=True)
    run("bagisto", "bagisto/bagisto", same(r"Resources/lang/(en)/app\.php$", ONE), of_php, prep=laravel)
    run("files", "files-community/Files", lambda P, l: [("src/Files.App/Strings/en-US/Resources.resw", f"src/Files.App/Strings/{code}/Resources.resw") for code in (l, *LONG(l))], of_xml)
    run("calculator", "microsoft/calculator", same(r"Resources/(en-US)/Resources\.resw$", LONG), of_xml)
    run("playnite", "JosefNemec/Playnite", lambda P, l: [("source/Playnite/Localization/LocSource.xaml", f"source/Playnite/Localization/{UNDER[l]}.xaml")], of_xml)
    run("home-assistant-ios", "home-assistant/iOS", same(r"App/Resources/(en)\.lproj/Localizable\.strings$", ONE), of_strings)
    run("jodit", "xdan/jodit", lambda P, l: [("", path) for path in sorted(P) if path.endswith(f"langs/{l}.js")], of_javascript, keys=True)
