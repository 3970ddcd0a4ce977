"""One server: connected to, asked what it offers, asked for answers, watched, and left.

A connection lives in one task (``run``). What is asked of it meanwhile comes as methods, each in the task of whoever
asks; a cancelled one is called off at the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import FileUrl, ValidationError

from playground import __version__
from playground.domain.tool_servers import MOST_OFFERED, Frame, ServerAnswer, ServerTool, ToolServer, Via
from playground.domain.values import Value
from playground.jsonkit.values import JSON, JSONObject
from playground.tool_host import reading, stateless
from playground.tool_host.asks import Asks
from playground.tool_host.limits import (
    CHUNK_OF_LIST,
    KEPT_STDERR,
    LONGEST_ADDRESS,
    LONGEST_LIST,
    LONGEST_LOG,
    LONGEST_NAME,
    MOST_PAGES,
)
from playground.tool_host.outlet import Outlet
from playground.tool_host.secrets import Mask
from playground.tool_host.stdio import OURS
from playground.tool_host.tap import TICKET, Tap
from playground.tool_host.transports import opened
from playground.tool_host.words import fault_words

CLIENT: Final = types.Implementation(name="gateway-playground", title="Gateway Playground", version=__version__)
CONNECTING: Final = 60.0  # seconds until a server has to have said who it is: a first start may fetch packages
ANSWERING: Final = 60.0  # seconds for anything but a call
LISTS: Final = (
    ("tools", "tools/list", "tools"),
    ("prompts", "prompts/list", "prompts"),
    ("resources", "resources/list", "resources"),
    ("templates", "resources/templates/list", "resourceTemplates"),
)
_UNREAD: Final = "Failed to parse JSON response: the answer "  # what the library makes of a body that is too long
_WHY: Final = 2.0  # seconds in which it has to be known why a server reads no more
_BETWEEN_LISTS: Final = 0.3  # seconds from the word that a list changed until it is read again
_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_READ: Final[dict[str, Callable[[JSON], Value | None]]] = {
    "tools": reading.tool,
    "prompts": reading.prompt,
    "resources": reading.resource,
    "templates": lambda value: reading.resource(value, template=True),
}
_CHUNK: Final = 100  # things of a list that go to the window together
_CHANGED: Final = {
    "notifications/tools/list_changed": ("tools",),
    "notifications/prompts/list_changed": ("prompts",),
    "notifications/resources/list_changed": ("resources", "templates"),
}


class FaultError(Exception):
    """Something asked of a server brought no answer. The text is for people."""


class Connection:
    """``secrets`` are by name ("env:NAME", "header:NAME", "argument:NAME"); ``state`` is what was told last."""

    def __init__(self, server: ToolServer, secrets: dict[str, str], signed_in: str, outlet: Outlet) -> None:
        self.server, self.secrets, self.signed_in = server, secrets, signed_in
        self.mask = Mask(secrets.values())
        self.asks = Asks(server.id, server.name, outlet, lambda: self.tap.only)
        self.state = "starting"
        self.ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()  # empty, or why not
        self.tap = Tap(server.name, self.mask, self._keep)
        self.stderr: deque[str] = deque(maxlen=KEPT_STDERR)
        self._outlet = outlet
        self._session: ClientSession | None = None
        self._dispatcher: JSONRPCDispatcher | None = None
        self._version = ""
        self._schemas: dict[str, JSONObject] = {}  # of the arguments of its tools
        self._leave = asyncio.Event()
        self._stale: set[str] = set()
        self._look = asyncio.Event()
        self._level = ""
        self.signing = False
        self.http_problem = ""
        self.gone = ""  # why it ended, where it was not told to
        self._gone = asyncio.Event()  # that is known

    # Its life

    async def run(self) -> None:
        """Connect, stay until ``leave`` or the server's end, and leave nothing behind."""
        problem = ""
        self._tell("starting")
        try:
            async with AsyncExitStack() as stack:
                await self._connect(stack)
                self._tell("ready", **self._who())
                self.ready.set_result("")
                await self._stay()
            problem = self.gone if not self._leave.is_set() else ""
        except asyncio.CancelledError:
            raise
        except BaseExceptionGroup as group:
            problem = fault_words(group, self.server)
        except Exception as error:  # noqa: BLE001 - whoever looks at the server has to hear of it
            problem = fault_words(error, self.server)
        finally:
            problem = self.mask.text(problem)
            if not self.ready.done():
                self.ready.set_result(problem or "The server was stopped while it started.")
            self._session = self._dispatcher = None
            self.tap.note(problem or "Stopped.", error=bool(problem))
            if self.state != "failed":
                self._tell("failed" if problem else "stopped", problem=problem)

    async def change(self, server: ToolServer) -> None:
        """What was set of it is different: its time-out, its roots."""
        before, self.server = self.server.roots, server
        session = self._session
        if before != server.roots and session is not None:
            with contextlib.suppress(Exception):
                await session.send_notification(types.RootsListChangedNotification())

    def leave(self) -> None:
        """End the connection: ``run`` returns soon."""
        self._leave.set()
        self._look.set()

    async def _connect(self, stack: AsyncExitStack) -> None:
        async with self._in_time(CONNECTING):
            receive, send = await stack.enter_async_context(opened(self))
            self._dispatcher = dispatcher = JSONRPCDispatcher(receive, send)
            self._session = ClientSession(
                dispatcher=dispatcher,
                elicitation_callback=lambda _context, params: self.asks.elicit(params),
                sampling_callback=lambda _context, params: self.asks.sample(params),
                sampling_capabilities=types.SamplingCapability(tools=types.SamplingToolsCapability()),
                list_roots_callback=self._roots,
                message_handler=self._heard,
                client_info=CLIENT,
            )
            await stack.enter_async_context(self._session)
            self.tap.note("Started." if self.server.via == Via.STDIO else "Connected.")
            try:
                await self._greet(self._session)
            except MCPError as error:
                raise await self._fault(error) from None
            self._version = self._session.protocol_version or LATEST_HANDSHAKE_VERSION
        await self._list({kind for kind, _, _ in LISTS})

    @staticmethod
    async def _greet(session: ClientSession) -> None:
        try:
            await session.initialize()
        except MCPError as refused:
            if refused.code not in (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND):
                raise
            try:
                await session.discover()
            except (MCPError, RuntimeError, ValidationError):
                raise refused from None

    async def _stay(self) -> None:
        while not self._leave.is_set() and not self.gone:
            await self._look.wait()
            self._look.clear()
            stale, self._stale = self._stale, set()
            if stale and not self._leave.is_set():
                await self._pause(_BETWEEN_LISTS)
                try:
                    await self._list(stale)
                except FaultError as error:
                    self.log("warning", "", f"Its list could not be read again: {error}")

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._leave.wait(), seconds)

    def ended(self, words: str) -> None:
        """The server is gone by itself."""
        self.gone = self.gone or self.mask.text(words)
        self._gone.set()
        if self.state == "ready":  # at once: its process may take a while to be gone for good
            self._tell("failed", problem=self.gone)
        self._look.set()

    def _who(self) -> JSONObject:
        session = self._session
        info = session.server_info if session is not None else None
        return {
            "title": self.mask.text(reading.name((info.title or info.name) if info is not None else "")),
            "version": self.mask.text(reading.name(info.version if info is not None else "")),
            "protocol": self._version,
            "instructions": self.mask.text(reading.words(session.instructions if session is not None else "")),
            "can": sorted(self._can()),
        }

    def _can(self) -> set[str]:
        has = self._session.server_capabilities if self._session is not None else None
        if has is None:
            return set()
        found = {kind for kind in ("tools", "prompts", "resources") if getattr(has, kind) is not None}
        found |= {"completions"} if has.completions is not None else set()
        found |= {"logging"} if has.logging is not None else set()
        watches = has.resources is not None and has.resources.subscribe and not stateless.spoken(self._version)
        return found | ({"subscribe"} if watches else set())

    # What it offers

    async def _list(self, kinds: set[str]) -> None:
        """Tell the window what it offers, anew."""
        can = self._can()
        for kind, method, member in LISTS:
            if kind in kinds:
                wanted = "resources" if kind == "templates" else kind
                found = await self._pages(method, member, kind) if wanted in can else []
                if kind == "tools":
                    self._schemas = {tool.name: tool.parameters for tool in found if isinstance(tool, ServerTool)}
                chunks = list(_chunks(found, self.mask)) or [[]]
                for number, items in enumerate(chunks):
                    last = number == len(chunks) - 1
                    self._say({"is": "offers", "kind": kind, "items": items, "first": not number, "last": last})

    async def _pages(self, method: str, member: str, kind: str) -> list[Value]:
        found: list[Value] = []
        cursor: str | None = None
        size = left_out = 0
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            try:
                raw = await self._ask(method, {"cursor": cursor} if cursor is not None else None, ANSWERING)
            except FaultError as error:
                if kind == "tools" and not found:
                    raise
                if kind != "templates":  # many have resources and no templates
                    self.log("warning", "", f"Its {kind} could not be listed: {error}")
                break
            for value in reading.entries(raw.get(member)):
                one = _READ[kind](value) if len(found) < MOST_OFFERED and size < LONGEST_LIST else None
                if one is None:
                    left_out += 1
                else:
                    size += len(reading.spelled(value) or "")
                    found.append(one)
            following = raw.get("nextCursor")
            cursor = following if isinstance(following, str) and following and following not in seen else None
            if cursor is None or len(found) >= MOST_OFFERED:
                break
            seen.add(cursor)
        if left_out:
            self.log("warning", "", f"{left_out:,} of its {kind} are left out: without a name, too large, or too many.")
        return found

    # What is asked of it

    async def call(
        self, tool: str, arguments: JSONObject, ticket: str, told: Callable[[JSONObject], None]
    ) -> JSONObject:
        """What a tool answers. ``told`` hears of its progress. Raises FaultError."""
        began = time.monotonic()
        clock: asyncio.Timeout | None = None

        async def progress(done: float, total: float | None, words: str | None) -> None:
            if clock is not None and clock.when() is not None:
                clock.reschedule(asyncio.get_running_loop().time() + self.server.timeout)
            told({"done": done, "total": total, "words": self.cut(words or "")})

        TICKET.set(ticket)
        self.tap.tickets[ticket] = None
        try:
            async with self._waiting_for_people(self.server.timeout) as clock:
                raw = await self._send("tools/call", {"name": tool, "arguments": arguments}, progress)
        except TimeoutError:
            raise FaultError(
                f"For {self.server.timeout:g} seconds the server did not answer, and told of no progress. "
                "The call was called off."
            ) from None
        finally:
            self.tap.tickets.pop(ticket, None)
            self.asks.end_of(ticket)
        answer: ServerAnswer = reading.answer(raw, self.server.name, tool, time.monotonic() - began)
        return answer.model_dump(mode="json")

    async def prompt(self, name: str, arguments: dict[str, str]) -> list[JSON]:
        """The messages of a prompt. Raises FaultError."""
        raw = await self._ask("prompts/get", {"name": name, "arguments": arguments}, ANSWERING)
        room = reading.Room()
        messages = [reading.message(one, room) for one in reading.entries(raw.get("messages"))[:1_000]]
        return [one.model_dump(mode="json") for one in messages]

    async def read(self, uri: str) -> list[JSON]:
        """What a resource holds. Raises FaultError."""
        raw = await self._ask("resources/read", {"uri": uri}, ANSWERING)
        room = reading.Room()
        return [
            reading.content(one, room).model_dump(mode="json") for one in reading.entries(raw.get("contents"))[:1_000]
        ]

    async def complete(self, ref: str, argument: str, value: str, known: dict[str, str]) -> list[str]:
        """What may stand in an argument of a prompt, or of a template. Raises FaultError."""
        where = {"type": "ref/resource", "uri": ref} if "{" in ref else {"type": "ref/prompt", "name": ref}
        params: JSONObject = {"ref": where, "argument": {"name": argument, "value": value}}
        if known:
            params["context"] = {"arguments": known}
        raw = await self._ask("completion/complete", params, ANSWERING)
        values = reading.entries(reading.members(raw.get("completion")).get("values"))
        return [reading.name(one) for one in values[:100] if isinstance(one, str)]

    async def watch(self, uri: str, on: bool) -> None:
        """Be told when a resource changes, or no longer. Raises FaultError."""
        await self._ask("resources/subscribe" if on else "resources/unsubscribe", {"uri": uri}, ANSWERING)

    async def set_level(self, level: str) -> None:
        """Log no less than that. Raises FaultError."""
        self._level = level if level in _LEVELS else ""
        if "logging" in self._can() and self._level and not stateless.spoken(self._version):
            await self._ask("logging/setLevel", {"level": self._level}, ANSWERING)

    async def _ask(self, method: str, params: JSONObject | None, seconds: float) -> JSONObject:
        try:
            async with self._waiting_for_people(seconds):
                return await self._send(method, params, None)
        except TimeoutError:
            raise FaultError(f"The server did not answer within {seconds:g} seconds.") from None

    async def _send(self, method: str, params: JSONObject | None, progress: Any) -> JSONObject:
        dispatcher, session = self._dispatcher, self._session
        if dispatcher is None or session is None:
            raise FaultError("The server does not run.")

        async def send(params: JSONObject | None) -> JSONObject:
            heads = {"mcp-protocol-version": self._version} if self._version else {}
            if stateless.spoken(self._version):
                schema = self._schemas.get((params or {}).get("name", ""))
                heads = stateless.headers(self._version, method, params or {}, schema)
                params = {**(params or {}), "_meta": stateless.meta(self._version, CLIENT, self._level)}
            options: CallOptions = {"headers": heads} if heads else {}
            if progress is not None:
                options["on_progress"] = progress
            return await dispatcher.send_raw_request(method, params, options)

        try:
            return await stateless.completed(await send(params), params or {}, session, send)
        except MCPError as error:
            raise await self._fault(error) from None
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._why()
            raise FaultError(self.last_words()) from None

    async def _why(self) -> None:
        """Wait until it is known why the server reads no more: writing finds out that it does, and reading why."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), _WHY)

    async def _fault(self, error: MCPError) -> FaultError:
        if error.code == types.CONNECTION_CLOSED and (self.gone or error.message == "Connection closed"):
            await self._why()
            return FaultError(self.last_words())
        said = self.cut(error.message)  # whatever it looks like, a server may have written it
        if error.error.data == OURS:
            return FaultError(said)
        if self.http_problem and said in ("Server returned an error response", "Not Found"):
            return FaultError(f"The server refused: {self.cut(self.http_problem)}.")
        if said.startswith(_UNREAD):
            return FaultError(f"The answer {said.removeprefix(_UNREAD)}.")
        return FaultError(f"The server refused: {said} (code {error.code}).")

    def cut(self, text: str) -> str:
        """A text of a server's, as much as is told of it, without the secrets in it."""
        return self.mask.text(text[: LONGEST_LOG + 1_000])[:LONGEST_LOG]

    def last_words(self) -> str:
        """That it ended, with what it wrote last."""
        return self.gone or "The connection ended before it answered."

    @asynccontextmanager
    async def _waiting_for_people(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        """A time-out that does not run while a person is being asked something. Raises TimeoutError."""
        loop = asyncio.get_running_loop()
        timer: asyncio.TimerHandle | None = None

        def push() -> None:
            nonlocal timer
            if (self.asks.hold(TICKET.get()) or self.signing) and not clock.expired():
                with contextlib.suppress(RuntimeError):
                    clock.reschedule(loop.time() + seconds)
            timer = loop.call_later(min(1.0, seconds / 4), push)

        try:
            async with asyncio.timeout(seconds) as clock:
                push()
                yield clock
        finally:
            if timer is not None:
                timer.cancel()

    @asynccontextmanager
    async def _in_time(self, seconds: float) -> AsyncIterator[None]:
        try:
            async with self._waiting_for_people(seconds):
                yield
        except TimeoutError:
            raise FaultError(f"The server did not say who it is within {seconds:g} seconds.") from None

    # What it says by itself

    async def _heard(self, message: types.ServerNotification | Exception) -> None:
        if isinstance(message, types.LoggingMessageNotification):
            params = message.params
            text = params.data if isinstance(params.data, str) else reading.spelled(params.data) or "(not to be shown)"
            self.log(params.level, params.logger or "", text)
        elif isinstance(message, types.ResourceUpdatedNotification):
            uri = str(message.params.uri)[:LONGEST_NAME]
            self._outlet.say_latest(("updated", self.server.id, uri), self._of({"is": "updated", "uri": uri}))
        elif not isinstance(message, Exception) and (kinds := _CHANGED.get(message.method)):
            self._stale.update(kinds)
            self._look.set()

    async def _roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        return types.ListRootsResult(roots=_roots_of(self.server))

    def log(self, level: str, logger: str, text: str) -> None:
        """A line for the log of the server."""
        line: JSONObject = {
            "at": time.time(),
            "level": level,
            "logger": self.mask.text(logger[: LONGEST_NAME + 1_000])[:LONGEST_NAME],
            "text": self.cut(text),
            "call": self.tap.only,
        }
        self._outlet.line(self.server.id, line)

    def heard_error(self, line: str) -> None:
        """A line that its process wrote to its error output."""
        self.stderr.append(self.cut(line))
        key = ("stderr", self.server.id)
        self._outlet.say_latest(key, self._of({"is": "stderr", "lines": list(self.stderr)}))

    def browse(self, url: str) -> None:
        """The person has to sign in on this page."""
        self.signing = True
        if len(url) <= LONGEST_ADDRESS and url.lower().startswith(("https://", "http://")):
            self._say({"is": "browser", "url": url})

    def keep(self, secret: str) -> None:
        """What a sign-in gave is to be kept."""
        self._say({"is": "keep", "secret": secret})

    def runs(self, group: int, on: bool) -> None:
        """A group of processes was started, or has ended: should this process be killed, the window ends it."""
        self._outlet.say({"is": "runs", "group": group, "on": on})

    def _keep(self, frame: Frame) -> None:
        self._outlet.frame(self.server.id, frame)

    def _tell(self, state: str, **more: JSON) -> None:
        self.state = state
        self._say({"is": "state", "state": state, **more})

    def _say(self, message: JSONObject) -> None:
        self._outlet.say(self._of(message))

    def _of(self, message: JSONObject) -> JSONObject:
        return {**message, "server": self.server.id}


def _roots_of(server: ToolServer) -> list[types.Root]:
    paths = (Path(root).expanduser() for root in server.roots)
    return [types.Root(uri=FileUrl(it.as_uri()), name=it.name or str(it)) for it in paths if it.is_absolute()]


def _masked(item: JSONObject, mask: Mask) -> JSONObject:
    text = reading.spelled(item) or ""
    if mask.text(text) == text:
        return item
    return {name: value if name in ("name", "uri") else _without(value, mask) for name, value in item.items()}


def _without(value: JSON, mask: Mask) -> JSON:
    if isinstance(value, str):
        return mask.text(value)
    if isinstance(value, list):
        return [_without(one, mask) for one in value]
    if isinstance(value, dict):
        return {mask.text(name): _without(one, mask) for name, one in value.items()}
    return value


def _chunks(found: list[Value], mask: Mask) -> Iterator[list[JSON]]:
    """A list in parts that are read quickly at the other end. What is said in it is kept, and goes to models: no secret
    is in it but in names and addresses, by which things are asked for.
    """
    items: list[JSON] = []
    size = 0
    for one in found:
        item = _masked(one.model_dump(mode="json", exclude_defaults=True), mask)
        length = len(reading.spelled(item) or "")
        if items and (len(items) >= _CHUNK or size + length > CHUNK_OF_LIST):
            yield items
            items, size = [], 0
        items.append(item)
        size += length
    if items:
        yield items
