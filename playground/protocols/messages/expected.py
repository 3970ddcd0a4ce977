"""Requirements on native messages, most of them by the public protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from playground.jsonkit.values import JSONObject
from playground.protocols.expected import ERROR, LARGE, NUMBERS, EventShapes, Expected, text_in

_BLOCKS: Final = (
    "4.2",
    "An answer has content, a list of blocks; the public protocol starts and stops each by its index.",
)
_ENDS: Final = (
    "",
    "By the public protocol a message ends with message_delta, which has the stop reason, and message_stop.",
)
_EVENTS: Final = ("", "By the public protocol events are one JSON object each, of a documented type.")
_INPUT: Final = (
    "",
    "By the public protocol the input of a call is sent once, as fragments of JSON text before the stop of its block.",
)
_NOTED: Final = {
    "number_not_json": NUMBERS,
    "number_too_large": LARGE,
    "content_text": _BLOCKS,
    "block_index_shared": _BLOCKS,
    "block_shape": _BLOCKS,
    "block_start_missing": _BLOCKS,
    "block_start_repeated": _BLOCKS,
    "block_without_type": _BLOCKS,
    "cumulative_deltas": ("", "By the public protocol the text of a block is sent once, as fragments that are joined."),
    "cut_off": _ENDS,
    "no_end_marker": _ENDS,
    "no_finish_reason": _ENDS,
    "finish_twice": _ENDS,
    "finish_reason_unknown": _ENDS,
    "end_twice": _ENDS,
    "data_after_end": _ENDS,
    "broken_after_end": _ENDS,
    "empty": _BLOCKS,
    "second_error": ERROR,
    "tool_arguments_elsewhere": _INPUT,
    "tool_arguments_empty": _INPUT,
    "tool_arguments_homeless": _INPUT,
    "tool_arguments_late": _INPUT,
    "tool_arguments_object": _INPUT,
    "tool_arguments_placeholder": _INPUT,
    "tool_arguments_twice": _INPUT,
    "tool_call_repeated": _INPUT,
    "tool_id_missing": ("", "By the public protocol a tool_use block has an id."),
    "tool_id_repeated": ("", "By the public protocol each tool_use block has a different id."),
    "usage_shape": ("", "By the public protocol usage is an object with input_tokens and output_tokens."),
}

_STREAM: Final = "stream true is answered by a stream of events, anything else by one message."
_FINISH: Final = "stop_reason is tool_use when a tool is called, and only then."
_COUNTS: Final = "usage counts input_tokens and output_tokens."
_CHOICE: Final = "tool_choice none forbids tools, any requires one, tool requires the one that it names."
_WORDS: Final = {
    "not_streamed": _STREAM,
    "streamed_unasked": _STREAM,
    "id_missing": "a message has an id.",
    "model_missing": "a message names its model.",
    "event_name": "a line event: names the type of each event.",
    "finish_with_calls": _FINISH,
    "finish_without_calls": _FINISH,
    "limit_exceeded": "max_tokens is the most that is generated.",
    "length_early": "stop_reason is max_tokens when that limit was reached.",
    "usage_missing": _COUNTS,
    "usage_counts_at_end": _COUNTS,
    "tool_not_offered": "tools are those that the model may call.",
    "tool_choice_none": _CHOICE,
    "tool_choice_unmet": _CHOICE,
    "tool_choice_other": _CHOICE,
    "tool_arguments_not_json": "the input of a call is a JSON object.",
    "content_not_json": "output_config.format requests JSON: the text is JSON and nothing else.",
    "stop_ignored": "an answer ends at a stop sequence, and stop_reason is stop_sequence.",
}

_MESSAGE: Final = {"id_missing": text_in("id", "the message"), "model_missing": text_in("model", "the message")}


class MessagesShapes(EventShapes):
    """Checks of a message and of its events."""

    body_looks = _MESSAGE
    body_member = "content"

    def event(self, kind: str, value: JSONObject) -> Iterator[tuple[str, str]]:
        """Yield the defects of an event."""
        message = value.get("message")
        if kind == "message_start" and isinstance(message, dict):
            yield from self.look(_MESSAGE, message)


def _is_error(error: JSONObject) -> bool:
    return error.get("type") == "error" and isinstance(error.get("error"), dict)


EXPECTED: Final = Expected(
    rules={name: ("", f"By the public protocol {words}") for name, words in _WORDS.items()},
    noted=_NOTED,
    noted_else=_EVENTS,
    calling="tool_use",
    talking="end_turn",
    cut="max_tokens",
    limits=(("max_tokens", True),),
    stops="stop_sequences",
    counts=("input_tokens", "output_tokens"),
    shapes=MessagesShapes,
    shape_codes=("id_missing", "model_missing", "event_name"),
    is_error=_is_error,
    errors_in_stream=True,
)
