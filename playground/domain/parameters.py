"""Parameters as annotated fields: one field is the form row, the check, the help and the wire spelling.

A protocol's parameter model is a subclass of ``Parameters`` whose fields are all ``X | None`` with default
None: None means "default", and the field is absent from the body. A value outside the documented range is
kept and sent; ``flag`` says what is odd about it.

A new experiment begins with a few fields set by the program (``Hint.ours``). They are the program's own until a person
sets them: ``is_ours`` tells, and ``note`` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Self

from pydantic import ConfigDict, PrivateAttr, StrictBool, StrictFloat, StrictInt, ValidationError
from pydantic.fields import FieldInfo

from playground.domain.output import schema_of
from playground.domain.values import Value
from playground.jsonkit.merge import MemberPath, at_path
from playground.jsonkit.values import JSON, JSONObject, is_number


@dataclass(frozen=True, slots=True)
class Hint:
    """How a parameter is shown and checked.

    ``editor``: "number" (slider and field), "integer", "switch", "text", "choice" (suggestions, free text
    allowed), "lines" (a text of several), "list" (up to ``most`` strings), "json", "thinking", "tool_choice", "model".
    ``low`` and ``high`` are the documented range, inclusive; ``soft_high`` only sets how far a slider reaches. ``path``
    is the place in the body, with dots, where it differs from the field's name. ``start`` is what a control starts from
    when set.
    ``ours`` is what a new experiment begins with, and ``instead`` what the program sends for a field that the protocol
    requires while it is at default. A field is sent only while the field that it ``needs`` is on. What is not ``sent``
    at all is of the program alone: its range has to be kept to, and ``start`` is its default.
    """

    label: str
    group: str
    editor: str
    help: str
    low: float | None = None
    high: float | None = None
    soft_high: float | None = None
    step: float | None = None
    suggestions: tuple[str, ...] = ()
    most: int | None = None
    path: str = ""
    start: Any = None
    source: str = ""  # section of the specification
    deprecated: str = ""
    ours: Any = None
    instead: Any = None
    needs: str = ""
    sent: bool = True


def _as_it_is(value: JSON) -> JSON:
    return value


@dataclass(frozen=True, slots=True)
class Shared:
    """A field that other protocols have a word for, too. ``read`` gives its value in a form that is none of theirs.

    ``write`` is the reverse. Either gives None for a value that there is no word for.
    """

    name: str
    read: Callable[[JSON], JSON] = _as_it_is
    write: Callable[[JSON], JSON] = _as_it_is


class Parameters(Value):
    """Base of every protocol's parameter model. Unknown keys are kept and sent as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")

    #: The fields that hold what the program would have them hold because a person set them so.
    _by_hand: frozenset[str] = PrivateAttr(default=frozenset())

    #: Whether the schema of an answer stands in an object with a name of its own, as on chat completions.
    names_schema: ClassVar[bool] = True

    @classmethod
    def hints(cls) -> tuple[tuple[str, Hint], ...]:
        """Every field with its hint, in the order of definition."""
        return _hints(cls)

    @classmethod
    def places(cls) -> Mapping[str, MemberPath]:
        """Where in a body each field stands."""
        return _places(cls)

    @classmethod
    def begin(cls, wire: JSONObject) -> Self:
        """What ``wire`` sets, as ``from_wire`` reads it, and for all else what a new experiment begins with."""
        if not wire:
            new: Self = _new(cls)
            return new
        return cls.from_wire(wire)._with_ours()

    def _with_ours(self) -> Self:
        """The same with what a new experiment begins with where nothing is set."""
        hints = type(self).hints()
        ours = {name: hint.ours for name, hint in hints if hint.ours is not None and getattr(self, name) is None}
        return self.model_copy(update=ours)

    @property
    def held(self) -> JSONObject:
        """The fields that are set, under their own names, and the keys that no field is for."""
        fields = type(self).model_fields
        found = {name: value for name, value in self if value is not None or name not in fields}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    @property
    def by_hand(self) -> tuple[str, ...]:
        """The fields that a person set to what the program would have set them to, to be kept with the values."""
        return tuple(sorted(self._by_hand))

    def set_by_hand(self, names: Iterable[str]) -> Self:
        """A copy in which a person set these fields, and no others, to what they are."""
        copy = self.model_copy()
        copy._by_hand = frozenset(name for name in names if self._as_we_would(name))
        return copy

    def is_ours(self, name: str) -> bool:
        """Whether the value of a field is the program's own."""
        return name not in self._by_hand and self._as_we_would(name)

    def _as_we_would(self, name: str) -> bool:
        """Whether a field, or what is none, holds what a new experiment begins with."""
        info = type(self).model_fields.get(name)
        ours = _hint(name, info).ours if info is not None else None
        value = getattr(self, name, None)
        return ours is not None and type(value) is type(ours) and bool(value == ours)

    def with_value(self, name: str, value: JSON, *, by_hand: bool = True) -> Self:
        """A copy with one field set; None sets it back to default. ``by_hand``: by a person, not by the program."""
        others = (other for other in self._by_hand if other != name)
        return self.model_copy(update={name: value}).set_by_hand((*others, name) if by_hand else others)

    def to_wire(self, over: JSONObject | None = None) -> JSONObject:
        """Exactly what is set, under the names and in the places the body wants.

        ``over`` are members of the body that will stand in the place of these: a field that ``needs`` one of them is
        sent as that one says.
        """
        body: JSONObject = {}
        places = type(self).places()
        for name, hint in type(self).hints():
            value = getattr(self, name)
            if value is None or (hint.needs and not self._is_on(hint.needs, over)):
                continue
            at = body
            *above, last = places[name]
            for step in above:
                at = at.setdefault(step, {})
            at[last] = list(value) if isinstance(value, tuple) else value
        for name, value in (self.model_extra or {}).items():
            known = body.get(name)
            if isinstance(known, dict) and isinstance(value, dict):
                body[name] = {**value, **known}  # the rest of an object of which one key is a field
            else:
                body.setdefault(name, value)
        return body

    def _is_on(self, name: str, over: JSONObject | None = None) -> bool:
        """Whether a switch is on; a value that is no switch may well mean it."""
        value = over[name] if over is not None and name in over else getattr(self, name)
        return value is not None and value is not False

    @classmethod
    def from_wire(cls, body: JSONObject) -> Self:
        """The reverse of ``to_wire``. A value of a wrong type is kept as it is, to be sent and flagged."""
        rest = dict(body)
        fields: JSONObject = {}
        for name, (*above, last) in cls.places().items():
            at = at_path(rest, tuple(above))
            if isinstance(at, dict) and last in at:
                value = at[last]
                if above:
                    inner = {k: v for k, v in at.items() if k != last}
                    rest = {**rest, above[0]: inner} if inner else {k: v for k, v in rest.items() if k != above[0]}
                else:
                    rest = {k: v for k, v in rest.items() if k != last}
                fields[name] = value
        fields = {**{k: rest.pop(k) for k in list(rest) if k in cls.model_fields}, **fields}
        known = {k: v for k, v in fields.items() if cls.fits(k, v)}
        odd = {k: v for k, v in fields.items() if k not in known}
        return cls.model_validate({**rest, **known}).model_copy(update=odd).set_by_hand(fields)

    @classmethod
    def fits(cls, name: str, value: JSON) -> bool:
        """Whether ``value`` has the documented type of the field."""
        try:
            cls.model_validate({name: value})
        except ValidationError:
            return False
        return True

    @classmethod
    def tool_choice_for(cls, name: str) -> JSON:
        """How "this tool must be called" is spelled; the chat-completions shape (specification, section 4.1)."""
        return {"type": "function", "function": {"name": name}}

    def shared(self) -> Mapping[str, Shared]:
        """The fields that mean the same in every protocol that has them, by what they mean.

        temperature and top_p are numbers, limit is in tokens, stop are texts, effort is a word, tool_choice one, or
        ``{"name": …}`` of the tool, schema is that of the answer, stream is a switch, user a name.
        """
        return {}

    @classmethod
    def is_usual(cls, name: str, value: JSON) -> bool:
        """Whether a value asks for what an answer is without it."""
        return name == "response_format" and isinstance(value, dict) and value.get("type") == "text"

    def flag(self, name: str) -> str:
        """What is odd about the value of a field, for the panel; empty when nothing is."""
        hint = dict(type(self).hints())[name]
        value = getattr(self, name)
        if value is None:
            return ""
        if hint.deprecated:
            return hint.deprecated
        if not self.fits(name, value):
            return "not the documented type; it is sent as it is"
        if is_number(value):
            if hint.low is not None and value < hint.low:
                return f"below the documented minimum of {hint.low:g}; it is sent as it is"
            if hint.high is not None and value > hint.high:
                return f"above the documented maximum of {hint.high:g}; it is sent as it is"
        if isinstance(value, list | tuple) and hint.most is not None and len(value) > hint.most:
            return f"more than the documented {hint.most}; all are sent"
        return ""

    def note(self, name: str) -> str:
        """What the program has to do with a field, for the panel; empty when nothing."""
        hints = dict(type(self).hints())
        hint, value = hints[name], getattr(self, name)
        if value is None:
            return "" if hint.instead is None else f"{hint.instead} is sent: the protocol requires a value"
        if hint.needs and not self._is_on(hint.needs):
            return f"not sent while {hints[hint.needs].label} is not on"
        return "the program's own; Delete leaves it out" if self.is_ours(name) else ""


