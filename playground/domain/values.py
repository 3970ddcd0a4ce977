"""The base class of every value: frozen, compared by content, tolerant of unknown fields."""

from __future__ import annotations

from typing import Annotated, Any, Final, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, WithJsonSchema

#: The JSON Schema of a text that may have many lines; a file for people may hold it as a list of its lines.
LINES: Final = WithJsonSchema({"format": "lines"})
LongText: TypeAlias = Annotated[str, LINES]


class Value(BaseModel):
    """A frozen value. Unknown fields are kept, so that a file of a newer version loses nothing."""

    # Validators are built on first use: most values are not needed before the first run.
    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return the value itself: it is frozen, and pydantic would copy each default all the way down."""
        return self
