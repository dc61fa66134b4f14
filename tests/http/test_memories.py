"""Translation memories: /v3/translation_memories, TMX in and out, /suggest, and translations that they have."""

import json
import re
import sqlite3
import unittest
import urllib.parse
import xml.etree.ElementTree as ElementTree

from serve import Daemon
from test_files import fetch, upload
from test_glossaries import Case

ROOT = "/v3/translation_memories"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
HEAD = ('<?xml version="1.0" encoding="{}"?><tmx version="1.4"><header creationtool="x" creationtoolversion="1" segtype="sentence" '
        'o-tmf="x" adminlang="en" srclang="en-US" datatype="plaintext"/><body>')
TAIL = "</body></tmx>"
HOUSE, OURS = "The house is old.", "Unser Haus ist ALT."
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def unit(source, target, language="de-DE", before="", attributes=""):
    prop = f'<prop type="x-context-pre">{before}</prop>' if before else ""
    return f'<tu {attributes}>{prop}<tuv xml:lang="EN"><seg>{source}</seg></tuv><tuv xml:lang="{language}"><seg>{target}</seg></tuv></tu>'


def tmx(*units, encoding="UTF-8"):
    return (HEAD.format(encoding) + "".join(units) + TAIL).encode(encoding)


def pairs(body):
    """What a TMX file says: for each unit its context, and language, time, author and content of each text."""
    found = []
    for tu in ElementTree.fromstring(body).iter("tu"):
        texts = [(tuv.get(LANGUAGE), tuv.get("changedate"), tuv.get("changeid"),
                  ElementTree.tostring(tuv.find("seg"), encoding="unicode").strip()) for tuv in tu.iter("tuv")]
        found.append((tu.findtext("prop"), *texts))
    return found


def make(daemon, content=None, name="Manuals", path=ROOT, headers=None, source_lang="en"):
    fields = {"name": name, "source_lang": source_lang}
    if content is None:
        return daemon.request("POST", path, fields, headers)
    return upload(daemon, content, "memory.tmx", path=path, headers=headers, fields=fields)


def made(reply):
    assert reply.status == 201, reply
    return reply.json["translation_memory_id"]


def translate(daemon, text, headers=None, **fields):
    reply = daemon.request("POST", "/translate", {"q": text, "source": "en", "target": "de", "memory": True, **fields}, headers)
    assert reply.status == 200, reply
    return reply.json


