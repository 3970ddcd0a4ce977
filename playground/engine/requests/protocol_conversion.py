"""From one wire protocol to the other: which parameters mean the same, and what the other one cannot carry.

The encoders do the carrying of turns; this module says beforehand, in words, what they will leave out or send
differently (of turns see ``playground.engine.requests.turn_conversion``). It changes no transcript: a switch deletes
nothing, so switching back restores everything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

from playground.domain.output import schema_of
from playground.domain.parameters import Parameters
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.engine.requests.loss import CHANGED, DOUBTFUL, LOST, Loss, listed
from playground.engine.requests.turn_conversion import turn_losses
from playground.jsonkit.values import JSON
from playground.protocols.protocol import Protocol, get_protocol

_ORDER: Final = (LOST, CHANGED, DOUBTFUL)
_CHAT_ONLY_EFFORTS: Final = ("none", "minimal")
SCHEMA_NAME: Final = "answer"  # chat completions wants a name for a schema, native messages has none


# Parameters


def carry_parameters(source: Parameters, target: Parameters) -> Parameters:
    """``target`` with every value that means the same in ``source``: what is set moves along with the person.

    A value that ``target`` spells in its own way stays as it spells it, and one that ``source`` has no word for is left
    alone, so that switching there and back restores both. A value set back to default is default on the other side
    too. What has no counterpart stays remembered on its own side and is named by ``losses``.
    """
    for old, new, there, back in _pairs(source, target):
        value, kept = getattr(source, old), getattr(target, new)
        if (back(kept) if kept is not None else None) != value:
            moved = there(value) if value is not None else None
            target = target.with_value(new, moved, by_hand=not source.is_ours(old))
    return target


Convert = Callable[[JSON], JSON]


def _same(value: JSON) -> JSON:
    return value


def _listed(value: JSON) -> JSON:
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else value


def _effort_to_native(value: JSON) -> JSON:
    return None if value in _CHAT_ONLY_EFFORTS else value


def _choice_to_native(value: JSON) -> JSON:
    if isinstance(value, str):
        return {"type": {"required": "any"}.get(value, value)}
    function = value.get("function") if isinstance(value, dict) and value.get("type") == "function" else None
    name = function.get("name") if isinstance(function, dict) else None
    return {"type": "tool", "name": name} if isinstance(name, str) else None


def _choice_to_chat(value: JSON) -> JSON:
    kind = value.get("type") if isinstance(value, dict) else value
    if kind == "tool" and isinstance(value, dict) and isinstance(value.get("name"), str):
        return {"type": "function", "function": {"name": value["name"]}}
    return {"any": "required"}.get(kind, kind) if isinstance(kind, str) and kind != "tool" else None


def _format_to_native(value: JSON) -> JSON:
    schema = schema_of(value) if isinstance(value, dict) else None
    return {"type": "json_schema", "schema": schema} if schema is not None else None


def _format_to_chat(value: JSON) -> JSON:
    schema = schema_of(value) if isinstance(value, dict) else None
    if schema is None:
        return None
    return {"type": "json_schema", "json_schema": {"name": SCHEMA_NAME, "schema": schema}}


def _pairs(source: Parameters, target: Parameters) -> list[tuple[str, str, Convert, Convert]]:
    """Names that mean the same: here, there, and the value's way there and back."""
    if type(source) is type(target):
        return [(name, name, _same, _same) for name in type(source).model_fields]
    to_native = "stop_sequences" in type(target).model_fields
    chat, native = (source, target) if to_native else (target, source)
    older = getattr(chat, "max_completion_tokens", None) is None and getattr(chat, "max_tokens", None) is not None
    pairs: list[tuple[str, str, Convert, Convert]] = [
        ("temperature", "temperature", _same, _same),
        ("top_p", "top_p", _same, _same),
        ("max_tokens" if older else "max_completion_tokens", "max_tokens", _same, _same),
        ("stop", "stop_sequences", _listed, _listed),
        ("reasoning_effort", "effort", _effort_to_native, _same),
        ("tool_choice", "tool_choice", _choice_to_native, _choice_to_chat),
        ("response_format", "response_format", _format_to_native, _format_to_chat),
        ("stream", "stream", _same, _same),
        ("user", "user_id", _same, _same),
    ]
    known = [
        (one, other, there, back)
        for one, other, there, back in pairs
        if one in type(chat).model_fields and other in type(native).model_fields
    ]
    return known if to_native else [(other, one, back, there) for one, other, there, back in known]


def _parameter_losses(source: Parameters, to: str) -> Iterator[Loss]:
    where = "Parameters"
    target = get_protocol(to).parameters_type()
    title = get_protocol(to).title
    if type(source) is type(target):
        return
    carried = {old: (new, there) for old, new, there, _ in _pairs(source, target)}
    target_hints = dict(type(target).hints())
    for name, hint in type(source).hints():
        value = getattr(source, name)
        if value is None or _is_usual(name, value):
            continue
        if name not in carried:
            yield Loss(LOST, where, f"{name} ({_short(value)}) has no counterpart in {title}")
            continue
        new, there = carried[name]
        moved = there(value)
        if moved is None:
            yield Loss(LOST, where, f"{name} ({_short(value)}) has no counterpart in {title}")
            continue
        if extras := _left_behind(name, value):
            yield Loss(LOST, where, f"{listed(extras)} of {name}")
        flag = target.with_value(new, moved).flag(new)
        if flag and not target_hints[new].deprecated and not source.flag(name):
            yield Loss(DOUBTFUL, where, f"{hint.label} {_short(value)} is {_without_end(flag)} in {title}")
    yield from _extra_losses(source, title)


def _left_behind(name: str, value: JSON) -> list[str]:
    """Keys inside a value that is carried over which do not go along."""
    if not isinstance(value, dict):
        return []
    if name == "tool_choice":
        return [key for key in value if key not in ("type", "function", "name")]
    inner = value.get("json_schema")
    return [key for key in inner if key != "schema"] if isinstance(inner, dict) else []


def _without_end(flag: str) -> str:
    return flag.split(";", 1)[0]


def _extra_losses(source: Parameters, title: str) -> Iterator[Loss]:
    for name, value in (source.model_extra or {}).items():
        yield Loss(LOST, "Parameters", f"{name} ({_short(value)}) has no counterpart known here in {title}")


def _is_usual(name: str, value: JSON) -> bool:
    """A value that asks for what the other protocol does anyway."""
    if name == "response_format":
        return isinstance(value, dict) and value.get("type") == "text"
    return name == "include_usage" or (name == "n" and value == 1)


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
        if to == "messages" and tool.parameters is None:
            yield Loss(CHANGED, "Tools", f"{tool.name} has no schema; Messages needs one, and any object is allowed")


def _is_written(protocol: Protocol, tool: ToolDefinition, name: str) -> bool:
    """Whether a field of a definition has a place in it."""
    default = type(tool).model_fields[name].get_default(call_default_factory=True)
    if getattr(tool, name) == default:
        return False
    return protocol.write_tool(tool) != protocol.write_tool(tool.model_copy(update={name: default}))


def _short(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"
