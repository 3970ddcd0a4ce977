"""Tools from an OpenAPI document (2.0 to 3.2): one for each operation, with one schema for parameters and body.

``readOnly`` members are left out, because a caller does not send them. References inside the document become
definitions of the tool, recursion included; nothing is fetched.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from playground.domain.tools import ToolDefinition
from playground.engine.files.tool_import.collector import (
    ToolCollector,
    legal_name,
    list_names,
    object_schema,
    unique_name,
)
from playground.engine.files.tool_import.definitions import without_nullable
from playground.jsonkit.schema_refs import BY_NAME, DATA, pointer_of, reach, resolved, target_of
from playground.jsonkit.values import JSON, JSONObject, Path, same

_METHODS: Final = "get", "put", "post", "delete", "options", "head", "patch", "trace", "query"
_IGNORED_HEADERS: Final = frozenset(("accept", "content-type", "authorization"))  # the standard says so
_PLAIN: Final = frozenset(
    (
        "type", "properties", "required", "title", "description", "example", "examples", "additionalProperties",
        "xml", "externalDocs", "$schema", "$id", "$comment", "readOnly", "writeOnly", "deprecated",
    )
)  # fmt: skip
#: Members of a parameter in OpenAPI 2.0 that say what its values are.
_INLINE: Final = frozenset(
    (
        "type", "format", "items", "default", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "multipleOf", "x-nullable",
    )
)  # fmt: skip
_MAX_OPERATIONS: Final = 1000
_MAX_PARTS: Final = 200  # of one object's schema, where its read-only members are looked for

_UNIONS: Final = "allOf", "anyOf", "oneOf"
_DROPPED: Final = frozenset(("xml", "externalDocs", "discriminator"))
_MAX_DEPTH: Final = 60


class Schemas:
    """The schemas of one tool. ``old``: the document is older than OpenAPI 3.1, whose schemas are JSON Schema."""

    def __init__(self, document: JSONObject, collector: ToolCollector, old: bool) -> None:
        self._document = document
        self._collector = collector
        self._old = old
        self._names: dict[Path, str] = {}
        self._definitions: JSONObject = {}
        self._pending: deque[tuple[str, Path]] = deque()  # definitions whose content is not read yet
        self.read_only: dict[str, None] = {}  # members that are left out

    def definitions(self) -> JSONObject:
        """Return all definitions that are referred to, also indirectly."""
        while self._pending:  # one after the other: a chain of references may be longer than Python's stack
            name, path = self._pending.popleft()
            self._definitions[name] = self.convert(reach(self._document, path))
        return self._definitions

    def convert(self, schema: JSON, depth: int = 0, left_out: frozenset[str] = frozenset()) -> JSON:
        """Return a schema whose references lead to the definitions.

        ``left_out`` are members of the same object that are read-only in another part of an ``allOf``.
        """
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return schema if isinstance(schema, bool) else {}
        left_out |= self.read_only_members(schema)
        out: JSONObject = {}
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                out |= self._reference(value)
            elif key == "properties" and isinstance(value, dict):
                out[key] = {
                    name: self.convert(inner, depth + 1) for name, inner in value.items() if name not in left_out
                }
                self.read_only |= dict.fromkeys(name for name in value if name in left_out)
            elif key == "required" and isinstance(value, list):
                required = [name for name in value if isinstance(name, str) and name not in left_out]
                out |= {key: required} if required or not value else {}
            elif key in DATA or key in _DROPPED:
                out |= {} if key in _DROPPED else {key: value}
            elif key in BY_NAME and isinstance(value, dict):
                out[key] = {name: self._inner(inner, depth + 1) for name, inner in value.items()}
            elif key in _UNIONS and isinstance(value, list):
                out[key] = [self.convert(part, depth + 1, left_out) for part in value]
            else:
                out[key] = self._inner(value, depth + 1)
        if self._old and "$ref" in out:  # only a description counts next to a reference
            out = {key: value for key, value in out.items() if key in ("$ref", "description")}
        return self._modern(out) if self._old else out

    def read_only_members(self, schema: JSON) -> frozenset[str]:
        """The names of an object's members that are read-only, in any part of its schema."""
        names: set[str] = set()
        waiting, seen = [schema], set[int]()
        while waiting and len(seen) < _MAX_PARTS:
            part = waiting.pop()
            if part is not schema:  # what a schema refers to is another object, which is read by itself
                part = resolved(self._document, part)
            if not isinstance(part, dict) or id(part) in seen:
                continue
            seen.add(id(part))
            properties = part.get("properties")
            for name, member in properties.items() if isinstance(properties, dict) else ():
                if name not in names and self.is_read_only(member):
                    names.add(name)
            for key in _UNIONS:
                parts = part.get(key)
                waiting += parts if isinstance(parts, list) else []
        return frozenset(names)

    def is_read_only(self, schema: JSON) -> bool:
        """Return whether a member is one that only answers have, as its schema or a part of it says."""
        waiting, seen = [schema], set[int]()
        while waiting and len(seen) < _MAX_PARTS:
            part = waiting.pop()
            if not isinstance(part, dict) or id(part) in seen:
                continue
            seen.add(id(part))
            if part.get("readOnly") is True:
                return True
            target = resolved(self._document, part) if "$ref" in part else None
            parts = part.get("allOf")
            waiting += [target, *(parts if isinstance(parts, list) else ())]
        return False

    def _inner(self, value: JSON, depth: int) -> JSON:
        if isinstance(value, list):
            return [self.convert(part, depth) if isinstance(part, dict) else part for part in value]
        return self.convert(value, depth) if isinstance(value, dict) else value

    def _reference(self, ref: str) -> JSONObject:
        path = target_of(self._document, ref)
        if path is None:
            where = "leads nowhere" if ref.startswith("#") else "leads out of the document"
            self._collector.note(f"the reference “{ref[:80]}” {where}, so any value is allowed there")
            return {}
        if path not in self._names:
            name = unique_name(legal_name(str(path[-1]) if path else "document"), set(self._definitions))
            self._names[path] = name
            self._definitions[name] = {}
            self._pending.append((name, path))
        return {"$ref": pointer_of(("$defs", self._names[path]))}

    def _modern(self, schema: JSONObject) -> JSON:
        for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if isinstance(schema.get(bound), bool):
                exclusive = schema.pop(bound)
                if exclusive and limit in schema:
                    schema[bound] = schema.pop(limit)
        if "x-nullable" in schema:  # OpenAPI 2.0 has no word for it
            schema.setdefault("nullable", schema.pop("x-nullable"))
        if schema.get("type") == "file":  # of OpenAPI 2.0
            schema |= {"type": "string", "format": "binary"}
        if "example" in schema:
            schema["examples"] = [schema.pop("example")]
        return without_nullable(schema)


