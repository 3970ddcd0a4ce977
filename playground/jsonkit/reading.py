"""Strict reading of JSON: the value of a text, or the position and the reason why it is not JSON.

`foreign` reads what other programs send, valid or not; `tree` reads positions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Final

from playground.jsonkit import problems
from playground.jsonkit.nesting import loads
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.tokens import TOKEN
from playground.jsonkit.values import JSON

READ_AT_MOST: Final = 2_000_000  # characters of a typed or pasted text: a fiftieth of a second

_MESSAGES: Final = {
    "Expecting value": problems.NO_VALUE,
    "Illegal trailing comma": "a comma is too many",  # CPython 3.13 and later
    "Expecting property name enclosed in double quotes": "a name in double quotes is expected (or a comma is too many)",
    "Expecting ':' delimiter": problems.NO_COLON,
    "Expecting ',' delimiter": problems.NO_COMMA,
    "Extra data": problems.TEXT_AFTER_END,
    "Unterminated string starting at": problems.NO_CLOSING_QUOTE,
    "Invalid control character at": problems.CONTROL_CHARACTER,
    "Invalid \\escape": problems.ODD_ESCAPE,
    "Illegal trailing comma before end of object": problems.COMMA_TOO_MANY,
    "Illegal trailing comma before end of array": problems.COMMA_TOO_MANY,
}


class _NotJsonError(ValueError):
    """A number or word that Python reads and JSON does not have."""

    def __init__(self, word: str, message: str) -> None:
        super().__init__(message)
        self.word = word


def parse_json(text: str, parse_float: Callable[[str], float] | None = None) -> JSON:
    """Decode JSON. Raises only ValueError, also for deep nesting, huge numbers, NaN and Infinity."""
    try:
        return loads(text, parse_constant=_constant, parse_float=parse_float)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_typed(text: str, most: int = READ_AT_MOST) -> JSON:
    """Read a text that a person edits, in which a number too large for a double is a problem, too.

    Raises JsonTextError at the first problem: an empty text, and one of more than ``most`` characters, because it is
    read again after each key press.
    """
    if len(text) > most:
        raise JsonTextError(text, 0, too_long(most))
    try:
        return parse_json(text, _finite)
    except json.JSONDecodeError as error:
        message = next((ours for theirs, ours in _MESSAGES.items() if error.msg.startswith(theirs)), error.msg)
        raise JsonTextError(text, error.pos, message if text.strip() else problems.NOTHING) from None
    except _NotJsonError as error:
        offset = next((match.start() for match in TOKEN.finditer(text) if match[0] == error.word), 0)
        raise JsonTextError(text, offset, str(error)) from None
    except ValueError as error:
        raise JsonTextError(text, 0, "a number has too many digits" if "digits" in str(error) else str(error)) from None


def too_long(most: int = READ_AT_MOST) -> str:
    """Return the problem of a text above the length limit."""
    return f"more than {most // 1_000_000} MB, which is not read"


def problem_at(text: str) -> JsonTextError | None:
    """Return the first problem of a text that a person edits; None when it is JSON."""
    try:
        read_typed(text)
    except JsonTextError as error:
        return error.with_traceback(None)
    return None


def _constant(word: str) -> JSON:
    raise _NotJsonError(word, f"{word} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _NotJsonError(digits, "this number is too large")
    return number
