"""The base of every value: frozen, compared by content, tolerant of fields it does not know."""

from __future__ import annotations

import sys
from functools import cache
from typing import Annotated, Any, Final, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, WithJsonSchema

#: A text that may have many lines. Where it is kept in a file for people, a list of its lines may stand for it.
LINES: Final = WithJsonSchema({"format": "lines"})
LongText: TypeAlias = Annotated[str, LINES]


class Value(BaseModel):
    """A frozen value. Unknown fields are kept, so that what a newer version wrote is not lost."""

    # Built when first used, not at import: most are not needed before the first run.
    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Values share one table of their fields' names only if the first of them were set one by one.

        Checking sets none of them so, and after thirty checked values it is too late: from then on each value that was
        not checked has a table of its own, in three times the memory.
        """
        first = cls.__new__(cls)
        for name in cls.model_fields:
            object.__setattr__(first, name, None)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself: it is frozen. Pydantic would copy a default, all the way down, for each value that has it."""
        return self


V = TypeVar("V", bound=Value)

#: Whether instances share a table of names and have room for no more values than that has. Since 3.13 there is room for
#: thirty, and a table of its own is smaller.
_SHARED: Final = sys.version_info < (3, 13)
_NONE_BESIDE: Final[dict[str, Any]] = {}  # of all lean values: they are frozen, and a copy of one has its own


def lean(kind: type[V], /, **fields: object) -> V:
    """A value made of fields that are known to be right, in half the memory: an answer may have a million parts.

    All fields have to be given. It is the same value as one that was checked: only what pydantic notes of each instance
    is here noted once.
    """
    made = kind.__new__(kind)
    put = object.__setattr__
    if _SHARED:
        for name, value in fields.items():
            put(made, name, value)
    else:
        put(made, "__dict__", fields)
    put(made, "__pydantic_fields_set__", _all_fields(kind))
    put(made, "__pydantic_extra__", _NONE_BESIDE)
    put(made, "__pydantic_private__", None)
    return made


@cache
def _all_fields(kind: type[Value]) -> set[str]:
    return set(kind.model_fields)
