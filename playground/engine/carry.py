"""From one wire protocol to the other: which parameters mean the same, and what the other one cannot carry.

The encoders do the carrying of turns; this module says beforehand, in words, what they will leave out or send
differently. It changes no transcript: a switch deletes nothing, so switching back restores everything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from playground.domain.output import schema_of
from playground.domain.parameters import Parameters
from playground.domain.parts import Image, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.request import Request
from playground.domain.tools import parse_json
from playground.domain.transcript import Role, Turn
from playground.domain.values import JSON, JSONObject
from playground.protocols.protocol import get_protocol

LOST: Final = "lost"  # will not be sent
CHANGED: Final = "changed"  # will be sent, in another shape or place
DOUBTFUL: Final = "doubtful"  # will be sent as it is, and may be refused

_ORDER: Final = (LOST, CHANGED, DOUBTFUL)
_SYSTEM: Final = (Role.SYSTEM, Role.DEVELOPER)
_CHAT_ONLY_EFFORTS: Final = ("none", "minimal")
SCHEMA_NAME: Final = "answer"  # chat completions wants a name for a schema, native messages has none


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that the other protocol does not carry as it stands. ``kind`` is LOST, CHANGED or DOUBTFUL."""

    kind: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


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
            yield Loss(LOST, where, f"{_and(extras)} of {name}")
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


# Turns


def losses(request: Request, to: str) -> list[Loss]:
    """What ``to`` cannot carry of a request as it stands, each with its place: lost things first, then changed ones.

    Empty when a switch changes nothing but the spelling. Raises ValueError for an unknown protocol.
    """
    get_protocol(to)
    if to == request.protocol:
        return []
    found = list(_parameter_losses(request.parameters, to))
    found += _to_messages(request) if to == "messages" else _to_chat(request)
    if request.extra_body:
        names = _and(sorted(request.extra_body))
        found.append(Loss(DOUBTFUL, "Extra body", f"{names} will be sent unchanged; the fields may mean nothing there"))
    return sorted(found, key=lambda loss: _ORDER.index(loss.kind))


def _place(number: int, turn: Turn) -> str:
    return f"Turn {number} ({turn.role.value})"


def _to_messages(request: Request) -> Iterator[Loss]:
    before: Role | None = None  # the side that spoke last, system turns apart
    for number, turn in enumerate(request.turns, 1):
        where = _place(number, turn)
        if turn.role in _SYSTEM:
            if before is not None:
                yield Loss(CHANGED, where, "stands in the middle; it goes into the system prompt at the top")
            if turn.role is Role.DEVELOPER:
                yield Loss(CHANGED, where, "there is no developer role; it is sent as system")
            if turn.images:
                yield Loss(DOUBTFUL, where, "its image goes into the system prompt, which takes text only")
        else:
            side = Role.ASSISTANT if turn.role is Role.ASSISTANT else Role.USER
            if side is before and not (turn.role is Role.TOOL and _follows_call(request.turns, number - 1)):
                yield Loss(CHANGED, where, f"joins the turn before it in one {side.value} message")
            before = side
        yield from _parts_to_messages(where, turn)
        yield from _members(where, turn, "chat")


def _follows_call(turns: tuple[Turn, ...], at: int) -> bool:
    """Whether only tool turns lie between this one and the assistant turn they answer: one message is their norm."""
    while at > 0 and turns[at].role is Role.TOOL:
        at -= 1
    return bool(turns[at].calls)


def _parts_to_messages(where: str, turn: Turn) -> Iterator[Loss]:
    for part in turn.parts:
        if isinstance(part, Reasoning) and part.signature is None and part.redacted is None:
            what = "its reasoning has no signature" + (" and vendor records" if part.details else "")
            yield Loss(LOST, where, f"{what}; Messages takes back signed thinking only, so it stays here")
        elif isinstance(part, Reasoning) and part.details:
            yield Loss(LOST, where, "the vendor records of its reasoning (reasoning_details)")
        elif isinstance(part, Refusal):
            yield Loss(CHANGED, where, "its refusal is sent as ordinary text")
        elif isinstance(part, Image):
            if part.detail is not None:
                yield Loss(LOST, where, f"the detail of its image ({part.detail})")
            if part.url[:5].lower() == "data:" and ";base64," not in part.url[:200].lower():
                yield Loss(DOUBTFUL, where, "its image is a data URL without base64, sent as an address")
        elif isinstance(part, ToolCall) and not _is_object(part.arguments):
            what = f"the arguments of {part.name} ({part.id}) are not a JSON object: nothing can be sent until they are"
            yield Loss(DOUBTFUL, where, what)
        elif isinstance(part, Unknown):
            yield _unknown(where, part)


def _to_chat(request: Request) -> Iterator[Loss]:
    for number, turn in enumerate(request.turns, 1):
        where = _place(number, turn)
        for part in turn.parts:
            if isinstance(part, Reasoning) and part.redacted is not None:
                yield Loss(LOST, where, "its redacted thinking")
            elif isinstance(part, Reasoning) and part.signature is not None:
                yield Loss(LOST, where, "the signature of its thinking; the text goes only if reasoning is sent back")
            elif isinstance(part, ToolResult) and part.is_error:
                yield Loss(LOST, where, f"that the result of {part.call_id} is an error; its text is sent")
            elif isinstance(part, Unknown):
                yield _unknown(where, part)
        yield from _members(where, turn, "messages")
        if _interleaved(turn):
            yield Loss(CHANGED, where, "its text is joined and its calls follow; their order is not sent")


def _members(where: str, turn: Turn, source: str) -> Iterator[Loss]:
    """What came with a turn or its parts over one protocol and goes back over no other."""
    names = list(turn.members) if source == "chat" else []
    for part in turn.parts:
        extra = dict(getattr(part, "extra", {}).get(source, {}))
        if isinstance(part, ToolResult) and isinstance(blocks := extra.pop("content", None), list):
            if any(not isinstance(block, dict) or block.keys() != {"type", "text"} for block in blocks):
                yield Loss(LOST, where, f"what the result of {part.call_id} holds besides text")
            extra = {name: value for name, value in extra.items() if value}
        names += _names(extra)
    if names:
        yield Loss(LOST, where, f"{_and(list(dict.fromkeys(names)))} (known to {get_protocol(source).title} alone)")


def _names(extra: JSONObject) -> Iterator[str]:
    for name, value in extra.items():
        if name in ("function", "image_url") and isinstance(value, dict):  # known themselves: only what is in them
            yield from (f"{name}.{inner}" for inner in value)
        else:
            yield name


def _unknown(where: str, part: Unknown) -> Loss:
    if part.from_file:
        return Loss(LOST, where, "a part that only a newer version of this application knows")
    kind = part.value.get("type")
    named = f"of type {kind}" if isinstance(kind, str) and kind else "without a type"
    return Loss(DOUBTFUL, where, f"a part {named[:80]} is sent as it came, in the shape of the other protocol")


def _interleaved(turn: Turn) -> bool:
    """Whether text follows a call: the chat protocol has all text first."""
    called = False
    for part in turn.parts:
        if isinstance(part, ToolCall):
            called = True
        elif called and isinstance(part, Text) and part.text:
            return True
    return False


def _is_object(arguments: str) -> bool:
    try:
        return not arguments.strip() or isinstance(parse_json(arguments), dict)
    except ValueError:
        return False


def _short(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
