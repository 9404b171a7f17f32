"""Debian's Chromium without a window, driven over its own protocol (CDP) through a pipe.

https://chromedevtools.github.io/devtools-protocol/ names the methods and events.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium")
SECONDS = 60.0
"""Longest wait for an answer: the machine may be busy."""


class Page:
    """A page in the browser, and what it complained about."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, receive
        self._buffer = b""
        self._number = 0
        self._session = ""
        self.complaints: list[str] = []
        """Errors and warnings on the console, exceptions, and entries of the browser's log."""
        self.requests: list[str] = []
        """Addresses that the page asked for."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: object) -> Any:  # noqa: ANN401 - JSON
        """The answer of a method of the protocol."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        """The next message; an event is noted too."""
        end = time.monotonic() + SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._receive], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self._receive, 1 << 20)
            assert data, "the browser has gone"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        params = message.get("params", {})
        match message.get("method"):
            case "Runtime.consoleAPICalled" if params["type"] in {"error", "warning", "assert"}:
                self.complaints.append(str(params["args"]))
            case "Runtime.exceptionThrown":
                self.complaints.append(str(params["exceptionDetails"]))
            case "Log.entryAdded":
                self.complaints.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
        return message

    def open(self, file: Path, width: int, height: int) -> None:
        """Show a file in a window of that size, in CSS pixels, and wait until it is drawn."""
        size: dict[str, Any] = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", mobile=width < 600, **size)
        self.call("Page.navigate", url=file.resolve().as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def value(self, expression: str) -> Any:  # noqa: ANN401 - JSON
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def screenshot(self, *, whole: bool = False) -> bytes:
        """The visible part, or the whole page, as PNG."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(answer["data"])

    def pdf(self) -> bytes:
        """The page on paper."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"])


@contextmanager
def page() -> Iterator[Page]:
    """A page of a browser of its own, which ends with the block."""
    assert PROGRAM is not None
    with tempfile.TemporaryDirectory(prefix="airfair-browser-") as folder:
        to_browser, send = os.pipe()
        receive, from_browser = os.pipe()

        def connect() -> None:
            """The protocol is spoken at descriptors 3 and 4. Pipes may lie there already: move them first."""
            high = os.dup(to_browser), os.dup(from_browser)
            while min(high) <= 4:
                high = os.dup(high[0]), os.dup(high[1])
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        command += [
            "--no-first-run",
            "--hide-scrollbars",
            f"--user-data-dir={folder}",
            "--remote-debugging-pipe",
        ]
        browser = subprocess.Popen(
            command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=connect, close_fds=False
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Page(send, receive)
        finally:
            os.close(send)  # it ends when nobody speaks to it any more
            os.close(receive)
            try:
                browser.wait(10)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()
