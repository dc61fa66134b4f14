"""Starts the daemon for a test and stops it.

    with Daemon("--max-body-bytes", "4096") as daemon:
        reply = daemon.translate("Hello.")
        assert reply.status == 200, reply

The program comes from ATTENTIOND (default: build/release/attentiond) and the model from
ATTENTIOND_TEST_MODEL (default: tests/models/en-de); with model=None none is named. It listens on a port that the kernel chooses. When
the block ends well the daemon gets SIGTERM and must exit with the code that is expected (0), and
what it logged must not hold a sanitizer's report.
"""

import array
import ctypes
import fcntl
import http.client
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import termios
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("ATTENTIOND", str(ROOT / "build/release/attentiond"))
MODEL = os.environ.get("ATTENTIOND_TEST_MODEL", str(ROOT / "tests/models/en-de"))

# Builds with sanitizers or under valgrind are slower; times in tests are multiplied by this.
SLOWNESS = float(os.environ.get("ATTENTIOND_TEST_SLOWNESS", "1"))
# Flags that every daemon gets, before those of the test.
FLAGS = os.environ.get("ATTENTIOND_TEST_FLAGS", "").split()
if SLOWNESS > 1:
    FLAGS += ["--request-timeout-ms", str(int(60000 * SLOWNESS))]
    FLAGS += ["--drain-timeout-ms", str(int(30000 * SLOWNESS))]

# How long anything may take that a test only waits for: a busy machine is no fault.
PATIENCE_SECONDS = 60 * SLOWNESS
START_SECONDS = PATIENCE_SECONDS
STOP_SECONDS = 40 * SLOWNESS

# libmicrohttpd 1.0 has another parser of requests than those before it, and refuses more by itself, in HTML.
_microhttpd = ctypes.CDLL("libmicrohttpd.so.12")
_microhttpd.MHD_get_version.restype = ctypes.c_char_p
HAS_NEW_PARSER = not _microhttpd.MHD_get_version().startswith(b"0.")

REPORTS = re.compile(r"AddressSanitizer|ThreadSanitizer|LeakSanitizer|runtime error|libmicrohttpd gave up")


class Reply:
    """A reply as received: status, headers (names in lower case), body, seconds."""

    def __init__(self, status, headers, body, seconds):
        self.status = status
        self.headers = headers
        self.body = body
        self.seconds = seconds

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:300]!r}>"


