"""Lenient reading of JSON from other programs; the only exception is ValueError.

The resulting values can be shown, saved and sent again. This module knows no protocol.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from typing import Final

from pydantic_core import from_json

from playground.jsonkit.nesting import deeper, loads
from playground.jsonkit.tokens import NUMBER, TOKEN
from playground.jsonkit.values import JSON, JSONObject, is_number

#: Levels that the libraries below can save; deeper values are saved as text.
DEEPEST: Final = 100
_EMPTY: Final[tuple[JSON, ...]] = (None, "", [], {})
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_LONG_NUMBER: Final = re.compile(r"(?<!\d)\d{1000}")
_EXPONENT: Final = re.compile(r"[eE][+\d]\d\d")
_LARGE: Final = re.compile(r"(?:^|[:,\[\s])-?\d[\d.]*[eE][+\d]\d\d")  # not inside a word
_DIGITS: Final = re.compile(r"\d{19}")  # of 308 in a row, in every 16th character: a fast first test
_HIGH_SURROGATE: Final = re.compile("[\ud800-\udbff]\\Z")


def parse(text: str, odd: list[str] | None = None) -> JSON:
    """Decode JSON. Raises ValueError, also for nesting that is too deep and numbers that are too long.

    NaN, Infinity and -Infinity are accepted although JSON has none of them; they are appended to ``odd``.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError):  # TypeError: a lone surrogate that is not escaped
        # Invalid, or with lone surrogates, NaN, a byte order mark, deep nesting: the standard library reads these.
        return _parse_lenient(text, odd if odd is not None else [])


def _parse_lenient(text: str, odd: list[str]) -> JSON:
    def constant(word: str) -> float:
        odd.append(word)
        return float(word)

    numbers = _whole_number if _LONG_NUMBER.search(text) else None  # slow: a Python call for each
    try:
        return loads(text.strip(" \t\r\n\ufeff"), parse_int=numbers, parse_constant=constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def overflow(text: str) -> str:
    """Return the first number of a JSON text that is too large for a double, as written; empty for none."""
    large = _EXPONENT.search(text) is not None and _LARGE.search(text) is not None
    if not large and _DIGITS.search(text[::16]) is None:
        return ""
    words = (match[0] for match in TOKEN.finditer(text) if text[match.start()] in "-0123456789")
    numbers = (word for word in words if not word.lstrip("-").isdigit() and NUMBER.fullmatch(word))
    return next((number for number in numbers if math.isinf(float(number))), "")


def breaks_off(text: str) -> bool:
    """Return whether ``text`` is the beginning of JSON: valid so far and incomplete."""
    try:
        from_json(_SURROGATE.sub(r"\\ufffd", text.lstrip(" \t\r\n\ufeff")))
    except TypeError:
        return False
    except ValueError as error:
        return str(error).startswith("EOF while parsing")
    return False


def _whole_number(text: str) -> int | str:
    return int(text) if len(text) < 1000 else text  # Python refuses to read an int of more than 4,300 digits


def write(value: JSON) -> str:
    """Encode a value without escapes for characters beyond ASCII; empty where that is impossible."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError, TypeError):
        return ""


def has_halves(text: str) -> bool:
    """Return whether a JSON text may hold escaped lone surrogates."""
    return _SURROGATE.search(text) is not None


def whole(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates, so that the text can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def split_half(text: str) -> tuple[str, str]:
    """Return the repaired text, and a high surrogate at its end that the next fragment may complete."""
    if _HIGH_SURROGATE.search(text):
        return whole(text[:-1]), text[-1]
    return whole(text), ""


def keepable(value: JSONObject) -> JSONObject:
    """Return ``value``, or its type and its text if it cannot be saved."""
    if _can_be_saved(value):
        return value
    kind = value.get("type")
    return {"type": whole(kind) if isinstance(kind, str) else "unreadable", "text": whole(write(value))}


def _can_be_saved(value: JSON) -> bool:
    """Return whether a value can be saved and sent again: no NaN, no lone surrogates, not too deep."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (RecursionError, ValueError, TypeError):
        return False
    # The count of brackets is an upper bound of the depth.
    return whole(text) == text and (text.count("{") + text.count("[") <= DEEPEST or not deeper(value, DEEPEST - 1))


def members_beside(value: JSONObject, names: Collection[str], *, empty: bool = False) -> JSONObject:
    """Return the members of ``value`` except ``names``, in a form that can be saved; ``empty`` includes empty ones.

    Texts that cannot be encoded are repaired; values that are nested too deeply, NaN and Infinity become text.
    """
    members = {
        name: item for name, item in value.items() if name not in names and (empty or item or item not in _EMPTY)
    }
    if not members or _can_be_saved(members):
        return members
    return {whole(name): _saved_form(item) for name, item in members.items()}


def _saved_form(value: JSON) -> JSON:
    text = whole(write(value))
    result = parse(text) if text and not deeper(value, DEEPEST - 2) else text
    return result if _can_be_saved(result) else text


def text_of(value: JSON) -> str:
    """Return a short field as text: strings unchanged, numbers in JSON, anything else empty."""
    if isinstance(value, str):
        return whole(value)
    if is_number(value):
        return write(value)
    return ""


def count_of(value: JSON) -> int | None:
    """Return a count as an int, also from a text of digits; None for anything else and below 0."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and len(value) < 20 and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and 0 <= value < 2**63 else None


def amount_of(value: JSON) -> float | None:
    """Return an amount of money as a float; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        return None
    return float(value)
