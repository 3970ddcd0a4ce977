"""The connection to one server: its start, what it offers, requests to it, its notifications, and its end.

A connection lives in one task (``run``). Its other methods run in the tasks of their callers; cancelling such a task
cancels the request at the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import mcp_types as types
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types.version import LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, FileUrl, ValidationError

from playground import __version__
from playground.domain.tool_servers import ToolServer, Via
from playground.jsonkit.values import JSON, JSONObject
from playground.tool_host import reading
from playground.tool_host.limits import LONGEST_NAME
from playground.tool_host.offers import OFFERS, read_offer, send_offer
from playground.tool_host.outlet import Outlet
from playground.tool_host.questions import PendingQuestions
from playground.tool_host.report import ServerReport
from playground.tool_host.stdio import open_command
from playground.tool_host.tap import EXCHANGE, Exchange
from playground.tool_host.words import FaultError, fault_words

CLIENT: Final = types.Implementation(name="gateway-playground", title="Gateway Playground", version=__version__)
CONNECTING: Final = 60.0  # seconds to introduce itself: the first start of a server may download packages
ANSWERING: Final = 60.0  # seconds to answer anything but a call
_END_REASON: Final = 2.0  # seconds until the reason of a lost connection is known
_RELIST_DELAY: Final = 0.3  # seconds from the notification that a list changed until it is read again
_ROUNDS: Final = 10  # times that a server may ask back before it answers
_POLL_INPUT: Final = 0.25  # seconds before a request is repeated that the server wants repeated without any input
_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_CHANGED: Final = {
    "notifications/tools/list_changed": ("tools",),
    "notifications/prompts/list_changed": ("prompts",),
    "notifications/resources/list_changed": ("resources", "templates"),
}

Request = types.Request[Any, Any]


class _AnyResult(BaseModel):
    """A result of any shape: its members are read from the exchange."""


class Connection:
    """A connection to one server. See ``ServerReport`` for the parameters."""

    def __init__(self, server: ToolServer, secrets: dict[str, str], saved_sign_in: str, outlet: Outlet) -> None:
        self.report = ServerReport(server, secrets, saved_sign_in, outlet)
        self.questions = PendingQuestions(self.report)
        self.ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()  # empty, or why it failed
        self._session: ClientSession | None = None
        self._leaving = asyncio.Event()
        self._stale: set[str] = set()  # kinds of lists that have changed
        self._log_level = ""

    # Life

    async def run(self) -> None:
        """Connect, stay until ``leave`` or the server's end, and end everything that was started."""
        problem, report = "", self.report
        report.set_state("starting")
        try:
            async with AsyncExitStack() as stack:
                await self._connect(stack)
                report.set_state("ready", **self._introduction())
                self.ready.set_result("")
                await self._stay()
            problem = report.end_reason if not self._leaving.is_set() else ""
        except asyncio.CancelledError:
            raise
        except BaseExceptionGroup as group:
            problem = fault_words(group, report.server)
        except Exception as error:  # noqa: BLE001 - every failure is shown at the server
            problem = fault_words(error, report.server)
        finally:
            problem = report.mask.text(problem)
            if not self.ready.done():
                self.ready.set_result(problem or "The server was stopped while it started.")
            self._session = None
            report.tap.note(problem or "Stopped.", error=bool(problem))
            if report.state != "failed":
                report.set_state("failed" if problem else "stopped", problem=problem)

    async def change(self, server: ToolServer) -> None:
        """Use changed settings of the server: its time-out, its roots."""
        roots, self.report.server = self.report.server.roots, server
        if roots != server.roots and self._session is not None:
            with contextlib.suppress(Exception):
                await self._session.send_notification(types.RootsListChangedNotification())

    def leave(self) -> None:
        """End the connection: ``run`` returns soon."""
        self._leaving.set()
        self.report.wakeup.set()

    async def _connect(self, stack: AsyncExitStack) -> None:
        try:
            async with self._time_limit(CONNECTING):
                receive, send = await stack.enter_async_context(self._open_streams())
                session = ClientSession(
                    receive,
                    send,
                    elicitation_callback=lambda _context, params: self.questions.elicit(params),
                    sampling_callback=lambda _context, params: self.questions.sample(params),
                    sampling_capabilities=types.SamplingCapability(tools=types.SamplingToolsCapability()),
                    list_roots_callback=self._list_roots,
                    message_handler=self._handle_notification,
                    client_info=CLIENT,
                )
                self._session = await stack.enter_async_context(session)
                self.report.tap.note("Started." if self.report.server.via == Via.STDIO else "Connected.")
                await self._greet(session)
        except TimeoutError:
            raise FaultError(f"The server did not say who it is within {CONNECTING:g} seconds.") from None
        await self._list_offers({offer.kind for offer in OFFERS})

    def _open_streams(self) -> contextlib.AbstractAsyncContextManager[tuple[Any, Any]]:
        if self.report.server.via == Via.STDIO:
            return open_command(self.report)
        from playground.tool_host.remote import open_address

        return open_address(self.report)

    async def _greet(self, session: ClientSession) -> None:
        """Negotiate the version: by a handshake, and without one if the server refuses it."""
        exchange = Exchange()
        EXCHANGE.set(exchange)
        try:
            await session.initialize()
        except MCPError as error:
            if error.code in (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND):
                with contextlib.suppress(MCPError, RuntimeError, ValidationError):
                    await session.discover()
                    return
            raise await self._fault(error, exchange) from None

    async def _stay(self) -> None:
        wakeup = self.report.wakeup
        while not self._leaving.is_set() and not self.report.end_reason:
            await wakeup.wait()
            wakeup.clear()
            stale, self._stale = self._stale, set()
            if stale and not self._leaving.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._leaving.wait(), _RELIST_DELAY)
                try:
                    await self._list_offers(stale)
                except FaultError as error:
                    self.report.log("warning", "", f"Its list could not be read again: {error}")

    # What it offers

    @property
    def _version(self) -> str:
        version = self._session.protocol_version if self._session is not None else None
        return version or LATEST_HANDSHAKE_VERSION

    @property
    def _is_stateless(self) -> bool:
        """True for versions without a handshake: each request names the client, and an answer may be a question."""
        return self._version in MODERN_PROTOCOL_VERSIONS

    def _introduction(self) -> JSONObject:
        session, mask = self._session, self.report.mask
        info = session.server_info if session is not None else None
        return {
            "title": mask.text(reading.name((info.title or info.name) if info is not None else "")),
            "version": mask.text(reading.name(info.version if info is not None else "")),
            "protocol": self._version,
            "instructions": mask.text(reading.text(session.instructions if session is not None else "")),
            "can": sorted(self._capabilities()),
        }

    def _capabilities(self) -> set[str]:
        server = self._session.server_capabilities if self._session is not None else None
        if server is None:
            return set()
        names = ("tools", "prompts", "resources", "completions", "logging")
        result = {name for name in names if getattr(server, name) is not None}
        can_watch = server.resources is not None and server.resources.subscribe and not self._is_stateless
        return result | ({"subscribe"} if can_watch else set())

    async def _list_offers(self, kinds: set[str]) -> None:
        """Read these kinds of lists and send them to the window."""
        capabilities = self._capabilities()
        for offer in OFFERS:
            if offer.kind in kinds:
                is_offered = offer.capability in capabilities
                items = await read_offer(offer, self._ask_in_time, self.report) if is_offered else []
                send_offer(offer.kind, items, self.report)

    # Requests to it

    async def call(
        self, tool: str, arguments: JSONObject, ticket: str, on_progress: Callable[[JSONObject], None]
    ) -> JSONObject:
        """Call a tool and return its answer. ``on_progress`` receives progress notifications. Raises FaultError."""
        began = time.monotonic()
        server, tickets = self.report.server, self.report.tap.tickets
        clock: asyncio.Timeout | None = None

        async def report_progress(progress: float, total: float | None, message: str | None) -> None:
            if clock is not None and clock.when() is not None:
                clock.reschedule(asyncio.get_running_loop().time() + self.report.server.timeout)
            on_progress({"done": progress, "total": total, "words": self.report.cut(message or "")})

        request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
        tickets.add(ticket)
        try:
            async with self._time_limit(server.timeout, ticket) as clock:
                result = await self._ask(request, ticket, report_progress)
        except TimeoutError:
            raise FaultError(
                f"For {server.timeout:g} seconds the server did not answer, and reported no progress. "
                "The call was called off."
            ) from None
        finally:
            tickets.discard(ticket)
            self.questions.end_call(ticket)
        return reading.answer(result, server.name, tool, time.monotonic() - began).model_dump(mode="json")

    async def prompt(self, name: str, arguments: dict[str, str]) -> list[JSON]:
        """Return the messages of a prompt. Raises FaultError."""
        params = types.GetPromptRequestParams(name=name, arguments=arguments)
        result = await self._ask_in_time(types.GetPromptRequest(params=params))
        budget = reading.Budget()
        messages = [reading.message(value, budget) for value in reading.entries(result.get("messages"))[:1_000]]
        return [message.model_dump(mode="json") for message in messages]

    async def read(self, uri: str) -> list[JSON]:
        """Return the contents of a resource. Raises FaultError."""
        result = await self._ask_in_time(types.ReadResourceRequest(params=types.ReadResourceRequestParams(uri=uri)))
        budget = reading.Budget()
        contents = reading.entries(result.get("contents"))[:1_000]
        return [reading.content(value, budget).model_dump(mode="json") for value in contents]

    async def complete(self, ref: str, argument: str, value: str, arguments: dict[str, str]) -> list[str]:
        """Return completions for an argument of a prompt or template, given the other arguments. Raises FaultError."""
        params = types.CompleteRequestParams(
            ref=types.ResourceTemplateReference(uri=ref) if "{" in ref else types.PromptReference(name=ref),
            argument=types.CompletionArgument(name=argument, value=value),
            context=types.CompletionContext(arguments=arguments) if arguments else None,
        )
        result = await self._ask_in_time(types.CompleteRequest(params=params))
        values = reading.entries(reading.members(result.get("completion")).get("values"))
        return [reading.name(completion) for completion in values[:100] if isinstance(completion, str)]

    async def watch(self, uri: str, on: bool) -> None:
        """Subscribe to changes of a resource, or unsubscribe. Raises FaultError."""
        if on:
            await self._ask_in_time(types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri)))
        else:
            await self._ask_in_time(types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri)))

    async def set_level(self, level: str) -> None:
        """Request log messages of this level and above. Raises FaultError."""
        self._log_level = level if level in _LEVELS else ""
        if "logging" in self._capabilities() and self._log_level and not self._is_stateless:
            params = types.SetLevelRequestParams.model_validate({"level": self._log_level})
            await self._ask_in_time(types.SetLevelRequest(params=params))

    async def _ask_in_time(self, request: Request) -> JSONObject:
        try:
            async with self._time_limit(ANSWERING):
                return await self._ask(request)
        except TimeoutError:
            raise FaultError(f"The server did not answer within {ANSWERING:g} seconds.") from None

    async def _ask(self, request: Request, ticket: str = "", progress: ProgressFnT | None = None) -> JSONObject:
        """Return the result of a request, after answering what the server asks first. Raises FaultError."""
        for _ in range(_ROUNDS):
            result = await self._exchange(request, ticket, progress)
            params = request.params
            if result.get("resultType") != "input_required" or not isinstance(params, types.InputResponseRequestParams):
                return result
            request = request.model_copy(update={"params": await self._with_inputs(params, result)})
        raise FaultError(f"The server asked back more than {_ROUNDS} times.")

    async def _exchange(self, request: Request, ticket: str, progress: ProgressFnT | None) -> JSONObject:
        """Send a request and return its result as the server wrote it: ``reading`` reads what the protocol's own models
        refuse, as one bad tool in a list.
        """
        session = self._session
        if session is None:
            raise FaultError("The server does not run.")
        if self._is_stateless and self._log_level:
            request.params.meta = {types.LOG_LEVEL_META_KEY: self._log_level}
        exchange = Exchange(ticket)
        EXCHANGE.set(exchange)
        try:
            if isinstance(request, types.ListToolsRequest):  # the session learns which arguments become HTTP headers
                await session.list_tools(params=request.params)
            else:
                await session.send_request(request, _AnyResult, progress_callback=progress)
        except MCPError as error:
            raise await self._fault(error, exchange) from None
        except (ValueError, RecursionError):  # the result is no valid one, or nested too deeply
            if exchange.result is None:
                raise
        result, exchange.result = exchange.result or {}, None  # the context of this task may outlive the request
        return result

    async def _with_inputs(
        self, params: types.InputResponseRequestParams, result: JSONObject
    ) -> types.InputResponseRequestParams:
        """Return the parameters of a repeated request, with answers to the questions in the result."""
        try:
            required = types.InputRequiredResult.model_validate(result, by_name=False)
        except ValidationError:
            raise FaultError("The server asks something before it answers, and its question cannot be read.") from None
        answers: types.InputResponses = {}
        for key, question in (required.input_requests or {}).items():
            answer = await self._answer_input(question)
            if isinstance(answer, types.ErrorData):
                raise FaultError(self._refusal(answer))
            answers[key] = answer
        if not answers:
            await asyncio.sleep(_POLL_INPUT)
        return params.model_copy(update={"input_responses": answers or None, "request_state": required.request_state})

    async def _answer_input(self, question: types.InputRequest) -> types.InputResponse | types.ErrorData:
        match question:
            case types.CreateMessageRequest():
                return await self.questions.sample(question.params)
            case types.ElicitRequest():
                return await self.questions.elicit(question.params)
            case _:
                return types.ListRootsResult(roots=_roots_of(self.report.server))

    async def _fault(self, error: MCPError, exchange: Exchange) -> FaultError:
        report = self.report
        if error.code == types.CONNECTION_CLOSED and (report.end_reason or not exchange.is_answered):
            with contextlib.suppress(TimeoutError):  # writing may fail before reading has the reason
                await asyncio.wait_for(report.ended.wait(), _END_REASON)
            return FaultError(report.end_reason or "The connection ended before it answered.")
        return FaultError(report.cut(exchange.problem) or self._refusal(error.error))

    def _refusal(self, error: types.ErrorData) -> str:
        return f"The server refused: {self.report.cut(error.message)} (code {error.code})."

    @asynccontextmanager
    async def _time_limit(self, seconds: float, ticket: str = "") -> AsyncIterator[asyncio.Timeout]:
        """Limit the time, which does not run while a person answers a question or signs in. Raises TimeoutError."""
        loop = asyncio.get_running_loop()
        timer: asyncio.TimerHandle | None = None

        def extend() -> None:
            nonlocal timer
            if (self.questions.delay(ticket) or self.report.is_signing_in) and not clock.expired():
                with contextlib.suppress(RuntimeError):
                    clock.reschedule(loop.time() + seconds)
            timer = loop.call_later(min(1.0, seconds / 4), extend)

        try:
            async with asyncio.timeout(seconds) as clock:
                extend()
                yield clock
        finally:
            if timer is not None:
                timer.cancel()

    # Notifications and requests from it

    async def _handle_notification(self, message: types.ServerNotification | Exception) -> None:
        if isinstance(message, types.LoggingMessageNotification):
            params = message.params
            text = params.data if isinstance(params.data, str) else reading.encoded(params.data)
            self.report.log(params.level, params.logger or "", text or "(not to be shown)")
        elif isinstance(message, types.ResourceUpdatedNotification):
            uri = str(message.params.uri)[:LONGEST_NAME]
            self.report.send_latest(f"updated {uri}", {"is": "updated", "uri": uri})
        elif not isinstance(message, Exception) and (kinds := _CHANGED.get(message.method)):
            self._stale.update(kinds)
            self.report.wakeup.set()

    async def _list_roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        return types.ListRootsResult(roots=_roots_of(self.report.server))


def _roots_of(server: ToolServer) -> list[types.Root]:
    paths = [Path(root).expanduser() for root in server.roots]
    return [types.Root(uri=FileUrl(path.as_uri()), name=path.name or str(path)) for path in paths if path.is_absolute()]
