"""Losses of a request in another wire protocol, in words for people.

The encoders carry the turns; this module names in advance what they will leave out or change. A switch changes no
transcript, so switching back restores everything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from playground.domain.hidden import short_name
from playground.domain.members import Extra
from playground.domain.parameter_conversion import counterparts, left_behind, respelled
from playground.domain.parameters import Parameters
from playground.domain.parts import Part, ToolCall, ToolResult, Unknown
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn
from playground.engine.requests.protocol_info import TITLES
from playground.jsonkit.texts import cut, listed
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.conversion import CHANGED as CHANGED
from playground.protocols.conversion import DOUBTFUL as DOUBTFUL
from playground.protocols.conversion import LOST as LOST
from playground.protocols.conversion import ConversionNote, TurnContext, is_object, side_of
from playground.protocols.protocol import Protocol, get_protocol

_ORDER: Final = (LOST, CHANGED, DOUBTFUL)
#: Fields without which a part is empty: they are lost with the part only.
_CONTENT: Final = frozenset(
    {"kind", "text", "field", "id", "name", "arguments", "call_id", "url", "value", "from_file", "extra"}
)
MOST_NAMES: Final = 12  # members named for one turn
_MOST_COMPARED: Final = 40  # members compared one by one; of more, groups are compared
_MOST_IN_GROUPS: Final = 1_000  # of more members, all are compared at once
_THINKING: Final = "the signature of its thinking; its text is only sent with past reasoning"
_UNSIGNED: Final = "{to} accepts signed thinking only, so it is not sent"


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the other protocol does not carry unchanged. ``kind`` is LOST, CHANGED or DOUBTFUL."""

    kind: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def losses(request: Request, to: str) -> list[Loss]:
    """Return the losses of a request in the protocol ``to``, lost things first, then changed ones.

    Empty if only the spelling differs. Raises ValueError for an unknown protocol.
    """
    get_protocol(to)
    if to == request.protocol:
        return []
    rows = [*_parameter_losses(request.parameters, to), *_turn_losses(request, to), *_tool_losses(request, to)]
    if extras := request.with_extras({}):
        names = listed(sorted(extras))
        rows.append(Loss(DOUBTFUL, "Extra body", f"{names} will be sent unchanged; the fields may mean nothing there"))
    return sorted(rows, key=lambda loss: _ORDER.index(loss.kind))


# ---- encoding of single turns ----------------------------------------------------------------------------------------


class TurnEncoder:
    """Encodes single turns in one protocol, with all reasoning; ``field`` is its member, empty: as received.

    Raises ValueError for an unknown protocol.
    """

    def __init__(self, protocol: str, field: str = "") -> None:
        self.protocol = get_protocol(protocol)
        self.name, self.title = protocol, f"the {TITLES[protocol]}"
        rule = ReasoningReturn(when=SendReasoning.ALWAYS, field=field)
        self._empty_request = Request(protocol=protocol, model="", reasoning_return=rule)

    def encode(self, turn: Turn) -> JSONObject:
        """Return the body of a request with this turn; arguments that cannot be encoded are left out."""
        parts = tuple(
            part.model_copy(update={"arguments": ""})
            if isinstance(part, ToolCall) and not part.free_text and not is_object(part.arguments)
            else part
            for part in turn.parts
        )
        request = self._empty_request.model_copy(update={"turns": (turn.model_copy(update={"parts": parts}),)})
        return self.protocol.encode(request)

    def is_empty(self, turn: Turn) -> bool:
        """Return whether a turn has no content in this protocol."""
        body = self.encode(turn)
        *above, messages_name = self.protocol.conversation
        messages: list[JSONObject] = body[messages_name]
        is_bare = all(message.keys() == {"role", "content"} and not message["content"] for message in messages)
        return is_bare and body.keys().isdisjoint(above)


