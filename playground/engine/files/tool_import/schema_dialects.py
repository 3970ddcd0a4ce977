"""JSON Schema from the dialects of OpenAPI 3.0 and of Gemini: ``nullable``, types in capitals, numbers as texts."""

from __future__ import annotations

from typing import Final

from playground.jsonkit.schema_refs import BY_NAME, DATA
from playground.jsonkit.values import JSON, JSONObject

_CAPITALS: Final = frozenset(("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"))
_UNSPECIFIED: Final = "TYPE_UNSPECIFIED"
_SIZES: Final = frozenset(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"))
#: Words of Gemini's API, as its Python library spells them too, that JSON Schema has another word for.
_SPELLED: Final = {
    "any_of": "anyOf", "min_items": "minItems", "max_items": "maxItems", "min_length": "minLength",
    "max_length": "maxLength", "min_properties": "minProperties", "max_properties": "maxProperties",
    "additional_properties": "additionalProperties", "property_ordering": "propertyOrdering", "defs": "$defs",
    "ref": "$ref",
}  # fmt: skip
_DEEPEST: Final = 60


def without_nullable(schema: JSONObject) -> JSONObject:
    """A schema of OpenAPI 3.0 or Gemini that says in JSON Schema that null is allowed. Its members stay as they are."""
    if schema.pop("nullable", None) is not True:
        return schema
    kind = schema.get("type")
    if isinstance(kind, str):
        schema["type"] = [kind, "null"]
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return schema
    words: JSONObject = {key: schema.pop(key) for key in ("description", "title", "default") if key in schema}
    return {"anyOf": [schema, {"type": "null"}], **words}


def is_gemini(schema: JSON) -> bool:
    """Return whether a schema, or one in it, has a type in capitals."""
    waiting = [schema]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            kind = inner.get("type")
            if isinstance(kind, str) and (kind in _CAPITALS or kind == _UNSPECIFIED):
                return True
            waiting += inner.values()
        elif isinstance(inner, list):
            waiting += inner
    return False


def from_gemini(schema: JSON, depth: int = 0) -> JSON:
    """A schema of Gemini's API as JSON Schema."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema if isinstance(schema, bool) else {}
    out: JSONObject = {}
    for word, value in schema.items():
        key = str(_SPELLED.get(word, word))
        if key == "type":
            kinds = [_lower(kind) for kind in (value if isinstance(value, list) else [value])]
            out |= {} if kinds == [None] else {key: kinds if isinstance(value, list) else kinds[0]}
        elif key == "example":
            out.setdefault("examples", [value])
        elif key == "$ref" and isinstance(value, str):
            out[key] = value.replace("#/defs/", "#/$defs/")
        elif key in _SIZES and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
            out[key] = int(value)
        elif key in DATA:
            out[key] = value
        elif key in BY_NAME and isinstance(value, dict):
            out[key] = {name: from_gemini(inner, depth + 1) for name, inner in value.items()}
        elif isinstance(value, list):
            out[key] = [from_gemini(part, depth + 1) if isinstance(part, dict) else part for part in value]
        else:
            out[key] = from_gemini(value, depth + 1) if isinstance(value, dict) else value
    return without_nullable(_ordered(out))


def _lower(kind: JSON) -> JSON:
    if kind == _UNSPECIFIED:
        return None
    return kind.lower() if isinstance(kind, str) and kind in _CAPITALS else kind


def _ordered(schema: JSONObject) -> JSONObject:
    """The properties in the order that ``propertyOrdering`` gives them, in its place."""
    order, properties = schema.get("propertyOrdering"), schema.get("properties")
    if isinstance(order, list) and isinstance(properties, dict):
        del schema["propertyOrdering"]
        names = [name for name in order if isinstance(name, str) and name in properties]
        schema["properties"] = {name: properties[name] for name in dict.fromkeys([*names, *properties])}
    return schema
