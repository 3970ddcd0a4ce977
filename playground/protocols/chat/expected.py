"""What is expected in the place of each deviation that the decoders note: a section of the specification, and words."""

from __future__ import annotations

from typing import Final

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


def expected(code: str, protocol: str) -> tuple[str, str]:
    """The section (empty where only common practice says so) and what it says on a decoder's ``code``."""
    if protocol == "messages":
        return _MESSAGES.get(code, _EVENTS)
    return _CHAT.get(code, _STREAM)
