"""The demo's tool server: a real one to try against, of the Model Context Protocol, with every kind of thing in it.

It speaks over standard input and output, or over HTTP on a loopback port. What it offers is in ``tool_offers``. Its
clock is this computer's, its dice are chance, and its notes live as long as it does: nothing of a disk or a network is
touched. It is a process of its own, like any tool server; only this module and ``tool_offers`` know the protocol's
library, which is dear to load, and the demo gateway does without both.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import random
import sys
import warnings
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, unquote

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.subscriptions import ResourceUpdated, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from playground.demo import tool_media, tool_offers
from playground.demo.server import listen
from playground.jsonkit.validation import check_value

_Context = ServerRequestContext[Any]
_Answer = types.CallToolResult | types.InputRequiredResult
_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_MOST_NOTES: Final = 100
_MOST_WATCHING: Final = 100
_SHARE: Final = (28, 17, 9, 22, 14)
_INSTRUCTIONS: Final = (
    "Tools to try: a clock, dice, notes that are kept until this server ends, and one tool for each thing that can "
    "happen. Nothing they do leaves this process."
)


class _ToolError(Exception):
    """A call that failed in a way the model may be told."""


class ToolServer:
    """The server: its notes, and what it does for whom."""

    def __init__(self) -> None:
        self._notes = {
            "Welcome": "These notes live in the demo's tool server.",
            "Shopping": "Bread, apples, a *large* pot of honey.",
        }
        self._surprise = False
        self._level = 1
        self._watching: list[tuple[str, ServerSession]] = []
        self._bus = InMemorySubscriptionBus()
        self._tools: dict[str, Callable[[_Context, types.CallToolRequestParams, dict[str, Any]], Any]] = {
            "clock": self._clock,
            "roll_dice": self._roll_dice,
            "list_notes": self._list_notes,
            "read_note": self._read_note,
            "add_note": self._add_note,
            "delete_note": self._delete_note,
            "count_slowly": self._count_slowly,
            "draw_chart": self._draw_chart,
            "play_tone": self._play_tone,
            "divide": self._divide,
            "book_table": self._book_table,
            "sum_up_notes": self._sum_up_notes,
            "more_tools": self._more_tools,
            "surprise": self._say_surprise,
        }

    def server(self) -> Server[dict[str, Any]]:
        """What speaks the protocol, for one process."""
        from playground import __version__

        server = _Announcing(
            "gateway-playground-demo",
            version=__version__,
            title="Demo tools",
            instructions=_INSTRUCTIONS,
            on_list_tools=self._offer_tools,
            on_call_tool=self._call,
            on_list_prompts=self._offer_prompts,
            on_get_prompt=self._prompt,
            on_list_resources=self._offer_resources,
            on_list_resource_templates=self._offer_templates,
            on_read_resource=self._read,
            on_subscribe_resource=self._watch,
            on_unsubscribe_resource=self._unwatch,
            on_subscriptions_listen=ListenHandler(self._bus),
            on_completion=self._complete,
        )
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_level)
        return server

    # Tools

    async def _offer_tools(self, _context: _Context, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[*tool_offers.TOOLS, *([tool_offers.SURPRISE] if self._surprise else [])])

    async def _call(self, context: _Context, params: types.CallToolRequestParams) -> _Answer:
        offered = (await self._offer_tools(context, None)).tools
        tool = next((tool for tool in offered if tool.name == params.name), None)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name!r} here.")
        arguments = params.arguments or {}
        problems = check_value(arguments, tool.input_schema)
        if problems:
            return _failed("\n".join(f"{problem.where or 'arguments'}: {problem.message}" for problem in problems))
        members = tool.input_schema["properties"].items()
        defaults = {name: member["default"] for name, member in members if "default" in member}
        try:
            answer: _Answer = await self._tools[tool.name](context, params, defaults | arguments)
        except _ToolError as error:
            return _failed(str(error))
        return answer

    async def _clock(self, *_: Any) -> _Answer:
        now = datetime.now().astimezone()
        weekday = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[now.weekday()]
        date, time, zone = now.strftime("%Y-%m-%d"), now.strftime("%H:%M:%S"), now.isoformat()[-6:]
        return _structured(date=date, time=time, weekday=weekday, zone=zone)

    async def _roll_dice(self, _context: _Context, _params: Any, given: dict[str, Any]) -> _Answer:
        rolled = [random.SystemRandom().randint(1, int(given["sides"])) for _ in range(int(given["count"]))]
        return _structured(rolled=rolled, sum=sum(rolled))

    async def _list_notes(self, *_: Any) -> _Answer:
        return _structured(titles=list(self._notes))

    async def _read_note(self, _context: _Context, _params: Any, given: dict[str, Any]) -> _Answer:
        text = self._note(given["title"])
        resource = types.TextResourceContents(uri=_uri(given["title"]), text=text, mime_type="text/markdown")
        return types.CallToolResult(content=[types.EmbeddedResource(type="resource", resource=resource)])

    async def _add_note(self, context: _Context, _params: Any, given: dict[str, Any]) -> _Answer:
        title = given["title"]
        if title in self._notes:
            raise _ToolError(f"There is a note with the title {title!r} already.")
        if len(self._notes) >= _MOST_NOTES:
            raise _ToolError(f"There are {_MOST_NOTES} notes already. Delete one first.")
        self._notes[title] = given["text"]
        await self._log(context, "info", {"added": title, "notes": len(self._notes)})
        await self._changed(tool_offers.NOTES)
        link = types.ResourceLink(type="resource_link", uri=_uri(title), name=title, mime_type="text/markdown")
        return types.CallToolResult(content=[_text(f"Kept as {title!r}."), link])

    async def _delete_note(self, context: _Context, _params: Any, given: dict[str, Any]) -> _Answer:
        title = given["title"]
        self._note(title)
        del self._notes[title]
        await self._log(context, "warning", {"deleted": title, "notes": len(self._notes)})
        await self._changed(tool_offers.NOTES)
        return types.CallToolResult(content=[_text(f"Deleted {title!r}.")])

    async def _count_slowly(self, context: _Context, _params: Any, given: dict[str, Any]) -> _Answer:
        to = int(given["to"])
        for number in range(1, to + 1):
            await anyio.sleep(given["pause"])
            await context.session.report_progress(number, to, f"{number} of {to}")
            await self._log(context, "info" if number % 10 == 0 or number == to else "debug", f"counted to {number}")
        return types.CallToolResult(content=[_text(f"Counted to {to}.")])

    async def _draw_chart(self, _context: _Context, _params: Any, given: dict[str, Any]) -> _Answer:
        words = f"A chart of {len(given['values'])} values."
        return types.CallToolResult(content=[_text(words), _image(tool_media.bar_chart(given["values"]))])

    async def _play_tone(self, _context: _Context, _params: Any, given: dict[str, Any]) -> _Answer:
        data = base64.b64encode(tool_media.tone(given["hertz"], 0.6)).decode()
        sound = types.AudioContent(type="audio", data=data, mime_type="audio/wav")
        return types.CallToolResult(content=[_text(f"A tone of {given['hertz']:g} Hz."), sound])

    async def _divide(self, _context: _Context, _params: Any, given: dict[str, Any]) -> _Answer:
        try:
            return _structured(quotient=given["dividend"] / given["divisor"])
        except (ZeroDivisionError, OverflowError) as error:
            raise _ToolError(f"This cannot be divided: {error}.") from None

    async def _book_table(
        self, context: _Context, params: types.CallToolRequestParams, given: dict[str, Any]
    ) -> _Answer:
        form = types.ElicitRequestFormParams(
            message=f"A table at {given['restaurant']}: what shall I tell them?",
            requested_schema={
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
            },
        )
        request = types.ElicitRequest(params=form)
        said = await self._asked(context, params, "table", request, types.ElicitResult)
        if isinstance(said, types.InputRequiredResult):
            return said
        if said.action != "accept":
            return types.CallToolResult(content=[_text(f"No table was booked: the person chose to {said.action}.")])
        told = json.dumps(said.content or {}, ensure_ascii=False)
        return types.CallToolResult(content=[_text(f"Booked at {given['restaurant']} (not really): {told}")])

    async def _sum_up_notes(
        self, context: _Context, params: types.CallToolRequestParams, given: dict[str, Any]
    ) -> _Answer:
        notes = "\n\n".join(f"# {title}\n{text}" for title, text in self._notes.items())
        words = f"Sum up these notes in at most {given['words']} words.\n\n{notes}"
        request = types.CreateMessageRequest(
            params=types.CreateMessageRequestParams(
                messages=[types.SamplingMessage(role="user", content=_text(words))],
                system_prompt="You sum up notes. You say nothing else.",
                max_tokens=400,
                temperature=0.2,
                model_preferences=types.ModelPreferences(hints=[types.ModelHint(name="demo")], speed_priority=0.8),
            )
        )
        said = await self._asked(context, params, "summary", request, types.CreateMessageResult)
        if isinstance(said, types.InputRequiredResult):
            return said
        content = said.content if isinstance(said.content, list) else [said.content]
        told = "\n".join(block.text for block in content if isinstance(block, types.TextContent))
        return types.CallToolResult(content=[_text(f"{said.model} says: {told}")])

    async def _more_tools(self, context: _Context, _params: Any, given: dict[str, Any]) -> _Answer:
        self._surprise = given["on"]
        await self._bus.publish(ToolsListChanged())
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await context.session.send_tool_list_changed()
        return types.CallToolResult(content=[_text("There is one more tool." if self._surprise else "It is gone.")])

    async def _say_surprise(self, *_: Any) -> _Answer:
        return types.CallToolResult(content=[_text("Surprise!")])

    async def _asked(
        self, context: _Context, params: types.CallToolRequestParams, key: str, request: Any, kind: type[Any]
    ) -> Any:
        """What the client answers to ``request``; where it is to ask again with the answer, what tells it so."""
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            told = (params.input_responses or {}).get(key)
            return types.InputRequiredResult(input_requests={key: request}) if told is None else told
        related = ServerMessageMetadata(related_request_id=context.request_id)
        try:
            return await context.session.send_request(request, kind, metadata=related)
        except MCPError as error:
            raise _ToolError(f"The client did not do what was asked of it: {error}") from None

    # Prompts, resources, and what completes them

    async def _offer_prompts(self, _context: _Context, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=list(tool_offers.PROMPTS))

    async def _prompt(self, _context: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        given = params.arguments or {}
        if params.name == "try_me":
            words = "What time is it here? Then roll three dice, and keep what fell as a note called Dice."
            return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=_text(words))])
        if params.name != "explain":
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name!r} here.")
        title = given.get("title", "")
        try:
            text = self._note(title)
        except _ToolError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        words = f"Explain this note to me, in a {given.get('tone') or 'plain'} tone."
        note = types.TextResourceContents(uri=_uri(title), text=text, mime_type="text/markdown")
        attached = types.EmbeddedResource(type="resource", resource=note)
        messages = [types.PromptMessage(role="user", content=block) for block in (_text(words), attached)]
        return types.GetPromptResult(description=f"Explain {title!r}", messages=messages)

    async def _offer_resources(self, _context: _Context, _params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=list(tool_offers.RESOURCES))

    async def _offer_templates(self, _context: _Context, _params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(tool_offers.TEMPLATES))

    async def _read(self, _context: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri, before = str(params.uri), tool_offers.NOTE.partition("{")[0]
        if uri == tool_offers.PICTURE:
            data = base64.b64encode(tool_media.bar_chart(_SHARE)).decode()
            blob = types.BlobResourceContents(uri=uri, blob=data, mime_type="image/png")
            return types.ReadResourceResult(contents=[blob])
        if uri == tool_offers.NOTES:
            text = "\n\n".join(f"# {title}\n\n{text}" for title, text in self._notes.items())
        elif uri.startswith(before) and unquote(uri.removeprefix(before)) in self._notes:
            text = self._notes[unquote(uri.removeprefix(before))]
        else:
            raise MCPError(types.INVALID_PARAMS, f"There is no resource {uri} here.")
        contents = types.TextResourceContents(uri=uri, text=text, mime_type="text/markdown")
        return types.ReadResourceResult(contents=[contents])

    async def _watch(self, context: _Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        self._watching = [*self._watching, (str(params.uri), context.session)][-_MOST_WATCHING:]
        return types.EmptyResult()

    async def _unwatch(self, _context: _Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._watching = [(uri, session) for uri, session in self._watching if uri != str(params.uri)]
        return types.EmptyResult()

    async def _changed(self, uri: str) -> None:
        """Tell all who watch ``uri``."""
        await self._bus.publish(ResourceUpdated(uri=uri))
        for watched, session in self._watching:
            if watched == uri:
                with contextlib.suppress(Exception):  # that connection is gone
                    await session.send_resource_updated(uri)

    async def _complete(self, _context: _Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        known = tool_offers.TONES if params.argument.name == "tone" else tuple(self._notes)
        begun = params.argument.value.lower()
        found = [value for value in known if value.lower().startswith(begun)]
        return types.CompleteResult(completion=types.Completion(values=found[:100], total=len(found), has_more=False))

    # The log

    async def _set_level(self, _context: _Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        self._level = _LEVELS.index(params.level)
        return types.EmptyResult()

    async def _log(self, context: _Context, level: types.LoggingLevel, data: Any) -> None:
        asked_each_time = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        if asked_each_time or _LEVELS.index(level) >= self._level:
            await context.session.send_log_message(level, data, "demo", context.request_id)

    def _note(self, title: str) -> str:
        if title not in self._notes:
            raise _ToolError(f"There is no note with the title {title!r}.")
        return self._notes[title]


class _Announcing(Server[dict[str, Any]]):
    """A server that says it tells of changes to its tools, whoever starts the connection."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> Any:
        told = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(told, experimental_capabilities, extensions)


