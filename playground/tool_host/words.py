"""Failures of servers in words for people."""

from __future__ import annotations

import signal
from urllib.parse import urlsplit

import httpx2
from mcp.shared.exceptions import MCPError

from playground.domain.tool_servers import ToolServer, Via

_LONGEST = 600  # characters of a library's message


class FaultError(Exception):
    """A request to a server brought no answer. The text is for people."""


def fault_words(error: BaseException, server: ToolServer) -> str:
    """Return why there is no connection."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, FileNotFoundError) and server.via == Via.STDIO:
        return f"“{server.command}” was not found. It has to be installed, and in the PATH of this computer."
    if isinstance(error, PermissionError) and server.via == Via.STDIO:
        return f"“{server.command}” cannot be started: this computer does not allow it."
    if isinstance(error, OSError) and server.via == Via.STDIO:
        file = f" ({error.filename})" if error.filename else ""
        return f"“{server.command}” could not be started: {error.strerror or error}{file}."
    if isinstance(error, MCPError):
        return f"The server refused: {error.message[:_LONGEST]} (code {error.code})."
    if isinstance(error, httpx2.HTTPStatusError):
        return f"The server refused: HTTP {error.response.status_code} {error.response.reason_phrase}."
    if isinstance(error, httpx2.TimeoutException):
        return f"{_host(server)} did not answer in time. Is the address right?"
    if isinstance(error, httpx2.TransportError):
        message = str(error)[:_LONGEST] or type(error).__name__
        return f"There is no connection to {_host(server)} ({message}). Does the server run, and is the address right?"
    return (str(error) or type(error).__name__)[:_LONGEST]


def _host(server: ToolServer) -> str:
    try:
        parts = urlsplit(server.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or "the server"
    except ValueError:
        return "the server"


def exit_words(code: int | None) -> str:
    """Return how a process ended; its exit code is None while it runs."""
    if code is None:
        return "The server closed its output."
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"The server was ended by {name}."
    return f"The server ended by itself, with exit code {code}."
