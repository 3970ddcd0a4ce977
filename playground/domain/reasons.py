"""What is wrong with a value that was read from a file, in words for people: where it stands, and what is wanted.

The words of the libraries that found it are for their own users: no tuple and no token is named here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

from playground.jsonkit.texts import cut

LONGEST: Final = 200  # characters of a reason

#: What is wanted in place of what stands there, by the beginning of pydantic's name for the error.
_WANTED: Final = (
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
    ("extra_forbidden", "is not known here"),
    ("recursion_loop", "is nested too deeply"),
    ("union_tag", "must name a kind that is known here"),
)
_BOUNDS: Final = {
    "greater_than": ("gt", "must be more than"),
    "greater_than_equal": ("ge", "must not be less than"),
    "less_than": ("lt", "must be less than"),
    "less_than_equal": ("le", "must not be more than"),
}


def reason_of(error: Exception) -> str:
    """What is wrong, in one line, from whatever reading a value raises: ``turn 3, part 1: “text” is missing``."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return shortened(_at(first["loc"], _wanted(first["type"], first["msg"], first.get("ctx", {}))))
    return shortened(str(error))


def shortened(text: str) -> str:
    """A text in one line that is not too long for a message."""
    line = " ".join(text.split())
    return cut(line, LONGEST)


def _wanted(kind: str, message: str, context: dict[str, object]) -> str:
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"{words} {context.get(name)}"
    if kind in ("enum", "literal_error"):
        return f"must be one of {str(context.get('expected', '')).replace(' or ', ', ')}"
    if kind in ("value_error", "assertion_error"):
        return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return next((words for start, words in _WANTED if kind.startswith(start)), "cannot be read as what it should be")


def _at(place: Sequence[str | int], wanted: str) -> str:
    """``wanted`` with its place before it; lists are counted from 1, as people do."""
    steps: list[str] = []
    name = ""
    for step in place:
        if isinstance(step, int):
            if steps and name:
                steps.pop()
            steps.append(f"{name.removesuffix('s') or 'item'} {step + 1}")
            name = ""
        elif not (name == "" and steps and steps[-1].startswith("part ")):  # pydantic names the kind of a part as well
            steps.append(f"“{step}”")
            name = step
        else:
            name = step
    if not steps:
        return f"it {wanted}"
    *where, last = steps
    return f"{', '.join(where)}: {last} {wanted}" if where else f"{last} {wanted}"


#: What a JSONPath parser calls what it met, and what people call it.
_TOKEN: Final = re.compile(r"'?TOKEN_\w+'?")


def path_reason(error: Exception, path: str) -> str:
    """Why ``path`` is no JSONPath (RFC 9535), from what the parser raised."""
    said = str(next(iter(error.args), "")).partition("\n")[
        0
    ]  # at the end of a text the parser fails in spelling it out
    token = getattr(error, "token", None)
    at = getattr(token, "index", -1)
    if not path.strip():
        return "it is empty; a path begins with $"
    if not path.lstrip().startswith("$"):
        return "a path begins with $, which stands for the arguments"
    if not isinstance(at, int) or not 0 <= at < len(path):
        return "it ends too early"
    where = f"at character {at + 1}, “{path[at : at + 12]}”"
    if path[at] in "'\"" and path.count(path[at]) % 2:
        return f"the quotation mark {where} is never closed"
    if re.match(r"=(?!=)", path[at:]) and path[at - 1 : at] not in ("=", "!", "<", ">"):
        return f"{where}: values are compared with =="
    if not said or _TOKEN.search(said) or said.startswith("unexpected"):
        return f"{where}: something else is expected there"
    return f"{said} ({where})"
