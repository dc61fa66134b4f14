"""A PostgreSQL of the test's own, in a temporary directory.

    with PostgreSQL() as server:
        url = server.create("one")      # a database of that name, whose owner may do nothing else

As a program it does that for tests in C: it reads commands, a line each, and answers each with one: "create NAME" (with the url),
"stop", "start", "pause", "resume", "run NAME SQL". It ends when nobody is there any more. Exit code 77: there is no PostgreSQL."""

import contextlib
import ctypes
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

SKIPPED = 77
MISSING = "there is no PostgreSQL (Debian package postgresql)"
# What a URL must not have as it is.
PASSWORD = "it's a / secret@50%"


def find():
    """The folder of its programs, or None."""
    found = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    found.sort(key=lambda path: float(path.split("/")[4]))
    path = found[-1] if found else shutil.which("initdb")
    return os.path.dirname(path) if path else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def end_with_parent():
    """Of a process that begins: it does not outlive a test that is killed."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


class PostgreSQL:
    def __init__(self):
        self.programs = find()
        assert self.programs, MISSING
        self.folder = tempfile.mkdtemp(prefix="attentiond-test-")
        self.port = free_port()
        self.process = None
        # It refuses to be root.
        self.user = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        if self.user:
            shutil.chown(self.folder, "nobody")

    def command(self, name, *arguments):
        return [os.path.join(self.programs, name), *arguments]

    def call(self, name, *arguments):
        result = subprocess.run(self.command(name, *arguments), capture_output=True, text=True, cwd=self.folder, check=False,
                                env={**os.environ, "LC_ALL": "C.UTF-8"}, **self.user)
        assert result.returncode == 0, f"{name}: {result.stdout}{result.stderr}"
        return result.stdout

    def __enter__(self):
        try:
            self.call("initdb", "-D", "data", "-U", "admin", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
            with open(os.path.join(self.folder, "data/pg_hba.conf"), "w", encoding="ascii") as file:
                file.write("host all admin 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
            self.start()
            quoted = PASSWORD.replace("'", "''")
            self.run("postgres", f"CREATE ROLE translator LOGIN PASSWORD '{quoted}'")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        """Nothing that a test writes here must survive a loss of power."""
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                self.command("postgres", "-D", "data", "-p", str(self.port), "-c", "fsync=off", "-c", "listen_addresses=127.0.0.1",
                             "-c", "unix_socket_directories=", "-c", "max_connections=50", "-c", "shared_buffers=16MB"),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, start_new_session=True,
                preexec_fn=end_with_parent, **self.user)
        while subprocess.run(self.command("pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)), check=False).returncode != 0:
            assert self.process.poll() is None, self.log
            time.sleep(0.02)

    @property
    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        """Whatever is connected."""
        if self.process and self.process.poll() is None:
            self.resume()
            self.process.send_signal(signal.SIGINT)
            self.process.wait()

    def processes(self):
        """It and its children, each of which has a session of its own."""
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(path, encoding="ascii") as file:
            return [self.process.pid, *map(int, file.read().split())]

    def signal(self, number):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):  # one that has ended meanwhile
                os.kill(pid, number)

    def pause(self):
        """It hangs: it is there, and does nothing."""
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.signal(signal.SIGCONT)

    def run(self, database, sql):
        return self.call("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U", "admin",
                         "-c", sql, database).strip()

    def create(self, name):
        self.resume()  # where a test failed while it hung
        self.run("postgres", f"CREATE DATABASE {name} OWNER translator")
        return self.url(name)

    def url(self, name, password=PASSWORD):
        return f"postgresql://translator:{urllib.parse.quote(password, safe='')}@127.0.0.1:{self.port}/{name}"


def main():
    if not find():
        print(f"skipped: {MISSING}")
        return SKIPPED
    with PostgreSQL() as server:
        print("ready", flush=True)
        for line in sys.stdin:
            verb, *rest = line.rstrip("\n").split(" ", 1)
            if verb == "create":
                answer = server.create(*rest)
            elif verb == "run":
                answer = server.run(*rest[0].split(" ", 1)).replace("\n", " ")
            else:
                getattr(server, verb)()
                answer = verb
            print(answer, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
