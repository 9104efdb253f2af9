"""A headless Chromium, driven over its devtools protocol with nothing but Python's own library.

    with Browser(program) as page:
        page.open("file:///tmp/report.html")
        page.evaluate("document.title")
        page.screenshot("page.png", 1400, 900)

`page.problems` holds what the page complained about: console errors, exceptions, failed or blocked loads.
"""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


class WebSocket:
    """The client's half of RFC 6455, as far as one local peer needs it."""

    def __init__(self, url, timeout):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.read()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(head.decode(errors="replace"))

    def read(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise RuntimeError("the browser closed the connection")
        return data

    def take(self, count):
        while len(self.buffer) < count:
            self.buffer += self.read()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        if len(data) < 126:
            head = struct.pack("!BB", 0x81, 0x80 | len(data))
        elif len(data) < 65536:
            head = struct.pack("!BBH", 0x81, 0xFE, len(data))
        else:
            head = struct.pack("!BBQ", 0x81, 0xFF, len(data))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        text = b""
        while True:
            first, second = self.take(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack("!H", self.take(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self.take(8))
            payload = self.take(length)
            if first & 0x0F in (0, 1, 2):
                text += payload
                if first & 0x80:
                    return text.decode()


class Browser:
    def __init__(self, program, timeout=60):
        self.program = program
        self.timeout = timeout
        self.problems = []
        self.number = 0

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="ptxbench-browser.")
        options = ["--headless=new", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0",
                   f"--user-data-dir={self.home}", "--disable-background-networking", "--hide-scrollbars",
                   "--disable-dev-shm-usage", "--force-device-scale-factor=1"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        self.child = subprocess.Popen([self.program, *options, "about:blank"], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
        try:
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def connect(self):
        place = os.path.join(self.home, "DevToolsActivePort")
        end = time.monotonic() + self.timeout
        while not os.path.exists(place) or not open(place, encoding="ascii").read().strip():
            if time.monotonic() > end or self.child.poll() is not None:
                raise RuntimeError("the browser did not start")
            time.sleep(0.05)
        port = open(place, encoding="ascii").read().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=self.timeout) as answer:
            pages = [p for p in json.load(answer) if p["type"] == "page"]
        self.socket = WebSocket(pages[0]["webSocketDebuggerUrl"], self.timeout)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.problems.append("a request to " + url)

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"].get("exception", result)))
        return result["result"].get("value")

    def open(self, url):
        self.call("Page.navigate", url=url)
        end = time.monotonic() + self.timeout
        while self.evaluate("location.href") == "about:blank" or self.evaluate("document.readyState") != "complete":
            if time.monotonic() > end:
                raise RuntimeError(url + " did not load")
            time.sleep(0.05)

    def mouse(self, x, y, kind="mouseMoved"):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if kind != "mouseMoved" else "none",
                  clickCount=1 if kind != "mouseMoved" else 0)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self, path, clip=None):
        options = {"format": "png"}
        if clip:
            options["clip"] = dict(zip(("x", "y", "width", "height"), clip), scale=1)
            options["captureBeyondViewport"] = True
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", **options)["data"]))
