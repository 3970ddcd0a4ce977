"""Whether a server's tool is still the one that a person accepted: what poisons a description comes in here.

Three definitions are held against each other: the copy in the experiment, what the server lists now, and what was
accepted. A tool that is not the same in all of them is not asked until somebody has seen the difference. Pure
functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from playground.domain.hidden import short_name, show_hidden
from playground.domain.tool_servers import Hints, ServerTool, ToolServer
from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.naming import NOTHING_SAID, definition_of, sent_names
from playground.jsonkit.values import JSON, JSONObject, same


class Standing(StrEnum):
    """How a tool in an experiment stands to its server."""

    SAME = "same"  # as it was accepted, as far as is known
    CHANGED = "changed"  # what the server lists is not what was accepted, or not what the experiment has
    NEW = "new"  # nobody has accepted it on this computer
    GONE = "gone"  # the server lists it no more
    UNKNOWN = "unknown"  # nobody has accepted this copy, and the server has not said what it lists


#: What is not asked of its server.
REFUSED = frozenset({Standing.CHANGED, Standing.NEW, Standing.GONE})
#: What is switched off until a person has seen it.
UNSEEN = frozenset({Standing.CHANGED, Standing.NEW})


def by_name(tools: Iterable[ServerTool]) -> dict[str, ServerTool]:
    """Tools by their names; of several with one name the first counts, as nobody could ask for another."""
    out: dict[str, ServerTool] = {}
    for tool in tools:
        out.setdefault(tool.name, tool)
    return out


def as_offered(tool: ToolDefinition) -> ServerTool:
    """The copy in an experiment as its server would list it."""
    hints = tool.hints or NOTHING_SAID
    return ServerTool(
        name=tool.name_there,
        title=hints.title,
        description=tool.description,
        parameters=tool.parameters or {},
        output=tool.output,
        hints=hints,
    )


def alike(one: ServerTool, other: ServerTool) -> bool:
    """Whether two are the same in all that a model, a person or a check is told of them."""
    return (
        one.name == other.name
        and one.description == other.description
        and _hints(one) == _hints(other)
        and same(one.parameters, other.parameters)
        and same(one.output, other.output)
    )


def _hints(tool: ServerTool) -> Hints:
    title = tool.hints.title or tool.title
    return tool.hints if tool.hints.title == title else tool.hints.model_copy(update={"title": title})


def standing(
    tool: ToolDefinition, accepted: Mapping[str, ServerTool], listed: Mapping[str, ServerTool] | None
) -> Standing:
    """How a tool stands. ``accepted`` is what was accepted of its server, ``listed`` what that lists, None if it has
    not said; both by their names there.
    """
    ours, seen = as_offered(tool), accepted.get(tool.name_there)
    if tool.source is not None:
        return Standing.CHANGED
    if listed is None:
        return Standing.SAME if seen is not None and alike(ours, seen) else Standing.UNKNOWN
    now = listed.get(tool.name_there)
    if now is None:
        return Standing.GONE
    if not alike(ours, now):
        return Standing.CHANGED
    if seen is None:
        return Standing.NEW
    return Standing.SAME if alike(now, seen) else Standing.CHANGED


def refusal(tool: ToolDefinition, found: Standing) -> str:
    """Why a tool that stands so is not asked of its server; empty where it can be."""
    name, server = (show_hidden(short_name(text)) for text in (tool.name_there, tool.server))
    if found is Standing.CHANGED:
        return (
            f"“{name}” is not what you accepted from “{server}” any more. "
            "Look at the difference in the Tools panel, and accept it there."
        )
    if found is Standing.NEW:
        return f"“{name}” from “{server}” was not accepted on this computer yet. Look at it in the Tools panel."
    if found is Standing.GONE:
        return f"“{server}” does not offer “{name}” any more. Answer by hand, or remove the tool."
    return ""


class Difference(NamedTuple):
    """What there was before, and what a server lists now, each as JSON to be compared member by member."""

    before: JSON
    now: JSON


def difference(tool: ToolDefinition, accepted: Mapping[str, ServerTool], now: ServerTool) -> Difference:
    """What of a tool is to be looked at: from the experiment's copy to what is listed, or, where those are the same,
    from what was accepted. Without anything accepted there is nothing before it.
    """
    ours = as_offered(tool)
    if not alike(ours, now):
        return Difference(described(ours), described(now))
    seen = accepted.get(tool.name_there)
    return Difference(described(seen) if seen is not None else None, described(now))


def described(tool: ServerTool) -> JSONObject:
    """All that a server says of a tool, under the words for it."""
    hints = _hints(tool)
    said: dict[str, JSON] = {
        "read-only": hints.read_only,
        "destructive": hints.destructive,
        "idempotent": hints.idempotent,
        "open world": hints.open_world,
    }
    out: JSONObject = {"title": hints.title, "description": tool.description, "parameters": tool.parameters}
    out["result"] = tool.output
    out["says it is"] = {name: value for name, value in said.items() if value is not None}
    return {name: value for name, value in out.items() if value not in ("", None, {})}


def accepted_copy(tool: ToolDefinition, now: ServerTool) -> ToolDefinition:
    """The experiment's copy with what the server lists now, switched on; its name and its place stay."""
    hints = _hints(now)
    return tool.model_copy(
        update={
            "description": now.description,
            "parameters": now.parameters,
            "output": now.output,
            "hints": None if hints == NOTHING_SAID else hints,
            "source": None,
            "text": None,
            "enabled": True,
        }
    )


def arriving(
    tools: Iterable[ToolDefinition],
    server: ToolServer,
    listed: Iterable[ServerTool],
    accepted: Mapping[str, ServerTool],
    *,
    enabled: bool = True,
) -> tuple[ToolDefinition, ...]:
    """What a server lists that is not among an experiment's ``tools``, as tools for it.

    Where nothing of the server was accepted before, bringing them in is accepting them. Else what is new or was changed
    since comes switched off.
    """
    have = list(tools)
    there = {tool.name_there for tool in have if tool.server == server.name}
    coming = {name: tool for name, tool in by_name(listed).items() if name not in there}
    names = sent_names(server, coming, {tool.name for tool in have})
    group = next((tool.group for tool in have if tool.server == server.name), server.name)
    return tuple(
        definition_of(server, tool, names[name], group, enabled=enabled and (not accepted or _known(tool, accepted)))
        for name, tool in coming.items()
    )


def _known(tool: ServerTool, accepted: Mapping[str, ServerTool]) -> bool:
    seen = accepted.get(tool.name)
    return seen is not None and alike(seen, tool)