class Memories(Case):
    def test_what_it_has_is_not_translated(self):
        daemon = self.start()
        plain = translate(daemon, "I like it.", memory=False)
        self.assertNotIn("memory", plain)
        self.assertEqual(translate(daemon, HOUSE)["memory"], [])
        reply = make(daemon, tmx(unit(HOUSE, OURS, attributes='changedate="20260102T030405Z" changeid="Anna"')))
        memory = made(reply)
        expected = {"translation_memory_id": memory, "name": "Manuals", "source_language": "en", "target_languages": ["de"],
                    "segment_count": 1, "creation_time": reply.json["creation_time"]}
        self.assertEqual(reply.json, {**expected, "left": 0})
        self.assertEqual(daemon.get(f"{ROOT}/{memory}").json, expected)
        self.assertEqual(daemon.get(ROOT).json, {"translation_memories": [expected], "total_count": 1})
        match = {"match": 100, "origin": "Anna", "source": HOUSE, "target": OURS, "used": True}
        self.assertEqual(translate(daemon, HOUSE), {"memory": [match], "translatedText": OURS})
        both = translate(daemon, f"{HOUSE} I like it.\n")
        self.assertEqual(both, {"memory": [match], "translatedText": f"{OURS} {plain['translatedText']}\n"})
        self.assertEqual(translate(daemon, [HOUSE, "I like it."]), {"memory": [[match], []], "translatedText": [OURS, plain["translatedText"]]})
        self.assertEqual(translate(daemon, HOUSE, memory=False, translation_memory_id=memory)["memory"], [match])
        self.assertNotIn("memory", translate(daemon, HOUSE, memory=False))
        self.assertEqual(translate(daemon, HOUSE, alternatives=2)["translatedText"], OURS)
        self.assertEqual(translate(daemon, HOUSE, source="auto")["translatedText"], OURS)
        self.assertEqual(daemon.request("DELETE", f"{ROOT}/{memory}").status, 204)
        self.assertEqual(translate(daemon, HOUSE)["memory"], [])

    def test_the_text_before_it_counts(self):
        daemon = self.start()
        made(make(daemon, tmx(unit("Open", "Offen", before="Monday to Friday"), unit("Open", "Öffnen"))))
        self.assertEqual(translate(daemon, "Open")["translatedText"], "Öffnen")
        answer = translate(daemon, ["Monday to Friday", "Open", "Open"])
        self.assertEqual(answer["translatedText"][1:], ["Offen", "Öffnen"])
        self.assertEqual([items[0]["match"] for items in answer["memory"][1:]], [101, 100])

    def test_what_is_like_a_text_is_shown(self):
        daemon = self.start()
        made(make(daemon, tmx(unit("Press the red button to stop.", "ROT"), unit("Press the green button to stop.", "GRÜN"),
                              unit("PRESS the blue button to stop!", "BLAU"), unit("Go.", "LOS"))))
        text = "Press the blue button to stop."
        answer = translate(daemon, text)
        self.assertEqual(answer["translatedText"], translate(daemon, text, memory=False)["translatedText"])
        found = [(match["match"], match["target"], match["used"]) for match in answer["memory"]]
        self.assertEqual(found[0], (99, "BLAU", False))
        self.assertEqual(sorted(found[1:]), [(83, "GRÜN", False), (83, "ROT", False)])
        self.assertEqual(len(translate(daemon, text, translation_memory_threshold=90)["memory"]), 1)
        self.assertEqual(len(translate(daemon, text, translation_memory_threshold=0)["memory"]), 3)

    def test_codes_go_where_a_person_put_them(self):
        daemon = self.start()
        made(make(daemon, tmx(unit('Press <bpt i="1">&lt;b&gt;</bpt>OK<ept i="1">&lt;/b&gt;</ept> &amp; wait.',
                                   'Warten &amp; <bpt i="1">&lt;b&gt;</bpt>OK<ept i="1">&lt;/b&gt;</ept> drücken.'))))
        answer = translate(daemon, '<p>Press <i id="x">OK</i> &amp; wait.</p>', format="html")
        self.assertEqual(answer["translatedText"], '<p>Warten &amp; <i id="x">OK</i> drücken.</p>')
        self.assertEqual(answer["memory"][0]["target"], "Warten & OK drücken.")
        self.assertEqual(translate(daemon, "Press OK & wait.")["memory"][0]["match"], 99)

    def test_never_against_a_glossary(self):
        daemon = self.start()
        made(make(daemon, tmx(unit("Where is the train station?", "Wo ist der Hbf?"))))
        self.assertEqual(translate(daemon, "Where is the train station?")["translatedText"], "Wo ist der Hbf?")
        answer = translate(daemon, "Where is the train station?", glossary={"train station": "Hauptbahnhof"})
        self.assertEqual(answer["translatedText"], "Wo ist der Hauptbahnhof?")

    def test_pieces_of_a_stream_have_it(self):
        daemon = self.start()
        made(make(daemon, tmx(unit(HOUSE, OURS))))
        reply = daemon.request("POST", "/translate", {"q": f"I like it. {HOUSE}", "source": "en", "target": "de", "memory": True, "stream": True})
        events = [json.loads(line[5:]) for line in reply.body.decode().split("\n") if line.startswith("data: {")]
        pieces = "".join(event["text"] for event in events if "text" in event)
        self.assertTrue(pieces.endswith(OURS), pieces)

    def test_similar_texts_stand_beside_their_translations_in_xliff(self):
        daemon = self.start()
        made(make(daemon, tmx(unit(HOUSE, OURS), unit("The small house is very old &amp; red.", "Das kleine Haus ist sehr alt &amp; rot.", attributes='changeid="Anna"'))))
        like = "<source>The small house is very old &amp; red.</source><target>Das kleine Haus ist sehr alt &amp; rot.</target>"
        small = "The small house is very old &amp; grey."
        first = f"""<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" datatype="plaintext"><body>
  <trans-unit id="1"><source>{HOUSE}</source></trans-unit>
  <trans-unit id="2">
    <source>{small}</source>
    <target state="new"/>
    <alt-trans><target>x</target></alt-trans>
  </trans-unit></body></file></xliff>"""
        reply = upload(daemon, first.encode(), "a.xlf")
        body = fetch(daemon, reply)
        self.assertEqual(reply.json["from_memory"], 1)
        self.assertIn(f'<target state="needs-review-translation" state-qualifier="leveraged-tm">{OURS}</target></trans-unit>', body)
        self.assertRegex(body, '<target state="needs-review-translation" state-qualifier="mt-suggestion">[^<]+</target>\n'
                               f'    <alt-trans match-quality="85%" origin="Anna">{like}</alt-trans>\n    <alt-trans><target>x')
        self.assertNotIn("85%", fetch(daemon, upload(daemon, first.encode(), "a.xlf", {"translation_memory_threshold": "90"})))
        self.assertNotIn("85%", fetch(daemon, upload(daemon, first.encode(), "a.xlf", {"memory": "false"})))
        matches = "<matches xmlns='urn:oasis:names:tc:xliff:matches:2.0'><match ref='#b'><source>a</source><target>b</target></match></matches>"
        segment = f"<segment id='s'><source>{small}</source></segment>"
        second = f"""<xliff version="2.0" srcLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f">
<unit id="u1"><segment id='a'><source>I like it.</source></segment><ignorable><source> </source></ignorable>{segment}</unit>
<unit id="u2">{matches}<segment><source>{small}</source></segment></unit><unit id="u3"><segment><source>{HOUSE}</source></segment></unit></file></xliff>"""
        body = fetch(daemon, upload(daemon, second.encode(), "b.xlf"))
        told = 'similarity="85" origin="Anna">' + like
        space = 'xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0"'
        self.assertIn(f"<unit id=\"u1\"><mtc:matches {space}><mtc:match ref=\"#s\" {told}</mtc:match></mtc:matches><segment id='a' state=\"translated\">", body)
        self.assertIn(f"{matches[:-10]}<mtc:match {space} ref=\"#u=u2\" {told}</mtc:match></matches><segment state=\"translated\">", body)
        self.assertIn('<unit id="u3"><segment state="translated">', body)
        without = re.sub("<mtc:matches.*?</mtc:matches>|<mtc:match .*?</mtc:match>|<target>(?!b).*?</target>", "", body)
        self.assertEqual(without.replace(' state="translated"', ""), second.replace('srcLang="en"', 'srcLang="en"').replace('document:2.0"><file', 'document:2.0" trgLang="de"><file'))

    def test_files_have_it_by_themselves(self):
        daemon = self.start()
        made(make(daemon, tmx(unit(HOUSE, OURS), unit('Press <bpt i="1"/>OK<ept i="1"/>.', '<bpt i="1"/>OK<ept i="1"/>!'))))
        page = f"<html><body><h1>{HOUSE}</h1><p>Press <em>OK</em>.</p></body></html>".encode()
        reply = upload(daemon, page, "page.html")
        self.assertEqual((reply.json["from_memory"], reply.json["texts"], reply.json["translated"]), (1, 1, 1))
        body = fetch(daemon, reply)
        self.assertIn(f"<h1>{OURS}</h1><p><em>OK</em>!</p>", body)
        other = upload(daemon, page, "page.html", {"memory": "false"})
        self.assertEqual(other.json["from_memory"], 0)
        self.assertNotIn(OURS, fetch(daemon, other))

    def test_deepls_clients_name_one(self):
        daemon = self.start()
        memory = made(make(daemon, tmx(unit(HOUSE, OURS))))
        fields = {"text": [HOUSE], "source_lang": "EN", "target_lang": "DE", "translation_memory_id": memory, "translation_memory_threshold": 80}
        self.assertEqual(daemon.request("POST", "/v2/translate", fields).json["translations"][0]["text"], OURS)
        fields["translation_memory_id"] = memory[::-1]
        reply = daemon.request("POST", "/v2/translate", fields)
        self.assertEqual((reply.status, reply.json), (404, {"message": "there is no such translation memory"}))


