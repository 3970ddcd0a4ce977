"""All tool servers of a registry: started on demand, called, watched, restarted after a crash, and stopped.

They run in the tool-host process (``process``), which starts with the first of them. Everything here runs in the thread
of the event loop. Values refer to a server by its name, events by its id.
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
from playground.engine.tool_servers.content import sampling_result
from playground.engine.tool_servers.events import (
    Event,
    FramesReceived,
    LogLine,
    RequestClosed,
    RequestReceived,
    ResourceUpdated,
    ServersChanged,
    ServerSnapshot,
    SignInWanted,
    State,
    Subscribers,
)
from playground.engine.tool_servers.process import HostError, HostProcess
from playground.engine.tool_servers.registry import ServerRegistry, missing_setting
from playground.engine.tool_servers.secret_values import OAUTH, ORIGIN, MissingSecretError, fetch, put_in, tokens_in
from playground.engine.tool_servers.tape import ServerTape
from playground.jsonkit.values import JSON, JSONObject
from playground.system.tasks import Tasks

LOG_LINES: Final = 500  # kept of each server
RESTARTS: Final = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before each restart in a row
SETTLED: Final = 60.0  # seconds of running after which the count of restarts begins again
_CLOSED: Final = "The tool servers are being ended: the application closes."
_REMOVED: Final = "This server was removed in the meantime."

_DEFERRED: Final = ConfigDict(defer_build=True)  # built with the first server: building takes longer than a frame
_RESOURCES: Final = TypeAdapter(list[ServerResource], config=_DEFERRED)
_OFFERS: Final[dict[str, TypeAdapter[Any]]] = {
    "tools": TypeAdapter(list[ServerTool], config=_DEFERRED),
    "prompts": TypeAdapter(list[ServerPrompt], config=_DEFERRED),
    "resources": _RESOURCES,
    "templates": _RESOURCES,
}
_MESSAGES: Final = TypeAdapter(tuple[Message, ...], config=_DEFERRED)
_BLOCKS: Final = TypeAdapter(tuple[Block, ...], config=_DEFERRED)
_REQUEST: Final[TypeAdapter[Request]] = TypeAdapter(Request, config=_DEFERRED)


class ServerError(ToolCallError):
    """A server failed at a request. The text is for people."""


@dataclass(eq=False)
class _Entry:
    """The state of one server."""

    live: ServerSnapshot
    log: deque[LogLine] = field(default_factory=lambda: deque(maxlen=LOG_LINES))
    offers: dict[str, list[Any]] = field(default_factory=dict)
    starting: asyncio.Task[None] | None = None
    crashes: int = 0  # in a row
    ready_at: float = 0.0  # on the monotonic clock
    timer: asyncio.TimerHandle | None = None  # of the next restart
    running: ToolServer | None = None  # as it was started


class Servers:
    """The servers of a registry, ``book``; ``keys`` hold their secrets, ``tape`` records their messages.

    ``open_host`` creates the client of the tool-host process.
    """

    def __init__(self, book: ServerRegistry, keys: Keys, open_host: Callable[..., HostProcess] = HostProcess) -> None:
        self.book, self.keys = book, keys
        self._open_host = open_host
        self.tape = ServerTape(lambda: keys.redactor)
        self._host: HostProcess | None = None
        self._host_start: asyncio.Task[HostProcess] | None = None
        self._entries: dict[str, _Entry] = {}
        self._asks: dict[str, tuple[str, Request]] = {}  # server ids and requests by request id
        self._tickets: dict[int | str, Ticket] = {}  # by ticket id and by request number
        self._subscribers = Subscribers()
        self._tasks = Tasks(ServerError, HostError)
        self._closed = False
        self._unsubscribe = book.subscribe(self._registry_changed)

    def live(self, server_id: str) -> ServerSnapshot:
        """Return the present state of a server. Raises KeyError for a server that is not in the registry."""
        entry = self._entries.get(server_id)
        server = entry.live.server if entry is not None else self.book.get(server_id)
        if server is None:
            raise KeyError(server_id)
        live = entry.live if entry is not None else ServerSnapshot(server)
        if live.state in (State.STARTING, State.READY):
            return live
        if not self.book.confirmed(server):
            return replace(live, state=State.UNCONFIRMED)
        return replace(live, state=State.STOPPED) if live.state is State.UNCONFIRMED else live

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call ``callback`` in the loop with every event, until the returned function is called."""
        return self._subscribers.add(callback)

    @property
    def asks(self) -> tuple[Request, ...]:
        """The unanswered requests of servers to the person, oldest first."""
        return tuple(ask for _, ask in self._asks.values())

    @property
    def host_pid(self) -> int:
        """The id of the tool-host process; 0 for none."""
        return self._host.pid if self._host is not None else 0

    # Starting and stopping

    async def start(self, server_id: str) -> ServerSnapshot:
        """Return when the server is ready, starting it if needed. Raises ServerError."""
        entry = self._entry(server_id)
        if entry.live.state is State.READY:
            return entry.live
        if entry.starting is None:
            entry.starting = self._tasks.start(self._start(entry))
        await asyncio.shield(entry.starting)
        return entry.live

    def begin(self, server_id: str) -> None:
        """Start a server in the background; events report the result."""
        self._tasks.start(self.start(server_id))

    async def stop(self, server_id: str) -> None:
        """Return when the server has ended, with all processes it started."""
        entry = self._entries.get(server_id)
        if entry is None:
            return
        self._cancel_restart(entry)
        await asyncio.sleep(0)  # a task cancelled before its first step would report nothing
        if entry.starting is not None:
            entry.starting.cancel()
            await asyncio.wait([entry.starting])
        if self._host is not None and self._host.alive:
            with contextlib.suppress(HostError):  # the host ended meanwhile
                await self._host.ask({"do": "stop", "server": server_id})
        if entry.starting is not None:
            return  # started again meanwhile
        entry.running = None
        if entry.live.state not in (State.STOPPED, State.UNCONFIRMED):
            self._change(entry, state=State.STOPPED, problem="", restarts_in=None)

    async def restart(self, server_id: str) -> ServerSnapshot:
        """Stop the server, if it runs, and start it. Raises ServerError."""
        await self.stop(server_id)
        self._entry(server_id).crashes = 0
        return await self.start(server_id)

    async def close(self) -> None:
        """End all servers and the tool-host process."""
        self._closed = True
        self._unsubscribe()
        for entry in self._entries.values():
            self._cancel_restart(entry)
        if self._host_start is not None and not self._host_start.done():
            await asyncio.wait([self._host_start])
        if self._host is not None:
            await self._host.close()
        await self._tasks.end()

    # Requests to servers; each starts a stopped server, and raises ServerError

    async def call(self, server_id: str, tool: str, arguments: JSONObject, ticket: Ticket) -> ServerAnswer:
        """Call a tool by its name on the server; ``ticket`` follows the progress."""
        await self.start(server_id)
        keys: list[int | str] = []

        def register(key: int | str) -> None:
            keys.append(key)
            self._tickets[key] = ticket

        register(ticket.id)
        try:
            message = {"do": "call", "tool": tool, "arguments": arguments, "ticket": ticket.id}
            return ServerAnswer.model_validate(await self._request(server_id, message, register))
        finally:
            for key in keys:
                self._tickets.pop(key, None)

    async def prompt(self, server_id: str, name: str, arguments: dict[str, str]) -> tuple[Message, ...]:
        """Return the messages of a prompt."""
        await self.start(server_id)
        message = {"do": "prompt", "name": name, "arguments": arguments}
        return _MESSAGES.validate_python(await self._request(server_id, message))

    async def read(self, server_id: str, uri: str) -> tuple[Block, ...]:
        """Return the content of a resource."""
        await self.start(server_id)
        return _BLOCKS.validate_python(await self._request(server_id, {"do": "read", "uri": uri}))

    async def complete(
        self, server_id: str, ref: str, argument: str, value: str, context: dict[str, str]
    ) -> tuple[str, ...]:
        """Return completions of ``value`` for an argument of ``ref``, a prompt's name or a template; empty for none."""
        live = await self.start(server_id)
        if "completions" not in live.can:
            return ()
        message = {"do": "complete", "ref": ref, "argument": argument, "value": value, "known": context}
        return tuple(await self._request(server_id, message))

    async def watch(self, server_id: str, uri: str, on: bool) -> None:
        """Turn ``ResourceUpdated`` events of a resource on or off."""
        await self.start(server_id)
        await self._request(server_id, {"do": "watch", "uri": uri, "on": on})

    def set_log_level(self, server_id: str, level: str) -> None:
        """Set the lowest level to log, "debug" to "emergency", in the background; a failure is logged."""
        entry = self._entry(server_id)

        async def set_level() -> None:
            try:
                await self._request(server_id, {"do": "level", "level": level})
            except ServerError as error:
                entry.log.append(LogLine(time.time(), "warning", "", f"The level could not be set: {error}"))
                self._change(entry)

        self._tasks.start(set_level())

    # Answers to requests of servers

    def answer(self, ask_id: str, action: str, content: JSONObject | None = None) -> None:
        """Answer an elicitation: "accept" with the filled-in content, "decline" or "cancel"."""
        self._send_answer(ask_id, {"action": action, "content": content if action == "accept" else None})

    def answer_sampling(self, ask_id: str, message: Message, model: str, stop_reason: str) -> None:
        """Answer a request for sampling with a model's message."""
        self._send_answer(ask_id, sampling_result(message, model, stop_reason))

    def refuse(self, ask_id: str, words: str) -> None:
        """Answer a request with an error."""
        self._send_answer(ask_id, {"error": words})

    def _send_answer(self, ask_id: str, answer: JSONObject) -> None:
        if self._host is not None and ask_id in self._asks:
            server_id = self._asks[ask_id][0]
            self._host.tell({"do": "answer", "server": server_id, "ask": ask_id, "given": answer})
            self._close_ask(ask_id)

    def _close_ask(self, ask_id: str) -> None:
        if ask_id in self._asks:
            self._subscribers.notify(RequestClosed(self._asks.pop(ask_id)[0], ask_id))

    # The tool host

    async def _request(
        self, server_id: str, message: JSONObject, began: Callable[[int], None] = lambda number: None
    ) -> JSON:
        if self._host is None:
            raise ServerError("The server does not run.")
        try:
            return await self._host.ask({**message, "server": server_id}, began)
        except HostError as error:
            raise ServerError(str(error)) from None

    async def _running_host(self) -> HostProcess:
        if self._host is not None and self._host.alive:
            return self._host
        if self._closed:
            raise HostError(_CLOSED)
        if self._host_start is None or self._host_start.done():
            self._host_start = self._tasks.start(self._start_host())
        return await asyncio.shield(self._host_start)

    async def _start_host(self) -> HostProcess:
        await asyncio.to_thread(_build_validators)
        host = self._host = self._open_host(self._receive, self._host_ended)
        await host.start()
        return host

    def _host_ended(self) -> None:
        words = "The process for tool servers ended by itself, and this server with it."
        for entry in self._entries.values():
            if entry.running is not None:
                self._server_ended(entry, words)
        for ask_id in tuple(self._asks):
            self._close_ask(ask_id)

    async def _start(self, entry: _Entry) -> None:
        try:
            await self._start_confirmed(entry)
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

    async def _start_confirmed(self, entry: _Entry) -> None:
        server_id = entry.live.server.id
        server = self.book.get(server_id)
        if self._closed:
            raise ServerError(_CLOSED)
        if server is None:
            raise ServerError(_REMOVED)
        self._cancel_restart(entry)
        if not self.book.confirmed(server):
            self._change(entry, server=server, state=State.UNCONFIRMED)
            what = "command line" if server.via is Via.STDIO else "address"
            raise ServerError(f"The {what} of “{server.name}” has to be confirmed first, in “Tool servers”.")
        if missing := missing_setting(server):
            raise ServerError(missing)
        self._change(entry, server=server, state=State.STARTING, problem="", stderr=(), restarts_in=None)
        try:
            secrets = await fetch(server, self.keys)
            token = await self.keys.get(server.id, ORIGIN, OAUTH) if server.oauth else None
            if token is not None:
                self.keys.add_parts(server.id, ORIGIN, tokens_in(token), OAUTH)
            host = await self._running_host()
        except (MissingSecretError, HostError) as error:
            raise ServerError(str(error)) from None
        current = self.book.get(server_id)  # the keyring may have waited for a person, who may have edited the server
        if (
            current is None
            or not self.book.confirmed(current)
            or self.book.fingerprint(current) != self.book.fingerprint(server)
        ):
            raise ServerError(f"“{server.name}” was changed while it started. Start it again.")
        entry.running = current
        changes = {
            "arguments": tuple(put_in(argument, secrets) for argument in current.arguments),
            "url": put_in(current.url, secrets),
        }
        spec = current.model_copy(update=changes).model_dump(mode="json")
        message = {"do": "start", "server": server_id, "spec": spec, "secrets": secrets}
        if token is not None:
            message["oauth"] = token.get_secret_value()
        try:
            await host.ask(message)
        except HostError as error:
            raise ServerError(str(error)) from None

    # Notices of the tool host

    def _receive(self, message: JSONObject) -> None:
        server_id = message.get("server", "")
        if message["is"] == "progress":
            self._receive_progress(message)
            return
        entry = self._entries.get(server_id)
        if entry is None:
            return
        match message["is"]:
            case "frames":
                self._receive_frames(entry, message)
            case "log":
                self._receive_log(entry, message)
            case "stderr":
                self._change(entry, stderr=tuple(message["lines"]))
            case "offers":
                self._receive_offers(entry, message)
            case "state":
                self._receive_state(entry, message)
            case "ask":
                ask = _REQUEST.validate_python(message["ask"])
                self._asks[ask.id] = server_id, ask
                self._subscribers.notify(RequestReceived(server_id, ask))
            case "answered":
                self._close_ask(message["ask"])
            case "updated":
                self._subscribers.notify(ResourceUpdated(server_id, message["uri"]))
            case "browser":
                self._subscribers.notify(SignInWanted(server_id, message["url"]))
            case "keep":
                self._tasks.start(self._save_sign_in(server_id, message["secret"]))

    def _receive_progress(self, message: JSONObject) -> None:
        ticket = self._tickets.get(message["of"])
        if ticket is not None:
            ticket.done, ticket.total, ticket.words = message["done"], message["total"], message["words"]
            ticket.changed()

    def _receive_frames(self, entry: _Entry, message: JSONObject) -> None:
        server = entry.live.server
        frames = tuple(Frame.model_validate(frame) for frame in message["frames"])
        if message["missed"]:
            notice = f"{message['missed']:,} more messages came too fast to be stored."
            frames += (Frame(server=server.name, time=time.time(), sent=False, text="", size=0, notice=notice),)
        self.tape.add(frames)
        self._subscribers.notify(FramesReceived(server.id, frames))

    def _receive_log(self, entry: _Entry, message: JSONObject) -> None:
        tickets: dict[str, Ticket] = {}
        for line in message["lines"]:
            entry.log.append(LogLine(line["at"], line["level"], line["logger"], line["text"], line["call"]))
            ticket = self._tickets.get(line["call"])
            if ticket is not None:
                ticket.log.append(line["text"])
                tickets[ticket.id] = ticket
        if message["missed"]:
            words = f"{message['missed']:,} more lines came too fast to be stored."
            entry.log.append(LogLine(time.time(), "notice", "", words))
        self._change(entry)
        for ticket in tickets.values():
            ticket.changed()

    def _receive_offers(self, entry: _Entry, message: JSONObject) -> None:
        """Collect the parts of a list, which becomes visible with its last part."""
        kind, offers = message["kind"], entry.offers
        if message["first"]:
            offers[kind] = []
        offers.setdefault(kind, []).extend(_OFFERS[kind].validate_python(message["items"]))
        if not message["last"]:
            return
        if kind == "tools":
            self._change(entry, tools=tuple(offers[kind]), listed=True)
        elif kind == "prompts":
            self._change(entry, prompts=tuple(offers[kind]))
        else:
            self._change(entry, resources=(*offers.get("resources", ()), *offers.get("templates", ())))

    def _receive_state(self, entry: _Entry, message: JSONObject) -> None:
        state = State(message["state"])
        if state is State.READY:
            entry.ready_at = time.monotonic()
            details = {name: message[name] for name in ("title", "version", "protocol", "instructions")}
            self._change(entry, state=state, problem="", can=frozenset(message["can"]), **details)
        elif state is State.STARTING:
            self._change(entry, state=state)
        elif entry.live.state is State.READY and state is State.FAILED:
            self._server_ended(entry, message["problem"])
        else:
            entry.running = None
            self._change(entry, state=state, problem=message.get("problem", ""), restarts_in=None)

    async def _save_sign_in(self, server_id: str, secret: str) -> None:
        if secret:
            self.keys.add_parts(server_id, ORIGIN, tokens_in(Secret(secret)), OAUTH)
            await self.keys.set(server_id, ORIGIN, Secret(secret), OAUTH)
        else:
            await self.keys.delete(server_id, ORIGIN, OAUTH)

    # Restarts after a crash

    def _server_ended(self, entry: _Entry, problem: str) -> None:
        entry.running = None
        if time.monotonic() - entry.ready_at > SETTLED:
            entry.crashes = 0
        if entry.live.state is State.READY:
            self._schedule_restart(entry, problem)
        else:
            self._change(entry, state=State.FAILED, problem=problem, restarts_in=None)

    def _schedule_restart(self, entry: _Entry, problem: str) -> None:
        """Mark a server as failed, and restart it after a delay that grows, unless it crashed too often."""
        delay: float | None = None
        if entry.crashes < len(RESTARTS) and not self._closed:
            delay = RESTARTS[entry.crashes]
            entry.crashes += 1
            self._cancel_restart(entry)
            loop = asyncio.get_running_loop()
            entry.timer = loop.call_later(delay, lambda: self._tasks.start(self._restart_failed(entry)))
        self._change(entry, state=State.FAILED, problem=problem, restarts_in=delay)

    async def _restart_failed(self, entry: _Entry) -> None:
        entry.timer = None
        try:
            await self.start(entry.live.server.id)
        except ServerError:
            if entry.live.state is State.FAILED and entry.timer is None:
                self._schedule_restart(entry, entry.live.problem)

    def _cancel_restart(self, entry: _Entry) -> None:
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None

    # State of the servers

    def _entry(self, server_id: str) -> _Entry:
        entry = self._entries.get(server_id)
        if entry is None:
            server = self.book.get(server_id)
            if server is None:
                raise ServerError(_REMOVED)
            entry = self._entries[server_id] = _Entry(ServerSnapshot(server))
        return entry

    def _registry_changed(self) -> None:
        for server_id, entry in tuple(self._entries.items()):
            server, running = self.book.get(server_id), entry.running
            if server is None:
                self._tasks.start(self._remove(server_id))
                continue
            changed = server != entry.live.server
            self._change(entry, server=server)
            if changed and running is not None:
                if self.book.fingerprint(running) != self.book.fingerprint(server):
                    self._tasks.start(self.stop(server_id))
                elif self._host is not None and self._host.alive:
                    self._tasks.start(self._update(server))

    async def _update(self, server: ToolServer) -> None:
        with contextlib.suppress(ServerError):  # a server that ended meanwhile starts with the new settings
            await self._request(server.id, {"do": "change", "spec": server.model_dump(mode="json")})

    async def _remove(self, server_id: str) -> None:
        await self.stop(server_id)
        self._entries.pop(server_id, None)
        self._subscribers.notify(ServersChanged(server_id))

    def _change(self, entry: _Entry, **changes: Any) -> None:
        entry.live = replace(entry.live, log=tuple(entry.log), **changes)
        self._subscribers.notify(ServersChanged(entry.live.server.id))


def _build_validators() -> None:
    for adapter in (*_OFFERS.values(), _MESSAGES, _BLOCKS, _REQUEST):
        adapter.rebuild()
