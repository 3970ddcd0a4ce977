"""Spells the events of a stream: their order numbers, and the deviations of the gateway that is imitated."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

from playground.demo.rendering import event, to_json
from playground.demo.responses.habits import Habits

_INDEXES: Final = ("sequence_number", "output_index", "content_index", "summary_index", "annotation_index")
_PADDING: Final = 16  # characters that the length of a delta is rounded up to


class EventWriter:
    """Writes events in order; ``obfuscates`` pads deltas, so that their size does not tell their text."""

    def __init__(self, habits: Habits, obfuscates: bool) -> None:
        self._habits = habits
        self._obfuscates = obfuscates
        self._number = 0
        self._late = b""

    def write(self, kind: str, **members: object) -> bytes:
        """Return one event; b"" where it is held back until the end."""
        value: dict[str, Any] = {"type": kind, "sequence_number": self._number, **members}
        self._number += 1
        if self._obfuscates and kind.endswith(".delta"):
            length = len(str(members["delta"]))
            value["obfuscation"] = secrets.token_urlsafe(_PADDING)[: _PADDING - length % _PADDING]
        self._change_ids(kind, value)
        if not self._habits.has_indexes:
            value = {name: member for name, member in value.items() if name not in _INDEXES}
        data = self._spelled(kind, value)
        if self._habits.late_items and kind == "response.output_item.done":
            self._late += data
            return b""
        return data

    def late(self) -> bytes:
        """Return the events that were held back, once."""
        data, self._late = self._late, b""
        return data

    def error(self, error: Mapping[str, object]) -> bytes:
        """Return an error that is no event of the protocol, as some gateways send it."""
        return event({"error": error})

    def keep_alive(self) -> bytes:
        """Return a sign of life: an undocumented event, or a comment."""
        return b": PROCESSING\n\n" if self._habits.comments else self.write("keepalive")

    def done_mark(self) -> bytes:
        """Return the mark at the end of the stream, where the gateway sends one."""
        return b"data: [DONE]\n\n" if self._habits.has_done_mark else b""

    def _change_ids(self, kind: str, value: dict[str, Any]) -> None:
        habit = self._habits.changing_ids
        if habit == "never" or (habit == "at_end" and kind == "response.output_item.done"):
            return
        suffix = "_tmp" if habit == "at_end" else f"_{value['sequence_number']}"
        if "item_id" in value:
            value["item_id"] += suffix
        if isinstance(value.get("item"), dict):
            value["item"] = {**value["item"], "id": value["item"]["id"] + suffix}

    def _spelled(self, kind: str, value: Mapping[str, object]) -> bytes:
        if self._habits.event_lines == "last":
            return b"data: " + to_json(value) + b"\nevent: " + kind.encode("ascii") + b"\n\n"
        return event(value, kind if self._habits.event_lines == "first" else "")
