#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does with a page what people do, in chromium, and prints what comes of it.

    browser.py STEP...
    browser.py          many times: steps, one in a line, until a line "end", which is answered by
                        "end 0", or by "end 1" if one of them failed, and those behind it were
                        left out.  Each time begins as if nobody had used the browser before

    script off          no script runs in the pages that are opened next
    size WIDTH HEIGHT   of the window
    theme dark          or light
    open FILE[#RANGE]
    press KEY           ArrowRight, Enter, ...; or one letter
    drag SELECTOR FROM TO   over its first element, from one part of its width to another
    tell EXPRESSION     prints its value as JSON
    shot FILE           a picture of all of the page

What the page says in the console, and each request but the one for the page, is printed
as well, and which ones its own policy has blocked.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
           "--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
KEYS = {"Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9}


class Browser:
    """A browser that takes commands, and one page in it."""

    def __init__(self, folder):
        commands, self.to = os.pipe()
        self.answers, told = os.pipe()

        def set_pipes():
            # above what is to be taken, or the second would take the first
            high = [os.dup(fd) for fd in (commands, told)]
            while min(high) < 5:
                high = [os.dup(fd) for fd in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            ["chromium", *OPTIONS, "--user-data-dir=" + folder, "about:blank"], pass_fds=(3, 4),
            preexec_fn=set_pipes, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(told)
        self.rest, self.number, self.session, self.loaded = b"", 0, None, False
        self.requests, self.pages = {}, set()

    def begin(self):
        """A page that shares nothing with those before it."""
        self.requests, self.pages = {}, set()
        self.context = self.ask("Target.createBrowserContext")["browserContextId"]
        target = self.ask("Target.createTarget", url="about:blank",
                          browserContextId=self.context)["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def read(self):
        """The next message."""
        while b"\0" not in self.rest:
            part = os.read(self.answers, 1 << 16)
            if not part:
                sys.exit("chromium has ended; what is wrong says: chromium --headless --no-sandbox about:blank")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        """Prints what no page should do."""
        method, params = message.get("method"), message.get("params", {})
        # of a page that is gone
        if message.get("sessionId") != self.session:
            return
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            print("console", json.dumps(params), flush=True)
        elif method == "Network.requestWillBeSent":
            self.requests[params["requestId"]] = params["request"]["url"].split("#")[0]
        elif method == "Network.loadingFailed" and params.get("blockedReason") == "csp":
            print("blocked", self.requests.pop(params["requestId"]), flush=True)

    def end(self):
        """Prints what was asked for, and leaves the page."""
        for url in self.requests.values():
            if url not in (*self.pages, "data:,", "about:blank"):
                print("request", url, flush=True)
        self.session = None
        self.ask("Target.disposeBrowserContext", browserContextId=self.context)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                sys.exit(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def value(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def open(self, where):
        file, _, link = where.partition("#")
        page, self.loaded = pathlib.Path(file).resolve().as_uri(), False
        self.pages.add(page)
        # a range alone would not load it anew
        self.ask("Page.navigate", url="about:blank")
        while not self.loaded:
            self.note(self.read())
        self.loaded = False
        self.ask("Page.navigate", url=page + ("#" + link if link else ""))
        while not self.loaded:
            self.note(self.read())

    def press(self, key):
        code = {"windowsVirtualKeyCode": KEYS[key]} if key in KEYS else {"text": key}
        if key == "Enter":
            code["text"] = "\r"
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, **code)

    def drag(self, selector, begin, end):
        x, y, width, height = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView();"
            "const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()")
        steps = (("mousePressed", begin), ("mouseMoved", (begin + end) / 2), ("mouseMoved", end),
                 ("mouseReleased", end))
        for kind, part in steps:
            self.ask("Input.dispatchMouseEvent", type=kind, x=x + part * width, y=y + height / 2,
                     button="left", buttons=0 if kind == "mouseReleased" else 1, clickCount=1)

    def shot(self, file):
        picture = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        pathlib.Path(file).write_bytes(base64.b64decode(picture))

    def size(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 600)

    def step(self, words):
        kind, *words = words.split(" ", 1)
        words = words[0] if words else ""
        if kind == "script":
            self.ask("Emulation.setScriptExecutionDisabled", value=words == "off")
        elif kind == "size":
            self.size(*map(int, words.split()))
        elif kind == "theme":
            self.ask("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": words}])
        elif kind == "drag":
            selector, begin, end = words.rsplit(" ", 2)
            self.drag(selector, float(begin), float(end))
        elif kind == "tell":
            print(json.dumps(self.value(words), ensure_ascii=False), flush=True)
        elif kind in ("open", "press", "shot"):
            getattr(self, kind)(words)
        else:
            sys.exit(f"browser.py: {kind} is no step")


def steps(browser, all_words):
    browser.begin()
    for words in all_words:
        browser.step(words)
    browser.end()


def serve(browser):
    all_words = []
    for line in sys.stdin:
        if line != "end\n":
            all_words.append(line.rstrip("\n"))
            continue
        failed = 0
        try:
            steps(browser, all_words)
        except SystemExit as why:
            print(why, flush=True)
            failed = 1
            browser.session = None
        print("end", failed, flush=True)
        all_words = []


def main():
    # a process of it may still write there
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            if len(sys.argv) > 1:
                steps(browser, sys.argv[1:])
            else:
                serve(browser)
            browser.ask("Browser.close")
        finally:
            browser.process.kill()
            browser.process.wait()


main()
