"""Requirements on responses, by the public protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols.expected import ERROR, LARGE, NUMBERS, EventShapes, Expected, text_in
from playground.protocols.responses.decode import ENDS

_EVENTS: Final = ("", "By the public protocol events are one JSON object each, of a documented type.")
_ITEMS: Final = ("", "By the public protocol each output item is added, then done, at an output_index of its own.")
_ENDS: Final = ("", "By the public protocol a stream ends with response.completed, .incomplete or .failed.")
_TEXTS: Final = ("", "By the public protocol the fragments of a text, joined, are the text of its item.")
_CALL: Final = ("", "By the public protocol a call has a call_id of its own, a name, and its arguments as text.")
_NOTED: Final = {
    "number_not_json": NUMBERS,
    "number_too_large": LARGE,
    "second_error": ERROR,
    **dict.fromkeys(("item_start_missing", "item_start_repeated", "item_index_shared", "item_shape"), _ITEMS),
    **dict.fromkeys(("item_end_repeated", "delta_after_item"), _ITEMS),
    **dict.fromkeys(("cut_off", "no_finish_reason", "end_twice", "data_after_end", "empty"), _ENDS),
    **dict.fromkeys(("text_differs", "text_shape", "cumulative_deltas"), _TEXTS),
    **dict.fromkeys(("tool_id_missing", "tool_id_repeated", "tool_arguments_object"), _CALL),
    "usage_shape": ("", "By the public protocol usage is an object with input_tokens and output_tokens."),
}

_STREAM: Final = "stream true is answered by a stream of events, anything else by one response."
_COUNTS: Final = "usage counts input_tokens, output_tokens and total_tokens, the sum of both."
_CHOICE: Final = "tool_choice none forbids tools, required asks for one, a name for that one."
_RULES: Final = {
    "not_streamed": _STREAM,
    "streamed_unasked": _STREAM,
    "id_missing": "a response has an id.",
    "model_missing": "a response names its model.",
    "members_missing": "a response has status, output, error, incomplete_details, tools and tool_choice.",
    "event_name": "a line event: names the type of each event.",
    "event_order": "a stream begins with response.created, and a fragment comes between the start and end of its item.",
    "sequence_number": "sequence_number counts the events of a stream from 0.",
    "item_status": "an item that is done has the status completed or incomplete.",
    "output_differs": "the last event repeats the items that were done.",
    "limit_exceeded": "max_output_tokens is the most that is generated.",
    "length_early": "the reason max_output_tokens means that the limit was reached.",
    "usage_missing": _COUNTS,
    "usage_counts_at_end": _COUNTS,
    "usage_sum": _COUNTS,
    "tool_not_offered": "tools are those that the model may call.",
    "tool_choice_none": _CHOICE,
    "tool_choice_unmet": _CHOICE,
    "tool_choice_other": _CHOICE,
    "tool_arguments_not_json": "the arguments of a call are JSON as text.",
    "content_not_json": "text.format asks for JSON: the text is JSON and nothing else.",
}

_REQUIRED: Final = ("status", "output", "error", "incomplete_details", "tools", "tool_choice")
#: Members that servers change in the last event, and that say nothing of the content.
_VOLATILE: Final = frozenset({"id", "encrypted_content", "status", "logprobs"})


def _missing(response: JSONObject) -> str:
    missing = [name for name in _REQUIRED if name not in response]
    return f"the response has no {', '.join(missing)}" if missing else ""


_RESPONSE: Final = {
    "id_missing": text_in("id", "the response"),
    "model_missing": text_in("model", "the response"),
    "members_missing": _missing,
}


class ResponsesShapes(EventShapes):
    """Checks of a response and of its events."""

    body_looks = _RESPONSE
    body_member = "output"

    def __init__(self) -> None:
        super().__init__()
        self._expected_number = 0
        self._items: dict[int, JSON] = {}  # done, by index
        self._open: set[int] = set()
        self._has_begun = False

    def event(self, kind: str, value: JSONObject) -> Iterator[tuple[str, str]]:
        """Yield the defects of an event."""
        number = value.get("sequence_number")
        if number != self._expected_number:
            note = f"an event has the sequence_number {number}, expected was {self._expected_number}"
            yield from self.first("sequence_number", note if number is not None else "an event has no sequence_number")
        self._expected_number = number + 1 if type(number) is int else self._expected_number + 1
        yield from self._order(kind, value)
        response = value.get("response")
        if isinstance(response, dict):
            yield from self.look(_RESPONSE, response)
            if kind in ENDS:
                yield from self._final_output(response.get("output"))

    def _order(self, kind: str, value: JSONObject) -> Iterator[tuple[str, str]]:
        """Yield an event out of its order, and an item that is done without being so."""
        if not self._has_begun and kind not in ("response.created", "error"):
            yield from self.first("event_order", f"the first event is {kind[:60]}")
        self._has_begun = True
        index, item = value.get("output_index"), value.get("item")
        if type(index) is not int:
            return
        if kind == "response.output_item.added":
            self._open.add(index)
        elif index not in self._open:
            yield from self.first("event_order", f"{kind[:60]} is not between the start and end of its item")
        if kind == "response.output_item.done":
            self._open.discard(index)
            self._items[index] = item
            if isinstance(item, dict) and item.get("status") in ("in_progress", ""):
                yield from self.first("item_status", f"an item that is done has the status {item['status']!r}")

    def _final_output(self, output: JSON) -> Iterator[tuple[str, str]]:
        """Yield that the items of the last event are others than those that were done before."""
        done = [_content(self._items[index]) for index in sorted(self._items)]
        final = [_content(item) for item in output] if isinstance(output, list) else []
        if done and not same(done, final):
            yield from self.first("output_differs", "the output of the last event differs from the items before it")


def _content(value: JSON) -> JSON:
    """Return an item without its volatile members."""
    if isinstance(value, dict):
        return {name: _content(member) for name, member in value.items() if name not in _VOLATILE}
    return [_content(item) for item in value] if isinstance(value, list) else value


def _is_error(error: JSONObject) -> bool:
    inner = error.get("error")
    return isinstance(inner, dict) and isinstance(inner.get("message"), str)


EXPECTED: Final = Expected(
    rules={name: ("", f"By the public protocol {words}") for name, words in _RULES.items()},
    noted=_NOTED,
    noted_else=_EVENTS,
    calling="completed",
    talking="completed",
    cut="max_output_tokens",
    limits=(("max_output_tokens", True),),
    stops="",
    counts=("input_tokens", "output_tokens", "total_tokens"),
    shapes=ResponsesShapes,
    shape_codes=(
        *("id_missing", "model_missing", "members_missing", "event_name", "event_order", "sequence_number"),
        *("item_status", "output_differs"),
    ),
    is_error=_is_error,
    errors_in_stream=True,
)
