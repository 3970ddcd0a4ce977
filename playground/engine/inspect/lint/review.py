"""All there is to say of one exchange: notes of the decoder, findings of the rules, and what could not be judged.

The work is done in small steps, so that a window can go on; while an answer is on its way only the decoder speaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from playground.domain.errors import FailureKind
from playground.engine.inspect.frames import FrameIndex, Kind
from playground.engine.inspect.lint import departures
from playground.engine.inspect.lint.case import Case, Seen
from playground.jsonkit.texts import cut
from playground.protocols import PROTOCOLS
from playground.protocols.expected import Says
from playground.protocols.protocol import get_protocol

# ---- the table of rules ----------------------------------------------------------------------------------------------


class On(Enum):
    """The part of an exchange that must be known before a rule can judge."""

    STATUS = "status and headers"
    ERROR = "the body of an error"
    ANSWER = "some of an answer"
    WHOLE = "an answer to its end"


class Rule(NamedTuple):
    """One row. ``compares_request``: it compares with the request.

    ``expected`` is a section of the specification, empty where only common practice says so, and what it says. A rule
    without holds for the protocols that have words for it under its ``key``, which is the code if nothing else.
    """

    code: str
    on: On
    look: Callable[[Case], Iterable[Seen]]
    expected: Says | None = None
    compares_request: bool = False
    key: str = ""

    def says(self, protocol: str) -> Says | None:
        """Return the expectation for a protocol; None if the rule does not apply to it."""
        if self.expected is not None:
            return self.expected
        return get_protocol(protocol).expected.rules.get(self.key or self.code) if protocol else None

    def find(self, case: Case) -> Iterable[Seen]:
        """Return the deviations in ``case``; none if the rule cannot judge it."""
        if self.compares_request and not case.request.readable:
            return ()
        can_judge = {
            On.STATUS: case.exchange.status is not None,
            On.ERROR: case.is_error and case.exchange.complete,
            On.ANSWER: case.is_answer,
            On.WHOLE: case.is_whole,
        }
        return self.look(case) if can_judge[self.on] else ()


def _shapes() -> Iterator[Rule]:
    """The fields that a protocol looks for in every frame."""
    for code in dict.fromkeys(code for name in PROTOCOLS for code in get_protocol(name).expected.shape_codes):
        yield Rule(code, On.ANSWER, partial(Case.shape, code=code))


_STATUS: Final = "The documented statuses are 200, 400, 401, 402, 403, 404, 429, 500, 503 and 504."
_COUNTS: Final = "X-RateLimit-Limit and X-RateLimit-Remaining are whole numbers."
_ERROR: Final = "An error is JSON with a code (whole number), a message (text) and data (null); it is shown for 400."
_DIMENSION: Final = "The message of a 429 names the limit: RPM, RPD, TPM, TPD, IPM or IPD."
_MODEL: Final = "model is the model used: one that was not requested is right only for an alias or a router."
_ENCODING: Final = "By the HTTP standard (RFC 9110) Content-Encoding says how a body is compressed, and only then."
_CHARSET: Final = "By their standards JSON and Server-Sent Events are UTF-8."
_USAGE_PARTS: Final = "cached_tokens are part of prompt_tokens, reasoning_tokens of completion_tokens."
_PARTS: Final = "By common practice the first fragment of a call carries its id, its type and its name."
_IDS: Final = "By common practice each call of a conversation has a different id."
_CALL: Final = "A tool call has an id, the type function, and function.name and function.arguments: JSON as text."

RULES: Final[tuple[Rule, ...]] = (
    Rule("status_undocumented", On.STATUS, departures.status, ("7.1", _STATUS)),
    Rule("limit_value", On.STATUS, departures.limit_values, ("8", _COUNTS)),
    Rule("limit_reset", On.STATUS, departures.limit_reset, ("8", "X-RateLimit-Reset is a time in Unix epoch seconds.")),
    Rule("content_encoding", On.STATUS, partial(departures.mended, code="content_encoding"), ("", _ENCODING)),
    Rule("charset", On.STATUS, partial(departures.mended, code="charset"), ("", _CHARSET)),
    Rule("no_body", On.STATUS, departures.no_body, ("4", "200 is sent with an answer.")),
    Rule("error_shape", On.ERROR, departures.error_shape, ("7.2", _ERROR)),
    Rule("error_type", On.ERROR, departures.error_type, ("7.2", "An error has the content type application/json.")),
    Rule("error_dimension", On.ERROR, departures.dimension, ("7.1", _DIMENSION)),
    Rule("error_inside", On.ANSWER, departures.error_inside, ("7.1", "The status of the answer reports an error.")),
    Rule("unreadable", On.ANSWER, departures.unreadable, ("4", "An answer is that of the endpoint's protocol.")),
    Rule("not_streamed", On.ANSWER, departures.not_streamed, compares_request=True),
    Rule("streamed_unasked", On.ANSWER, departures.streamed, compares_request=True),
    Rule(
        "stream_type", On.ANSWER, departures.stream_type, ("4.1", "A stream is Server-Sent Events: text/event-stream.")
    ),
    *_shapes(),
    Rule("choices_count", On.WHOLE, departures.choices, compares_request=True),
    Rule("model_other", On.ANSWER, departures.model, ("2.4", _MODEL), compares_request=True),
    Rule("finish_with_calls", On.ANSWER, departures.finish_with_calls),
    Rule("finish_without_calls", On.ANSWER, departures.finish_without_calls),
    Rule("limit_exceeded", On.ANSWER, departures.beyond_limit, compares_request=True),
    Rule("length_early", On.ANSWER, departures.cut_early, compares_request=True),
    Rule("usage_missing", On.WHOLE, departures.usage_in_stream, compares_request=True, key="usage_missing_in_stream"),
    Rule("usage_unasked", On.ANSWER, departures.usage_unasked, compares_request=True),
    Rule("usage_missing", On.WHOLE, departures.usage_in_whole, key="usage_missing_in_whole"),
    Rule("usage_missing", On.WHOLE, departures.usage_in_any),
    Rule("usage_counts", On.ANSWER, departures.usage_counts),
    Rule("usage_counts", On.WHOLE, departures.usage_counts, key="usage_counts_at_end"),
    Rule("usage_sum", On.ANSWER, departures.usage_sum),
    Rule("usage_parts", On.ANSWER, departures.usage_parts, ("2.4", _USAGE_PARTS)),
    Rule(
        "usage_zero",
        On.WHOLE,
        departures.usage_none,
        ("2.4", "completion_tokens, or output_tokens, counts the output."),
    ),
    Rule("tool_not_offered", On.ANSWER, departures.not_offered, compares_request=True),
    Rule("tool_choice_none", On.ANSWER, departures.called_against_none, compares_request=True),
    Rule("tool_choice_unmet", On.WHOLE, departures.not_called, compares_request=True),
    Rule("tool_choice_other", On.ANSWER, departures.other_called, compares_request=True),
    Rule(
        "tool_calls_parallel",
        On.ANSWER,
        departures.several_called,
        ("", "By common practice there is one call at a time when parallel calls are turned off."),
        compares_request=True,
    ),
    Rule("tool_id_known", On.ANSWER, departures.reused_id, ("", _IDS), compares_request=True),
    Rule("tool_name_later", On.ANSWER, departures.late_name, ("", _PARTS)),
    Rule("tool_name_missing", On.WHOLE, departures.no_name, ("2.2", _CALL)),
    Rule("tool_arguments_not_json", On.WHOLE, departures.arguments),
    Rule("content_not_json", On.ANSWER, departures.not_json, compares_request=True),
    Rule("stop_ignored", On.ANSWER, departures.beyond_stop, compares_request=True),
    Rule("limit_ignored", On.ANSWER, departures.accepted, compares_request=True),
)


MOST = 100  # findings of one rule

NOTHING_CAME = "No answer was received, so there is nothing to check."
STOPPED = "The answer was stopped: what would have followed was not seen."
LET_GO = "The bytes of this answer were dropped to save memory: nothing can be judged any more."
NOT_READ = "The answer is larger than the limit that is set: the rest of it was not seen."
AFTER_FINISH = (
    "It was read no further than its finish reason: whether usage and an end would have followed was not seen."
)
BROKE_OFF = "The connection broke off: what would have followed was not seen."
TOO_LATE = "The answer was given up because it took too long: what would have followed was not seen."
OUR_FAULT = "A mistake of this application ended the reading: what followed was not seen."
ERROR_INSIDE = "An error ended the answer: what would have followed was not seen."
NOT_WHOLE = "The answer is not whole: content of its end, such as usage, is not judged."
UNREADABLE = "The answer does not follow the requested protocol, so no more of it is checked."
UNKNOWN_REQUEST = "The request cannot be read, so the answer is not compared with it."

_UNSEEN = {
    FailureKind.HTTP: NOT_WHOLE,
    FailureKind.INTERNAL: OUR_FAULT,
    FailureKind.TOO_LARGE: NOT_READ,
    FailureKind.TIMEOUT_FIRST: TOO_LATE,
    FailureKind.TIMEOUT_IDLE: TOO_LATE,
    FailureKind.TIMEOUT_TOTAL: TOO_LATE,
    FailureKind.STREAM: ERROR_INSIDE,
    FailureKind.CUT_OFF: NOT_WHOLE,
    FailureKind.DECODE: UNREADABLE,
    FailureKind.OTHER_PROTOCOL: UNREADABLE,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One deviation. ``frame`` is the number of the frame that shows it, None for status and headers.

    ``rule`` is what is expected instead; ``section`` is that of the specification, empty where only common practice
    says so.
    """

    code: str
    note: str
    frame: int | None
    section: str
    rule: str


