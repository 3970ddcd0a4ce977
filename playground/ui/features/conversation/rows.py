"""What the conversation shows, a row each: the turns of the path, results folded into the calls they answer. No Qt.

A path may be ten thousand turns long and changes with every turn that comes: what is the same as before is kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, count, islice
from operator import is_not
from typing import NamedTuple

from playground.domain.parts import ToolResult
from playground.domain.tokens import estimate_tokens
from playground.domain.transcript import Role, Transcript, Turn

FEW = 8  # turns with other words that are put in one by one
STEP = 32  # turns that are weighed between two looks at the clock


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one call and the tool turn that holds it; ``alternatives`` are its siblings, itself included."""

    turn_id: str
    result: ToolResult
    alternatives: tuple[str, ...] = ()


class Row(NamedTuple):
    """One card. ``answers`` maps call ids to results; ``alternatives`` are the turn's siblings, itself included.

    ``growing`` says that the turn is being received. A row is never changed, its ``answers`` neither: a row that is
    the same object shows the same. It is a tuple because ten thousand are made at once, and a dataclass takes twice
    the time.
    """

    turn: Turn
    alternatives: tuple[str, ...]
    answers: dict[str, Answer]
    growing: bool = False

    @property
    def id(self) -> str:
        """The id of the turn shown."""
        return self.turn.id


#: The answers of most rows.
NONE: dict[str, Answer] = {}