@cache  # asked for several times by each request
def _hints(kind: type[Parameters]) -> tuple[tuple[str, Hint], ...]:
    return tuple((name, _hint(name, info)) for name, info in kind.model_fields.items())


@cache
def _places(kind: type[Parameters]) -> dict[str, MemberPath]:
    return {name: tuple((hint.path or name).split(".")) for name, hint in kind.hints()}


@cache
def _new(kind: type[Parameters]) -> Any:
    return kind.from_wire({})._with_ours()


def _hint(name: str, info: FieldInfo) -> Hint:
    for item in info.metadata:
        if isinstance(item, Hint):
            return item
    raise TypeError(f"parameter field {name!r} has no Hint")


# Fields that mean the same in every protocol

Number = StrictInt | StrictFloat

TopP = Annotated[
    Number | None,
    Hint(
        label="Top P",
        group="Sampling",
        editor="number",
        help="Only the likeliest words whose chances add up to this share are considered.",
        low=0,
        high=1,
        step=0.01,
        start=1,
        source="4.1",
    ),
]
Stream = Annotated[
    StrictBool | None,
    Hint(
        label="Stream",
        group="Delivery",
        editor="switch",
        help="Send the answer piece by piece as it is generated. Recommended for long answers. A new experiment does.",
        start=True,
        ours=True,
        source="4.1",
    ),
]


def as_texts(value: JSON) -> JSON:
    """One text, or several, as several; anything else as it is."""
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


def schema_in(response_format: JSON) -> JSON:
    """The schema that a response format asks for; None where it asks for none."""
    return schema_of(response_format) if isinstance(response_format, dict) else None
