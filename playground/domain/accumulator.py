"""The accumulator folds events into parts. Text is stored in lists and joined on demand: a token has constant cost.

It has no clock and is independent of the protocol; equal events give equal parts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from playground.domain.errors import Failure
from playground.domain.events import (
    AnswerMembers,
    Deviation,
    Event,
    ExtraDelta,
    Failed,
    Finish,
    Opened,
    PartStart,
    ReasoningDelta,
    RefusalDelta,
    StreamEnd,
    TextDelta,
    ToolCallDelta,
    UnknownPart,
    UsageReport,
)
from playground.domain.members import Extra, Members, merged
from playground.domain.parts import Part, Reasoning, Refusal, Text, ToolCall, Unknown
from playground.domain.usage import Usage
from playground.domain.values import Value
from playground.jsonkit.values import JSONObject

#: Shared by all values of parts, since an answer may have a million of them: no unknown members, and the names of
#: fields that were set, which nothing asks of a received part.
_NO_EXTRA: Final[Extra] = {}
_RECEIVED: Final[set[str]] = {"text", "extra"}

P = TypeVar("P", bound=Value)


def _received_part(kind: type[P], **fields: Any) -> P:
    """Return a part made of fields that need no validation."""
    part = kind.model_construct(_RECEIVED, **fields)
    if part.model_extra is not None:
        part.model_extra.clear()  # pydantic keeps its emptied table of arguments there, which is larger than the part
    return part


@dataclass(slots=True)
class GrowingPart:
    """A part being received. ``fragments`` grows until the part is complete; a view draws the new ones.

    An answer may have a million parts, most with at most one fragment: lists are created on first use.
    """

    kind: str  # "text", "refusal", or the kind of a subclass
    fragments: list[str] | tuple[()] = ()
    members: Members | None = None  # unknown ones
    place: tuple[int, ...] | None = None  # see ``PartStart``

    def append(self, fragment: str) -> None:
        """Add a fragment of text."""
        if self.fragments:
            self.fragments.append(fragment)
        else:
            self.fragments = [fragment]

    @property
    def text(self) -> str:
        """All fragments joined."""
        return "".join(self.fragments)

    def text_up_to(self, limit: int | None) -> str:
        """Return the first ``limit`` characters of the text without joining the rest; all of it for None."""
        if limit is None:
            return self.text
        fragments: list[str] = []
        missing = limit
        for fragment in self.fragments:
            if missing <= 0:
                break
            fragments.append(fragment[:missing])
            missing -= len(fragment)
        return "".join(fragments)

    def join_fragments(self) -> None:
        """Replace the fragments of a complete part by a single one, which its values share."""
        if len(self.fragments) > 1:
            self.fragments = [self.text]

    @property
    def extra(self) -> Extra:
        """The unknown members received so far."""
        return self.members.value() if self.members is not None else _NO_EXTRA

    @property
    def says_something(self) -> bool:
        """Return whether the part has received any content."""
        return any(self.fragments) or self.members is not None

    def freeze(self, limit: int | None = None) -> Part:
        """Return the part as a value, its text cut after ``limit`` characters."""
        if self.kind == "refusal":
            return _received_part(Refusal, text=self.text_up_to(limit), extra=self.extra)
        return _received_part(Text, text=self.text_up_to(limit), extra=self.extra)


@dataclass(slots=True)
class GrowingReasoning(GrowingPart):
    """Reasoning being received."""

    kind: str = "reasoning"
    field: str | None = None
    signatures: list[str] | None = None
    redacted: str | None = None
    details: list[JSONObject] | None = None

    @property
    def says_something(self) -> bool:
        """Return whether the part has received any content."""
        has_metadata = any(self.signatures or ()) or self.redacted or self.details or self.members is not None
        return bool(has_metadata) or any(self.fragments)

    def add(self, event: ReasoningDelta) -> None:
        """Add the field name, signature, redacted data and details of a fragment, but not its text."""
        self.field = self.field or event.field
        if event.signature is not None:
            self.signatures = self.signatures or []
            self.signatures.append(event.signature)
        if event.redacted is not None:
            self.redacted = event.redacted
        if event.details:
            self.details = self.details or []
            self.details.extend(event.details)

    def freeze(self, limit: int | None = None) -> Reasoning:
        """Return the part as a value, its text cut after ``limit`` characters."""
        return _received_part(
            Reasoning,
            text=self.text_up_to(limit),
            field=self.field,
            signature="".join(self.signatures) if self.signatures else None,
            redacted=self.redacted,
            details=tuple(self.details or ()),
            extra=self.extra,
        )


@dataclass(slots=True)
class GrowingCall(GrowingPart):
    """A tool call being received."""

    kind: str = "tool_call"
    id: str = ""
    name: str = ""
    id_is_ours: bool = False
    free_text: bool = False

    @property
    def says_something(self) -> bool:
        """Return True: a call without arguments is content, too."""
        return True

    def freeze(self, limit: int | None = None) -> ToolCall:
        """Return the part as a value, its arguments cut after ``limit`` characters."""
        return _received_part(
            ToolCall,
            id=self.id,
            name=self.name,
            arguments=self.text_up_to(limit),
            id_is_ours=self.id_is_ours,
            free_text=self.free_text,
            extra=self.extra,
        )


@dataclass(slots=True)
class GrowingUnknown(GrowingPart):
    """A complete part of an unknown kind."""

    kind: str = "unknown"
    value: JSONObject = dataclasses.field(default_factory=dict)

    @property
    def says_something(self) -> bool:
        """Return True: the part is complete."""
        return True

    def freeze(self, limit: int | None = None) -> Unknown:
        """Return the part as a value."""
        return _received_part(Unknown, value=self.value)


@dataclass(slots=True)
class GrowingChoice:
    """One completion being received."""

    index: int
    parts: list[GrowingPart] = dataclasses.field(default_factory=list)
    calls: dict[int, GrowingCall] = dataclasses.field(default_factory=dict)
    finish_reason: str | None = None
    closed: bool = True  # the next fragment opens a new part
    current: GrowingPart | None = None  # the part that the next fragment continues unless ``closed``
    place: tuple[int, ...] | None = None  # of the next part; None: behind all others
    places: dict[tuple[int, ...], GrowingPart] = dataclasses.field(default_factory=dict)
    deltas: int = 0  # content fragments received; an estimate of tokens until usage arrives
    failure: Failure | None = None  # the failure of the answer while it is still being received
    is_json: bool = False  # JSON was requested, so a view shows code from the start
    members: Members | None = None  # unknown members of the message
    around: dict[str, Members] | None = None  # of the choice and the whole answer, by ``AnswerMembers.owner``

    @property
    def extra(self) -> Extra:
        """The members of the message, the choice and the answer received so far that no part holds."""
        own = self.members.value() if self.members is not None else {}
        return merged(own, *(members.value() for members in self.around.values())) if self.around else own

    def extra_of(self, owner: str) -> Extra:
        """Return the members of "message", "choice" or "answer"."""
        members = self.members if owner == "message" else (self.around or {}).get(owner)
        return members.value() if members is not None else {}

    def open(self, kind: str) -> GrowingPart:
        """Return the part that a fragment of ``kind`` belongs to; create it if needed."""
        if not self.closed and self.current is not None and self.current.kind == kind:
            return self.current
        part = GrowingReasoning() if kind == "reasoning" else GrowingPart(kind)
        self.add(part)
        self.current, self.closed = part, False
        return part

    def add(self, part: GrowingPart) -> None:
        """Add a new part at the place of the last ``PartStart``, or behind all others."""
        position = len(self.parts)
        if self.place is not None:
            part.place = self.place
            self.places[self.place] = part
            while position and _is_behind(self.parts[position - 1], self.place):
                position -= 1
        self.parts.insert(position, part)
        self.place, self.closed = None, True

    def go_to(self, place: tuple[int, ...] | None, *, clear: bool) -> None:
        """Continue the part at a place; without one, let the next fragment open a part."""
        self.current = self.places.get(place) if place is not None else None
        self.closed = self.current is None
        self.place = place if self.closed else None
        if clear and self.current is not None:
            self.current.fragments = ()

    def freeze(self, limit: int | None = None) -> tuple[Part, ...]:
        """Return all parts but empty ones as values, in order of appearance, texts cut after ``limit`` characters."""
        return tuple(part.freeze(limit) for part in self.parts if part.says_something)


def _is_behind(part: GrowingPart, place: tuple[int, ...]) -> bool:
    """Return whether a part belongs behind a place."""
    return part.place is not None and part.place > place


class Accumulator:
    """The state of one answer as its events arrive."""

    def __init__(self) -> None:
        self.choices: dict[int, GrowingChoice] = {}
        self.id = ""
        self.model = ""
        self.usage: Usage | None = None
        self.failure: Failure | None = None
        self.deviations: dict[str, str] = {}
        self.holes: dict[str, str] = {}  # deviations that lost data of the answer
        self.ended = False

    @property
    def complete(self) -> bool:
        """Return whether the answer ended without a failure and without lost data."""
        return self.ending_seen and self.failure is None and not self.holes

    @property
    def ending_seen(self) -> bool:
        """Return whether the end marker, or the finish reason of every choice, was received."""
        return self.ended or (bool(self.choices) and all(c.finish_reason is not None for c in self.choices.values()))

    @property
    def empty(self) -> bool:
        """Return whether no content was received."""
        choices = self.choices.values()
        return not any(choice.members or any(part.says_something for part in choice.parts) for choice in choices)

    @property
    def answered(self) -> int:
        """The number of completions with content; at least 1, because an empty answer counts as one."""
        return max(sum(1 for c in self.choices.values() if c.parts or c.members or c.finish_reason is not None), 1)

    def choice(self, index: int) -> GrowingChoice:
        """Return the completion with an index; create it if needed."""
        choice = self.choices.get(index)
        if choice is None:
            choice = self.choices[index] = GrowingChoice(index)
        return choice

    def add_events(self, events: Iterable[Event]) -> None:
        """Fold in ``events`` in order. Consecutive text deltas become one fragment, which saves memory."""
        texts: list[str] = []
        index = 0
        for event in events:
            if isinstance(event, TextDelta):
                if texts and event.choice != index:
                    self._text(index, "text", texts)
                    texts = []
                index = event.choice
                texts.append(event.text)
                continue
            if texts:
                self._text(index, "text", texts)
                texts = []
            if isinstance(event, ReasoningDelta):
                self._reasoning(event)
            elif isinstance(event, ToolCallDelta):
                self._call(event)
            elif isinstance(event, ExtraDelta):
                self._extra(event)
            else:
                self._rare_event(event)
        if texts:
            self._text(index, "text", texts)

    def _text(self, index: int, kind: str, texts: list[str]) -> None:
        choice = self.choice(index)
        choice.open(kind).append("".join(texts))
        choice.deltas += len(texts)

    def _reasoning(self, event: ReasoningDelta) -> None:
        choice = self.choice(event.choice)
        part = choice.open("reasoning")
        if event.text:
            part.append(event.text)
            choice.deltas += 1
        if isinstance(part, GrowingReasoning):
            part.add(event)

    def _call(self, event: ToolCallDelta) -> None:
        choice = self.choice(event.choice)
        part = choice.calls.get(event.call)
        if part is None:
            part = choice.calls[event.call] = GrowingCall()
            choice.add(part)
        if event.id is not None:
            part.id, part.id_is_ours = event.id, event.id_is_ours
        if event.name is not None:
            part.name = event.name
        part.free_text = part.free_text or event.free_text
        if event.arguments:
            part.append(event.arguments)
            choice.deltas += 1

    def _extra(self, event: ExtraDelta) -> None:
        choice = self.choice(event.choice)
        owner: GrowingChoice | GrowingPart | None = choice
        if event.owner == "tool_call":
            owner = choice.calls.get(event.call)
        elif event.owner != "message":
            owner = choice.open(event.owner)
        if owner is not None:
            owner.members = owner.members or Members()
            owner.members.add_fragment(event.protocol, event.members, event.pieces, event.records)

    def _rare_event(self, event: Event) -> None:
        match event:
            case RefusalDelta(choice, text):
                self._text(choice, "refusal", [text])
            case PartStart(choice, place, clear):
                self.choice(choice).go_to(place, clear=clear)
            case UnknownPart(choice, value):
                state = self.choice(choice)
                if isinstance(state.current, GrowingUnknown) and not state.closed:
                    state.current.value = value
                else:
                    state.add(GrowingUnknown(value=value))
            case Opened(id, model):
                self.id, self.model = id or self.id, model or self.model
            case AnswerMembers(choice, owner, protocol, members, pieces):
                state = self.choice(choice)
                state.around = state.around or {}
                state.around.setdefault(owner, Members()).add_fragment(protocol, members, pieces, complete=True)
            case UsageReport(usage):
                self.usage = usage
            case Finish(choice, reason):
                self.choice(choice).finish_reason = reason
            case StreamEnd():
                self.ended = True
            case Failed(failure):
                self.failure = self.failure or failure
            case Deviation(code, note, hole):
                self.deviations.setdefault(code, note)
                if hole:
                    self.holes.setdefault(code, note)
