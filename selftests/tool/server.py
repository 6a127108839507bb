#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A server of symbols for tests: server.py PORT-FILE LOG [FILE BUILD-ID]

Notes each request in LOG, with the most bytes that are wanted.  Without FILE it never answers, and as
FILE /dev/zero has no end.
"""
import contextlib
import http.server
import sys
import time

port_file, log = sys.argv[1:3]
served = dict([(f"/buildid/{sys.argv[4]}/debuginfo", sys.argv[3])] if len(sys.argv) > 3 else [])


ZEROS = bytes(1 << 20)
MOST = 64 << 20     # so that a client without a bound fills no disk


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(log, "a", encoding="ascii") as out:
            out.write(f"{self.path} {self.headers['X-DEBUGINFOD-MAXSIZE']}\n")
        if len(sys.argv) == 3:
            time.sleep(1000)
        if self.path not in served:
            self.send_error(404)
            return
        self.send_response(200)
        if served[self.path] == "/dev/zero":
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                for _ in range(MOST // len(ZEROS)):
                    self.wfile.write(ZEROS)
            return
        with open(served[self.path], "rb") as file:
            body = file.read()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file, "w", encoding="ascii") as out:
    out.write(str(server.server_port))
server.serve_forever()
