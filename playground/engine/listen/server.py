"""The proxy: a server on loopback that passes requests on to one gateway, byte for byte, and records them.

A request is received whole and sent on as the same bytes. Of the answer, each read is sent on at once, and a decoded
copy without secrets is put on the tape. Nothing is repeated, no redirect is followed, and errors pass unchanged.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import SecretStr
from starlette.types import Receive, Scope, Send

from playground.domain.errors import Failure, FailureKind
from playground.domain.transcript import new_id
from playground.engine.cassettes.cassette import CassetteError
from playground.engine.gateways.redaction import values_of
from playground.engine.io.loopback_server import IDLE_TIMEOUT, LoopbackServer, wait_for_disconnect
from playground.engine.listen.breakpoints import BreakpointHooks
from playground.engine.listen.exchanges import EndedBy, Listened, Stage
from playground.engine.listen.headers import (
    all_values,
    decoded_body,
    header,
    headers_for_gateway,
    headers_for_program,
    masked_personal,
    masked_query,
    query_without_keys,
    secrets_in,
    without,
    without_keys,
)
from playground.engine.listen.hooks import Answer, ProgramRequest
from playground.engine.listen.mock_table import MockTable
from playground.engine.listen.paths import Target, is_loop, target_of
from playground.engine.listen.pauses import Breakpoints
from playground.engine.listen.prefixes import PrefixIndex
from playground.engine.listen.programs import program_of
from playground.engine.listen.recording import FolderRecorder, read_listened
from playground.engine.listen.summary import PriceOf, request_facts, whole_summary
from playground.gateway.connection import MEBIBYTE, Connection
from playground.gateway.prepared_request import PreparedRequest, gateway_headers, key_headers, secrets_for
from playground.gateway.redact import Redactor
from playground.gateway.relay import Relay
from playground.gateway.tape import Exchange, Headers, Read
from playground.gateway.transfer import Transfer, TransferError
from playground.protocols import DEFAULT
from playground.protocols.protocol import get_protocol
from playground.system.loopback import ambiguous_length, wrong_host
from playground.system.tasks import Tasks

MAX_REQUEST: Final = 256 * MEBIBYTE  # bytes of a body
MAX_CONNECTIONS: Final = 256
MAX_MEMORY: Final = 256 * MEBIBYTE  # bytes of the bodies of exchanges that have ended; older ones are removed
#: Seconds without a byte to the program after which a comment is sent while the answer to a stream is held.
KEEP_ALIVE: Final = 15.0
_KEEP_ALIVE_COMMENT: Final = b": held by Gateway Playground\n\n"
_LATEST_NOTE: Final = 0.25  # seconds until a request is put on the tape whose answer has not begun
_MAX_HEADERS: Final = 64 * 1024  # characters of names and values
_DRAINED: Final = 4  # times the largest request that are read of a larger one
_MOST_REDACTORS: Final = 64
_MOST_TRIES: Final = 1000
#: Headers in which programs name a session, and an agent in it.
_SESSIONS: Final = ("x-claude-code-session-id", "session_id", "session-id", "x-session-id", "x-openwebui-chat-id")
_AGENTS: Final = ("x-claude-code-agent-id", "x-agent-id")
_RETRY_COUNT: Final = "x-stainless-retry-count"
_LONGEST_ID: Final = 100  # characters
_LONGEST_PATH: Final = 2000  # characters of a path in the list
_SECRET_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class ListenSettings:
    """``connection`` is the gateway, with its key if ``stored_key``; else the program's own key is passed on.

    ``port`` 0 lets the system choose. ``secret_path``: the address contains a random secret. ``folder``: where the
    exchanges are recorded, None to keep them in memory only. ``secrets`` are further ones that no tape may contain.
    ``max_request`` limits the bytes of a request's body, ``max_memory`` those of all bodies in memory. ``hosts`` are
    accepted as Host besides loopback names. ``keep_alive`` is the time in seconds between two comments to a program
    whose stream is held. ``price_of`` returns the price of a model.
    """

    connection: Connection
    stored_key: bool = True
    port: int = 0
    secret_path: bool = True
    folder: Path | None = None
    secrets: Iterable[SecretStr] = ()
    max_request: int = MAX_REQUEST
    max_memory: int = MAX_MEMORY
    hosts: frozenset[str] = frozenset()
    keep_alive: float = KEEP_ALIVE
    price_of: PriceOf = lambda _: None


class ListenServer:
    """Start and close it on the same event loop.

    ``exchanges`` grows by one for each request. ``changed`` is called on that loop whenever one of them changed.
    ``breakpoints`` and ``table`` may be replaced at any time, from any thread. ``problem`` says why exchanges are not
    recorded any more.
    """

    def __init__(self, settings: ListenSettings, changed: Callable[[Listened], None] = lambda _: None) -> None:
        self.settings = settings
        self.exchanges: list[Listened] = []
        self.hooks = BreakpointHooks(self.changed)
        self.base_url = ""  # without /v1, with the secret path
        self.started_at = 0.0
        self.problem = ""
        self._changed = changed
        self._secret = secrets.token_hex(_SECRET_BYTES) if settings.secret_path else ""
        self._server = LoopbackServer(self._answer, settings.port, limit=MAX_CONNECTIONS)
        self._relay: Relay | None = None
        self._redactors: dict[tuple[str, ...], Redactor] = {}
        self._closing = False
        self._tasks = Tasks()
        self._finishing: set[asyncio.Task[None]] = set()
        self._writing = asyncio.Lock()  # exchanges are summarized and recorded one after another
        self._prefixes = PrefixIndex()
        self._tries: dict[tuple[str, str, str], tuple[int, Listened]] = {}
        self._writer: FolderRecorder | None = None
        self._first_number = 1
        self._in_memory: deque[tuple[Listened, int]] = deque()
        self._memory = 0  # bytes of the bodies of exchanges that have ended

    @property
    def breakpoints(self) -> Breakpoints:
        """The choice of requests and answers that pause."""
        return self.hooks.breakpoints

    @breakpoints.setter
    def breakpoints(self, breakpoints: Breakpoints) -> None:
        self.hooks.breakpoints = breakpoints

    @property
    def table(self) -> MockTable | None:
        """The mock table that answers requests; None for none."""
        return self.hooks.table

    @table.setter
    def table(self, table: MockTable | None) -> None:
        self.hooks.table = table

    async def start(self) -> str:
        """Listen; return the address to give to programs, without ``/v1``.

        Raises OSError for a port that cannot be used and ValueError for unusable settings, both in words.
        """
        relay = Relay(self.settings.connection)
        port = self.settings.port
        if port and is_loop(relay.address.base, port):
            raise ValueError(
                f"The gateway {relay.address.base} is the address of Listen itself. Choose another gateway or port."
            )
        folder = self.settings.folder
        if folder is not None:
            try:
                self._writer = await asyncio.to_thread(FolderRecorder, folder)
            except OSError as error:
                raise OSError(f"{folder} cannot be used for a recording: {error.strerror or error}.") from None
            self._first_number = self._writer.next_number
        try:
            await relay.open()
            host, port = await self._server.start()
        except (OSError, ValueError):
            await relay.aclose()
            await self.aclose()
            raise
        self._relay = relay
        if is_loop(relay.address.base, port):  # the system chose the port of a gateway that has ended
            await self.aclose()
            raise OSError(f"Nothing answers at {relay.address.base}. Start the gateway first.")
        self.base_url = f"http://{host}:{port}" + (f"/r/{self._secret}" if self._secret else "")
        self.started_at = time.time()
        return self.base_url

    async def aclose(self) -> None:
        """Close the port, end the exchanges under way and mark them. Safe to call twice."""
        self._closing = True
        await self._server.aclose()
        relay, self._relay = self._relay, None
        if relay is not None:
            await relay.aclose()
        if self._finishing:
            await asyncio.wait(self._finishing)
        if self._writer is not None:
            self._writer.close()

    def load(self, listened: Listened) -> Exchange:
        """Return the tape of an exchange with its bodies, also if they were removed from memory. Blocks.

        Raises CassetteError in words.
        """
        if not listened.exchange.dropped or self._writer is None or listened.summary is None:
            return listened.exchange
        return read_listened(self._writer.folder, listened.summary).exchange

    # ---- one request ---------------------------------------------------------------------------------------------

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; this is the ASGI application."""
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
        path = self._path_below(scope["raw_path"].decode("latin-1"))
        refusal = self._refusal(headers, path, scope["http_version"])
        if refusal is not None or path is None or self._relay is None:
            status, words = refusal or (404, "Nothing is here. The address must be complete, with its secret part.")
            await _send_answer(send, _error_answer(status, words, "", close=True))
            return
        query = scope["query_string"].decode("latin-1")
        target = target_of(self._relay.address.base, scope["method"], path, query)
        redactor = self._redactor(headers, query)
        listened = self._begin(scope["method"], target, headers, redactor)
        passage = _Passage(self, self._relay, listened, target, redactor, send, scope["method"])
        try:
            await passage.run(headers, receive)
        finally:
            self._end(listened, passage)
        if passage.is_broken:
            self._server.hang_up(scope["client"])

    def _path_below(self, path: str) -> str | None:
        """Return the part of a path behind the secret; None if the secret is wrong."""
        if not self._secret:
            return path
        prefix = f"/r/{self._secret}"
        if not hmac.compare_digest(path[: len(prefix)].encode("latin-1"), prefix.encode()):
            return None
        below = path[len(prefix) :]
        return below if below.startswith("/") or not below else None

    def _refusal(self, headers: Headers, path: str | None, version: str) -> tuple[int, str] | None:
        """Return status and words for a request that a web page may have sent, or that has no certain end."""
        if words := wrong_host(all_values(headers, "host"), self.settings.hosts, "listen"):
            return 403, words
        if any(name.lower() == "origin" for name, _ in headers):
            return 403, "Web pages have no access: the request has an Origin header."
        if any(value.strip().lower() != "none" for value in all_values(headers, "sec-fetch-site")):
            return 403, "Web pages have no access: the request has a Sec-Fetch-Site header."
        if path is not None and path and not path.startswith("/"):
            return 403, "The request is for a proxy server; Listen passes requests on to its own gateway only."
        if words := ambiguous_length([name for name, _ in headers], version):
            return 400, words
        if sum(len(name) + len(value) for name, value in headers) > _MAX_HEADERS:
            return 431, f"The headers of the request are larger than {_MAX_HEADERS // 1024} KiB."
        return None

    def _redactor(self, headers: Headers, query: str) -> Redactor:
        """Return the redactor of one request; those of the last keys are kept, since it takes long to make one."""
        values = [*secrets_for(self.settings.connection), *values_of(self.settings.secrets), self._secret]
        key = tuple(dict.fromkeys((*values, *secrets_in(headers, query))))
        redactor = self._redactors.get(key)
        if redactor is None:
            if len(self._redactors) >= _MOST_REDACTORS:
                self._redactors.clear()
            redactor = self._redactors[key] = Redactor(key)
        return redactor

    def _begin(self, method: str, target: Target, headers: Headers, redactor: Redactor) -> Listened:
        """Add the exchange of a request whose headers were received."""
        url = redactor.text(_with_masked_query(target.url))
        exchange = Exchange(
            id=new_id(),
            method=method,
            url=url,
            request_headers=masked_personal(redactor.headers(without(headers, "host"))),
            request_body=b"",
            started_at=time.time(),
            protocol=target.protocol,
        )
        listened = Listened(
            number=self._first_number + len(self.exchanges),
            exchange=exchange,
            program=redactor.text(program_of(headers)),
            session=redactor.text(_first_of(headers, _SESSIONS)),
            agent=redactor.text(_first_of(headers, _AGENTS)),
        )
        listened.path = redactor.text(
            _with_masked_query(f"{target.path}?{target.query}" if target.query else target.path)
        )
        listened.path = listened.path[:_LONGEST_PATH]
        listened.notes += map(redactor.text, target.notes)
        self.exchanges.append(listened)
        self._changed(listened)
        return listened

    def _end(self, listened: Listened, passage: _Passage) -> None:
        """Mark an exchange as ended, and who ended it."""
        exchange = listened.exchange
        listened.pause = None
        passage.facts_are_due.set()
        listened.changes = [passage.redactor.text(change) for change in listened.changes]
        listened.stage = Stage.ENDED
        if listened.ended_by is None and self._closing:
            listened.ended_by = EndedBy.LISTENER
            listened.notes.append("Listen was stopped before the answer was complete.")
        elif listened.ended_by is None and not passage.is_whole:
            listened.ended_by = EndedBy.PROGRAM
            listened.notes.append(
                f"The program closed the connection after {passage.sent_bytes:,} bytes of the answer."
            )
        elif listened.ended_by is None:
            listened.ended_by = EndedBy.UPSTREAM
        if exchange.ended is None:
            exchange.ended = max(time.time() - exchange.started_at, 0.0)
        self._changed(listened)
        finishing = self._tasks.start(self._finish(listened, passage.facts, passage.redactor))
        self._finishing.add(finishing)
        finishing.add_done_callback(self._finishing.discard)

    async def note_request(self, listened: Listened, body: bytes, redactor: Redactor, is_due: asyncio.Event) -> None:
        """Put the decoded body of a request on the tape, without secrets, and its facts into the row.

        This is done once ``is_due`` is set, or after a short time: even in a thread, it would delay the answer.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_LATEST_NOTE):
                await is_due.wait()
        async with self._writing:
            listened.exchange.request_body = await asyncio.to_thread(redactor.data, body)
            listened.summary = await asyncio.to_thread(request_facts, listened, self._prefixes)
        self._changed(listened)

    def count_try(self, listened: Listened, headers: Headers, body: bytes) -> None:
        """Note the number of the try: as the program counts, else that of equal requests after one that failed."""
        counted = header(headers, _RETRY_COUNT)
        if counted.isdecimal() and len(counted) < 4:
            listened.retry = int(counted)
            return
        key = (listened.program, listened.session, listened.path)
        digest = hash(body)
        before, earlier = self._tries.get(key, (0, None))
        if earlier is not None and before == digest:
            status = earlier.exchange.status
            if earlier.stage is Stage.ENDED and (not earlier.exchange.complete or status is None or status >= 400):
                listened.retry = earlier.retry + 1
        if len(self._tries) >= _MOST_TRIES:
            self._tries.clear()
        self._tries[key] = digest, listened

    async def _finish(self, listened: Listened, facts: asyncio.Task[None] | None, redactor: Redactor) -> None:
        """Make the row of an exchange that has ended, record it, and remove old bodies from memory."""
        if facts is not None:
            await asyncio.wait((facts,))
        async with self._writing:
            first = listened.summary
            if first is None:
                first = await asyncio.to_thread(request_facts, listened, self._prefixes)
            summary = await asyncio.to_thread(whole_summary, listened, first, self.settings.price_of)
            if self._writer is not None and not self.problem:
                try:
                    await asyncio.to_thread(self._writer.add, listened, summary, redactor)
                except (OSError, CassetteError) as error:
                    words = (isinstance(error, OSError) and error.strerror) or error
                    self.problem = f"Exchanges are not recorded any more: {self._writer.folder}: {words}"
        listened.summary = summary
        size = len(listened.exchange.request_body) + listened.exchange.size
        self._in_memory.append((listened, size))
        self._memory += size
        while self._memory > self.settings.max_memory and len(self._in_memory) > 1:
            oldest, size = self._in_memory.popleft()
            oldest.exchange.drop()
            self._memory -= size
        self._changed(listened)

    def changed(self, listened: Listened, stage: Stage | None = None) -> None:
        """Report a change of an exchange, and its new stage if there is one; also for hooks."""
        if stage is not None:
            listened.stage = stage
        self._changed(listened)


class _Passage:
    """The way of one request to the gateway, and of its answer back to the program.

    ``is_whole``: the program got its answer to the end. ``is_broken``: the program's connection has to be closed,
    since its answer has no end. ``facts`` is the task that puts the request on the tape, once ``facts_are_due``.
    """

    def __init__(
        self,
        server: ListenServer,
        relay: Relay,
        listened: Listened,
        target: Target,
        redactor: Redactor,
        send: Send,
        method: str,
    ) -> None:
        self.is_whole = False
        self.is_broken = False
        self.sent_bytes = 0
        self.redactor = redactor
        self.facts: asyncio.Task[None] | None = None
        self.facts_are_due = asyncio.Event()
        self._server = server
        self._relay = relay
        self._listened = listened
        self._target = target
        self._send = send
        self._method = method
        self._tasks = Tasks()

    async def run(self, headers: Headers, receive: Receive) -> None:
        """Receive the request, pass it on, and give the program its answer. Never raises, unless cancelled."""
        try:
            body = await self._receive_body(receive)
        except ConnectionError:
            return
        except TimeoutError:
            await self._give_own(408, f"The request's body did not arrive within {IDLE_TIMEOUT} s.", close=True)
            return
        if body is None:
            most = self._server.settings.max_request / MEBIBYTE
            await self._give_own(
                413, f"The request is larger than {most:g} MiB, the most that Listen accepts.", close=True
            )
            self.is_broken = True
            return
        # The connection is watched while the answer is on its way: a program that leaves ends the gateway's work.
        passing = self._tasks.start(self._pass_on(headers, body))
        leaving = self._tasks.start(wait_for_disconnect(receive))
        try:
            await asyncio.wait((passing, leaving), return_when=asyncio.FIRST_COMPLETED)
            if self.is_whole:
                await passing
        finally:
            for task in (passing, leaving):
                task.cancel()
            await asyncio.wait((passing, leaving))
        if not self.is_whole:
            self.is_broken = True

    async def _receive_body(self, receive: Receive) -> bytes | None:
        """Return the body as received; None if it is too large. Raises ConnectionError and TimeoutError.

        The rest of a body that is too large is read and dropped: most clients read no answer before all is sent.
        """
        most = self._server.settings.max_request
        body = bytearray()
        size = 0
        while size <= _DRAINED * most:
            async with asyncio.timeout(IDLE_TIMEOUT):
                message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionError
            piece = message.get("body", b"")
            size += len(piece)
            if size <= most:
                body += piece
            else:
                body.clear()
            if not message.get("more_body", False):
                return bytes(body) if size <= most else None
        return None

    async def _pass_on(self, headers: Headers, body: bytes) -> None:
        server, listened = self._server, self._listened
        if "websocket" in header(headers, "upgrade").lower():
            listened.notes.append("A WebSocket was requested. The program was told to use HTTP.")
            words = "Listen passes on HTTP requests only. Send this request over HTTP."
            await self._give_own(426, words, ("connection", "Upgrade"), ("upgrade", "HTTP/1.1"))
            return
        passed, note = headers_for_gateway(headers)
        if note:
            listened.notes.append(self.redactor.text(note))
        request = ProgramRequest(self._method, self._target, passed, body, self.redactor)
        server.count_try(listened, headers, body)
        self._record_request(request)
        outcome = await server.hooks.before_sending(listened, request)
        if isinstance(outcome, Answer):
            listened.ended_by = EndedBy.LISTENER
            self._record_own_answer(outcome)
            await self._give(outcome, is_stream=False)
            return
        if outcome.body != body:
            if self.facts is not None:
                self.facts_are_due.set()
                await asyncio.wait((self.facts,))
                self.facts_are_due.clear()
            listened.original_request = listened.exchange.request_body
            request = replace(outcome, headers=without(outcome.headers, "content-encoding"))
            self._record_request(request)
        else:
            request = outcome
        await self._exchange(request)

    def _record_request(self, request: ProgramRequest) -> None:
        """Put the body of a request on the tape, decoded and without secrets."""
        decoded = request.decoded
        if decoded is None:
            encoding = header(request.headers, "content-encoding")[:40]
            self._listened.notes.append(
                f"The request is compressed ({encoding}) and was not decoded. It was passed on, and is not recorded."
            )
        work = self._server.note_request(self._listened, decoded or b"", self.redactor, self.facts_are_due)
        self.facts = self._tasks.start(work)

    def _record_own_answer(self, answer: Answer) -> None:
        """Put an answer that was made here on the tape, without secrets."""
        exchange = self._listened.exchange
        exchange.status, exchange.response_headers = answer.status, self.redactor.headers(answer.headers)
        exchange.answered = exchange.ended = max(time.time() - exchange.started_at, 0.0)
        exchange.reads = [Read(exchange.answered, self.redactor.data(answer.body))]
        exchange.wire_bytes = len(answer.body)
        exchange.complete = True
        self._listened.sent_answer = exchange.body

    def _prepared(self, request: ProgramRequest) -> PreparedRequest:
        """Return the request to the gateway, with the key as set. Raises ValueError in words."""
        settings, target = self._server.settings, self._target
        headers, url = request.headers, target.url
        if settings.stored_key:
            own = (*key_headers(settings.connection, target.family), *gateway_headers(settings.connection))
            headers = without_keys(headers)
            names = {name.lower() for name, _ in headers}
            # A version that the program names itself belongs to its body.
            versions = get_protocol(target.family).key_headers.keys() & names
            added = [pair for pair in own if pair[0].lower() not in versions]
            headers = (*without(headers, *(name.lower() for name, _ in added)), *added)
            address, mark, query = url.partition("?")
            query = query_without_keys(query)
            url = address + (mark + query if query else "")
        return PreparedRequest(self._method, url, headers, request.body)

    async def _exchange(self, request: ProgramRequest) -> None:
        """Send the request and pass the answer back."""
        listened, exchange = self._listened, self._listened.exchange
        try:
            prepared = self._prepared(request)
        except ValueError as error:
            await self._give_own(502, f"The request was not sent. {self.redactor.text(str(error))}")
            return
        transfer = self._relay.transfer(prepared, self.redactor, exchange)
        self._server.changed(listened, Stage.SENT)
        try:
            try:
                await transfer.start()
            finally:
                exchange.request_headers = masked_personal(exchange.request_headers)
            if self._server.hooks.holds_answer(listened, request):
                await self._hold(request, transfer)
            else:
                await self._relay_answer(transfer)
        except TransferError as error:
            exchange.failure = error.failure
            listened.ended_by = EndedBy.UPSTREAM
            if self.sent_bytes or exchange.status is not None:
                self.is_broken = True
            else:
                await self._give_own(502, f"Listen could not reach the gateway. {error.failure.message}", keep=True)
        finally:
            await transfer.aclose()
            if transfer.not_decoded:
                listened.notes.append(
                    self.redactor.text(f"{transfer.not_decoded} The answer was passed on, and is not recorded further.")
                )

    async def _relay_answer(self, transfer: Transfer) -> None:
        """Send status, headers and each read of the answer to the program as they arrive."""
        server, listened = self._server, self._listened
        server.changed(listened, Stage.ANSWERING)
        await self._start_answer(listened.exchange.status or 502, headers_for_program(transfer.received_headers))
        while (data := await transfer.read_raw()) is not None:
            await self._send_bytes(data)
            self.facts_are_due.set()
            await transfer.record(data)
            server.changed(listened)
        await self._finish_answer()

    async def _hold(self, request: ProgramRequest, transfer: Transfer) -> None:
        """Receive the whole answer, let the hook decide about it, and give it to the program."""
        server, listened = self._server, self._listened
        server.changed(listened, Stage.ANSWER_HELD)
        headers = headers_for_program(transfer.received_headers)
        status = listened.exchange.status or 502
        is_stream = status < 300 and header(headers, "content-type").lower().startswith("text/event-stream")
        has_comments = is_stream and decoded_body(headers, b"") is not None
        keeping = self._tasks.start(self._keep_alive(status, headers)) if has_comments else None
        body = bytearray()
        failure: TransferError | None = None
        changed: Answer | None = None
        try:
            try:
                while (data := await transfer.read_raw()) is not None:
                    body += data
                    await transfer.record(data)
                    server.changed(listened)
            except TransferError as error:
                failure = error
            decoded = decoded_body(headers, bytes(body))
            if decoded is not None and failure is None:
                received = Answer(status, without(headers, "content-encoding", "content-length"), decoded)
                changed = await server.hooks.on_answer(listened, request, received)
        finally:
            if keeping is not None:
                keeping.cancel()
                await asyncio.wait((keeping,))
        server.changed(listened, Stage.ANSWERING)
        if changed is not None:
            listened.sent_answer = self.redactor.data(changed.body)
            await self._give(changed, is_stream=is_stream)
            return
        if not listened.keep_alives:
            await self._start_answer(status, headers)
        # The headers that are sent with the first comment name no encoding.
        await self._send_bytes(decoded if listened.keep_alives and decoded is not None else bytes(body))
        if failure is not None:
            raise failure
        await self._finish_answer()

    async def _keep_alive(self, status: int, headers: Headers) -> None:
        """Send comments to a program whose stream is held, so that its time-outs do not end it."""
        while True:
            await asyncio.sleep(self._server.settings.keep_alive)
            self._listened.keep_alives += 1
            if self._listened.keep_alives == 1:
                await self._start_answer(status, without(headers, "content-encoding", "content-length"))
            await self._send({"type": "http.response.body", "body": _KEEP_ALIVE_COMMENT, "more_body": True})
            self._server.changed(self._listened)

    # ---- to the program ------------------------------------------------------------------------------------------

    async def _give_own(
        self, status: int, words: str, *more: tuple[str, str], close: bool = False, keep: bool = False
    ) -> None:
        """Answer with an error of our own; with ``keep``, the tape has the failure of the gateway's connection."""
        listened = self._listened
        answer = _error_answer(status, words, self._target.family, *more, close=close)
        if not keep:
            listened.ended_by = EndedBy.LISTENER
            listened.exchange.failure = Failure(kind=FailureKind.INPUT, message=words, status=status)
        listened.notes.append(f"Listen answered the program itself with status {status}.")
        listened.sent_answer = answer.body
        await self._give(answer, is_stream=False)

    async def _give(self, answer: Answer, *, is_stream: bool) -> None:
        """Send a whole answer; of a stream that comments have begun, only the body."""
        if not (is_stream and self._listened.keep_alives):
            length = (("content-length", str(len(answer.body))),)
            await self._start_answer(answer.status, (*without(answer.headers, "content-length"), *length))
        await self._send_bytes(answer.body)
        await self._finish_answer()

    async def _start_answer(self, status: int, headers: Headers) -> None:
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def _send_bytes(self, data: bytes) -> None:
        """Send a piece of the body; waits while the program reads slowly."""
        await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self.sent_bytes += len(data)

    async def _finish_answer(self) -> None:
        self.is_whole = True
        await self._send({"type": "http.response.body", "body": b""})


async def _send_answer(send: Send, answer: Answer) -> None:
    """Send a whole answer to a request that is not recorded."""
    length = str(len(answer.body))
    headers = [
        (name.encode(), value.encode("latin-1")) for name, value in (*answer.headers, ("content-length", length))
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def _error_answer(status: int, words: str, family: str, *more: tuple[str, str], close: bool = False) -> Answer:
    """Return an error of this server in the shape of a protocol."""
    body = get_protocol(family or DEFAULT).answers.error(status, words, "recorder_error")
    headers = (("content-type", "application/json"), *more, *((("connection", "close"),) if close else ()))
    return Answer(status, headers, json.dumps(body, ensure_ascii=False).encode())


def _with_masked_query(url: str) -> str:
    address, mark, query = url.partition("?")
    return address + mark + masked_query(query)


def _first_of(headers: Headers, names: Iterable[str]) -> str:
    """Return the value of the first of these headers that is present; empty without any."""
    return next((value for name in names if (value := header(headers, name))), "")[:_LONGEST_ID]
