"""The hooks of the proxy that pause requests and answers, and give answers made by hand or taken from a mock table."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from playground.domain.accumulator import Accumulator
from playground.engine.listen.exchanges import Listened, Stage
from playground.engine.listen.headers import header, masked_personal, without
from playground.engine.listen.hooks import Answer, ProgramRequest
from playground.engine.listen.mock_table import MockTable, offered_tools
from playground.engine.listen.pauses import (
    Breakpoints,
    Decision,
    Fail,
    GoOn,
    Pause,
    Reply,
    ReplyBody,
    SendRequest,
)
from playground.gateway.tape import Headers
from playground.jsonkit import foreign
from playground.jsonkit.texts import cut, listed
from playground.jsonkit.values import JSONObject, same
from playground.protocols.answer_format import AnswerCall, AnswerFormat
from playground.protocols.protocol import get_protocol
from playground.protocols.sse import SSEParser

_STREAM: Final = "text/event-stream"
_JSON: Final = "application/json"
#: Headers that describe the bytes of a body.
_OF_BODY: Final = ("content-encoding", "content-length", "content-type", "transfer-encoding", "etag", "digest")

_LEAST_ERROR: Final = 400
_LARGEST_STATUS: Final = 599

#: The time in the first event of a stream, in Unix seconds.
_CREATED: Final = re.compile(rb'"created(?:_at)?" ?: ?(\d{1,12})')
_LONGEST_NAME: Final = 60  # characters of a name in a note

Changed = Callable[[Listened, Stage | None], None]


class BreakpointHooks:
    """Pauses at breakpoints, and answers from a mock table.

    ``breakpoints`` and ``table`` may be replaced at any time, from any thread: what is paused and is not to pause any
    more goes on. ``changed`` reports a new stage.
    """

    def __init__(self, changed: Changed) -> None:
        self.table: MockTable | None = None
        self._breakpoints = Breakpoints()
        self._changed = changed
        self._paused: dict[int, tuple[Pause, frozenset[str]]] = {}  # with the names of the calls, by number

    @property
    def breakpoints(self) -> Breakpoints:
        """The choice of requests and answers that pause."""
        return self._breakpoints

    @breakpoints.setter
    def breakpoints(self, breakpoints: Breakpoints) -> None:
        self._breakpoints = breakpoints
        for pause, names in tuple(self._paused.values()):
            self._release_unless_chosen(pause, names)

    def _release_unless_chosen(self, pause: Pause, names: frozenset[str]) -> None:
        """Let a pause go on that the present breakpoints do not ask for; ``names`` are those of its calls."""
        if not (self._pauses_at(names) if pause.is_answer else self._breakpoints.requests):
            pause.decide(GoOn())

    # -- requests ----------------------------------------------------------------------------------------------------

    async def before_sending(self, listened: Listened, request: ProgramRequest) -> ProgramRequest | Answer:
        """Pause a request of a known protocol, and return it as decided, or the answer to give in its place."""
        if not request.target.protocol or not (self._breakpoints.requests or self.table):
            return self._uncompressed(listened, request)
        decoded = request.decoded
        if decoded is None:
            listened.notes.append("The request was not paused: its body is compressed and cannot be decoded here.")
            return request
        decision: Decision = GoOn()
        if self._breakpoints.requests:
            outcome = partial(_outcome_of_request, request=request)
            pause = self._new_pause(decoded, _shown(request), outcome, is_answer=False)
            decision = await self._wait(listened, pause, Stage.REQUEST_PAUSED)
        result = _outcome_of_request(decision, request)
        if isinstance(result, Answer):
            words = f"failed by you with status {result.status}" if isinstance(decision, Fail) else "answered by you"
            listened.changes.append(words)
            return result
        if isinstance(decision, SendRequest):
            listened.changes += _request_changes(request, result)
        elif (answer := await self._answer_from_table(listened, request, decoded)) is not None:
            return answer
        return self._uncompressed(listened, result)

    async def _answer_from_table(self, listened: Listened, request: ProgramRequest, decoded: bytes) -> Answer | None:
        """Return the answer of the first row that fits a request."""
        table, body = self.table, _object(decoded)
        if table is None or body is None:
            return None
        match = await asyncio.to_thread(table.find, request.target.protocol, body)
        if match is None:
            return None
        try:
            answer = _outcome_of_request(match.decision, request)
        except ValueError as error:
            listened.notes.append(f"Row {match.number} of the mock table fits and cannot be used: {error}.")
            return None
        listened.changes.append(f"answered by row {match.number} of the mock table")
        return answer if isinstance(answer, Answer) else None

    def _uncompressed(self, listened: Listened, request: ProgramRequest) -> ProgramRequest:
        """Request an answer that will be held without compression, so that comments can be sent before it."""
        accepted = header(request.headers, "accept-encoding")
        if accepted in ("", "identity") or not self.holds_answer(listened, request):
            return request
        headers = tuple(
            (name, "identity" if name.lower() == "accept-encoding" else value) for name, value in request.headers
        )
        listened.notes.append("The answer was requested without compression, because it is held for a breakpoint.")
        return replace(request, headers=headers)

    # -- answers -----------------------------------------------------------------------------------------------------

    def holds_answer(self, listened: Listened, request: ProgramRequest) -> bool:
        """Return whether a request offers a tool whose calls pause."""
        if not self._breakpoints.calls or not request.target.protocol:
            return False
        return self._pauses_at(offered_tools(_object(request.decoded) or {}))

    def _pauses_at(self, names: frozenset[str]) -> bool:
        """Return whether a call of one of these tools pauses an answer."""
        tools = self._breakpoints.tools
        return self._breakpoints.calls and bool(names & tools if tools else names)

    async def on_answer(self, listened: Listened, request: ProgramRequest, answer: Answer) -> Answer | None:
        """Pause an answer with a call of a chosen tool, and return it as decided; None to release it unchanged."""
        protocol = get_protocol(request.target.protocol)
        body = await asyncio.to_thread(_body_of_answer, request.target.protocol, answer)
        names = frozenset(call.name for call in protocol.answers.calls(body)) if body is not None else frozenset()
        if body is None and 200 <= answer.status < 300:
            listened.notes.append("The answer was not paused: it is not complete, or its calls are not JSON.")
        if body is None or not self._pauses_at(names):
            return None
        outcome = partial(_outcome_of_answer, request=request, answer=answer, body=body, listened=listened)
        pause = self._new_pause(_encoded(body), (), outcome, is_answer=True)
        decision = await self._wait(listened, pause, Stage.ANSWER_PAUSED, names)
        result = outcome(decision)
        if result is not None:
            listened.changes += _answer_changes(decision, protocol.answers, body)
        return result

    # -- pauses ------------------------------------------------------------------------------------------------------

    def _new_pause(
        self, body: bytes, headers: Headers, outcome: Callable[[Decision], object], *, is_answer: bool
    ) -> Pause:
        """Return a pause that refuses decisions without an outcome."""

        def check(decision: Decision) -> str:
            try:
                outcome(decision)
            except ValueError as error:
                return str(error)
            return ""

        until = time.time() + self._breakpoints.time_limit
        return Pause(is_answer, body, headers, until, asyncio.get_running_loop().create_future(), check)

    async def _wait(
        self, listened: Listened, pause: Pause, stage: Stage, names: frozenset[str] = frozenset()
    ) -> Decision:
        """Wait for the decision; after the time limit it is to go on."""
        before = listened.stage
        listened.pause = pause
        self._paused[listened.number] = pause, names
        self._changed(listened, stage)
        self._release_unless_chosen(pause, names)  # another thread may have changed them since the check
        try:
            async with asyncio.timeout(max(pause.until - time.time(), 0)):
                return await pause.decision
        except TimeoutError:
            listened.notes.append("It went on by itself after the time limit of the breakpoint.")
            return GoOn()
        finally:
            listened.pause = None
            del self._paused[listened.number]
            self._changed(listened, before)


# -- decisions ---------------------------------------------------------------------------------------------------------


def _shown(request: ProgramRequest) -> Headers:
    """Return the headers of a request as a person sees them, with secrets and e-mail addresses masked."""
    return masked_personal(request.redactor.headers(request.headers))


def _outcome_of_request(decision: Decision, request: ProgramRequest) -> ProgramRequest | Answer:
    """Return a request as decided, or the answer to give. Raises ValueError in words."""
    if isinstance(decision, GoOn):
        return request
    if isinstance(decision, SendRequest):
        headers = request.headers if decision.headers is None else _unmasked(decision.headers, request)
        if decision.body == request.decoded:
            return replace(request, headers=headers)
        return replace(request, headers=without(headers, "content-encoding"), body=decision.body)
    return _own_answer(decision, request, _wants_stream(request))


def _outcome_of_answer(
    decision: Decision, request: ProgramRequest, answer: Answer, body: JSONObject, listened: Listened
) -> Answer | None:
    """Return an answer as decided, None for no change. Raises ValueError in words."""
    if isinstance(decision, GoOn) or (isinstance(decision, ReplyBody) and same(decision.body, body)):
        return None
    if isinstance(decision, SendRequest):
        raise ValueError("the request was sent before; only the answer can be changed now")
    is_stream = _media_type(answer) == _STREAM
    if isinstance(decision, Fail) and is_stream and listened.keep_alives:
        # The status was sent with the first comment, so the error is an event of the stream.
        answers = get_protocol(request.target.protocol).answers
        return replace(answer, body=answers.error_event(answers.error(decision.status, decision.message)))
    own = _own_answer(decision, request, is_stream)
    return replace(own, headers=(*without(answer.headers, *_OF_BODY), *own.headers))


def _own_answer(decision: Reply | ReplyBody | Fail, request: ProgramRequest, is_stream: bool) -> Answer:
    """Return an answer in the shape of the protocol. Raises ValueError for arguments that it cannot express."""
    answers = get_protocol(request.target.protocol).answers
    if isinstance(decision, Fail):
        if not _LEAST_ERROR <= decision.status <= _LARGEST_STATUS:
            raise ValueError(f"the status of an error is {_LEAST_ERROR} to {_LARGEST_STATUS}")
        body = _encoded(answers.error(decision.status, decision.message))
        return Answer(decision.status, (("content-type", _JSON),), body)
    if isinstance(decision, ReplyBody):
        value = decision.body
    else:
        asked = _object(request.decoded) or {}
        value = answers.make(asked, decision.text, decision.calls, created=int(time.time()))
    if is_stream:
        return Answer(200, (("content-type", _STREAM),), b"".join(answers.stream(value)))
    return Answer(200, (("content-type", _JSON),), _encoded(value))


def _unmasked(edited: Headers, request: ProgramRequest) -> Headers:
    """Return edited headers in which each value that is still masked is the secret again."""
    secrets: dict[tuple[str, str], list[str]] = {}
    for (name, value), (_, visible) in zip(request.headers, _shown(request), strict=True):
        if value != visible:
            secrets.setdefault((name.lower(), visible), []).append(value)
    headers = []
    for name, value in edited:
        values = secrets.get((name.lower(), value.strip()), [])
        headers.append((name, values.pop(0) if values else value))
    return tuple(headers)


def _wants_stream(request: ProgramRequest) -> bool:
    return (_object(request.decoded) or {}).get("stream") is True


# -- bodies ------------------------------------------------------------------------------------------------------------


def _body_of_answer(protocol: str, answer: Answer) -> JSONObject | None:
    """Return a successful answer in one piece; None for any other, and for one that is not complete."""
    if not 200 <= answer.status < 300:
        return None
    if _media_type(answer) != _STREAM:
        return _object(answer.body)
    spoken = get_protocol(protocol)
    decoder = spoken.decoder(_STREAM, len(answer.body) + 1)
    received = Accumulator()
    received.add_events([*decoder.decode_bytes(answer.body), *decoder.close()])
    if not received.complete:
        return None
    if not received.deviations and (whole := spoken.answers.last_whole(_events(answer.body))) is not None:
        return whole
    try:
        created = _CREATED.search(answer.body)
        return spoken.write_answer(received, int(created[1]) if created is not None else int(time.time()))
    except (ValueError, RecursionError):
        return None


def _events(stream: bytes) -> list[JSONObject]:
    """Return the JSON objects of a stream."""
    parser = SSEParser(len(stream) + 1)
    frames = [*parser.parse_bytes(stream), *parser.close()]
    objects = (_object(frame.data.encode("utf-8", "replace")) for frame in frames if frame.kind == "data")
    return [value for value in objects if value is not None]


def _object(body: bytes | None) -> JSONObject | None:
    """Return a body as a JSON object; None for any other."""
    try:
        value = foreign.parse((body or b"").decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _encoded(value: JSONObject) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _media_type(answer: Answer) -> str:
    return header(answer.headers, "content-type").partition(";")[0].strip().lower()


# -- changes in words --------------------------------------------------------------------------------------------------


def _request_changes(before: ProgramRequest, after: ProgramRequest) -> Iterator[str]:
    """Yield how a person changed a request."""
    if after.body != before.body:
        yield "request body edited"
    old, new = (
        {(name.lower(), value) for name, value in request.headers if name.lower() != "content-encoding"}
        for request in (before, after)
    )
    if names := sorted({name for name, _ in old ^ new}):
        yield f"headers edited: {listed(names)}"


def _answer_changes(decision: Decision, answers: AnswerFormat, received: JSONObject) -> Iterator[str]:
    """Yield how a person changed an answer."""
    if isinstance(decision, Fail):
        yield f"answer replaced by an error with status {decision.status}"
        return
    if not isinstance(decision, ReplyBody):
        yield "answer replaced by yours"
        return
    words = [*_call_changes(_calls_by_id(answers, received), _calls_by_id(answers, decision.body))]
    before, after = ([text.text for text in answers.texts(body)] for body in (received, decision.body))
    if before != after:
        words.append("text edited")
    yield from words or ["answer edited"]


def _calls_by_id(answers: AnswerFormat, body: JSONObject) -> dict[str, AnswerCall]:
    return {call.id or str(call.path): call for call in answers.calls(body)}


def _call_changes(before: dict[str, AnswerCall], after: dict[str, AnswerCall]) -> Iterator[str]:
    for id_, call in before.items():
        name, edited = cut(call.name, _LONGEST_NAME), after.get(id_)
        if edited is None:
            yield f"call of {name} dropped"
            continue
        if edited.name != call.name:
            yield f"call of {name} changed to {cut(edited.name, _LONGEST_NAME)}"
        if edited.arguments != call.arguments:
            yield f"arguments of {cut(edited.name, _LONGEST_NAME)} edited"
    for id_, call in after.items():
        if id_ not in before:
            yield f"call of {cut(call.name, _LONGEST_NAME)} added"
