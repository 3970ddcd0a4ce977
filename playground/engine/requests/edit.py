"""Edits of a request's body by hand, applied to the settings, turns and extra body that the body is encoded from.

``read_edit`` changes nothing; ``apply_edit`` does. Notes name everything that cannot be applied.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from playground.domain.adaptations import AdaptationKind
from playground.domain.members import Extra
from playground.domain.parameters import Parameters
from playground.domain.parts import Part, Text, ToolCall, ToolResult
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Transcript, Turn, new_id
from playground.domain.variables import as_written, names_in
from playground.engine.gateways.secrets import secret_in
from playground.engine.session.changes import RunState
from playground.engine.session.drafts import Draft, draft_of, turn_of_draft
from playground.gateway.redact import MASK
from playground.jsonkit.merge import at_path, merged
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject, same
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session.session import Session

_DEEP: Final = 100  # levels of objects that are split by origin


@dataclass(frozen=True)
class Edited:
    """The settings, transcript and draft after an edit. ``notes`` are sentences for people."""

    model: str
    parameters: Parameters
    tools: tuple[ToolDefinition, ...]
    extra_body: JSONObject
    transcript: Transcript
    draft: Draft
    notes: tuple[str, ...] = ()
    changed: bool = False


def read_edit(session: Session, text: str) -> Edited:
    """Return the meaning of an edited body. Raises ValueError, in words for people."""
    if session.state is not RunState.IDLE:
        raise ValueError("A run is under way. Stop it first.")
    body = _read_object(text)
    typed = session.next_request.to_add()
    request = session.next_request.build(*typed)
    protocol = get_protocol(session.settings.protocol)
    if MASK in text and MASK not in json.dumps(protocol.encode(request), ensure_ascii=False):
        raise ValueError(
            f"This request contains a secret, and {MASK} is shown in its place. Remove it from the messages first."
        )
    panels = protocol.encode(request, extras=False)
    split = unmerge_body(body, panels, request.inherited_body, session.settings.extra_body)
    notes = _check_members(body, split, request)
    read, read_notes = protocol.read_body(split.panels)
    before, _ = protocol.read_body(panels)
    settled = _settle(session, body, split, request, read, before)
    notes = [*notes, *read_notes]
    if secret := secret_in(settled.extra_body):
        raise ValueError(f"“{secret}” looks like a key. Keys belong into the gateway's settings, where the keyring is.")
    if added := [name for name in settled.extra_body if name not in session.settings.extra_body]:
        notes.append(f"Kept in the extra body: {', '.join(added)}.")
    transcript, draft_turns = _edit_turns(session, typed, request, read, before)
    draft = session.draft
    if draft_turns != typed:
        draft = draft_of(draft_turns[0]) if draft_turns else Draft()
        notes += [] if draft_turns else ["The message being written is taken out of the composer."]
    if names := _lost_variables(session.transcript, transcript):
        notes.append(f"Messages that differ now hold values instead of variables: {names}.")
    settings = session.settings
    extra_body = settings.extra_body if same(settled.extra_body, settings.extra_body) else settled.extra_body
    edited = Edited(
        model=read.model if read.model != before.model else settings.model,
        parameters=settled.parameters,
        tools=_edit_tools(settings.tools, read, before),
        extra_body=extra_body,
        transcript=transcript,
        draft=draft,
        notes=tuple(notes),
    )
    old = (settings.model, settings.current, settings.tools, settings.extra_body)
    changed = transcript is not session.transcript or draft != session.draft
    changed = changed or (edited.model, edited.parameters, edited.tools, edited.extra_body) != old
    return replace(edited, changed=changed)


def apply_edit(session: Session, edited: Edited) -> None:
    """Apply an edit; the turns change in one step of the undo history."""
    session.change(model=edited.model)
    session.set_parameters(edited.parameters)
    session.change(tools=edited.tools)
    session.change(extra_body=edited.extra_body)
    if edited.transcript is not session.transcript:
        session.turns.rewrite(edited.transcript)
    session.with_draft(edited.draft)


def _read_object(text: str) -> JSONObject:
    try:
        value: JSON = parse_json(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"Line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except ValueError as error:
        raise ValueError(f"This is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ValueError("A request body is one JSON object.")
    return value


def _check_members(body: JSONObject, split: SplitBody, request: Request) -> list[str]:
    """Return notes on the members of a body, and set a model that is missing.

    Raises ValueError for a body without messages.
    """
    protocol = get_protocol(request.protocol)
    notes = [f"“{name}” comes from the gateway's settings and can only be removed there." for name in split.stuck]
    if (messages := protocol.conversation[-1]) not in split.panels:
        raise ValueError(f"“{messages}” is missing. Leave an empty list for a request without any.")
    if "model" not in split.panels and "model" not in split.extra:
        notes.append("A request always names a model: choose another one, or none, at the top.")
        split.panels["model"] = request.model
    required = ((hint.path or name, hint.instead) for name, hint in protocol.parameters_type.hints())
    notes += [
        f"The protocol requires “{name}”: {instead} is sent anyway."
        for name, instead in required
        if instead is not None and name not in body
    ]
    notes += [f"“{'.'.join(path)}”: {words}." for path, words in protocol.oddities(body)]
    return notes


# ---- settings --------------------------------------------------------------------------------------------------------


@dataclass
class SplitBody:
    """The parts of a body that belong to the panels and to the experiment's extra body.

    ``stuck`` are the dotted names of members that the edit removes although the gateway's settings set them.
    """

    panels: JSONObject
    extra: JSONObject
    stuck: list[str]


def unmerge_body(
    body: JSONObject, panels: JSONObject, inherited: JSONObject, own: JSONObject, parents: tuple[str, ...] = ()
) -> SplitBody:
    """Split a body, the reverse of merging: before the edit it was ``panels``, ``inherited`` and ``own``, merged.

    Members set by an extra body remain there, because it wins over the panels, whose values below it remain, too.
    """
    split = SplitBody({}, {}, [])
    for name in dict.fromkeys((*body, *panels, *inherited, *own)):
        below, value, path = panels.get(name), body.get(name), (*parents, name)
        if name not in inherited and name not in own:
            if name in body:
                split.panels[name] = value
            continue
        if name not in body:
            if name in inherited:
                split.stuck.append(".".join(path))
                if name in panels:
                    split.panels[name] = below
            continue
        inherited_value, own_value = inherited.get(name, {}), own.get(name, {})
        if isinstance(value, dict) and isinstance(inherited_value, dict) and len(path) < _DEEP:
            own_object = own_value if isinstance(own_value, dict) else {}
            inner = unmerge_body(value, below if isinstance(below, dict) else {}, inherited_value, own_object, path)
            split.stuck += inner.stuck
            if inner.panels or name in panels:
                split.panels[name] = inner.panels if inner.panels or isinstance(below, dict) else below
            is_missing = not isinstance(split.panels.get(name), dict) and name not in inherited
            if inner.extra or (own_value == {} and name in own) or is_missing:
                split.extra[name] = inner.extra
            continue
        if name in panels:
            split.panels[name] = below
        layers = ({name: layer[name]} if name in layer else {} for layer in (panels, inherited, own))
        before: JSONObject = {}
        for layer in layers:
            before = merged(before, layer)
        if not same(value, before.get(name)):
            split.extra[name] = value
        elif name in own:
            split.extra[name] = own_value
    return split


def _settle(
    session: Session, body: JSONObject, split: SplitBody, request: Request, read: Request, before: Request
) -> Request:
    """Return the request with the edited parameters and extra body, without turns and tools."""
    unread = {name: value for name, value in read.extra_body.items() if not _is_unchanged(name, value, before)}
    extra = merged(split.extra, unread)
    parameters = _edit_parameters(session.settings.current, read, before)
    settled = request.model_copy(update={"turns": (), "tools": (), "parameters": parameters, "extra_body": extra})
    settled = settled.model_copy(update={"parameters": _without_new_members(settled, body)})
    # Members that the parameters would not send with the edited value go into the extra body.
    protocol = get_protocol(request.protocol)
    sent = protocol.encode(settled)
    skipped = {"model", *protocol.conversation, "tools", *(path.split(".")[0] for path in split.stuck)}
    rest = {name: value for name, value in body.items() if name not in skipped and not same(sent.get(name), value)}
    return settled.model_copy(update={"extra_body": merged(extra, rest)})


def _is_unchanged(name: str, value: JSON, before: Request) -> bool:
    """Return whether the panels send an unreadable member with this value."""
    return name in before.extra_body and same(before.extra_body[name], value)


def _edit_parameters(own: Parameters, read: Request, before: Request) -> Parameters:
    """Return the parameters with the edited values only, so that values not sent now are kept.

    Values of a wrong type are read back into the extra body, although they belong to the panel.
    """
    full = own.to_wire({hint.needs: True for _, hint in own.hints() if hint.needs})
    unread = {name: value for name, value in before.extra_body.items() if name in full}
    removed = [name for name, value in unread.items() if not _is_unchanged(name, value, read)]
    edited = own
    if removed:
        rest = type(own).from_wire({name: value for name, value in full.items() if name not in removed})
        edited = rest.set_by_hand(name for name in rest.by_hand if not own.is_ours(name))
    for name, path in own.places().items():
        old, new = getattr(before.parameters, name), getattr(read.parameters, name)
        is_lost = path[0] in removed and not same(getattr(edited, name), new)
        if is_lost or not same(old, new):
            edited = edited.with_value(name, new, by_hand=not own.is_ours(name) or not same(old, new))
    return edited


def _without_new_members(settled: Request, body: JSONObject) -> Parameters:
    """Return the parameters without those that the edit would newly send and that are not in the edited body."""
    parameters = settled.parameters
    wire, places = settled.settings(), parameters.places()
    for name, hint in type(parameters).hints():
        if hint.needs and at_path(wire, places[name]) is not None and at_path(body, places[name]) is None:
            parameters = parameters.with_value(name, None)
    return parameters


def _edit_tools(own: tuple[ToolDefinition, ...], read: Request, before: Request) -> tuple[ToolDefinition, ...]:
    """Return the definitions in their order; disabled and unreadable ones are kept."""
    if [tool.offer for tool in read.tools] == [tool.offer for tool in before.tools]:
        return own
    new_tools = list(read.tools)
    tools: list[ToolDefinition] = []
    for tool in own:
        if not tool.sendable:
            tools.append(tool)
            continue
        new = next((candidate for candidate in new_tools if candidate.name == tool.name), None)
        if new is not None:
            new_tools.remove(new)
            fields = {"description": new.description, "parameters": new.parameters, "strict": new.strict}
            tools.append(tool if new.offer == tool.offer else tool.model_copy(update={**fields, "text": None}))
    return (*tools, *new_tools)


# ---- turns -----------------------------------------------------------------------------------------------------------


def _edit_turns(
    session: Session, typed: tuple[Turn, ...], request: Request, read: Request, before: Request
) -> tuple[Transcript, tuple[Turn, ...]]:
    """Return the transcript with the edited turns, and the turns for the composer.

    Turns with another content are replaced; inserted or removed turns make a branch. ``typed`` are the turns in the
    composer, at the end of the request. They return there unless they are no longer last or no longer fit.
    """
    transcript = session.transcript
    if [_content(turn) for turn in read.turns] == [_content(turn) for turn in before.turns]:
        return transcript, typed
    new_turns = list(_match_turns(session, request.turns, read.turns, before.turns))
    draft_turns: tuple[Turn, ...] = ()
    own_turns = request.turns[: len(request.turns) - len(typed)]
    if typed and new_turns and new_turns[-1].id == typed[0].id:
        last = new_turns[-1]
        if last is request.turns[-1] or _fits_composer(last):
            new_turns.pop()
            draft_turns = typed if last is request.turns[-1] else (last,)
    if [turn.id for turn in new_turns] == [turn.id for turn in own_turns]:
        for old, new in zip(own_turns, new_turns, strict=True):
            transcript = transcript.replace(new) if new is not old else transcript
        return transcript, draft_turns
    stem = 0
    while stem < min(len(new_turns), len(own_turns)) and new_turns[stem] is own_turns[stem]:
        stem += 1
    branch = transcript.truncate_after(own_turns[stem - 1].id if stem else None)
    stored = {**transcript.turns, **{turn.id: turn for turn in typed}}
    with_variables = {id(turn): stored[turn.id] for turn in request.turns}  # the request has their values
    rest = [with_variables.get(id(turn), turn) for turn in new_turns[stem:]]
    return branch.append(*(turn.model_copy(update={"id": new_id()}) for turn in rest)), draft_turns


def _fits_composer(turn: Turn) -> bool:
    """Return whether the composer can hold the content of a turn."""
    rewritten = turn_of_draft(draft_of(turn), Transcript())
    return rewritten is not None and [_fields(part) for part in rewritten.parts] == [_fields(p) for p in turn.parts]


def _lost_variables(before: Transcript, after: Transcript) -> str:
    """Return the variables that an edit replaced by their values."""
    pairs = [(turn, after.turns[key]) for key, turn in before.turns.items() if after.turns[key] is not turn]
    names = [name for old, new in pairs for name in names_in([old]) if name not in names_in([new])]
    return ", ".join(map(as_written, dict.fromkeys(names)))


def _match_turns(
    session: Session, turns: tuple[Turn, ...], read: tuple[Turn, ...], before: tuple[Turn, ...]
) -> Iterator[Turn]:
    """Yield the turns that were read, each replaced by the experiment's turn with the same content or position.

    ``before`` are ``turns`` encoded and read back. If the protocol merges turns, only unchanged turns at the beginning
    can be matched.
    """
    if len(before) != len(turns):
        stem = _unchanged_stem(session, turns, read)
        yield from turns[:stem]
        yield from read[len(_read_back(session, turns[:stem])) :]
        return
    rules = session.next_request.build(tip=None).rules
    roles = {rule.field: rule.to for rule in rules if rule.kind is AdaptationKind.ROLE}
    old_contents, new_contents = [_content(turn) for turn in before], [_content(turn) for turn in read]
    for op, i, j, k, m in SequenceMatcher(None, old_contents, new_contents, autojunk=False).get_opcodes():
        if op == "equal":
            yield from turns[i:j]
        elif op == "replace" and j - i == m - k:
            for old, old_read, new in zip(turns[i:j], before[i:j], read[k:m], strict=True):
                same_role = old.role is new.role or roles.get(old.role) == new.role
                yield _with_content(old, old_read, new, session.settings.protocol) if same_role else new
        else:
            yield from read[k:m]


def _unchanged_stem(session: Session, turns: tuple[Turn, ...], read: tuple[Turn, ...]) -> int:
    """Return the number of turns that are unchanged at the beginning of ``read``."""
    low, high = 0, len(turns)
    contents = [_content(turn) for turn in read]
    while low < high:
        middle = (low + high + 1) // 2
        stem = [_content(turn) for turn in _read_back(session, turns[:middle])]
        low, high = (middle, high) if stem == contents[: len(stem)] else (low, middle - 1)
    return low


def _read_back(session: Session, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    protocol = get_protocol(session.settings.protocol)
    request = session.next_request.build().model_copy(update={"turns": turns})
    return protocol.read_body(protocol.encode(request, extras=False))[0].turns


def _with_content(turn: Turn, old: Turn, new: Turn, protocol: str) -> Turn:
    """Return a turn with the content of ``new``; ``old`` is the turn as the request had it.

    Parts that the request does not carry (reasoning, say) are kept.
    """
    has_reasoning = any(part.kind == "reasoning" for part in old.parts)
    unsent = [] if has_reasoning else [part for part in turn.parts if part.kind == "reasoning"]
    parts = [_with_record(turn, part, protocol) for part in new.parts]
    # Members received with the answer remain in ``extra``, or are removed from it.
    received = {name: value for name, value in old.members.items() if name not in turn.members}
    members = {
        name: value for name, value in new.members.items() if name not in received or not same(value, received[name])
    }
    removed = received.keys() - new.members.keys()
    extra = {
        name: {key: value for key, value in inner.items() if name != protocol or key not in removed}
        for name, inner in turn.extra.items()
    }
    update = {"parts": (*unsent, *parts), "members": members, "extra": {k: v for k, v in extra.items() if v}}
    return turn.model_copy(update=update)


def _with_record(turn: Turn, new: Part, protocol: str) -> Part:
    """Return a part with what the turn's version of it records: received arguments, source and time of a result."""
    if isinstance(new, ToolCall):
        old = next((call for call in turn.calls if call.id == new.id), None)
        if old is not None:
            extra = _with_other_protocols(new.extra, old.extra, protocol)
            if same(_read_arguments(old.arguments), _read_arguments(new.arguments)) and old.name == new.name:
                return old if extra == old.extra else old.model_copy(update={"extra": extra})
            original = old.arguments if old.received is None else old.received
            received = original if turn.outcome is not None and original != new.arguments else None
            return new.model_copy(update={"received": received, "id_is_ours": old.id_is_ours, "extra": extra})
    if isinstance(new, ToolResult):
        result = next((result for result in turn.results if result.call_id == new.call_id), None)
        if result is not None:
            by = result.by if result.text == new.text else "you"
            return result.model_copy(update={"text": new.text, "is_error": new.is_error, "by": by})
    if isinstance(new, Text):
        texts = [part for part in turn.parts if isinstance(part, Text)]
        text = next((part for part in texts if part.text == new.text), texts[0] if len(texts) == 1 else None)
        if text is None:
            return new
        return new.model_copy(update={"extra": _with_other_protocols(new.extra, text.extra, protocol)})
    return next((old for old in turn.parts if _fields(old) == _fields(new)), new)


def _with_other_protocols(new: Extra, old: Extra, protocol: str) -> Extra:
    """Return members of a part with the old ones of other protocols, which a request does not carry."""
    return {**{name: members for name, members in old.items() if name != protocol}, **new}


def _read_arguments(arguments: str) -> JSON:
    """Return arguments as a value, because a protocol may format them."""
    try:
        return parse_json(arguments or "{}")
    except ValueError:
        return arguments


def _content(turn: Turn) -> str:
    """Return the content of a turn as text, to be compared."""
    return json.dumps([turn.role.value, turn.members, *(_fields(part) for part in turn.parts)])


def _fields(part: Part) -> JSONObject:
    fields = part.model_dump(mode="json", exclude={"received", "by", "seconds", "id_is_ours"})
    return {**fields, "name": None} if part.kind == "image" else fields
