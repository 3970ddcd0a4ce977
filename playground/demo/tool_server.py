"""The demo's tool server: a real server of the Model Context Protocol with one tool for each kind of answer and hint.

It speaks over standard input and output, or over HTTP on a loopback port, in a process of its own. Its clock is this
computer's, its dice are random, and its notes live as long as the process: it touches no disk and no network. Only
this module needs the protocol's library, which is slow to load; the demo gateway works without it.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import warnings
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Final
from urllib.parse import quote

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Audio, Context, Image, MCPServer, UserMessage
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field

from playground import __version__
from playground.demo import tool_media
from playground.demo.server import listen

_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_MAX_NOTES: Final = 100
_MAX_SUBSCRIPTIONS: Final = 100
_TONES: Final = ("plain", "cheerful", "formal", "like a pirate")
_NOTES_URI: Final = "notes://all"
_NOTE_URI: Final = "notes://note/{title}"
_READS: Final = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES: Final = types.ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False)
_DESTROYS: Final = types.ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True)
_INSTRUCTIONS: Final = (
    "Tools to try: a clock, dice, notes that are kept until this server ends, and one tool for each thing that can "
    "happen. Nothing they do leaves this process."
)
_BOOKING: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 60},
        "email": {"type": "string", "title": "E-mail", "format": "email"},
        "guests": {"type": "integer", "title": "Guests", "minimum": 1, "maximum": 12, "default": 2},
        "day": {
            "type": "string",
            "title": "Day",
            "enum": ["friday", "saturday", "sunday"],
            "enumNames": ["Friday", "Saturday", "Sunday"],
            "default": "saturday",
        },
        "window": {"type": "boolean", "title": "By the window", "default": True},
    },
    "required": ["name", "guests"],
}

Title = Annotated[str, Field(description="Title of a note", min_length=1, max_length=80)]

_notes: Final = {
    "Welcome": "These notes live in the demo's tool server.",
    "Shopping": "Bread, apples, a *large* pot of honey.",
}
_subscriptions: list[tuple[str, ServerSession]] = []
_log_level: list[str] = ["info"]


async def _complete_protocol(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
    """Serve the log level and subscriptions of versions before 2026-07-28, and list strict schemas of tools."""
    params = ctx.params or {}
    older = ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS
    if older and ctx.method in ("resources/subscribe", "resources/unsubscribe"):
        uri = str(params.get("uri"))
        _subscriptions[:] = [entry for entry in _subscriptions if entry != (uri, ctx.session)]
        if ctx.method == "resources/subscribe":
            _subscriptions[:] = [*_subscriptions, (uri, ctx.session)][-_MAX_SUBSCRIPTIONS:]
        return {}
    if older and ctx.method == "logging/setLevel":
        if params.get("level") not in _LEVELS:
            raise MCPError(types.INVALID_PARAMS, f"The level must be one of {', '.join(_LEVELS)}.")
        _log_level[:] = [params["level"]]
        return {}
    result = await call_next(ctx)
    if isinstance(result, dict) and ctx.method == "tools/list":
        for tool in result["tools"]:
            tool |= {name: _strict_schema(tool[name]) for name in ("inputSchema", "outputSchema") if name in tool}
    if isinstance(result, dict) and "capabilities" in result:
        capabilities = result["capabilities"]
        capabilities["logging"] = {}
        capabilities["tools"] |= {"listChanged": True}
        capabilities["resources"] |= {"subscribe": True}
    return result


def _strict_schema(schema: Any) -> Any:
    """Return a JSON schema without pydantic's titles and without additional properties."""
    if not isinstance(schema, dict):
        return schema
    titles = [name for name, value in schema.items() if name == "title" and isinstance(value, str)]
    members = {name: _strict_schema(value) for name, value in schema.items() if name not in titles}
    return members | ({"additionalProperties": False} if schema.get("type") == "object" else {})


server: Final = MCPServer(
    "gateway-playground-demo",
    title="Demo tools",
    version=__version__,
    instructions=_INSTRUCTIONS,
    log_level="CRITICAL",
    middleware=[_complete_protocol],
)


