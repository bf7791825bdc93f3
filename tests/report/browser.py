"""A headless Chromium driven over its DevTools protocol, with the standard library only."""
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
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
START_S, ANSWER_S = 60, 60


def find():
    """The browser's path, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Socket:
    """The client's side of one WebSocket, as far as DevTools needs it."""

    def __init__(self, url):
        host, _, path = url.removeprefix("ws://").partition("/")
        name, _, port = host.partition(":")
        self.socket = socket.create_connection((name, int(port)), timeout=ANSWER_S)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += self.take(1)
        if b" 101 " not in answer.split(b"\r\n")[0]:
            raise OSError(f"no WebSocket: {answer!r}")

    def take(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise OSError("the browser hung up")
            data += part
        return data

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        head = b"\x81" + (bytes([0x80 | size]) if size < 126 else struct.pack(">BH", 0x80 | 126, size) if size < 65536
                          else struct.pack(">BQ", 0x80 | 127, size))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        text = b""
        while True:
            first, second = self.take(2)
            size = second & 0x7f
            if size >= 126:
                size = struct.unpack(">H", self.take(2))[0] if size == 126 else struct.unpack(">Q", self.take(8))[0]
            data = self.take(size)
            if first & 0x0f == 8:
                raise OSError("the browser closed the connection")
            if first & 0x0f in (0, 1):
                text += data
                if first & 0x80:
                    return text.decode()


class Browser:
    """One page. `problems` collects what the console and the log say."""

    def __init__(self, path):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0", "--no-first-run",
             f"--user-data-dir={self.folder.name}", "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        try:
            port = self.wait_for_port()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=ANSWER_S) as answer:
                page = next(t for t in json.load(answer) if t["type"] == "page")
            self.socket = Socket(page["webSocketDebuggerUrl"])
        except BaseException:
            self.close()
            raise
        self.number, self.events, self.problems = 0, [], []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def wait_for_port(self):
        file, end = Path(self.folder.name) / "DevToolsActivePort", time.monotonic() + START_S
        while time.monotonic() < end:
            if file.exists() and (lines := file.read_text().split()):
                return int(lines[0])
            if self.process.poll() is not None:
                raise OSError(f"the browser ended with {self.process.returncode}")
            time.sleep(0.05)
        raise OSError("the browser did not start in time")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def take_event(self):
        message = json.loads(self.socket.receive())
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(values["exceptionDetails"]["text"])
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.problems.append(values["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.problems.append(str(values["args"]))
        if method:
            self.events.append(method)
        return message

    def call(self, method, **values):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": values}))
        while True:
            message = self.take_event()
            if message.get("id") == self.number:
                if "error" in message:
                    raise OSError(f"{method}: {message['error']}")
                return message["result"]

    def open(self, file, width=1280, height=900, dark=False, medium="screen", scripts=True):
        """Returns when the page is loaded and painted. `scripts`: whether the page's own may run."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=medium,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.call("Page.navigate", url=Path(file).resolve().as_uri())
        while "Page.loadEventFired" not in self.events:
            self.take_event()

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise OSError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press(self, key, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, file, clip=None):
        """The whole page, or `clip`: x, y, width, height."""
        more = {"clip": {**clip, "scale": 1}} if clip else {}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, **more)["data"]
        Path(file).write_bytes(base64.b64decode(data))

    def pdf(self, file):
        Path(file).write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]))
