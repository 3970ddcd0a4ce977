"""Variants made from a range: one or two parameters in steps, or a list of models.

Each is called by what is different in it, so that a plot of a sweep needs nothing else than its variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from playground.domain.parameters import Hint
from playground.engine.evaluation.inquiry import Column
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.variants import RequestSettings, Variant
from playground.jsonkit.values import JSON, is_number

MOST: Final = 100  # variants of one sweep
_DIGITS: Final = 10  # after the point, beyond which a step is no step but an error of binary numbers


class SweepError(ValueError):
    """A sweep cannot be made; the text says why."""


@dataclass(frozen=True)
class Range:
    """A parameter of the protocol that is spoken, and the values it is to have."""

    parameter: str
    values: tuple[JSON, ...]


def steps(low: float, high: float, step: float) -> tuple[float, ...]:
    """From ``low`` to ``high``, both included where the steps reach it. Raises SweepError."""
    if step <= 0 or high < low:
        raise SweepError("A sweep goes up: from the lower value to the higher one, in steps above 0.")
    count = int((high - low) / step + 1e-9) + 1
    if count > MOST:
        raise SweepError(f"{count:,} steps are too many: a sweep has {MOST} at most.")
    found = (round(low + step * number, _DIGITS) for number in range(count))
    return tuple(int(value) if float(value).is_integer() and float(step).is_integer() else value for value in found)


def sweepable(settings: RequestSettings) -> list[tuple[str, Hint]]:
    """The parameters of the protocol that is spoken, over which a range can be laid: numbers, and those of a choice."""
    kinds = ("number", "integer", "choice")
    return [
        (name, hint) for name, hint in type(settings.current).hints() if hint.editor in kinds and not hint.deprecated
    ]


def over_parameters(base: ExperimentSettings, ranges: Sequence[Range]) -> tuple[Variant, ...]:
    """A variant for each value, or for each pair of values of two parameters. Raises SweepError."""
    if not 1 <= len(ranges) <= 2:
        raise SweepError("A sweep goes over one parameter, or over two.")
    hints = dict(sweepable(base))
    for one in ranges:
        if one.parameter not in hints:
            raise SweepError(f"“{one.parameter}” is no parameter that a range can be laid over.")
        if not one.values:
            raise SweepError(f"There is no value for {hints[one.parameter].label} yet.")
    if len({one.parameter for one in ranges}) < len(ranges):
        raise SweepError("The two parameters of a sweep must be different ones.")
    pairs = list(product(*(dict.fromkeys(one.values) for one in ranges)))
    if len(pairs) > MOST:
        raise SweepError(f"{len(pairs):,} variants are too many: a sweep has {MOST} at most.")
    out = []
    for values in pairs:
        parameters = base.current
        for one, value in zip(ranges, values, strict=True):
            parameters = parameters.with_value(one.parameter, value)
        words = ", ".join(
            f"{hints[one.parameter].label.lower()} {_spelled(value)}" for one, value in zip(ranges, values, strict=True)
        )
        out.append(Variant(name=words).with_settings(base, base.with_parameters(parameters)))
    return tuple(out)


def over_models(base: ExperimentSettings, models: Iterable[str]) -> tuple[Variant, ...]:
    """A variant for each model. Raises SweepError."""
    found = list(dict.fromkeys(model.strip() for model in models if model.strip()))
    if not found:
        raise SweepError("There is no model in the list yet.")
    if len(found) > MOST:
        raise SweepError(f"{len(found):,} variants are too many: a sweep has {MOST} at most.")
    return tuple(Variant(name=model).with_settings(base, base.changed(model=model)) for model in found)


def axes(columns: Sequence[Column]) -> dict[str, list[JSON]]:
    """The parameters in which columns differ, with the value of each column: what a plot of a sweep has at its axes.

    Those alone that all columns have as numbers, each with two values at least; at most two.
    """
    held = [column.settings.current.set_fields for column in columns]
    names = dict.fromkeys(name for one in held for name in one)
    found = {name: [one.get(name) for one in held] for name in names}
    numbers = {name: values for name, values in found.items() if all(map(is_number, values)) and len(set(values)) > 1}
    return numbers if len(numbers) <= 2 else {}


def _spelled(value: JSON) -> str:
    return f"{value:g}" if is_number(value) else str(value)