class Clock(BaseModel):
    date: Annotated[str, Field(json_schema_extra={"format": "date"})]
    time: Annotated[str, Field(description="Hours, minutes and seconds")]
    weekday: str
    zone: Annotated[str, Field(description="Offset from UTC, such as +02:00")]


class Rolled(BaseModel):
    rolled: list[int]
    sum: int


class NoteTitles(BaseModel):
    titles: list[str]


class Quotient(BaseModel):
    quotient: float


@server.tool(title="Clock", annotations=_READS)
async def clock() -> Clock:
    """The date and time of this computer, with its time zone."""
    now = datetime.now().astimezone()
    weekday = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[now.weekday()]
    return Clock(date=f"{now:%Y-%m-%d}", time=f"{now:%H:%M:%S}", weekday=weekday, zone=now.isoformat()[-6:])


@server.tool(title="Roll dice", annotations=_READS)
async def roll_dice(
    count: Annotated[int, Field(description="How many dice", ge=1, le=20)] = 2,
    sides: Annotated[int, Field(description="Sides of each", ge=2, le=100)] = 6,
) -> Rolled:
    """Roll dice. What falls is chance and differs each time."""
    rolled = [random.SystemRandom().randint(1, sides) for _ in range(count)]
    return Rolled(rolled=rolled, sum=sum(rolled))


@server.tool(title="List notes", annotations=_READS)
async def list_notes() -> NoteTitles:
    """The titles of all notes. Notes are kept until this server ends."""
    return NoteTitles(titles=list(_notes))


@server.tool(title="Read a note", annotations=_READS)
async def read_note(title: Title) -> types.EmbeddedResource:
    """One note, as a resource."""
    return _embedded(title, _note(title))


@server.tool(title="Add a note", annotations=_WRITES)
async def add_note(
    title: Title, text: Annotated[str, Field(description="The note", max_length=4000)], context: Context
) -> list[str | types.ResourceLink]:
    """Keep a note. One of the same title is not replaced."""
    if title in _notes:
        raise ToolError(f"There is a note with the title {title!r} already.")
    if len(_notes) >= _MAX_NOTES:
        raise ToolError(f"There are {_MAX_NOTES} notes already. Delete one first.")
    _notes[title] = text
    await _log(context, "info", {"added": title, "notes": len(_notes)})
    await _notify_notes_changed(context)
    link = types.ResourceLink(type="resource_link", uri=_uri(title), name=title, mime_type="text/markdown")
    return [f"Kept as {title!r}.", link]


@server.tool(title="Delete a note", annotations=_DESTROYS, structured_output=False)
async def delete_note(title: Title, context: Context) -> str:
    """Delete a note for good."""
    _note(title)
    del _notes[title]
    await _log(context, "warning", {"deleted": title, "notes": len(_notes)})
    await _notify_notes_changed(context)
    return f"Deleted {title!r}."


@server.tool(title="Count slowly", annotations=_READS, structured_output=False)
async def count_slowly(
    context: Context,
    to: Annotated[int, Field(description="Where to end", ge=1, le=1000)] = 10,
    pause: Annotated[float, Field(description="Seconds a step", ge=0, le=10)] = 0.5,
) -> str:
    """Count up to a number, with a pause at each step; tells its progress and writes to its log."""
    for number in range(1, to + 1):
        await anyio.sleep(pause)
        await context.report_progress(number, to, f"{number} of {to}")
        await _log(context, "info" if number % 10 == 0 or number == to else "debug", f"counted to {number}")
    return f"Counted to {to}."


@server.tool(title="Draw a chart", annotations=_READS)
async def draw_chart(
    values: Annotated[
        list[Annotated[float, Field(ge=0, le=1e12)]],
        Field(description="Heights of the bars, 0 or more", min_length=1, max_length=24),
    ],
) -> list[str | Image]:
    """A bar chart as a picture."""
    return [f"A chart of {len(values)} values.", Image(data=tool_media.bar_chart(values), format="png")]


