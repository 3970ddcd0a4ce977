"""Regular expressions of JSON Schema (ECMA 262), matched in time linear in the text.

`re` backtracks: ``^(a+)+$`` takes seconds for 24 letters and twice as long for 25. The engine of `jsonschema_rs` does
not. Look-around and back-references, which no linear engine supports, are left to a worker process. `jsonschema_rs` is
imported on first use.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from playground.jsonkit.limits import MOST_TEXT, lifted, refuse

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions, RegexOptions

_SIZE: Final = 1_000_000  # bytes of a compiled pattern where the bounds hold
_TRIES: Final = 2_000_000_000  # of a backtracking engine; its process is killed earlier


class PatternError(ValueError):
    """A text is not a regular expression."""


def engine(*, linear: bool) -> RegexOptions | FancyRegexOptions:
    """Return the options for the linear or the backtracking engine."""
    from jsonschema_rs import FancyRegexOptions, RegexOptions

    size = None if lifted() else _SIZE
    return RegexOptions(size_limit=size) if linear else FancyRegexOptions(backtrack_limit=_TRIES, size_limit=size)


def found_in(pattern: str, text: str) -> bool:
    """Return whether ``pattern`` matches somewhere in ``text``. Raises PatternError and TooCostlyError."""
    if len(pattern) * len(text) > MOST_TEXT * 10:
        refuse("a pattern is tried on a long text")
    try:
        return _prepared(pattern).is_valid(text)
    except UnicodeEncodeError:
        return _prepared(pattern).is_valid(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


@lru_cache(maxsize=256)
def _prepared(pattern: str) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator, ValidationError

    schema = {"pattern": pattern}
    try:
        return Draft202012Validator(schema, pattern_options=engine(linear=True))
    except UnicodeEncodeError:
        raise PatternError("half of a character") from None
    except ValidationError:
        refuse("a pattern looks ahead or back, or is large")
    try:
        return Draft202012Validator(schema, pattern_options=engine(linear=False))
    except ValidationError:
        raise PatternError("not a regular expression") from None
