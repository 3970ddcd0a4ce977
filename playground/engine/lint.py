"""Where a stream departs from the specification: each deviation with the rule, its section and the frame that shows it.

The report is for the gateway's owners. It quotes nothing but a short excerpt of those frames and holds no request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from playground.engine.frames import FrameIndex, Kind
from playground.protocols.protocol import get_protocol

_EXCERPT: Final = 300  # characters of a frame
_CHUNK: Final = (
    "2.5",
    "A chunk holds id, object, created, model and choices, each with index, delta and finish_reason.",
)
_DELTA: Final = ("2.5", "A delta holds role, content and reasoning_content; content is a text fragment.")
_CALL: Final = ("2.2", "A tool call has an id, the type function, and function.name and function.arguments, both text.")
_PARTS: Final = ("", "By common practice fragments of a call carry its index, and its id and name come once, first.")
_STREAM: Final = ("4.1", "A stream is chunk objects, each as a data: line, ended by data: [DONE].")
_USAGE: Final = ("2.5", "usage stands beside choices, in the final chunk only.")
_REASON: Final = (
    "2.4",
    "finish_reason is stop, length, tool_calls or content_filter, and null before the final chunk.",
)
_BLOCKS: Final = (
    "4.2",
    "An answer has content, a list of blocks; the public protocol starts and stops each by its index.",
)
_JSON: Final = ("", "By the JSON standard (RFC 8259) a number is written in digits; NaN and Infinity are none.")
_ERROR: Final = ("7.2", "An error is a JSON object with code, message and data.")

_CHAT: Final = {
    "broken_event": _STREAM,
    "broken_after_end": _STREAM,
    "choice_index_missing": _CHUNK,
    "choice_shape": _CHUNK,
    "choices_missing": _CHUNK,
    "content_after_finish": _REASON,
    "content_parts": _DELTA,
    "content_shape": _DELTA,
    "content_type": ("4.1", "A stream is sent as Server-Sent Events."),
    "cut_off": _STREAM,
    "data_after_end": _STREAM,
    "delta_missing": _CHUNK,
    "empty": ("2.4", "A message has content or tool_calls."),
    "end_twice": _STREAM,
    "finish_reason_blank": _REASON,
    "finish_reason_unknown": _REASON,
    "finish_twice": _REASON,
    "function_call": _CALL,
    "inline_think": ("2.5", "Reasoning comes as delta.reasoning_content, apart from delta.content."),
    "json_body": ("4.1", "With stream true the answer is a stream; without, one completion object."),
    "list_of_objects": _STREAM,
    "message_in_stream": _CHUNK,
    "message_repeated": _CHUNK,
    "no_end_marker": _STREAM,
    "no_finish_reason": _REASON,
    "no_body": _STREAM,
    "not_json": _STREAM,
    "not_object": _STREAM,
    "number_not_json": _JSON,
    "other_protocol": _STREAM,
    "plain_completion": _DELTA,
    "refusal_shape": _DELTA,
    "reasoning_name": ("2.5", "Reasoning comes as delta.reasoning_content."),
    "reasoning_twice": ("2.5", "Reasoning comes as delta.reasoning_content."),
    "second_error": _ERROR,
    "stray_text": _STREAM,
    "tool_arguments_object": _CALL,
    "tool_arguments_placeholder": _PARTS,
    "tool_arguments_shape": _CALL,
    "tool_arguments_twice": _PARTS,
    "tool_call_flat": _CALL,
    "tool_call_repeated": _PARTS,
    "tool_call_shape": _CALL,
    "tool_id_changed": _PARTS,
    "tool_id_missing": _CALL,
    "tool_index_missing": _PARTS,
    "tool_index_moved": _PARTS,
    "tool_index_shared": _PARTS,
    "tool_index_start": _PARTS,
    "tool_name_changed": _PARTS,
    "tool_name_late": _PARTS,
    "tool_name_repeated": _PARTS,
    "unknown_object": _CHUNK,
    "unknown_part": _DELTA,
    "usage_elsewhere": _USAGE,
    "usage_repeated": _USAGE,
}
_ENDS: Final = (
    "",
    "By the public protocol a message ends with message_delta, which has the stop reason, and message_stop.",
)
_EVENTS: Final = ("", "By the public protocol events are one JSON object each, of a documented type.")
_INPUT: Final = (
    "",
    "By the public protocol the input of a call comes once, as fragments of JSON text that are joined.",
)
_MESSAGES: Final = {
    "number_not_json": _JSON,
    "content_text": _BLOCKS,
    "block_index_shared": _BLOCKS,
    "block_shape": _BLOCKS,
    "block_start_missing": _BLOCKS,
    "block_start_repeated": _BLOCKS,
    "block_without_type": _BLOCKS,
    "cut_off": _ENDS,
    "no_end_marker": _ENDS,
    "no_finish_reason": _ENDS,
    "finish_twice": _ENDS,
    "finish_reason_unknown": _ENDS,
    "end_twice": _ENDS,
    "data_after_end": _ENDS,
    "broken_after_end": _ENDS,
    "empty": _BLOCKS,
    "second_error": _ERROR,
    "tool_arguments_object": _INPUT,
    "tool_arguments_placeholder": _INPUT,
    "tool_arguments_twice": _INPUT,
    "tool_call_repeated": _INPUT,
    "tool_id_missing": ("", "By the public protocol a tool_use block has an id."),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One deviation. ``frame`` is the number of the frame that shows it, ``section`` that of the specification.

    ``rule`` is what is expected instead; ``section`` is empty where only common practice says so.
    """

    code: str
    note: str
    frame: int
    section: str
    rule: str


