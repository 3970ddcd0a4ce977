"""Schemas of an OpenAPI document as JSON Schema 2020-12 that stands on its own.

References move to ``$defs``; what only OpenAPI 3.0 says (``nullable``, ``exclusiveMinimum: true``, ``example``) is said
as the standard says it.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from playground.engine.files.tool_import.found import ToolCollector, legal_name, unique_name
from playground.jsonkit.schema_refs import BY_NAME, DATA, pointer_of, reach, target_of
from playground.jsonkit.values import JSON, JSONObject, Path

_DROPPED: Final = frozenset(("xml", "externalDocs", "discriminator"))
_DEEPEST: Final = 60


class Schemas:
    """The schemas of one tool. ``old``: the document is OpenAPI 3.0."""

    def __init__(self, document: JSONObject, found: ToolCollector, old: bool) -> None:
        self._document = document
        self._found = found
        self._old = old
        self._names: dict[Path, str] = {}
        self._definitions: JSONObject = {}
        self._left: deque[tuple[str, Path]] = deque()  # definitions whose inside was not read yet

    def definitions(self) -> JSONObject:
        """What was referred to, directly or not."""
        while self._left:  # one after the other: a chain of references may be longer than Python's stack
            name, path = self._left.popleft()
            self._definitions[name] = self.of(reach(self._document, path))
        return self._definitions

    def of(self, schema: JSON, depth: int = 0) -> JSON:
        """A schema with its references led to the definitions."""
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return schema if isinstance(schema, bool) else {}
        out: JSONObject = {}
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                out |= self._reference(value)
            elif key in DATA or key in _DROPPED:
                out |= {} if key in _DROPPED else {key: value}
            elif key in BY_NAME and isinstance(value, dict):
                out[key] = {name: self._inner(inner, depth + 1) for name, inner in value.items()}
            else:
                out[key] = self._inner(value, depth + 1)
        if self._old and "$ref" in out:  # there, whatever stands beside a reference means nothing but its words
            out = {key: value for key, value in out.items() if key in ("$ref", "description")}
        return self._modern(out) if self._old else out

    def _inner(self, value: JSON, depth: int) -> JSON:
        if isinstance(value, list):
            return [self.of(part, depth) if isinstance(part, dict) else part for part in value]
        return self.of(value, depth) if isinstance(value, dict) else value

    def _reference(self, ref: str) -> JSONObject:
        path = target_of(self._document, ref)
        if path is None:
            where = "leads nowhere" if ref.startswith("#") else "leads out of the document"
            self._found.note(f"the reference “{ref[:80]}” {where}, so any value is allowed there")
            return {}
        if path not in self._names:
            name = unique_name(legal_name(str(path[-1]) if path else "document"), set(self._definitions))
            self._names[path] = name
            self._definitions[name] = {}
            self._left.append((name, path))
        return {"$ref": pointer_of(("$defs", self._names[path]))}

    def _modern(self, schema: JSONObject) -> JSON:
        for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if isinstance(schema.get(bound), bool):
                exclusive = schema.pop(bound)
                if exclusive and limit in schema:
                    schema[bound] = schema.pop(limit)
        if "example" in schema:
            schema["examples"] = [schema.pop("example")]
        if schema.pop("nullable", None) is not True:
            return schema
        kind = schema.get("type")
        if isinstance(kind, str):
            schema["type"] = [kind, "null"]
            if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
                schema["enum"] = [*schema["enum"], None]
            return schema
        words = {key: schema.pop(key) for key in ("description", "title", "default") if key in schema}
        return {"anyOf": [schema, {"type": "null"}], **words}
