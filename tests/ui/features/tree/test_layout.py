"""The layout of the tree of messages."""

from __future__ import annotations

from collections.abc import Sequence

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
    return TreeLayout(transcript)


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