def read(document: JSONObject, collector: ToolCollector) -> str:
    """Put a tool for each operation into ``found``; return the problem if there are none, or ""."""
    version = str(document.get("openapi", document.get("swagger")))  # in YAML, 3.1 is a number
    if version != "2" and not version.startswith(("2.", "3.")):
        return f"OpenAPI 2.0 to 3.2 are supported, not {version[:20]}; convert the document first"
    paths = document.get("paths")
    if not isinstance(paths, dict) or not paths:
        return "this OpenAPI document has no paths"
    for path, item in paths.items():
        shared = resolved(document, item)
        for method in _METHODS if isinstance(shared, dict) else ():
            operation = resolved(document, shared.get(method))
            if isinstance(operation, dict):
                if len(collector.tools) == _MAX_OPERATIONS:
                    collector.note(f"only the first {_MAX_OPERATIONS:,} operations are read")
                    return ""
                collector.tools.append(_Operation(document, str(path), method, shared, operation, collector).tool())
    return "" if collector.tools else "there are no operations in this OpenAPI document"


class _Operation:
    """One operation that becomes a tool."""

    def __init__(
        self,
        document: JSONObject,
        path: str,
        method: str,
        item: JSONObject,
        operation: JSONObject,
        collector: ToolCollector,
    ) -> None:
        self._document = document
        self._item = item
        self._operation = operation
        self._collector = collector
        operation_id = operation.get("operationId")
        self._name = legal_name(
            operation_id if isinstance(operation_id, str) and operation_id else f"{method}_{path.strip('/')}"
        )
        self._head = f"{method.upper()} {path}"
        self._schemas = Schemas(document, collector, old=str(document.get("openapi", "2.0")).startswith(("2", "3.0")))
        self._properties: JSONObject = {}
        self._required: list[str] = []

    def tool(self) -> ToolDefinition:
        """Return the tool; its name may be a duplicate."""
        parameters = self._parameters()
        for parameter in parameters:
            if parameter.get("in") not in ("body", "formData"):
                self._add_parameter(parameter)
        body = resolved(self._document, self._operation.get("requestBody"))
        self._add_body(_body_of(parameters) if body is None else body)
        schema = object_schema(self._properties, self._required)
        definitions = self._schemas.definitions()
        if definitions:
            schema["$defs"] = definitions
        if names := list(self._schemas.read_only):
            self._note(f"read-only members are left out: {list_names([f'“{name[:80]}”' for name in names])}")
        return ToolDefinition(name=self._name, description=self._description(), parameters=schema)

    def _note(self, text: str) -> None:
        self._collector.note(f"{self._name}: {text}")

    def _description(self) -> str:
        words = [self._operation.get(word) for word in ("summary", "description")]
        texts = list(dict.fromkeys(text.strip() for text in words if isinstance(text, str) and text.strip()))
        if not texts:
            inherited = self._item.get("summary") or self._item.get("description")
            texts = [inherited if isinstance(inherited, str) else self._head]
        if self._operation.get("deprecated") is True:
            texts.append("(Deprecated.)")
        return "\n\n".join(texts)

    def _parameters(self) -> list[JSONObject]:
        """Return the parameters of the path and of the operation, which override the path's."""
        out: dict[tuple[str, str], JSONObject] = {}
        for owner in (self._item, self._operation):
            listed = owner.get("parameters")
            for entry in listed if isinstance(listed, list) else ():
                parameter = resolved(self._document, entry)
                if isinstance(parameter, dict) and isinstance(parameter.get("name"), str):
                    out[parameter["name"], str(parameter.get("in"))] = parameter
                else:
                    self._note("a parameter that cannot be read is left out")
        return list(out.values())

    def _add_parameter(self, parameter: JSONObject) -> None:
        name, place = parameter["name"], parameter.get("in")
        if place == "header" and name.lower() in _IGNORED_HEADERS:
            return
        if place == "cookie":
            self._note(f"the cookie “{name}” is left out")
            return
        if name in self._properties:
            self._collector.note(
                f"{self._name}: “{name}” is there twice; the one in the {place} is “{place}_{name}” here"
            )
            name = f"{place}_{name}"
        schema = parameter.get("schema")
        if schema is None:
            content = parameter.get("content")
            schema = next((part.get("schema") for part in _dicts(content)), None)
        if schema is None:  # OpenAPI 2.0 has the words of the schema in the parameter itself
            schema = {key: value for key, value in parameter.items() if key in _INLINE}
        self._properties[name] = self._with_words(self._schemas.convert(schema), parameter)
        if parameter.get("required") is True or place == "path":
            self._required.append(name)

    def _with_words(self, schema: JSON, owner: JSONObject) -> JSON:
        """Return the schema with the description and example of its parameter."""
        out = dict(schema) if isinstance(schema, dict) else {}
        if isinstance(schema, bool) and not schema:
            return schema
        words = owner.get("description")
        if isinstance(words, str) and words.strip():
            out["description"] = words.strip()
        if "example" in owner and "examples" not in out:
            out["examples"] = [owner["example"]]
        return out

    def _add_body(self, body: JSON) -> None:
        if not isinstance(body, dict):
            return
        content = body.get("content")
        kinds = [kind for kind, part in content.items() if isinstance(part, dict)] if isinstance(content, dict) else []
        if not isinstance(content, dict) or not kinds:
            return
        plain = [kind for kind in kinds if kind.split(";")[0].strip() == "application/json"]
        kind = next(iter(plain), next((kind for kind in kinds if "json" in kind), kinds[0]))
        alternatives = [name for name in kinds if not same(content[name].get("schema"), content[kind].get("schema"))]
        if alternatives:
            self._collector.note(
                f"{self._name}: the body may also be {', '.join(alternatives)[:200]}, which is left out"
            )
        if "json" not in kind:
            self._note(f"the body is {kind}, not JSON")
        schema = content[kind].get("schema", {})
        flat = self._flat(schema)
        if flat is not None and not flat["properties"].keys() & self._properties.keys():
            object_schema = self._schemas.convert({key: flat[key] for key in ("properties", "required") if key in flat})
            members = object_schema["properties"] if isinstance(object_schema, dict) else {}
            self._properties |= members
            alone = self._properties.keys() == members.keys()  # without it the call would say nothing
            if (body.get("required") is True or alone) and isinstance(object_schema, dict):
                self._required += [name for name in object_schema.get("required", ()) if name in members]
            return
        name = "body" if "body" not in self._properties else "request_body"
        self._properties[name] = self._with_words(self._schemas.convert(schema), body)
        if body.get("required") is True:
            self._required.append(name)

    def _flat(self, schema: JSON) -> JSONObject | None:
        """Return the body as an object whose members can join the parameters; None for any other body."""
        body = resolved(self._document, schema)
        if not isinstance(body, dict) or not isinstance(body.get("properties"), dict):
            return None
        is_plain = {key for key in body if not key.startswith("x-")} <= _PLAIN
        return body if is_plain and not isinstance(body.get("additionalProperties"), dict) else None


def _body_of(parameters: list[JSONObject]) -> JSON:
    """Return the body that parameters of OpenAPI 2.0 describe as a ``requestBody``, or None."""
    for parameter in parameters:
        if parameter.get("in") == "body":
            return {**parameter, "content": {"application/json": {"schema": parameter.get("schema", {})}}}
    fields = [parameter for parameter in parameters if parameter.get("in") == "formData"]
    if not fields:
        return None
    words = _INLINE | {"description"}
    properties = {it["name"]: {key: value for key, value in it.items() if key in words} for it in fields}
    required = [it["name"] for it in fields if it.get("required") is True]
    has_file = any(it.get("type") == "file" for it in fields)
    kind = "multipart/form-data" if has_file else "application/x-www-form-urlencoded"
    schema = {"type": "object", "properties": properties, "required": required}
    return {"required": bool(required), "content": {kind: {"schema": schema}}}


def _dicts(value: JSON) -> list[JSONObject]:
    return [inner for inner in value.values() if isinstance(inner, dict)] if isinstance(value, dict) else []
