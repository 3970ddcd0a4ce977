"""A conversation as an immutable tree of turns: every edit returns a new transcript.

A transcript holds turns, parents and a head; requests, streams and storage are the engine's.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Final

from pydantic import Field

from playground.domain.adaptations import Adaptation
from playground.domain.errors import Failure
from playground.domain.members import Extra
from playground.domain.parts import Image, Part, Text, ToolCall, ToolResult
from playground.domain.prices import Asked
from playground.domain.roles import Role as Role
from playground.domain.usage import Timing, Usage
from playground.domain.values import Value
from playground.jsonkit.values import JSONObject

#: The finish reason of an answer that the gateway paused and continues when it is sent back unchanged.
PAUSED: Final = "pause_turn"
#: The finish reasons of answers that a limit on tokens ended.
LIMIT_REASONS: Final = frozenset({"length", "max_tokens", "max_output_tokens"})


class Ending(StrEnum):
    """How a received turn ended."""

    COMPLETE = "complete"
    STOPPED = "stopped"  # by the person
    CUT_OFF = "cut_off"  # the stream ended without saying why
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # the application ended while it was being received

    @property
    def words(self) -> str:
        """The ending for people; empty for a complete turn."""
        return "" if self is Ending.COMPLETE else self.replace("_", " ")


class Outcome(Value):
    """The metadata of a received turn.

    ``deviations`` are (code, note) pairs of the gateway lint; ``holes`` are the codes of those that lost data which may
    belong to the answer. ``exchange`` is the id of the exchange on the tape, ``streamed`` tells whether streaming was
    requested. ``response_format`` is that of the request, as sent (see ``playground.domain.output``). ``call_times``
    are the times of the first and the last fragment of each call, in the order of the calls, in seconds since the
    request began; empty when not measured. ``choice`` is the index of the completion in this turn and ``choices`` the
    number of completions of its request; ``usage`` and ``timing`` belong to the request, hence to all its choices.
    ``asked`` is the gateway and model of the request, ``model`` the model named in the response. ``adapted`` are the
    gateway's rules that changed the request, ``tried`` the rules of this request alone that did.
    """

    ending: Ending
    model: str = ""
    response_id: str = ""
    finish_reason: str | None = None
    usage: Usage | None = None
    timing: Timing | None = None
    failure: Failure | None = None
    deviations: tuple[tuple[str, str], ...] = ()
    exchange: str | None = None
    response_format: JSONObject | None = None
    streamed: bool = True
    call_times: tuple[tuple[float, float], ...] = ()
    choice: int = 0
    choices: int = 1
    asked: Asked = Asked()
    holes: tuple[str, ...] = ()
    adapted: tuple[Adaptation, ...] = ()
    tried: tuple[Adaptation, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Return whether the answer ended normally and no data of it was lost."""
        return self.ending is Ending.COMPLETE and not self.holes


