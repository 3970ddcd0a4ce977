"""A value that fits a JSON schema, drawn by dice and from words of the prompt."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from playground.demo.dice import Dice
from playground.jsonkit import validation
from playground.jsonkit.limits import TooCostlyError
from playground.jsonkit.pattern_text import texts_for
from playground.jsonkit.schema_sample import NoSampleError, Taste, make_sample
from playground.jsonkit.values import JSON, JSONObject

_BY_NAME: Final = {
    "name": ("Zoé", "Haruki", "Ingrid"),
    "first_name": ("Zoé", "Haruki", "Ingrid"),
    "last_name": ("Moreau", "Tanaka", "Berg"),
    "title": ("A café in Lisbon", "Notes from 日本", "Two rivers"),
    "city": ("Lisbon", "Oslo", "Kyōto"),
    "location": ("Lisbon", "Oslo", "Kyōto"),
    "country": ("Portugal", "Norway", "Japan"),
    "language": ("English", "português", "日本語"),
    "email": ("zoe@example.org",),
    "url": ("https://example.org/demo",),
    "date": ("2026-03-14",),
    "description": ("A short description, made by the demo gateway.",),
    "summary": ("A short summary, made by the demo gateway.",),
    "color": ("teal", "amber", "violet"),
    "currency": ("EUR", "NOK", "JPY"),
    "phone": ("+351 210 000 000",),
}
_PLAIN: Final = ("sample text", "déjà vu", "north → south", "a quiet morning")


def fits(value: JSON, schema: Mapping[str, Any]) -> bool:
    """Return whether ``value`` fits ``schema``; True where checking is too costly, False for an invalid schema."""
    try:
        return validation.fits(value, dict(schema))
    except TooCostlyError:
        return True


def fault(schema: Mapping[str, Any]) -> str:
    """Return why ``schema`` is not a JSON schema; "" for a valid one, or where checking is too costly."""
    try:
        wrong = validation.schema_problem(dict(schema))
    except TooCostlyError:
        return ""
    if wrong is None:
        return ""
    return f"{wrong.message} (at {wrong.where})" if wrong.path else wrong.message


def generate(schema: Mapping[str, Any], dice: Dice, prompt: str = "") -> JSON:
    """A value for ``schema``; the best try when none fits, as with a schema nothing can satisfy."""
    try:
        return make_sample(schema, _Drawn(dice, prompt))
    except NoSampleError as error:
        return error.nearest
    except TooCostlyError:
        return {}


class _Drawn(Taste):
    """Random choices; of allowed values, the one that the prompt names."""

    def __init__(self, dice: Dice, prompt: str) -> None:
        self._dice = dice
        self._spoken = prompt.casefold()

    def fits(self, value: JSON, schema: JSONObject) -> bool:
        return fits(value, schema)

    def offered(self, schema: JSONObject) -> list[JSON]:
        if isinstance(schema.get("enum"), list):
            return []  # the prompt may speak of one of them
        offered = super().offered({**schema, "examples": []})
        examples = schema.get("examples")
        return offered + (self._dice.sample(examples, len(examples)) if isinstance(examples, list) else [])

    def choice(self, values: list[JSON], attempt: int) -> JSON:
        for value in values:
            if isinstance(value, str) and value and value.casefold() in self._spoken:
                return value
        return values[0] if attempt == 0 else self._dice.choice(values)

    def flag(self, variant: int = 0) -> bool:
        return self._dice.random() < 0.5

    def number(self, low: float, high: float, grain: float, whole: bool, attempt: int) -> float:
        low = min(1, high) if math.isinf(low) else low
        high = low + 40 * grain if math.isinf(high) else high
        if whole:
            return self._dice.randint(math.ceil(low), max(math.ceil(low), math.floor(high)))
        return round(low + (high - low) * self._dice.random(), 1)

    def length(self, anything: bool) -> int:
        return self._dice.randint(2, 3)

    def words(self, name: str) -> str:
        return self._dice.choice(_BY_NAME.get(name.casefold(), _PLAIN))

    def anything(self, name: str) -> JSON:
        return self.words(name)

    def texts_matching(self, pattern: str, least: int, variant: int) -> Iterator[str]:
        return texts_for(pattern, least, None if least else self._dice)
