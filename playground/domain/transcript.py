"""A conversation as a tree of turns: every edit returns a new transcript and leaves the old one whole.

A transcript knows turns, parents and a head; it knows nothing of requests, streams or storage.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import compress, count, repeat
from operator import attrgetter, eq, is_not
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

#: The finish reason of an answer that the gateway paused: sent back as it is, it is continued.
PAUSED: Final = "pause_turn"


class Ending(StrEnum):
    """How a received turn ended."""

    COMPLETE = "complete"
    STOPPED = "stopped"  # by the person
    CUT_OFF = "cut_off"  # the stream ended without saying why
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # the application ended while it was being received

    @property
    def words(self) -> str:
        """For people; empty where it ended well."""
        return "" if self is Ending.COMPLETE else self.replace("_", " ")


class Outcome(Value):
    """What is known about a received turn besides its parts.

    ``deviations`` are (code, note) pairs of the gateway lint, ``holes`` the codes of those that left something out
    which may belong to the answer. ``exchange`` names the exchange on the tape, ``streamed`` says whether streaming was
    asked for. ``response_format`` is the one the request asked for, as it was sent (see ``playground.domain.output``).
    ``call_times`` are the first and the last fragment of each call, in the order of the calls, in seconds since the
    request began; empty where they were not taken. ``choice`` is the index of the completion that the turn is, and
    ``choices`` how many came of its request: ``usage`` and ``timing`` are the request's, so of all of them together.
    ``asked`` says whom it went to, ``model`` which one says it answered. ``adapted`` are the gateway's
    rules that changed something about the request, ``tried`` those that did and were for this request alone.
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
    def whole(self) -> bool:
        """Whether it is known to have arrived to its end, with nothing in it that could not be read."""
        return self.ending is Ending.COMPLETE and not self.holes


