"""Reading JSON that strangers wrote: fast where it is sound, and never an exception but ValueError where it is not.

Values that come out of here can be kept, shown, saved and sent again. Nothing here knows a protocol.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from typing import Final

from pydantic_core import from_json

from playground.jsonkit.nesting import deeper, loads
from playground.jsonkit.values import JSON, JSONObject, is_number

#: A value nested deeper than this cannot be saved by the libraries below us; it is kept as text instead.
DEEPEST: Final = 100
_NOTHING: Final[tuple[JSON, ...]] = (None, "", [], {})
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_LONG_NUMBER: Final = re.compile(r"(?<!\d)\d{1000}")
_EXPONENT: Final = re.compile(r"[eE][+\d]\d\d")
_LARGE: Final = re.compile(r"(?:^|[:,\[\s])-?\d[\d.]*[eE][+\d]\d\d")  # and no letters that only look like it
_DIGITS: Final = re.compile(r"\d{19}")  # among every 16th character, where there are 308 in a row: far quicker to find
_STRING_OR_NUMBER: Final = re.compile(r'"(?:[^"\\]|\\.)*"|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)', re.DOTALL)
_HIGH: Final = re.compile("[\ud800-\udbff]\\Z")


def parse(text: str, odd: list[str] | None = None) -> JSON:
    """The value that ``text`` holds. Raises ValueError (the deepest nesting and the longest numbers included).

    NaN, Infinity and -Infinity are read although JSON has none of them; ``odd`` takes those that were met.
    """
    try:
        # What a model writes is worth no place in a cache.
        return from_json(text, cache_strings="keys", allow_inf_nan=False)
    except (ValueError, TypeError):  # TypeError: half of a surrogate pair, not escaped
        # Broken; or halves of surrogate pairs, an odd number, a mark before it, very deep: all readable.
        return _parse_with_care(text, odd if odd is not None else [])


def _parse_with_care(text: str, odd: list[str]) -> JSON:
    def constant(word: str) -> float:
        odd.append(word)
        return float(word)

    numbers = _whole_number if _LONG_NUMBER.search(text) else None  # a call for each is worth five of the C reader's
    try:
        return loads(text.strip(" \t\r\n\ufeff"), parse_int=numbers, parse_constant=constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def overflow(text: str) -> str:
    """The first number of a JSON text that is larger than any that a double holds, as written; empty for none."""
    large = _EXPONENT.search(text) is not None and _LARGE.search(text) is not None
    if not large and _DIGITS.search(text[::16]) is None:
        return ""
    numbers = (
        found[1] for found in _STRING_OR_NUMBER.finditer(text) if found[1] and not found[1].lstrip("-").isdigit()
    )
    return next((number for number in numbers if math.isinf(float(number))), "")


def breaks_off(text: str) -> bool:
    """Whether ``text`` is how JSON begins, and ends before it does: all of it fits, and more would have to come."""
    try:
        from_json(_HALF.sub(r"\\ufffd", text.lstrip(" \t\r\n\ufeff")))
    except TypeError:
        return False
    except ValueError as error:
        return str(error).startswith("EOF while parsing")
    return False


def _whole_number(text: str) -> int | str:
    return int(text) if len(text) < 1000 else text  # Python refuses to read an int of more than 4,300 digits


def write(value: JSON) -> str:
    """JSON text of a value that was parsed here; characters as they are, not escaped."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError, TypeError):
        return ""


def has_halves(text: str) -> bool:
    """Whether JSON text may hold halves of surrogate pairs."""
    return _HALF.search(text) is not None


def whole(text: str) -> str:
    """``text`` with surrogate pairs joined and lone halves replaced, so that it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def split_half(text: str) -> tuple[str, str]:
    """``text`` made whole, and the first half of a pair at its end that the next fragment may complete."""
    if _HIGH.search(text):
        return whole(text[:-1]), text[-1]
    return whole(text), ""


def keepable(value: JSONObject) -> JSONObject:
    """``value``, or, where it could not be saved again, its type and its text."""
    if _sound(value):
        return value
    kind = value.get("type")
    return {"type": whole(kind) if isinstance(kind, str) else "unreadable", "text": whole(write(value))}


def _sound(value: JSON) -> bool:
    """Whether a value can be saved and sent again; what is not a number in JSON is none."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (RecursionError, ValueError, TypeError):
        return False
    # Mostly there are too few brackets for that, and nothing has to be walked through.
    return whole(text) == text and (text.count("{") + text.count("[") <= DEEPEST or not deeper(value, DEEPEST - 1))


def members_beside(value: JSONObject, known: Collection[str], *, empty: bool = False) -> JSONObject:
    """The members of ``value`` that are not ``known``, each as it can be kept; null and empty ones only if asked for.

    A text that cannot be encoded is mended; what is nested too deeply, and a number that JSON has not, is kept as text.
    """
    found = {
        name: item for name, item in value.items() if name not in known and (empty or item or item not in _NOTHING)
    }
    if not found or _sound(found):
        return found
    return {whole(name): _kept(item) for name, item in found.items()}


def _kept(value: JSON) -> JSON:
    text = whole(write(value))
    again = parse(text) if text and not deeper(value, DEEPEST - 2) else text
    return again if _sound(again) else text


def text_of(value: JSON) -> str:
    """A short field as text: strings as they are, numbers as written, anything else empty."""
    if isinstance(value, str):
        return whole(value)
    if is_number(value):
        return write(value)
    return ""


def count_of(value: JSON) -> int | None:
    """A count as an int, also where it came as text; None for anything that is none, below 0 among it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and len(value) < 20 and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and 0 <= value < 2**63 else None


def amount_of(value: JSON) -> float | None:
    """An amount of money as a float; None for anything that is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        return None
    return float(value)
