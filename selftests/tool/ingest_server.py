#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Takes what profil watch pushes, and answers as it is told.

ingest_server.py FOLDER [CERTIFICATE]: writes the port to FOLDER/port.  Of FOLDER/answers, one
a line, each request gets the next one, and the last one stays: a status, "429 2" with
Retry-After, "redirect URL", "slow", "cut" (amid the answer), "garbage" or "none" (the
connection ends).  Request N is in FOLDER/N.request, and its body in FOLDER/N.body.
"""
import http.server
import os
import ssl
import sys
import time

folder = sys.argv[1]


def next_answer():
    path = os.path.join(folder, 'answers')
    with open(path) as file:
        lines = file.read().splitlines()
    if len(lines) > 1:
        with open(path, 'w') as file:
            file.write('\n'.join(lines[1:]) + '\n')
    return lines[0].split()


class Handler(http.server.BaseHTTPRequestHandler):
    number = 0

    def log_message(self, *_):
        pass

    def record(self):
        Handler.number += 1
        body = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        path = os.path.join(folder, str(Handler.number))
        with open(path + '.body', 'wb') as file:
            file.write(body)
        with open(path + '.request.new', 'w') as file:
            print(self.command, self.path, file=file)
            print(self.headers, file=file)
        os.rename(path + '.request.new', path + '.request')

    def do_POST(self):
        self.record()
        answer = next_answer()
        self.close_connection = True
        if answer[0] == 'none':
            return
        if answer[0] == 'garbage':
            self.wfile.write(b'\x00\xff\x1b[2J' * 1000)
            return
        if answer[0] == 'slow':
            time.sleep(3)
        cut = answer[0] == 'cut'
        redirect = answer[0] == 'redirect'
        self.send_response(302 if redirect else int(answer[0]) if answer[0].isdigit() else 200)
        if redirect:
            self.send_header('Location', answer[1])
        elif len(answer) > 1:
            self.send_header('Retry-After', ' '.join(answer[1:]))
        text = b'what the server says\x1b[2J\nand more'
        self.send_header('Content-Length', str(len(text) + 1000 * cut))
        self.end_headers()
        self.wfile.write(text)


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(folder, 'port.new'), 'w') as file:
    file.write(str(server.server_address[1]))
os.rename(os.path.join(folder, 'port.new'), os.path.join(folder, 'port'))
server.serve_forever()
