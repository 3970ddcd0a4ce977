"""What the conversation shows, a row each: the turns of the path, results folded into the calls they answer. No Qt.

A path may be ten thousand turns long and changes with every turn that comes: what is the same as before is kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, count, islice
from operator import attrgetter, is_not
from typing import NamedTuple

from playground.domain.parts import ToolCall, ToolResult
from playground.domain.tokens import estimate_tokens
from playground.domain.transcript import Role, Transcript, Turn, common_prefix

FEW = 8  # turns with other words that are put in one by one


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

_ID, _PARENT, _FRAME = attrgetter("id"), attrgetter("parent"), attrgetter("id", "role", "parent", "parts")
_TURN_ID = attrgetter("turn.id")
_new = tuple.__new__  # half of the time that the Row's own takes, which is written in Python


class _Cut(NamedTuple):
    """Rows that were taken from the end, from ``place`` on, and what was known of them (see ``Rows``)."""

    rows: list[Row]
    first: list[int]
    last: list[int]
    far: list[int]
    makers: dict[str, list[int]]
    place: int


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

    def weigh(self) -> None:
        """Compute ``tokens`` and ``images`` of the path; a turn that has not changed is not counted again."""
        if self.weighed:
            return
        path, before = self._path, self._weights
        now: dict[str, tuple[Turn, int, int]] = {}
        for turn in path:
            known = before.get(turn.id)
            now[turn.id] = known if known is not None and known[0] is turn else (turn, *_weight(turn))
        self.tokens = sum(tokens for _, tokens, _ in now.values())
        self.images = sum(images for _, _, images in now.values())
        self._weights, self._weighed = now, path

    def follow(self, transcript: Transcript, growing: Collection[str] = (), end: int | None = None) -> list[Row]:
        """The rows of a transcript's path, up to ``end``; a row that shows what it showed before is the same object.

        A tool turn whose result answers a call before it has no row of its own.
        """
        path, forks, now = transcript.path[:end], transcript.forks, frozenset(growing)
        if (forks, now) == (self._forks, self._growing) and self._rewrite(path):
            return list(self.rows)
        start, behind = self._same_ends(path, forks, now)
        moved = self._cut(self._row_behind(len(self._path) - behind))
        others = self._cut(self._row_before(start))
        start = others.first[0] if others.first else start
        end = len(path) - len(self._path) + moved.first[0] if moved.first else len(path)
        kept = len(self.rows)
        self._path, self._forks, self._growing = path, forks, now
        self._add(start, path[start:end])
        dropped = others.rows
        if self._follows(moved):
            self._put_back(moved, end)
        else:
            self._add(end, path[end:])
            dropped += moved.rows
        before = {row.turn.id: row for row in dropped}
        if before:  # of some turns only the place is another
            ids = map(_TURN_ID, self.rows[kept:])
            for at in list(compress(count(kept), map(before.__contains__, ids))):
                row = self.rows[at]
                if (old := before[row.turn.id]) == row:
                    self.rows[at] = old
        return list(self.rows)

    def _same_ends(
        self, path: tuple[Turn, ...], forks: dict[str | None, tuple[str, ...]], growing: frozenset[str]
    ) -> tuple[int, int]:
        """How many turns at the beginning of the path, and how many at its end, are as they were the last time."""
        start = common_prefix(self._path, path)
        end = min(common_prefix(self._path[::-1], path[::-1]), len(path) - start, len(self._path) - start)
        changed = {parent for parent in {*forks, *self._forks} if forks.get(parent) != self._forks.get(parent)}
        for differ, key in ((changed, _PARENT), (growing ^ self._growing, _ID)):
            if differ:
                start = _first_of(differ, map(key, path[:start]), start)
                end = _first_of(differ, map(key, reversed(path[len(path) - end :])), end)
        return start, end

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

    def _row_before(self, start: int) -> int:
        """The first row that holds anything of the path from ``start`` on."""
        place = bisect_left(self._first, start)
        while broken := [at for at in (*self._far, place - 1) if 0 <= at < place and self._last[at] >= start]:
            place = min(broken)
            start = self._first[place]
        return place

    def _row_behind(self, start: int) -> int:
        """The first row behind ``start`` from which on no row shares its part of the path with one before."""
        place = bisect_left(self._first, start)
        while 0 < place < len(self.rows):
            reach = max(self._last[at] for at in (*self._far, place - 1) if at < place)
            if reach < self._first[place]:
                break
            place = bisect_left(self._first, reach)
        return place

    def _cut(self, place: int) -> _Cut:
        """Take the rows from ``place`` on away."""
        cut = _Cut(self.rows[place:], self._first[place:], self._last[place:], [], {}, place)
        if cut.rows:
            for column in (self.rows, self._first, self._last):
                del column[place:]
            cut.far.extend(at for at in self._far if at >= place)
            self._far.difference_update(cut.far)
            for call_id, places in self._makers.items():
                if places and places[-1] >= place:
                    kept = bisect_left(places, place)
                    cut.makers[call_id] = places[kept:]
                    del places[kept:]
        return cut

    def _follows(self, cut: _Cut) -> bool:
        """Whether no result that has a row of its own there answers a call of the rows that are here."""
        results = (part for row in cut.rows if row.turn.role is Role.TOOL for part in row.turn.parts)
        return not any(type(part) is ToolResult and self._makers.get(part.call_id) for part in results)

    def _put_back(self, cut: _Cut, start: int) -> None:
        """Have the rows of a cut behind these; the turn of the first one stands at ``start`` now."""
        if not cut.rows:
            return
        further, down = start - cut.first[0], len(self.rows) - cut.place
        self.rows += cut.rows
        self._first += [at + further for at in cut.first]
        self._last += [at + further for at in cut.last]
        self._far.update(at + down for at in cut.far)
        for call_id, places in cut.makers.items():
            self._makers.setdefault(call_id, []).extend(at + down for at in places)

    def _fold(self, at: int, turn: Turn) -> bool:
        """Whether a tool turn is the result of a call before it, and stands in that call's row now."""
        result = turn.parts[0] if len(turn.parts) == 1 else None
        if type(result) is not ToolResult:
            return False
        makers = self._makers.get(result.call_id)
        if not makers or result.call_id in self.rows[makers[-1]].answers:
            return False
        place = makers[-1]
        row = self.rows[place]
        alternatives = self._forks.get(turn.parent, (turn.id,))
        answers = {**row.answers, result.call_id: Answer(turn.id, result, alternatives)}
        self.rows[place] = _new(Row, (row.turn, row.alternatives, answers, row.growing))
        self._last[place] = at
        if place + 1 < len(self.rows):
            self._far.add(place)
        return True

    def _add(self, start: int, turns: Sequence[Turn]) -> None:
        """Rows for turns that stand on the path from ``start`` on; ten thousand of them in one turn of the loop."""
        tool, forks, growing = Role.TOOL, self._forks, self._growing
        rows, first, last = self.rows, self._first, self._last
        for at, turn in enumerate(turns, start):
            turn_id, role, parent, parts = _FRAME(turn)
            if role is tool and self._fold(at, turn):
                continue
            for part in parts:
                if type(part) is ToolCall:
                    self._makers.setdefault(part.id, []).append(len(rows))
            rows.append(_new(Row, (turn, forks.get(parent, (turn_id,)), NONE, turn_id in growing)))
            first.append(at)
            last.append(at)


def _first_of(wanted: Collection[object], found: Iterable[object], otherwise: int) -> int:
    """Where the first of ``wanted`` stands in ``found``."""
    return next(compress(count(), map(wanted.__contains__, found)), otherwise)


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
    alone = turn.results if len(turn.parts) == 1 else ()
    return turn.id, turn.role, turn.parent, [call.id for call in turn.calls], alone
