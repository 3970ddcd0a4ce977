"""The next request field by field, with the origin of each field, and the notes of the parameters' panel.

Nothing is sent or changed here; ``edit`` reads edits by hand. A mask replaces each secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from playground.domain.adaptations import Adaptation, AdaptationKind, effective
from playground.domain.parameters import Hint
from playground.domain.request import Request
from playground.engine.gateways.profiles import DEMO_IS_OFF, Profile, connection
from playground.engine.gateways.redaction import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.requests.capability_warnings import capability_warnings
from playground.engine.requests.protocol_info import renamed_call_ids
from playground.engine.session.request_executor import plain_settings
from playground.gateway.address import resolve
from playground.gateway.prepared_request import prepare_request
from playground.gateway.redact import MASK, Redactor
from playground.jsonkit.layout import INDENTED
from playground.jsonkit.merge import MemberPath, at_path, holds
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.oddities import Oddity
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session.session import Session

CUT_FROM: Final = 300_000  # characters of long texts; above, they are shortened
CUT_DATA_FROM: Final = 4_000_000  # characters of images; above, they are shortened
LONG_TEXT, LONG_SHOWN = 20_000, 1_000
MOST_VALUES: Final = 100_000  # objects, lists and values; below the level with more, only their numbers are shown
_PLACEHOLDER: Final = "PLACEHOLDER"
_DEEP: Final = 100  # levels whose members have rows of their own
_PLACES: Final = {"model": "tool bar", "tools": "Tools"}
_REASONS: Final = {
    AdaptationKind.OMIT: "this gateway does not take it",
    AdaptationKind.REPLACE: "this gateway does not accept it as set",
    AdaptationKind.RENAME: "this gateway takes it under that name",
    AdaptationKind.ROLE: "this gateway does not take that role",
}


class Origin(StrEnum):
    """The origin of a field, in words for people."""

    DEFAULT = "default"  # absent, so the gateway decides; or a value that the protocol requires
    SET = "set"  # in a panel, or in the conversation
    INHERITED = "inherited"  # from the gateway's settings
    EXTRA = "extra"  # from the experiment's extra body or headers
    RULE = "rule"  # a rule for the gateway changes a setting or leaves it out
    OURS = "the program's own"  # in every request or every new experiment


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field of the body.

    ``name`` has dots for a member inside an object, ``path`` its members. ``place`` is the panel where a field is set.
    ``odd`` is a problem, ``note`` any further remark.
    """

    name: str
    value: JSON
    origin: Origin
    label: str = ""
    note: str = ""
    path: MemberPath = ()
    place: str = ""
    odd: str = ""


@dataclass(frozen=True, slots=True)
class HeaderRow:
    """A header, its value masked if it is secret."""

    name: str
    value: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class RequestView:
    """The next request.

    ``fields`` are in the order of the body, followed by absent ones (value None). ``text`` is the formatted body.
    ``rules`` is the number of the gateway's rules that change it. ``problem`` is the reason why it cannot be sent (then
    ``text`` may be empty) or why its address is unknown. ``cut``: long texts are shortened, deep objects are counted.
    """

    method: str = "POST"
    url: str = ""
    headers: tuple[HeaderRow, ...] = ()
    fields: tuple[FieldRow, ...] = ()
    text: str = ""
    problem: str = ""
    cut: bool = False
    rules: int = 0


def request_view(session: Session, known_secrets: Iterable[Secret] = (), *, whole_text: bool = False) -> RequestView:
    """Return the request that a run would send now, including the composer's text, with ``known_secrets`` masked.

    With ``whole_text`` only the uncut text is in it.
    """
    request, profile = session.next_request.build(*session.next_request.to_add()), session.profile
    redactor = redactor_of(known_secrets)
    try:
        body = get_protocol(request.protocol).encode(request)
        if whole_text:
            return RequestView(text=redactor.text(_formatted(body)))
        body, cut = _shortened_body(body, redactor)
        formatted = _formatted(body)
        text = redactor.text(formatted)
        if text != formatted:
            body = loads(text)
    except (ValueError, RecursionError) as error:
        return RequestView(problem=f"The request cannot be written: {error}")
    fields = _Fields(request, capability_warnings(request, session.facts(request.model)))
    url, headers, problem = _envelope(profile, request, redactor)
    return RequestView("POST", url, headers, tuple(fields.rows(body)), text, problem, cut, fields.changes)


