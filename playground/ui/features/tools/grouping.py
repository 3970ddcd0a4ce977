"""Order of tools and groups as a list with headers, and operations that move its entries.

Pure functions without Qt. An entry is a group's name (its header) or the index of a tool. The list shows the tools of a
group together; the first move orders the request in this way, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

from playground.domain.tools import ToolDefinition

Entry: TypeAlias = str | int
NO_GROUP = ""


def groups(tools: Sequence[ToolDefinition]) -> tuple[str, ...]:
    """Return the groups in the order of their first tools; "" for tools without a group."""
    return tuple(dict.fromkeys(tool.group for tool in tools))


def entries(tools: Sequence[ToolDefinition]) -> list[Entry]:
    """Return the headers, each followed by its tools; no headers if no tool has a group."""
    names = groups(tools)
    if not any(names):
        return list(range(len(tools)))
    out: list[Entry] = []
    for name in names:
        out.append(name)
        out += [number for number, tool in enumerate(tools) if tool.group == name]
    return out


def arrange(tools: Sequence[ToolDefinition], order: Sequence[Entry]) -> tuple[tuple[ToolDefinition, ...], list[int]]:
    """Return the tools in this order with the groups of the headers above them, and the old index of each."""
    group = NO_GROUP
    out: list[ToolDefinition] = []
    old_numbers: list[int] = []
    headed = any(isinstance(entry, str) for entry in order)
    for entry in order:
        if isinstance(entry, str):
            group = entry
            continue
        tool = tools[entry]
        out.append(tool.model_copy(update={"group": group}) if headed and tool.group != group else tool)
        old_numbers.append(entry)
    return tuple(out), old_numbers


def move_tools(order: Sequence[Entry], chosen: Collection[int], steps: int) -> list[Entry]:
    """Move the chosen tools by one place up (-1) or down (1), past a header into the next group if there is one."""
    out = list(order)
    if steps > 0:
        return list(reversed(_move_up(list(reversed(out)), chosen)))
    first = 1 if out and isinstance(out[0], str) else 0  # no entry goes above the first header
    return out[:first] + _move_up(out[first:], chosen)


def _move_up(order: list[Entry], chosen: Collection[int]) -> list[Entry]:
    for index in range(1, len(order)):
        entry = order[index]
        above = order[index - 1]
        if isinstance(entry, int) and entry in chosen and not (isinstance(above, int) and above in chosen):
            order[index - 1], order[index] = entry, above
    return order


def drop_tools(order: Sequence[Entry], chosen: Collection[int], below: Entry | None) -> list[Entry]:
    """Move the chosen tools together to the place below an entry (None: to the beginning)."""
    moving = [entry for entry in order if isinstance(entry, int) and entry in chosen]
    rest = [entry for entry in order if entry not in moving]
    if below is not None and below in moving:  # a drop onto a moved tool: use the nearest entry above that is not moved
        above = list(order)[: list(order).index(below)]
        below = next((entry for entry in reversed(above) if entry not in moving), None)
    position = rest.index(below) + 1 if below is not None else 0
    if position == 0 and rest and isinstance(rest[0], str):
        position = 1
    return [*rest[:position], *moving, *rest[position:]]


def move_group(order: Sequence[Entry], group: str, steps: int) -> list[Entry]:
    """Move a group with its tools by one place up (-1) or down (1) among the groups."""
    blocks: list[list[Entry]] = []
    for entry in order:
        if isinstance(entry, str):
            blocks.append([])
        if blocks:
            blocks[-1].append(entry)
    index = next((number for number, block in enumerate(blocks) if block[0] == group), -1)
    target = index + steps
    if index < 0 or not 0 <= target < len(blocks):
        return list(order)
    blocks.insert(target, blocks.pop(index))
    return [entry for block in blocks for entry in block]


def matches(tool: ToolDefinition, search: str) -> bool:
    """Return whether the tool's names, description, group or server contain every word of a search."""
    text = f"{tool.name}\n{tool.remote}\n{tool.description}\n{tool.group}\n{tool.server}".casefold()
    return all(word in text for word in search.casefold().split())
