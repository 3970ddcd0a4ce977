"""From one wire protocol to another: the parameters that mean the same, and what the other one cannot carry.

The encoders do the carrying of turns; this module says beforehand, in words, what they will leave out or send
differently. It changes no transcript: a switch deletes nothing, so switching back restores everything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from playground.domain.hidden import short_name
from playground.domain.members import Extra
from playground.domain.parameter_conversion import counterparts, left_behind, respelled
from playground.domain.parameters import Parameters
from playground.domain.parts import Image, Part, Reasoning, Text, ToolCall, ToolResult, Unknown
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn
from playground.engine.requests.one_turn import MOST, Wire, telling, without
from playground.jsonkit.texts import cut, listed
from playground.jsonkit.values import JSON
from playground.protocols.conversion import CHANGED as CHANGED
from playground.protocols.conversion import DOUBTFUL as DOUBTFUL
from playground.protocols.conversion import LOST as LOST
from playground.protocols.conversion import SYSTEM, Told, TurnContext, side_of
from playground.protocols.protocol import Protocol, get_protocol


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that the other protocol does not carry as it stands. ``kind`` is LOST, CHANGED or DOUBTFUL."""

    kind: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


_ORDER: Final = (LOST, CHANGED, DOUBTFUL)

# Parameters

#: The fields without which a part says nothing: they go with it, and are not looked at one by one.
_ITSELF: Final = frozenset({"kind", "text", "field", "id", "name", "arguments", "call_id", "url", "value", "from_file"})
MOST_NAMES: Final = 12  # that are told of one turn
_THINKING: Final = "the signature of its thinking; the text goes only if reasoning is sent back"


def turn_losses(request: Request, to: str) -> Iterator[Loss]:
    """The losses of a request's turns over the protocol ``to``, turn by turn."""
    field = request.reasoning_return.field
    here, there = Wire(request.protocol, field), Wire(to, field)
    judge, empty = _Judge(here, there), _empty(request.turns, here, there)
    before: Turn | None = None  # the last turn that is not of the system
    behind = False  # whether that one made calls, or stands right behind one that did, with nothing but results between
    prompt = False  # whether a system turn came before
    called: set[str] = set()
    renamed: dict[int, list[Told]] = {}
    for at, call_id, sent in there.protocol.renamed_ids(request.turns):
        renamed.setdefault(at + 1, []).append((CHANGED, f"the id of its call {short_name(call_id)} is sent as {sent}"))
    for number, turn in enumerate(request.turns, 1):
        answers = behind and turn.role is Role.TOOL
        found = [*judge.left_out(turn), *empty.get(turn.id, ())]
        found += there.protocol.changes(TurnContext(turn, before, prompt, answers, there.says))
        found += renamed.get(number, ())
        found += [_unknown(part) for part in turn.parts if isinstance(part, Unknown) and not part.from_file]
        if turn.role is Role.TOOL and not answers and any(result.call_id in called for result in turn.results):
            found.append((DOUBTFUL, "its result does not stand right behind its call"))
        for kind, what in found:
            yield Loss(kind, f"Turn {number} ({turn.role.value})", what)
        called.update(call.id for call in turn.calls)
        if turn.role in SYSTEM:
            prompt = True
        else:
            before, behind = turn, bool(turn.calls) or answers


# What is left out