def parameter_notes(session: Session) -> dict[str, str]:
    """Return the problems of each field in the parameters' panel, a line each, by the name of the field."""
    request = session.next_request.build(tip=None)  # without turns: the notes are about settings
    protocol, parameters = get_protocol(request.protocol), request.parameters
    try:
        body = protocol.encode(request)
    except (ValueError, RecursionError):
        return {}
    oddities = (*protocol.oddities(body), *capability_warnings(request, session.facts(request.model)))
    rules = [rule for rule in effective_rules(request) if rule.kind is not AdaptationKind.ROLE]
    notes: dict[str, str] = {}
    for name, path in type(parameters).places().items():
        phrases = [oddity.words for oddity in oddities if oddity.is_about(path)]
        if getattr(parameters, name) is not None:
            if holds(request.extra_body, path):
                phrases.insert(0, "overridden by an extra field")
            elif holds(request.inherited_body, path):
                phrases.insert(0, "the gateway's settings say otherwise, and win")
            for rule in rules:
                target = tuple(rule.field.split("."))
                if _is_overruled(request, rule):
                    continue
                if path[: len(target)] == target:
                    phrases.append(_reason(rule))
                elif target[: len(path)] == path:
                    phrases.append(rule.words)
        if phrases:
            notes[name] = "\n".join(phrases)
    return notes


# ---- rules of the gateway --------------------------------------------------------------------------------------------


def effective_rules(request: Request) -> tuple[Adaptation, ...]:
    """Return the rules that change a request, in order. Raises ValueError if it cannot be encoded."""
    return effective(plain_settings(request), request.rules) if request.rules else ()


def _reason(rule: Adaptation) -> str:
    """Return the change of a rule, its reason and its date."""
    change = f"“{rule.field}” is {rule.deed}" if rule.kind is AdaptationKind.ROLE else rule.deed
    return f"{change}: {_REASONS[rule.kind]}{f' · learnt {rule.learnt}' if rule.learnt else ''}"


def _is_overruled(request: Request, rule: Adaptation) -> bool:
    """Return whether an extra body, which wins, sets the field of a rule again."""
    path: MemberPath = tuple(rule.field.split("."))
    extras = (request.extra_body, request.inherited_body)
    return rule.kind is not AdaptationKind.ROLE and any(holds(extra, path) for extra in extras)


# ---- the body, capped ------------------------------------------------------------------------------------------------


def _formatted(body: JSON) -> str:
    return "".join(INDENTED.iterencode(body))


def _shortened_body(body: JSONObject, redactor: Redactor) -> tuple[JSONObject, bool]:
    """Return a body without what is too much to look at, and whether it was shortened."""
    deepest = _deepest_level(body)
    texts = images = 0
    for text in _long_texts(body):
        if text.startswith("data:"):
            images += len(text)
        else:
            texts += len(text)
    if deepest is None and texts <= CUT_FROM and images <= CUT_DATA_FROM:
        return body, False
    return _shortened(body if deepest is None else _flattened(body, deepest), redactor), True


def _long_texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) > LONG_TEXT:
            yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _long_texts(inner)


def _deepest_level(body: JSON) -> int | None:
    """Return the level below which the values are too many to look at; None if they are few enough."""
    level, count, depth = [body], 0, 0
    while level:
        count += len(level)
        if count > MOST_VALUES:
            return depth - 1
        inner: list[JSON] = []
        for value in level:
            inner += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        level, depth = inner, depth + 1
    return None


def _flattened(value: JSON, levels: int) -> JSON:
    """Return a value with the number of members in the place of objects and lists below that many levels."""
    if not isinstance(value, dict | list) or not value:
        return value
    if levels <= 0:
        singular, plural = ("member", "members") if isinstance(value, dict) else ("item", "items")
        return f"… ‹{len(value):,} {singular if len(value) == 1 else plural}›"
    if isinstance(value, dict):
        return {name: _flattened(inner, levels - 1) for name, inner in value.items()}
    return [_flattened(inner, levels - 1) for inner in value]