class Tmx(Case):
    def test_in_and_out_is_the_same(self):
        daemon = self.start()
        units = [unit(f'Text {i} &amp; <ph x="1"/> of &lt;{i}&gt;', f'<ph x="1"/> {i}', before=f"Before {i}" if i % 3 else "",
                      attributes=f'changedate="2026010{1 + i % 9}T000000Z" changeid="Anna &quot;A&quot;"') for i in range(2000)]
        memory = made(make(daemon, tmx(*units)))
        first = daemon.get(f"{ROOT}/{memory}/tmx")
        self.assertEqual(first.headers["content-type"], "application/x-tmx+xml; charset=utf-8")
        self.assertEqual(len(pairs(first.body)), 2000)
        self.assertEqual(pairs(first.body)[1], ("Before 1", ("en", None, None, '<seg>Text 1 &amp; <ph x="1" /> of &lt;1&gt;</seg>'),
                                                ("de", "20260102T000000Z", 'Anna "A"', '<seg><ph x="1" /> 1</seg>')))
        again = made(make(daemon, first.body, "again"))
        self.assertEqual(daemon.get(f"{ROOT}/{again}/tmx").body, first.body)
        reply = upload(daemon, first.body, "memory.tmx", path=f"{ROOT}/{again}/tmx")
        self.assertEqual((reply.status, reply.json["segment_count"], reply.json["left"]), (200, 2000, 0))

    def test_codes_at_the_ends_are_no_part_of_a_text(self):
        daemon = self.start()
        made(make(daemon, tmx(unit('<ph x="1">&lt;br&gt;</ph>The house is old.<ph x="2">&lt;img&gt;</ph>', f'<ph x="1">&lt;br&gt;</ph>{OURS}<ph x="2">&lt;img&gt;</ph>'))))
        self.assertEqual(translate(daemon, HOUSE)["translatedText"], OURS)
        self.assertEqual(translate(daemon, f"<p><br>{HOUSE}<img></p>", format="html")["translatedText"], f"<p><br>{OURS}<img></p>")

    def test_encodings_and_languages(self):
        daemon = self.start()
        many = ('<tu><tuv xml:lang="en-GB"><seg>Hi</seg></tuv><tuv xml:lang="de-AT"><seg>Grüß Gott</seg></tuv>'
                '<tuv lang="fr"><seg>Salut</seg></tuv></tu>')
        alone = '<tu><tuv xml:lang="de"><seg>Nur Deutsch</seg></tuv></tu>'
        for encoding in ("UTF-16", "ISO-8859-1"):
            reply = make(daemon, tmx(many, alone, encoding=encoding), encoding)
            self.assertEqual((reply.status, reply.json["target_languages"], reply.json["segment_count"], reply.json["left"]),
                             (201, ["de", "fr"], 2, 1))
        self.assertEqual(translate(daemon, "Hi")["translatedText"], "Grüß Gott")

    def test_bad_files_say_what_is_wrong(self):
        daemon = self.start()
        for content, message in ((b"", "line 1"), (b"Hello", "line 1"), (b"<html></html>", "the file begins with <html>, expected <tmx>"),
                                 (tmx(unit("a", "b"))[:-9], "line 1"), (tmx(), 'no translation of a text in "en"'),
                                 (b'<!DOCTYPE tmx [<!ENTITY a "b">]>' + tmx(unit("&a;", "b"))[38:], "line 1"),
                                 (tmx(unit("a", "b", language="xx-none-99")), "no translation")):
            reply = make(daemon, content)
            self.assertEqual(reply.status, 400, (content, reply))
            self.assertIn(message, reply.json["message"])
        self.assertEqual(daemon.get(ROOT).json["total_count"], 0)

    def test_a_text_that_is_too_long_is_left(self):
        daemon = self.start()
        reply = make(daemon, tmx(unit("a" * 70000, "b"), unit("c", "d")))
        self.assertEqual((reply.json["segment_count"], reply.json["left"]), (1, 1))


