"""The layout of the tree of messages."""

from __future__ import annotations

import random
from collections.abc import Sequence

from playground.domain.transcript import Role, Transcript, Turn
from playground.ui.features.tree.layout import TreeLayout
from tests.support.each_case import each_case


def tree(parents: Sequence[int | None], head: int | None = None) -> Transcript:
    """Turns "0", "1" … with these parents."""
    turns = {
        str(number): Turn(id=str(number), role=Role.USER, parent=None if parent is None else str(parent))
        for number, parent in enumerate(parents)
    }
    return Transcript(turns, None if head is None else str(head))


def laid_out(transcript: Transcript) -> TreeLayout:
    return TreeLayout(transcript)


def some_tree(seed: int, count: int = 120) -> Transcript:
    choose = random.Random(seed)
    parents: list[int | None] = [None]
    for number in range(1, count):
        chosen = number - 1 if choose.random() < 0.7 else choose.randrange(number)
        parents.append(None if choose.random() < 0.02 else chosen)
    return tree(parents, count - 1)


@each_case("seed", range(4))
def test_turns_and_lines_never_overlap(seed: int) -> None:
    transcript = some_tree(seed)
    layout = laid_out(transcript)
    assert len(layout) == len(transcript.turns)
    places = {key: layout.place(key) for key in transcript.turns}
    assert len(set(places.values())) == len(places)
    for key, (lane, depth) in places.items():
        assert depth == len(transcript.lineage(key)) - 1
        assert layout.at(lane, depth) == key
    taken = {place: key for key, place in places.items()}
    for branch in layout.branches:
        if branch.above < 0:
            continue
        for lane in range(branch.above + 1, branch.lane + 1):  # the line down, and then to the right
            assert (lane, branch.start - 1) not in taken, f"a line goes through {taken[lane, branch.start - 1]}"


def test_arrow_steps_follow_branches_and_alternatives() -> None:
    layout = laid_out(tree([None, 0, 0, 1, 2], 4))
    assert layout.step("0", "right") == "2", "along the branch that is looked at"
    assert layout.step("2", "left") == "0"
    assert layout.step("1", "down") == "2"
    assert layout.step("2", "up") == "1"
    assert layout.step("4", "up") == "3", "no alternative: the nearest on the line above"
    assert layout.step("0", "left") == "0"
    assert layout.step("4", "right") == "4"
    assert layout.step("1", "up") == "1"
