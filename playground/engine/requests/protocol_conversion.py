"""From one wire protocol to another: the parameters that mean the same, and what the other one cannot carry.

The encoders do the carrying of turns; this module says beforehand, in words, what they will leave out or send
differently (of turns see ``playground.engine.requests.turn_conversion``). It changes no transcript: a switch deletes
nothing, so switching back restores everything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from playground.domain.parameter_conversion import counterparts, left_behind, respelled
from playground.domain.parameters import Parameters
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.engine.requests.loss import CHANGED, DOUBTFUL, LOST, Loss, listed
from playground.engine.requests.turn_conversion import turn_losses
from playground.jsonkit.values import JSON
from playground.protocols.protocol import Protocol, get_protocol

_ORDER: Final = (LOST, CHANGED, DOUBTFUL)


# Parameters


def _parameter_losses(source: Parameters, to: str) -> Iterator[Loss]:
    where = "Parameters"
    target = get_protocol(to).parameters_type()
    title = get_protocol(to).title
    if type(source) is type(target):
        return
    carried = {old.name: (old, new) for old, new in counterparts(source, target)}
    target_hints = dict(type(target).hints())
    for name, hint in type(source).hints():
        value = getattr(source, name)
        if value is None or source.is_usual(name, value):
            continue
        moved = respelled(value, *carried[name]) if name in carried else None
        if moved is None:
            yield Loss(LOST, where, f"{name} ({_short(value)}) has no counterpart in {title}")
            continue
        if extras := left_behind(value, *carried[name]):
            yield Loss(LOST, where, f"{listed(extras)} of {name}")
        new = carried[name][1].name
        flag = target.with_value(new, moved).flag(new)
        if flag and not target_hints[new].deprecated and not source.flag(name):
            yield Loss(DOUBTFUL, where, f"{hint.label} {_short(value)} is {_without_end(flag)} in {title}")
    yield from _extra_losses(source, title)


def _without_end(flag: str) -> str:
    return flag.split(";", 1)[0]


def _extra_losses(source: Parameters, title: str) -> Iterator[Loss]:
    for name, value in (source.model_extra or {}).items():
        yield Loss(LOST, "Parameters", f"{name} ({_short(value)}) has no counterpart known here in {title}")


# All of it


def losses(request: Request, to: str) -> list[Loss]:
    """What ``to`` cannot carry of a request as it stands, each with its place: lost things first, then changed ones.

    Empty when a switch changes nothing but the spelling. Raises ValueError for an unknown protocol.
    """
    get_protocol(to)
    if to == request.protocol:
        return []
    found = list(_parameter_losses(request.parameters, to))
    found += turn_losses(request, to)
    found += _tool_losses(request, to)
    if extras := request.with_extras({}):
        names = listed(sorted(extras))
        found.append(Loss(DOUBTFUL, "Extra body", f"{names} will be sent unchanged; the fields may mean nothing there"))
    return sorted(found, key=lambda loss: _ORDER.index(loss.kind))


def _tool_losses(request: Request, to: str) -> Iterator[Loss]:
    """What becomes of the definitions: what is in one here and is not in it there, or the reverse."""
    here, there = get_protocol(request.protocol), get_protocol(to)
    for tool in request.tools:
        if not tool.sendable:
            continue
        for name in type(tool).model_fields:
            if (
                name not in ("name", "parameters")
                and _is_written(here, tool, name)
                and not _is_written(there, tool, name)
            ):
                yield Loss(LOST, "Tools", f"{name} of {tool.name}")
        if tool.parameters is None and there.read_tool(there.write_tool(tool)).parameters is not None:
            what = f"{tool.name} has no schema; {there.title} needs one, and any object is allowed"
            yield Loss(CHANGED, "Tools", what)


def _is_written(protocol: Protocol, tool: ToolDefinition, name: str) -> bool:
    """Whether a field of a definition has a place in it."""
    default = type(tool).model_fields[name].get_default(call_default_factory=True)
    if getattr(tool, name) == default:
        return False
    return protocol.write_tool(tool) != protocol.write_tool(tool.model_copy(update={name: default}))


def _short(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"
