"""Where each turn of a tree stands: depth to the right, branches below one another. Values only, no Qt.

The first turn that follows another stays on its line; every other one begins a line of its own further down. Later
forks come first, so that no line crosses another. A place depends on the turns alone, not on which branch is looked
at: looking elsewhere moves nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from playground.domain.transcript import Transcript

_NEAR = 8  # lines that are looked at for room before a new one is begun


@dataclass(frozen=True, slots=True)
class Branch:
    """Turns in a row on one line, from depth ``start`` on; ``above`` is the line it leaves, -1 for none."""

    lane: int
    start: int
    above: int
    turns: tuple[str, ...]

    @property
    def end(self) -> int:
        """The depth of the last turn."""
        return self.start + len(self.turns) - 1


class TreeLayout:
    """The places of all turns of ``transcript``. ``roots`` turns stand at the top: those of depth 0."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.branches: list[Branch] = []
        self.lanes: list[list[Branch]] = []  # on each line, by depth
        self.forks: dict[int, dict[int, int]] = {}  # depth of a fork → its line → the last line that leaves it
        self.roots = len(transcript.children(None))
        self.depth = 0  # how many turns the longest way has
        self._places: dict[str, tuple[Branch, int]] = {}
        self._place_turns()

    def _place_turns(self) -> None:
        children = self.transcript.children
        waiting: list[tuple[str, int, int]] = [(root, 0, -1) for root in reversed(children(None))]
        while waiting:
            first, start, above = waiting.pop()
            turns: list[str] = []
            later: list[tuple[str, int]] = []
            at: str | None = first
            while at is not None:
                turns.append(at)
                following = children(at)
                later += [(other, start + len(turns)) for other in reversed(following[1:])]
                at = following[0] if following else None
            lane = self._lane(start + len(turns) - 1, above, alone=not later)
            self._put(Branch(lane, start, above, tuple(turns)))
            waiting += [(other, depth, lane) for other, depth in later]
        for branches in self.lanes:
            branches.sort(key=lambda branch: branch.start)

    def _lane(self, end: int, above: int, *, alone: bool) -> int:
        """A line with room up to a depth, and below it; a branch from which others leave gets a new one."""
        found = len(self.lanes)
        if alone:
            for lane in reversed(range(max(above + 1, found - _NEAR, 0), found)):
                if self.lanes[lane][-1].start <= end + 1:  # the last one put there is the leftmost
                    break  # lines that lead to it stand in the way further up, too
                found = lane
        if found == len(self.lanes):
            self.lanes.append([])
        return found

    def _put(self, branch: Branch) -> None:
        self.branches.append(branch)
        self.lanes[branch.lane].append(branch)
        self.depth = max(self.depth, branch.end + 1)
        for number, turn_id in enumerate(branch.turns):
            self._places[turn_id] = branch, branch.start + number
        if branch.above >= 0 or self.roots > 1:
            leaving = self.forks.setdefault(branch.start - 1, {})
            leaving[max(branch.above, 0)] = max(leaving.get(max(branch.above, 0), 0), branch.lane)

    # Asking

    def __contains__(self, turn_id: str) -> bool:
        return turn_id in self._places

    def __len__(self) -> int:
        return len(self._places)

    def place(self, turn_id: str) -> tuple[int, int]:
        """Line and depth of a turn. Raises KeyError."""
        branch, depth = self._places[turn_id]
        return branch.lane, depth

    def within(self, lane: int, first: int, last: int) -> Iterator[Branch]:
        """What stands on a line between two depths."""
        for branch in self.lanes[lane]:
            if branch.start > last:
                return
            if branch.end >= first:
                yield branch

    def at(self, lane: int, depth: int) -> str:
        """The turn of that place; empty where there is none."""
        branch = self._last_from(lane, depth)
        return branch.turns[depth - branch.start] if branch is not None and depth <= branch.end else ""

    def nearest(self, lane: int, depth: int) -> str:
        """The turn on a line that stands nearest to a depth."""
        before = self._last_from(lane, depth)
        if before is not None and depth <= before.end:
            return before.turns[depth - before.start]
        after = next((branch for branch in self.lanes[lane] if branch.start > depth), None)
        if before is None or (after is not None and after.start - depth < depth - before.end):
            return after.turns[0] if after is not None else ""
        return before.turns[-1]

    def _last_from(self, lane: int, depth: int) -> Branch | None:
        """The last on a line that begins at that depth or before it."""
        branches = self.lanes[lane]
        number = bisect_right(branches, depth, key=lambda branch: branch.start)
        return branches[number - 1] if number else None

    # Going

    def step(self, turn_id: str, key: str) -> str:
        """The turn that is next in a direction: "left", "right", "up" or "down"; the same one at the edge.

        To the right the way goes along the branch that is looked at; up and down to an alternative, or the next line.
        """
        turns = self.transcript.turns
        if key == "left":
            return turns[turn_id].parent or turn_id
        if key == "right":
            following = self.transcript.children(turn_id)
            shown = {turn.id for turn in self.transcript.path} if len(following) > 1 else set()
            return next((one for one in following if one in shown), following[0] if following else turn_id)
        alternatives = self.transcript.siblings(turn_id)
        way = -1 if key == "up" else 1
        number = alternatives.index(turn_id) + way
        if 0 <= number < len(alternatives):
            return alternatives[number]
        lane, depth = self.place(turn_id)
        lane += way
        return self.nearest(lane, depth) if 0 <= lane < len(self.lanes) else turn_id
