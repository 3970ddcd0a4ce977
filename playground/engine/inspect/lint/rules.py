"""The table of rules on an exchange that has ended: one row, one rule, with what is expected and where that stands.

A rule is asked only where it can judge: what did not come can be missed only in an answer that was seen to its end, and
an answer is compared only with a request that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Final, NamedTuple

from playground.engine.inspect.lint import on_content, on_counts, on_wire
from playground.engine.inspect.lint.case import Case, Seen


class On(Enum):
    """What has to have been seen before a rule can judge."""

    STATUS = "status and headers"
    ERROR = "the body of an error"
    ANSWER = "some of an answer"
    WHOLE = "an answer to its end"


class Rule(NamedTuple):
    """One row. ``section`` is that of the specification, empty where only common practice says so.

    ``protocol`` is the only one it is about, if not both; ``asked`` says whether it compares with the request.
    """

    code: str
    section: str
    expected: str
    on: On
    look: Callable[[Case], Iterable[Seen]]
    protocol: str = ""
    asked: bool = False

    def find(self, case: Case) -> Iterable[Seen]:
        """What it sees in ``case``; nothing where it cannot judge."""
        if (self.protocol and self.protocol != case.exchange.protocol) or (self.asked and not case.asked.known):
            return ()
        can_judge = {
            On.STATUS: case.exchange.status is not None,
            On.ERROR: case.is_error and case.exchange.complete,
            On.ANSWER: case.is_answer,
            On.WHOLE: case.is_whole,
        }
        return self.look(case) if can_judge[self.on] else ()


def _shape(code: str, section: str, expected: str, protocol: str) -> Rule:
    """A field that was looked for in every frame."""
    return Rule(code, section, expected, On.ANSWER, lambda case: case.shape(code), protocol)


def _both(
    code: str,
    chat: tuple[str, str],
    native: str,
    on: On,
    look: Callable[[Case], Iterable[Seen]],
    *,
    asked: bool = False,
) -> tuple[Rule, Rule]:
    """A rule that the specification words for chat completions, and the public protocol for native messages."""
    return (
        Rule(code, *chat, on, look, "chat", asked),
        Rule(code, "", f"By the public protocol {native}", on, look, "messages", asked),
    )


_STATUS: Final = "The documented statuses are 200, 400, 401, 402, 403, 404, 429, 500, 503 and 504."
_COUNTS: Final = "X-RateLimit-Limit and X-RateLimit-Remaining are whole numbers."
_ERROR: Final = "An error is JSON with a code (whole number), a message (text) and data (null); it is shown for 400."
_DIMENSION: Final = "The message of a 429 names the limit: RPM, RPD, TPM, TPD, IPM or IPD."
_STREAM: Final = "With stream true the answer is a stream; without, one completion object."
_NATIVE_STREAM: Final = "stream true is answered by a stream of events, anything else by one message."
_CHUNK: Final = "A chunk, and a completion, holds id, object, created (Unix seconds), model and choices."
_OBJECT: Final = "object is chat.completion.chunk in a stream, chat.completion without."
_ROLE: Final = "The role, assistant, stands in the first chunk of a choice, or in its message."
_CHOICES: Final = "There is one choice for each completion asked for with n, which is 1 by default."
_MODEL: Final = "model is the model used: another than the one asked for is right only behind an alias or a router."
_FINISH: Final = "finish_reason is tool_calls when the model calls a tool, stop at a natural end."
_NATIVE_FINISH: Final = "stop_reason is tool_use when a tool is called, and only then."
_LIMIT: Final = "max_completion_tokens is the most that is generated, reasoning included."
_LENGTH: Final = "finish_reason is length when the max_completion_tokens limit was reached."
_USAGE: Final = "usage counts prompt_tokens, completion_tokens and total_tokens, the sum of both."
_USAGE_ASKED: Final = "The final chunk has usage when stream_options.include_usage is true, and only then."
_USAGE_PARTS: Final = "cached_tokens are part of prompt_tokens, reasoning_tokens of completion_tokens."
_NATIVE_USAGE: Final = "usage counts input_tokens and output_tokens."
_CALL: Final = "A tool call has an id, the type function, and function.name and function.arguments: JSON as text."
_PARTS: Final = "By common practice the first fragment of a call carries its id, its type and its name."
_TOOLS: Final = "tools are those that the model may call."
_CHOICE: Final = "tool_choice none: no tool is used; required: at least one is called; a name: that one is called."
_NATIVE_CHOICE: Final = "tool_choice none forbids tools, any asks for one, tool for the one that it names."
_FORMAT: Final = "response_format asks for JSON: the content is JSON and nothing else."
_STOP: Final = "finish_reason is stop when a stop sequence was hit: the content ends there."
_NATIVE_STOP: Final = "an answer ends at a stop sequence, and stop_reason is stop_sequence."
_RANGES: Final = "Values beyond the limits give 400: at most 4 stop sequences, temperature 0 to 2, top_p 0 to 1."

RULES: Final[tuple[Rule, ...]] = (
    Rule("status_undocumented", "7.1", _STATUS, On.STATUS, on_wire.status),
    Rule("limit_value", "8", _COUNTS, On.STATUS, on_wire.limit_values),
    Rule("limit_reset", "8", "X-RateLimit-Reset is a time in Unix epoch seconds.", On.STATUS, on_wire.limit_reset),
    Rule("no_body", "4", "200 comes with an answer.", On.STATUS, on_wire.no_body),
    Rule("error_shape", "7.2", _ERROR, On.ERROR, on_wire.error_shape),
    Rule("error_type", "7.2", "An error has the content type application/json.", On.ERROR, on_wire.error_type),
    Rule("error_dimension", "7.1", _DIMENSION, On.ERROR, on_wire.dimension),
    Rule("error_inside", "7.1", "An error is told by the status of the answer.", On.ANSWER, on_wire.error_inside),
    Rule("unreadable", "4", "An answer is that of the endpoint's protocol.", On.ANSWER, on_wire.unreadable),
    *_both("not_streamed", ("4.1", _STREAM), _NATIVE_STREAM, On.ANSWER, on_wire.not_streamed, asked=True),
    *_both("streamed_unasked", ("4.1", _STREAM), _NATIVE_STREAM, On.ANSWER, on_wire.streamed, asked=True),
    Rule("stream_type", "4.1", "A stream is Server-Sent Events: text/event-stream.", On.ANSWER, on_wire.stream_type),
    _shape("id_missing", "2.5", _CHUNK, "chat"),
    _shape("object_other", "2.5", _OBJECT, "chat"),
    _shape("created_missing", "2.5", _CHUNK, "chat"),
    _shape("model_missing", "2.5", _CHUNK, "chat"),
    _shape("role_missing", "2.5", _ROLE, "chat"),
    _shape("finish_missing", "2.5", "finish_reason is null until the final chunk of a choice.", "chat"),
    _shape("tool_type_missing", "2.2", _CALL, "chat"),
    _shape("id_missing", "", "By the public protocol a message has an id.", "messages"),
    _shape("model_missing", "", "By the public protocol a message names its model.", "messages"),
    _shape("event_name", "", "By the public protocol a line event: names the type of each event.", "messages"),
    Rule("choices_count", "4.1", _CHOICES, On.WHOLE, on_wire.choices, "chat", asked=True),
    Rule("model_other", "2.4", _MODEL, On.ANSWER, on_wire.model, asked=True),
    *_both("finish_with_calls", ("2.4", _FINISH), _NATIVE_FINISH, On.ANSWER, on_counts.finish_with_calls),
    *_both("finish_without_calls", ("2.4", _FINISH), _NATIVE_FINISH, On.ANSWER, on_counts.finish_without_calls),
    *_both(
        "limit_exceeded",
        ("4.1", _LIMIT),
        "max_tokens is the most that is generated.",
        On.ANSWER,
        on_counts.beyond_limit,
        asked=True,
    ),
    *_both(
        "length_early",
        ("2.4", _LENGTH),
        "stop_reason is max_tokens when that limit was reached.",
        On.ANSWER,
        on_counts.cut_early,
        asked=True,
    ),
    Rule("usage_missing", "2.5", _USAGE_ASKED, On.WHOLE, on_counts.usage_in_stream, "chat", asked=True),
    Rule("usage_unasked", "2.5", _USAGE_ASKED, On.ANSWER, on_counts.usage_unasked, "chat", asked=True),
    Rule("usage_missing", "2.4", _USAGE, On.WHOLE, on_counts.usage_in_whole, "chat"),
    Rule(
        "usage_missing",
        "",
        f"By the public protocol {_NATIVE_USAGE}",
        On.WHOLE,
        on_counts.usage_in_message,
        "messages",
    ),
    Rule("usage_counts", "2.4", _USAGE, On.ANSWER, on_counts.usage_of_completion, "chat"),
    Rule(
        "usage_counts",
        "",
        f"By the public protocol {_NATIVE_USAGE}",
        On.WHOLE,
        on_counts.usage_of_message,
        "messages",
    ),
    Rule("usage_sum", "2.4", _USAGE, On.ANSWER, on_counts.usage_sum, "chat"),
    Rule("usage_parts", "2.4", _USAGE_PARTS, On.ANSWER, on_counts.usage_parts),
    Rule(
        "usage_zero", "2.4", "completion_tokens, or output_tokens, counts the output.", On.WHOLE, on_counts.usage_none
    ),
    *_both(
        "tool_not_offered",
        ("4.1", _TOOLS),
        _TOOLS,
        On.ANSWER,
        on_content.not_offered,
        asked=True,
    ),
    *_both("tool_choice_none", ("4.1", _CHOICE), _NATIVE_CHOICE, On.ANSWER, on_content.called_against_none, asked=True),
    *_both("tool_choice_unmet", ("4.1", _CHOICE), _NATIVE_CHOICE, On.WHOLE, on_content.not_called, asked=True),
    *_both("tool_choice_other", ("4.1", _CHOICE), _NATIVE_CHOICE, On.ANSWER, on_content.other_called, asked=True),
    Rule(
        "tool_calls_parallel",
        "",
        "By common practice one call comes at a time where parallel calls are turned off.",
        On.ANSWER,
        on_content.several_called,
        asked=True,
    ),
    Rule("tool_name_later", "", _PARTS, On.ANSWER, on_content.late_name),
    Rule("tool_name_missing", "2.2", _CALL, On.WHOLE, on_content.no_name),
    *_both(
        "tool_arguments_not_json",
        ("2.2", _CALL),
        "the input of a call is a JSON object.",
        On.WHOLE,
        on_content.arguments,
    ),
    *_both(
        "content_not_json",
        ("4.1", _FORMAT),
        "output_config.format asks for JSON: the text is JSON and nothing else.",
        On.ANSWER,
        on_content.not_json,
        asked=True,
    ),
    *_both("stop_ignored", ("2.4", _STOP), _NATIVE_STOP, On.ANSWER, on_content.beyond_stop, asked=True),
    Rule("limit_ignored", "8", _RANGES, On.ANSWER, on_content.accepted, "chat", asked=True),
)