def _shortened(value: Any, redactor: Redactor) -> Any:
    """Return a value with only the beginning of its long texts."""
    if isinstance(value, str):
        if len(value) <= LONG_TEXT:
            return value
        return f"{redactor.front(value, LONG_SHOWN)}… ‹{len(value):,} characters›"
    if isinstance(value, dict):
        return {name: _shortened(inner, redactor) for name, inner in value.items()}
    return [_shortened(inner, redactor) for inner in value] if isinstance(value, list) else value


# ---- rows ------------------------------------------------------------------------------------------------------------


class _Fields:
    """The rows of a request. An object has one row unless its members have fields or origins of their own."""

    def __init__(self, request: Request, warnings: tuple[Oddity, ...]) -> None:
        self._warnings = warnings
        self._protocol, self._parameters = get_protocol(request.protocol), request.parameters
        self._places = {**_PLACES, **dict.fromkeys(self._protocol.conversation, "turns")}
        self._extras = ((request.extra_body, Origin.EXTRA), (request.inherited_body, Origin.INHERITED))
        settings = request.model_copy(update={"turns": ()})
        self._panels = self._protocol.encode(settings, extras=False)
        self._rules = effective_rules(request)
        self._overruled = {rule.field for rule in self._rules if _is_overruled(request, rule)}
        about_turns = (renamed_call_ids(request.protocol, request.turns), self._protocol.withheld(request))
        self._about_turns = "; ".join(filter(None, about_turns))
        places = type(self._parameters).places()
        self._hints = {places[name]: (name, hint) for name, hint in type(self._parameters).hints()}
        self._roots = {path[0] for path in self._hints if len(path) > 1}  # objects whose members have fields

    @property
    def changes(self) -> int:
        """The number of rules that change the request; an extra body wins over a rule."""
        return sum(rule.field not in self._overruled for rule in self._rules)

    def rows(self, body: JSONObject) -> Iterator[FieldRow]:
        """Yield the fields in the order of the body, then those left out by a rule or by default."""
        present: set[MemberPath] = set()
        oddities = (*self._protocol.oddities(body), *self._warnings)
        for name, value in body.items():
            for row in self._member_rows((name,), value):
                present.add(row.path)
                problems = [oddity.words for oddity in oddities if oddity.is_about(row.path)]
                about = self._about_turns if row.path == self._protocol.conversation[-1:] else ""
                odd = "; ".join(filter(None, (row.odd, *problems)))
                yield replace(_with_note(self._with_rules(row), about), odd=odd)
        for rule in self._rules:
            path = tuple(rule.field.split("."))
            is_absent = rule.kind in (AdaptationKind.OMIT, AdaptationKind.RENAME) and at_path(body, path) is None
            if is_absent and path not in present:
                present |= {path, *(inner for inner in self._hints if inner[: len(path)] == path)}
                label = self._hints[path][1].label if path in self._hints else ""
                yield FieldRow(rule.field, None, Origin.RULE, label, _reason(rule), path)
        for path, (name, hint) in self._hints.items():
            if path not in present and not hint.deprecated:
                note = self._parameters.note(name)
                yield FieldRow(".".join(path), None, Origin.DEFAULT, hint.label, note, path)
        if "tools" not in body:
            yield FieldRow("tools", None, Origin.DEFAULT, "Tools", path=("tools",))

    def _with_rules(self, row: FieldRow) -> FieldRow:
        """Return the row of a sent field with the effects of the rules."""
        for rule in self._rules:
            path = tuple(rule.field.split("."))
            is_inside, is_around = row.path[: len(path)] == path, row.path == path[: len(row.path)]
            if rule.kind is AdaptationKind.ROLE:
                if row.path[:1] == self._protocol.conversation[-1:]:
                    row = _with_note(row, _reason(rule))
            elif rule.field in self._overruled:
                if is_inside or is_around:
                    words = f"gateway rule: {rule.deed}; the edited value wins"
                    row = _with_note(row, words)
            elif rule.kind is AdaptationKind.REPLACE and is_inside:
                row = replace(row, origin=Origin.RULE, place="", note=_reason(rule))
            elif rule.kind is AdaptationKind.RENAME and row.path == (*path[:-1], str(rule.to)):
                row = replace(row, origin=Origin.RULE, place="", note=f"set as {rule.field}; {_reason(rule)}")
            elif is_around:
                row = _with_note(row, f"{rule.field} is {_reason(rule)}")
        return row

    def _member_rows(self, path: MemberPath, value: JSON) -> list[FieldRow]:
        has_fields = len(path) == 1 and path[0] in self._roots
        is_mixed = any(isinstance(at_path(extra, path), dict) for extra, _ in self._extras)
        if not (isinstance(value, dict) and value and (has_fields or is_mixed) and len(path) < _DEEP):
            return [self._row(path, value)]
        rows = [row for name, inner in value.items() for row in self._member_rows((*path, name), inner)]
        if has_fields or len({row.origin for row in rows}) > 1:
            return rows
        note = next((row.note for row in rows if row.note), "")
        return [replace(self._row(path, value), origin=rows[0].origin, place=rows[0].place, note=note)]

    def _row(self, path: MemberPath, value: JSON) -> FieldRow:
        name, hint = self._hints.get(path, ("", None))
        label = hint.label if hint is not None else ""
        if hint is None and len(path) == 1 and path[0] in self._places:
            label = path[0].capitalize()
        deciding = [origin for extra, origin in self._extras if holds(extra, path)]
        panel_origin = self._panel_origin(name, hint)
        origin = deciding[0] if deciding else panel_origin
        note = odd = ""
        if len(deciding) > 1:
            note = "replaces the value from the gateway's settings"
        elif deciding and at_path(self._panels, path) is not None:
            is_set = panel_origin is Origin.SET
            note = f"replaces {f'what is set under {self._place(path)}' if is_set else Origin.OURS}"
        elif name and origin is Origin.DEFAULT:
            note = self._parameters.note(name)
        elif name and origin is Origin.SET:
            odd = self._parameters.flag(name)
        place = self._place(path) if origin is Origin.SET else ""
        return FieldRow(".".join(path), value, origin, label, note, path, place, odd)

    def _panel_origin(self, name: str, hint: Hint | None) -> Origin:
        """Return the origin of a field below the extra bodies."""
        if hint is None:
            return Origin.SET
        if hint.instead is not None and getattr(self._parameters, name) is None:
            return Origin.DEFAULT
        return Origin.OURS if self._parameters.is_ours(name) else Origin.SET

    def _place(self, path: MemberPath) -> str:
        """Return the place in the window where a field is set."""
        groups = [hint.group for place, (_, hint) in self._hints.items() if place[: len(path)] == path[: len(place)]]
        return self._places.get(path[0]) or ("Output" if groups[:1] == ["Output"] else "Parameters")