class _Judge:
    """Says what of a turn is lost on the way from one protocol to another."""

    def __init__(self, here: Wire, there: Wire) -> None:
        self._here, self._there = here, there
        self._known: dict[_Shape, list[tuple[int, str]]] = {}

    def left_out(self, turn: Turn) -> Iterator[Told]:
        """Parts, fields, and the names of what came with them."""
        if _is_plain(turn):
            return
        bare = turn.model_copy(update={"members": {}, "extra": {}}) if turn.members or turn.extra else turn
        lost = self._lost_of_parts(bare)
        gone = {number for number, field in lost if not field}
        for number, field in lost:
            part = turn.parts[number]
            yield LOST, _field_words(part, field) if field else _part_words(part, self._there)
        names = self._lost_members(turn) if bare is not turn else []
        for number, part in enumerate(turn.parts):
            if isinstance(part, Unknown) and part.from_file:
                yield LOST, "a part that only a newer version of this application knows"
            extra: Extra = getattr(part, "extra", {})
            for name in self._lost_extra(bare, number) if self._here.name in extra and number not in gone else ():
                value = extra[self._here.name][name]
                if isinstance(part, ToolResult) and name == "content":
                    yield from _besides_text(part, value)
                else:
                    names += _inner_names(name, value)
        if names:
            shown = list(dict.fromkeys(names))
            more = [f"{len(shown) - MOST_NAMES} more"] if len(shown) > MOST_NAMES else []
            yield LOST, f"{listed([*shown[:MOST_NAMES], *more])} (known to {self._here.title} alone)"

    def _lost_of_parts(self, turn: Turn) -> list[tuple[int, str]]:
        """The lost parts by their numbers, and of the others the lost fields: (number, field), no field for a part.

        It depends on which parts there are and what is set in them; long conversations have few such shapes.
        """
        shape = _shape(turn)
        known = self._known.get(shape) if shape is not None else None
        if known is None:
            known = []
            for number, part in enumerate(turn.parts):
                around, at = _around(turn, number)
                lost = self._comparison(around)
                if lost(_with_other(around, at)):
                    known.append((number, ""))
                    continue
                for field in _fields(part):
                    default = type(part).model_fields[field].get_default(call_default_factory=True)
                    if lost(_with_other(around, at, part.model_copy(update={field: default}))):
                        known.append((number, field))
            if shape is not None:
                self._known[shape] = known
        return known

    def _lost_extra(self, turn: Turn, number: int) -> list[str]:
        """The lost members that a part came with."""
        around, at = _around(turn, number)
        part, lost, over = turn.parts[number], self._comparison(around), self._here.name
        extra: Extra = getattr(part, "extra", {})

        def less(names: frozenset[str]) -> bool:
            return lost(_with_other(around, at, part.model_copy(update={"extra": without(extra, over, names)})))

        return telling(extra[over], less)

    def _lost_members(self, turn: Turn) -> list[str]:
        """The lost members of the message itself."""
        lost, over = self._comparison(turn), self._here.name

        def less_members(names: frozenset[str]) -> bool:
            rest = {name: value for name, value in turn.members.items() if name not in names}
            return lost(turn.model_copy(update={"members": rest}))

        def less_extra(names: frozenset[str]) -> bool:
            return lost(turn.model_copy(update={"extra": without(turn.extra, over, names)}))

        return [*telling(turn.members, less_members), *telling(turn.extra.get(over, ()), less_extra)]

    def _comparison(self, turn: Turn) -> Callable[[Turn], bool]:
        """Tells of a turn that holds less whether what it lacks makes a difference here and none there."""
        here, there = self._here, self._there
        all_here, all_there = here.says(turn), there.says(turn)
        return lambda less: here.says(less) != all_here and there.says(less) == all_there


#: Which parts a turn has and what is set in them.
_Shape = tuple[object, ...]


def _shape(turn: Turn) -> _Shape | None:
    """None for a turn of which more than that may count."""
    if any(getattr(part, "extra", None) or part.kind == "unknown" for part in turn.parts):
        return None
    return (turn.role, *((part.kind, *_set_in(part)) for part in turn.parts))


def _set_in(part: Part) -> Iterator[object]:
    for name in type(part).model_fields:
        value = getattr(part, name)
        yield value if name == "field" or value is None else bool(value)


def _around(turn: Turn, number: int) -> tuple[Turn, int]:
    """What a part is looked at in, and where in it the part stands.

    Of very many each is looked at by itself: what the others are makes next to no difference.
    """
    if len(turn.parts) <= MOST:
        return turn, number
    return turn.model_copy(update={"parts": (turn.parts[number],)}), 0


def _is_plain(turn: Turn) -> bool:
    """Whether a turn holds nothing but texts that say something: no protocol is without those."""
    if turn.members or turn.extra or not turn.parts:
        return False
    return all(part.kind == "text" and part.text and not part.extra for part in turn.parts)


