"""Bytes to a server over one connection, and all that it answers until it closes."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit


def exchange(url: str, data: bytes, seconds: float = 5.0) -> bytes:
    """Send ``data`` to the server of ``url``. Returns what came until it closed. Raises TimeoutError where it does not."""
    parts = urlsplit(url)
    received = b""
    with socket.create_connection((parts.hostname, parts.port), seconds) as connection:
        connection.sendall(data)
        try:
            while piece := connection.recv(65536):
                received += piece
        except ConnectionResetError:
            pass
    return received


def request(*headers: str, body: bytes = b"", path: str = "/v1/chat/completions", version: str = "1.1") -> bytes:
    """A POST of JSON with these headers besides."""
    lines = [f"POST {path} HTTP/{version}", "Host: 127.0.0.1", "Content-Type: application/json", *headers, "", ""]
    return "\r\n".join(lines).encode() + body
