"""Moves in the grouped list of tools."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from playground.domain.tools import ToolDefinition
from playground.ui.features.tools import grouping
from playground.ui.features.tools.grouping import Entry
from tests.support.each_case import each_case


def tools(spelled: str) -> tuple[ToolDefinition, ...]:
    """``a b X:c Y:d``: names with the group before the colon."""
    pairs = [word.rpartition(":") for word in spelled.split()]
    return tuple(ToolDefinition(name=name, group=group) for group, _, name in pairs)


def spell_tools(order: list[Entry], tools: tuple[ToolDefinition, ...]) -> str:
    """Back again, headers left out."""
    out, _ = grouping.arrange(tools, order)
    return " ".join(f"{tool.group}:{tool.name}" if tool.group else tool.name for tool in out)


@each_case(
    "before, chosen, below, after",
    [
        ("a b c", [0], 2, "b c a"),
        ("a b c", [2], None, "c a b"),
        ("a b c d", [1, 2], 2, "a b c d"),
        ("a b c d", [0, 2], 2, "b a c d"),
        ("X:a X:b Y:c", [0], "Y", "X:b Y:a Y:c"),
        ("X:a X:b Y:c", [2], None, "X:c X:a X:b"),
        ("X:a X:b Y:c", [0, 1], 2, "Y:c Y:a Y:b"),
    ],
)
def test_drop_moves_tools(before: str, chosen: list[int], below: Entry | None, after: str) -> None:
    given_tools = tools(before)
    assert spell_tools(grouping.drop_tools(grouping.entries(given_tools), chosen, below), given_tools) == after


GROUPS = st.lists(st.sampled_from(["", "X", "Y"]), max_size=8)


@given(GROUPS, st.sets(st.integers(0, 7)), st.sampled_from([-1, 1]))
def test_moves_lose_and_repeat_no_tool(groups: list[str], chosen: set[int], steps: int) -> None:
    given_tools = tuple(ToolDefinition(name=str(number), group=group) for number, group in enumerate(groups))
    order = grouping.entries(given_tools)
    for moved in (
        grouping.move_tools(order, chosen, steps),
        grouping.drop_tools(order, chosen, order[-1] if order else None),
        grouping.move_group(order, "X", steps),
    ):
        out, stood = grouping.arrange(given_tools, moved)
        assert sorted(stood) == list(range(len(groups)))
        assert [tool.name for tool in out] == [str(number) for number in stood]
        listed = [entry for entry in grouping.entries(out) if isinstance(entry, int)]
        assert listed == list(range(len(groups))), "the list's order is the request's"
