"""Places of the turns of a tree: depth to the right, branches below one another. Values only, no Qt.

The first turn that follows another stays on its line; every other one begins a line of its own further down. Later
forks come first, so that no line crosses another. A place depends on the turns alone, not on the branch shown.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from playground.domain.transcript import Transcript

_NEAR = 8  # lines that are searched for room before a new one is begun


@dataclass(frozen=True, slots=True)
class Branch:
    """Turns in a row on one line, from depth `start` on; `above` is the line it leaves, -1 for none."""

    lane: int
    start: int
    above: int
    turns: tuple[str, ...]

    @property
    def end(self) -> int:
        """The depth of the last turn."""
        return self.start + len(self.turns) - 1


def newest_part(transcript: Transcript, most: int) -> Transcript:
    """Return the newest turns and the end of the path, at most `most` of each; a whole transcript if it is that small.

    Turns whose parent is left out are at the top.
    """
    if len(transcript.turns) <= most:
        return transcript
    newest = set(list(transcript.turns)[-(most // 2) :])
    newest.update(turn.id for turn in transcript.path[-(most // 2) :])
    turns = {turn_id: turn for turn_id, turn in transcript.turns.items() if turn_id in newest}
    for turn_id, turn in turns.items():
        if turn.parent is not None and turn.parent not in newest:
            turns[turn_id] = turn.model_copy(update={"parent": None})
    return Transcript(turns, transcript.head)


class TreeLayout:
    """The places of all turns of `transcript`. `roots` turns have depth 0."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.branches: list[Branch] = []
        self.lanes: list[list[Branch]] = []  # on each line, by depth
        self.forks: dict[int, dict[int, int]] = {}  # depth of a fork → its line → the last line that leaves it
        self.roots = len(transcript.children(None))
        self.depth = 0  # turns of the longest branch
        self._places: dict[str, tuple[Branch, int]] = {}
        self._place_turns()

    def _place_turns(self) -> None:
        children = self.transcript.children
        waiting: list[tuple[str, int, int]] = [(root, 0, -1) for root in reversed(children(None))]
        while waiting:
            first, start, above = waiting.pop()
            turns: list[str] = []
            later: list[tuple[str, int]] = []
            turn_id: str | None = first
            while turn_id is not None:
                turns.append(turn_id)
                following = children(turn_id)
                later += [(sibling, start + len(turns)) for sibling in reversed(following[1:])]
                turn_id = following[0] if following else None
            lane = self._find_lane(start + len(turns) - 1, above, alone=not later)
            self._put(Branch(lane, start, above, tuple(turns)))
            waiting += [(sibling, depth, lane) for sibling, depth in later]
        for branches in self.lanes:
            branches.sort(key=lambda branch: branch.start)

    def _find_lane(self, end: int, above: int, *, alone: bool) -> int:
        """Return a line with room up to a depth; a branch from which others leave gets a new one."""
        free = len(self.lanes)
        if alone:
            for lane in reversed(range(max(above + 1, free - _NEAR, 0), free)):
                if self.lanes[lane][-1].start <= end + 1:  # the branch put last is the leftmost
                    break  # lines that lead to it block the way further up, too
                free = lane
        if free == len(self.lanes):
            self.lanes.append([])
        return free

    def _put(self, branch: Branch) -> None:
        self.branches.append(branch)
        self.lanes[branch.lane].append(branch)
        self.depth = max(self.depth, branch.end + 1)
        for number, turn_id in enumerate(branch.turns):
            self._places[turn_id] = branch, branch.start + number
        if branch.above >= 0 or self.roots > 1:
            leaving = self.forks.setdefault(branch.start - 1, {})
            leaving[max(branch.above, 0)] = max(leaving.get(max(branch.above, 0), 0), branch.lane)

    def place(self, turn_id: str) -> tuple[int, int]:
        """Return line and depth of a turn. Raises KeyError."""
        branch, depth = self._places[turn_id]
        return branch.lane, depth

    def nearest(self, lane: int, depth: int) -> str:
        """Return the turn on a line that is nearest to a depth."""
        branches = self.lanes[lane]
        number = bisect_right(branches, depth, key=lambda branch: branch.start)
        before = branches[number - 1] if number else None
        if before is not None and depth <= before.end:
            return before.turns[depth - before.start]
        after = branches[number] if number < len(branches) else None
        if before is None or (after is not None and after.start - depth < depth - before.end):
            return after.turns[0] if after is not None else ""
        return before.turns[-1]

    def step(self, turn_id: str, key: str) -> str:
        """Return the next turn in a direction: "left", "right", "up" or "down"; the same one at the edge.

        Right follows the branch that is shown; up and down lead to an alternative, or to the next line.
        """
        turns = self.transcript.turns
        if key == "left":
            return turns[turn_id].parent or turn_id
        if key == "right":
            following = self.transcript.children(turn_id)
            on_path = {turn.id for turn in self.transcript.path} if len(following) > 1 else set()
            return next((child for child in following if child in on_path), following[0] if following else turn_id)
        alternatives = self.transcript.siblings(turn_id)
        step = -1 if key == "up" else 1
        number = alternatives.index(turn_id) + step
        if 0 <= number < len(alternatives):
            return alternatives[number]
        lane, depth = self.place(turn_id)
        lane += step
        return self.nearest(lane, depth) if 0 <= lane < len(self.lanes) else turn_id
