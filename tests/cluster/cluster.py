"""Replicas of the daemon at loopback addresses of their own, and HAProxy or nginx in front of them, with the very
files that packaging/ has.

    with Cluster(models=directory) as cluster, Haproxy(cluster) as balancer:
        status, headers, body = balancer.ask("/translate", {"q": "Hello.", "source": "en", "target": "de"})
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/http"))
from postgresql import MISSING, PostgreSQL  # pylint: disable=wrong-import-position
from postgresql import find as find_postgresql  # pylint: disable=wrong-import-position
from serve import MODEL, SLOWNESS, Daemon, run, wait_until  # pylint: disable=wrong-import-position

SKIPPED = 77
PACKAGES = {"haproxy": "haproxy", "nginx": "nginx-light"}
# As in packaging/haproxy.cfg: two checks, a second apart, find the 503.
SHUTDOWN_DELAY_MS = int(2500 * SLOWNESS)


def find(program):
    """Its path. Ends this process where it is missing: with 77, which meson counts as skipped."""
    paths = {name: shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin") for name in PACKAGES}
    missing = [name for name, path in paths.items() if not path]
    if program in missing:
        print(f"skipped: there is no {', no '.join(missing)} (Debian packages {' '.join(PACKAGES[name] for name in missing)})")
        sys.exit(SKIPPED)
    return paths[program]


def free_port(host="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def kernels_here():
    """All that this processor has, the fastest first."""
    found = []
    for name in ("amx", "avx512vnni", "avxvnni", "avx2", "sse41", "i8mm", "dotprod", "neon", "c"):
        if run("check-config", "--model", MODEL, "--kernels", name).returncode == 0:
            found.append(name)
    assert found, run("check-config", "--model", MODEL).stderr
    return found


class Cluster:
    """n replicas at 127.0.0.2 and so on, each with other kernels as far as there are; they share models and files."""

    def __init__(self, *flags, n=3, models=None, kernels=None, shutdown_delay_ms=0, environment=None):
        # The plain ones in C are a hundred times slower, and under load would answer nobody in time.
        self.kernels = kernels or [name for name in kernels_here() if name != "c"] or ["c"]
        self.files = tempfile.TemporaryDirectory()
        self.environment = environment
        self.flags = [*flags, "--shutdown-delay-ms", str(shutdown_delay_ms), "--trust-forwarded-for", "127.0.0.1",
                      "--models-watch-ms", "200"]
        if supports("files_directory"):
            self.flags += ["--files-directory", self.files.name]
        if models:
            self.flags += ["--models-directory", str(models)]
        self.has_model = models is None
        self.addresses = [(f"127.0.0.{i + 2}", free_port(f"127.0.0.{i + 2}")) for i in range(n)]
        self.replicas = [self.make(i) for i in range(n)]

    def make(self, i):
        options = {} if self.has_model else {"model": None}
        return Daemon(*self.flags, "--kernels", self.kernels[i % len(self.kernels)], address=self.addresses[i],
                      environment=self.environment, **options)

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self.kill)
            for replica in self.replicas:
                replica.start()
            stack.pop_all()
        return self

    def __exit__(self, kind, error, trace):
        try:
            if kind is None:
                for replica in self.replicas:
                    replica.process.send_signal(signal.SIGTERM)
                for replica in self.replicas:
                    code = replica.stop(with_signal=None)
                    assert code == 0, f"exit code {code}:\n{replica.log}"
        finally:
            self.kill()
            self.files.cleanup()

    def kill(self):
        for replica in self.replicas:
            with contextlib.suppress(ProcessLookupError, ValueError):
                replica.kill()

    def restart(self, i):
        """As an operator does: SIGTERM, and another one as soon as it has ended."""
        code = self.replicas[i].stop()
        assert code == 0, f"exit code {code}:\n{self.replicas[i].log}"
        self.replicas[i] = self.make(i).start()

    def replace_killed(self, i):
        self.replicas[i].kill()
        self.replicas[i] = self.make(i).start()


def supports(setting):
    """Whether the program has the setting."""
    return any(one["key"] == setting for one in json.loads(run("serve", "--describe").stdout)["settings"])


class Balancer:
    """A program in front, in a folder of its own."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.port = free_port()
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.process = None

    def __enter__(self):
        # A file, because nobody reads a pipe here.
        with (self.path / "log").open("wb") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, env=self.environment())
        wait_until(self.is_there, 10 * SLOWNESS, f"{type(self).__name__} with its replicas")
        return self

    def __exit__(self, kind, error, trace):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if kind is not None:
            print(self.log[-6000:])
        self.folder.cleanup()

    @property
    def log(self):
        return (self.path / "log").read_text(errors="replace")

    def environment(self):
        return dict(os.environ)

    def is_there(self):
        assert self.process.poll() is None, self.log
        try:
            return self.ask("/health/ready", None)[0] == 200
        except OSError:
            return False

    def connect(self, timeout=90):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, path, fields, headers=None, client=None):
        """Status, headers in lower case, body. fields None: a GET."""
        own = client is None
        client = client or self.connect()
        try:
            if fields is None:
                client.request("GET", path, headers=headers or {})
            else:
                client.request("POST", path, json.dumps(fields).encode(),
                               {"Content-Type": "application/json", **(headers or {})})
            response = client.getresponse()
            body = response.read()
            return response.status, {name.lower(): value for name, value in response.getheaders()}, body
        finally:
            if own:
                client.close()