@server.tool(title="Play a tone", annotations=_READS)
async def play_tone(
    hertz: Annotated[float, Field(description="Its pitch", ge=50, le=2000)] = 440,
) -> list[str | Audio]:
    """A short tone as sound."""
    return [f"A tone of {hertz:g} Hz.", Audio(data=tool_media.tone(hertz, 0.6), format="wav")]


@server.tool(title="Divide", annotations=_READS)
async def divide(dividend: float, divisor: float) -> Quotient:
    """Divide one number by another. Fails, as a tool does, if that is 0."""
    try:
        return Quotient(quotient=dividend / divisor)
    except (ZeroDivisionError, OverflowError) as error:
        raise ToolError(f"This cannot be divided: {error}.") from None


@server.tool(title="Book a table", annotations=_WRITES)
async def book_table(
    context: Context, restaurant: Annotated[str, Field(max_length=80)] = "The Demo"
) -> types.CallToolResult | types.InputRequiredResult:
    """Book a table in a restaurant that does not exist. Asks the person for what is missing."""
    message = f"A table at {restaurant}: what shall I tell them?"
    form = types.ElicitRequestFormParams(message=message, requested_schema=_BOOKING)
    answer = await _ask_client(context, "table", types.ElicitRequest(params=form), types.ElicitResult)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    if answer.action != "accept":
        return _text_result(f"No table was booked: the person chose to {answer.action}.")
    booking = json.dumps(answer.content or {}, ensure_ascii=False)
    return _text_result(f"Booked at {restaurant} (not really): {booking}")


@server.tool(title="Sum up the notes", annotations=_READS)
async def sum_up_notes(
    context: Context, words: Annotated[int, Field(description="At most so many words", ge=5, le=200)] = 30
) -> types.CallToolResult | types.InputRequiredResult:
    """Have a model sum up the notes; it is asked through you."""
    notes = "\n\n".join(f"# {title}\n{text}" for title, text in _notes.items())
    prompt = types.TextContent(type="text", text=f"Sum up these notes in at most {words} words.\n\n{notes}")
    request = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=prompt)],
            system_prompt="You sum up notes. You say nothing else.",
            max_tokens=400,
            temperature=0.2,
            model_preferences=types.ModelPreferences(hints=[types.ModelHint(name="demo")], speed_priority=0.8),
        )
    )
    answer = await _ask_client(context, "summary", request, types.CreateMessageResult)
    if isinstance(answer, types.InputRequiredResult):
        return answer
    content = answer.content if isinstance(answer.content, list) else [answer.content]
    summary = "\n".join(block.text for block in content if isinstance(block, types.TextContent))
    return _text_result(f"{answer.model} says: {summary}")


@server.tool(title="More tools", annotations=_WRITES, structured_output=False)
async def more_tools(on: Annotated[bool, Field(description="Whether to offer it")], context: Context) -> str:
    """Offer one more tool from now on, or no longer: the list of tools changes."""
    if on:
        server.add_tool(surprise, title="Surprise", annotations=_READS, structured_output=False)
    elif any(tool.name == "surprise" for tool in await server.list_tools()):
        server.remove_tool("surprise")
    await context.notify_tools_changed()
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        await context.session.send_tool_list_changed()
    return "There is one more tool." if on else "It is gone."


async def surprise() -> str:
    """Is offered only after more_tools was called."""
    return "Surprise!"


@server.prompt(title="Try the tools", description="A request that makes a model use several tools.")
async def try_me() -> str:
    return "What time is it here? Then roll three dice, and keep what fell as a note called Dice."


@server.prompt(title="Explain a note", description="A request to explain a note in a tone, with the note attached.")
async def explain(
    title: Annotated[str, Field(description="Title of the note")],
    tone: Annotated[str, Field(description=f"Such as {', '.join(_TONES)}")] = "plain",
) -> list[UserMessage]:
    if title not in _notes:
        raise MCPError(types.INVALID_PARAMS, f"There is no note with the title {title!r}.")
    request = f"Explain this note to me, in a {tone or 'plain'} tone."
    return [UserMessage(request), UserMessage(_embedded(title, _notes[title]))]


