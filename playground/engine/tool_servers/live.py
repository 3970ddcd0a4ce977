"""How a tool server is now, and what is told of it: frozen, made anew with every change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from playground.domain.tool_servers import Frame, Request, ServerPrompt, ServerResource, ServerTool, ToolServer


class State(StrEnum):
    """What a server does."""

    STOPPED = "stopped"
    UNCONFIRMED = "unconfirmed"  # its command line was not confirmed, or is another one now
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a server's log. ``at`` is Unix time in seconds; ``call`` the ticket of its call, empty for none."""

    at: float
    level: str
    logger: str
    text: str
    call: str = ""


@dataclass(frozen=True, slots=True)
class Live:
    """A server as it is now. ``problem`` says why it failed; ``can`` what it is able to do ("tools", "prompts",
    "resources", "subscribe", "completions", "logging"); ``restarts_in`` is in seconds from the change it came with.

    ``tools``, ``prompts`` and ``resources`` (templates among them) are those it listed last, after its end, too.
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
    """Something about a server is different: its state, what it offers, its log."""

    server_id: str


@dataclass(frozen=True, slots=True)
class AskCame:
    """A server asks something of the person."""

    server_id: str
    ask: Request


@dataclass(frozen=True, slots=True)
class AskGone:
    """It was answered, or is not asked any more."""

    server_id: str
    ask_id: str


@dataclass(frozen=True, slots=True)
class FramesCame:
    """Messages went to and from a server, and a notice of those that were too many to be kept."""

    server_id: str
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class ResourceUpdated:
    """A resource that is watched has changed."""

    server_id: str
    uri: str


@dataclass(frozen=True, slots=True)
class SignInWanted:
    """A server wants the person to sign in, on this page of a browser."""

    server_id: str
    url: str


Event: TypeAlias = ServersChanged | AskCame | AskGone | FramesCame | ResourceUpdated | SignInWanted
