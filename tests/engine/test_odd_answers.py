"""Answers as odd as gateways send them, over a real socket, in both protocols: what is kept, and how it is reported.

One row is one oddity. An answer that can be used is a whole turn; one that cannot says what was odd; Lint names either.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

import pytest

from playground.domain.debugging import Answer
from playground.domain.errors import FailureKind
from playground.domain.transcript import Ending, Role, Turn, make_turn
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Experiment, Session
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection, Timeouts
from tests.engine.inspect.lint.answers import (
    HEAD,
    JSON,
    NATIVE_TOOL,
    NATIVE_USAGE,
    TOOL,
    USAGE,
    begun,
    block,
    choice,
    counted,
    ended,
    event,
    first,
    good,
    native,
    reviewed,
    text_block,
    whole,
)
from tests.protocols.streams import DONE, data
from tests.support.fault_server import FaultServer, Step, chunk, head, send
from tests.support.fault_server import whole as with_length

SSE = "text/event-stream"
COUNTED = {"stream_options": {"include_usage": True}}
WHOLE = {"stream": False}
PAGE = b"<html><head><title>502 Bad Gateway</title></head></html>"
WENT_AWAY = {"error": {"message": "upstream went away", "type": "server_error", "code": 500}}
HELLO = first("Hello") + good({}, "stop")
CHAT = HELLO + counted() + DONE
NATIVE = begun() + text_block("Hello") + ended()
CLOSES = "Connection: close"  # who is not told asks once more over what may be closed already
CHAT_BODY = whole(choice("Hello"))
NATIVE_BODY = native({"type": "text", "text": "Hello"})


class Odd(NamedTuple):
    """A played answer and the expected result: texts of all completions, codes on the turn, codes in Lint beside."""

    name: str
    protocol: str
    body: bytes
    asked: dict[str, Any] = {}  # noqa: RUF012 - never changed
    content_type: str | None = SSE
    headers: tuple[str, ...] = ()
    texts: tuple[str, ...] = ("Hello",)
    noted: frozenset[str] = frozenset()
    linted: frozenset[str] = frozenset()
    failure: FailureKind | None = None
    words: str = ""

    def steps(self) -> Step:
        """A stream ends with its connection, a body has its length."""
        if self.content_type == SSE and not self.headers:
            return send(head(200, SSE), self.body)
        return send(with_length(200, self.content_type, self.body, CLOSES, *self.headers))


def odd(name: str, protocol: str, body: bytes, noted: str = "", linted: str = "", **more: Any) -> Odd:
    return Odd(name, protocol, body, noted=frozenset(noted.split()), linted=frozenset(linted.split()), **more)


def both(name: str, *values: Any, **more: Any) -> Iterator[Odd]:
    """A case for both protocols: a body of each, and the codes."""
    chat, messages, *codes = values
    yield odd(name, "chat", chat, *codes, **more)
    yield odd(name, "messages", messages, *codes, **more)


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def usable() -> Iterator[Odd]:
    """Answers that are complete, however odd."""
    open_end: dict[str, Any] = {
        "headers": ("X-Ended: well",)
    }  # with its length, so that it is known to have come to its end
    yield from both(
        "neither reason nor end", first("Hello"), begun() + text_block("Hello"), "no_finish_reason", **open_end
    )
    yield odd("an end without a reason", "chat", first("Hello") + DONE, "no_finish_reason", "usage_missing")
    yield odd(
        "an end without a reason", "messages", begun() + text_block("Hello") + event("message_stop"), "no_finish_reason"
    )
    yield odd("counts as the end", "chat", first("Hello") + counted(), "no_finish_reason", asked=COUNTED)
    yield odd("no end marker", "chat", HELLO + counted(), "no_end_marker", asked=COUNTED)
    yield odd("two end markers", "chat", CHAT + DONE, "end_twice", asked=COUNTED)
    yield odd("more after the end", "chat", CHAT + first("more"), "data_after_end", asked=COUNTED)
    for kind in ("text/plain", "application/octet-stream", None):
        yield from both(f"a stream as {kind}", CHAT, NATIVE, "", "stream_type", content_type=kind, asked=COUNTED)
    for kind in (JSON, "text/html"):
        yield from both(f"a stream as {kind}", CHAT, NATIVE, "content_type", content_type=kind, asked=COUNTED)
    for kind in (JSON, "text/plain", None):
        yield from both(f"one body as {kind}", CHAT_BODY, NATIVE_BODY, "not_streamed", content_type=kind)
    yield from both("one body as a stream", CHAT_BODY, NATIVE_BODY, "json_body")
    yield from both("a stream for one body", CHAT, NATIVE, "streamed_unasked", asked=WHOLE)
    yield from both("a byte order mark", b"\xef\xbb\xbf" + CHAT, b"\xef\xbb\xbf" + NATIVE, asked=COUNTED)
    for spelling in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        bodies = (CHAT_BODY.decode().encode(spelling), NATIVE_BODY.decode().encode(spelling))
        yield from both(f"one body in {spelling}", *bodies, "charset", content_type=JSON, asked=WHOLE)
        streams = (CHAT.decode().encode(spelling), NATIVE.decode().encode(spelling))
        yield from both(f"a stream in {spelling}", *streams, "charset", asked=COUNTED)
    says, lacks = ("Content-Encoding: gzip",), ("X-Said: nothing",)
    yield from both("plain that says gzip", CHAT, NATIVE, "content_encoding", headers=says, asked=COUNTED)
    packed = (gzip.compress(CHAT), gzip.compress(NATIVE))
    yield from both("gzip that does not say so", *packed, "content_encoding", headers=lacks, asked=COUNTED)
    yield from both("gzip", *packed, headers=says, asked=COUNTED)
    chunks = [
        {**HEAD, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in (({"role": "assistant", "content": "Hel"}, None), ({"content": "lo"}, "stop"))
    ]
    events = [json.loads(line[6:]) for line in NATIVE.decode().splitlines() if line.startswith("data: ")]
    ndjson = (lines(*chunks), lines(*events))
    yield from both("lines of JSON", *ndjson, "stray_text", "stream_type", content_type="application/x-ndjson")
    twice = tuple(body.replace(b"data: ", b"data: data: ") for body in (CHAT, NATIVE))
    yield from both("data: twice", *twice, "data_twice", asked=COUNTED)
    strings = b"".join(data(json.dumps(entry)) for entry in chunks) + DONE
    yield odd("JSON in a string", "chat", strings, "json_twice")
    yield odd(
        "no ids at all",
        "chat",
        data({"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]}) + DONE,
        "choice_index_missing",
        "id_missing model_missing created_missing object_other",
    )
    yield odd(
        "another id on the way",
        "chat",
        first("Hel") + good({"content": "lo"}, "stop", id="c-2") + DONE,
        "",
        "id_changed",
    )
    yield odd(
        "reason before the text",
        "chat",
        good({"role": "assistant"}, "stop") + first("Hello") + DONE,
        "finish_reason_early",
    )
    yield odd("more after the reason is cut", "chat", HELLO + b'data: {"id": "c-', "broken_event no_end_marker")


def counts() -> Iterator[Odd]:
    """Usage that is wrong, elsewhere or not there."""
    for name, usage, noted, linted in (
        ("null", None, "", "usage_missing"),
        ("nothing", {}, "", "usage_missing"),
        ("a list", [1], "usage_shape", "usage_missing"),
        ("text", "12", "usage_shape", "usage_missing"),
        ("below 0", {"prompt_tokens": -1, "completion_tokens": 3, "total_tokens": 2}, "", "usage_counts"),
        ("nulls", dict.fromkeys(USAGE), "", "usage_counts"),
        ("texts", {name: str(count) for name, count in USAGE.items()}, "", "usage_counts"),
        ("0 for something", dict.fromkeys(USAGE, 0), "", "usage_zero"),
    ):
        yield odd(f"usage: {name}", "chat", HELLO + counted(usage) + DONE, noted, linted, asked=COUNTED)
    yield odd("usage: never", "chat", HELLO + DONE, "", "usage_missing", asked=COUNTED)
    inside = {"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}
    body = first("Hello") + data({**HEAD, "object": "chat.completion.chunk", "choices": [inside]}) + DONE
    yield odd("usage: in a choice", "chat", body, "usage_elsewhere", asked=COUNTED)
    body = first("Hello") + good({}, "stop", x_groq={"usage": USAGE}) + DONE
    yield odd("usage: in x_groq", "chat", body, "usage_elsewhere", asked=COUNTED)
    body = (
        good({"role": "assistant", "content": "Hello"}, usage={**USAGE, "total_tokens": 6})
        + HELLO[len(first("Hello")) :]
    )
    yield odd("usage: again and again", "chat", body + counted() + DONE, "usage_repeated", asked=COUNTED)
    for name, values, linted in (
        ("texts", {"input_tokens": "5", "output_tokens": "3"}, "usage_counts"),
        ("below 0", {"input_tokens": -5, "output_tokens": -3}, "usage_counts"),
        ("null", None, "usage_missing"),
    ):
        yield odd(
            f"usage: {name}", "messages", begun(usage=values) + text_block("Hello") + ended(usage=values), "", linted
        )


def several() -> Iterator[Odd]:
    """Other completions than were asked for."""
    two = {"n": 2}
    yield odd("n is not done", "chat", CHAT, "choices_count", asked={"n": 3, **COUNTED})
    yield odd("n is not done, whole", "chat", CHAT_BODY, "choices_count", asked={"n": 3, **WHOLE}, content_type=JSON)
    pair: dict[str, Any] = {"texts": ("Hello", "World"), "asked": {**two, **WHOLE}, "content_type": JSON}
    yield odd("one index for two", "chat", whole(choice("Hello"), choice("World")), "choice_index_repeated", **pair)
    body = whole(choice("Hello"), choice("World", None, index=1))
    yield odd("choice 1 has no reason", "chat", body, "no_finish_reason", **pair)
    body = first("Hello") + first("World", index=1) + good({}, "stop") + DONE
    yield odd("choice 1 has no reason, streamed", "chat", body, "no_finish_reason", asked=two, texts=("Hello", "World"))


def unusable() -> Iterator[Odd]:
    """Answers that cannot be used, with the reason shown."""
    error: dict[str, Any] = {"failure": FailureKind.STREAM, "words": "upstream went away", "linted": "error_inside"}
    for request in (WHOLE, {}):
        for name, value in (
            ("object", WENT_AWAY),
            ("list", [WENT_AWAY]),
            ("flat", {"code": 500, "message": "upstream went away", "data": None}),
        ):
            body = json.dumps(value).encode()
            yield from both(f"an error as {name}", body, body, asked=request, content_type=JSON, texts=("",), **error)
    middle = (first("Hello"), begun() + text_block("Hello"))
    for name, tail in (
        ("an object", data(WENT_AWAY)),
        ("a list", data([WENT_AWAY])),
        ("an event", data(WENT_AWAY, "error")),
        ("an event of words", b"event: error\ndata: upstream went away\n\n"),
        ("a bare line", json.dumps(WENT_AWAY).encode() + b"\n"),
    ):
        yield from both(f"an error in mid-stream: {name}", *(body + tail for body in middle), **error)
    cut: dict[str, Any] = {"failure": FailureKind.CUT_OFF}
    yield from both(
        "a page in mid-stream",
        *(body + PAGE + b"\n" for body in middle),
        "stray_text cut_off",
        words="“502 Bad Gateway”",
        **cut,
    )
    yield from both(
        "cut off", first("Hello"), begun() + text_block("Hello"), "cut_off", words="neither a finish reason", **cut
    )
    nothing: dict[str, Any] = {"texts": ("",)}
    yield from both(
        "keep-alives only", *([b": alive\n\n" * 5] * 2), "cut_off", words="before any event", **nothing, **cut
    )
    page: dict[str, Any] = {"failure": FailureKind.DECODE, "words": "502 Bad Gateway", **nothing}
    yield from both("a page", PAGE, PAGE, "not_json", content_type="text/html", **page)
    yield from both("a page as a stream", PAGE, PAGE, "not_json", **page)
    words: dict[str, Any] = {"failure": FailureKind.DECODE, "words": "upstream connect error", **nothing}
    yield from both(
        "words", *([b"upstream connect error"] * 2), "stray_text not_json", content_type="text/plain", **words
    )
    second: dict[str, Any] = {"failure": FailureKind.OTHER_PROTOCOL, "words": "This is an answer of", **nothing}
    yield from both("the other protocol", NATIVE, CHAT, "other_protocol", **second)
    yield from both(
        "the other protocol, whole", NATIVE_BODY, CHAT_BODY, "other_protocol", asked=WHOLE, content_type=JSON, **second
    )
    empty: dict[str, Any] = {"failure": FailureKind.EMPTY, "words": "neither text nor a call", **nothing}
    yield from both("a well-formed nothing", first("") + good({}, "stop") + DONE, begun() + ended(), "empty", **empty)
    none: dict[str, Any] = {"failure": FailureKind.NO_BODY, **nothing}
    yield from both("no body", b"", b"", "no_body", content_type=JSON, **none)
    native_lines = lines({"model": "m", "message": {"content": "Hel"}, "done": False}, {"model": "m", "done": True})
    yield odd(
        "a vendor's own lines",
        "chat",
        native_lines,
        "unknown_object stray_text",
        "stream_type",
        content_type="application/x-ndjson",
        failure=FailureKind.DECODE,
        words="not a chunk",
        **nothing,
    )


ROWS = [*usable(), *counts(), *several(), *unusable()]


@pytest.fixture
async def open_session(server: FaultServer) -> AsyncIterator[Callable[..., Session]]:
    timeouts = Timeouts(connect=5, first=5, idle=5, settle=1)
    client = GatewayClient(Connection(base_url=server.url, key=Secret("k"), retries=0, timeouts=timeouts))

    async def connect(_profile_id: str) -> GatewayClient:
        return client

    def make(protocol: str, fields: dict[str, Any]) -> Session:
        profile = Profile(id="p", base_url=server.url)
        session = Experiment(connect, profile_id="p", model="m-1", protocol=protocol, profile_of=lambda _: profile).main
        limits = {"max_tokens": 100} if protocol == "messages" else {}
        fields = {name: value for name, value in fields.items() if protocol == "chat" or name != "stream_options"}
        session.change(extra_body={"stream": True, **limits, **fields})
        session.turns.add_turn(make_turn(Role.USER, "Hello"))
        return session

    yield make
    await client.aclose()


def answers(session: Session) -> list[Turn]:
    last = session.transcript.path[-1]
    return [session.transcript.turns[key] for key in session.transcript.siblings(last.id)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.protocol}: {row.name}")
async def test_an_odd_answer(row: Odd, server: FaultServer, open_session: Callable[..., Session]) -> None:
    server.play(row.steps())
    session = open_session(row.protocol, row.asked)
    await session.run()
    turns = answers(session)
    assert tuple(turn.text for turn in turns) == row.texts
    outcome = turns[0].outcome
    assert outcome is not None
    if row.failure is None:
        assert outcome.failure is None
        assert outcome.ending is Ending.COMPLETE
    else:
        assert outcome.failure is not None
        assert outcome.failure.kind is row.failure
        assert row.words in outcome.failure.message
    assert row.noted <= set(dict(outcome.deviations))
    (tape,) = session.exchanges.values()
    results = {finding.code for finding in reviewed(tape).findings}
    assert row.noted | row.linted <= results | ({"broken_after_end"} & row.noted)


@pytest.mark.parametrize("protocol", ["chat", "messages"])
async def test_a_connection_dropped_after_the_reason(
    protocol: str, server: FaultServer, open_session: Callable[..., Session]
) -> None:
    stop = event("message_delta", delta={"stop_reason": "end_turn"}, usage=NATIVE_USAGE)
    body = HELLO if protocol == "chat" else begun() + text_block("Hello") + stop
    server.play(send(head(200, SSE, chunked=True)), send(chunk(body)))
    session = open_session(protocol, {})
    await session.run()
    (turn,) = answers(session)
    assert turn.text == "Hello"
    assert turn.outcome is not None
    assert turn.outcome.ending is Ending.COMPLETE
    assert {"no_end_marker", "broken_after_end"} <= set(dict(turn.outcome.deviations))


@pytest.mark.parametrize("protocol", ["chat", "messages"])
async def test_a_connection_dropped_before_it_is_an_error_although_it_was_delimited(
    protocol: str, server: FaultServer, open_session: Callable[..., Session]
) -> None:
    body = first("Hello") if protocol == "chat" else begun() + text_block("Hello")
    server.play(send(head(200, SSE, chunked=True)), send(chunk(body)))
    session = open_session(protocol, {})
    await session.run()
    (turn,) = answers(session)
    assert turn.text == "Hello"
    assert turn.outcome is not None
    assert turn.outcome.failure is not None
    assert turn.outcome.failure.kind is FailureKind.CONNECTION


async def test_a_completion_that_ended_is_whole_where_its_sibling_stopped_short(
    server: FaultServer, open_session: Callable[..., Session]
) -> None:
    server.play(send(head(), first("Hello"), first("Wor", index=1), good({}, "stop")))
    session = open_session("chat", {"n": 2})
    await session.run()
    outcomes = {turn.text: turn.outcome for turn in answers(session)}
    whole_one, cut = outcomes["Hello"], outcomes["Wor"]
    assert whole_one is not None
    assert cut is not None
    assert (whole_one.ending, whole_one.failure) == (Ending.COMPLETE, None)
    assert cut.ending is Ending.CUT_OFF


def call(index: int, id_: str, arguments: str, *, name: str = "f") -> bytes:
    entry = {"index": index, "id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
    return good({"tool_calls": [entry]})


def more(index: int, arguments: str) -> bytes:
    return good({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})


def use(id_: str, text: str, index: int) -> bytes:
    return block(
        {"type": "tool_use", "id": id_, "name": "f", "input": {}},
        {"type": "input_json_delta", "partial_json": text},
        index=index,
    )


CALLED = good({}, "tool_calls") + DONE
WHOLE_CALLS = [
    {"id": "c", "type": "function", "function": {"name": "f", "arguments": text}} for text in ('{"a": 0}', '{"a": 1}')
]
TWINS = {
    "chat: at once": (first("") + call(0, "c", '{"a": 0}') + call(1, "c", '{"a": 1}') + CALLED),
    "chat: in fragments": (
        first("") + call(0, "c", "") + more(0, '{"a": 0}') + call(1, "c", "") + more(1, '{"a": 1}') + CALLED
    ),
    "chat: side by side": (
        first("")
        + good({"tool_calls": [{"index": number, **entry} for number, entry in enumerate(WHOLE_CALLS)]})
        + CALLED
    ),
    "chat: one body": whole(choice(None, "tool_calls", tool_calls=WHOLE_CALLS)),
    "messages: streamed": begun() + use("c", '{"a": 0}', 0) + use("c", '{"a": 1}', 1) + ended("tool_use"),
    "messages: one body": native(
        *({"type": "tool_use", "id": "c", "name": "f", "input": {"a": number}} for number in (0, 1)), reason="tool_use"
    ),
}


@pytest.mark.parametrize("name", TWINS)
async def test_two_calls_with_one_id_are_answered_apart(
    name: str, server: FaultServer, open_session: Callable[..., Session]
) -> None:
    protocol, body = name.partition(":")[0], TWINS[name]
    kind = JSON if body[:1] == b"{" else SSE
    server.play_next(send(with_length(200, kind, body, CLOSES)))
    server.play(send(head(), CHAT if protocol == "chat" else NATIVE))
    session = open_session(protocol, {"tools": [TOOL if protocol == "chat" else NATIVE_TOOL]})
    await session.run()
    (turn,) = answers(session)
    calls = turn.calls
    assert [json.loads(entry.arguments) for entry in calls] == [{"a": 0}, {"a": 1}]
    assert calls[0].id == "c"
    assert len({entry.id for entry in calls}) == 2
    assert turn.outcome is not None
    assert "tool_id_repeated" in dict(turn.outcome.deviations)
    for entry in calls:
        session.debugger.send_answer(turn.id, entry.id, Answer(text=f"answer to {entry.arguments}"))
    await session.run()
    sent = json.dumps(server.requests[-1].json["messages"])
    assert json.loads(server.requests[-1].body)["messages"]
    for entry in calls:
        assert json.dumps(f"answer to {entry.arguments}")[1:-1] in sent
        assert sent.count(f'"{entry.id}"') == 2  # the call, and its answer


async def test_a_first_fragment_without_a_function(server: FaultServer, open_session: Callable[..., Session]) -> None:
    nameless = good({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": None}]})
    named = good({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}]})
    server.play(send(head(), first(""), nameless, named, more(0, '{"a": 1}'), good({}, "stop"), DONE))
    session = open_session("chat", {"tools": [TOOL]})
    await session.run()
    (turn,) = answers(session)
    assert [(entry.id, entry.name, entry.arguments) for entry in turn.calls] == [("c", "f", '{"a": 1}')]
    (tape,) = session.exchanges.values()
    assert {"tool_name_later", "finish_with_calls"} <= {finding.code for finding in reviewed(tape).findings}


@pytest.mark.parametrize("protocol", ["chat", "messages"])
async def test_an_id_that_an_earlier_call_had_is_named(
    protocol: str, server: FaultServer, open_session: Callable[..., Session]
) -> None:
    again = first("") + call(0, "c", '{"a": 0}') + CALLED
    server.play(send(head(), again if protocol == "chat" else begun() + use("c", '{"a": 0}', 0) + ended("tool_use")))
    session = open_session(protocol, {"tools": [TOOL if protocol == "chat" else NATIVE_TOOL]})
    await session.run()
    (turn,) = answers(session)
    session.debugger.send_answer(turn.id, turn.calls[0].id, Answer(text="one"))
    await session.run()
    later = session.transcript.path[-1]
    *_, tape = session.exchanges.values()
    assert "tool_id_known" in {finding.code for finding in reviewed(tape).findings}
    assert session.debugger.result(later.id, later.calls[0].id) is None
    session.debugger.send_answer(later.id, later.calls[0].id, Answer(text="two"))
    results = [session.debugger.result(entry.id, entry.calls[0].id) for entry in (turn, later)]
    assert [result and result.text for result in results] == ["one", "two"]
