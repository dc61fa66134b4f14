"""Makes a C file of the page's files: embed.py OUTPUT VERSION FILE...

Pages and the API's description have routes of their own, any other file is "/web/NAME". A file of translations,
text/NAME, has each text of the page and what it is in another language; the page knows a text by its hash (text.js),
so that only the translations travel. Of routes.json the API's description is made (description.py). The same input gives the same output.
"""

import hashlib
import json
import pathlib
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import description

ROUTES = {"docs.html": "/docs", "index.html": "/", "routes.json": "/openapi.json"}
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
GZIP_WINDOW_BITS = 15 + 16
BYTES_PER_LINE = 20


def packed(data):
    compressor = zlib.compressobj(9, zlib.DEFLATED, GZIP_WINDOW_BITS)
    return compressor.compress(data) + compressor.flush()


def name_of(text):
    """FNV-1a of the UTF-16 units in base 36, as text.js has it."""
    value = 0x811C9DC5
    units = text.encode("utf-16-le")
    for low, high in zip(units[::2], units[1::2]):
        value = (value ^ (low | high << 8)) * 0x01000193 % 2**32
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


def served(path, version):
    """A file's bytes as they are sent."""
    data = path.read_bytes()
    if path.name == "routes.json":
        return description.served(version)
    if path.parent.name != "text":
        return data
    texts = json.loads(data)
    named = {name_of(text): translation for text, translation in texts.items()}
    if len(named) != len(texts):
        raise SystemExit(f"{path}: two texts have the same hash; change one of them by a word")
    return json.dumps(named, ensure_ascii=False, separators=(",", ":")).encode()


def array(name, data):
    rows = (data[i:i + BYTES_PER_LINE] for i in range(0, len(data), BYTES_PER_LINE))
    lines = ["    " + " ".join(f"{byte}," for byte in row) for row in rows]
    return "\n".join([f"static const unsigned char {name}[] = {{", *lines, "};", ""])


def entry(index, path, data):
    digest = hashlib.sha256(data).hexdigest()[:24]
    route = ROUTES.get(path.name, "/web/" + path.name)
    return f"""    {{
        .path = "{route}",
        .content_type = "{TYPES[path.suffix]}",
        .bytes = bytes_{index},
        .length = sizeof bytes_{index},
        .packed = packed_{index},
        .packed_length = sizeof packed_{index},
        .etag = "\\"{digest}\\"",
        .packed_etag = "\\"{digest}-gzip\\"",
    }},"""


def main(output, version, *names):
    paths = sorted(map(pathlib.Path, names), key=lambda path: path.name)
    contents = [served(path, version) for path in paths]
    parts = ['#include "server/api/web.h"', ""]
    for index, data in enumerate(contents):
        parts += [array(f"bytes_{index}", data), array(f"packed_{index}", packed(data))]
    parts += ["const struct mt_web_file mt_web_files[] = {"]
    parts += [entry(index, path, data) for index, (path, data) in enumerate(zip(paths, contents))]
    parts += ["};", "", "const size_t mt_n_web_files = sizeof mt_web_files / sizeof mt_web_files[0];", ""]
    pathlib.Path(output).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
