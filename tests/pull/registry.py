"""A registry of models on this machine, for tests: HTTPS on 127.0.0.1, with a certificate authority of its own.

It plays Hugging Face, Argos' package index, Mozilla's Remote Settings and a plain directory, and has faults on request:

  with Registry() as registry:
      registry.add_hugging_face("Helsinki-NLP/opus-mt-en-xx", files_of(folder))
      registry.fault("model.safetensors", cut=100_000, times=1)
      subprocess.run([program, "pull", "opus-mt-en-xx"], env=os.environ | registry.environment())
      registry.sent("model.safetensors")       # [(0, 100000), (100000, 1234567)]

What it says on the wire is what the real ones do; no test has asked them. The API is https://localhost:A, content lies at
https://127.0.0.1:B, another origin, and http://127.0.0.1:C has the directories without TLS.

  python3 tests/pull/registry.py --hugging-face Helsinki-NLP/opus-mt-en-de=weights/en-de [--argos en-de=FILE]
      [--firefox en-de=FOLDER] [--directory NAME=FOLDER]      prints the environment, and serves until standard input ends
"""

import argparse
import collections
import contextlib
import hashlib
import http.server
import json
import pathlib
import re
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

MOZILLA_TYPES = [("lex", r"lex\."), ("srcvocab", r"srcvocab\."), ("trgvocab", r"trgvocab\."), ("vocab", r"vocab\."), ("model", r"model\.")]
BLOCK = 16 << 10  # bytes sent at once: how exact a cut, a count and a rate are


def files_of(folder):
    """{name: bytes} of the regular files in a folder."""
    return {path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir()) if path.is_file()}


def git_blob_id(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def zstd_stored(content):
    """A Zstandard frame of raw blocks (RFC 8878): python has no compressor for it."""
    size = 128 << 10
    blocks = [content[i:i + size] for i in range(0, len(content), size)] or [b""]
    frame = [struct.pack("<IBQ", 0xFD2FB528, 0xE0, len(content))]
    for i, block in enumerate(blocks):
        frame += [struct.pack("<I", len(block) << 3 | (i == len(blocks) - 1))[:3], block]
    return b"".join(frame)


def make_certificates(folder):
    """An authority, and a certificate of it for localhost and 127.0.0.1: (ca.pem, server.pem, server.key)."""
    folder = pathlib.Path(folder)

    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)

    def key(name):
        openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", folder / name)

    key("ca.key")
    openssl("req", "-x509", "-new", "-key", folder / "ca.key", "-days", 2, "-subj", "/CN=tests of attentiond", "-out", folder / "ca.pem")
    key("server.key")
    openssl("req", "-new", "-key", folder / "server.key", "-subj", "/CN=localhost", "-out", folder / "server.csr")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", folder / "server.csr", "-CA", folder / "ca.pem", "-CAkey", folder / "ca.key", "-CAcreateserial",
            "-days", 2, "-extfile", folder / "names", "-out", folder / "server.pem")
    return folder / "ca.pem", folder / "server.pem", folder / "server.key"


class File:
    def __init__(self, content, headers=(), etag=None):
        self.content, self.headers = content, dict(headers)
        self.etag = etag if etag is not None else f'"{sha256(content)[:32]}"'


class Fault:
    """What goes wrong with replies whose path matches: see Registry.fault."""

    def __init__(self, pattern, times, after, method, kinds):
        self.pattern, self.times, self.after, self.method, self.kinds = re.compile(pattern), times, after, method, kinds

    def takes(self, method, path):
        if self.method not in (None, method) or not self.pattern.search(path):
            return False
        if self.after > 0:
            self.after -= 1
            return False
        if self.times is None:
            return True
        self.times -= 1
        return self.times >= 0


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, registry, role, context):
        super().__init__(("127.0.0.1", 0), Handler)
        self.registry, self.role, self.context = registry, role, context
        # Small, so that what was sent and not received is little.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)

    def finish_request(self, request, client_address):
        # Not in accept's thread: a client that says nothing must not keep others out.
        if self.context:
            request.settimeout(20)
            request = self.context.wrap_socket(request, server_side=True)
            request.settimeout(None)
        with contextlib.suppress(OSError):
            self.RequestHandlerClass(request, client_address, self)
            request.shutdown(socket.SHUT_WR)
        request.close()

    def handle_error(self, request, client_address):
        error = sys.exc_info()[1]
        if not isinstance(error, (OSError, ValueError)):
            super().handle_error(request, client_address)