class Limits(Case):
    def test_nothing_is_half_done(self):
        daemon = self.start("--max-memories", "2", "--max-memory-units", "3")
        self.assertEqual(make(daemon, tmx(*(unit(f"a{i}", "b") for i in range(4)))).status, 413)
        self.assertEqual(daemon.get(ROOT).json["total_count"], 0)
        memory = made(make(daemon, tmx(*(unit(f"a{i}", "b") for i in range(3)))))
        reply = upload(daemon, tmx(unit("new", "b")), "memory.tmx", path=f"{ROOT}/{memory}/tmx")
        self.assertEqual(reply.status, 413)
        self.assertEqual(daemon.get(f"{ROOT}/{memory}").json["segment_count"], 3)
        made(make(daemon, None, "empty"))
        self.assertEqual(make(daemon, None, "third").status, 413)
        page = daemon.get(ROOT + "?page=1&page_size=1").json
        self.assertEqual(([item["name"] for item in page["translation_memories"]], page["total_count"]), (["empty"], 2))
        for path in (ROOT + "?page=-1", ROOT + "?page_size=0"):
            self.assertEqual(daemon.get(path).status, 400, path)
        for fields in ({"name": " ", "source_lang": "en"}, {"name": "x", "source_lang": "klingon"}, {"name": "x" * 2000, "source_lang": "en"}):
            self.assertEqual(daemon.request("POST", ROOT, fields).status, 400)

    def test_nobody_finds_anothers(self):
        keys = self.folder + "/keys"
        with open(keys, "w", encoding="utf-8") as file:
            file.write("aaaaaaaa name=anna\nbbbbbbbb name=bert\n")
        daemon = self.start("--api-keys-file", keys, "--suggestions")
        anna, bert = ({"Authorization": f"Bearer {key}"} for key in ("aaaaaaaa", "bbbbbbbb"))
        memory = made(make(daemon, tmx(unit(HOUSE, OURS)), headers=anna))
        self.assertEqual(translate(daemon, HOUSE, anna)["translatedText"], OURS)
        self.assertEqual(translate(daemon, HOUSE, bert)["memory"], [])
        for method, path in (("GET", ""), ("GET", "/tmx"), ("DELETE", "")):
            self.assertEqual(daemon.request(method, f"{ROOT}/{memory}{path}", headers=bert).status, 404)
        self.assertEqual(upload(daemon, tmx(unit("a", "b")), "memory.tmx", path=f"{ROOT}/{memory}/tmx", headers=bert).status, 404)
        self.assertEqual(daemon.get(ROOT, headers=bert).json["total_count"], 0)
        self.assertEqual(daemon.request("POST", "/suggest", {"q": "Bye.", "s": "Servus.", "source": "en", "target": "de"}, bert).json, {"success": True})
        self.assertEqual(translate(daemon, "Bye.", bert)["translatedText"], "Servus.")
        self.assertEqual(translate(daemon, "Bye.", anna)["memory"], [])

    def test_without_a_data_directory(self):
        daemon = Daemon("--suggestions").start()
        self.addCleanup(daemon.stop)
        self.assertEqual(daemon.get("/frontend/settings").json["suggestions"], False)
        reply = daemon.get(ROOT)
        self.assertEqual((reply.status, reply.json), (400, {"message": "this server keeps no translation memories: neither its data_directory nor its database is set"}))
        self.assertEqual(daemon.request("POST", "/suggest", {"q": "a", "s": "b", "source": "en", "target": "de"}).status, 403)
        self.assertEqual(translate(daemon, HOUSE)["memory"], [])
        reply = daemon.request("POST", "/translate", {"q": HOUSE, "source": "en", "target": "de", "translation_memory_id": "x"})
        self.assertEqual(reply.status, 400)


