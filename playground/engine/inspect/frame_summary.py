"""Summary of one frame in a few words: its text, a call's name, a finish reason, token counts; and of all as one body.

A frame is decoded by itself, so nothing needs to be kept for it; made for the few rows of a list that are seen.
"""

from __future__ import annotations

import json
import re
from typing import Final

from playground.domain.accumulator import Accumulator
from playground.domain.events import (
    Event,
    ExtraDelta,
    Failed,
    Finish,
    ReasoningDelta,
    RefusalDelta,
    StreamEnd,
    TextDelta,
    ToolCallDelta,
    UsageReport,
)
from playground.domain.usage import Usage
from playground.engine.inspect.frames import FrameIndex, Kind, Row
from playground.gateway.tape import Exchange
from playground.jsonkit.layout import indented
from playground.jsonkit.texts import cut
from playground.protocols.protocol import get_protocol

LARGEST: Final = 64 * 1024  # bytes of a frame that are looked into; of more, only the beginning is shown
LONGEST: Final = 400  # characters of a line: more than any list is wide


def summarize_frame(index: FrameIndex, row: Row) -> str:
    """One line about a frame, of ``LONGEST`` characters at most; the payload's beginning where nothing is known."""
    line = _line(index, row)
    return cut(line, LONGEST)


def _line(index: FrameIndex, row: Row) -> str:
    exchange = index.exchange
    if row.kind is Kind.BODY or not exchange.protocol or row.size > LARGEST:
        return row.excerpt
    if not row.size:
        if row.kind is Kind.ERROR and index.failure is not None:
            return " ".join(index.failure.message.split())
        return "the end of the body"
    if row.kind is Kind.COMMENT:
        return row.excerpt
    decoder = get_protocol(exchange.protocol).decoder(exchange.content_type)
    words_by_kind: dict[str, str] = {}
    for traced in (*decoder.trace(index.raw(row.number)), *decoder.trace_close()):
        for event in traced.events:
            _note(words_by_kind, event, row)
    words_by_kind["arguments"] = _visible(words_by_kind.get("arguments", ""))
    where = _where(index, row)
    words = " · ".join(filter(None, words_by_kind.values()))
    return f"{where}{words}" if words else row.excerpt


def _note(words_by_kind: dict[str, str], event: Event, row: Row) -> None:
    """Add an event to the words; pieces of text are joined."""
    match event:
        case TextDelta() | ReasoningDelta() | RefusalDelta():
            before = json.loads(words_by_kind["text"]) if words_by_kind.get("text") else ""
            words_by_kind["text"] = json.dumps(before + event.text, ensure_ascii=False) if before + event.text else ""
        case ToolCallDelta():
            if Kind.TOOL_CALL in row.kinds:
                words_by_kind["name"] = words_by_kind.get("name") or event.name or ""
                if event.id and not event.id_is_ours:
                    words_by_kind["id"] = f"id {event.id}"
            words_by_kind["arguments"] = words_by_kind.get("arguments", "") + event.arguments
        case ExtraDelta():
            protocol = get_protocol(event.protocol)
            unknown = protocol.unknown_names(event.members)
            kind = "extra" if unknown else "known"
            if names := ", ".join(unknown or protocol.visible_members(event.members)):
                title = "unknown: " if unknown else ""
                words_by_kind[kind] = f"{words_by_kind[kind]}, {names}" if kind in words_by_kind else f"{title}{names}"
        case Finish(_, reason):
            words_by_kind["finish"] = reason
        case UsageReport(usage):
            words_by_kind["usage"] = _counts(usage)
        case StreamEnd():
            words_by_kind["end"] = row.excerpt if Kind.END is row.kind else ""
        case Failed(failure) if Kind.ERROR in row.kinds:
            words_by_kind["failure"] = " ".join(failure.message.split())
        case _:
            pass


def _visible(text: str) -> str:
    """Text whose ends can be seen."""
    return text if text == text.strip() else json.dumps(text, ensure_ascii=False)


def _where(index: FrameIndex, row: Row) -> str:
    """Which choice and which call it is about, where there are several."""
    spans = index.span_of(row.number)
    if not spans:
        return ""
    span = spans[0]
    words = [f"choice {span.choice}"] if len(index.choices()) > 1 else []
    parts = index.parts(span.choice)
    calls = [position for position, part in enumerate(parts) if part.kind == "tool_call"]
    if len(calls) > 1 and span.part in calls:
        words.append(f"call {calls.index(span.part) + 1}")
    return "".join(f"{word} · " for word in words)


def _counts(usage: Usage) -> str:
    counts = ((usage.prompt, "in"), (usage.completion, "out"), (usage.reasoning, "reasoning"), (usage.cached, "cached"))
    return ", ".join(f"{count} {word}" for count, word in counts if count is not None)


# ---- assembled answer ------------------------------------------------------------------------------------------------


#: Bytes of a stream that is assembled. Larger ones are shown as events.
MAX_ASSEMBLED: Final = 32 * 1024 * 1024
_CREATED: Final = re.compile(rb'"created(?:_at)?"\s*:\s*(\d{1,12})')
_TIMES: Final = frozenset({"created", "created_at"})


class AssembledAnswer:
    """The answer of a streamed exchange. Call ``read`` whenever more of it has been received."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._protocol = get_protocol(exchange.protocol)
        self._decoder = self._protocol.decoder(exchange.content_type)
        self._answer = Accumulator()
        self._reads = self._size = 0
        self._closed = False

    def read(self) -> None:
        """Take in what has been received since the last call."""
        exchange = self._exchange
        while self._reads < len(exchange.reads) and self._size <= MAX_ASSEMBLED:
            data = exchange.reads[self._reads].data
            self._answer.add_events(self._decoder.decode_bytes(data))
            self._reads += 1
            self._size += len(data)
        if exchange.ended is not None and self._reads == len(exchange.reads) and not self._closed:
            self._closed = True
            self._answer.add_events(self._decoder.close(delimited=exchange.delimited))

    @property
    def too_large(self) -> bool:
        """Return whether the stream is larger than ``MAX_ASSEMBLED``."""
        return self._size > MAX_ASSEMBLED

    def text(self) -> str:
        """Return the answer so far as JSON, one member a line; empty if the protocol cannot express it."""
        if not self._answer.choices:
            return ""
        try:
            body = self._protocol.write_answer(self._answer, 0)
            created = _CREATED.search(self._exchange.reads[0].data) if self._exchange.reads else None
            for name in _TIMES & body.keys():  # the time is the gateway's, and no event of ours carries it
                if created is not None:
                    body[name] = int(created[1])
                else:
                    del body[name]
            return indented(body)
        except (ValueError, RecursionError):
            return ""