def serve(port: int | None, announce: Callable[[str], None]) -> None:
    """Serve until standard input ends or, with a ``port`` (0 for a free one), until interrupted.

    ``announce`` is told what a person may want to know. Raises OSError when the port cannot be used.
    """
    warnings.filterwarnings("ignore", category=MCPDeprecationWarning)  # older clients have no other way
    server = ToolServer().server()
    if port is not None:
        _serve_http(server, port, announce)
        return
    if sys.stdin.isatty():
        announce(
            "This is a tool server: a client starts it, and speaks with it over its standard input. Ctrl+C ends it."
        )
    try:
        anyio.run(_serve_stdio, server)
    except KeyboardInterrupt:
        os._exit(130)  # the thread that reads standard input would hold the process until a key is pressed


async def _serve_stdio(server: Server[dict[str, Any]]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _serve_http(server: Server[dict[str, Any]], port: int, announce: Callable[[str], None]) -> None:
    import uvicorn

    from playground.demo.framing import RefusesAmbiguousLength

    listener = listen("127.0.0.1", port)
    application = RefusesAmbiguousLength(server.streamable_http_app())
    config = uvicorn.Config(application, http="h11", ws="none", log_level="critical", access_log=False, log_config=None)
    announce(f"Demo tool server at http://127.0.0.1:{listener.getsockname()[1]}/mcp. Ctrl+C ends it.")
    with listener, contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def _uri(title: str) -> str:
    return tool_offers.NOTE.replace("{title}", quote(title, safe=""))


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _image(data: bytes) -> types.ImageContent:
    return types.ImageContent(type="image", data=base64.b64encode(data).decode(), mime_type="image/png")


def _structured(**found: Any) -> types.CallToolResult:
    """An answer that is data, and as text for clients that know no data."""
    return types.CallToolResult(content=[_text(json.dumps(found, ensure_ascii=False))], structured_content=found)


def _failed(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[_text(words)], is_error=True)
