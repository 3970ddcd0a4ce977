"""All tool servers: started when they are needed, asked, watched, started again when they die, and ended.

They live in a process of our own (``process``), which is started with the first of them. Everything here is for the
thread of the loop. What a server is called stands in values; its id, in events.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import ConfigDict, TypeAdapter

from playground.domain.tool_servers import (
    Block,
    Frame,
    Message,
    Request,
    ServerAnswer,
    ServerPrompt,
    ServerResource,
    ServerTool,
    ToolServer,
    Via,
)
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.session.tool_calls import Ticket, ToolCallError
from playground.engine.tool_servers.book import ServerBook, lacking
from playground.engine.tool_servers.live import (
    AskCame,
    AskGone,
    Event,
    FramesCame,
    Live,
    LogLine,
    ResourceUpdated,
    ServersChanged,
    SignInWanted,
    State,
)
from playground.engine.tool_servers.process import HostError, HostProcess, ToolHost
from playground.engine.tool_servers.sampled import sampled
from playground.engine.tool_servers.secret_values import OAUTH, ORIGIN, MissingSecretError, fetch, put_in, tokens_in
from playground.engine.tool_servers.tape import ServerTape
from playground.jsonkit.values import JSON, JSONObject
from playground.tasks import Tasks

LOG_LINES: Final = 500  # that are kept of each server
RESTARTS: Final = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds until one that died is started again, time after time
SETTLED: Final = 60.0  # seconds after which one that was started again counts as well
OpenHost = Callable[[Callable[[JSONObject], None], Callable[[], None]], ToolHost]
_CLOSED: Final = "The tool servers are being ended: the application closes."

_LATE: Final = ConfigDict(defer_build=True)  # built when a server is started: who sets one up waits for a window
_TOOLS: Final = TypeAdapter(list[ServerTool], config=_LATE)
_PROMPTS: Final = TypeAdapter(list[ServerPrompt], config=_LATE)
_RESOURCES: Final = TypeAdapter(list[ServerResource], config=_LATE)
_MESSAGES: Final = TypeAdapter(tuple[Message, ...], config=_LATE)
_BLOCKS: Final = TypeAdapter(tuple[Block, ...], config=_LATE)
_REQUEST: Final[TypeAdapter[Request]] = TypeAdapter(Request, config=_LATE)


class ServerError(ToolCallError):
    """A server did not do what was asked. The text is for people."""


@dataclass(eq=False)
class _Entry:
    """What is known of one server."""

    live: Live
    log: deque[LogLine] = field(default_factory=lambda: deque(maxlen=LOG_LINES))
    offers: dict[str, list[Any]] = field(default_factory=dict)
    starting: asyncio.Task[None] | None = None
    died: int = 0  # times in a row
    since: float = 0.0  # when it got ready
    timer: asyncio.TimerHandle | None = None
    running: ToolServer | None = None  # as it was started


class Servers:
    """``book`` has the servers as a person set them up, ``keys`` their secrets, ``tape`` what was said.

    ``open_host`` makes the process in which they are spoken with.
    """

    def __init__(self, book: ServerBook, keys: Keys, open_host: OpenHost = HostProcess) -> None:
        self.book, self.keys = book, keys
        self._open_host = open_host
        self.tape = ServerTape(lambda: keys.redactor)
        self._host: ToolHost | None = None
        self._coming: asyncio.Task[ToolHost] | None = None
        self._entries: dict[str, _Entry] = {}
        self._asks: dict[str, tuple[str, Request]] = {}
        self._tickets: dict[int, Ticket] = {}
        self._by_ticket: dict[str, Ticket] = {}
        self._subscribers: list[Callable[[Event], None]] = []
        self._tasks = Tasks(ServerError, HostError)
        self._closed = False
        self._unsubscribe = book.subscribe(self._book_changed)

    # Looking at them

    def live(self, server_id: str) -> Live:
        """The server as it is now. Raises KeyError for one that is not in the book."""
        entry = self._entries.get(server_id)
        if entry is not None:
            live = entry.live
            if live.state in (State.STOPPED, State.UNCONFIRMED, State.FAILED) and not self.book.confirmed(live.server):
                return replace(live, state=State.UNCONFIRMED)
            return replace(live, state=State.STOPPED) if live.state is State.UNCONFIRMED else live
        server = self.book.get(server_id)
        if server is None:
            raise KeyError(server_id)
        return Live(server, State.STOPPED if self.book.confirmed(server) else State.UNCONFIRMED)

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Have ``callback`` called in the loop with every event; what is returned ends that."""
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    @property
    def asks(self) -> tuple[Request, ...]:
        """What servers ask of the person and nobody has answered, oldest first."""
        return tuple(ask for _, ask in self._asks.values())

    @property
    def host_pid(self) -> int:
        """The number of the process in which they are spoken with; 0 for none."""
        return self._host.pid if self._host is not None else 0

    # Starting and ending them

    async def start(self, server_id: str) -> Live:
        """Return when it is ready. Raises ServerError; one that starts or is ready is not started again."""
        entry = self._entry(server_id)
        if entry.live.state is State.READY:
            return entry.live
        if entry.starting is None:
            entry.starting = self._tasks.start(self._start(entry))
        await asyncio.shield(entry.starting)
        return entry.live

    def begin(self, server_id: str) -> None:
        """Have it started; nobody waits, and what came of it is told as ever."""
        self._tasks.start(self.start(server_id))

    async def stop(self, server_id: str) -> None:
        """Return when it has ended, with all that it started."""
        entry = self._entries.get(server_id)
        if entry is None:
            return
        self._call_off(entry)
        await asyncio.sleep(0)  # a start that is called off before its first step would tell nobody
        if entry.starting is not None:
            entry.starting.cancel()
            await asyncio.wait([entry.starting])
        if self._host is not None and self._host.alive:
            with contextlib.suppress(HostError):  # it ended by itself meanwhile
                await self._host.ask({"do": "stop", "server": server_id})
        if entry.starting is not None:
            return  # somebody had it started again meanwhile
        entry.running = None
        if entry.live.state not in (State.STOPPED, State.UNCONFIRMED):
            self._change(entry, state=State.STOPPED, problem="", restarts_in=None)

    async def restart(self, server_id: str) -> Live:
        """Stop it, if it runs, and start it. Raises ServerError."""
        await self.stop(server_id)
        self._entry(server_id).died = 0
        return await self.start(server_id)

    async def close(self) -> None:
        """End all servers and the process they are in."""
        self._closed = True
        self._unsubscribe()
        for entry in self._entries.values():
            self._call_off(entry)
        if self._coming is not None and not self._coming.done():
            await asyncio.wait([self._coming])
        if self._host is not None:
            await self._host.close()
        await self._tasks.end()

    # Asking them

    async def call(self, server_id: str, tool: str, arguments: JSONObject, ticket: Ticket) -> ServerAnswer:
        """What a tool answers, by its name there. One that is stopped is started. Raises ServerError."""
        await self.start(server_id)
        numbers: list[int] = []

        def began(number: int) -> None:
            numbers.append(number)
            self._tickets[number] = ticket

        self._by_ticket[ticket.id] = ticket
        try:
            message = {"do": "call", "tool": tool, "arguments": arguments, "ticket": ticket.id}
            return ServerAnswer.model_validate(await self._ask(server_id, message, began))
        finally:
            self._by_ticket.pop(ticket.id, None)
            for number in numbers:
                self._tickets.pop(number, None)

    async def prompt(self, server_id: str, name: str, arguments: dict[str, str]) -> tuple[Message, ...]:
        """The messages of a prompt. Raises ServerError."""
        await self.start(server_id)
        message = {"do": "prompt", "name": name, "arguments": arguments}
        return _MESSAGES.validate_python(await self._ask(server_id, message))

    async def read(self, server_id: str, uri: str) -> tuple[Block, ...]:
        """What a resource holds. Raises ServerError."""
        await self.start(server_id)
        return _BLOCKS.validate_python(await self._ask(server_id, {"do": "read", "uri": uri}))

    async def complete(
        self, server_id: str, ref: str, argument: str, value: str, known: dict[str, str]
    ) -> tuple[str, ...]:
        """What an argument may be that begins with ``value``; ``ref`` is a prompt's name or a template.

        Empty where the server does not know. Raises ServerError.
        """
        live = await self.start(server_id)
        if "completions" not in live.can:
            return ()
        message = {"do": "complete", "ref": ref, "argument": argument, "value": value, "known": known}
        return tuple(await self._ask(server_id, message))

    async def watch(self, server_id: str, uri: str, on: bool) -> None:
        """Have ``ResourceUpdated`` told when a resource changes, or no longer. Raises ServerError."""
        await self.start(server_id)
        await self._ask(server_id, {"do": "watch", "uri": uri, "on": on})

    def set_log_level(self, server_id: str, level: str) -> None:
        """Have it log no less than that ("debug" to "emergency"). What fails stands in its log."""
        entry = self._entry(server_id)

        async def set_level() -> None:
            try:
                await self._ask(server_id, {"do": "level", "level": level})
            except ServerError as error:
                entry.log.append(LogLine(time.time(), "warning", "", f"The level could not be set: {error}"))
                self._change(entry)

        self._tasks.start(set_level())

    # Being asked by them

    def answer(self, ask_id: str, action: str, content: JSONObject | None = None) -> None:
        """Answer an elicitation: "accept" with what was filled in, "decline" or "cancel"."""
        self._give(ask_id, {"action": action, "content": content if action == "accept" else None})

    def answer_sampling(self, ask_id: str, message: Message, model: str, stop_reason: str) -> None:
        """Answer a request for sampling with what a model said."""
        self._give(ask_id, sampled(message, model, stop_reason))

    def refuse(self, ask_id: str, words: str) -> None:
        """Answer with an error, in these words."""
        self._give(ask_id, {"error": words})

    def _give(self, ask_id: str, given: JSONObject) -> None:
        found = self._asks.pop(ask_id, None)
        if found is not None and self._host is not None:
            self._host.tell({"do": "answer", "server": found[0], "ask": ask_id, "given": given})
            self._tell(AskGone(found[0], ask_id))

    # Their process

    async def _ask(
        self, server_id: str, message: JSONObject, began: Callable[[int], None] = lambda number: None
    ) -> JSON:
        host = self._host
        if host is None:
            raise ServerError("The server does not run.")
        try:
            return await host.ask({**message, "server": server_id}, began)
        except HostError as error:
            raise ServerError(str(error)) from None

    async def _started_host(self) -> ToolHost:
        if self._host is not None and self._host.alive:
            return self._host
        if self._closed:
            raise HostError(_CLOSED)
        if self._coming is None or self._coming.done():
            self._coming = self._tasks.start(self._start_host())
        return await asyncio.shield(self._coming)

    async def _start_host(self) -> ToolHost:
        await asyncio.to_thread(_prepare)
        host = self._host = self._open_host(self._heard, self._host_gone)
        await host.start()
        return host

    def _host_gone(self) -> None:
        words = "The process for tool servers ended by itself, and this server with it."
        for entry in self._entries.values():
            if entry.running is not None:
                self._ended(entry, words)
        for ask_id, (server_id, _) in tuple(self._asks.items()):
            del self._asks[ask_id]
            self._tell(AskGone(server_id, ask_id))

    async def _start(self, entry: _Entry) -> None:
        try:
            await self._begin(entry)
        except ServerError as error:
            if entry.live.state is not State.UNCONFIRMED:
                self._change(entry, state=State.FAILED, problem=str(error), restarts_in=None)
            entry.running = None
            raise
        except asyncio.CancelledError:
            entry.running = None
            raise ServerError("The server was stopped while it started.") from None
        finally:
            entry.starting = None

    async def _begin(self, entry: _Entry) -> None:
        server_id = entry.live.server.id
        server = self.book.get(server_id)
        if self._closed:
            raise ServerError(_CLOSED)
        if server is None:
            raise ServerError("This server was removed in the meantime.")
        self._call_off(entry)
        if not self.book.confirmed(server):
            self._change(entry, server=server, state=State.UNCONFIRMED)
            what = "command line" if server.via is Via.STDIO else "address"
            raise ServerError(f"The {what} of “{server.name}” has to be confirmed first, in “Tool servers”.")
        if missing := lacking(server):
            raise ServerError(missing)
        self._change(entry, server=server, state=State.STARTING, problem="", stderr=(), restarts_in=None)
        try:
            secrets = await fetch(server, self.keys)
            token = await self.keys.get(server.id, ORIGIN, OAUTH) if server.oauth else None
            if token is not None:
                self.keys.add_parts(server.id, ORIGIN, tokens_in(token), OAUTH)
            host = await self._started_host()
        except (MissingSecretError, HostError) as error:
            raise ServerError(str(error)) from None
        now = self.book.get(server_id)  # a keyring may have waited for a person
        if now is None or not self.book.confirmed(now) or self.book.fingerprint(now) != self.book.fingerprint(server):
            raise ServerError(f"“{server.name}” was changed while it started. Start it again as it is now.")
        server = now  # what needs no other start may have been changed as well
        filled = {
            "arguments": tuple(put_in(it, secrets) for it in server.arguments),
            "url": put_in(server.url, secrets),
        }
        spec = server.model_copy(update=filled).model_dump(mode="json")
        message = {"do": "start", "server": server.id, "spec": spec, "secrets": secrets}
        if token is not None:
            message["oauth"] = token.get_secret_value()
        entry.running = server
        try:
            await host.ask(message)
        except HostError as error:
            raise ServerError(str(error)) from None

    def _call_off(self, entry: _Entry) -> None:
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None

    # What it tells

    def _heard(self, message: JSONObject) -> None:
        kind, server_id = message["is"], message.get("server", "")
        if kind == "progress":
            self._progress(message)
            return
        entry = self._entries.get(server_id)
        if entry is None:
            return
        if kind == "frames":
            frames = tuple(Frame.model_validate(frame) for frame in message["frames"])
            if message["missed"]:
                words = f"{message['missed']:,} more messages came too fast to be kept."
                frames += (
                    Frame(server=entry.live.server.name, at=time.time(), sent=False, text="", size=0, notice=words),
                )
            self.tape.add(frames)
            self._tell(FramesCame(server_id, frames))
        elif kind == "log":
            self._logged(entry, message)
        elif kind == "stderr":
            self._change(entry, stderr=tuple(message["lines"]))
        elif kind == "offers":
            self._offered(entry, message)
        elif kind == "state":
            self._state(entry, message)
        elif kind == "ask":
            ask = _REQUEST.validate_python(message["ask"])
            self._asks[ask.id] = server_id, ask
            self._tell(AskCame(server_id, ask))
        elif kind == "answered":
            if self._asks.pop(message["ask"], None) is not None:
                self._tell(AskGone(server_id, message["ask"]))
        elif kind == "updated":
            self._tell(ResourceUpdated(server_id, message["uri"]))
        elif kind == "browser":
            self._tell(SignInWanted(server_id, message["url"]))
        elif kind == "keep":
            self._tasks.start(self._keep(server_id, message["secret"]))

    async def _keep(self, server_id: str, secret: str) -> None:
        if secret:
            self.keys.add_parts(server_id, ORIGIN, tokens_in(Secret(secret)), OAUTH)
            await self.keys.set(server_id, ORIGIN, Secret(secret), OAUTH)
        else:
            await self.keys.delete(server_id, ORIGIN, OAUTH)

    def _progress(self, message: JSONObject) -> None:
        ticket = self._tickets.get(message["of"])
        if ticket is not None:
            ticket.done, ticket.total = message["done"], message["total"]
            ticket.words = message["words"]
            ticket.changed()

    def _logged(self, entry: _Entry, message: JSONObject) -> None:
        told: dict[str, Ticket] = {}
        for line in message["lines"]:
            entry.log.append(LogLine(line["at"], line["level"], line["logger"], line["text"], line["call"]))
            ticket = self._by_ticket.get(line["call"])
            if ticket is not None:
                ticket.log.append(line["text"])
                told[ticket.id] = ticket
        if message["missed"]:
            words = f"{message['missed']:,} more lines came too fast to be kept."
            entry.log.append(LogLine(time.time(), "notice", "", words))
        self._change(entry)
        for ticket in told.values():
            ticket.changed()

    def _offered(self, entry: _Entry, message: JSONObject) -> None:
        kind = message["kind"]
        if message["first"]:
            entry.offers[kind] = []
        found = entry.offers.setdefault(kind, [])
        if kind == "tools":
            found += _TOOLS.validate_python(message["items"])
        elif kind == "prompts":
            found += _PROMPTS.validate_python(message["items"])
        else:
            found += _RESOURCES.validate_python(message["items"])
        if message["last"]:
            offers = entry.offers
            if kind == "tools":
                self._change(entry, tools=tuple(found), listed=True)
            elif kind == "prompts":
                self._change(entry, prompts=tuple(found))
            else:
                both = (*offers.get("resources", ()), *offers.get("templates", ()))
                self._change(entry, resources=both)

    def _state(self, entry: _Entry, message: JSONObject) -> None:
        state = State(message["state"])
        if state is State.READY:
            entry.since = time.monotonic()
            names = ("title", "version", "protocol", "instructions")
            self._change(
                entry, state=state, problem="", can=frozenset(message["can"]), **{name: message[name] for name in names}
            )
        elif state is State.STARTING:
            self._change(entry, state=state)
        elif entry.live.state is State.READY and state is State.FAILED:
            self._ended(entry, message["problem"])
        else:
            entry.running = None
            self._change(entry, state=state, problem=message.get("problem", ""), restarts_in=None)

    def _ended(self, entry: _Entry, problem: str) -> None:
        """One that was ready died: it is started again after a while, a longer one every time."""
        entry.running = None
        if time.monotonic() - entry.since > SETTLED:
            entry.died = 0
        if entry.live.state is State.READY:
            self._later(entry, problem)
        else:
            self._change(entry, state=State.FAILED, problem=problem, restarts_in=None)

    def _again(self, entry: _Entry) -> None:
        entry.timer = None
        if not self._closed:
            self._tasks.start(self._try_again(entry))

    async def _try_again(self, entry: _Entry) -> None:
        try:
            await self.start(entry.live.server.id)
        except ServerError:
            if entry.live.state is State.FAILED and entry.timer is None:
                self._later(entry, entry.live.problem)

    def _later(self, entry: _Entry, problem: str) -> None:
        """It failed, and is started again after a while, unless it was too often."""
        wait: float | None = None
        if entry.died < len(RESTARTS) and not self._closed:
            wait = RESTARTS[entry.died]
            entry.died += 1
            self._call_off(entry)
            entry.timer = asyncio.get_running_loop().call_later(wait, self._again, entry)
        self._change(entry, state=State.FAILED, problem=problem, restarts_in=wait)

    # Keeping account

    def _entry(self, server_id: str) -> _Entry:
        entry = self._entries.get(server_id)
        if entry is None:
            server = self.book.get(server_id)
            if server is None:
                raise ServerError("This server was removed in the meantime.")
            entry = self._entries[server_id] = _Entry(Live(server))
        return entry

    def _book_changed(self) -> None:
        for server_id, entry in tuple(self._entries.items()):
            server = self.book.get(server_id)
            if server is None:
                self._tasks.start(self._forget(server_id))
            elif server != entry.live.server:
                running = entry.running
                self._change(entry, server=server)
                if running is None:
                    continue
                if self.book.fingerprint(running) != self.book.fingerprint(server):
                    self._tasks.start(self.stop(server_id))
                elif self._host is not None and self._host.alive:
                    self._tasks.start(self._update(server))
            else:
                self._change(entry)

    async def _update(self, server: ToolServer) -> None:
        with contextlib.suppress(ServerError):  # it ended meanwhile, and is started as it is now
            await self._ask(server.id, {"do": "change", "spec": server.model_dump(mode="json")})

    async def _forget(self, server_id: str) -> None:
        await self.stop(server_id)
        self._entries.pop(server_id, None)
        self._tell(ServersChanged(server_id))

    def _change(self, entry: _Entry, **changes: Any) -> None:
        entry.live = replace(entry.live, log=tuple(entry.log), **changes)
        self._tell(ServersChanged(entry.live.server.id))

    def _tell(self, event: Event) -> None:
        for callback in tuple(self._subscribers):
            callback(event)


def _prepare() -> None:
    """Have what is read of servers looked at once: what it is made of is built at the first look, which takes long."""
    _TOOLS.validate_python([{"name": "x"}])
    _PROMPTS.validate_python([{"name": "x", "arguments": [{"name": "x"}]}])
    _RESOURCES.validate_python([{"uri": "x"}])
    _MESSAGES.validate_python([{"role": "user", "blocks": [{"kind": "text", "text": "x"}]}])
    _BLOCKS.validate_python([{"kind": "text", "text": "x"}])
    _REQUEST.validate_python({"kind": "sampling", "id": "x", "server": "x"})
    ServerAnswer.model_validate({"server": "x", "tool": "x"})
    Frame.model_validate({"server": "x", "at": 0.0, "sent": True, "text": "", "size": 0})
