"""Makes the API's description, /openapi.json, of routes.json and replies.json here and the table of request fields
(../http/fields_table.py). Any part may also stand as OpenAPI has it.

routes.json has a list "routes", a route each:

    route     method and path; id, tag, summary, description
    uses      names of "parameters" that it has, or a parameter as OpenAPI has it; {"field": "ROUTE NAME"} is one of the table
    takes     the schema of its body in each encoding: json, form, multipart; {"fields": "ROUTE json"} is made of the table
              ("text": as form or query string)
    says      what its answer is, in words; without this all are refused. status: where it is not 200
    answer    the schema of its answer, or of each media type; headers: what else comes with it
    fails     names of "failures" that it has, without their deepl_; all have "failure"
    refuses   {status: why} of failures that it alone has, or {status: {"says": why, "headers" or "empty": true}}
    examples  of requests and the answers to them: name, summary, request (the body), in (an encoding other than the first),
              file (the name of the file that is sent), answer, type (a media type other than the first)
    refusals  of requests: name, summary, request, file, status (other than 400), error (what the answer says)

replies.json has the members of replies, a row each: name, of (the schemas that have it; SCHEMA.MEMBER: the object in that
member), always (true, or which of the schemas must have it), is (its type), and whatever else JSON Schema says of it. A type
is a word of JSON Schema, "count", which is an integer from 0, or the name of a schema; "[X]" is an array of X, and
"[X] or X" either. "schemas" of routes.json says more of a schema, or describes one that has no members.
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "http"))
import fields_table

REPLIES = HERE / "replies.json"
COLUMNS = 160
JSON = "application/json"
ENCODINGS = {"json": JSON, "form": "application/x-www-form-urlencoded", "multipart": "multipart/form-data"}
KINDS = ("string", "integer", "number", "boolean", "object", "array", "null")
OURS = ("name", "of", "always", "is")
REFUSED = "The request cannot be served as it is."


def reference(kind, name):
    return {"$ref": f"#/components/{kind}/{name}"}


def typed(word):
    """The schema of a type."""
    if " or " in word:
        shapes = [typed(shape) for shape in word.split(" or ")]
        if all(set(shape) == {"type"} for shape in shapes):
            return {"type": [shape["type"] for shape in shapes]}
        return {"oneOf": shapes}
    if word.startswith("["):
        return {"type": "array", "items": typed(word[1:-1])}
    if word == "count":
        return {"type": "integer", "minimum": 0}
    return {"type": word} if word in KINDS else reference("schemas", word)


def schema(node):
    """A schema, of which a word may be said instead."""
    if isinstance(node, str):
        return typed(node)
    if "fields" in node:
        route, encoding = node["fields"].split()
        return fields_table.request_schema(route, encoding) | {key: value for key, value in node.items() if key != "fields"}
    return node


def members(rows, name):
    """The object of that name, as the rows of its members say."""
    ours = [row for row in rows if name in row["of"].split()]
    always = [row["name"] for row in ours if row.get("always") is True or name in str(row.get("always", "")).split()]
    return {"type": "object", **({"required": always} if always else {}), "properties": {row["name"]: member(rows, row, name) for row in ours}}


def member(rows, row, name):
    made = typed(row["is"]) if "is" in row else {}
    inner = f"{name}.{row['name']}"
    if any(inner in other["of"].split() for other in rows):
        made = {"type": "array", "items": members(rows, inner)} if made.get("type") == "array" else members(rows, inner)
    return made | {key: value for key, value in row.items() if key not in OURS}


def schemas(rows, said):
    """Those of the rows, with what else is said of them, and the others. Requests' own come first."""
    names = list(dict.fromkeys(name for row in rows for name in row["of"].split() if "." not in name))
    return {name: schema(node) for name, node in said.items() if name not in names} | {
        name: members(rows, name) | said.get(name, {}) for name in names}


def failure(row, error):
    """A failure's reply; row: what it says, or that and its headers, or "empty"."""
    row = {"says": row} if isinstance(row, str) else row
    content = {} if row.get("empty") else {"content": {JSON: {"schema": reference("schemas", error)}}}
    return {"description": row["says"], **({"headers": row["headers"]} if "headers" in row else {}), **content}


def example(row, value, *more):
    return {**({"summary": row["summary"]} if "summary" in row else {}), "value": value, **{key: value for key, value in more if value is not None}}


