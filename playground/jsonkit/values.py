"""What a JSON value is, the way to a place inside it, and when two of them are the same."""

from __future__ import annotations

from typing import Any, TypeAlias

#: What `json.loads` returns. A recursive alias would slow the type checker and pydantic for no gain.
JSON: TypeAlias = Any
JSONObject: TypeAlias = dict[str, Any]
#: The names and numbers that lead to a value, outermost first.
Path: TypeAlias = tuple[str | int, ...]
