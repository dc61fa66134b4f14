"""Makes what is made of the table of request fields, fields.json: fields_table.py OUTPUT makes the C file of its rows
(fields.h); the API's description (../web/description.py) and docs/api.md (packaging/fields_page.py) take their parts from here.

A row is the field's JSON schema and

    name      as it stands in requests; another row may have the same for other routes
    routes    that have the field, by the words of enum mt_fields_of; "alignment" is a field that has fields
    required  true, or those of its routes that refuse a request without it
    text      its schema in forms and query strings, where it differs
    only      "json" or "text": the only encoding that has it
    read      how the server reads it, where not as the schema says: "string", for values that are checked later;
              "own", by code of its own, for what has several shapes or a range that depends on more than the field
    setting   true: where it is absent, the setting of that name counts
    repeats   true: a form may have it several times
    flag      what --help says of the flag of this name, of a verb that does the same; flag_value: what it calls the value
"""

import json
import pathlib
import sys

ROWS = json.loads(pathlib.Path(__file__).with_name("fields.json").read_text(encoding="utf-8"))
OURS = ("name", "routes", "required", "text", "only", "read", "setting", "repeats", "flag", "flag_value")
MOST = 2**31 - 1
TYPES = {"boolean": "BOOLEAN", "integer": "INTEGER", "number": "NUMBER", "string": "STRING"}


def rows_of(route):
    return [row for row in ROWS if route in row["routes"].split()]


def is_required(row, route):
    required = row.get("required", False)
    return required is True or bool(required) and route in required.split()


def schema(row, as_text):
    """The field's own. As text it has the shape that is a string, and no null."""
    made = {key: value for key, value in row.items() if key not in OURS}
    if not as_text:
        return made
    if "text" in row:
        return {key: made[key] for key in ("description",) if key in made} | row["text"]
    made |= next((shape for shape in made.pop("oneOf", []) if shape.get("type") == "string"), {})
    if isinstance(made.get("type"), list):
        made["type"] = next(name for name in made["type"] if name != "null")
        made |= {"enum": [value for value in made["enum"] if value is not None]} if "enum" in made else {}
    return made


def request_schema(route, encoding):
    rows = [row for row in rows_of(route) if row.get("only", encoding) == encoding]
    required = [row["name"] for row in rows if is_required(row, route)]
    return {"type": "object", **({"required": required} if required else {}),
            "properties": {row["name"]: expanded(schema(row, encoding == "text")) for row in rows}}


def expanded(node):
    """A schema, with that of a field that has fields in the place that is left for it: {"x-fields": "alignment json"}."""
    if isinstance(node, list):
        return [expanded(item) for item in node]
    if not isinstance(node, dict):
        return node
    rest = {key: expanded(value) for key, value in node.items() if key != "x-fields"}
    return request_schema(*node["x-fields"].split()) | rest if "x-fields" in node else rest


def parameter(route, name):
    """The field in a query string."""
    row = next(row for row in rows_of(route) if row["name"] == name)
    made = schema(row, True)
    about = {"description": made.pop("description")} if "description" in made else {}
    required = {"required": True} if is_required(row, route) else {}
    return {"name": name, "in": "query", **required, "schema": made, **about}


def reading(row):
    """How the server reads the field, as enum mt_field_type has it."""
    if row.get("read", "own") == "own" and ("read" in row or not isinstance(row.get("type"), str)):
        return "OWN"
    if "read" in row:
        return TYPES[row["read"]]
    return "CHOICE" if "enum" in row else TYPES[row["type"]]


def c_row(row):
    kind = reading(row)
    parts = [f'.name = "{row["name"]}"', f".type = MT_FIELD_{kind}",
             ".routes = " + " | ".join(f"MT_FIELDS_OF_{route.upper()}" for route in row["routes"].split())]
    if row.get("repeats"):
        parts.append(".repeats = true")
    if "flag" in row:
        words = {"flag": row["name"].replace("_", "-"), "flag_value": row.get("flag_value"), "flag_doc": row["flag"]}
        parts += [f".{key} = {json.dumps(word)}" for key, word in words.items() if word]
    if kind != "OWN":
        parts.append(f".offset = offsetof(struct mt_fields, {row['name']})")
        if row.get("setting"):
            parts.append(f".has_setting = true, .setting = offsetof(struct mt_settings, {row['name']})")
    if kind in ("INTEGER", "NUMBER"):
        parts.append(f".low = {row['minimum']}, .high = {row.get('maximum', MOST)}, .default_number = {row.get('default', -1)}")
    if kind == "BOOLEAN":
        parts.append(f".default_number = {int(row.get('default', False))}")
    if kind == "CHOICE":
        parts.append(".choices = {" + ", ".join(map(json.dumps, row["enum"])) + "}")
    if kind in ("CHOICE", "STRING"):
        parts.append(f".default_string = {json.dumps(row.get('default', ''))}")
    return "    {" + ", ".join(parts) + "},"


def main(output):
    parts = ['#include "config/settings.h"', '#include "server/http/fields.h"', "", "#include <stddef.h>", "",
             "const struct mt_field mt_field_rows[] = {", *map(c_row, ROWS), "};", "",
             "const size_t mt_n_field_rows = sizeof mt_field_rows / sizeof mt_field_rows[0];", ""]
    pathlib.Path(output).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
