"""Files of translators are valid once each word is marked: by XLIFF's own schemas (which php-symfony-translation brings) and xmllint. What
is not installed is skipped. TMX's document type is in no package."""
import os
import shutil
import subprocess
import tempfile
import unittest

MARK = os.path.join(os.environ["MT_BUILD_DIR"], "tests", "documents", "mark")
SCHEMAS = "/usr/share/php/Symfony/Component/Translation/Resources/schemas"
CATALOG = "".join(f'<{kind} {key}="{name}" uri="{SCHEMAS}/xml.xsd"/>' for kind, key in (("uri", "name"), ("system", "systemId")) for name in (
    "http://www.w3.org/2001/xml.xsd", f"file://{SCHEMAS}/informativeCopiesOf3rdPartySchemas/w3c/xml.xsd",
    f"{SCHEMAS}/informativeCopiesOf3rdPartySchemas/w3c/xml.xsd"))
LOCKED_1 = ('<trans-unit id="5" approved="yes"><source>Locked</source><target>Fest</target></trans-unit>',
            '<trans-unit id="6" translate="no"><source>Locked too</source></trans-unit>')
XLIFF_1 = f"""<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a.html" source-language="en" datatype="html">
 <header><phase-group><phase phase-name="p1" process-name="translation"/></phase-group><note>A note</note></header>
 <body><group id="g1">
  <trans-unit id="1"><source>Hello world</source></trans-unit>
  <trans-unit id="2" xml:space="preserve">
   <source>Please <g id="1">press <x id="2"/></g> the <bx id="3"/>red<ex id="3"/> button.</source>
   <note from="developer">A note</note>
   <alt-trans match-quality="80"><source>Hello</source><target>Hallo</target></alt-trans>
  </trans-unit>
  <trans-unit id="3">
   <source>One. Two.</source>
   <seg-source><mrk mtype="seg" mid="0">One.</mrk> <mrk mtype="seg" mid="1">Two.</mrk></seg-source>
   <alt-trans><target>x</target></alt-trans>
  </trans-unit>
  <trans-unit id="4"><source>An <bpt id="1">&lt;b></bpt>old<ept id="1">&lt;/b></ept> <ph id="2" ctype="x-a">{{0}}<sub>alt
   words</sub></ph> house <it id="3" pos="open">&lt;i></it></source><target state="needs-translation"/></trans-unit>
  {"".join(LOCKED_1)}
  <trans-unit id="7"><source>A <mrk mtype="protected">Product</mrk> of ours</source><target state="new" phase-name="p1"
   state-qualifier="fuzzy-match">old</target><context-group><context context-type="sourcefile">a.c</context></context-group></trans-unit>
  <bin-unit id="b" mime-type="image/png"><bin-source><external-file href="a.png"/></bin-source></bin-unit>
 </group></body>
</file>
<file original="b" source-language="en-US" target-language="de-DE" datatype="plaintext"><body>
 <trans-unit id="1"><source/></trans-unit><trans-unit id="2"><source>The end</source></trans-unit></body></file>
</xliff>"""
LOCKED_2 = ('<unit id="u2" translate="no"><segment><source>Locked</source></segment></unit>',
            '<unit id="u3"><segment state="final"><source>Done</source><target>Fertig</target></segment></unit>')
XLIFF_2 = f"""<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0"
 xmlns:my="urn:my" version="2.0" srcLang="en"><file id="f1" original="a.html"><notes><note id="n1">Something</note></notes><group id="g1">
 <unit id="u1" name="hello">
  <notes><note appliesTo="source">A note</note></notes>
  <originalData><data id="d1">&lt;b></data><data id="d2">&lt;/b></data><data id="d3">%s</data></originalData>
  <segment id="s1" state="initial" subState="my:x"><source>Please <pc id="1" dataRefStart="d1" dataRefEnd="d2">press</pc> the <ph id="2"
   dataRef="d3"/> button.</source></segment>
  <ignorable><source> </source></ignorable>
  <segment id="s2" canResegment="no">
   <source>A <sc id="3" dataRef="d1"/>bold<ec startRef="3" dataRef="d2"/> word <mrk id="m1" type="term">term</mrk> and <sm id="m2"
    type="comment" value="x"/>so<em startRef="m2"/>.</source>
   <target/>
  </segment>
 </unit>
 {"".join(LOCKED_2)}
 <unit id="u4" xml:space="preserve"><mtc:matches><mtc:match ref="#s1"><source>Hi</source><target>Hallo</target></mtc:match></mtc:matches>
  <segment id="s1"><source>Hi there <cp hex="0001"/> all</source></segment></unit>
</group></file></xliff>"""


@unittest.skipUnless(shutil.which("xmllint") and os.path.isdir(SCHEMAS), "xmllint or php-symfony-translation is not installed")
class SchemaTest(unittest.TestCase):
    def check(self, file, schema, locked, n_texts):
        with tempfile.TemporaryDirectory() as folder:
            catalog, before, after = (os.path.join(folder, name) for name in ("catalog.xml", "a.xlf", "b.xlf"))
            for path, content in ((catalog, f'<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">{CATALOG}</catalog>'), (before, file)):
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(content)
            done = subprocess.run([MARK, before, after, "de"], check=True, capture_output=True, text=True)
            self.assertEqual(done.stdout, f"{n_texts} texts\n")
            for path in (before, after):
                done = subprocess.run(["xmllint", "--nonet", "--noout", "--schema", f"{SCHEMAS}/{schema}", path], capture_output=True,
                                      text=True, check=False, env=os.environ | {"XML_CATALOG_FILES": catalog})
                self.assertEqual(done.returncode, 0, done.stderr)
            with open(after, encoding="utf-8") as stream:
                marked = stream.read()
            for unit in locked:
                self.assertIn(unit, marked)
            self.assertIn("[Please]", marked)

    def test_xliff_1(self):
        self.check(XLIFF_1, "xliff-core-1.2-strict.xsd", LOCKED_1, 6)

    def test_xliff_2(self):
        self.check(XLIFF_2, "xliff-core-2.0.xsd", LOCKED_2, 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
