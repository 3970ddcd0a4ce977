"""Where turns stand: no two in one place, no line through another turn, the same whichever branch is looked at."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest

from playground.domain.transcript import Role, Transcript, Turn
from playground.ui.features.tree.layout import TreeLayout


def tree(parents: Sequence[int | None], head: int | None = None) -> Transcript:
    """Turns "0", "1" … with these parents."""
    turns = {
        str(number): Turn(id=str(number), role=Role.USER, parent=None if parent is None else str(parent))
        for number, parent in enumerate(parents)
    }
    return Transcript(turns, None if head is None else str(head))


def laid_out(transcript: Transcript) -> TreeLayout:
    layout = TreeLayout(transcript)
    for _ in layout.work():
        pass
    return layout


def some_tree(seed: int, count: int = 120) -> Transcript:
    choose = random.Random(seed)
    parents: list[int | None] = [None]
    for number in range(1, count):
        chosen = number - 1 if choose.random() < 0.7 else choose.randrange(number)
        parents.append(None if choose.random() < 0.02 else chosen)
    return tree(parents, count - 1)


def test_a_conversation_is_one_line() -> None:
    layout = laid_out(tree([None, 0, 1, 2]))
    assert [layout.place(str(number)) for number in range(4)] == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert (len(layout.lanes), layout.depth, layout.forks) == (1, 4, {})


def test_alternatives_stand_below_one_another() -> None:
    layout = laid_out(tree([None, 0, 0, 0, 1]))
    assert [layout.place(key) for key in "01234"] == [(0, 0), (0, 1), (1, 1), (2, 1), (0, 2)]
    assert layout.forks == {0: {0: 2}}


def test_a_line_with_room_is_used_again() -> None:
    # a chain 0..5, an alternative of its last turn and one of its third
    layout = laid_out(tree([None, 0, 1, 2, 3, 4, 4, 1]))
    assert layout.place("6") == (1, 5)
    assert layout.place("7") == (1, 2)


def test_several_first_turns_leave_one_place() -> None:
    layout = laid_out(tree([None, None, None]))
    assert layout.roots == 3
    assert layout.forks == {-1: {0: 2}}


@pytest.mark.parametrize("seed", range(12))
def test_nothing_stands_in_anothers_place_or_way(seed: int) -> None:
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


@pytest.mark.parametrize("seed", range(4))
def test_looking_elsewhere_moves_nothing(seed: int) -> None:
    transcript = some_tree(seed)
    layout, other = laid_out(transcript), laid_out(transcript.truncate_after("3"))
    assert all(layout.place(key) == other.place(key) for key in transcript.turns)


def test_steps_lead_along_the_branch_and_to_alternatives() -> None:
    layout = laid_out(tree([None, 0, 0, 1, 2], 4))
    assert layout.step("0", "right") == "2", "along the branch that is looked at"
    assert layout.step("2", "left") == "0"
    assert layout.step("1", "down") == "2"
    assert layout.step("2", "up") == "1"
    assert layout.step("4", "up") == "3", "no alternative: the nearest on the line above"
    assert layout.step("0", "left") == "0"
    assert layout.step("4", "right") == "4"
    assert layout.step("1", "up") == "1"


@pytest.mark.parametrize(
    "transcript",
    [
        tree([None, *range(9_999)], 9_999),
        tree([None, *([0] * 9_999)], 9_999),
        tree([None, *(number - 1 - (number - 1) % 2 for number in range(1, 10_000))], 9_999),
    ],
    ids=["one line", "ten thousand alternatives", "an alternative at every step"],
)
def test_ten_thousand_turns_are_placed_in_small_steps(transcript: Transcript) -> None:
    layout = TreeLayout(transcript)
    began = time.process_time()
    for _ in layout.work():
        pass
    assert len(layout) == len(transcript.turns)
    assert time.process_time() - began < 2.0