def _with_other(turn: Turn, at: int, *other: Part) -> Turn:
    """The turn with ``other``, or nothing, in the place of the part at ``at``."""
    return turn.model_copy(update={"parts": (*turn.parts[:at], *other, *turn.parts[at + 1 :])})


def _fields(part: Part) -> list[str]:
    """The fields of a part that are set and are not the part itself."""
    fields = type(part).model_fields.items()
    return [
        name
        for name, info in fields
        if name not in _ITSELF
        and name != "extra"
        and getattr(part, name) != info.get_default(call_default_factory=True)
    ]


def _part_words(part: Part, there: Wire) -> str:
    match part:
        case Reasoning() if part.redacted is not None:
            return "its redacted thinking"
        case Reasoning() if part.signature is not None:
            return _THINKING
        case Reasoning():
            what = "its reasoning has no signature" + (" and vendor records" if part.details else "")
            return f"{what}; {there.title} takes back signed thinking only, so it stays here"
        case Text():
            return "an empty text"
        case ToolCall():
            return f"its call of {part.name} ({part.id})"
        case ToolResult():
            return f"its result of {part.call_id}"
        case _:
            return f"its {part.kind}"


def _field_words(part: Part, field: str) -> str:
    match part, field:
        case Reasoning(), "details":
            return "the vendor records of its reasoning (reasoning_details)"
        case Reasoning(), "signature":
            return _THINKING
        case Image(), "detail":
            return f"the detail of its image ({part.detail})"
        case ToolResult(), "is_error":
            return f"that the result of {part.call_id} is an error; its text is sent"
        case _:
            return f"{field} of its {part.kind}"


def _besides_text(part: ToolResult, blocks: object) -> Iterator[Told]:
    if isinstance(blocks, list) and all(isinstance(one, dict) and one.keys() == {"type", "text"} for one in blocks):
        return
    yield LOST, f"what the result of {part.call_id} holds besides text"


def _inner_names(name: str, value: object) -> list[str]:
    """The names to tell of a member: of one that is known itself only what is in it, of one that says nothing none."""
    if value is None or (name == "is_error" and value is False):
        return []
    if name in ("function", "image_url") and isinstance(value, dict):
        return [f"{name}.{inner}" for inner in value]
    return [name]


# Turns of which nothing is written


def _empty(turns: tuple[Turn, ...], here: Wire, there: Wire) -> dict[str, list[Told]]:
    """What becomes of turns that a protocol of two sides has no content for, by their ids."""
    if there.protocol.alternates == here.protocol.alternates:
        return {}
    away = there.protocol.alternates  # else on the way back
    strict = there if away else here
    out: dict[str, list[Told]] = {}

    def tell(turn: Turn, kind: str, words: str) -> None:
        held = any(part.kind != "text" or part.text for part in turn.parts)
        start = "nothing of it can be sent" if held else "is empty"
        out[turn.id] = [(kind, f"{start}; {words}")]

    def left_out(turn: Turn) -> bool:
        return not _is_plain(turn) and strict.leaves_out(turn)

    kind, words = LOST, f"{strict.title} leaves it out"
    if not away:
        kind, words = CHANGED, f"{words}, {there.title} sends a message without content"
    for turn in turns:
        if turn.role in SYSTEM and left_out(turn):
            tell(turn, kind, words)
    said = [turn for turn in turns if turn.role not in SYSTEM]
    for _, group in groupby(said, side_of):  # neighbours of one side are one message
        side = [(turn, left_out(turn)) for turn in group]
        alone = all(nothing for _, nothing in side)
        for at, (turn, nothing) in enumerate(side):
            if nothing and not (alone and at == 0):
                tell(turn, kind, words)
            elif nothing and away:
                tell(turn, DOUBTFUL, "a message without content may be refused")
    return out


def _unknown(part: Unknown) -> Told:
    kind = part.value.get("type")
    named = f"of type {kind}" if isinstance(kind, str) and kind else "without a type"
    return DOUBTFUL, f"a part {named[:80]} is sent as it came, in the shape of the other protocol"


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
    return cut(text, 60)