class Turn(Value):
    """One message. ``parent`` is the id of the turn it follows, None at the top.

    ``members`` are members of a chat message that no part holds (such as ``name``); they are sent unchanged, and only
    over chat completions. ``extra`` are the unknown members of a received message by protocol (such as
    ``annotations``); the encoder decides which of them are sent back.

    Compare the ``kind`` of a part instead of calling ``isinstance``, which is ten times slower for pydantic classes.
    """

    id: str
    role: Role
    parts: tuple[Part, ...] = ()
    parent: str | None = None
    outcome: Outcome | None = None
    members: JSONObject = Field(default_factory=dict)
    extra: Extra = Field(default_factory=dict)

    @property
    def text(self) -> str:
        """All text content, joined, without reasoning and calls."""
        return "".join([p.text for p in self.parts if p.kind == "text"])

    @property
    def is_empty(self) -> bool:
        """Return whether a response brought no part: such a turn is not sent, and a retry replaces it."""
        return self.outcome is not None and not self.parts

    @property
    def reasoning(self) -> str:
        """All reasoning, its parts as paragraphs."""
        return "\n\n".join([p.text for p in self.parts if p.kind == "reasoning" and p.text])

    @property
    def refusal(self) -> str:
        """All refusals, joined."""
        return "".join([p.text for p in self.parts if p.kind == "refusal"])

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple([p for p in self.parts if p.kind == "tool_call"])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results, in order."""
        return tuple([p for p in self.parts if p.kind == "tool_result"])

    @property
    def images(self) -> tuple[Image, ...]:
        """The images, in order."""
        return tuple([p for p in self.parts if p.kind == "image"])

    @property
    def paused(self) -> bool:
        """Return whether the gateway paused the answer and the turn has no tool calls."""
        outcome = self.outcome
        if outcome is None or outcome.finish_reason != PAUSED or outcome.ending is not Ending.COMPLETE:
            return False
        return bool(self.parts) and not self.calls

    @property
    def truncated(self) -> bool:
        """Return whether the turn is cut off, so that its last call must not be executed."""
        return self.outcome is not None and (
            self.outcome.ending is not Ending.COMPLETE or self.outcome.finish_reason in LIMIT_REASONS
        )


def new_id() -> str:
    """Return a random identifier of 16 hexadecimal digits."""
    return secrets.token_hex(8)


def make_turn(role: Role, text: str = "", *parts: Part) -> Turn:
    """Return a turn written by a person: ``text`` (if any) first, then ``parts``."""
    written = (Text(text=text),) if text else ()
    return Turn(id=new_id(), role=role, parts=(*written, *parts))


@dataclass(frozen=True)
class Transcript:
    """A tree of turns with a head; the path from the top to the head is the conversation.

    All methods that change something return a new transcript and raise KeyError for an unknown turn id.
    """

    turns: Mapping[str, Turn] = field(default_factory=dict)
    head: str | None = None

    @cached_property
    def path(self) -> tuple[Turn, ...]:
        """The conversation, first turn first."""
        return self._ancestors(self.head)

    def place(self, turn_id: str) -> int | None:
        """Return the index of a turn on the path; None for a turn that is not on it."""
        return next((index for index, turn in enumerate(self.path) if turn.id == turn_id), None)

    def lineage(self, turn_id: str | None) -> tuple[Turn, ...]:
        """Return the turns from the top down to and including ``turn_id``, on the path or not."""
        return self.path if turn_id == self.head else self._ancestors(turn_id)

    def _ancestors(self, turn_id: str | None) -> tuple[Turn, ...]:
        """Return the turns from the top down to and including ``turn_id``."""
        turns: list[Turn] = []
        while turn_id is not None:
            turn = self.turns[turn_id]
            turns.append(turn)
            turn_id = turn.parent
        return tuple(reversed(turns))

    @cached_property
    def _children(self) -> dict[str | None, tuple[str, ...]]:
        children: dict[str | None, list[str]] = {}
        for turn in self.turns.values():
            children.setdefault(turn.parent, []).append(turn.id)
        return {parent: tuple(ids) for parent, ids in children.items()}

    @cached_property
    def forks(self) -> dict[str | None, tuple[str, ...]]:
        """The ids of alternative turns, oldest first, by their parent (None: the top)."""
        return {parent: ids for parent, ids in self._children.items() if len(ids) > 1}

    def children(self, turn_id: str | None) -> tuple[str, ...]:
        """Return the ids of the turns that follow ``turn_id`` (None: the top), oldest first."""
        return self._children.get(turn_id, ())

    def siblings(self, turn_id: str) -> tuple[str, ...]:
        """Return the ids of the alternatives of a turn, including its own, oldest first."""
        return self.forks.get(self.turns[turn_id].parent, (turn_id,))

    def append(self, *turns: Turn) -> Transcript:
        """Add ``turns`` below the head, one after another; the last becomes the head."""
        all_turns, head = dict(self.turns), self.head
        for turn in turns:
            all_turns[turn.id] = turn.model_copy(update={"parent": head})
            head = turn.id
        return Transcript(all_turns, head)

    def bring(self, turns: Sequence[Turn]) -> Transcript:
        """Add ``turns``, which have one common parent; the first becomes the head if that parent was the head."""
        is_below_head = self.head == turns[0].parent
        all_turns = {**self.turns, **{turn.id: turn for turn in turns}}
        return Transcript(all_turns, turns[0].id if is_below_head else self.head)

    def append_alternatives(self, turns: Iterable[Turn]) -> Transcript:
        """Add ``turns`` below the head as alternatives of one another; the first becomes the head."""
        alternatives = [turn.model_copy(update={"parent": self.head}) for turn in turns]
        head = alternatives[0].id if alternatives else self.head
        return Transcript({**self.turns, **{turn.id: turn for turn in alternatives}}, head)

    def replace(self, *turns: Turn) -> Transcript:
        """Replace the turns with these ids; their places in the tree stay."""
        new = {turn.id: turn.model_copy(update={"parent": self.turns[turn.id].parent}) for turn in turns}
        return replace(self, turns={**self.turns, **new})

    def insert(self, turn: Turn, *, before: str) -> Transcript:
        """Insert ``turn`` between the turn ``before`` and its parent."""
        follower = self.turns[before]
        all_turns = dict(self.turns)
        all_turns[turn.id] = turn.model_copy(update={"parent": follower.parent})
        all_turns[before] = follower.model_copy(update={"parent": turn.id})
        return Transcript(all_turns, self.head)

    def remove(self, turn_id: str) -> Transcript:
        """Remove one turn; its followers get its parent."""
        all_turns = dict(self.turns)
        parent = all_turns.pop(turn_id).parent
        for key in self.children(turn_id):
            all_turns[key] = all_turns[key].model_copy(update={"parent": parent})
        return Transcript(all_turns, parent if self.head == turn_id else self.head)

    def below(self, turn_id: str) -> set[str]:
        """Return the ids of a turn and of all its descendants. Raises KeyError for an unknown id."""
        ids: set[str] = set()
        pending = [self.turns[turn_id].id]
        while pending:
            current = pending.pop()
            ids.add(current)
            pending += self._children.get(current, ())
        return ids

    def without_branch(self, turn_id: str) -> Transcript:
        """Remove a turn with all its descendants.

        A head among them moves to the end of the nearest alternative, or else to the parent.
        """
        removed = self.below(turn_id)
        rest = Transcript({key: turn for key, turn in self.turns.items() if key not in removed}, self.head)
        if self.head not in removed:
            return rest
        siblings = self.siblings(turn_id)
        index = siblings.index(turn_id)
        alternatives = (*siblings[:index], *siblings[index + 1 :])
        if alternatives:
            return rest.select(alternatives[max(index - 1, 0)])
        return rest.truncate_after(self.turns[turn_id].parent)

    def move(self, turn_id: str, step: int) -> Transcript:
        """Swap a turn with the one before it (``step`` < 0) or after it on the path; no change at either end."""
        ids = [turn.id for turn in self.path]
        index = ids.index(turn_id)
        first, second = (index - 1, index) if step < 0 else (index, index + 1)
        if first < 0 or second >= len(ids):
            return self
        upper, lower = self.turns[ids[first]], self.turns[ids[second]]
        all_turns = {
            key: (turn.model_copy(update={"parent": upper.id}) if turn.parent == lower.id else turn)
            for key, turn in self.turns.items()
        }
        all_turns[lower.id] = lower.model_copy(update={"parent": upper.parent})
        all_turns[upper.id] = upper.model_copy(update={"parent": lower.id})
        return Transcript(all_turns, upper.id if self.head == lower.id else self.head)

    def truncate_after(self, turn_id: str | None) -> Transcript:
        """Move the head to ``turn_id`` (None: above the first turn). Nothing is deleted."""
        if turn_id is not None and turn_id not in self.turns:
            raise KeyError(turn_id)
        return replace(self, head=turn_id)

    def select(self, turn_id: str) -> Transcript:
        """Move the head to the newest end of the branch through ``turn_id``."""
        head = turn_id
        if head not in self.turns:
            raise KeyError(head)
        while children := self._children.get(head):
            head = children[-1]
        return replace(self, head=head)

    def unanswered(self) -> tuple[ToolCall, ...]:
        """Return the calls on the path without a result (specification, section 4.1, tool-calling flow)."""
        return tuple(call for _, call in self.waiting)

    @cached_property
    def waiting(self) -> tuple[tuple[str, ToolCall], ...]:
        """The calls on the path without a result, each with the id of its turn."""
        return tuple(waiting_in(self.path))

    def waiting_above(self, turn_id: str | None) -> tuple[tuple[str, ToolCall], ...]:
        """Return the calls without a result from the top down to and including ``turn_id``, each with its turn's id."""
        return self.waiting if turn_id == self.head else tuple(waiting_in(self._ancestors(turn_id)))


