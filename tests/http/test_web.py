"""The web page's files: types, validators, compression, policy; what a browser needs before it runs."""

import gzip
import json
import pathlib
import re
import sys
import unittest

from serve import ROOT, Daemon, run

FOLDER = pathlib.Path(ROOT) / "server/web"
sys.path.insert(0, str(FOLDER))
import embed
VERSION = re.search(r"version: '(.*)'", (pathlib.Path(ROOT) / "meson.build").read_text(encoding="utf-8"))[1]
PAGES = {"/": "index.html", "/docs": "docs.html"}
DESCRIPTIONS = ("/openapi.json", "/spec")
FILES = {**PAGES, **{path: "routes.json" for path in DESCRIPTIONS}, **{f"/web/{path.name}": path.name for path in sorted(FOLDER.iterdir())
                               if path.suffix in (".css", ".js", ".svg")}}
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".json": "application/json", ".svg": "image/svg+xml"}
POLICY = {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
          "img-src": "'self' data: blob:", "base-uri": "'none'", "form-action": "'self'", "frame-ancestors": "'none'"}


class Web(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()

    @classmethod
    def tearDownClass(cls):
        assert cls.daemon.stop() == 0, cls.daemon.log

    def test_serves_the_files_of_the_folder_plain_and_compressed(self):
        self.assertGreater(len(FILES), 10)
        for path, name in FILES.items():
            content = embed.served(FOLDER / name, VERSION)
            plain = self.daemon.get(path)
            packed = self.daemon.get(path, headers={"Accept-Encoding": "gzip, br"})
            self.assertEqual((plain.status, packed.status), (200, 200), path)
            self.assertEqual(plain.body, content, path)
            self.assertEqual(gzip.decompress(packed.body), content, path)
            self.assertEqual(packed.headers["content-encoding"], "gzip")
            self.assertNotIn("content-encoding", plain.headers)
            for reply in (plain, packed):
                self.assertEqual(reply.headers["content-type"], TYPES[pathlib.Path(name).suffix])
                self.assertEqual(reply.headers["vary"], "Accept-Encoding")
                self.assertEqual(reply.headers["cache-control"], "no-cache")

    def test_sends_translations_by_the_hash_of_their_text(self):
        for text, published in (("", 0x811C9DC5), ("a", 0xE40C292C), ("foobar", 0xBF9CF968)):  # FNV-1a, 32 bits
            self.assertEqual(int(embed.name_of(text), 36), published)
        names = sorted((FOLDER / "text").iterdir())
        self.assertGreaterEqual(len(names), 9)
        for path in names:
            texts = json.loads(path.read_text(encoding="utf-8"))
            reply = self.daemon.get(f"/web/{path.name}")
            self.assertEqual((reply.status, reply.headers["content-type"]), (200, "application/json"))
            self.assertEqual(list(reply.json.values()), list(texts.values()))
            self.assertEqual(list(reply.json), [embed.name_of(text) for text in texts])

    def test_answers_304_to_who_has_the_file(self):
        plain = self.daemon.get("/").headers["etag"]
        packed = self.daemon.get("/", headers={"Accept-Encoding": "gzip"}).headers["etag"]
        self.assertNotEqual(plain, packed)
        self.assertRegex(plain, r'^"[0-9a-f]+"$')
        for tag, encoding, status in [
            (plain, "", 304), (packed, "gzip", 304), (f"W/{plain}", "", 304), ("*", "", 304), (f'"x", {packed}', "gzip", 304),
            (plain, "gzip", 200), (packed, "", 200), ('"x"', "", 200),
        ]:
            reply = self.daemon.get("/", headers={"If-None-Match": tag, "Accept-Encoding": encoding})
            self.assertEqual(reply.status, status, (tag, encoding))
            if status == 304:
                self.assertEqual(reply.body, b"")
                self.assertIn("content-security-policy", reply.headers)
                self.assertIn(reply.headers["etag"], (plain, packed))

    def test_lets_the_browser_load_nothing_from_elsewhere(self):
        for path in FILES:
            headers = self.daemon.get(path).headers
            policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
            self.assertEqual(policy, POLICY)
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            self.assertEqual(headers["referrer-policy"], "no-referrer")
        for name in PAGES.values():
            page = (FOLDER / name).read_text(encoding="utf-8")
            for address in re.findall(r'(?:src|href)="([^"]*)"', page):
                self.assertTrue(address.startswith(("web/", "#")) or address in ("./", "docs", "languages", "openapi.json"), address)
            self.assertNotRegex(page, r"<style|style=|<script>|\son[a-z]+=")

    def test_lets_itself_be_framed_by_those_that_the_operator_names(self):
        for setting, ancestors in (("", "'none'"), ("*", "*"), ("https://example.org,http://localhost:8888", "https://example.org http://localhost:8888")):
            with Daemon("--frame-ancestors", setting) as daemon:
                for path, expected in (("/", ancestors), ("/docs", "'none'"), ("/web/app.js", "'none'")):
                    policy = daemon.get(path).headers["content-security-policy"]
                    self.assertEqual(policy.split("frame-ancestors ")[1], expected)

    def test_refuses_ancestors_that_are_no_origins(self):
        for wrong in ("'self'", "example.org", "https://a; script-src *", "https://example.org/course", "*, https://example.org"):
            for verb in ("check-config", "serve"):
                result = run(verb, "--frame-ancestors", wrong, "--model", "tests/models/en-de")
                self.assertEqual(result.returncode, 2, f"{verb} {wrong}: {result.stderr}")
                self.assertRegex(result.stderr, r'frame_ancestors has "[^"]*", expected "\*" alone, or origins')

    def test_takes_deep_links_and_head_and_knows_what_is_not_there(self):
        page = self.daemon.get("/")
        linked = self.daemon.get("/?source=en&target=de&q=Gr%C3%BC%C3%9Fe+%26+mehr")
        self.assertEqual(linked.body, page.body)
        for cut in ("Gr%C3%BC%C3%9", "Gr%C3%BC%C3%", "Gr%C3", "100%"):
            self.assertEqual(self.daemon.get("/?source=en&target=de&q=" + cut).body, page.body, cut)
            self.assertEqual(self.daemon.get("/docs?lang=" + cut).status, 200, cut)
        head = self.daemon.request("HEAD", "/")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(head.headers["content-length"], page.headers["content-length"])
        for path in ("/web", "/web/", "/web/nothing.js", "/web/../web/app.js", "/web/app.js/", "/index.html", "/docs/", "/docs.html",
                     "/web/openapi.json"):
            reply = self.daemon.get(path)
            self.assertEqual((reply.status, list(reply.json)), (404, ["error"]), path)
        self.assertEqual(self.daemon.get("/web/app.js?v=2").status, 200)
        self.assertEqual(self.daemon.request("POST", "/web/app.js", b"").status, 405)

    def test_has_one_label_for_all_files_in_the_metrics(self):
        self.daemon.get("/web/app.js")
        self.daemon.get("/web/api.js")
        labels = {re.search(r'route="([^"]*)"', name)[1] for name in self.daemon.metrics() if 'route="/w' in name}
        self.assertEqual(labels, {"/web/"})

    def test_can_be_switched_off(self):
        with Daemon("--web-page=false") as daemon:
            for path in (*PAGES, "/web/app.js"):
                self.assertEqual(daemon.get(path).status, 404)
            for path in DESCRIPTIONS:
                self.assertEqual(daemon.get(path).status, 200)
            self.assertEqual(daemon.get("/languages").status, 200)


if __name__ == "__main__":
    unittest.main()
