"""Tool servers (Model Context Protocol) as values: configuration, tools, answers, and requests to the client.

Texts of a server are foreign and unmodified; the window marks hidden characters in them. The tool host process
(``tool_host``) has cut everything to the sizes below.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from playground.domain.hints import setting
from playground.domain.values import LongText, Value
from playground.jsonkit.values import JSON, JSONObject

LONGEST_TEXT: Final = 2_000_000  # characters of one text in an answer
LONGEST_ANSWER: Final = 8_000_000  # of all of it, pictures and sound in base64 included
LONGEST_WORDS: Final = 20_000  # of a description, a title, a line of a log
MOST_OFFERED: Final = 20_000  # tools, prompts, resources, templates, each
#: Members of a sign-in response that are secrets.
SIGN_IN_SECRETS: Final = frozenset(
    {"access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"}
)


class Via(StrEnum):
    """The transport of a server."""

    STDIO = "stdio"
    HTTP = "http"  # Streamable HTTP
    SSE = "sse"  # the older HTTP transport


def _needs(what: str) -> Callable[[str], str]:
    """Return the check of a text that must not be empty."""
    return lambda text: "" if text.strip() else f"Enter {what} of the server."


def _is_edited(server: ToolServer) -> bool:
    return not server.demo


def _is_command(server: ToolServer) -> bool:
    return server.via is Via.STDIO and not server.demo


def _is_remote(server: ToolServer) -> bool:
    return server.via is not Via.STDIO


class ToolServer(Value):
    """The configuration of one server.

    ``name`` identifies it, in experiment files as well. ``environment`` and ``headers`` may be written to files;
    ``secret_environment`` and ``secret_headers`` are the names of those whose values are in the keyring. In
    ``arguments`` and ``url``, ``{{secret:NAME}}`` is replaced by a value in the keyring. ``trusted``: tools with a
    read-only hint may run automatically. ``prefix`` is put before the names of its tools if a person has entered one,
    or if another server has the same names. ``roots`` are folders to offer to the server. ``timeout`` is in seconds for
    one call without progress.
    """

    id: str
    name: Annotated[str, setting("&Name", visible_when=_is_edited)]
    via: Annotated[
        Via,
        setting(
            "Connection",
            editor="segments",
            choices=((Via.STDIO.value, "Command"), (Via.HTTP.value, "URL"), (Via.SSE.value, "SSE (old)")),
            visible_when=_is_edited,
        ),
    ] = Via.STDIO
    command: Annotated[
        str,
        setting(
            "&Command",
            placeholder="npx, uvx, docker, or a program",
            visible_when=_is_command,
            check=_needs("the command"),
        ),
    ] = ""
    arguments: Annotated[tuple[str, ...], setting("&Arguments", visible_when=_is_command)] = ()
    folder: Annotated[
        str, setting("Working &folder", editor="folder", placeholder="your home folder", visible_when=_is_command)
    ] = ""
    environment: Annotated[dict[str, str], setting("&Variables", visible_when=_is_command)] = Field(
        default_factory=dict
    )
    secret_environment: tuple[str, ...] = ()
    url: Annotated[
        str,
        setting("&Address", placeholder="https://…/mcp", visible_when=_is_remote, check=_needs("the address")),
    ] = Field(default="", repr=False)
    headers: Annotated[dict[str, str], setting("&Headers", visible_when=_is_remote)] = Field(default_factory=dict)
    secret_headers: tuple[str, ...] = ()
    oauth: Annotated[
        bool,
        setting(
            "Sign in with the browser (OAuth)",
            help="When the server requires it. The sign-in is saved in the keyring. Clear this box and save to "
            "delete it.",
            visible_when=_is_remote,
        ),
    ] = False
    roots: Annotated[tuple[str, ...], setting("&Roots", group="Permissions", after="trusted")] = ()
    prefix: Annotated[
        str,
        setting(
            "&Prefix",
            group="Calls",
            placeholder="none",
            most=32,
            unit="added to the names of its tools if another server has the same names",
            after="timeout",
        ),
    ] = ""
    timeout: Annotated[float, setting("&Time-out", group="Calls", unit="seconds without activity", low=0.1)] = Field(
        default=60.0, gt=0, le=86_400, allow_inf_nan=False
    )
    trusted: Annotated[
        bool,
        setting(
            "Auto-run read-only tools",
            group="Permissions",
            help="Tools declared as read-only run without asking you if their response is “Call server”. Tools "
            "declared as destructive always wait for you. These declarations are not verified.",
        ),
    ] = False
    demo: bool = Field(default=False, exclude=True)


class Hints(Value):
    """The hints of a tool about itself (``annotations``), which may be wrong; None if absent."""

    title: str = ""
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class ServerTool(Value):
    """A tool in the list of its server."""

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
    """A prompt in the list of its server."""

    name: str
    title: str = ""
    description: LongText = ""
    arguments: tuple[PromptArgument, ...] = ()


class ServerResource(Value):
    """A resource; if ``template`` is true, ``uri`` is a template with ``{names}`` to be replaced (RFC 6570)."""

    uri: str
    name: str = ""
    title: str = ""
    description: LongText = ""
    mime: str = ""
    size: int | None = None
    template: bool = False


class TextBlock(Value):
    """Text of an answer; ``cut`` is the original number of characters if it was too long, else 0."""

    kind: Literal["text"] = "text"
    text: LongText
    cut: int = 0


class DataBlock(Value):
    """A picture, sound, or binary resource in base64; if too large, empty with the number of bytes in ``cut``."""

    kind: Literal["image", "audio", "blob"]
    data: str
    mime: str = ""
    uri: str = ""
    cut: int = 0


class ResourceBlock(Value):
    """The text of an embedded resource; ``cut`` as in ``TextBlock``."""

    kind: Literal["resource"] = "resource"
    uri: str
    text: LongText
    mime: str = ""
    cut: int = 0


class LinkBlock(Value):
    """A link to a resource."""

    kind: Literal["link"] = "link"
    uri: str
    name: str = ""
    title: str = ""
    description: LongText = ""
    mime: str = ""
    size: int | None = None


class OtherBlock(Value):
    """A block of an unknown kind."""

    kind: Literal["other"] = "other"
    value: JSON


Block: TypeAlias = Annotated[
    TextBlock | DataBlock | ResourceBlock | LinkBlock | OtherBlock, Field(discriminator="kind")
]


class ServerAnswer(Value):
    """A server's answer to a call. ``tool`` is the server's name of the tool. ``seconds`` is the duration of the call.

    ``problems`` are violations of the output schema by ``structured``; ``lost`` names blocks that were too large.
    ``recorded``: the answer is a recorded one; the server was not asked.
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
    """One message of a prompt or of a sampling request."""

    role: str
    blocks: tuple[Block, ...] = ()


