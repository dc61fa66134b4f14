#!/usr/bin/env python3
"""As many requests at once as libmicrohttpd asks its epoll for: all of them are answered, though nothing else happens."""

import os
import signal
import socket
import unittest

from serve import Daemon

REQUEST = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


class FullRounds(unittest.TestCase):
    def test_as_many_requests_as_a_round_has_events(self):
        with Daemon() as daemon:
            clients = [socket.create_connection(("127.0.0.1", daemon.port), timeout=20) for _ in range(256)]
            for client in clients:
                client.sendall(REQUEST)
                self.assertIn(b"200 OK", client.recv(4096))
            for n in (128, 256):
                os.kill(daemon.pid, signal.SIGSTOP)
                for client in clients[:n]:
                    client.sendall(REQUEST)
                os.kill(daemon.pid, signal.SIGCONT)
                for client in clients[:n]:
                    self.assertIn(b"200 OK", client.recv(4096))
            for client in clients:
                client.close()


if __name__ == "__main__":
    unittest.main()
