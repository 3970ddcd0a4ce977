"""Reviews of incomplete, running and malformed answers."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.domain.errors import Failure, FailureKind
from playground.engine.cassettes import cassette
from playground.engine.inspect.frames import FrameIndex
from playground.engine.inspect.lint import findings, report
from tests.engine.exchanges import indexed
from tests.engine.inspect.lint.answers import (
    answer,
    asked,
    begun,
    calling,
    choice,
    codes,
    ended,
    event,
    first,
    good,
    native,
    reviewed,
    text_block,
    whole,
)
from tests.protocols.streams import DONE
from tests.protocols.test_rechunking import CHAT, MESSAGES
from tests.support.each_case import each_case

STOP = good({}, "stop") + DONE


def broken(kind: FailureKind) -> dict[str, Any]:
    return {"complete": False, "failure": Failure(kind=kind, message="x")}


@each_case(
    ("body", "more", "words"),
    [
        (first(), {"complete": False}, "The answer was stopped: what would have followed was not seen."),
        (b"", {"complete": False}, "The answer was stopped"),
        (first() + good({}, "stop"), {"complete": False}, "no further than its finish reason"),
        (b'{"id": "c', {"complete": False}, "The answer was stopped"),
        (first(), broken(FailureKind.CONNECTION), "The connection broke off"),
        (first(), broken(FailureKind.TIMEOUT_IDLE), "took too long"),
        (first(), broken(FailureKind.TOO_LARGE), "larger than the limit"),
        (first(), broken(FailureKind.INTERNAL), "A mistake of this application"),
        (first() + b'data: {"error": {"message": "no"}}\n\n', {}, "An error ended the answer"),
        (first(), {}, "The answer is not whole"),
        (b"<html>", {"content_type": "text/html"}, "The answer does not follow"),
        (b'{"type": "message", "content": []}', {}, "The answer does not follow"),
        (b"", {"status": None, "complete": False, **broken(FailureKind.REFUSED)}, "No answer was received"),
        (b"", {"status": None, "complete": False}, "No answer was received"),
        (b'{"code"', {"status": 400, **broken(FailureKind.HTTP)}, "The answer is not whole"),
        (b"", {"dropped": 900, "request_body": b""}, "dropped to save memory"),
    ],
)
def test_unseen_part_of_an_answer_is_named(body: bytes, more: dict[str, Any], words: str) -> None:
    review = reviewed(answer(body, asked(n=2, stream_options={"include_usage": True}), **more))
    assert words in review.unseen
    assert review.judged
    assert not {"usage_missing", "choices_count", "tool_choice_unmet"} & set(codes(review.findings))
    assert review.seen is not (more.get("status", 200) is None or "dropped" in more)


@each_case("protocol", ["chat", "messages"])
def test_review_of_a_cassette_is_the_same(protocol: str) -> None:
    body = calling() + STOP if protocol == "chat" else begun() + text_block("no") + ended("tool_use")
    tapes = [answer(body, asked(protocol), protocol), answer(first(), asked(), complete=False)]
    for number, tape in enumerate(tapes):
        tape.id = f"e-{number}"
    opened = cassette.read(cassette.write(tapes)).exchanges
    for tape, again in zip(tapes, opened, strict=True):
        before, after = reviewed(tape), reviewed(again)
        assert (before.findings, before.unseen) == (after.findings, after.unseen)
    assert reviewed(opened[0]).findings


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = """
    model stream stream_options n tools functions tool_choice parallel_tool_calls max_tokens max_completion_tokens
    stop stop_sequences response_format output_config temperature
    """.split()  # noqa: SIM905 - a list of fifteen strings reads worse
REQUEST = st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON_VALUES))
BODIES = [("chat", body) for body in CHAT.values()] + [("messages", body) for body in MESSAGES.values()]


@settings(max_examples=40)
@given(
    number=st.integers(0, len(BODIES) - 1),
    request=REQUEST,
    status=st.sampled_from([200, 200, 200, 204, 400, 429, 503]),
    cut=st.integers(0, 3000),
    junk=st.binary(max_size=20),
    headers=st.lists(
        st.tuples(
            st.sampled_from(["X-RateLimit-Limit", "X-RateLimit-Reset", "Content-Type"]),
            st.text(st.characters(codec="latin-1"), max_size=12),
        ),
        max_size=3,
    ),
)
def test_no_tape_makes_the_review_raise(
    number: int, request: Any, status: int, cut: int, junk: bytes, headers: list[tuple[str, str]]
) -> None:
    protocol, body = BODIES[number]
    body = body[:cut] + junk + body[cut:]
    tape = answer(body, {}, protocol, status=status, response_headers=tuple(headers))
    tape.request_body = json.dumps(request).encode()
    index = indexed(tape)
    assert report(index, findings(index))


@each_case(
    "body",
    [
        whole(choice(), usage={"prompt_tokens": 10**4000, "completion_tokens": "3", "total_tokens": None}),
        whole({"index": 0, "message": [], "finish_reason": {}}),
        whole("x", None, 3),
        whole(choice(tool_calls=[{"id": 3, "function": {"name": ["f"], "arguments": 5}}])),
        native("x", {"type": "tool_use", "input": "x"}, reason="tool_use", usage={"input_tokens": -(2**70)}),
        b"[" * 100_000,
        first("?").replace(b"?", b"\\ud83d") + STOP,
        b'data: {"choices": [{"delta": {"role": "assistant"}, "index": ' + b"9" * 6000 + b"}]}\n\n" + STOP,
        b'event: \xff\xfe\ndata: {"type": "x\\ud800"}\n\n' + event("message_stop"),
        b"data: {}\n\n" * 50,
    ],
)
@each_case("protocol", ["chat", "messages"])
def test_no_malformed_answer_makes_the_report_raise(protocol: str, body: bytes) -> None:
    index = FrameIndex(answer(body, asked(protocol, tools=[{"type": "function"}], stop=["x"]), protocol))
    index.extend()
    assert report(index, findings(index))
