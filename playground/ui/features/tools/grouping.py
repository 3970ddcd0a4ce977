"""The order of tools and their groups as a list with headers, and what moving does to it.

Pure functions without Qt. An entry is a group's name (its header) or the index of a tool. Tools of one group stand
together in the list; as soon as anything is moved, they do so in the request as well.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

from playground.domain.tools import ToolDefinition

Entry: TypeAlias = str | int
NO_GROUP = ""


def groups(tools: Sequence[ToolDefinition]) -> tuple[str, ...]:
    """The groups in the order of their first tools, "" among them where tools stand in none."""
    return tuple(dict.fromkeys(tool.group for tool in tools))


def entries(tools: Sequence[ToolDefinition]) -> list[Entry]:
    """Headers, each followed by its tools; no headers where no tool has a group."""
    names = groups(tools)
    if not any(names):
        return list(range(len(tools)))
    out: list[Entry] = []
    for name in names:
        out.append(name)
        out += [number for number, tool in enumerate(tools) if tool.group == name]
    return out


def arranged(tools: Sequence[ToolDefinition], order: Sequence[Entry]) -> tuple[tuple[ToolDefinition, ...], list[int]]:
    """The tools in this order, each in the group of the header above it; beside them where each one stood before."""
    group = NO_GROUP
    out: list[ToolDefinition] = []
    stood: list[int] = []
    headed = any(isinstance(entry, str) for entry in order)
    for entry in order:
        if isinstance(entry, str):
            group = entry
            continue
        tool = tools[entry]
        out.append(tool.model_copy(update={"group": group}) if headed and tool.group != group else tool)
        stood.append(entry)
    return tuple(out), stood


def stepped(order: Sequence[Entry], chosen: Collection[int], steps: int) -> list[Entry]:
    """The chosen tools one place up (-1) or down (1), past a header into the next group; stays where there is none."""
    out = list(order)
    if steps > 0:
        return list(reversed(_up(list(reversed(out)), chosen)))
    first = 1 if out and isinstance(out[0], str) else 0  # nothing stands above the first header
    return out[:first] + _up(out[first:], chosen)


def _up(order: list[Entry], chosen: Collection[int]) -> list[Entry]:
    for at in range(1, len(order)):
        entry = order[at]
        above = order[at - 1]
        if isinstance(entry, int) and entry in chosen and not (isinstance(above, int) and above in chosen):
            order[at - 1], order[at] = entry, above
    return order


def dropped(order: Sequence[Entry], chosen: Collection[int], below: Entry | None) -> list[Entry]:
    """The chosen tools together, right below an entry (None: at the very beginning)."""
    moving = [entry for entry in order if isinstance(entry, int) and entry in chosen]
    rest = [entry for entry in order if entry not in moving]
    if below is not None and below in moving:  # dropped onto itself: below the nearest entry above that stays
        above = list(order)[: list(order).index(below)]
        below = next((entry for entry in reversed(above) if entry not in moving), None)
    at = rest.index(below) + 1 if below is not None else 0
    if at == 0 and rest and isinstance(rest[0], str):
        at = 1
    return [*rest[:at], *moving, *rest[at:]]


def group_stepped(order: Sequence[Entry], group: str, steps: int) -> list[Entry]:
    """A whole group one place up (-1) or down (1) among the groups."""
    blocks: list[list[Entry]] = []
    for entry in order:
        if isinstance(entry, str):
            blocks.append([])
        if blocks:
            blocks[-1].append(entry)
    at = next((number for number, block in enumerate(blocks) if block[0] == group), -1)
    to = at + steps
    if at < 0 or not 0 <= to < len(blocks):
        return list(order)
    blocks.insert(to, blocks.pop(at))
    return [entry for block in blocks for entry in block]


def matches(tool: ToolDefinition, search: str) -> bool:
    """Whether every word of a search stands in the tool's names, its description, its group or its server."""
    text = f"{tool.name}\n{tool.remote}\n{tool.description}\n{tool.group}\n{tool.server}".casefold()
    return all(word in text for word in search.casefold().split())
