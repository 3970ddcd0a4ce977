"""What the next run will send, field by field, and where each field comes from.

Nothing is sent and nothing is changed here; see ``request_edit`` for edits by hand. No secret is in it: where one will
stand, there is a mask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from playground.domain.adaptations import AdaptationKind
from playground.domain.parameters import Hint
from playground.domain.request import Request
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.profiles import DEMO_IS_OFF, Profile, connection
from playground.engine.gateways.secrets import Secret
from playground.engine.requests import renamed_ids
from playground.engine.requests.rules import overruled, reason, rules_at_work
from playground.engine.requests.told_flags import told_flags
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

CUT_FROM: Final = 300_000  # characters of long texts from which on they are shortened
CUT_DATA_FROM: Final = 4_000_000  # the same of images: laying out and folding more of them holds every other thread
LONG_TEXT, LONG_SHOWN = 20_000, 1_000
MOST_VALUES: Final = 100_000  # objects, lists and what is in them that are laid out
_STAND_IN: Final = "STAND-IN"
_DEEP: Final = 100  # levels whose members are told apart
_PLACES: Final = {"model": "tool bar", "tools": "Tools"}


class Origin(StrEnum):
    """Where a field comes from, in words for people."""

    DEFAULT = "default"  # absent, and the gateway decides; or what is sent because the protocol requires a value
    SET = "set"  # in a panel, or in the conversation
    INHERITED = "inherited"  # from the gateway's settings
    EXTRA = "extra"  # from the experiment's extra body or headers
    RULE = "rule"  # one for this gateway changes what a panel or the conversation says, or leaves it out
    OURS = "the program's own"  # what nobody set: a new experiment begins with it, or every request has it


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field of the body. ``odd`` says what is odd about it, ``note`` whatever else there is to say.

    ``name`` has dots where it stands inside another, ``path`` is the way there. ``place`` says where a field that is
    set was set.
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
    """One header, its value masked where it is secret."""

    name: str
    value: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class RequestView:
    """The request as it would go out now.

    ``fields`` are in the order of the body, then those that are absent (value None). ``rules`` is how many rules for
    the gateway change something about it. ``text`` is the body laid
    out. ``problem`` says why it cannot go out (then ``text`` may be empty), or why the address is not known yet.
    ``cut`` says that long texts are in it by their beginning only, and objects by how many members they have, since all
    of it would be too much to look at.
    """

    method: str = "POST"
    url: str = ""
    headers: tuple[HeaderRow, ...] = ()
    fields: tuple[FieldRow, ...] = ()
    text: str = ""
    problem: str = ""
    cut: bool = False
    rules: int = 0


def request_view(session: Session, known: Iterable[Secret] = (), *, whole: bool = False) -> RequestView:
    """What a run would send now, with what stands in the composer. ``whole``: all of its text, and nothing else.

    ``known`` are the secrets that this process has: each is masked wherever it stands.
    """
    request, profile = session.next_request.build(*session.next_request.to_add()), session.profile
    redactor = redactor_of(known)
    try:
        body = get_protocol(request.protocol).encode(request)
        if whole:
            return RequestView(text=redactor.text(_laid_out(body)))
        deepest = _deepest(body)
        cut = deepest is not None or _is_much(body)
        body = _shortened(body if deepest is None else _shallow(body, deepest), redactor) if cut else body
        written = _laid_out(body)
        text = redactor.text(written)
        if text != written:  # else it would be read as it is: a long one in one call, which holds the window
            body = loads(text)
    except (ValueError, RecursionError) as error:
        return RequestView(problem=f"The request cannot be written: {error}")
    told = _Fields(request, told_flags(request, session.facts(request.model)))
    fields = tuple(told.rows(body))
    url, headers, problem = _envelope(profile, request, redactor)
    return RequestView("POST", url, headers, fields, text, problem, cut, told.changes)


def _laid_out(body: JSON) -> str:
    return "".join(INDENTED.iterencode(body))


def _is_much(body: JSON) -> bool:
    """Whether there is more of long texts, or of images, than is looked at whole."""
    texts = images = 0
    for text in _long(body):
        if text.startswith("data:"):
            images += len(text)
        else:
            texts += len(text)
    return texts > CUT_FROM or images > CUT_DATA_FROM


def _long(value: JSON) -> Iterator[str]:
    """The long texts in a value, and the addresses of data, which are images."""
    if isinstance(value, str):
        if len(value) > LONG_TEXT:
            yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _long(inner)


def _deepest(body: JSON) -> int | None:
    """The level below which too many values stand to be looked at; None where they are few enough."""
    level, seen, depth = [body], 0, 0
    while level:
        seen += len(level)
        if seen > MOST_VALUES:
            return depth - 1
        inner: list[JSON] = []
        for value in level:
            inner += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        level, depth = inner, depth + 1
    return None


def _shallow(value: JSON, deepest: int) -> JSON:
    """A value whose objects and lists on that level are told by the number of their members."""
    if not isinstance(value, dict | list) or not value:
        return value
    if deepest <= 0:
        one, many = ("member", "members") if isinstance(value, dict) else ("item", "items")
        return f"… ‹{len(value):,} {one if len(value) == 1 else many}›"
    if isinstance(value, dict):
        return {name: _shallow(inner, deepest - 1) for name, inner in value.items()}
    return [_shallow(inner, deepest - 1) for inner in value]


def _shortened(value: Any, redactor: Redactor) -> Any:
    """A value with its long texts by their beginning; what has none is the same object."""
    if isinstance(value, str):
        if next(_long(value), None) is None:
            return value
        return f"{redactor.front(value, LONG_SHOWN)}… ‹{len(value):,} characters›"
    if isinstance(value, dict):
        return {name: _shortened(inner, redactor) for name, inner in value.items()}
    return [_shortened(inner, redactor) for inner in value] if isinstance(value, list) else value


class _Fields:
    """Whose each field of one request is. An object is one row, unless its members are not all of one origin."""

    def __init__(self, request: Request, by_list: tuple[Oddity, ...]) -> None:
        self._by_list = by_list  # what does not go with what the gateway's list says
        self._protocol, self._parameters = get_protocol(request.protocol), request.parameters
        self._places = {**_PLACES, **dict.fromkeys(self._protocol.conversation, "turns")}
        self._extras = ((request.extra_body, Origin.EXTRA), (request.inherited_body, Origin.INHERITED))
        without = request.model_copy(update={"turns": ()})  # settings only
        self._beneath = self._protocol.encode(without, extras=False)
        self.rules = rules_at_work(request)
        self._renamed = renamed_ids.words(request.protocol, request.turns)
        self._overruled = {rule.field for rule in self.rules if overruled(request, rule)}
        places = type(self._parameters).places()
        self._hints = {places[name]: (name, hint) for name, hint in type(self._parameters).hints()}
        self._roots = {path[0] for path in self._hints if len(path) > 1}  # objects whose members have fields

    @property
    def changes(self) -> int:
        """How many rules change what is sent: what an extra body says wins over them."""
        return sum(rule.field not in self._overruled for rule in self.rules)

    def rows(self, body: JSONObject) -> Iterator[FieldRow]:
        """The fields in the order of the body, then those left at their default."""
        present: set[MemberPath] = set()
        oddities = (*self._protocol.oddities(body), *self._by_list)
        for name, value in body.items():
            for row in self._member((name,), value):
                present.add(row.path)
                about = [oddity.words for oddity in oddities if oddity.is_about(row.path)]
                told = self._with_ids(self._with_rule(row))
                yield replace(told, odd="; ".join(filter(None, (told.odd, *about)))) if about else told
        for rule in self.rules:
            path = tuple(rule.field.split("."))
            gone = rule.kind in (AdaptationKind.OMIT, AdaptationKind.RENAME) and at_path(body, path) is None
            if gone and path not in present:
                present |= {path, *(known for known in self._hints if known[: len(path)] == path)}
                label = self._hints[path][1].label if path in self._hints else ""
                yield FieldRow(rule.field, None, Origin.RULE, label, reason(rule), path)
        for path, (name, hint) in self._hints.items():
            if path not in present and not hint.deprecated:
                note = self._parameters.note(name)
                yield FieldRow(".".join(path), None, Origin.DEFAULT, hint.label, note, path)
        if "tools" not in body:
            yield FieldRow("tools", None, Origin.DEFAULT, "Tools", path=("tools",))

    def _with_rule(self, row: FieldRow) -> FieldRow:
        """A field that is sent, with what a rule has to do with it."""
        for rule in self.rules:
            path, name = tuple(rule.field.split(".")), row.path[:1]
            if rule.kind is AdaptationKind.ROLE:
                if name == self._protocol.conversation[-1:]:
                    row = replace(row, note="; ".join(filter(None, (row.note, reason(rule)))))
            elif rule.field in self._overruled:
                if row.path == path[: len(row.path)] or row.path[: len(path)] == path:
                    said = f"a rule of the gateway's settings has it {rule.deed}; what is written by hand wins"
                    row = replace(row, note="; ".join(filter(None, (row.note, said))))
            elif rule.kind is AdaptationKind.REPLACE and row.path[: len(path)] == path:
                row = replace(row, origin=Origin.RULE, place="", note=reason(rule))
            elif rule.kind is AdaptationKind.RENAME and row.path == (*path[:-1], str(rule.to)):
                row = replace(row, origin=Origin.RULE, place="", note=f"set as {rule.field}; {reason(rule)}")
            elif row.path == path[: len(row.path)]:  # something inside it
                row = replace(row, note="; ".join(filter(None, (row.note, f"{rule.field} is {reason(rule)}"))))
        return row

    def _with_ids(self, row: FieldRow) -> FieldRow:
        """The messages, with a note on ids of calls that are sent in another spelling."""
        if not self._renamed or row.path != self._protocol.conversation[-1:]:
            return row
        return replace(row, note="; ".join(filter(None, (row.note, self._renamed))))

    def _member(self, path: MemberPath, value: JSON) -> list[FieldRow]:
        has_fields = len(path) == 1 and path[0] in self._roots
        mixed = any(isinstance(at_path(extra, path), dict) for extra, _ in self._extras)
        if not (isinstance(value, dict) and value and (has_fields or mixed) and len(path) < _DEEP):
            return [self._row(path, value)]
        rows = [row for name, inner in value.items() for row in self._member((*path, name), inner)]
        if has_fields or len({row.origin for row in rows}) > 1:
            return rows
        note = next((row.note for row in rows if row.note), "")
        return [replace(self._row(path, value), origin=rows[0].origin, place=rows[0].place, note=note)]

    def _row(self, path: MemberPath, value: JSON) -> FieldRow:
        name, hint = self._hints.get(path, ("", None))
        if hint is not None:
            label = hint.label
        else:
            label = path[0].capitalize() if len(path) == 1 and path[0] in self._places else ""
        deciding = [origin for extra, origin in self._extras if holds(extra, path)]
        origin = deciding[0] if deciding else self._ours_or_set(name, hint)
        if len(deciding) > 1:
            note = "replaces the value from the gateway's settings"
        elif deciding and at_path(self._beneath, path) is not None:
            own = self._ours_or_set(name, hint) is not Origin.SET
            note = f"replaces {Origin.OURS if own else f'what is set under {self._place(path)}'}"
        else:
            note = self._parameters.note(name) if name and origin is Origin.DEFAULT else ""
        odd = self._parameters.flag(name) if name and origin is Origin.SET else ""
        place = self._place(path) if origin is Origin.SET else ""
        return FieldRow(".".join(path), value, origin, label, note, path, place, odd)

    def _ours_or_set(self, name: str, hint: Hint | None) -> Origin:
        if hint is None:
            return Origin.SET
        if hint.instead is not None and getattr(self._parameters, name) is None:
            return Origin.DEFAULT
        return Origin.OURS if self._parameters.is_ours(name) else Origin.SET

    def _place(self, path: MemberPath) -> str:
        """Where in the window it is set."""
        groups = [hint.group for known, (_, hint) in self._hints.items() if known[: len(path)] == path[: len(known)]]
        return self._places.get(path[0]) or ("Output" if groups[:1] == ["Output"] else "Parameters")


def _envelope(profile: Profile | None, request: Request, redactor: Redactor) -> tuple[str, tuple[HeaderRow, ...], str]:
    """Address and headers, or in words why they are not known."""
    if profile is None:
        return "", (), ""
    if profile.demo and not profile.base_url:
        return "", (), DEMO_IS_OFF
    request = request.model_copy(update={"turns": (), "tools": ()})  # the body is known: it is not written once more
    key = Secret(_STAND_IN) if profile.key_origin or profile.demo else None
    secrets = {name: Secret(_STAND_IN) for name in profile.secret_headers}
    try:
        going = prepare_request(
            connection(profile, key, secrets), resolve(profile.base_url), get_protocol(request.protocol), request
        )
    except ValueError as error:
        return "", (), redactor.text(str(error))
    own = {name.lower() for name in request.extra_headers}
    theirs = {name.lower() for name in (*profile.headers, *profile.secret_headers)}
    rows = []
    for name, value in going.headers:
        lowered = name.lower()
        origin = Origin.EXTRA if lowered in own else Origin.INHERITED if lowered in theirs else Origin.OURS
        shown = redactor.header(name, value.replace(_STAND_IN, MASK)) if lowered not in own else redactor.text(value)
        rows.append(HeaderRow(name, shown, origin))
    return redactor.text(going.url), tuple(rows), ""
