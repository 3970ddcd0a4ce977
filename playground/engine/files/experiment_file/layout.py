"""Layout of JSON for people and diffs, with redaction of secrets.

One member or item a line, two spaces a level, characters unescaped, lists of numbers on one line, in the given order.
Infinite numbers, which JSON does not have, are written as numbers too large to hold, which are read as infinite.
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