def _with_note(row: FieldRow, note: str) -> FieldRow:
    return replace(row, note="; ".join(filter(None, (row.note, note)))) if note else row


def _envelope(profile: Profile | None, request: Request, redactor: Redactor) -> tuple[str, tuple[HeaderRow, ...], str]:
    """Return address, headers and an empty text; or the reason why they are unknown in the place of the text."""
    if profile is None:
        return "", (), ""
    if profile.demo and not profile.base_url:
        return "", (), DEMO_IS_OFF
    empty = request.model_copy(update={"turns": (), "tools": ()})  # address and headers do not depend on them
    key = Secret(_PLACEHOLDER) if profile.key_origin or profile.demo else None
    secrets = {name: Secret(_PLACEHOLDER) for name in profile.secret_headers}
    try:
        prepared = prepare_request(
            connection(profile, key, secrets), resolve(profile.base_url), get_protocol(request.protocol), empty
        )
    except ValueError as error:
        return "", (), redactor.text(str(error))
    own = {name.lower() for name in request.extra_headers}
    inherited = {name.lower() for name in (*profile.headers, *profile.secret_headers)}
    rows = []
    for name, value in prepared.headers:
        lowered = name.lower()
        if lowered in own:
            rows.append(HeaderRow(name, redactor.text(value), Origin.EXTRA))
        else:
            origin = Origin.INHERITED if lowered in inherited else Origin.OURS
            rows.append(HeaderRow(name, redactor.header(name, value.replace(_PLACEHOLDER, MASK)), origin))
    return redactor.text(prepared.url), tuple(rows), ""
