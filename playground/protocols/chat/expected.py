"""Requirements on answers of chat completions: fields of frames, and sections of the specification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from playground.jsonkit.values import JSONObject
from playground.protocols.expected import ERROR, LARGE, NUMBERS, Expected, Look, Shapes, parsed, text_in


def _created(what: str) -> Look:
    def look(value: JSONObject) -> str:
        created = value.get("created")
        if type(created) is int and created > 0:
            return ""
        return f"{what} has no created" if created is None else f"created of {what} is not a time in Unix seconds"

    return look


def _object(what: str, expected: str) -> Look:
    def look(value: JSONObject) -> str:
        kind = value.get("object")
        if kind == expected:
            return ""
        return f"object of {what} is “{kind[:60]}”" if kind and isinstance(kind, str) else f"{what} has no object"

    return look


def _head(what: str, expected: str) -> dict[str, Look]:
    return {
        "id_missing": text_in("id", what),
        "object_other": _object(what, expected),
        "created_missing": _created(what),
        "model_missing": text_in("model", what),
    }


def _entries(value: JSONObject, name: str) -> Iterator[JSONObject]:
    """Yield the tool calls in the ``name`` (delta or message) of every choice."""
    choices = value.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        holder = choice.get(name) if isinstance(choice, dict) else None
        calls = holder.get("tool_calls") if isinstance(holder, dict) else None
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                yield call


def _first_type(value: JSONObject) -> str:
    odd = any(call.get("id") and call.get("type") is None for call in _entries(value, "delta"))
    return "the first fragment of a call has no type" if odd else ""


def _no_finish(value: JSONObject) -> str:
    choices = value.get("choices")
    entries = choices if isinstance(choices, list) else []
    odd = any(isinstance(entry, dict) and "delta" in entry and "finish_reason" not in entry for entry in entries)
    return "a choice has no finish_reason, not even null" if odd else ""


def _type(value: JSONObject) -> str:
    return "a call has no type" if any(call.get("type") is None for call in _entries(value, "message")) else ""


def _role(value: JSONObject) -> str:
    choices = value.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        message = choice.get("message") if isinstance(choice, dict) else None
        if isinstance(message, dict) and message.get("role") != "assistant":
            return "the role of a message is not assistant"
    return ""


_CHUNK_LOOKS: Final = {
    **_head("a chunk", "chat.completion.chunk"),
    "tool_type_missing": _first_type,
    "finish_missing": _no_finish,
}
_COMPLETION_LOOKS: Final = {
    **_head("the completion", "chat.completion"),
    "tool_type_missing": _type,
    "role_missing": _role,
}


class ChatShapes(Shapes):
    """Checks of a completion and of its chunks.

    The decoder ignores fields that it does not need; other clients may need them.
    """

    body_looks = _COMPLETION_LOOKS
    body_member = "choices"

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self._roles: set[int] = set()  # choices whose first chunk was seen

    def frame(self, raw: bytes) -> Iterator[tuple[str, str]]:
        """Yield the defects of a chunk."""
        value = parsed(raw.partition(b"data:")[2])
        if value is None or not isinstance(value.get("choices"), list) or value.get("error"):
            return
        yield from self.look(_CHUNK_LOOKS, value)
        yield from self._first_role(value)
        yield from self._other_id(value)

    def _other_id(self, value: JSONObject) -> Iterator[tuple[str, str]]:
        id_ = value.get("id")
        if isinstance(id_, str) and id_:
            self._id = self._id or id_
            if id_ != self._id:
                yield from self.first("id_changed", "the id of the answer is another one in a later chunk")

    def _first_role(self, value: JSONObject) -> Iterator[tuple[str, str]]:
        for choice in value["choices"]:
            index = choice.get("index") if isinstance(choice, dict) else None
            if type(index) is not int or index in self._roles:
                continue
            self._roles.add(index)
            delta = choice.get("delta")
            if isinstance(delta, dict) and delta.get("role") != "assistant":
                yield from self.first("role_missing", "the first chunk of a choice has no role")


_CHUNK: Final = (
    "2.5",
    "A chunk holds id, object, created, model and choices, each with index, delta and finish_reason.",
)
_DELTA: Final = ("2.5", "A delta holds role, content and reasoning_content; content is a text fragment.")
_CALL: Final = ("2.2", "A tool call has an id, the type function, and function.name and function.arguments, both text.")
_PARTS: Final = ("", "By common practice fragments of a call carry its index, and its id and name come once, first.")
_STREAM: Final = ("4.1", "A stream is chunk objects, each as a data: line, ended by data: [DONE].")
_USAGE: Final = ("2.5", "usage is next to choices, in the final chunk only.")
_REASON: Final = (
    "2.4",
    "finish_reason is stop, length, tool_calls or content_filter, and null before the final chunk.",
)

_ANSWER: Final = ("2.4", "A message has content or tool_calls.")
_FINISH: Final = "finish_reason is tool_calls when the model calls a tool, stop at a natural end."

_NOTED: Final = {
    "broken_event": _STREAM,
    "broken_after_end": _STREAM,
    "choice_index_missing": _CHUNK,
    "choice_index_repeated": _CHUNK,
    "choice_shape": _CHUNK,
    "choices_missing": _CHUNK,
    "content_after_finish": _REASON,
    "content_parts": _DELTA,
    "content_shape": _DELTA,
    "content_type": ("4.1", "A stream is sent as Server-Sent Events."),
    "cut_off": _STREAM,
    "data_after_end": _STREAM,
    "data_twice": _STREAM,
    "delta_missing": _CHUNK,
    "cumulative_deltas": _DELTA,
    "empty": _ANSWER,
    "end_twice": _STREAM,
    "finish_reason_blank": _REASON,
    "finish_reason_early": _REASON,
    "finish_reason_unknown": _REASON,
    "finish_twice": _REASON,
    "finish_without_calls": ("2.4", _FINISH),
    "function_call": _CALL,
    "inline_think": ("2.5", "Reasoning comes as delta.reasoning_content, apart from delta.content."),
    "json_body": ("4.1", "With stream true the answer is a stream; without, one completion object."),
    "json_twice": _STREAM,
    "list_of_objects": _STREAM,
    "message_in_stream": _CHUNK,
    "message_repeated": _CHUNK,
    "no_end_marker": _STREAM,
    "no_finish_reason": _REASON,
    "no_body": _STREAM,
    "not_json": _STREAM,
    "not_object": _STREAM,
    "number_not_json": NUMBERS,
    "number_too_large": LARGE,
    "other_protocol": _STREAM,
    "plain_completion": _DELTA,
    "refusal_shape": _DELTA,
    "reasoning_name": ("2.5", "Reasoning comes as delta.reasoning_content."),
    "reasoning_only": _ANSWER,
    "reasoning_twice": ("2.5", "Reasoning comes as delta.reasoning_content."),
    "remark": _STREAM,
    "second_error": ERROR,
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
    "tool_id_pieces": _PARTS,
    "tool_id_repeated": _CALL,
    "tool_index_missing": _PARTS,
    "tool_index_moved": _PARTS,
    "tool_index_runs_on": _PARTS,
    "tool_index_shared": _PARTS,
    "tool_index_start": _PARTS,
    "tool_name_changed": _PARTS,
    "tool_name_late": _PARTS,
    "tool_name_pieces": _PARTS,
    "tool_name_repeated": _PARTS,
    "unknown_object": _CHUNK,
    "unknown_part": _DELTA,
    "usage_elsewhere": _USAGE,
    "usage_repeated": _USAGE,
    "usage_shape": _USAGE,
}

_STREAMED: Final = "With stream true the answer is a stream; without, one completion object."
_HEAD: Final = "A chunk, and a completion, holds id, object, created (Unix seconds), model and choices."
_OBJECT: Final = "object is chat.completion.chunk in a stream, chat.completion without."
_ROLE: Final = "The role, assistant, is in the first chunk of a choice, or in its message."
_LIMIT: Final = "max_completion_tokens is the most that is generated, reasoning included."
_LENGTH: Final = "finish_reason is length when the max_completion_tokens limit was reached."
_COUNTS: Final = "usage counts prompt_tokens, completion_tokens and total_tokens, the sum of both."
_COUNTS_ASKED: Final = "The final chunk has usage when stream_options.include_usage is true, and only then."
_WHOLE_CALL: Final = "A tool call has an id, the type function, and function.name and function.arguments: JSON as text."
_TOOLS: Final = "tools are those that the model may call."
_CHOICE: Final = "tool_choice none: no tool is used; required: at least one is called; a name: that one is called."
_FORMAT: Final = "response_format asks for JSON: the content is JSON and nothing else."
_STOP: Final = "finish_reason is stop when a stop sequence was hit: the content ends there."
_RANGES: Final = "Values beyond the limits give 400: at most 4 stop sequences, temperature 0 to 2, top_p 0 to 1."
_RULES: Final = {
    "not_streamed": ("4.1", _STREAMED),
    "streamed_unasked": ("4.1", _STREAMED),
    "id_missing": ("2.5", _HEAD),
    "object_other": ("2.5", _OBJECT),
    "created_missing": ("2.5", _HEAD),
    "model_missing": ("2.5", _HEAD),
    "role_missing": ("2.5", _ROLE),
    "id_changed": ("2.5", "The chunks of one answer have the same id."),
    "finish_missing": ("2.5", "finish_reason is null until the final chunk of a choice."),
    "tool_type_missing": ("2.2", _WHOLE_CALL),
    "choices_count": ("4.1", "There is one choice for each completion asked for with n, which is 1 by default."),
    "finish_with_calls": ("2.4", _FINISH),
    "finish_without_calls": ("2.4", _FINISH),
    "limit_exceeded": ("4.1", _LIMIT),
    "length_early": ("2.4", _LENGTH),
    "usage_missing_in_stream": ("2.5", _COUNTS_ASKED),
    "usage_unasked": ("2.5", _COUNTS_ASKED),
    "usage_missing_in_whole": ("2.4", _COUNTS),
    "usage_counts": ("2.4", _COUNTS),
    "usage_sum": ("2.4", _COUNTS),
    "tool_not_offered": ("4.1", _TOOLS),
    "tool_choice_none": ("4.1", _CHOICE),
    "tool_choice_unmet": ("4.1", _CHOICE),
    "tool_choice_other": ("4.1", _CHOICE),
    "tool_arguments_not_json": ("2.2", _WHOLE_CALL),
    "content_not_json": ("4.1", _FORMAT),
    "stop_ignored": ("2.4", _STOP),
    "limit_ignored": ("8", _RANGES),
}

EXPECTED: Final = Expected(
    rules=_RULES,
    noted=_NOTED,
    noted_else=_STREAM,
    calling="tool_calls",
    talking="stop",
    cut="length",
    limits=(("max_completion_tokens", True), ("max_tokens", False)),
    stops="stop",
    counts=("prompt_tokens", "completion_tokens", "total_tokens"),
    shapes=ChatShapes,
    shape_codes=(
        "id_missing",
        "id_changed",
        "object_other",
        "created_missing",
        "model_missing",
        "role_missing",
        "finish_missing",
        "tool_type_missing",
    ),
)
