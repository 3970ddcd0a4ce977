"""Folds events into parts. Text is kept in lists and joined when asked, so a token costs the same at any length.

The accumulator keeps no clock and knows no protocol; the same events always give the same parts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

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
from playground.jsonkit.values import JSONObject


@dataclass(slots=True)
class GrowingPart:
    """A part being received. ``fragments`` grows until the part is complete; a view remembers how many it has drawn.

    There may be a million of them, and most have one fragment or none: each holds what its kind needs and no more.
    """

    kind: str  # "text", "refusal", and those below
    fragments: list[str] | tuple[()] = ()
    members: Members | None = None  # that nothing here knows

    def append(self, fragment: str) -> None:
        """More of its text."""
        if self.fragments:
            self.fragments.append(fragment)
        else:
            self.fragments = [fragment]

    @property
    def text(self) -> str:
        """All fragments joined."""
        return "".join(self.fragments)

    def text_up_to(self, limit: int | None) -> str:
        """The first ``limit`` characters of the text without joining the others; all of it for None."""
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
        """Replace the fragments by one, which values of the part share. For a part that is complete."""
        if len(self.fragments) > 1:
            self.fragments = [self.text]

    @property
    def extra(self) -> Extra:
        """The members that nothing here knows, as far as they came."""
        return self.members.value() if self.members is not None else {}

    @property
    def says_something(self) -> bool:
        """Whether anything of it has come."""
        return any(self.fragments) or self.members is not None

    def freeze(self, limit: int | None = None) -> Part:
        """The part as a value, its text cut after ``limit`` characters."""
        if self.kind == "refusal":
            return Refusal(text=self.text_up_to(limit))
        return Text(text=self.text_up_to(limit), extra=self.extra)


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
        """Whether anything of it has come."""
        beside = any(self.signatures or ()) or self.redacted or self.details or self.members is not None
        return bool(beside) or any(self.fragments)

    def add(self, event: ReasoningDelta) -> None:
        """Take in what a fragment says beside its text."""
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
        """The part as a value, its text cut after ``limit`` characters."""
        return Reasoning(
            text=self.text_up_to(limit),
            field=self.field,
            signature="".join(self.signatures) if self.signatures else None,
            redacted=self.redacted,
            details=tuple(self.details or ()),
            extra=self.extra,
        )


@dataclass(slots=True)
class GrowingCall(GrowingPart):
    """A tool call being received; it is there from the moment that it is named."""

    kind: str = "tool_call"
    id: str = ""
    name: str = ""
    id_is_ours: bool = False
    free_text: bool = False

    @property
    def says_something(self) -> bool:
        """A call without a word is one, too."""
        return True

    def freeze(self, limit: int | None = None) -> ToolCall:
        """The part as a value, its text cut after ``limit`` characters."""
        return ToolCall(
            id=self.id,
            name=self.name,
            arguments=self.text_up_to(limit),
            id_is_ours=self.id_is_ours,
            free_text=self.free_text,
            extra=self.extra,
        )


@dataclass(slots=True)
class GrowingUnknown(GrowingPart):
    """A part of a kind that nothing here knows; it comes whole."""

    kind: str = "unknown"
    value: JSONObject = dataclasses.field(default_factory=dict)

    @property
    def says_something(self) -> bool:
        """It came whole."""
        return True

    def freeze(self, limit: int | None = None) -> Unknown:
        """The part as a value."""
        return Unknown(value=self.value)


@dataclass(slots=True)
class GrowingChoice:
    """One completion being received."""

    index: int
    parts: list[GrowingPart] = dataclasses.field(default_factory=list)
    calls: dict[int, GrowingCall] = dataclasses.field(default_factory=dict)
    finish_reason: str | None = None
    closed: bool = True  # whether the next fragment opens a new part
    deltas: int = 0  # content fragments received, a stand-in for tokens until usage arrives
    failure: Failure | None = None  # what went wrong with the answer it belongs to, while it is still being received
    is_json: bool = False  # whether JSON was asked for, so that a view shows it as code from the start
    members: Members | None = None  # of the message, that nothing here knows
    around: dict[str, Members] | None = None  # of the choice and of the whole answer, by ``AnswerMembers.of``

    @property
    def extra(self) -> Extra:
        """The members of the message, the choice and the answer that no part holds, as far as they came."""
        own = self.members.value() if self.members is not None else {}
        return merged(own, *(members.value() for members in self.around.values())) if self.around else own

    def extra_of(self, of: str) -> Extra:
        """The members of one of them: "message", "choice" or "answer"."""
        members = self.members if of == "message" else (self.around or {}).get(of)
        return members.value() if members is not None else {}

    def open(self, kind: str) -> GrowingPart:
        """The part that a fragment of ``kind`` belongs to, made if needed."""
        if not self.closed and self.parts and self.parts[-1].kind == kind:
            return self.parts[-1]
        part = GrowingReasoning() if kind == "reasoning" else GrowingPart(kind)
        self.parts.append(part)
        self.closed = False
        return part

    def freeze(self, limit: int | None = None) -> tuple[Part, ...]:
        """All parts as values, in order of appearance; empty texts left out, longer ones than ``limit`` cut there."""
        return tuple(part.freeze(limit) for part in self.parts if part.says_something)


class Accumulator:
    """The state of one answer as its events arrive."""

    def __init__(self) -> None:
        self.choices: dict[int, GrowingChoice] = {}
        self.id = ""
        self.model = ""
        self.usage: Usage | None = None
        self.failure: Failure | None = None
        self.deviations: dict[str, str] = {}
        self.holes: dict[str, str] = {}  # those of them that left something out which may belong to the answer
        self.ended = False

    @property
    def complete(self) -> bool:
        """Whether the answer is whole: it ended, nothing failed, and nothing in it could not be read."""
        return self.ending_seen and self.failure is None and not self.holes

    @property
    def ending_seen(self) -> bool:
        """Whether the end marker came, or the finish reason of every choice."""
        return self.ended or (bool(self.choices) and all(c.finish_reason is not None for c in self.choices.values()))

    @property
    def empty(self) -> bool:
        """Whether nothing a person could see has arrived."""
        choices = self.choices.values()
        return not any(choice.members or any(part.says_something for part in choice.parts) for choice in choices)

    @property
    def answered(self) -> int:
        """How many completions brought anything; 1 at least, since an answer with nothing in it is one, too."""
        return max(sum(1 for c in self.choices.values() if c.parts or c.members or c.finish_reason is not None), 1)

    def choice(self, index: int) -> GrowingChoice:
        """The completion with that index, made if needed."""
        found = self.choices.get(index)
        if found is None:
            found = self.choices[index] = GrowingChoice(index)
        return found

    def add_events(self, events: Iterable[Event]) -> None:
        """Fold ``events`` in, in order. Text deltas in a row become one fragment: a million strings weigh too much."""
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
                self._other(event)
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
            choice.parts.append(part)
            choice.closed = True
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
        of: GrowingChoice | GrowingPart | None = choice
        if event.of == "tool_call":
            of = choice.calls.get(event.call)
        elif event.of != "message":
            of = choice.open(event.of)
        if of is not None:
            of.members = of.members or Members()
            of.members.add_fragment(event.protocol, event.members, event.pieces, event.records)

    def _other(self, event: Event) -> None:
        match event:
            case RefusalDelta(choice, text):
                self._text(choice, "refusal", [text])
            case PartStart(choice):
                self.choice(choice).closed = True
            case UnknownPart(choice, value):
                state = self.choice(choice)
                state.parts.append(GrowingUnknown(value=value))
                state.closed = True
            case Opened(id, model):
                self.id, self.model = id or self.id, model or self.model
            case AnswerMembers(choice, of, protocol, members, pieces):
                state = self.choice(choice)
                state.around = state.around or {}
                state.around.setdefault(of, Members()).add_fragment(protocol, members, pieces, whole=True)
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
