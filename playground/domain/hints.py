"""Annotations of fields: one ``Hint`` is the row of a form, its help and its check.

``Annotated[float, setting("Time-out", unit="seconds")] = Field(default=60.0, gt=0)`` declares a row; ``hints_of`` reads
what the annotation leaves out from the field itself: the kind of control, the default, the range and the choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class Hint:
    """Display and validation of a field.

    ``editor``: "number" (slider and field), "integer", "switch", "check" (check box), "line", "text" (short), "choice"
    (suggestions, free text allowed), "pick" (one of ``choices``), "segments" (the same as buttons), "lines" (a text of
    several), "list" (up to ``most`` strings), "file", "folder", "json", "thinking", "tool_choice", "model".
    ``low`` and ``high`` are the documented range, inclusive; ``soft_high`` is the end of a slider. ``path`` is the
    dotted place in the body if it differs from the field's name. ``start`` is the initial value of a control when set.
    ``ours`` is the value in a new experiment, and ``instead`` the value that the program sends for a required field at
    default. A field is sent only while the field that it ``needs`` is on. A field that is not ``sent`` is a setting of
    the program: its range is enforced, and ``start`` is its default. ``common`` is the place among the parameters that
    the panel shows first; 0 puts the field under "More parameters".

    The others are for settings. ``choices`` are values with their labels, and ``choice_words`` returns the label of
    another value; ``unit`` is shown after the control and ``placeholder`` in an empty field. ``zero`` is the word for
    the number 0, shown as an empty field. An empty field of a ``nullable`` one is None. ``visible_when`` decides on the
    whole value whether the row is shown, and ``check`` returns what is wrong with a value of the field, or "". A
    ``secret`` is not readable on the screen. ``files`` are the kinds that a file dialog lists. ``after`` is the field
    above this one, if that is another one than in the model.
    """

    label: str
    group: str = ""
    editor: str = ""
    help: str = ""
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
    common: int = 0
    choices: tuple[tuple[Any, str], ...] = ()
    choice_words: Callable[[Any], str] | None = None
    unit: str = ""
    placeholder: str = ""
    zero: str = ""
    nullable: bool = False
    visible_when: Callable[[Any], bool] | None = None
    check: Callable[[Any], str] | None = None
    secret: bool = False
    files: str = ""
    after: str = ""


def setting(label: str, *, group: str = "", help: str = "", **more: Any) -> Hint:
    """Return the hint of a setting of the program; ``more`` are further fields of ``Hint``."""
    return Hint(label=label, group=group, help=help, sent=False, **more)


def hints_of(model: type[BaseModel]) -> dict[str, Hint]:
    """Return the hints of the annotated fields of a model in the order of their rows; other fields have no row.

    The fields of a model inside it have dotted names.
    """
    return in_order(dict(_hints(model)))


def in_order(hints: Mapping[str, Hint]) -> dict[str, Hint]:
    """Return hints with those of a group together, and each below the one that it comes ``after``."""
    groups = list(dict.fromkeys(hint.group for hint in hints.values()))
    names = sorted(hints, key=lambda name: groups.index(hints[name].group))
    order = [name for name in names if not hints[name].after]
    for name in names:
        if hints[name].after:
            order.insert(order.index(hints[name].after) + 1, name)
    return {name: hints[name] for name in order}


def value_at(value: Any, name: str) -> Any:
    """Return the value of a field, or of a key of a dictionary, by its dotted name; None if there is none."""
    for step in name.split("."):
        value = value.get(step) if isinstance(value, dict) else getattr(value, step, None)
    return value


def problems_of(value: BaseModel) -> dict[str, str]:
    """Return what the checks say about the fields that the value needs, in the order of the rows."""
    problems = {
        name: hint.check(value_at(value, name))
        for name, hint in hints_of(type(value)).items()
        if hint.check is not None and (hint.visible_when is None or hint.visible_when(value))
    }
    return {name: problem for name, problem in problems.items() if problem}


def _hints(model: type[BaseModel]) -> Iterator[tuple[str, Hint]]:
    for name, info in model.model_fields.items():
        hint = next((item for item in info.metadata if isinstance(item, Hint)), None)
        if hint is None:
            continue
        kind, is_nullable = _kind(info.annotation)
        if isinstance(kind, type) and issubclass(kind, BaseModel) and not hint.editor:
            for inner, inner_hint in _hints(kind):
                visible_when = _of_field(name, inner_hint.visible_when)
                yield f"{name}.{inner}", replace(inner_hint, group=hint.group, visible_when=visible_when)
        else:
            yield name, _complete(hint, info, kind, is_nullable)


def _of_field(name: str, condition: Callable[[Any], bool] | None) -> Callable[[Any], bool] | None:
    """Return a condition on a model that asks ``condition`` about a field of it."""
    return None if condition is None else lambda value: condition(getattr(value, name))


def _kind(annotation: Any) -> tuple[Any, bool]:
    """Return the type of a field without None, and whether None is allowed."""
    if get_origin(annotation) in (Union, UnionType):
        others = [item for item in get_args(annotation) if item is not NoneType]
        return others[0] if len(others) == 1 else Any, len(others) < len(get_args(annotation))
    return annotation, False


_EDITORS: Final = {bool: "check", int: "integer", float: "number", str: "line", tuple[str, ...]: "words"}


def _complete(hint: Hint, info: FieldInfo, kind: Any, is_nullable: bool) -> Hint:
    """Fill in what the hint leaves out from the type, the default and the constraints of its field."""
    choices = hint.choices
    if not choices and isinstance(kind, type) and issubclass(kind, Enum):
        choices = tuple((member.value, str(member.value).replace("_", " ")) for member in kind)
    elif not choices and get_origin(kind) is Literal:
        choices = tuple((value, str(value)) for value in get_args(kind))
    start = hint.start
    if start is None and not info.is_required():
        start = info.get_default(call_default_factory=True)
    limits = {
        name: getattr(item, name) for item in info.metadata for name in ("ge", "gt", "le", "lt") if hasattr(item, name)
    }
    return replace(
        hint,
        editor=hint.editor or ("pick" if choices else _EDITORS.get(kind, "json")),
        choices=choices,
        start=start.value if isinstance(start, Enum) else start,
        nullable=hint.nullable or is_nullable,
        low=hint.low if hint.low is not None else limits.get("ge", limits.get("gt")),
        high=hint.high if hint.high is not None else limits.get("le", limits.get("lt")),
    )
