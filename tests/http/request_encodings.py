"""The four ways in which LibreTranslate's clients put the fields of a POST into a request."""

import json
import urllib.parse

FORM = "application/x-www-form-urlencoded"
BOUNDARY = "----formdata-7MA4YWxkTrZu0gW"


def as_json(fields):
    return "", json.dumps(fields).encode(), "application/json"


def as_form(fields):
    return "", urllib.parse.urlencode(fields).encode(), FORM


def as_multipart(fields):
    body = b"".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items())
    return "", body + f"--{BOUNDARY}--\r\n".encode(), f"multipart/form-data; boundary={BOUNDARY}"


def as_query(fields):
    return "?" + urllib.parse.urlencode(fields), b"", None


TEXTUAL = (as_form, as_multipart, as_query)
ALL = (as_json, *TEXTUAL)


def post(daemon, path, fields, encode, **options):
    """POSTs the fields in one of the encodings."""
    query, body, content_type = encode(fields)
    headers = {"Content-Type": content_type} if content_type else {}
    return daemon.request("POST", path + query, body, headers=headers, **options)