def findings(index: FrameIndex) -> tuple[Finding, ...]:
    """The deviations of an answer, in the order of its frames."""
    table = _MESSAGES if index.exchange.protocol == "messages" else _CHAT
    usual = _EVENTS if index.exchange.protocol == "messages" else _STREAM
    found = []
    for frame, deviations in index.deviations.items():
        for code, note in deviations:
            section, rule = table.get(code, usual)
            found.append(Finding(code, note, frame, section, rule))
    return tuple(found)


def report(index: FrameIndex, found: Iterable[Finding]) -> str:
    """The findings as Markdown, to be sent to those who run the gateway."""
    exchange = index.exchange
    where = urlsplit(exchange.url)
    when = datetime.fromtimestamp(exchange.started_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    protocol = get_protocol(exchange.protocol).title if exchange.protocol else "no protocol"
    lines = [
        "# What this answer does differently from the specification",
        "",
        f"- Request: {exchange.method} {where.scheme}://{where.netloc.rpartition('@')[2]}{where.path}",
        f"- Protocol: {protocol}",
        f"- Answered: {when}, status {exchange.status if exchange.status is not None else 'none'}",
        f"- Content type: {_inline(exchange.content_type or 'none')}",
    ]
    ids = [exchange.response_header(name) for name in ("x-request-id", "request-id")]
    known = {"Model": index.model, "Response id": index.response_id, "Request id": next(filter(None, ids), "")}
    lines += [f"- {name}: {_inline(value)}" for name, value in known.items() if value]
    lines += [f"- Frames: {len(index)}", ""]
    items = list(found)
    if not items:
        return "\n".join([*lines, "No deviation was found.", ""])
    for number, finding in enumerate(items, 1):
        lines += [f"## {number}. {_sentence(finding.note)}", ""]
        source = f"Specification, section {finding.section}" if finding.section else "Not in the specification"
        lines += [f"{source}: {finding.rule}", ""]
        lines += _shown(index, finding)
    return "\n".join(lines)


def _shown(index: FrameIndex, finding: Finding) -> list[str]:
    row = index.row(finding.frame)
    code = f"`{finding.code}`"
    if not row.size:
        return [f"Seen at the end of the body, {row.at:.3f} s after the request ({code}).", ""]
    raw = index.raw(finding.frame)[: 8 * _EXCERPT].decode("utf-8", "replace").strip()
    excerpt = raw if len(raw) <= _EXCERPT else f"{raw[:_EXCERPT]}…"
    what = "the body" if row.kind is Kind.BODY else f"frame {row.number + 1}"
    if not excerpt:
        return [f"Shown by {what}, {row.at:.3f} s after the request ({code}).", ""]
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", excerpt)), default=0))
    return [f"Shown by {what}, {row.at:.3f} s after the request ({code}):", "", f"{fence}text", excerpt, fence, ""]


def _sentence(note: str) -> str:
    text = " ".join(note.split())
    return text[:1].upper() + text[1:]


def _inline(text: str) -> str:
    return "`" + " ".join(text.replace("`", "'").split())[:200] + "`"