class Rows:
    """The rows of a path that changes. ``follow`` brings them up to date; ``rows`` are those of the last time."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._path: tuple[Turn, ...] = ()
        self._forks: dict[str | None, tuple[str, ...]] = {}
        self._growing: frozenset[str] = frozenset()
        self._first: list[int] = []  # where on the path the turn of each row stands
        self._last: list[int] = []  # where the last result folded into it stands, or else its turn
        self._far: set[int] = set()  # rows that have a result from behind a later row
        self._weights: dict[str, tuple[Turn, int, int]] = {}  # tokens and images, by turn id
        self._weighed: tuple[Turn, ...] = ()  # the path that ``tokens`` and ``images`` are of
        self.tokens = 0  # about how many all content, arguments and results are; reasoning left out
        self.images = 0
        self._makers: dict[str, list[int]] = {}  # the rows with a call of that id, in order

    @property
    def path(self) -> tuple[Turn, ...]:
        """The turns of the last time."""
        return self._path

    @property
    def weighed(self) -> bool:
        """Whether ``tokens`` and ``images`` are those of the path; else they are of an earlier one."""
        return self._weighed is self._path

    def weigh(self) -> Iterator[None]:
        """Have ``tokens`` and ``images`` be those of the path, some turns in a step; none is weighed twice."""
        path, before = self._path, self._weights
        now: dict[str, tuple[Turn, int, int]] = {}
        for at, turn in enumerate(path):
            known = before.get(turn.id)
            now[turn.id] = known if known is not None and known[0] is turn else (turn, *_weight(turn))
            if at % STEP == 0:
                yield
        self.tokens = sum(tokens for _, tokens, _ in now.values())
        self.images = sum(images for _, _, images in now.values())
        self._weights, self._weighed = now, path

    def follow(self, transcript: Transcript, growing: Collection[str] = ()) -> list[Row]:
        """The rows of a transcript's path; a row that shows what it showed before is the same object.

        A tool turn whose result answers a call before it has no row of its own.
        """
        path, forks, now = transcript.path, transcript.forks, frozenset(growing)
        if (forks, now) == (self._forks, self._growing) and self._rewrite(path):
            return list(self.rows)
        start = common_prefix(self._path, path)
        if changed := {parent for parent in {*forks, *self._forks} if forks.get(parent) != self._forks.get(parent)}:
            start = min([start, *(at for at, turn in enumerate(path[:start]) if turn.parent in changed)])
        if changed_state := now ^ self._growing:
            start = min([start, *(at for at, turn in enumerate(path[:start]) if turn.id in changed_state)])
        start, before = self._keep(start)
        kept = len(self.rows)
        self._path, self._forks, self._growing = path, forks, now
        for at in range(start, len(path)):
            if path[at].role is not Role.TOOL or not self._fold(at, path[at]):
                self._add(at, path[at])
        if before:  # of some turns only the place is another
            for place, row in enumerate(self.rows[kept:], kept):
                if (old := before.get(row.turn.id)) == row:
                    self.rows[place] = old
        return list(self.rows)

    def _rewrite(self, path: tuple[Turn, ...]) -> bool:
        """Whether a few turns say something else and all the rest is as it was: then their rows are other ones now."""
        if len(path) != len(self._path):
            return False
        others = list(islice(compress(count(), map(is_not, self._path, path)), FEW + 1))
        if len(others) > FEW:
            return False
        places = [bisect_left(self._first, at) for at in others]
        for at, place in zip(others, places, strict=True):
            alone = place < len(self._first) and self._first[place] == at
            if not alone or _frame(path[at]) != _frame(self._path[at]):
                return False
        for at, place in zip(others, places, strict=True):
            self.rows[place] = self.rows[place]._replace(turn=path[at])
        self._path = path
        return True

    def _keep(self, start: int) -> tuple[int, dict[str, Row]]:
        """Drop the rows that hold anything of the path from ``start`` on.

        Returns from where on it is to be read, and the rows dropped, by turn id.
        """
        kept = bisect_left(self._first, start)
        while broken := [at for at in (*self._far, kept - 1) if 0 <= at < kept and self._last[at] >= start]:
            kept = min(broken)
            start = self._first[kept]
        dropped = {row.turn.id: row for row in self.rows[kept:]}
        for row in dropped.values():
            for part in row.turn.parts:
                if part.kind == "tool_call":
                    self._makers[part.id].pop()
        for column in (self.rows, self._first, self._last):
            del column[kept:]
        self._far = {at for at in self._far if at < kept}
        return start, dropped

    def _fold(self, at: int, turn: Turn) -> bool:
        """Whether a tool turn is the result of a call before it, and stands in that call's row now."""
        if len(turn.parts) != 1 or not (results := turn.results):
            return False
        (result,) = results
        makers = self._makers.get(result.call_id)
        if not makers or result.call_id in self.rows[makers[-1]].answers:
            return False
        place = makers[-1]
        row = self.rows[place]
        alternatives = self._forks.get(turn.parent, (turn.id,))
        self.rows[place] = row._replace(answers={**row.answers, result.call_id: Answer(turn.id, result, alternatives)})
        self._last[place] = at
        if place + 1 < len(self.rows):
            self._far.add(place)
        return True

    def _add(self, at: int, turn: Turn) -> None:
        for part in turn.parts:
            if part.kind == "tool_call":
                self._makers.setdefault(part.id, []).append(len(self.rows))
        self.rows.append(Row(turn, self._forks.get(turn.parent, (turn.id,)), NONE, turn.id in self._growing))
        self._first.append(at)
        self._last.append(at)


def _weight(turn: Turn) -> tuple[int, int]:
    """About how many tokens a turn's content, arguments and results are, and how many images it has."""
    tokens = images = 0
    for part in turn.parts:
        if part.kind == "text" or part.kind == "tool_result":
            tokens += estimate_tokens(part.text)
        elif part.kind == "tool_call":
            tokens += estimate_tokens(part.name) + estimate_tokens(part.arguments)
        elif part.kind == "image":
            images += 1
    return tokens, images


def _frame(turn: Turn) -> tuple[object, ...]:
    """What the other rows depend on; results may be folded into any of them."""
    return turn.id, turn.role, turn.parent, [call.id for call in turn.calls], turn.results


def common_prefix(before: Sequence[object], now: Sequence[object]) -> int:
    """How many items at the front of both are the same objects."""
    return next(compress(count(), map(is_not, before, now)), min(len(before), len(now)))
