#!/usr/bin/env python3
"""What one-line requests notice of a document of 100 pages that is translated meanwhile.

  beside_document.py [--seconds 20]

One client asks for a line, again and again, alone and then beside the document, in turns; prints the
99th percentile of both, and exits with 1 where it is more than twice as long beside the document. Starts a
daemon of its own: ATTENTIOND (default build/release/attentiond) with the bundled en-de. On a machine that
does nothing else."""

import argparse
import io
import pathlib
import sys
import threading
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "http"))
from serve import Daemon  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = ("The train to the coast stands at the station, and nobody on the platform knows when it will leave. "
         "Two children count the carriages while their father reads what the newspaper says of the weather. ")
PAGES, PARAGRAPHS, TWICE = 100, 12, 2
TYPES = ('<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" '
         'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>')


def document():
    paragraphs = "".join(f"<w:p><w:r><w:t>Page {page}, paragraph {i}. {WORDS}</w:t></w:r></w:p>"
                         for page in range(PAGES) for i in range(PARAGRAPHS))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", TYPES)
        package.writestr("word/document.xml", '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
                                              f"<w:body>{paragraphs}</w:body></w:document>")
    return file.getvalue()


def upload(daemon, content, stopped):
    """Sends it again and again, until told to stop."""
    head = "".join(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                   for name, value in (("source", "en"), ("target", "de")))
    head += '--x\r\nContent-Disposition: form-data; name="file"; filename="a.docx"\r\n\r\n'
    while not stopped.is_set():
        reply = daemon.request("POST", "/translate_file", head.encode() + content + b"\r\n--x--\r\n",
                               {"Content-Type": "multipart/form-data; boundary=x"}, timeout=3600)
        assert reply.status == 200, reply.body


def ask(daemon, seconds):
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        reply = daemon.translate("Where is the train station?", source="en", target="de")
        assert reply.status == 200, reply.body
        times.append(time.monotonic() - begin)
        time.sleep(0.02)
    return times


def p99(times):
    return sorted(times)[int(len(times) * 0.99)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20, help="of each turn")
    seconds = parser.parse_args().seconds
    content, alone, beside = document(), [], []
    with Daemon("--max-text-chars", "10000000", "--request-timeout-ms", "3600000", model=ROOT / "weights" / "en-de") as daemon:
        ask(daemon, 1)
        for _ in range(2):
            alone += ask(daemon, seconds)
            stopped = threading.Event()
            thread = threading.Thread(target=upload, args=(daemon, content, stopped))
            thread.start()
            time.sleep(1)
            beside += ask(daemon, seconds)
            stopped.set()
            thread.join()
    ratio = p99(beside) / p99(alone)
    print(f"a line alone: p99 {p99(alone) * 1e3:.1f} ms of {len(alone)}; beside a document of {PAGES} pages ({len(content)} bytes): "
          f"{p99(beside) * 1e3:.1f} ms of {len(beside)}, {ratio:.2f} times as long")
    return 0 if ratio <= TWICE else 1


if __name__ == "__main__":
    sys.exit(main())