class Turn(Value):
    """One message. ``parent`` is the turn it answers or follows, None at the top.

    ``members`` are members of a chat message that no part holds (``name``, say); they go out as they came, and only
    over chat completions. ``extra`` are those that a received message came with, by protocol (``annotations``, say);
    what of them goes back is for the encoder to say.

    Parts are told apart by their ``kind``: ``isinstance`` of a pydantic class is ten times as dear. Where ten thousand
    turns are walked along in one turn of the loop, ``type(part)`` is asked: it does not look into the part, which lies
    anywhere in memory, and takes a fifth of the time.
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
        """All content, joined; reasoning and calls left out."""
        return "".join([p.text for p in self.parts if p.kind == "text"])

    @property
    def hollow(self) -> bool:
        """Whether it was to be received and nothing came: it is not sent, and makes room for the next try."""
        return self.outcome is not None and not self.parts

    @property
    def reasoning(self) -> str:
        """All reasoning, joined."""
        return "".join([p.text for p in self.parts if p.kind == "reasoning"])

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
        """Return whether the gateway paused the answer and no call of a tool waits in it."""
        outcome = self.outcome
        if outcome is None or outcome.finish_reason != PAUSED or outcome.ending is not Ending.COMPLETE:
            return False
        return bool(self.parts) and not self.calls

    @property
    def truncated(self) -> bool:
        """Whether the turn ended inside itself, so that its last call must not be run."""
        return self.outcome is not None and (
            self.outcome.ending is not Ending.COMPLETE or self.outcome.finish_reason in ("length", "max_tokens")
        )


_ID, _PARENT = attrgetter("id"), attrgetter("parent")


#: Identifiers that were made and not given away yet: to ask the system for each takes longer than all else about it.
_IDS: Final[deque[str]] = deque()
_AT_ONCE: Final = 64
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDS.clear)


def new_id() -> str:
    """A short random identifier, unique for all practical purposes."""
    try:
        return _IDS.pop()
    except IndexError:
        made = secrets.token_hex(8 * _AT_ONCE)
        _IDS.extend(made[at : at + 16] for at in range(16, len(made), 16))
        return made[:16]


def make_turn(role: Role, text: str = "", *parts: Part) -> Turn:
    """A turn written by a person: ``text`` (if any) first, then ``parts``."""
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
        return self._up_from(self.head)

    def place(self, turn_id: str) -> int | None:
        """Where on the path a turn stands; None for one that is not on it."""
        return next(compress(count(), map(turn_id.__eq__, map(_ID, self.path))), None)

    def lineage(self, turn_id: str | None) -> tuple[Turn, ...]:
        """The turns from the top down to ``turn_id``, itself included, whether or not it is on the path."""
        return self.path if turn_id == self.head else self._up_from(turn_id)

    def _up_from(self, at: str | None) -> tuple[Turn, ...]:
        out: list[Turn] = []
        while at is not None:
            turn = self.turns[at]
            out.append(turn)
            at = turn.parent
        return tuple(reversed(out))

    def _gone_on(self, after: Transcript, *turns: Turn) -> Transcript:
        """``after`` is this conversation with ``turns`` behind it: what was found out about this one need not be again.

        Thousands of turns are walked along for it, and each turn that comes makes another transcript.
        """
        known = self.__dict__
        if "path" in known:
            after.__dict__["path"] = (*self.path, *turns)
        if "waiting" in known:
            after.__dict__["waiting"] = tuple(waiting_in(turns, self.waiting))
        fresh = len(after.turns) == len(self.turns) + len(turns) > len(self.turns)
        if fresh and "forks" in known:
            beside = compress(self.turns, map(eq, map(_PARENT, self.turns.values()), repeat(self.head)))
            alternatives = (*beside, turns[0].id)
            after.__dict__["forks"] = self.forks | ({self.head: alternatives} if len(alternatives) > 1 else {})
        return after

    def _same_tree(self, after: Transcript) -> Transcript:
        """``after`` has these turns in these places, whatever they say and wherever its head is."""
        for name in ("forks", "_children"):
            if name in self.__dict__:
                after.__dict__[name] = self.__dict__[name]
        return after

    @cached_property
    def _children(self) -> dict[str | None, tuple[str, ...]]:
        parents = map(_PARENT, self.turns.values())
        return {**dict(zip(parents, zip(self.turns, strict=False), strict=True)), **self.forks}

    @cached_property
    def forks(self) -> dict[str | None, tuple[str, ...]]:
        """The turns (None: the top) that more than one turn follows, and the ids of those, oldest first."""
        followers = Counter(map(_PARENT, self.turns.values()))
        if len(followers) == len(self.turns):
            return {}
        out: dict[str | None, list[str]] = {parent: [] for parent, count in followers.items() if count > 1}
        for turn in self.turns.values():
            if turn.parent in out:
                out[turn.parent].append(turn.id)
        return {parent: tuple(ids) for parent, ids in out.items()}

    def children(self, turn_id: str | None) -> tuple[str, ...]:
        """Ids of the turns that follow ``turn_id`` (None: the top), oldest first."""
        return self._children.get(turn_id, ())

    def siblings(self, turn_id: str) -> tuple[str, ...]:
        """The alternatives of a turn, itself included, oldest first."""
        return self.forks.get(self.turns[turn_id].parent, (turn_id,))

    def append(self, *turns: Turn) -> Transcript:
        """``turns`` follow the head one after another; the last becomes the head."""
        known, head, placed = dict(self.turns), self.head, []
        for turn in turns:
            known[turn.id] = turn.model_copy(update={"parent": head})
            placed.append(known[turn.id])
            head = turn.id
        return self._gone_on(Transcript(known, head), *placed)

    def bring(self, turns: Sequence[Turn]) -> Transcript:
        """``turns`` stand below one parent, as they say; the first becomes the head where the head stood there."""
        on = self.head == turns[0].parent
        known = {**self.turns, **{turn.id: turn for turn in turns}}
        return self._gone_on(Transcript(known, turns[0].id if on else self.head), *turns[: int(on)])

    def append_alternatives(self, turns: Iterable[Turn]) -> Transcript:
        """``turns`` all follow the head as alternatives of one another; the first becomes the head."""
        known, first = dict(self.turns), self.head
        for number, turn in enumerate(turns):
            known[turn.id] = turn.model_copy(update={"parent": self.head})
            if number == 0:
                first = turn.id
        return Transcript(known, first)

    def replace(self, *turns: Turn) -> Transcript:
        """The same tree with the turns of the same ids replaced; their places in the tree stay."""
        new = {turn.id: turn.model_copy(update={"parent": self.turns[turn.id].parent}) for turn in turns}
        after = self._same_tree(replace(self, turns={**self.turns, **new}))
        if "path" in self.__dict__:
            path = list(self.path)
            for turn in new.values():
                if (at := self.place(turn.id)) is not None:
                    path[at] = turn
            after.__dict__["path"] = tuple(path)
        if "waiting" in self.__dict__ and all(_asks(self.turns[turn.id]) == _asks(turn) for turn in turns):
            after.__dict__["waiting"] = self.waiting
        return after

    def insert(self, turn: Turn, *, before: str) -> Transcript:
        """``turn`` takes the place of ``before``, which from now on follows it."""
        after = self.turns[before]
        known = dict(self.turns)
        known[turn.id] = turn.model_copy(update={"parent": after.parent})
        known[before] = after.model_copy(update={"parent": turn.id})
        return Transcript(known, self.head)

    def remove(self, turn_id: str) -> Transcript:
        """Without that one turn; what followed it follows its parent."""
        known = dict(self.turns)
        gone = known.pop(turn_id)
        known.update(
            {key: known[key].model_copy(update={"parent": gone.parent}) for key in self.children(turn_id)}
        )  # each in its place
        after = Transcript(known, gone.parent if self.head == turn_id else self.head)
        at = self.place(turn_id) if "path" in self.__dict__ else None
        if at is not None:
            follower = [known[turn.id] for turn in self.path[at + 1 : at + 2]]
            after.__dict__["path"] = (*self.path[:at], *follower, *self.path[at + 2 :])
            if "waiting" in self.__dict__ and not _asks(gone):
                after.__dict__["waiting"] = self.waiting
        if "forks" in self.__dict__ and not self.forks.keys() & {turn_id, gone.parent}:
            after.__dict__["forks"] = self.forks  # what followed it stands in its place alone
        return after

    def below(self, turn_id: str) -> set[str]:
        """The ids of a turn and of all that follows it, on every branch. Raises KeyError for an unknown id."""
        out: set[str] = set()
        waiting = [self.turns[turn_id].id]
        while waiting:
            at = waiting.pop()
            out.add(at)
            waiting += self._children.get(at, ())
        return out

    def without_branch(self, turn_id: str) -> Transcript:
        """Without that turn and all that follows it. A head in there goes to the end of the alternative beside it.

        Without any it goes to the turn before.
        """
        gone = self.below(turn_id)
        kept = Transcript({key: turn for key, turn in self.turns.items() if key not in gone}, self.head)
        if self.head not in gone:
            return kept
        among = self.siblings(turn_id)
        at = among.index(turn_id)
        beside = (*among[:at], *among[at + 1 :])
        if beside:
            return kept.select(beside[max(at - 1, 0)])
        return kept.truncate_after(self.turns[turn_id].parent)

    def move(self, turn_id: str, step: int) -> Transcript:
        """The turn changes place with the one before (``step`` < 0) or after it on the path; else unchanged."""
        ids = [turn.id for turn in self.path]
        at = ids.index(turn_id)
        first, second = (at - 1, at) if step < 0 else (at, at + 1)
        if first < 0 or second >= len(ids):
            return self
        upper, lower = self.turns[ids[first]], self.turns[ids[second]]
        known = {
            key: (turn.model_copy(update={"parent": upper.id}) if turn.parent == lower.id else turn)
            for key, turn in self.turns.items()
        }
        known[lower.id] = lower.model_copy(update={"parent": upper.parent})
        known[upper.id] = upper.model_copy(update={"parent": lower.id})
        return Transcript(known, upper.id if self.head == lower.id else self.head)

    def truncate_after(self, turn_id: str | None) -> Transcript:
        """The same tree with the head at ``turn_id`` (None: above the first turn). Nothing is deleted."""
        if turn_id is not None and turn_id not in self.turns:
            raise KeyError(turn_id)
        return self._same_tree(replace(self, head=turn_id))

    def select(self, turn_id: str) -> Transcript:
        """The head moves to the newest end of the branch that goes through ``turn_id``."""
        at = turn_id
        if at not in self.turns:
            raise KeyError(at)
        while following := self._children.get(at):
            at = following[-1]
        return self._same_tree(replace(self, head=at))

    def unanswered(self) -> tuple[ToolCall, ...]:
        """Calls on the path that no later tool turn answers (specification, section 4.1, tool-calling flow)."""
        return tuple(call for _, call in self.waiting)

    @cached_property
    def waiting(self) -> tuple[tuple[str, ToolCall], ...]:
        """The same, each with the id of the turn that made it."""
        return tuple(waiting_in(self.path))

    def waiting_above(self, turn_id: str | None) -> tuple[tuple[str, ToolCall], ...]:
        """The same on the way from the top down to ``turn_id``, itself included."""
        return self.waiting if turn_id == self.head else tuple(waiting_in(self._up_from(turn_id)))


def common_prefix(before: Sequence[object], now: Sequence[object]) -> int:
    """How many items at the front of both are the same objects."""
    return next(compress(count(), map(is_not, before, now)), min(len(before), len(now)))


def one_per_request(turns: Iterable[Turn]) -> Iterator[Outcome]:
    """What came of each request in ``turns``, once however many choices it had: what usage is summed over."""
    seen: set[str] = set()
    for turn in turns:
        outcome = turn.outcome
        if outcome is None or (outcome.exchange is not None and outcome.exchange in seen):
            continue
        if outcome.exchange is not None:
            seen.add(outcome.exchange)
        yield outcome


def _asks(turn: Turn) -> list[Part]:
    """What decides which calls wait."""
    return [part for part in turn.parts if part.kind == "tool_call" or part.kind == "tool_result"]


def last_answer(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The last assistant turn behind the paused ones that it continues; empty where there is none."""
    end = next((at for at in range(len(turns), 0, -1) if turns[at - 1].role is Role.ASSISTANT), 0)
    start = max(end - 1, 0)
    while start and turns[start - 1].role is Role.ASSISTANT and turns[start - 1].paused:
        start -= 1
    return tuple(turns[start:end])


def waiting_in(turns: Iterable[Turn], above: Iterable[tuple[str, ToolCall]] = ()) -> list[tuple[str, ToolCall]]:
    """The calls in ``turns`` that no later one answers, each with the id of the turn that made it.

    ``above`` are those that wait already.
    """
    waiting = list(above)
    for turn in turns:
        for part in turn.parts:
            if type(part) is ToolCall:
                waiting.append((turn.id, part))
            elif type(part) is ToolResult:
                # Some gateways use an id again in a later round: a result answers the oldest call still open.
                answered = next((at for at in waiting if at[1].id == part.call_id), None)
                if answered is not None:
                    waiting.remove(answered)
    return waiting
