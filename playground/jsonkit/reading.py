"""The value of a JSON text that is to be JSON and nothing else, and where and why one is not.

What strangers send, right or not, is read by `foreign`; where each thing stands in a text, by `tree`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Final

from playground.jsonkit import problems
from playground.jsonkit.layout import TOKEN
from playground.jsonkit.nesting import loads
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.values import JSON

READ_AT_MOST: Final = 2_000_000  # characters that somebody typed or pasted: a fiftieth of a second

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
    """`json.loads` that raises only ValueError, whatever the text: deep nesting, huge numbers, NaN and Infinity."""
    try:
        return loads(text, parse_constant=_constant, parse_float=parse_float)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_typed(text: str, most: int = READ_AT_MOST) -> JSON:
    """The same for what somebody types, where a number that is too large to send is no JSON either.

    Raises JsonTextError at the first problem; empty text is one, too. A text of more than ``most`` characters is not
    read: it would be at every key that is typed in it.
    """
    if len(text) > most:
        raise JsonTextError(text, 0, too_long(most))
    try:
        return parse_json(text, _finite)
    except json.JSONDecodeError as error:
        message = next((ours for theirs, ours in _MESSAGES.items() if error.msg.startswith(theirs)), error.msg)
        raise JsonTextError(text, error.pos, message if text.strip() else problems.NOTHING) from None
    except _NotJsonError as error:
        at = next((match.start() for match in TOKEN.finditer(text) if match[0] == error.word), 0)
        raise JsonTextError(text, at, str(error)) from None
    except ValueError as error:
        raise JsonTextError(text, 0, "a number has too many digits" if "digits" in str(error) else str(error)) from None


def too_long(most: int = READ_AT_MOST) -> str:
    """What a text is that is not read for its length."""
    return f"more than {most // 1_000_000} MB, which is not read here"


def problem_at(text: str) -> JsonTextError | None:
    """The first problem of a text that somebody types, or None when it is JSON."""
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
