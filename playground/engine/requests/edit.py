"""A request edited by hand, taken back to where its parts came from: the panels, the turns, and the extra body.

``read_edit`` only looks; ``apply_edit`` does it. What cannot be taken over is said in words, and nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from playground.domain.adaptations import AdaptationKind
from playground.domain.members import Extra
from playground.domain.parameters import Parameters
from playground.domain.parts import Part, Text, ToolCall, ToolResult
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Transcript, Turn, new_id
from playground.domain.variables import as_written, names_in
from playground.engine.gateways.secrets import secret_in
from playground.engine.requests.taken_apart import left_over, take_apart
from playground.engine.session.changes import RunState
from playground.engine.session.drafts import Draft, draft_of, turn_of_draft
from playground.gateway.redact import MASK
from playground.jsonkit.merge import at_path, merged
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session.session import Session


@dataclass(frozen=True)
class Edited:
    """What an edit comes to. ``notes`` are sentences on what went where and what could not be done."""

    model: str
    parameters: Parameters
    tools: tuple[ToolDefinition, ...]
    extra_body: JSONObject
    transcript: Transcript
    draft: Draft
    notes: tuple[str, ...] = ()
    changed: bool = False


def read_edit(session: Session, text: str) -> Edited:
    """What the body ``text`` means for the experiment. Raises ValueError in words; nothing is changed."""
    if session.state is not RunState.IDLE:
        raise ValueError("A run is under way. Stop it first.")
    body = _object(text)
    typed = session.next_request.to_add()
    asked = session.next_request.build(*typed)
    protocol = get_protocol(session.settings.protocol)
    if MASK in text and MASK not in json.dumps(protocol.encode(asked), ensure_ascii=False):
        raise ValueError(
            f"A secret stands in this request, and {MASK} stands for it here. Take it out of the turns first."
        )
    panels = protocol.encode(asked, extras=False)
    found = take_apart(body, panels, asked.inherited_body, session.settings.extra_body)
    rest, extra = found.panels, found.extra
    notes = [f"“{name}” comes from the gateway's settings and can only be taken out there." for name in found.stuck]
    if (said := protocol.conversation[-1]) not in rest:
        raise ValueError(f"“{said}” is missing. Leave an empty list for a request without any.")
    if "model" not in rest and "model" not in extra:
        notes.append("A request always names a model: choose another one, or none, at the top.")
        rest["model"] = asked.model
    required = ((hint.path or name, hint.instead) for name, hint in protocol.parameters_type.hints())
    notes += [
        f"The protocol requires “{name}”: {instead} is sent all the same."
        for name, instead in required
        if instead is not None and name not in body
    ]
    notes += [f"“{'.'.join(path)}”: {words}." for path, words in protocol.oddities(body)]
    read, more = protocol.read_body(rest)
    before, _ = protocol.read_body(panels)
    notes += more
    new = {name: value for name, value in read.extra_body.items() if not _kept_back(name, value, before)}
    extra = merged(extra, new)
    parameters = _parameters(session.settings.current, read, before)
    settled = asked.model_copy(update={"turns": (), "tools": (), "parameters": parameters, "extra_body": extra})
    parameters = _only_what_is_there(settled, body)
    settled = settled.model_copy(update={"parameters": parameters})
    extra = merged(extra, left_over(body, settled, found.stuck))
    if secret := secret_in(extra):
        raise ValueError(f"“{secret}” looks like a key. Keys belong into the gateway's settings, where the keyring is.")
    if added := [name for name in extra if name not in session.settings.extra_body]:
        notes.append(f"Kept in the extra body: {', '.join(added)}.")
    transcript, left = _turns(session, typed, asked, read, before)
    draft = session.draft
    if left != typed:
        draft = draft_of(left[0]) if left else Draft()
        notes += [] if left else ["The message being written is taken out of the composer."]
    if names := _overwritten(session.transcript, transcript):
        notes.append(f"In the turns that are different the values stand now, without their variables: {names}.")
    result = Edited(
        model=read.model if read.model != before.model else session.settings.model,
        parameters=parameters,
        tools=_tools(session.settings.tools, read, before),
        extra_body=extra if not same(extra, session.settings.extra_body) else session.settings.extra_body,
        transcript=transcript,
        draft=draft,
        notes=tuple(notes),
    )
    was = (session.settings.model, session.settings.current, session.settings.tools, session.settings.extra_body)
    changed = transcript is not session.transcript or draft != session.draft
    changed = changed or (result.model, result.parameters, result.tools, result.extra_body) != was
    return Edited(**{**vars(result), "changed": changed})


def apply_edit(session: Session, edited: Edited) -> None:
    """Do it: the turns in one step that can be undone, the rest as the panels do."""
    session.change(model=edited.model)
    session.set_parameters(edited.parameters)
    session.change(tools=edited.tools)
    session.change(extra_body=edited.extra_body)
    if edited.transcript is not session.transcript:
        session.turns.rewrite(edited.transcript)
    session.with_draft(edited.draft)


def _object(text: str) -> JSONObject:
    try:
        value: JSON = parse_json(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"Line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except ValueError as error:
        raise ValueError(f"This is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ValueError("A request body is one JSON object.")
    return value


def _kept_back(name: str, value: JSON, before: Request) -> bool:
    """Whether the panels already send a member that reads back as an extra one, and it is unchanged."""
    return name in before.extra_body and same(before.extra_body[name], value)


def _parameters(own: Parameters, read: Request, before: Request) -> Parameters:
    """What is set, values of an odd type included: those read back as extra ones and are the panel's nevertheless.

    Only what is different is set, so that what is not sent at the moment stays what it is.
    """
    full = own.to_wire({hint.needs: True for _, hint in own.hints() if hint.needs})
    odd = {name: value for name, value in before.extra_body.items() if name in full}
    gone = [name for name in odd if name not in read.extra_body or not same(read.extra_body[name], odd[name])]
    found = own
    if gone:
        left = type(own).from_wire({name: value for name, value in full.items() if name not in gone})
        found = left.set_by_hand(name for name in left.by_hand if not own.is_ours(name))
    for name, path in own.places().items():
        was, now = getattr(before.parameters, name), getattr(read.parameters, name)
        lost = path[0] in gone and not same(getattr(found, name), now)
        if lost or not same(was, now):
            by_hand = not own.is_ours(name) or not same(was, now)
            found = found.with_value(name, now, by_hand=by_hand)
    return found


def _only_what_is_there(settled: Request, body: JSONObject) -> Parameters:
    """The parameters without what was not sent before, would be now, and does not stand in the edited body."""
    parameters = settled.parameters
    wire, places = settled.settings(), parameters.places()
    for name, hint in type(parameters).hints():
        if hint.needs and at_path(wire, places[name]) is not None and at_path(body, places[name]) is None:
            parameters = parameters.with_value(name, None)
    return parameters


def _tools(own: tuple[ToolDefinition, ...], read: Request, before: Request) -> tuple[ToolDefinition, ...]:
    """The definitions, each in its place; those that are switched off or not readable stay as they are."""
    if [tool.offer for tool in read.tools] == [tool.offer for tool in before.tools]:
        return own
    left = list(read.tools)
    out: list[ToolDefinition] = []
    for tool in own:
        if not tool.sendable:
            out.append(tool)
            continue
        found = next((new for new in left if new.name == tool.name), None)
        if found is not None:
            left.remove(found)
            fields = {"description": found.description, "parameters": found.parameters, "strict": found.strict}
            out.append(tool if found.offer == tool.offer else tool.model_copy(update={**fields, "text": None}))
    return (*out, *left)


# ---- turns -----------------------------------------------------------------------------------------------------------


def _turns(
    session: Session, typed: tuple[Turn, ...], asked: Request, read: Request, before: Request
) -> tuple[Transcript, tuple[Turn, ...]]:
    """The tree with the edited path: turns that only say something else keep their place, anything more is a branch.

    ``typed`` is what stands in the composer, the last that is asked. The second value is what stands there afterwards,
    if it can: what is no longer the last turn, or of a shape that a composer does not have, is in the tree.
    """
    transcript = session.transcript
    if [_said(turn) for turn in read.turns] == [_said(turn) for turn in before.turns]:
        return transcript, typed
    wanted = list(_matched(session, asked.turns, read.turns, before.turns))
    left: tuple[Turn, ...] = ()
    kept = asked.turns[: len(asked.turns) - len(typed)]
    if typed and wanted and wanted[-1].id == typed[0].id and (wanted[-1] is asked.turns[-1] or _typable(wanted[-1])):
        last = wanted.pop()
        left = typed if last is asked.turns[-1] else (last,)
    if [turn.id for turn in wanted] == [turn.id for turn in kept]:
        for old, new in zip(kept, wanted, strict=True):
            transcript = transcript.replace(new) if new is not old else transcript
        return transcript, left
    stem = 0
    while stem < min(len(wanted), len(kept)) and wanted[stem] is kept[stem]:
        stem += 1
    branch = transcript.truncate_after(kept[stem - 1].id if stem else None)
    known = {**transcript.turns, **{turn.id: turn for turn in typed}}
    as_written = {id(turn): known[turn.id] for turn in asked.turns}  # with variables, not with their values
    rest = [as_written.get(id(turn), turn) for turn in wanted[stem:]]
    return branch.append(*(turn.model_copy(update={"id": new_id()}) for turn in rest)), left


def _typable(turn: Turn) -> bool:
    """Whether what a turn holds can stand in the composer."""
    again = turn_of_draft(draft_of(turn), Transcript())
    return again is not None and [_part(part) for part in again.parts] == [_part(part) for part in turn.parts]


def _overwritten(before: Transcript, after: Transcript) -> str:
    """The variables that turns had before and have no more."""
    same_place = [(turn, after.turns[key]) for key, turn in before.turns.items() if after.turns[key] is not turn]
    lost = [name for old, new in same_place for name in names_in([old]) if name not in names_in([new])]
    return ", ".join(map(as_written, dict.fromkeys(lost)))


def _matched(
    session: Session, turns: tuple[Turn, ...], read: tuple[Turn, ...], before: tuple[Turn, ...]
) -> Iterator[Turn]:
    """``read`` with the experiment's own turns wherever they say the same, or only something else in the same place.

    ``before`` is how ``turns`` read back; protocols that put turns together leave only a stem that can be told apart.
    """
    if len(before) != len(turns):
        stem = _stem(session, turns, read)
        yield from turns[:stem]
        yield from read[len(_read_back(session, turns[:stem])) :]
        return
    rules = session.next_request.build(tip=None).rules
    roles = {rule.field: rule.to for rule in rules if rule.kind is AdaptationKind.ROLE}
    ours, theirs = [_said(turn) for turn in before], [_said(turn) for turn in read]
    for op, i, j, k, m in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if op == "equal":
            yield from turns[i:j]
        elif op == "replace" and j - i == m - k:
            for old, was, new in zip(turns[i:j], before[i:j], read[k:m], strict=True):
                kept = old.role is new.role or roles.get(old.role) == new.role
                yield _rewritten(old, was, new, session.settings.protocol) if kept else new
        else:
            yield from read[k:m]


def _stem(session: Session, turns: tuple[Turn, ...], read: tuple[Turn, ...]) -> int:
    """How many of ``turns`` stand unchanged at the beginning of ``read``."""
    low, high = 0, len(turns)
    wanted = [_said(turn) for turn in read]
    while low < high:
        middle = (low + high + 1) // 2
        got = [_said(turn) for turn in _read_back(session, turns[:middle])]
        low, high = (middle, high) if got == wanted[: len(got)] else (low, middle - 1)
    return low


def _read_back(session: Session, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    protocol = get_protocol(session.settings.protocol)
    asked = session.next_request.build().model_copy(update={"turns": turns})
    return protocol.read_body(protocol.encode(asked, extras=False))[0].turns


def _rewritten(turn: Turn, was: Turn, new: Turn, protocol: str) -> Turn:
    """``turn`` saying what ``new`` says. What a request does not carry of it (its reasoning, say) stays."""
    unsent = [part for part in turn.parts if part.kind == "reasoning"] if not _has(was, "reasoning") else []
    parts = [_same_part(turn, part, protocol) for part in new.parts]
    # Some members that were sent are those that the answer came with: they stay there, or go from there.
    came = {name: value for name, value in was.members.items() if name not in turn.members}
    members = {name: value for name, value in new.members.items() if name not in came or not same(value, came[name])}
    gone = came.keys() - new.members.keys()
    extra = {
        over: {name: value for name, value in known.items() if over != protocol or name not in gone}
        for over, known in turn.extra.items()
    }
    update = {"parts": (*unsent, *parts), "members": members, "extra": {k: v for k, v in extra.items() if v}}
    return turn.model_copy(update=update)


def _has(turn: Turn, kind: str) -> bool:
    return any(part.kind == kind for part in turn.parts)


def _same_part(turn: Turn, new: Part, protocol: str) -> Part:
    """The part of ``turn`` that ``new`` is a version of, with what is new about it."""
    if isinstance(new, ToolCall):
        old = next((call for call in turn.calls if call.id == new.id), None)
        if old is not None:
            extra = _extra(old.extra, new.extra, protocol)
            if same(_value(old.arguments), _value(new.arguments)) and old.name == new.name:
                return old if extra == old.extra else old.model_copy(update={"extra": extra})
            sent = old.arguments if old.received is None else old.received
            kept = sent if turn.outcome is not None and sent != new.arguments else None
            return new.model_copy(update={"received": kept, "id_is_ours": old.id_is_ours, "extra": extra})
    if isinstance(new, ToolResult):
        result = next((result for result in turn.results if result.call_id == new.call_id), None)
        if result is not None:
            by = result.by if result.text == new.text else "you"
            return result.model_copy(update={"text": new.text, "is_error": new.is_error, "by": by})
    if isinstance(new, Text):
        texts = [part for part in turn.parts if isinstance(part, Text)]
        before = next((part for part in texts if part.text == new.text), texts[0] if len(texts) == 1 else None)
        return new if before is None else new.model_copy(update={"extra": _extra(before.extra, new.extra, protocol)})
    return next((old for old in turn.parts if _part(old) == _part(new)), new)


def _extra(old: Extra, new: Extra, protocol: str) -> Extra:
    """What a part came with, as the request says it now: it says nothing of other protocols."""
    return {**{over: members for over, members in old.items() if over != protocol}, **new}


def _value(arguments: str) -> JSON:
    """Arguments as a value; a protocol may have laid them out anew."""
    try:
        return parse_json(arguments or "{}")
    except ValueError:
        return arguments


def _said(turn: Turn) -> str:
    return json.dumps([turn.role.value, turn.members, *(_part(part) for part in turn.parts)])


def _part(part: Part) -> JSONObject:
    known = part.model_dump(mode="json", exclude={"received", "by", "seconds", "id_is_ours"})
    return {**known, "name": None} if part.kind == "image" else known
