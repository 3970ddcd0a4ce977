"""The table of rules on an exchange that has ended: one row per rule, with the expectation and its source.

A rule is asked only where it can judge: what did not come can be missed only in an answer that was seen to its end, and
an answer is compared only with a request that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import partial
from typing import Final, NamedTuple

from playground.engine.inspect.lint import on_content, on_counts, on_wire
from playground.engine.inspect.lint.case import Case, Seen
from playground.protocols import PROTOCOLS
from playground.protocols.expected import Says
from playground.protocols.protocol import get_protocol


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
_MODEL: Final = "model is the model used: another than the one asked for is right only behind an alias or a router."
_ENCODING: Final = "By the HTTP standard (RFC 9110) Content-Encoding says how a body is compressed, and only then."
_CHARSET: Final = "By their standards JSON and Server-Sent Events are UTF-8."
_USAGE_PARTS: Final = "cached_tokens are part of prompt_tokens, reasoning_tokens of completion_tokens."
_PARTS: Final = "By common practice the first fragment of a call carries its id, its type and its name."
_IDS: Final = "By common practice each call of a conversation has an id of its own."
_CALL: Final = "A tool call has an id, the type function, and function.name and function.arguments: JSON as text."

RULES: Final[tuple[Rule, ...]] = (
    Rule("status_undocumented", On.STATUS, on_wire.status, ("7.1", _STATUS)),
    Rule("limit_value", On.STATUS, on_wire.limit_values, ("8", _COUNTS)),
    Rule("limit_reset", On.STATUS, on_wire.limit_reset, ("8", "X-RateLimit-Reset is a time in Unix epoch seconds.")),
    Rule("content_encoding", On.STATUS, partial(on_wire.mended, code="content_encoding"), ("", _ENCODING)),
    Rule("charset", On.STATUS, partial(on_wire.mended, code="charset"), ("", _CHARSET)),
    Rule("no_body", On.STATUS, on_wire.no_body, ("4", "200 comes with an answer.")),
    Rule("error_shape", On.ERROR, on_wire.error_shape, ("7.2", _ERROR)),
    Rule("error_type", On.ERROR, on_wire.error_type, ("7.2", "An error has the content type application/json.")),
    Rule("error_dimension", On.ERROR, on_wire.dimension, ("7.1", _DIMENSION)),
    Rule("error_inside", On.ANSWER, on_wire.error_inside, ("7.1", "The status of the answer reports an error.")),
    Rule("unreadable", On.ANSWER, on_wire.unreadable, ("4", "An answer is that of the endpoint's protocol.")),
    Rule("not_streamed", On.ANSWER, on_wire.not_streamed, compares_request=True),
    Rule("streamed_unasked", On.ANSWER, on_wire.streamed, compares_request=True),
    Rule("stream_type", On.ANSWER, on_wire.stream_type, ("4.1", "A stream is Server-Sent Events: text/event-stream.")),
    *_shapes(),
    Rule("choices_count", On.WHOLE, on_wire.choices, compares_request=True),
    Rule("model_other", On.ANSWER, on_wire.model, ("2.4", _MODEL), compares_request=True),
    Rule("finish_with_calls", On.ANSWER, on_counts.finish_with_calls),
    Rule("finish_without_calls", On.ANSWER, on_counts.finish_without_calls),
    Rule("limit_exceeded", On.ANSWER, on_counts.beyond_limit, compares_request=True),
    Rule("length_early", On.ANSWER, on_counts.cut_early, compares_request=True),
    Rule("usage_missing", On.WHOLE, on_counts.usage_in_stream, compares_request=True, key="usage_missing_in_stream"),
    Rule("usage_unasked", On.ANSWER, on_counts.usage_unasked, compares_request=True),
    Rule("usage_missing", On.WHOLE, on_counts.usage_in_whole, key="usage_missing_in_whole"),
    Rule("usage_missing", On.WHOLE, on_counts.usage_in_any),
    Rule("usage_counts", On.ANSWER, on_counts.usage_counts),
    Rule("usage_counts", On.WHOLE, on_counts.usage_counts, key="usage_counts_at_end"),
    Rule("usage_sum", On.ANSWER, on_counts.usage_sum),
    Rule("usage_parts", On.ANSWER, on_counts.usage_parts, ("2.4", _USAGE_PARTS)),
    Rule(
        "usage_zero", On.WHOLE, on_counts.usage_none, ("2.4", "completion_tokens, or output_tokens, counts the output.")
    ),
    Rule("tool_not_offered", On.ANSWER, on_content.not_offered, compares_request=True),
    Rule("tool_choice_none", On.ANSWER, on_content.called_against_none, compares_request=True),
    Rule("tool_choice_unmet", On.WHOLE, on_content.not_called, compares_request=True),
    Rule("tool_choice_other", On.ANSWER, on_content.other_called, compares_request=True),
    Rule(
        "tool_calls_parallel",
        On.ANSWER,
        on_content.several_called,
        ("", "By common practice one call comes at a time where parallel calls are turned off."),
        compares_request=True,
    ),
    Rule("tool_id_known", On.ANSWER, on_content.reused_id, ("", _IDS), compares_request=True),
    Rule("tool_name_later", On.ANSWER, on_content.late_name, ("", _PARTS)),
    Rule("tool_name_missing", On.WHOLE, on_content.no_name, ("2.2", _CALL)),
    Rule("tool_arguments_not_json", On.WHOLE, on_content.arguments),
    Rule("content_not_json", On.ANSWER, on_content.not_json, compares_request=True),
    Rule("stop_ignored", On.ANSWER, on_content.beyond_stop, compares_request=True),
    Rule("limit_ignored", On.ANSWER, on_content.accepted, compares_request=True),
)
