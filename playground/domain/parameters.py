"""Parameters as annotated fields: one field is the form row, the check, the help and the wire spelling.

A protocol's parameter model is a subclass of ``Parameters`` whose fields are all ``X | None`` with default
None: None means "default", and the field is absent from the body. A value outside the documented range is
sent nevertheless; ``flag`` describes the deviation.

A new experiment begins with a few fields set by the program (``Hint.ours``). They count as the program's own until a
person sets them (``is_ours``, ``note``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Self

from pydantic import ConfigDict, PrivateAttr, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError
from pydantic.fields import FieldInfo

from playground.domain.hints import Hint as Hint
from playground.domain.output import SchemaShape, schema_of
from playground.domain.values import Value
from playground.jsonkit.merge import MemberPath, at_path
from playground.jsonkit.values import JSON, JSONObject, is_number


def _identity(value: JSON) -> JSON:
    return value


def missing(member: str) -> str:
    """Return the reason for the absence of a parameter that other protocols have as ``member``."""
    return f"The API has none. Some gateways take “{member}” as an extra field."


@dataclass(frozen=True, slots=True)
class Shared:
    """A field with an equivalent in other protocols. ``read`` converts its value to a neutral form.

    ``write`` is the reverse. Both return None for a value without an equivalent.
    """

    name: str
    read: Callable[[JSON], JSON] = _identity
    write: Callable[[JSON], JSON] = _identity


class Parameters(Value):
    """Base of every protocol's parameter model. Unknown keys are preserved and sent unchanged."""

    model_config = ConfigDict(frozen=True, extra="allow")

    #: The fields that a person set to the value the program would use anyway.
    _by_hand: frozenset[str] = PrivateAttr(default=frozenset())

    #: Parameters of other protocols that do not exist in this one: their labels, each with the reason as a sentence.
    unavailable: ClassVar[Mapping[str, str]] = {}

    #: The shape of a format with a schema.
    schema_shape: ClassVar[SchemaShape] = SchemaShape.NESTED

    @classmethod
    def hints(cls) -> tuple[tuple[str, Hint], ...]:
        """Return every field with its hint, in the order of definition."""
        return _hints(cls)

    @classmethod
    def places(cls) -> Mapping[str, MemberPath]:
        """Return the path of each field in the body."""
        return _places(cls)

    @classmethod
    def begin(cls, wire: JSONObject) -> Self:
        """Return the parameters of a new experiment, overridden by the members of a body."""
        if not wire:
            new: Self = _new(cls)
            return new
        return cls.from_wire(wire)._with_ours()

    def _with_ours(self) -> Self:
        """Set the fields at default to the values of a new experiment."""
        hints = type(self).hints()
        ours = {name: hint.ours for name, hint in hints if hint.ours is not None and getattr(self, name) is None}
        return self.model_copy(update=ours)

    @property
    def set_fields(self) -> JSONObject:
        """The fields that are not at default, by name, and all unknown keys."""
        fields = type(self).model_fields
        values = {name: value for name, value in self if value is not None or name not in fields}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @property
    def by_hand(self) -> tuple[str, ...]:
        """The fields that a person set to the value the program would use anyway, to be stored with the values."""
        return tuple(sorted(self._by_hand))

    def set_by_hand(self, names: Iterable[str]) -> Self:
        """Return a copy in which exactly these fields count as set by a person."""
        copy = self.model_copy()
        copy._by_hand = frozenset(name for name in names if self._has_our_value(name))
        return copy

    def is_ours(self, name: str) -> bool:
        """Return whether the value of a field is the program's own."""
        return name not in self._by_hand and self._has_our_value(name)

    def _has_our_value(self, name: str) -> bool:
        """Return whether ``name`` is a field with the value of a new experiment."""
        info = type(self).model_fields.get(name)
        ours = _hint(name, info).ours if info is not None else None
        value = getattr(self, name, None)
        return ours is not None and type(value) is type(ours) and bool(value == ours)

    def with_value(self, name: str, value: JSON, *, by_hand: bool = True) -> Self:
        """Return a copy with one field set; None restores the default. ``by_hand``: by a person, not the program."""
        others = (field for field in self._by_hand if field != name)
        return self.model_copy(update={name: value}).set_by_hand((*others, name) if by_hand else others)

    def stateless(self) -> Self:
        """Return a copy that sends the whole conversation, because the server has none of it."""
        return self

    def to_wire(self, over: JSONObject | None = None) -> JSONObject:
        """Return the body members of the fields that are not at default.

        ``over`` are members of the body that will override these; a field that ``needs`` one of them depends on its
        value.
        """
        body: JSONObject = {}
        places = type(self).places()
        for name, hint in type(self).hints():
            value = getattr(self, name)
            if value is None or (hint.needs and not self._is_on(hint.needs, over)):
                continue
            parent = body
            *above, last = places[name]
            for step in above:
                parent = parent.setdefault(step, {})
            parent[last] = list(value) if isinstance(value, tuple) else value
        for name, value in (self.model_extra or {}).items():
            current = body.get(name)
            if isinstance(current, dict) and isinstance(value, dict):
                body[name] = {**value, **current}  # unknown members of an object that has a field
            else:
                body.setdefault(name, value)
        return body

    def _is_on(self, name: str, over: JSONObject | None = None) -> bool:
        """Return whether a field is on; any value but None and False counts."""
        value = over[name] if over is not None and name in over else getattr(self, name)
        return value is not None and value is not False

    @classmethod
    def from_wire(cls, body: JSONObject) -> Self:
        """Return the parameters of a body, the reverse of ``to_wire``. A value of a wrong type stays, to be flagged."""
        rest = dict(body)
        fields: JSONObject = {}
        for name, (*above, last) in cls.places().items():
            parent = at_path(rest, tuple(above))
            if isinstance(parent, dict) and last in parent:
                value = parent[last]
                if above:
                    inner = {k: v for k, v in parent.items() if k != last}
                    rest = {**rest, above[0]: inner} if inner else {k: v for k, v in rest.items() if k != above[0]}
                else:
                    rest = {k: v for k, v in rest.items() if k != last}
                fields[name] = value
        fields = {**{k: rest.pop(k) for k in list(rest) if k in cls.model_fields}, **fields}
        valid = {k: v for k, v in fields.items() if cls.fits(k, v)}
        invalid = {k: v for k, v in fields.items() if k not in valid}
        return cls.model_validate({**rest, **valid}).model_copy(update=invalid).set_by_hand(fields)

    @classmethod
    def fits(cls, name: str, value: JSON) -> bool:
        """Return whether ``value`` has the documented type of the field."""
        try:
            cls.model_validate({name: value})
        except ValidationError:
            return False
        return True

    @classmethod
    def tool_choice_for(cls, name: str) -> JSON:
        """Return the value that forces a call of one tool, here for chat completions (specification, section 4.1)."""
        return {"type": "function", "function": {"name": name}}

    def shared(self) -> Mapping[str, Shared]:
        """Return the fields with an equivalent in other protocols, by a neutral name.

        Their neutral values: temperature and top_p are numbers, limit is in tokens, stop are texts, effort is a word,
        tool_choice a word or ``{"name": …}`` of the tool, schema a JSON Schema, stream a boolean, user a name.
        """
        return {}

    @classmethod
    def is_usual(cls, name: str, value: JSON) -> bool:
        """Return whether a value has no effect on the answer."""
        return name == "response_format" and isinstance(value, dict) and value.get("type") == "text"

    def flag(self, name: str) -> str:
        """Return a warning about the value of a field, for the panel; empty if there is none."""
        hint = dict(type(self).hints())[name]
        value = getattr(self, name)
        if value is None:
            return ""
        if hint.deprecated:
            return hint.deprecated
        if not self.fits(name, value):
            return "not the documented type; it is sent unchanged"
        if is_number(value):
            if hint.low is not None and value < hint.low:
                return f"below the documented minimum of {hint.low:g}; it is sent unchanged"
            if hint.high is not None and value > hint.high:
                return f"above the documented maximum of {hint.high:g}; it is sent unchanged"
        if isinstance(value, list | tuple) and hint.most is not None and len(value) > hint.most:
            return f"more than the documented {hint.most}; all are sent"
        return ""

    def note(self, name: str) -> str:
        """Return a note on the program's influence on a field, for the panel; empty if there is none."""
        hints = dict(type(self).hints())
        hint, value = hints[name], getattr(self, name)
        if value is None:
            return "" if hint.instead is None else f"{hint.instead} is sent: the protocol requires a value"
        if hint.needs and not self._is_on(hint.needs):
            return f"not sent while {hints[hint.needs].label} is not on"
        return "Sent by default. Remove to omit." if self.is_ours(name) else ""


@cache
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


# Fields of several protocols

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
        help="Send the answer piece by piece as it is generated. Recommended for long answers; on in new experiments.",
        start=True,
        ours=True,
        source="4.1",
        common=6,
    ),
]


Temperature = Annotated[
    Number | None,
    Hint(
        label="Temperature",
        group="Sampling",
        editor="number",
        help="How freely words are chosen: low values are steady, high ones varied. The default differs by model.",
        low=0,
        high=2,
        step=0.05,
        start=1,
        source="4.1",
        common=1,
    ),
]
ToolChoice = Annotated[
    StrictStr | dict[str, Any] | None,
    Hint(
        label="Tool choice",
        group="Tools",
        editor="tool_choice",
        help="Whether the model may call tools: auto lets it decide, none forbids, required demands at least one "
        "call, and a tool's name demands that tool.",
        suggestions=("auto", "none", "required"),
        start="auto",
        source="4.1",
    ),
]


def as_texts(value: JSON) -> JSON:
    """Return one text or a list of texts as a tuple; anything else unchanged."""
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


def schema_in(response_format: JSON) -> JSON:
    """Return the schema of a response format; None if it has none."""
    return schema_of(response_format) if isinstance(response_format, dict) else None
