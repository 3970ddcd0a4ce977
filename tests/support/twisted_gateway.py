"""A gateway that does all that the demo does but for one thing: requests and answers go through a function each."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

#: Looks at a path and a body; gives a status and what to answer instead of asking on, or None.
Refuse = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]] | None]
#: Changes a body before it is asked on.
Ask = Callable[[dict[str, Any]], dict[str, Any]]
#: Changes an answer: its content type and its bytes.
Answer = Callable[[str, bytes], tuple[str, bytes]]


def refuse_nothing(_path: str, _body: dict[str, Any]) -> None:
    return None


def ask_as_it_is(body: dict[str, Any]) -> dict[str, Any]:
    return body


def answer_as_it_is(content_type: str, data: bytes) -> tuple[str, bytes]:
    return content_type, data


class TwistedGateway:
    """Serves ``url`` while it is entered, in front of the gateway at ``behind``. ``asked`` are the bodies that came."""

    def __init__(
        self,
        behind: str,
        *,
        refuse: Refuse = refuse_nothing,
        ask: Ask = ask_as_it_is,
        answer: Answer = answer_as_it_is,
    ) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        where = urlsplit(behind)
        host, port, base = where.hostname or "", where.port, where.path
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._pass(b"", {})

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["content-length"]))
                body = json.loads(data)
                outer.asked.append(body)
                outer.keys.append(self.headers.get("authorization", ""))
                refused = refuse(self.path, body)
                if refused is not None:
                    self._give(refused[0], "application/json", json.dumps(refused[1]).encode())
                    return
                self._pass(json.dumps(ask(body)).encode(), body)

            def _pass(self, data: bytes, _body: dict[str, Any]) -> None:
                connection = HTTPConnection(host, port or 80, timeout=30)
                headers = {"content-type": "application/json"}
                if key := self.headers.get("authorization"):
                    headers["authorization"] = key
                connection.request(self.command, base + self.path, data or None, headers)
                result = connection.getresponse()
                content_type, answered = answer(result.headers.get("content-type", ""), result.read())
                connection.close()
                self._give(result.status, content_type, answered)

            def _give(self, status: int, content_type: str, data: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
