#!/usr/bin/env python3
"""Makes docs/settings.md of what the program says of its settings:

    packaging/settings_page.py PROGRAM > docs/settings.md

tests/cli/test_packaging.py fails where the page is not what this prints.
"""

import json
import re
import sys
import textwrap

import manual

COLUMNS = 120

INTRODUCTION = """\
Every setting of attentiond, with its default, its range and the reason for both. `packaging/settings_page.py` makes this page of
what the program says of itself (`attentiond serve --describe`). [config/attentiond.json](../config/attentiond.json) has the same as a
configuration file to start from, and `attentiond check-config --print-example` prints it.

A setting may come from a flag (`--max-body-bytes`), from the environment (`ATTENTIOND_MAX_BODY_BYTES`) or from a JSON file
(`--config FILE`, `"max_body_bytes"`); a flag wins over the environment, which wins over the file. An unknown name or a value out of
range is refused. SIGHUP reads the file again; a setting that needs a restart keeps its value until then."""


def escaped(doc, keys):
    """The text as Markdown that shows it, with links to the other settings that it names."""
    doc = " ".join(doc.split()).replace("*", r"\*").replace("<", r"\<")
    doc = re.sub(r"https?://[^\s;]+[^\s;.,:]", r"`\g<0>`", doc)
    names = "|".join(key for key in keys if "_" in key)
    return re.sub(rf"(?<![\w-])(?:{names})(?![\w=])", r"[\g<0>](#\g<0>)", doc)


def filled(text):
    return textwrap.fill(text, COLUMNS, break_long_words=False, break_on_hyphens=False)


def facts(setting, verbs):
    default = setting["default"]
    shown = "empty" if default == "" else f"`{json.dumps(default, ensure_ascii=False)}`"
    line = f"Default: {shown}. Value: {setting['expected']}."
    if setting["is_fixed"]:
        line += " A change needs a restart."
    others = [f"`{verb}`" for verb in verbs if verb not in ("serve", "check-config")]
    if others:
        line += f" Also a flag of {', '.join(others)}."
    return line


def page(settings):
    keys = [setting["key"] for setting, _ in settings]
    parts, section = ["# Settings", INTRODUCTION], None
    for setting, verbs in settings:
        if setting["section"] != section:
            section = setting["section"]
            parts.append(f"## {section}")
        others = [key for key in keys if key != setting["key"]]
        parts += [f"### {setting['key']}", filled(facts(setting, verbs)), filled(escaped(setting["doc"], others))]
    return "\n\n".join(parts) + "\n"


def main(program):
    verbs = [manual.describe(program, name) for name in manual.describe(program)["verbs"]]
    sys.stdout.buffer.write(page(manual.all_settings(verbs)).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
