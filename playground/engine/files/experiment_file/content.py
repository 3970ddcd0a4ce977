"""Conversion of an experiment to the JSON of its file, and back. Defaults are omitted; unknown members are kept.

A text of several lines is a list of its lines, so that a change of one line is one line of a diff; both forms are read.
Turns are in the order of the tree, depth first, the oldest alternative first; the shown branch ends at ``head``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, TypeAlias, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from playground.domain.reasons import shortened
from playground.domain.transcript import Turn, new_id
from playground.domain.values import LINES, Value
from playground.engine.gateways.secrets import extra_header_problem
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.snapshot import LATEST, Snapshot, decode, encode_experiment
from playground.engine.session.variants import MOST_LANES
from playground.gateway.redact import Redactor
from playground.jsonkit.layout import lay_out_value
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject

# ---- layout ----------------------------------------------------------------------------------------------------------


_MAX_DEPTH: Final = 60  # levels; a deeper value is on one line


def lay_out(value: JSON, redactor: Redactor, words: frozenset[str]) -> str:
    """Return the text of ``value``, redacted except for ``words``.

    Raises ValueError for a value that JSON cannot hold, and for one nested too deeply.
    """

    def on_line(value: JSON) -> str:
        if isinstance(value, str):
            return _line(value if value in words else redactor.text(value))
        line = _line(value)
        if not isinstance(value, dict | list) or _numbers(value):
            return line
        clean = redactor.text(line)
        if clean != line:
            parse_json(clean)  # raises ValueError if a redacted number left invalid JSON
        return clean

    try:
        return lay_out_value(value, on_line, lambda value, level: level >= _MAX_DEPTH or _numbers(value)) + "\n"
    except (RecursionError, TypeError):
        raise ValueError("something in it is nested too deeply, or is nothing JSON has") from None


def _numbers(value: JSON) -> bool:
    """Return whether a value is a list of numbers, or of lists of numbers."""
    if not isinstance(value, list):
        return False
    flat = [number for item in value for number in (item if isinstance(item, list) else [item])]
    return not any(isinstance(number, bool) or not isinstance(number, int | float) for number in flat)


def _line(value: JSON) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:  # a number that is infinite, or none
        marks = {math.inf: f"+{new_id()}", -math.inf: f"-{new_id()}"}
        text = json.dumps(_finite(value, marks), ensure_ascii=False)
        for number, mark in marks.items():
            text = text.replace(f'"{mark}"', "1e999" if number > 0 else "-1e999")
        return text


def _finite(value: JSON, marks: dict[float, str]) -> JSON:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else marks[value]
    if isinstance(value, list):
        return [_finite(item, marks) for item in value]
    if isinstance(value, dict):
        return {name: _finite(item, marks) for name, item in value.items()}
    return value


VERSION: Final = 1
NAME: Final = "experiment"  # the member that names the version

_LONGEST_ID: Final = 256
_LONGEST_CURRENCY: Final = 16
_LARGEST: Final = 2**31 - 1  # of counts that go into fields of a window

#: Converts a text to the form of the file, or back.
Change: TypeAlias = Callable[[JSON], JSON]
#: Returns the JSON of a value with its texts changed.
Visit: TypeAlias = Callable[[JSON, Change], JSON]


def change_texts(kind: type[Value], content: JSON, change: Change) -> JSON:
    """Return ``content``, the JSON of a value of type ``kind``, with every long text changed.

    Invalid parts are unchanged.
    """
    visit = _visit(kind)
    return visit(content, change) if visit is not None else content


@cache
def _visit(annotation: Any) -> Visit | None:
    """Return the function that visits the texts of a type; None for a type without texts."""
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return _of_fields(annotation)
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _text if LINES in inner else _visit(inner[0])
    if origin is tuple:
        return _of_items(_visit(inner[0]))
    if origin is dict:
        return _of_members(_visit(inner[1]))
    if origin in (Union, UnionType):
        return _of_union(inner)
    return None


def _text(value: JSON, change: Change) -> JSON:
    return change(value)


def _of_fields(kind: type[Value]) -> Visit | None:
    all_ = {name: _of_field(info) for name, info in kind.model_fields.items()}
    visits = {name: inner for name, inner in all_.items() if inner is not None}

    def visit(value: JSON, change: Change) -> JSON:
        if not isinstance(value, dict):
            return value
        changed = {name: inner(value[name], change) for name, inner in visits.items() if name in value}
        return {**value, **changed} if changed else value

    return visit if visits else None


def _of_field(info: FieldInfo) -> Visit | None:
    annotation: Any = info.annotation
    return _text if LINES in info.metadata else _visit(annotation)


def _of_items(item: Visit | None) -> Visit | None:
    def visit(value: JSON, change: Change) -> JSON:
        return [item(entry, change) for entry in value] if item is not None and isinstance(value, list) else value

    return visit if item is not None else None


def _of_members(member: Visit | None) -> Visit | None:
    def visit(value: JSON, change: Change) -> JSON:
        if member is None or not isinstance(value, dict):
            return value
        return {name: member(entry, change) for name, entry in value.items()}

    return visit if member is not None else None


def _of_union(kinds: tuple[Any, ...]) -> Visit | None:
    """Visit a union by the “kind” of the value; in a union without kinds, at most one type has texts."""
    values = [get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in kinds]
    named = {kind.model_fields["kind"].default: _visit(kind) for kind in values if _has_kind(kind)}
    if named:

        def visit(value: JSON, change: Change) -> JSON:
            kind = value.get("kind") if isinstance(value, dict) else None
            visit_kind = named.get(kind) if isinstance(kind, str) else None
            return visit_kind(value, change) if visit_kind is not None else value

        return visit
    return next((visit_kind for kind in kinds if (visit_kind := _visit(kind)) is not None), None)


def _has_kind(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Value) and "kind" in kind.model_fields


def to_json(snapshot: Snapshot) -> JSONObject:
    """Return the JSON of the file."""
    ordered = snapshot.model_copy(update={"turns": tuple(_in_tree_order(snapshot.turns))})
    return {NAME: VERSION, **change_texts(Snapshot, encode_experiment(ordered, _different), _lines)}


def from_json(content: JSON) -> Snapshot:
    """Return the experiment. Raises ValueError with the problem and its place."""
    if not isinstance(content, dict) or NAME not in content:
        raise ValueError(f"“{NAME}”, which names the version of the format, is missing")
    version = content[NAME]
    if type(version) is not int or version < 1:
        raise ValueError(f"“{NAME}” must be the version of the format, a whole number from 1")
    if version > VERSION:
        raise ValueError(
            f"it is of version {version}, and this application reads up to version {VERSION}; update the application"
        )
    rest = {name: value for name, value in content.items() if name != NAME}
    snapshot = decode(change_texts(Snapshot, rest, _joined))
    _check(snapshot)
    return snapshot


# ---- order -----------------------------------------------------------------------------------------------------------


def _in_tree_order(turns: tuple[Turn, ...]) -> Iterator[Turn]:
    """Yield the turns of the tree, depth first."""
    followers: dict[str | None, list[Turn]] = {}
    for turn in turns:
        followers.setdefault(turn.parent, []).append(turn)
    pending = followers.get(None, [])[::-1]
    while pending:
        turn = pending.pop()
        yield turn
        pending += followers.get(turn.id, [])[::-1]


# ---- values ----------------------------------------------------------------------------------------------------------


def _different(name: str, info: FieldInfo, item: Any) -> bool:
    """Return whether a field is written: if it is required, not at its default, or the kind of a value."""
    return name == "kind" or info.is_required() or bool(item != info.get_default(call_default_factory=True))


# ---- texts and their lines -------------------------------------------------------------------------------------------


def _lines(text: JSON) -> JSON:
    return text.split("\n") if isinstance(text, str) and "\n" in text else text


def _joined(lines: JSON) -> JSON:
    is_lines = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    return "\n".join(lines) if is_lines else lines


# ---- what a file may say ---------------------------------------------------------------------------------------------


def _check(snapshot: Snapshot) -> None:
    """Raise ValueError for values out of bounds, which would fail later."""
    for what, id_ in (
        ("the experiment", snapshot.id),
        *((f"turn {n}", turn.id) for n, turn in enumerate(snapshot.turns, 1)),
    ):
        if not 0 < len(id_) <= _LONGEST_ID:
            raise ValueError(f"the id of {what} must have 1 to {_LONGEST_ID} characters")
    for where, settings in (("", snapshot), *_variants(snapshot)):
        for name, value in settings.extra_headers.items():
            if problem := extra_header_problem(name, value):
                raise ValueError(f"{where}extra_headers: {problem.rstrip('.')}")
    rules = (snapshot.debugging.default, *snapshot.debugging.rules.values())
    _check_numbers("debugging", (snapshot.debugging.step_limit, *(rule.pause_from for rule in rules)), _LARGEST)
    for number, turn in enumerate(snapshot.turns, 1):
        outcome = turn.outcome
        _check_numbers(f"turn {number}", (result.seconds for result in turn.results))
        if outcome is None:
            continue
        timing, usage, failure = outcome.timing, outcome.usage, outcome.failure
        times = [getattr(timing, name) for name in type(timing).model_fields] if timing is not None else []
        times += [time for pair in outcome.call_times for time in pair]
        counts = [usage.prompt, usage.completion, usage.total, usage.cached, usage.reasoning] if usage else []
        price = outcome.asked.price
        money = [price.input, price.cached, price.output] if price is not None else []
        if price is not None and len(price.currency) > _LONGEST_CURRENCY:
            raise ValueError(f"turn {number}: outcome.asked.price.currency is not a currency")
        money.append(usage.cost if usage is not None else None)
        _check_numbers(f"turn {number}", [*times, *money, failure.retry_after if failure else None])
        _check_numbers(
            f"turn {number}", [*counts, failure.status if failure else None, outcome.choice, outcome.choices], 2**53
        )


def _variants(snapshot: Snapshot) -> Iterator[tuple[str, ExperimentSettings]]:
    """Yield the settings of each variant. Raises ValueError for variants with equal ids."""
    if len(snapshot.variants) >= MOST_LANES:
        raise ValueError(f"{len(snapshot.variants)} variants are too many; {MOST_LANES - 1} fit beside the experiment")
    plan = snapshot.evaluation
    for where, variants in (("", snapshot.variants), ("evaluation: ", plan.variants if plan is not None else ())):
        _check_ids(f"{where}variant", (variant.id for variant in variants))
        for number, variant in enumerate(variants, 1):
            yield f"{where}variant {number}: ", variant.applied(snapshot.settings)
    if plan is not None:
        _check_ids("evaluation: case", (case.id for case in plan.cases))
    turns = {turn.id for turn in snapshot.turns}
    for name, head in snapshot.heads.items():
        if head is not None and head not in turns:
            raise ValueError(f"“heads”: “{shortened(name)}” ends at “{shortened(head)}”, which is not among the turns")


def _check_ids(what: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for number, id_ in enumerate(ids, 1):
        if id_ in seen or not 0 < len(id_) <= _LONGEST_ID:
            raise ValueError(f"{what} {number} needs a unique id, of 1 to {_LONGEST_ID} characters")
        seen.add(id_)


def _check_numbers(where: str, numbers: Iterable[float | None], largest: float = LATEST) -> None:
    for number in numbers:
        if number is not None and not -largest <= number <= largest:  # not a number is out of bounds as well
            raise ValueError(f"{where} holds a number that is out of all bounds")