class Haproxy(Balancer):
    def __init__(self, cluster, requests_per_minute=10**9):
        super().__init__(cluster)
        self.figures = free_port()
        self.requests_per_minute = requests_per_minute

    def environment(self):
        wanted = {f"ATTENTIOND_{i + 1}": f"{host}:{port}" for i, (host, port) in enumerate(self.cluster.addresses)}
        return {**os.environ, **wanted, "HAPROXY_BIND": f"127.0.0.1:{self.port}",
                "HAPROXY_FIGURES": f"127.0.0.1:{self.figures}", "HAPROXY_SOCKET": str(self.path / "socket"),
                "REQUESTS_PER_MINUTE": str(self.requests_per_minute)}

    def command(self, *flags):
        return [find("haproxy"), *flags, "-f", str(ROOT / "packaging/haproxy.cfg")]

    def is_there(self):
        return super().is_there() and len(self.states()) == 3 and set(self.states()) == {"UP"}

    def tell(self, command):
        with socket.socket(socket.AF_UNIX) as admin:
            admin.connect(str(self.path / "socket"))
            admin.sendall(command.encode() + b"\n")
            data = b""
            while piece := admin.recv(65536):
                data += piece
        return data.decode()

    def figures_of(self, field):
        """Of each replica, a column of "show stat"."""
        lines = self.tell("show stat").lstrip("# ").splitlines()
        names = lines[0].split(",")
        rows = [dict(zip(names, line.split(","))) for line in lines[1:] if line]
        return [row[field] for row in rows if row["pxname"] == "replicas" and row["svname"].startswith("replica")]

    def states(self):
        return [state.split(" ")[0] for state in self.figures_of("status")]


class Nginx(Balancer):
    def command(self, *flags):
        text = (ROOT / "packaging/nginx.conf").read_text(encoding="utf-8")
        for i, (host, port) in enumerate(self.cluster.addresses):
            text, n = re.subn(rf"server 127\.0\.0\.{i + 2}:5000\b", f"server {host}:{port}", text)
            assert n == 1, text
        text, n = re.subn(r"listen 8080;", f"listen 127.0.0.1:{self.port};", text)
        assert n == 1, text
        text, n = re.subn(r"rate=600r/m", "rate=100000r/s", text)
        assert n == 1, text
        (self.path / "attentiond.conf").write_text(text)
        (self.path / "main.conf").write_text(f"""
daemon off;
worker_processes 1;
pid {self.path}/pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {self.path}/body;
    proxy_temp_path {self.path}/proxy;
    fastcgi_temp_path {self.path}/fastcgi;
    uwsgi_temp_path {self.path}/uwsgi;
    scgi_temp_path {self.path}/scgi;
    include {self.path}/attentiond.conf;
}}
""")
        return [find("nginx"), *flags, "-p", str(self.path), "-c", str(self.path / "main.conf")]


def pause(replica, seconds):
    """A replica that hangs: it runs, and does nothing."""
    replica.process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    replica.process.send_signal(signal.SIGCONT)