class Review:
    """The review of the exchange of ``index``: its ``findings`` by frame, those of status and headers first.

    ``unseen`` says in sentences what could not be judged, empty where all of the answer was; ``seen`` is whether there
    was anything to judge. ``judged``: the rules were applied, which ``read_findings`` does once the exchange has ended.
    """

    def __init__(self, index: FrameIndex) -> None:
        self.findings: tuple[Finding, ...] = ()
        self.unseen = ""
        self.seen = False
        self.judged = False
        self._index = index

    def read_findings(self) -> None:
        """Read the findings of the frames so far; of an exchange that has ended, apply the rules once."""
        if self.judged:
            return
        self.findings = tuple(self._noted())
        if not self._index.closed:
            return
        case = Case(self._index)
        case.read_exchange()
        findings = [*self.findings]
        for rule in RULES:
            if (says := rule.says(case.exchange.protocol)) is not None:
                findings += [Finding(rule.code, *seen, *says) for seen in islice(rule.find(case), MOST)]
        self.findings = tuple(sorted(findings, key=lambda finding: -1 if finding.frame is None else finding.frame))
        self.unseen = " ".join(filter(None, (_unseen(case), _unknown(case))))
        self.seen = case.exchange.status is not None and not case.exchange.dropped
        self.judged = True

    def _noted(self) -> Iterator[Finding]:
        for frame, notes in self._index.deviations.items():
            protocol = self._index.exchange.protocol
            expected, judged = get_protocol(protocol).expected, {rule.code for rule in RULES if rule.says(protocol)}
            for code, note in notes:
                if code in judged:  # the rule names the frame of what is odd, the decoder notes it at the end
                    continue
                yield Finding(code, note, frame, *expected.noted.get(code, expected.noted_else))