class Suggestions(Case):
    def test_are_kept_where_the_operator_allows_it(self):
        daemon = self.start()
        fields = {"q": " I like it. ", "s": "Das mag ich. ", "source": "en-US", "target": "DE"}
        self.assertEqual(daemon.get("/frontend/settings").json["suggestions"], False)
        self.assertEqual(daemon.request("POST", "/suggest", fields).status, 403)
        daemon.stop()
        daemon = self.start("--suggestions")
        self.assertEqual(daemon.get("/frontend/settings").json["suggestions"], True)
        self.assertEqual(daemon.request("POST", "/suggest", urllib.parse.urlencode(fields), FORM).json, {"success": True})
        self.assertEqual(translate(daemon, "I like it.")["translatedText"], "Das mag ich.")
        daemon.request("POST", "/suggest", {**fields, "s": "Gefällt mir."})
        daemon.stop()
        daemon = self.start("--suggestions")
        self.assertEqual(translate(daemon, "I like it.")["translatedText"], "Gefällt mir.")
        for bad, message in (({"q": ""}, "missing q"), ({"s": None}, "missing s"), ({"source": "xx-none-9"}, "not supported"),
                             ({"q": "  "}, "q: expected a text"), ({"s": "a" * 70000}, "s: expected a text")):
            reply = daemon.request("POST", "/suggest", {**fields, **bad})
            self.assertEqual(reply.status, 400, bad)
            self.assertIn(message, reply.json["error"])

    def test_a_database_that_is_held_leaves_translations_alone(self):
        daemon = self.start("--suggestions")
        fields = {"q": "I like it.", "s": "Das mag ich.", "source": "en", "target": "de"}
        self.assertEqual(daemon.request("POST", "/suggest", fields).status, 200)
        other = sqlite3.connect(self.folder + "/attentiond.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        reply = daemon.request("POST", "/suggest", fields)
        self.assertEqual(reply.status, 503)
        self.assertEqual(translate(daemon, "I like it.")["translatedText"], "Das mag ich.")
        other.execute("ROLLBACK")
        other.execute("DROP TABLE units")
        other.close()
        self.assertEqual(translate(daemon, HOUSE)["memory"], [])


if __name__ == "__main__":
    unittest.main()
