"""JSON laid out so that it reads well and a change is few lines of a diff; secrets are taken out on the way.

One member or item a line, two spaces a level, characters as they are. Lists of numbers stand on one line. Nothing is
sorted: the order is the one given. Numbers that JSON has no word for are spelled as ones too large to hold, so that
they read back as they were.
"""

from __future__ import annotations

import json
import math
from typing import Final

from playground.domain.transcript import new_id
from playground.gateway.redact import Redactor
from playground.jsonkit.layout import lay_out_value
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON

_DEEPEST: Final = 60  # levels laid out; what lies deeper stands on one line


def lay_out(value: JSON, redactor: Redactor, words: frozenset[str]) -> str:
    """The text of ``value``, without the secrets that ``redactor`` knows. ``words`` are no secrets, whatever it says.

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
            parse_json(clean)  # a secret that is a number leaves a gap where one stood
        return clean

    try:
        return lay_out_value(value, on_line, lambda value, level: level >= _DEEPEST or _numbers(value)) + "\n"
    except (RecursionError, TypeError):
        raise ValueError("something in it is nested too deeply, or is nothing JSON has") from None


def _numbers(value: JSON) -> bool:
    """Whether a value is a list of numbers only, or of lists of them."""
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
