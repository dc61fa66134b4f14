#!/usr/bin/env python3
"""Write the seeds of tests/fuzz/fuzz_json.c, fuzz_safetensors.c and fuzz_zip.c: small documents of every kind.

usage: make_parser_corpus.py DIRECTORY    (makes DIRECTORY/json, DIRECTORY/safetensors and DIRECTORY/zip)
"""
import io
import json
import os
import struct
import sys
import zipfile
import zlib

JSON = {
    "empty_object": b"{}",
    "empty_array": b" [ ] ",
    "scalars": b'[null,true,false,0,-1,1.5,-2.5e-3,1E+10,"text"]',
    "large_integers": b"[9007199254740993,18446744073709551615,18446744073709551616,-9223372036854775808]",
    "escapes": br'["\"\\\/\b\f\n\r\t","\u0041\u00e4\u20ac","\ud83d\ude00"]',
    "utf8": '["ä€😀","\uffff"]'.encode(),
    "nested": b"[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
    "too_deep": b"[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]",
    "request": '{"q": ["Hello.", "How are you?"], "source": "en", "target": "de", "beam_size": 4}'.encode(),
    "duplicate": br'{"a":1,"b":{"a":2},"\u0061":3}',
    "zero_escape": br'["\u0000"]',
    "lone_surrogate": br'["\ud83d"]',
    "overflow": b"[1e308,1e999]",
    "long_number": b"[-0." + b"0" * 80 + b"1]",
    "trailing": b"{} {}",
    "byte_order_mark": b"\xef\xbb\xbf{}",
    "bad_utf8": b'["\xc0\x80"]',
}


def entry(dtype, shape, begin, end, **more):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end], **more}


def image(header, n_bytes, padding=b""):
    if not isinstance(header, bytes):
        header = json.dumps(header, separators=(",", ":")).encode()
    header += padding
    return struct.pack("<Q", len(header)) + header + bytes(i % 256 for i in range(n_bytes))


SAFETENSORS = {
    "none": image({}, 0),
    "one": image({"a": entry("F32", [2, 2], 0, 16)}, 16),
    "metadata": image({"__metadata__": {"format": "pt"}, "a": entry("U8", [], 0, 1)}, 1),
    "dtypes": image({"f16": entry("F16", [2], 0, 4), "bf16": entry("BF16", [1], 4, 6),
                     "i64": entry("I64", [1], 6, 14), "bool": entry("BOOL", [3], 14, 17)}, 17),
    "order": image({"b": entry("F16", [1, 2], 4, 8), "a": entry("F32", [1], 0, 4)}, 8),
    "empty_tensors": image({"a": entry("F32", [0], 0, 0), "b": entry("U8", [2], 0, 2),
                            "c": entry("F32", [2, 0], 2, 2)}, 2),
    "padded": image({"a": entry("U8", [1], 0, 1)}, 1, b"  \n\t\r "),
    "more_fields": image({"a": entry("U8", [1], 0, 1, extra={"x": [1, None, "]}"]})}, 1),
    "escaped_name": image(br'{"\u00e4\"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1),
    "hole": image({"a": entry("U8", [1], 1, 2)}, 2),
    "overlap": image({"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 1, 3)}, 3),
    "size": image({"a": entry("F32", [3], 0, 8)}, 8),
    "overflow": image({"a": entry("U8", [2, 2**64 - 2], 0, 1)}, 1),
    "large_offset": image({"a": entry("U8", [1], 2**64 - 2, 2**64 - 1)}, 1),
    "dtype": image({"a": entry("F8_E4M3", [1], 0, 1)}, 1),
    "rank": image({"a": entry("U8", [1] * 9, 0, 1)}, 1),
    "trailing": image({"a": entry("U8", [1], 0, 1)}, 2),
    "duplicate": image(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
                       b'"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', 2),
    "header_length": struct.pack("<Q", 2**64 - 1) + b"{}",
    "short": b"\x02\x00\x00",
}


def archive(method, **entries):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as file:
        for name, content in entries.items():
            file.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, method)
    return data.getvalue()


def archive64(content):
    """Sizes, offset and directory are where only zip64 has them."""
    wide, full = struct.pack("<HHQQ", 1, 16, len(content), len(content)), 2**32 - 1
    facts = struct.pack("<HHHHHIII", 45, 0, 0, 0, 0, zlib.crc32(content), full, full)
    local = b"PK\x03\x04" + facts + struct.pack("<HH", 4, len(wide)) + b"text" + wide + content
    more = struct.pack("<HHQQQ", 1, 24, len(content), len(content), 0)
    central = (b"PK\x01\x02" + struct.pack("<H", 45) + facts +
               struct.pack("<HHHHHII", 4, len(more), 0, 0, 0, 0, full) + b"text" + more)
    end = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, len(central), len(local))
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, len(local) + len(central), 1)
    return (local + central + end + locator +
            b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 2**16 - 1, 2**16 - 1, full, full, 0))


ZIP = {
    "zip64": archive64(b"abc"),
    "none": archive(zipfile.ZIP_STORED),
    "stored": archive(zipfile.ZIP_STORED, text=b"abc" * 100, empty=b""),
    "deflated": archive(zipfile.ZIP_DEFLATED, text=b"abc" * 100, empty=b"", more=bytes(range(256))),
    "bzip2": archive(zipfile.ZIP_BZIP2, text=b"abc" * 100),
}


def main(directory):
    for kind, seeds in (("json", JSON), ("safetensors", SAFETENSORS), ("zip", ZIP)):
        os.makedirs(os.path.join(directory, kind), exist_ok=True)
        for name, content in seeds.items():
            with open(os.path.join(directory, kind, name), "wb") as file:
                file.write(content)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