def clean_environment(extra):
    """Without warnings of what the model is unsure of, which of the small test model's translations many are."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ATTENTIOND_")}
    environment["ATTENTIOND_MIN_PROBABILITY"] = "0"
    environment.update(extra or {})
    return environment


def run(*arguments, timeout=START_SECONDS, environment=None):
    """Runs the program to its end; for what fails or needs no server. One that serves may find its usual port taken."""
    if arguments[0] == "serve" and "--model" in arguments and "--port" not in arguments:
        arguments += ("--port", "0")
    return subprocess.run(
        [BINARY, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=clean_environment(environment),
        check=False,
    )


class Daemon:
    def __init__(self, *flags, model=MODEL, environment=None, expect_exit=0, max_descriptors=None, program=BINARY,
                 address=("127.0.0.1", 0)):
        self.program = program
        self.flags = FLAGS + list(flags)
        self.model = model
        self.environment = clean_environment(environment)
        self.expect_exit = expect_exit
        self.max_descriptors = max_descriptors
        self.host, self.wanted_port = address  # 0: the kernel chooses one
        self.port = None
        self.process = None
        self._log_lines, self._log_lock = [], threading.Lock()
        self._reader = None
        self._is_listening = threading.Event()

    @property
    def log_lines(self):
        """With all that it has written by now: what a reply or a metric says may be looked for here
        at once."""
        n_unread = array.array("i", [0])
        while self._reader and self._reader.is_alive():
            with self._log_lock:
                fcntl.ioctl(self.process.stderr, termios.FIONREAD, n_unread)
            if n_unread[0] == 0:
                break
            time.sleep(0.001)
        return self._log_lines

    @property
    def log(self):
        return "".join(self.log_lines)

    @property
    def pid(self):
        return self.process.pid

    def peak_kib(self):
        """How much memory it has had at most."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("VmHWM")).split()[1])

    def start(self):
        command = [self.program, "serve", "--host", self.host, "--port", str(self.wanted_port)]
        if self.max_descriptors:
            command = ["sh", "-c", f'ulimit -n {self.max_descriptors}; exec "$@"', "sh"] + command
        if self.model is not None:
            command += ["--model", self.model]
        self.process = subprocess.Popen(
            command + self.flags, stderr=subprocess.PIPE, env=self.environment
        )
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        if not self._is_listening.wait(START_SECONDS) or self.port is None:
            self.kill()
            raise AssertionError(f"the daemon does not listen:\n{self.log}")
        return self

    def _read_log(self):
        fd, rest, data = self.process.stderr.fileno(), b"", b"."
        readable = select.poll()
        readable.register(fd, select.POLLIN)
        while data:
            readable.poll()
            with self._log_lock:  # nothing is neither unread nor among the lines
                data = os.read(fd, 1 << 16)
                *lines, rest = (rest + data).split(b"\n")
                if not data and rest:
                    lines.append(rest)
                self._log_lines += [line.decode(errors="replace") + "\n" for line in lines]
            self._find_port(lines)
        self._is_listening.set()

    def _find_port(self, lines):
        for line in lines:
            match = re.search(rb"listening on (\[?[0-9a-fA-F.:]+?\]?):(\d+)\b", line)
            if match:
                self.port = int(match.group(2))
                self._is_listening.set()

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()
            self._reader.join()
            self.process.stderr.close()

    def stop(self, with_signal=signal.SIGTERM, timeout=STOP_SECONDS):
        """Sends the signal if the daemon still runs, waits for its end, returns its exit code."""
        if self.process.poll() is None and with_signal:
            self.process.send_signal(with_signal)
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the daemon does not stop:\n{self.log}") from None
        self._reader.join()
        self.process.stderr.close()
        return code

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.kill()
            print(self.log)
            return
        code = self.stop()
        if code != self.expect_exit:
            raise AssertionError(f"exit code {code}, expected {self.expect_exit}:\n{self.log}")
        if REPORTS.search(self.log):
            raise AssertionError(self.log)

    # Talking to it.

    def connect(self, timeout=PATIENCE_SECONDS):
        """A client with a connection of its own that is kept alive."""
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def request(self, method, path, body=None, headers=None, client=None, timeout=PATIENCE_SECONDS):
        """One request, on a new connection unless a client is given. A dict or list is sent as JSON."""
        headers = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        own = client is None
        client = client or self.connect(timeout)
        start = time.monotonic()
        try:
            client.request(method, path, body=body, headers=headers)
            response = client.getresponse()
            data = response.read()
        finally:
            if own:
                client.close()
        fields = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, fields, data, time.monotonic() - start)

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def translate(self, q, client=None, headers=None, **fields):
        body = {"q": q, "source": "en", "target": "de", **fields}
        return self.request("POST", "/translate", body, headers=headers, client=client)

    def raw(self, data, timeout=PATIENCE_SECONDS, half_close=False):
        """Sends bytes as they are and returns everything until the server closes."""
        with self.socket(timeout) as connection:
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
            return read_all(connection)

    def socket(self, timeout=PATIENCE_SECONDS, source=None):
        """From that address, or whichever the kernel takes."""
        return socket.create_connection((self.host, self.port), timeout, source and (source, 0))

    def metrics(self):
        """{'name{labels}': value} of GET /metrics."""
        values = {}
        for line in self.get("/metrics").body.decode().splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        return values


def read_all(connection):
    """Everything until the other side closes; a reset is an end like another."""
    data = b""
    while True:
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:
            return data
        if not piece:
            return data
        data += piece


def wait_until(condition, seconds=PATIENCE_SECONDS, what="condition"):
    """Polls until condition() is true; its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise AssertionError(f"{what}: not within {seconds:g} s")
        time.sleep(0.005)
