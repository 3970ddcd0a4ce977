"""One request as raw bytes over a real socket, for what no well-behaved client sends."""

from __future__ import annotations

import contextlib
import socket
from http.client import HTTPResponse
from typing import NamedTuple
from urllib.parse import urlsplit


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    """With names in lower case."""
    body: bytes


def ask(
    base_url: str,
    method: str,
    target: str,
    headers: list[tuple[str, str]],
    body: bytes = b"",
    version: str = "HTTP/1.1",
) -> Answer:
    """Send exactly these headers (and the length of a body) to the server of ``base_url``; raises OSError, too, when
    it ends the connection without an answer."""
    parts = urlsplit(base_url)
    length = [("Content-Length", str(len(body)))] if body else []
    lines = [f"{method} {target} {version}", *(f"{name}: {value}" for name, value in headers + length)]
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        response = HTTPResponse(connection, method=method)
        try:
            response.begin()
            results = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, results, response.read())
        finally:
            response.close()


def exchange(base_url: str, data: bytes) -> bytes:
    """Send ``data`` over one connection, and return what it sent until it was closed. Raises TimeoutError."""
    parts = urlsplit(base_url)
    received = b""
    with socket.create_connection((parts.hostname, parts.port), timeout=5) as connection:
        connection.sendall(data)
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                received += piece
    return received


#: Hosts that a program of this machine names.
LOOPBACK = ("localhost", "LocalHost.", "localhost:9", "127.0.0.1", "127.0.0.1:80", "127.8.9.10:1", "[::1]", "[::1]:70")
#: Hosts of a web page, and none.
STRANGERS = (
    "evil.example",
    "evil.example:80",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.localhost.",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0.0.0.0:80",
    "[::]:80",
    "192.168.0.7",
    "::1",
    "x@localhost",
    "localhost/",
    "localhost,evil.example",
    "localhost:80:90",
    "lоcalhost".encode().decode("latin-1"),
    "",
    "a" * 3000,
)
