"""Snapshots of tool servers and the events that announce a change; all are frozen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from playground.domain.tool_servers import Frame, Request, ServerPrompt, ServerResource, ServerTool, ToolServer


class Subscribers:
    """Callbacks of one kind of notice."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[..., None]] = []

    def add(self, callback: Callable[..., None]) -> Callable[[], None]:
        """Add a callback and return the function that removes it."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    def notify(self, *arguments: Any) -> None:
        """Call all callbacks."""
        for callback in tuple(self._callbacks):
            callback(*arguments)


class State(StrEnum):
    """Connection state of a server."""

    STOPPED = "stopped"
    UNCONFIRMED = "unconfirmed"  # its command line was not confirmed, or has changed since
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a server's log. ``time`` is Unix time in seconds; ``call`` the ticket of its call, empty for none."""

    time: float
    level: str
    logger: str
    text: str
    call: str = ""


@dataclass(frozen=True, slots=True)
class ServerSnapshot:
    """A server's state, offers and log at one moment.

    ``problem`` is the reason of a failure; ``can`` lists the capabilities ("tools", "prompts", "resources",
    "subscribe", "completions", "logging"); ``restarts_in`` is in seconds from the change. ``tools``, ``prompts`` and
    ``resources`` (with templates) are those listed last, also after the server's end.
    """

    server: ToolServer
    state: State = State.STOPPED
    problem: str = ""
    stderr: tuple[str, ...] = ()
    title: str = ""
    version: str = ""
    protocol: str = ""
    instructions: str = ""
    tools: tuple[ServerTool, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()
    resources: tuple[ServerResource, ...] = ()
    log: tuple[LogLine, ...] = ()
    can: frozenset[str] = frozenset()
    restarts_in: float | None = None
    listed: bool = False


@dataclass(frozen=True, slots=True)
class ServersChanged:
    """A server's state, offers or log changed."""

    server_id: str


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """A server sent a request to the person."""

    server_id: str
    ask: Request


@dataclass(frozen=True, slots=True)
class RequestClosed:
    """A request of a server was answered or withdrawn."""

    server_id: str
    ask_id: str


@dataclass(frozen=True, slots=True)
class FramesReceived:
    """Messages were sent to or received from a server; a notice counts those that were dropped."""

    server_id: str
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class ResourceUpdated:
    """A watched resource changed."""

    server_id: str
    uri: str


@dataclass(frozen=True, slots=True)
class SignInWanted:
    """A server needs the person to sign in at ``url`` in a browser."""

    server_id: str
    url: str


Event: TypeAlias = ServersChanged | RequestReceived | RequestClosed | FramesReceived | ResourceUpdated | SignInWanted