class Registry:
    """Starts when it is entered. Everything may be added and asked at any time."""

    def __init__(self):
        self.lock = threading.Lock()
        self.repositories = {}  # "ORG/NAME" -> the fields of its API document, and "files": {name: content}
        self.packages = []  # Argos' index
        self.records = collections.defaultdict(list)  # Mozilla's collections
        self.files = {}  # path at the content host, or below /files/ at any -> File
        self.faults = []
        self.requests = []  # (role, method, path, headers, status)
        self.ranges = collections.defaultdict(list)  # path -> [begin, end) of each body, as far as it was sent
        self.token = None  # the one that opens gated repositories

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.stopping = threading.Event()
        self.ca, certificate, key = make_certificates(self.folder.name)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.servers = {role: Server(self, role, context if role != "plain" else None) for role in ("api", "content", "plain")}
        for server in self.servers.values():
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.api = f"https://localhost:{self.servers['api'].server_port}"
        self.content = f"https://127.0.0.1:{self.servers['content'].server_port}"
        self.plain = f"http://127.0.0.1:{self.servers['plain'].server_port}"
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for server in self.servers.values():
            server.shutdown()
            server.server_close()
        self.folder.cleanup()

    def environment(self):
        """What a client needs to take this for the real ones."""
        return {
            "HF_ENDPOINT": self.api, "ARGOS_PACKAGE_INDEX": f"{self.api}/argospm-index/main",
            "FIREFOX_ENDPOINT": self.api, "CURL_CA_BUNDLE": str(self.ca), "no_proxy": "*",
        }

    # ---- what there is ----

    def add_hugging_face(self, repository, files, licence="apache-2.0", gated=False, revisions=("main",), lfs_from=1 << 16,
                         languages=("en", "de"), pipeline="translation", **more):
        """files: {name: bytes}. Those of lfs_from bytes and more are in LFS. gated: False, "auto" or "manual". more: other members
        of the API's document. Returns the commit."""
        commit = hashlib.sha1(json.dumps([repository, {name: sha256(content) for name, content in files.items()}]).encode()).hexdigest()
        siblings = []
        for name, content in files.items():
            sibling = {"rfilename": name, "size": len(content), "blobId": git_blob_id(content)}
            if len(content) >= lfs_from:
                sibling["lfs"] = {"sha256": sha256(content), "size": len(content), "pointerSize": 134}
                self.files[f"/repos/{sha256(content)}"] = File(content, {"Content-Type": "application/octet-stream"})
            siblings.append(sibling)
        card = {"license": licence, "language": list(languages)} if licence else {"language": list(languages)}
        tags = ["transformers", "marian", pipeline, *languages] + ([f"license:{licence}"] if licence else [])
        document = {
            "_id": commit[:24], "id": repository, "modelId": repository, "author": repository.split("/")[0], "sha": commit,
            "lastModified": "2026-01-02T03:04:05.000Z", "private": False, "gated": gated, "disabled": False, "downloads": 1234,
            "likes": 5, "library_name": "transformers", "pipeline_tag": pipeline, "tags": tags, "cardData": card,
            "config": {"architectures": ["MarianMTModel"], "model_type": "marian"}, "siblings": siblings,
        } | more
        self.repositories[repository] = {"document": document, "files": dict(files), "revisions": {*revisions, commit}, "lfs_from": lfs_from}
        return commit

    def add_argos(self, source, target, package, version="1.9", **more):
        """package: the bytes of an .argosmodel file. Returns its link."""
        name = f"translate-{source}_{target}-{version.replace('.', '_')}.argosmodel"
        self.files[f"/argospm/v1/{name}"] = File(package, {"Content-Type": "application/octet-stream"})
        link = f"{self.content}/argospm/v1/{name}"
        self.packages.append({
            "package_version": version, "argos_version": "1.9.0", "from_code": source, "from_name": source, "to_code": target,
            "to_name": target, "code": f"translate-{source}_{target}", "links": [link],
        } | more)
        return link

    def add_firefox(self, source, target, files, version="3.0", architecture="tiny", **more):
        """files: {name: bytes}, names as Mozilla's: model.enfr.intgemm.alphas.bin, vocab.enfr.spm, lex.50.50.enfr.s2t.bin. In
        translations-models as they are, in translations-models-v2 as Zstandard frames."""
        for name, content in files.items():
            kind = next(kind for kind, pattern in MOZILLA_TYPES if re.match(pattern, name))
            packed = zstd_stored(content)
            for collection, data, ending, mimetype in [("translations-models", content, "", "application/octet-stream"),
                                                       ("translations-models-v2", packed, ".zst", "application/zstd")]:
                location = f"main-workspace/{collection}/{sha256(data)[:32]}{ending or '.bin'}"
                self.files[f"/{location}"] = File(data, {"Content-Type": mimetype})
                record = {
                    "name": name, "schema": 1749570042331, "version": version, "fileType": kind, "filter_expression": "",
                    "attachment": {"hash": sha256(data), "size": len(data), "filename": name + ending, "location": location,
                                   "mimetype": mimetype},
                    "id": sha256(location.encode())[:32], "last_modified": 1749570511392,
                }
                if ending:
                    record |= {"sourceLanguage": source, "targetLanguage": target, "architecture": architecture,
                               "decompressedSize": len(content), "decompressedHash": sha256(content)}
                else:
                    record |= {"fromLang": source, "toLang": target}
                self.records[collection].append(record | more)

    def add_directory(self, name, files):
        """At /files/NAME/ of each host. Returns its URL at the content host, with the slash."""
        for file, content in files.items():
            self.files[f"/files/{name}/{file}"] = File(content)
        return f"{self.content}/files/{name}/"

    # ---- what goes wrong, and what was asked ----

    def fault(self, pattern, times=None, after=0, method=None, **kinds):
        """From now on, for replies whose path the pattern is found in (times of them, None: all; not for the first after of them).
        Where several faults are of one kind the first counts.

        status=503, headers={"Retry-After": "1"}, body=b"": instead of the reply
        redirect=URL               instead of the reply; "{path}" is the path
        cut=N, reset=N             the connection is closed, or reset, after N bytes of the body
        stall=N                    nothing is sent after N bytes; 0: not even the head
        rate=N                     bytes a second
        drip=N                     bytes a second, one by one, from the byte at drip_from on
        wrong=N                    the byte at N of the file is another one
        replaced=CONTENT           another file, of that ETag
        etag=ETAG                  "" for none
        lie=N                      Content-Length and Content-Range tell of N bytes more than are sent
        more=N                     the file is N bytes longer
        chunked=True               no Content-Length
        no_ranges=True             the whole file, whatever is asked
        ignores_if_range=True      the rest, of whatever the file is now
        wrong_range=N              Content-Range begins N bytes later than what was asked
        encoding="gzip"            Content-Encoding
        """
        with self.lock:
            self.faults.append(Fault(pattern, times, after, method, kinds))

    def mend(self):
        with self.lock:
            self.faults.clear()

    def take_faults(self, method, path):
        """All kinds that apply to a request, the first of each."""
        kinds = {}
        with self.lock:
            for fault in self.faults:
                if fault.takes(method, path):
                    kinds = fault.kinds | kinds
        return kinds

    def forget(self):
        with self.lock:
            self.ranges.clear()
            self.requests.clear()

    def sent(self, pattern=""):
        """[begin, end) of each body that was sent for matching paths, in order, as far as it was sent."""
        with self.lock:
            return [tuple(span) for path, spans in self.ranges.items() if re.search(pattern, path) for span in spans]

    def n_sent(self, pattern=""):
        return sum(end - begin for begin, end in self.sent(pattern))

    def asked(self, pattern="", role=None):
        """(role, method, path, headers, status) of the requests, in order."""
        with self.lock:
            return [request for request in self.requests if re.search(pattern, request[2]) and role in (None, request[0])]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "registry", ""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer()

    def do_HEAD(self):
        self.answer()

    @property
    def registry(self):
        return self.server.registry

    def send_response(self, code, message=None):
        with self.registry.lock:
            self.registry.requests.append((self.server.role, self.command, getattr(self, "path", ""), dict(getattr(self, "headers", ())), code))
        super().send_response(code, message)

    def answer(self):
        self.faults = self.registry.take_faults(self.command, self.path)
        if "redirect" in self.faults:
            return self.reply(302, b"", {"Location": self.faults["redirect"].replace("{path}", self.path)})
        if "status" in self.faults:
            return self.reply(self.faults["status"], self.faults.get("body", b"no"), self.faults.get("headers", {}))
        if self.faults.get("stall") == 0:
            return self.hang()
        url = urllib.parse.urlsplit(self.path)
        path, query = urllib.parse.unquote(url.path), urllib.parse.parse_qs(url.query)
        file = self.registry.files.get(path)
        if file and (self.server.role == "content" or path.startswith("/files/")):
            return self.send_file(path, file)
        if self.server.role == "api":
            for pattern, method in [
                (r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", self.model_document),
                (r"/api/models", self.model_search),
                (r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", self.model_file),
                (r"/argospm-index/main/index\.json", self.argos_index),
                (r"/v1/?", self.settings_root),
                (r"/v1/buckets/main/collections/([^/]+)/records", self.settings_records),
            ]:
                if match := re.fullmatch(pattern, path):
                    return method(query, *match.groups())
        return self.reply(404, b"no such thing", {})

    # ---- Hugging Face ----

    def is_trusted(self):
        return self.registry.token and self.headers.get("Authorization") == f"Bearer {self.registry.token}"

    def find_repository(self, name, revision):
        """The repository, or None where the reply is an error already."""
        repository = self.registry.repositories.get(name)
        if not repository:
            # Without a token it does not tell what is missing from what is private.
            code, message = (404, "Repository not found") if self.is_trusted() else (401, "Invalid username or password.")
            self.json(code, {"error": message}, {"X-Error-Code": "RepoNotFound", "X-Error-Message": message})
            return None
        if revision not in repository["revisions"]:
            self.json(404, {"error": f"Invalid rev id: {revision}"}, {"X-Error-Code": "RevisionNotFound"})
            return None
        return repository

    def model_document(self, query, name, revision):
        if repository := self.find_repository(name, revision or "main"):
            document = dict(repository["document"])
            if query.get("blobs") != ["true"]:
                document["siblings"] = [{"rfilename": sibling["rfilename"]} for sibling in document["siblings"]]
            self.json(200, document)

    def model_search(self, query):
        author, search = query.get("author", [""])[0], query.get("search", [""])[0].lower()
        filters = {word for value in query.get("filter", []) for word in value.split(",")} | set(query.get("pipeline_tag", []))
        found = [{key: value for key, value in repository["document"].items() if key != "siblings"}
                 for name, repository in sorted(self.registry.repositories.items())
                 if name.startswith(f"{author}/" if author else "") and search in name.lower() and
                 filters <= {*repository["document"]["tags"], repository["document"]["pipeline_tag"]}]
        limit, offset = int(query.get("limit", ["1000"])[0]), int(query.get("cursor", ["0"])[0])
        headers = {}
        if len(found) > offset + limit:
            following = {key: value[0] for key, value in query.items()} | {"cursor": offset + limit}
            headers["Link"] = f'<{self.registry.api}/api/models?{urllib.parse.urlencode(following)}>; rel="next"'
        self.json(200, found[offset:offset + limit], headers)

    def model_file(self, query, name, revision, file):
        repository = self.find_repository(name, revision)
        if not repository:
            return
        document = repository["document"]
        if document["gated"] and not self.is_trusted():
            code = 403 if "Authorization" in self.headers else 401
            message = f"Access to model {name} is restricted."
            self.reply(code, message.encode(), {"X-Error-Code": "GatedRepo", "X-Error-Message": message})
            return
        content = repository["files"].get(file)
        if content is None:
            self.reply(404, b"Entry not found", {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"})
            return
        headers = {"X-Repo-Commit": document["sha"], "Accept-Ranges": "bytes"}
        if len(content) >= repository["lfs_from"]:
            digest = sha256(content)
            self.reply(302, b"", headers | {
                "X-Linked-Size": str(len(content)), "X-Linked-Etag": f'"{digest}"',
                "Location": f"{self.registry.content}/repos/{digest}?name={urllib.parse.quote(file)}&signature={'s' * 64}"})
        else:
            self.send_file(self.path, File(content, headers, f'"{git_blob_id(content)}"'))

    # ---- Argos, Mozilla ----

    def argos_index(self, query):
        self.json(200, self.registry.packages)

    def settings_root(self, query):
        self.json(200, {
            "project_name": "Remote Settings", "project_version": "1", "http_api_version": "1.22", "url": f"{self.registry.api}/v1/",
            "capabilities": {"attachments": {"description": "Add file attachments to records", "base_url": f"{self.registry.content}/"}}})

    def settings_records(self, query, collection):
        records = self.registry.records.get(collection)
        if records is None:
            self.json(404, {"code": 404, "errno": 111, "error": "Not Found"})
            return
        self.json(200, {"data": [record for record in records if all(
            str(record.get(key, "")) == value[0] for key, value in query.items() if not key.startswith("_"))]})

    # ---- replies ----

    def json(self, status, value, headers={}):
        self.reply(status, json.dumps(value).encode(), {"Content-Type": "application/json; charset=utf-8"} | headers)

    def reply(self, status, body, headers):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.send_body(self.path, body, 0)

    def hang(self):
        self.registry.stopping.wait(60)
        self.close_connection = True

    def requested_range(self, size, etag):
        """Where to begin: 0 for all of it; None: there is nothing there."""
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        condition = self.headers.get("If-Range")
        if not match or self.faults.get("no_ranges"):
            return 0
        if condition is not None and condition != etag and not self.faults.get("ignores_if_range"):
            return 0
        return int(match[1]) if int(match[1]) < size else None

    def send_file(self, path, file):
        faults = self.faults
        content, etag = file.content, faults.get("etag", file.etag)
        if "replaced" in faults:
            content = faults["replaced"]
            etag = faults.get("etag", File(content).etag)
        if "wrong" in faults:
            content = bytearray(content)
            content[faults["wrong"]] ^= 0x20
        content = bytes(content) + b"x" * faults.get("more", 0)
        begin = self.requested_range(len(content), etag)
        told = len(content) + faults.get("lie", 0)
        if begin is None:
            return self.reply(416, b"", {"Content-Range": f"bytes */{len(content)}"})
        self.send_response(206 if begin else 200)
        for key, value in file.headers.items():
            self.send_header(key, value)
        if etag:
            self.send_header("ETag", etag)
        if begin:
            self.send_header("Content-Range", f"bytes {begin + faults.get('wrong_range', 0)}-{told - 1}/{told}")
        if "encoding" in faults:
            self.send_header("Content-Encoding", faults["encoding"])
        if faults.get("chunked"):
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(told - begin))
        self.end_headers()
        if self.command != "HEAD":
            self.send_body(path, content[begin:], begin)
        if faults.get("lie", 0) > 0:
            self.close_connection = True

    def send_body(self, path, body, begin):
        faults, at, started = self.faults, 0, time.monotonic()
        span = [begin, begin]
        with self.registry.lock:
            self.registry.ranges[path].append(span)
        ends = [faults[kind] for kind in ("cut", "reset", "stall") if faults.get(kind) is not None]
        end = min([len(body), *ends])
        while at < end:
            block = body[at:min(at + BLOCK, end)]
            if faults.get("drip"):
                first = max(faults.get("drip_from", 0) - at, 0)
                block = block[:first or 1]
                if not first and self.registry.stopping.wait(1 / faults["drip"]):
                    break
            if rate := faults.get("rate"):
                delay = started + (at + len(block)) / rate - time.monotonic()
                if delay > 0 and self.registry.stopping.wait(delay):
                    break
            self.wfile.write(block)
            at += len(block)
            span[1] = begin + at
        if not ends or end == len(body):
            return
        self.wfile.flush()
        if "stall" in faults:
            self.hang()
        elif "reset" in faults:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        self.close_connection = True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for kind in ("hugging-face", "argos", "firefox", "directory"):
        parser.add_argument(f"--{kind}", action="append", default=[], metavar="NAME=PATH")
    options = parser.parse_args()
    with Registry() as registry:
        for value in options.hugging_face:
            name, _, path = value.partition("=")
            registry.add_hugging_face(name, files_of(path))
        for value in options.argos:
            name, _, path = value.partition("=")
            registry.add_argos(*name.split("-"), pathlib.Path(path).read_bytes())
        for value in options.firefox:
            name, _, path = value.partition("=")
            registry.add_firefox(*name.split("-"), files_of(path))
        for value in options.directory:
            name, _, path = value.partition("=")
            print(registry.add_directory(name, files_of(path)), file=sys.stderr)
        for key, value in registry.environment().items():
            print(f"export {key}='{value}'", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