def findings(index: FrameIndex) -> tuple[Finding, ...]:
    """The deviations of an answer, at once."""
    review = Review(index)
    review.read_findings()
    return review.findings


def _unseen(case: Case) -> str:
    """Return a sentence on the part of the answer that was not seen; empty if all was."""
    exchange, failure = case.exchange, case.index.failure
    if exchange.dropped:
        return LET_GO
    if exchange.status is None:
        return NOTHING_CAME
    if failure is not None:
        complete = exchange.complete and failure.kind in (FailureKind.HTTP, FailureKind.EMPTY, FailureKind.NO_BODY)
        redirected = failure.kind is FailureKind.REDIRECT  # its body is no answer
        return "" if complete or redirected else _UNSEEN.get(failure.kind, BROKE_OFF)
    if exchange.complete:
        return ""
    return AFTER_FINISH if case.index.finish else STOPPED


def _unknown(case: Case) -> str:
    return UNKNOWN_REQUEST if case.is_answer and not case.request.readable else ""


# ---- report ----------------------------------------------------------------------------------------------------------


_EXCERPT: Final = 300  # characters of a frame


def report(index: FrameIndex, findings: Iterable[Finding], unseen: str = "") -> str:
    """Return the findings as Markdown; ``unseen`` tells what could not be checked."""
    exchange = index.exchange
    where = urlsplit(exchange.url)
    when = datetime.fromtimestamp(exchange.started_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    protocol = get_protocol(exchange.protocol).title if exchange.protocol else "no protocol"
    lines = [
        "# Deviations from the specification",
        "",
        f"- Request: {exchange.method} {where.scheme}://{where.netloc.rpartition('@')[2]}{where.path}",
        f"- Protocol: {protocol}",
        f"- Answered: {when}, status {exchange.status if exchange.status is not None else 'none'}",
        f"- Content type: {_inline(exchange.content_type or 'none')}",
    ]
    ids = [exchange.response_header(name) for name in ("x-request-id", "request-id")]
    facts = {"Model": index.model, "Response id": index.response_id, "Request id": next(filter(None, ids), "")}
    lines += [f"- {name}: {_inline(value)}" for name, value in facts.items() if value]
    lines += [f"- Events: {len(index)}", ""]
    if unseen:
        lines += [unseen, ""]
    items = list(findings)
    if not items:
        return "\n".join([*lines, "No problems found.", ""])
    for number, finding in enumerate(items, 1):
        lines += [f"## {number}. {_sentence(finding.note)}", ""]
        source = f"Specification, section {finding.section}" if finding.section else "Not in the specification"
        lines += [f"{source}: {finding.rule}", ""]
        lines += _evidence(index, finding)
    return "\n".join(lines)


def _evidence(index: FrameIndex, finding: Finding) -> list[str]:
    code = f"`{finding.code}`"
    if finding.frame is None:
        return [f"Shown by the status and the headers ({code}).", ""]
    row = index.row(finding.frame)
    if not row.size:
        return [f"Seen at the end of the body, {row.time:.3f} s after the request ({code}).", ""]
    raw = index.raw(finding.frame)[: 8 * _EXCERPT].decode("utf-8", "replace").strip()
    excerpt = cut(raw, _EXCERPT)
    what = "the body" if row.kind is Kind.BODY else f"event {row.number + 1}"
    if not excerpt:
        return [f"Shown by {what}, {row.time:.3f} s after the request ({code}).", ""]
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", excerpt)), default=0))
    return [f"Shown by {what}, {row.time:.3f} s after the request ({code}):", "", f"{fence}text", excerpt, fence, ""]


def _sentence(note: str) -> str:
    text = " ".join(note.split())
    return text[:1].upper() + text[1:]


def _inline(text: str) -> str:
    return "`" + " ".join(text.replace("`", "'").split())[:200] + "`"
