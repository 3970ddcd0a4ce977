"""Validation errors in words for people: the place of the invalid value, and the expected value.

The messages of pydantic and of the JSONPath parser address programmers, so they are rephrased.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

from playground.jsonkit.texts import cut

LONGEST: Final = 200  # characters of a reason

#: The requirement on a value, by the beginning of pydantic's error type.
_REQUIREMENTS: Final = (
    ("missing", "is missing"),
    ("string_too_", "has the wrong length"),
    ("string", "must be text"),
    ("int", "must be a whole number"),
    ("float", "must be a number"),
    ("finite_number", "must be a number"),
    ("bool", "must be true or false"),
    ("tuple", "must be a list"),
    ("list", "must be a list"),
    ("dict", "must be an object"),
    ("model", "must be an object"),
    ("extra_forbidden", "is unknown"),
    ("recursion_loop", "is nested too deeply"),
    ("union_tag", "must name a known kind"),
)
_BOUNDS: Final = {
    "greater_than": ("gt", "must be more than"),
    "greater_than_equal": ("ge", "must not be less than"),
    "less_than": ("lt", "must be less than"),
    "less_than_equal": ("le", "must not be more than"),
}


def reason_of(error: Exception) -> str:
    """Return the reason of an error while reading a value, on one line: ``turn 3, part 1: “text” is missing``."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return shortened(_with_place(first["loc"], _requirement(first["type"], first["msg"], first.get("ctx", {}))))
    return shortened(str(error))


def shortened(text: str) -> str:
    """Return a text on one line, cut to the length of a message."""
    line = " ".join(text.split())
    return cut(line, LONGEST)


def _requirement(kind: str, message: str, context: dict[str, object]) -> str:
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"{words} {context.get(name)}"
    if kind in ("enum", "literal_error"):
        return f"must be one of {str(context.get('expected', '')).replace(' or ', ', ')}"
    if kind in ("value_error", "assertion_error"):
        return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return next((words for start, words in _REQUIREMENTS if kind.startswith(start)), "is invalid")


def _with_place(place: Sequence[str | int], requirement: str) -> str:
    """Prefix a requirement with its place; items are counted from 1."""
    steps: list[str] = []
    name = ""
    for step in place:
        if isinstance(step, int):
            if steps and name:
                steps.pop()
            steps.append(f"{name.removesuffix('s') or 'item'} {step + 1}")
            name = ""
        elif not (
            name == "" and steps and steps[-1].startswith("part ")
        ):  # pydantic's path contains the kind of a part
            steps.append(f"“{step}”")
            name = step
        else:
            name = step
    if not steps:
        return f"it {requirement}"
    *parents, last = steps
    return f"{', '.join(parents)}: {last} {requirement}" if parents else f"{last} {requirement}"


#: A token name in the messages of the JSONPath parser.
_TOKEN: Final = re.compile(r"'?TOKEN_\w+'?")


def path_reason(error: Exception, path: str) -> str:
    """Return why ``path`` is not a JSONPath (RFC 9535), from the parser's error."""
    # The parser's str() fails for an error at the end of the text.
    message = str(next(iter(error.args), "")).partition("\n")[0]
    token = getattr(error, "token", None)
    index = getattr(token, "index", -1)
    if not path.strip():
        return "it is empty; a path begins with $"
    if not path.lstrip().startswith("$"):
        return "a path begins with $, which means the arguments"
    if not isinstance(index, int) or not 0 <= index < len(path):
        return "it ends too early"
    place = f"at character {index + 1}, “{path[index : index + 12]}”"
    if path[index] in "'\"" and path.count(path[index]) % 2:
        return f"the quotation mark {place} is never closed"
    if re.match(r"=(?!=)", path[index:]) and path[index - 1 : index] not in ("=", "!", "<", ">"):
        return f"{place}: values are compared with =="
    if not message or _TOKEN.search(message) or message.startswith("unexpected"):
        return f"{place}: something else is expected there"
    return f"{message} ({place})"