def effective_names(names: Iterable[str], makes_difference: Callable[[frozenset[str]], bool]) -> list[str]:
    """Return the names whose removal makes a difference; of very many names, whole groups are compared."""
    all_names = list(names)
    step = -(-len(all_names) // _MOST_COMPARED) if len(all_names) < _MOST_IN_GROUPS else len(all_names)
    groups = [all_names[start : start + step] for start in range(0, len(all_names), max(step, 1))]
    return [name for group in groups if makes_difference(frozenset(group)) for name in group]


def without_members(extra: Extra, protocol: str, names: frozenset[str]) -> Extra:
    """Return unknown members without those of these names that were received over a protocol."""
    return {**extra, protocol: {name: value for name, value in extra[protocol].items() if name not in names}}


# ---- turns -----------------------------------------------------------------------------------------------------------


def _turn_losses(request: Request, to: str) -> Iterator[Loss]:
    field = request.reasoning_return.field
    source, target = TurnEncoder(request.protocol, field), TurnEncoder(to, field)
    comparison, empty = _Comparison(source, target), _empty_turns(request.turns, source, target)
    before: Turn | None = None  # the last turn that is not a system turn
    after_calls = False  # only results are between the next turn and the calls before it
    has_prompt = False  # a system turn precedes
    call_ids: set[str] = set()
    renamed: dict[int, list[ConversionNote]] = {}
    for number, call_id, sent in target.protocol.renamed_ids(request.turns):
        words = f"the id of its call {short_name(call_id)} is sent as {sent}"
        renamed.setdefault(number + 1, []).append((CHANGED, words))
    for number, turn in enumerate(request.turns, 1):
        is_answer = after_calls and turn.role is Role.TOOL
        context = TurnContext(turn, before, has_prompt, is_answer, target.encode)
        rows = [(LOST, words) for words in comparison.lost(turn)]
        rows += [*empty.get(turn.id, ()), *target.protocol.changes(context), *renamed.get(number, ())]
        rows += [_unknown_part(part) for part in turn.parts if isinstance(part, Unknown) and not part.from_file]
        if turn.role is Role.TOOL and not is_answer and any(result.call_id in call_ids for result in turn.results):
            rows.append((DOUBTFUL, "its result does not directly follow its call"))
        for kind, what in rows:
            yield Loss(kind, f"Message {number} ({turn.role.value})", what)
        call_ids.update(call.id for call in turn.calls)
        if turn.role.is_instruction:
            has_prompt = True
        else:
            before, after_calls = turn, bool(turn.calls) or is_answer


class _Comparison:
    """Compares turns encoded in two protocols."""

    def __init__(self, source: TurnEncoder, target: TurnEncoder) -> None:
        self._source, self._target = source, target
        self._lost_fields: dict[tuple[object, ...], list[str] | None] = {}  # by role, kind and set fields of a part

    def lost(self, turn: Turn) -> Iterator[str]:
        """Yield phrases on lost parts and fields, and at last on lost members unknown to this application."""
        if _is_plain(turn):
            return
        names = self._lost_members(turn)
        for part in turn.parts:
            fields = self._fields_lost(part, turn.role)
            if fields is None:
                yield _part_words(part, self._target)
            for field in fields or ():
                yield _field_words(part, field)
            if isinstance(part, Unknown) and part.from_file:
                yield "a part that only a newer version of this application knows"
            if fields is None:
                continue
            for name, value in self._lost_extra(part, turn.role).items():
                if not isinstance(part, ToolResult) or name != "content":
                    names += _inner_names(name, value)
                elif not _is_text_only(value):
                    yield f"what the result of {part.call_id} holds besides text"
        if names:
            visible = list(dict.fromkeys(names))
            more = [f"{len(visible) - MOST_NAMES} more"] if len(visible) > MOST_NAMES else []
            yield f"{listed([*visible[:MOST_NAMES], *more])} (known to {self._source.title} alone)"

    def _is_lost(self, turn: Turn, reduced: Turn) -> bool:
        """Return whether two turns differ in the source's protocol only."""
        source, target = self._source, self._target
        return source.encode(turn) != source.encode(reduced) and target.encode(turn) == target.encode(reduced)

    def _fields_lost(self, part: Part, role: Role) -> list[str] | None:
        """Return the lost fields of a part; None if the part is lost."""
        own: list[object] = [role, part.kind]
        for name in type(part).model_fields:
            value = getattr(part, name)
            own.append(value if name == "field" or value is None else bool(value))
        shape = None if getattr(part, "extra", None) or part.kind == "unknown" else tuple(own)
        if shape is not None and shape in self._lost_fields:
            return self._lost_fields[shape]
        turn = Turn(id="", role=role, parts=(part,))
        fields: list[str] | None = None
        if not self._is_lost(turn, turn.model_copy(update={"parts": ()})):
            fields = []
            for name, info in type(part).model_fields.items():
                default = info.get_default(call_default_factory=True)
                if name in _CONTENT or getattr(part, name) == default:
                    continue
                reduced = part.model_copy(update={name: default})
                if self._is_lost(turn, turn.model_copy(update={"parts": (reduced,)})):
                    fields.append(name)
        if shape is not None:
            self._lost_fields[shape] = fields
        return fields

    def _lost_extra(self, part: Part, role: Role) -> JSONObject:
        """Return the lost members that were received with a part."""
        extra: Extra = getattr(part, "extra", {})
        members = extra.get(self._source.name, {})
        turn = Turn(id="", role=role, parts=(part,))

        def is_lost(names: frozenset[str]) -> bool:
            reduced = part.model_copy(update={"extra": without_members(extra, self._source.name, names)})
            return self._is_lost(turn, turn.model_copy(update={"parts": (reduced,)}))

        return {name: members[name] for name in effective_names(members, is_lost)}

    def _lost_members(self, turn: Turn) -> list[str]:
        """Return the names of lost members of the message itself."""

        def is_member_lost(names: frozenset[str]) -> bool:
            members = {name: value for name, value in turn.members.items() if name not in names}
            return self._is_lost(turn, turn.model_copy(update={"members": members}))

        def is_extra_lost(names: frozenset[str]) -> bool:
            extra = without_members(turn.extra, self._source.name, names)
            return self._is_lost(turn, turn.model_copy(update={"extra": extra}))

        received = turn.extra.get(self._source.name, ())
        return [*effective_names(turn.members, is_member_lost), *effective_names(received, is_extra_lost)]


def _is_plain(turn: Turn) -> bool:
    """Return whether a turn holds nothing but texts, which every protocol carries."""
    if turn.members or turn.extra or not turn.parts:
        return False
    return all(part.kind == "text" and part.text and not part.extra for part in turn.parts)


class _PartRow(NamedTuple):
    """A part that is lost: its kind, its sentence with fields of ``part``, and which parts of that kind it is about."""

    kind: str
    words: str
    applies: Callable[[Any], bool] = lambda _part: True


#: Parts that are lost. The first row that applies counts; ``{to}`` is the other protocol.
_LOST_PARTS: Final = (
    _PartRow("reasoning", "its redacted thinking", lambda part: part.redacted is not None),
    _PartRow("reasoning", _THINKING, lambda part: part.signature is not None),
    _PartRow("reasoning", f"its reasoning has no signature and vendor records; {_UNSIGNED}", lambda part: part.details),
    _PartRow("reasoning", f"its reasoning has no signature; {_UNSIGNED}"),
    _PartRow("text", "an empty text"),
    _PartRow("tool_call", "its call of {part.name} ({part.id})"),
    _PartRow("tool_result", "its result of {part.call_id}"),
)

#: Fields that are lost although their part is sent, by kind and name.
_LOST_FIELDS: Final = {
    ("reasoning", "details"): "the vendor records of its reasoning (reasoning_details)",
    ("reasoning", "signature"): _THINKING,
    ("image", "detail"): "the detail of its image ({part.detail})",
    ("tool_result", "is_error"): "that the result of {part.call_id} is an error; its text is sent",
}


def _part_words(part: Part, target: TurnEncoder) -> str:
    rows = (row.words for row in _LOST_PARTS if row.kind == part.kind and row.applies(part))
    return next(rows, "its {part.kind}").format(part=part, to=target.title)


def _field_words(part: Part, field: str) -> str:
    return _LOST_FIELDS.get((part.kind, field), "{field} of its {part.kind}").format(part=part, field=field)


def _is_text_only(blocks: JSON) -> bool:
    return isinstance(blocks, list) and all(
        isinstance(block, dict) and block.keys() == {"type", "text"} for block in blocks
    )


def _inner_names(name: str, value: JSON) -> list[str]:
    """Return the names for a lost member: those inside a well-known object, none for an empty value."""
    if value is None or (name == "is_error" and value is False):
        return []
    if name in ("function", "image_url") and isinstance(value, dict):
        return [f"{name}.{inner}" for inner in value]
    return [name]


def _unknown_part(part: Unknown) -> ConversionNote:
    kind = part.value.get("type")
    named = f"of type {kind}" if isinstance(kind, str) and kind else "without a type"
    return DOUBTFUL, f"a part {named[:80]} is sent unchanged, in the shape of the other protocol"


def _empty_turns(turns: tuple[Turn, ...], source: TurnEncoder, target: TurnEncoder) -> dict[str, list[ConversionNote]]:
    """Return the fate of turns without content in a protocol that alternates roles, by the ids of the turns."""
    if target.protocol.alternates == source.protocol.alternates:
        return {}
    strict = target if target.protocol.alternates else source
    kind, words = LOST, f"{strict.title} leaves it out"
    if strict is source:
        kind, words = CHANGED, f"{words}, {target.title} sends a message without content"
    rows: dict[str, list[ConversionNote]] = {}

    def add(turn: Turn, kind: str, words: str) -> None:
        has_content = any(part.kind != "text" or part.text for part in turn.parts)
        start = "no part of it can be sent" if has_content else "is empty"
        rows[turn.id] = [(kind, f"{start}; {words}")]

    def is_empty(turn: Turn) -> bool:
        return not _is_plain(turn) and strict.is_empty(turn)

    for turn in turns:
        if turn.role.is_instruction and is_empty(turn):
            add(turn, kind, words)
    for _, group in groupby((turn for turn in turns if not turn.role.is_instruction), side_of):
        side = [(turn, is_empty(turn)) for turn in group]  # they are merged into one message
        all_empty = all(empty for _, empty in side)
        for number, (turn, empty) in enumerate(side):
            if empty and not (all_empty and number == 0):
                add(turn, kind, words)
            elif empty and strict is target:
                add(turn, DOUBTFUL, "a message without content may be refused")
    return rows


# ---- settings --------------------------------------------------------------------------------------------------------


def _parameter_losses(source: Parameters, to: str) -> Iterator[Loss]:
    where = "Parameters"
    target, title = get_protocol(to).parameters_type(), f"the {TITLES[to]}"
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
        flag = target.with_value(new, moved).flag(new).split(";", 1)[0]
        if flag and not target_hints[new].deprecated and not source.flag(name):
            yield Loss(DOUBTFUL, where, f"{hint.label} {_short(value)} is {flag} in {title}")
    for name, value in (source.model_extra or {}).items():
        yield Loss(LOST, where, f"{name} ({_short(value)}) has no known counterpart in {title}")


def _tool_losses(request: Request, to: str) -> Iterator[Loss]:
    """Yield the fields of definitions that only one of the protocols has."""
    source, target = get_protocol(request.protocol), get_protocol(to)
    for tool in request.tools:
        if not tool.sendable:
            continue
        for name in type(tool).model_fields:
            if name in ("name", "parameters"):
                continue
            if _is_written(source, tool, name) and not _is_written(target, tool, name):
                yield Loss(LOST, "Tools", f"{name} of {tool.name}")
        if tool.parameters is None and target.read_tool(target.write_tool(tool)).parameters is not None:
            what = f"{tool.name} has no schema; the {TITLES[to]} needs one, and any object is allowed"
            yield Loss(CHANGED, "Tools", what)
        yield from (Loss(kind, "Tools", what) for kind, what in target.tool_changes(tool))


def _is_written(protocol: Protocol, tool: ToolDefinition, name: str) -> bool:
    """Return whether a protocol has a place for a field of a definition."""
    default = type(tool).model_fields[name].get_default(call_default_factory=True)
    if getattr(tool, name) == default:
        return False
    return protocol.write_tool(tool) != protocol.write_tool(tool.model_copy(update={name: default}))


def _short(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return cut(text, 60)