def common_prefix(before: Sequence[object], now: Sequence[object]) -> int:
    """Return the number of leading items that are the same objects in both."""
    shorter = min(len(before), len(now))
    return next((index for index in range(shorter) if before[index] is not now[index]), shorter)


def one_per_request(turns: Iterable[Turn]) -> Iterator[Outcome]:
    """Yield the outcome of each request in ``turns`` once, however many choices it had, to sum up usage."""
    exchanges: set[str] = set()
    for turn in turns:
        outcome = turn.outcome
        if outcome is None or (outcome.exchange is not None and outcome.exchange in exchanges):
            continue
        if outcome.exchange is not None:
            exchanges.add(outcome.exchange)
        yield outcome


def last_answer(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the last assistant turn with the paused turns that it continues; empty when there is none."""
    end = next((index for index in range(len(turns), 0, -1) if turns[index - 1].role is Role.ASSISTANT), 0)
    start = max(end - 1, 0)
    while start and turns[start - 1].role is Role.ASSISTANT and turns[start - 1].paused:
        start -= 1
    return tuple(turns[start:end])


def waiting_in(turns: Iterable[Turn], above: Iterable[tuple[str, ToolCall]] = ()) -> list[tuple[str, ToolCall]]:
    """Return the calls in ``turns`` without a result, each with the id of its turn; ``above`` are earlier ones."""
    waiting = list(above)
    for turn in turns:
        for part in turn.parts:
            if part.kind == "tool_call":
                waiting.append((turn.id, part))
            elif part.kind == "tool_result":
                # Some gateways reuse an id in a later round: a result answers the oldest open call.
                answered = next((entry for entry in waiting if entry[1].id == part.call_id), None)
                if answered is not None:
                    waiting.remove(answered)
    return waiting
