"""A client of tombi's language server, as an editor is one."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class Editor:
    """An editor with a folder open."""

    def __init__(self, program: Path, folder: Path) -> None:
        """Start the server."""
        self.folder = folder
        self.asked = 0
        self.server = subprocess.Popen(
            [str(program), "lsp", "--offline"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        place = {"uri": folder.as_uri(), "name": "scenarios"}
        start: dict[str, Any] = {"processId": None, "rootUri": place["uri"], "capabilities": {}}
        self._request("initialize", {**start, "workspaceFolders": [place]})
        self._send(method="initialized", params={})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.kill()
        self.server.communicate()

    def complete(self, text: str) -> dict[str, str]:
        """The completions at the bar in the text, with its documentation."""
        before, _, after = text.partition("|")
        uri = (self.folder / f"scenario-{self.asked}.toml").as_uri()
        document = {"uri": uri, "languageId": "toml", "version": 1, "text": before + after}
        self._send(method="textDocument/didOpen", params={"textDocument": document})
        line, column = before.count("\n"), len(before) - before.rfind("\n") - 1
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
        items: list[dict[str, Any]] = []
        # A document that was just opened may not have its schema yet.
        for _ in range(50):
            found = self._request("textDocument/completion", place)
            items = found["items"] if isinstance(found, dict) else found or []
            if items:
                break
            time.sleep(0.2)
        return {item["label"]: (item.get("documentation") or {}).get("value", "") for item in items}

    def _request(self, method: str, params: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        self.asked += 1
        self._send(id=self.asked, method=method, params=params)
        while True:
            message = self._receive()
            if "method" not in message and message.get("id") == self.asked:
                return message["result"]
            if "method" in message and "id" in message:
                self._send(id=message["id"], result=None)

    def _send(self, **message: Any) -> None:  # noqa: ANN401 - JSON
        assert self.server.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.server.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self.server.stdout
        length = 0
        while line := self.server.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the server has ended"
        message: dict[str, Any] = json.loads(self.server.stdout.read(length))
        return message
