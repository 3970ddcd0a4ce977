"""Cumulative deltas: streams in which each fragment of a text begins with all that came before it.

The protocols ask for fragments that are appended. Some gateways send the whole text so far each time, so that
appended it repeats itself. This module detects that and can undo it on request; nothing is changed by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from playground.domain.events import Event, PartStart, ReasoningDelta, TextDelta

#: The code of the deviation.
CUMULATIVE: Final = "cumulative_deltas"
NOTE: Final = (
    "each delta repeats the text so far; “Read as cumulative text” on the "
    "message, or “playground decode --cumulative”, reads it without the repeats"
)
#: Fragments in a row, the first included, that make it certain.
ENOUGH: Final = 5

_KINDS: Final = (TextDelta, ReasoningDelta)

#: A completion and the kind of its text.
_Key: TypeAlias = tuple[int, type[TextDelta] | type[ReasoningDelta]]


@dataclass(slots=True)
class _Text:
    """A text of which each fragment began with the one before so far."""

    last: str
    fragments: int = 1


class CumulativeDeltas:
    """Watches the events of one answer. ``texts`` are the texts that proved to be cumulative.

    A gateway that appends the fragments of one text does so with all of that kind: they are watched no more.
    """

    def __init__(self) -> None:
        self.texts: set[_Key] = set()
        self._open: dict[_Key, _Text] = {}
        self._watched: set[type[Event]] = {PartStart, *_KINDS}

    def watch(self, events: Sequence[Event]) -> int | None:
        """Take in more events; returns the position after the one that made the first text certain, else None."""
        certain = None
        if self._watched.isdisjoint(map(type, events)):
            return certain
        for position, event in enumerate(events, 1):
            if type(event) not in self._watched:
                continue
            if isinstance(event, PartStart):
                _begin_part(self._open, event.choice)
            elif isinstance(event, TextDelta | ReasoningDelta) and event.text and self._is_certain(event):
                certain = position
        return certain

    def _is_certain(self, event: TextDelta | ReasoningDelta) -> bool:
        """Take in a fragment; return whether it is the one that proves a text to be the first cumulative one."""
        key, fragment = (event.choice, type(event)), event.text
        text = self._open.setdefault(key, _Text(fragment))
        if not fragment.startswith(text.last):
            self._watched.discard(type(event))
        elif len(fragment) > len(text.last):
            text.last = fragment
            text.fragments += 1
            if text.fragments >= ENOUGH and key not in self.texts and not fragment.isspace():
                self.texts.add(key)
                return len(self.texts) == 1
        return False


def without_repeats(events: Sequence[Event]) -> list[Event]:
    """Return the events of an answer with its cumulative texts as fragments that can be appended."""
    watch = CumulativeDeltas()
    watch.watch(events)
    so_far: dict[_Key, str] = {}
    out: list[Event] = []
    for event in events:
        if isinstance(event, PartStart):
            _begin_part(so_far, event.choice)
        elif isinstance(event, TextDelta | ReasoningDelta) and (key := (event.choice, type(event))) in watch.texts:
            before = so_far.get(key, "")
            if event.text.startswith(before):
                so_far[key] = event.text
                event = replace(event, text=event.text[len(before) :])  # noqa: PLW2901 - the event without its repeat
            elif before.startswith(event.text):  # an earlier state once more
                event = replace(event, text="")  # noqa: PLW2901
            else:
                so_far[key] = before + event.text
        out.append(event)
    return out


def _begin_part(texts: dict[_Key, Any], choice: int) -> None:
    """Forget the texts of a completion: its next fragment begins a new part."""
    for kind in _KINDS:
        texts.pop((choice, kind), None)