def parameter(node):
    if isinstance(node, str):
        return reference("parameters", node)
    if "field" not in node:
        return node
    return fields_table.parameter(*node["field"].split()) | {key: value for key, value in node.items() if key != "field"}


def body(route):
    content = {ENCODINGS[encoding]: {"schema": schema(node)} for encoding, node in route["takes"].items()}
    for row in route.get("examples", []):
        encoding = ENCODINGS[row.get("in", next(iter(route["takes"])))]
        content[encoding].setdefault("examples", {})[row["name"]] = example(row, row["request"], ("x-file-name", row.get("file")))
    return {"required": True, "content": content}


def answer(route):
    if "answer" not in route:
        return {"description": route["says"]}
    shown = route["answer"]
    if isinstance(shown, str) or not any("/" in key for key in shown):
        shown = {JSON: shown}
    content = {media: {"schema": schema(node)} for media, node in shown.items()}
    for row in route.get("examples", []):
        if "answer" in row:
            content[row.get("type", next(iter(content)))].setdefault("examples", {})[row["name"]] = example(row, row["answer"])
    return {"description": route["says"], **({"headers": route["headers"]} if "headers" in route else {}), "content": content}


def operation(route, failures):
    """One of OpenAPI's."""
    deepl = route["route"].split()[1].startswith(("/v2/", "/v3/"))
    error, word, prefix = ("DeeplError", "message", "deepl_") if deepl else ("Error", "error", "")
    answers = {route.get("status", "200"): answer(route)} if "says" in route else {}
    refused = {status: failure(row, error) for status, row in route.get("refuses", {}).items()}
    for row in route.get("refusals", []):
        status = str(row.get("status", 400))
        refused.setdefault(status, failure(REFUSED, error))
        shown = refused[status]["content"][JSON].setdefault("examples", {})
        shown[row["name"]] = example(row, {word: row["error"]}, ("x-request", row.get("request")), ("x-file-name", row.get("file")))
    for name in [*route.get("fails", "").split(), "failure"]:
        refused[failures[prefix + name]["status"]] = reference("responses", response_name(prefix + name))
    uses = [parameter(node) for node in route.get("uses", [])]
    return {"operationId": route["id"], "tags": [route["tag"]],
            **{key: route[key] for key in ("summary", "description") if key in route},
            **({"security": route["security"]} if "security" in route else {"security": [{}, {"deepl": []}, {"key": []}]} if deepl else {}),
            **({"parameters": uses} if uses else {}),
            **({"requestBody": body(route)} if "takes" in route else {}),
            "responses": answers | dict(sorted(refused.items(), key=lambda item: item[0]))}


def response_name(name):
    return "".join(word.capitalize() for word in name.split("_"))


def description(version):
    """The whole."""
    source = json.loads((HERE / "routes.json").read_text(encoding="utf-8"))
    rows = json.loads(REPLIES.read_text(encoding="utf-8"))
    failures = source["failures"]
    paths = {}
    for route in source["routes"]:
        method, path = route["route"].split()
        paths.setdefault(path, {})[method.lower()] = operation(route, failures)
    info = source["info"]
    info = {"title": info.pop("title"), "version": version} | info
    return {"openapi": "3.1.0", "info": info, **{key: source[key] for key in ("servers", "tags", "security")}, "paths": paths,
            "components": {"parameters": source["parameters"],
                           "responses": {response_name(name): failure(row, "DeeplError" if name.startswith("deepl_") else "Error")
                                         for name, row in failures.items()},
                           "schemas": schemas(rows, source["schemas"]), "securitySchemes": source["securitySchemes"]}}


def written(node, indent=""):
    """JSON, with what is short in one line."""
    line = json.dumps(node, ensure_ascii=False)
    if len(indent) + len(line) <= COLUMNS or not isinstance(node, (dict, list)):
        return line
    inner = indent + "  "
    if isinstance(node, list):
        first, last, parts = "[", "]", [written(item, inner) for item in node]
    else:
        first, last, parts = "{", "}", [f"{json.dumps(key)}: {written(item, inner)}" for key, item in node.items()]
    return f"{first}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{last}"


def served(version):
    """Its bytes, as they are sent."""
    return (written(description(version)) + "\n").encode()
