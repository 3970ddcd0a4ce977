"""Tool servers (Model Context Protocol) as values: how one is reached, what it offers, what it answered, what it asks.

What a server says is foreign: texts are as they came, and whoever shows one marks what is hidden in it. The process in
which servers live (``tool_host``) has cut everything to the sizes below before it is one of these.
"""

from __future__ import annotations

import secrets
from enum import StrEnum
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from playground.domain.values import LongText, Value
from playground.jsonkit.values import JSON, JSONObject

LONGEST_TEXT: Final = 2_000_000  # characters of one text in an answer
LONGEST_ANSWER: Final = 8_000_000  # of all of it, pictures and sound in base64 included
LONGEST_WORDS: Final = 20_000  # of a description, a title, a line of a log
MOST_OFFERED: Final = 20_000  # tools, prompts, resources, templates, each
#: Members of what a sign-in gives that are secrets by themselves.
SIGN_IN_SECRETS: Final = frozenset(
    {"access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"}
)


class Via(StrEnum):
    """How a server is reached."""

    STDIO = "stdio"
    HTTP = "http"  # Streamable HTTP
    SSE = "sse"  # the old form of it


class ToolServer(Value):
    """One server as a person sets it up.

    ``name`` tells it from others, in experiments' files as well. ``environment`` and ``headers`` are what may stand in
    a file; ``secret_environment`` and ``secret_headers`` are the names of those whose values are in the keyring. In
    ``arguments`` and ``url``, ``{{secret:NAME}}`` stands for a value in the keyring. ``trusted``: a tool that says it
    only reads may run by itself. ``prefix`` goes before the names of its tools where another server has the same ones,
    or always, where a person typed one. ``roots`` are folders it is told of. ``timeout`` is in seconds for one call,
    without progress meanwhile.
    """

    id: str
    name: str
    via: Via = Via.STDIO
    command: str = ""
    arguments: tuple[str, ...] = ()
    folder: str = ""
    environment: dict[str, str] = Field(default_factory=dict)
    secret_environment: tuple[str, ...] = ()
    url: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    secret_headers: tuple[str, ...] = ()
    oauth: bool = False
    roots: tuple[str, ...] = ()
    prefix: str = ""
    timeout: float = Field(default=60.0, gt=0, le=86_400, allow_inf_nan=False)
    trusted: bool = False
    demo: bool = Field(default=False, exclude=True)


class Hints(Value):
    """What a tool says of itself (``annotations``); None where it says nothing. None of it is to be relied upon."""

    title: str = ""
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class ServerTool(Value):
    """A tool as its server lists it."""

    name: str
    title: str = ""
    description: LongText = ""
    parameters: JSONObject = Field(default_factory=dict)
    output: JSONObject | None = None
    hints: Hints = Hints()


class PromptArgument(Value):
    """An argument of a prompt."""

    name: str
    description: str = ""
    required: bool = False


class ServerPrompt(Value):
    """A prompt that a server offers."""

    name: str
    title: str = ""
    description: LongText = ""
    arguments: tuple[PromptArgument, ...] = ()


class ServerResource(Value):
    """A resource; where ``template`` is true, ``uri`` is a template with ``{names}`` to be filled in (RFC 6570)."""

    uri: str
    name: str = ""
    title: str = ""
    description: LongText = ""
    mime: str = ""
    size: int | None = None
    template: bool = False


class TextBlock(Value):
    """Text of an answer; ``cut`` is how many characters it had where it was too long to be kept whole."""

    kind: Literal["text"] = "text"
    text: LongText
    cut: int = 0


class DataBlock(Value):
    """A picture, sound, or bytes of a resource, as base64; empty, with its size in bytes in ``cut``, if too large."""

    kind: Literal["image", "audio", "blob"]
    data: str
    mime: str = ""
    uri: str = ""
    cut: int = 0


class ResourceBlock(Value):
    """The text of a resource that is part of an answer."""

    kind: Literal["resource"] = "resource"
    uri: str
    text: LongText
    mime: str = ""
    cut: int = 0


class LinkBlock(Value):
    """A resource that is named and not sent along."""

    kind: Literal["link"] = "link"
    uri: str
    name: str = ""
    title: str = ""
    description: LongText = ""
    mime: str = ""
    size: int | None = None


class OtherBlock(Value):
    """A block of a kind that is not known."""

    kind: Literal["other"] = "other"
    value: JSON


Block: TypeAlias = Annotated[
    TextBlock | DataBlock | ResourceBlock | LinkBlock | OtherBlock, Field(discriminator="kind")
]


class ServerAnswer(Value):
    """What a server answered to a call. ``server`` is its name, ``tool`` the name there. ``seconds`` is what it took.

    ``problems`` say where ``structured`` does not fit the output schema; ``lost`` names what was too large to be kept.
    ``recorded``: it was given before, and is given again; its server was not asked.
    """

    server: str
    tool: str
    blocks: tuple[Block, ...] = ()
    structured: JSON = None
    is_error: bool = False
    seconds: float = 0.0
    problems: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    recorded: bool = False


class Message(Value):
    """One message of a prompt, or of what a server wants a model to be asked."""

    role: str
    blocks: tuple[Block, ...] = ()


class Elicitation(Value):
    """A server asks the person. ``form`` is the schema of an object with plain members; with ``url`` it is a page."""

    kind: Literal["elicitation"] = "elicitation"
    id: str
    server: str
    message: LongText
    form: JSONObject = Field(default_factory=dict)
    url: str = ""


class Sampling(Value):
    """A server wants a model to be asked. ``models`` are hints for one, the first the best."""

    kind: Literal["sampling"] = "sampling"
    id: str
    server: str
    messages: tuple[Message, ...] = ()
    system: LongText = ""
    max_tokens: int = 0
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tools: tuple[ServerTool, ...] = ()
    rest: JSONObject = Field(default_factory=dict)


Request: TypeAlias = Annotated[Elicitation | Sampling, Field(discriminator="kind")]


class Frame(Value):
    """One JSON-RPC message on the tape of a server. ``at`` is Unix time in seconds.

    ``text`` is the message as it went over the wire, secrets taken out, cut to what is kept; ``size`` its bytes before
    that. ``call`` is the ticket of the call that it belongs to; empty for none. ``notice`` says what happened to the
    connection, in words, where it is no message: started, died, so many messages not kept.
    """

    server: str
    at: float
    sent: bool
    text: LongText
    size: int
    method: str = ""
    id: str = ""
    call: str = ""
    error: bool = False
    notice: str = ""


def ticket_id(turn_id: str, call_id: str) -> str:
    """An id for a ticket of a call, another one each time it is asked. Frames bear it as ``call``."""
    return f"{secrets.token_hex(8)}/{turn_id}/{call_id}"


def call_of(ticket: str) -> tuple[str, str] | None:
    """The ids of the turn and the call that a ticket is of; None where it is of no call of a turn."""
    _, slash, rest = ticket.partition("/")
    turn_id, found, call_id = rest.partition("/")
    return (turn_id, call_id) if slash and found else None