class Elicitation(Value):
    """A server's request to the person: a form with the schema ``form``, or a page at ``url``."""

    kind: Literal["elicitation"] = "elicitation"
    id: str
    server: str
    message: LongText
    form: JSONObject = Field(default_factory=dict)
    url: str = ""


class Sampling(Value):
    """A server's request to a model. ``models`` are hints for its choice, best first."""

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
    """One JSON-RPC message on the tape of a server. ``time`` is Unix time in seconds.

    ``text`` is the message on the wire, redacted and cut; ``size`` is its original number of bytes. ``call`` is the
    ticket of its call; empty for none. ``notice`` describes an event of the connection instead of a message: started,
    died, messages dropped.
    """

    server: str
    time: float
    sent: bool
    text: LongText
    size: int
    method: str = ""
    id: str = ""
    call: str = ""
    error: bool = False
    notice: str = ""


def ticket_id(turn_id: str, call_id: str) -> str:
    """Return a new ticket for one execution of a call; frames have it as ``call``."""
    return f"{secrets.token_hex(8)}/{turn_id}/{call_id}"


def call_of(ticket: str) -> tuple[str, str] | None:
    """Return the ids of the turn and the call of a ticket; None if it has none."""
    _, slash, rest = ticket.partition("/")
    turn_id, second_slash, call_id = rest.partition("/")
    return (turn_id, call_id) if slash and second_slash else None
