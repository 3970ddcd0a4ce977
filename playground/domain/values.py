"""The base of every value: frozen, compared by content, tolerant of fields it does not know."""

from __future__ import annotations

from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

#: What `json.loads` returns. A recursive alias would slow the type checker and pydantic for no gain.
JSON: TypeAlias = Any
JSONObject: TypeAlias = dict[str, Any]


class Value(BaseModel):
    """A frozen value. Unknown fields are kept, so that what a newer version wrote is not lost."""

    # Built when first used, not at import: most are not needed before the first run.
    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
