#!/usr/bin/env python3
"""Writes the section on fields of docs/api.md anew, of the table server/http/fields.json.

tests/cli/test_packaging.py fails where the section is not what this makes.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "server/http"))
import fields_table

PAGE = ROOT / "docs/api.md"
PATHS = {"translate": "/translate", "attention": "/attention", "file": "/translate_file", "detect": "/detect", "suggest": "/suggest",
         "positions": "/positions", "deepl": "/v2/translate", "document": "/v2/document", "document_status": "/v2/document/ID", "deepl_languages": "/v2/languages", "alignment": "`alignment` of /attention",
         "glossary": "/v2/glossaries", "glossaries": "/v3/glossaries", "dictionary": "/v3/glossaries/ID/dictionaries",
         "memory": "/v3/translation_memories", "memories": "/v3/translation_memories", "memory_file": "/v3/translation_memories/ID/tmx"}
WORDS = {"boolean": "true or false", "integer": "number", "string": "text", "array": "list"}
HEADING = "## Fields of requests"
INTRODUCTION = "`packaging/fields_page.py` makes this table of `server/http/fields.json`. A field in bold must be there. Routes that are not named here have none."


def value(schema):
    """What may stand there, in words."""
    if "oneOf" in schema:
        return " or ".join(value(shape) for shape in schema["oneOf"])
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"] if word)
    kinds = schema.get("type", "object")
    kind = " or ".join(WORDS.get(name, name) for name in ([kinds] if isinstance(kinds, str) else kinds) if name != "null")
    if schema.get("maximum", fields_table.MOST) < fields_table.MOST:
        return f"{kind} from {schema['minimum']} to {schema['maximum']}"
    return f"{kind} from {schema['minimum']}" if "minimum" in schema else kind



def row(field):
    routes = [PATHS[name] for name in field["routes"].split()]
    name = f"**`{field['name']}`**" if field.get("required") is True else f"`{field['name']}`"
    said = field.get("description", "")
    if "default" in field and not field.get("setting"):
        said = f"{said} Default: `{str(field['default']).lower()}`.".strip()
    return f"| {name} | {', '.join(routes)} | {value(field)} | {said} |"


def page(text):
    """The page with its section made anew."""
    before, section, after = re.fullmatch(rf"(.*?\n)({HEADING}\n.*?\n)(## .*)", text, re.S).groups()
    table = "\n".join(["| field | of | value | meaning |", "|---|---|---|---|", *map(row, fields_table.ROWS)])
    return f"{before}{HEADING}\n\n{INTRODUCTION}\n\n{table}\n\n{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
