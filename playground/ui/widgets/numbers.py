"""Read and format numbers as people type and read them. No widgets here."""

from __future__ import annotations

import json
import math
import re

from playground.jsonkit.reading import read_typed
from playground.jsonkit.values import JSON, is_number
from playground.ui.widgets.plain_text import escape_hidden

_SPACES = re.compile(r"[\s\u00a0\u2009\u202f_]+")
_WHOLE = re.compile(r"[+-]?\d+\Z")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+\Z")
_DECIMAL = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\Z")


def read_number(text: str, integer: bool = False) -> JSON:
    """Return the number in a text. Spaces between digits are allowed, and a comma as the decimal point.

    In an integer a comma separates thousands.

    Any other JSON value is returned unchanged, so that a wrong type can be sent on purpose (``"hot"`` in quotes).
    Raises ValueError with a message for people.
    """
    bare = _SPACES.sub("", text)
    if integer and _GROUPED.match(bare):
        bare = bare.replace(",", "")
    try:
        if _WHOLE.match(bare):
            return int(bare)
        if _DECIMAL.match(bare) and not (integer and "," in bare):
            number = float(bare.replace(",", "."))
            if not math.isfinite(number):
                raise ValueError("too large")
            return number
        value = read_typed(text)
    except ValueError:
        value = None
    if value is None:
        raise ValueError("not a whole number, so it is not sent" if integer else "not a number, so it is not sent")
    return value


def plain_number(text: str, integer: bool = False) -> int | float:
    """Return the number in a text that must be a number or, if ``integer``, a whole one. Raises ValueError."""
    try:
        number = read_number(text, integer)
    except ValueError:
        number = None
    if not is_number(number) or (integer and number != int(number)):
        raise ValueError("not a whole number" if integer else "not a number")
    return int(number) if integer else number


def show_number(value: JSON, step: float, grouped: bool = False) -> str:
    """Return the value as text with all its digits, and at least as many decimals as the step.

    ``grouped``: a comma separates the thousands of a whole number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return escape_hidden(json.dumps(value, ensure_ascii=False))
    if isinstance(value, int) and decimals(step) == 0:
        return f"{value:,}" if grouped else str(value)
    text = repr(value)
    if "e" in text or "n" in text:
        return text
    integer, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0") if decimals(step) == 0 else fraction
    fraction = fraction.ljust(decimals(step), "0")
    return f"{integer}.{fraction}" if fraction else integer


def decimals(step: float) -> int:
    """Return the number of decimals of a step: 2 for 0.05."""
    text = f"{step:.10f}".rstrip("0")
    return len(text.partition(".")[2])


def stepped(value: float, step: float) -> int | float:
    """Round a value to the decimals of the step; the result is an int for a whole step."""
    places = decimals(step)
    return round(value) if places == 0 else round(value, places)
