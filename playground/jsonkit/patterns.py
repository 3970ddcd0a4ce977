"""Regular expressions that somebody else wrote, as JSON Schema means them (ECMA 262), in time linear in the text.

`re` goes back and tries again: ``^(a+)+$`` takes it seconds for 24 letters and doubles with each one more. The engine
of `jsonschema_rs` does not. Look-around and back-references, which no linear engine knows, are left to a process that
can be ended. `jsonschema_rs` is imported on first use.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from playground.jsonkit.limits import MOST_TEXT, lifted, refuse

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions, RegexOptions

_SIZE: Final = 1_000_000  # bytes that a pattern may take once it is prepared, where that must not take long
_TRIES: Final = 2_000_000_000  # of an engine that goes back; it is ended before that


class PatternError(ValueError):
    """A text is no regular expression."""


def engine(*, linear: bool) -> RegexOptions | FancyRegexOptions:
    """Which engine a validator takes for its patterns."""
    from jsonschema_rs import FancyRegexOptions, RegexOptions

    size = None if lifted() else _SIZE
    return RegexOptions(size_limit=size) if linear else FancyRegexOptions(backtrack_limit=_TRIES, size_limit=size)


def found_in(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches somewhere in ``text``. Raises PatternError and TooCostlyError."""
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
