"""Small builders of response bodies, and the way of a body through decoder and accumulator.

Every body that goes through here is traced as well: frame by frame it must say the same, and hold every byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from playground.domain.accumulator import Accumulator
from playground.domain.errors import FailureKind
from playground.domain.events import Deviation, Event
from playground.protocols.chat.decode import ChatDecoder
from playground.protocols.decoding import Decoder, Traced
from playground.protocols.messages.decode import MessagesDecoder
from playground.protocols.responses.decode import ResponsesDecoder

DONE = b"data: [DONE]\n\n"

#: Whole request bodies by protocol.
GOLDEN: dict[str, Any] = json.loads(Path(__file__).with_name("golden_requests.json").read_text("utf-8"))


def data(value: Any, event: str = "") -> bytes:
    """One event with a JSON payload."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def chunk(delta: Any = None, finish: Any = None, *, index: int = 0, **more: Any) -> bytes:
    """One chat chunk with one choice."""
    choice = {"index": index, "delta": {} if delta is None else delta, "finish_reason": finish}
    return data({"id": "c-1", "model": "m-1", "object": "chat.completion.chunk", "choices": [choice], **more})


def call_chunk(*entries: Any) -> bytes:
    """One chat chunk whose delta carries tool-call fragments."""
    return chunk({"tool_calls": list(entries)})


def fragment(arguments: Any = None, *, index: Any = None, id: Any = None, name: Any = None) -> dict[str, Any]:
    """One tool-call fragment with only what is given."""
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    out: dict[str, Any] = {"function": function}
    if index is not None:
        out["index"] = index
    if id is not None:
        out["id"] = id
    return out


def chat_events(body: bytes, sizes: Iterable[int] = (), content_type: str | None = None) -> list[Event]:
    """All events of a chat body, read in pieces of ``sizes`` bytes and then the rest at once."""
    return _run(lambda: ChatDecoder(content_type, make_id=_ids()), body, sizes)


def messages_events(body: bytes, sizes: Iterable[int] = (), content_type: str | None = None) -> list[Event]:
    """All events of a messages body."""
    return _run(lambda: MessagesDecoder(content_type, make_id=_ids()), body, sizes)


def responses_events(body: bytes, sizes: Iterable[int] = (), content_type: str | None = None) -> list[Event]:
    """All events of a body of the Responses protocol."""
    return _run(lambda: ResponsesDecoder(content_type, make_id=_ids()), body, sizes)


def _ids() -> Callable[[], str]:
    counter = iter(range(1, 1000))
    return lambda: f"made_{next(counter)}"


def _run(make: Callable[[], Decoder], body: bytes, sizes: Iterable[int]) -> list[Event]:
    reads = _reads(body, sizes)
    decoder = make()
    out = [event for read in reads for event in decoder.decode_bytes(read)] + decoder.close()
    traced = trace(make(), reads)
    assert [event for _, events in traced for event in events] == out
    assert b"".join(frame.raw for frame, _ in traced) == body
    return out


def _reads(body: bytes, sizes: Iterable[int]) -> list[bytes]:
    reads: list[bytes] = []
    index = 0
    for size in sizes:
        if index >= len(body):
            break
        reads.append(body[index : index + size])
        index += size
    return [*reads, body[index:]] if index < len(body) else reads


def trace(decoder: Decoder, reads: Iterable[bytes]) -> list[Traced]:
    """All frames of a body with their events."""
    return [traced for read in reads for traced in decoder.trace(read)] + decoder.trace_close()


def fold(events: Sequence[Event]) -> Accumulator:
    """The answer that ``events`` make."""
    answer = Accumulator()
    answer.add_events(events)
    return answer


def chat(*parts: bytes) -> Accumulator:
    """The answer of a chat body."""
    return fold(chat_events(b"".join(parts)))


def messages(*parts: bytes) -> Accumulator:
    """The answer of a messages body."""
    return fold(messages_events(b"".join(parts)))


def responses(*parts: bytes) -> Accumulator:
    """The answer of a body of the Responses protocol."""
    return fold(responses_events(b"".join(parts)))


def text(answer: Accumulator, index: int = 0, kind: str = "text") -> str:
    """All text of one kind of a choice."""
    return "".join(part.text for part in answer.choices[index].parts if part.kind == kind)


def calls(answer: Accumulator, index: int = 0) -> list[tuple[str, str, str]]:
    """(id, name, arguments) of the calls of a choice."""
    return [(call.id, call.name, call.text) for call in answer.choices[index].calls.values()]


def failure(answer: Accumulator) -> FailureKind | None:
    """The kind of the failure, if any."""
    return answer.failure.kind if answer.failure else None


def outcome(events: Sequence[Event]) -> dict[str, Any]:
    """Return everything decoded from an answer, however its events were cut into pieces."""
    answer = fold(events)
    choices = {index: (choice.freeze(), choice.finish_reason, choice.extra) for index, choice in answer.choices.items()}
    return {
        "choices": choices,
        **{name: getattr(answer, name) for name in ("id", "model", "usage", "failure", "complete")},
    }


def codes(events: Iterable[Event]) -> list[str]:
    """The deviations' codes in order."""
    return [event.code for event in events if isinstance(event, Deviation)]