@server.resource(
    _NOTES_URI, name="notes", title="All notes", description="Changes with each note.", mime_type="text/markdown"
)
async def all_notes() -> str:
    return "\n\n".join(f"# {title}\n\n{text}" for title, text in _notes.items())


@server.resource("demo://picture", name="picture", title="A picture", description="A bar chart.", mime_type="image/png")
async def picture() -> bytes:
    return tool_media.bar_chart((28, 17, 9, 22, 14))


@server.resource(_NOTE_URI, name="note", title="One note", description="By its title.", mime_type="text/markdown")
async def one_note(title: str) -> str:
    if title not in _notes:
        raise ResourceNotFoundError(f"There is no note with the title {title!r}.")
    return _notes[title]


@server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
async def complete(
    _reference: types.PromptReference | types.ResourceTemplateReference,
    argument: types.CompletionArgument,
    _context: types.CompletionContext | None,
) -> types.Completion:
    values = _TONES if argument.name == "tone" else tuple(_notes)
    matches = [value for value in values if value.lower().startswith(argument.value.lower())]
    return types.Completion(values=matches[:100], total=len(matches), has_more=False)


async def _ask_client(context: Context, key: str, request: Any, result_type: type[Any]) -> Any:
    """Return the client's answer to ``request``, or a result that has it call again with the answer under ``key``."""
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answer = (context.input_responses or {}).get(key)
        return types.InputRequiredResult(input_requests={key: request}) if answer is None else answer
    metadata = ServerMessageMetadata(related_request_id=context.request_context.request_id)
    try:
        return await context.session.send_request(request, result_type, metadata=metadata)
    except MCPError as error:
        raise ToolError(f"The client did not do what was asked of it: {error}") from None


async def _notify_notes_changed(context: Context) -> None:
    await context.notify_resource_updated(_NOTES_URI)
    for uri, session in _subscriptions:
        if uri == _NOTES_URI:
            with contextlib.suppress(Exception):  # the connection may be closed
                await session.send_resource_updated(uri)


async def _log(context: Context, level: types.LoggingLevel, data: Any) -> None:
    sets_level_per_call = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    if sets_level_per_call or _LEVELS.index(level) >= _LEVELS.index(_log_level[0]):
        await context.session.send_log_message(level, data, "demo", context.request_context.request_id)


def _note(title: str) -> str:
    if title not in _notes:
        raise ToolError(f"There is no note with the title {title!r}.")
    return _notes[title]


def _embedded(title: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=_uri(title), text=text, mime_type="text/markdown")
    return types.EmbeddedResource(type="resource", resource=contents)


def _uri(title: str) -> str:
    return _NOTE_URI.replace("{title}", quote(title, safe=""))


def _text_result(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def serve(port: int | None, announce: Callable[[str], None]) -> None:
    """Serve until standard input ends or, with a ``port`` (0 for a free one), until interrupted.

    ``announce`` receives the address, or a hint for a person. Raises OSError when the port cannot be used.
    """
    warnings.filterwarnings("ignore", category=MCPDeprecationWarning)  # older clients have no other way
    if port is not None:
        _serve_http(port, announce)
        return
    if sys.stdin.isatty():
        announce(
            "This is a tool server: a client starts it, and speaks with it over its standard input. Ctrl+C ends it."
        )
    try:
        anyio.run(server.run_stdio_async)
    except KeyboardInterrupt:
        os._exit(130)  # the thread that reads standard input would hold the process until a key is pressed


def _serve_http(port: int, announce: Callable[[str], None]) -> None:
    import uvicorn

    from playground.demo.framing import RefusesAmbiguousLength

    listener = listen("127.0.0.1", port)
    application = RefusesAmbiguousLength(server.streamable_http_app())
    config = uvicorn.Config(application, http="h11", ws="none", log_level="critical", access_log=False, log_config=None)
    announce(f"Demo tool server at http://127.0.0.1:{listener.getsockname()[1]}/mcp. Ctrl+C ends it.")
    with listener, contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
