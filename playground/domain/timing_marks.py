"""When what of an answer came: the first of each kind, and the first and last fragment of every call."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from playground.domain.events import Event, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta


class TimingMarks:
    """Takes the events of one answer, and when each lot of them came, in seconds since the request was sent.

    It keeps no clock. A mark is None until there is such a thing; ``first_content`` is text, a refusal or a call.
    """

    def __init__(self) -> None:
        self.first_reasoning: float | None = None
        self.first_content: float | None = None
        self.reasoning_end: float | None = None
        self._calls: dict[int, dict[int, int]] = {}  # of choice and call: the place of its times
        self._times: dict[int, array[float]] = {}  # of a choice's calls, two each; there may be a million

    def note_events(self, events: Iterable[Event], at: float) -> None:
        """Some more, all of which came at ``at``."""
        for event in events:
            if type(event) is ToolCallDelta and not event.only_late:
                self._note_call(event.choice, event.call, at)
            if self.first_content is None:
                self._note_first(event, at)

    def call_times(self, choice: int) -> tuple[tuple[float, float], ...]:
        """The first and last fragment of each call of a choice so far, in the order of the calls."""
        times = self._times.get(choice, ())
        return tuple(zip(times[::2], times[1::2], strict=True))

    def _note_call(self, choice: int, call: int, at: float) -> None:
        places = self._calls.setdefault(choice, {})
        place = places.setdefault(call, len(places))
        times = self._times.setdefault(choice, array("d"))
        if 2 * place == len(times):
            times.extend((at, at))
        times[2 * place + 1] = at

    def _note_first(self, event: Event, at: float) -> None:
        if isinstance(event, ReasoningDelta):
            self.first_reasoning = at if self.first_reasoning is None else self.first_reasoning
        elif isinstance(event, TextDelta | ToolCallDelta | RefusalDelta):
            self.first_content = at
            self.reasoning_end = at if self.first_reasoning is not None else None
