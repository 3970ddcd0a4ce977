"""Versions of JSON Schema: which version a schema declares, its validator, and its translation to the newest version.

A schema without ``$schema`` is read as 2020-12. `jsonschema_rs` is imported on first use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from playground.jsonkit.schema_refs import BY_NAME, DATA
from playground.jsonkit.values import JSON, JSONObject

if TYPE_CHECKING:
    from jsonschema_rs import FancyRegexOptions, RegexOptions, Validator

NEWEST: Final = "2020-12"
#: Addresses in ``$schema``, without scheme and fragment, and the versions that they name.
_DRAFTS: Final = {
    "json-schema.org/draft-04/schema": "draft-04",
    "json-schema.org/draft-06/schema": "draft-06",
    "json-schema.org/draft-07/schema": "draft-07",
    "json-schema.org/draft/2019-09/schema": "2019-09",
    "json-schema.org/draft/2020-12/schema": NEWEST,
    "json-schema.org/schema": NEWEST,
    "spec.openapis.org/oas/3.1/dialect/base": NEWEST,
}
_META_SCHEMAS: Final = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    NEWEST: "https://json-schema.org/draft/2020-12/schema",
}
_IGNORES_BESIDE_REF: Final = ("draft-04", "draft-06", "draft-07")
_BOUNDS: Final = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_ITEM_POINTER: Final = re.compile(r"(?<!/properties)/items/(?=\d+(?:/|\Z))")
_DEEPEST: Final = 300  # levels that are translated


def draft_of(schema: JSON) -> str:
    """Return the version that ``$schema`` names; the newest one where it names none or an unknown one."""
    return _DRAFTS.get(_address(schema), NEWEST)


def unknown_draft(schema: JSON) -> str:
    """Return the text of ``$schema`` where it names no known version; empty for a known or absent one."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    return declared if isinstance(declared, str) and _address(schema) not in _DRAFTS else ""


def validator_for(schema: JSON, patterns: RegexOptions | FancyRegexOptions) -> Validator:
    """Prepare a validator of the version that the schema declares; it fetches nothing.

    Raises what the library raises for a schema that cannot be used.
    """
    return _validator_class(draft_of(schema))(schema, pattern_options=patterns, offline=True)


def meta_validator_for(schema: JSON) -> Validator:
    """Prepare the validator of schemas themselves, in the version that ``schema`` declares."""
    draft = draft_of(schema)
    return _validator_class(draft)({"$ref": _META_SCHEMAS[draft]}, offline=True)


def to_newest(schema: JSON) -> JSON:
    """Translate a schema of an older version to 2020-12, as far as both have the same keywords.

    For forms, samples and checks of incomplete values; the verdict on a value is the validator's.
    """
    draft = draft_of(schema)
    if draft == NEWEST or not isinstance(schema, dict):
        return schema
    translated = _translated(schema, draft, 0)
    return {key: value for key, value in translated.items() if key != "$schema"}


def _address(schema: JSON) -> str:
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    return declared.strip().partition("://")[2].rstrip("#/") if isinstance(declared, str) else ""


def _validator_class(draft: str) -> Callable[..., Validator]:
    import jsonschema_rs

    return {
        "draft-04": jsonschema_rs.Draft4Validator,
        "draft-06": jsonschema_rs.Draft6Validator,
        "draft-07": jsonschema_rs.Draft7Validator,
        "2019-09": jsonschema_rs.Draft201909Validator,
        NEWEST: jsonschema_rs.Draft202012Validator,
    }[draft]


def _translated(schema: JSON, draft: str, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema
    if draft in _IGNORES_BESIDE_REF and isinstance(schema.get("$ref"), str):
        effective = ("$ref", "definitions", "$defs", "title", "description")
        schema = {key: value for key, value in schema.items() if key in effective}
    out: JSONObject = {}
    for key, value in schema.items():
        if key in DATA:
            out[key] = value
        elif isinstance(value, dict) and key in BY_NAME:
            out[key] = {name: _translated(inner, draft, depth + 2) for name, inner in value.items()}
        elif isinstance(value, list):
            out[key] = [_translated(inner, draft, depth + 2) for inner in value]
        else:
            out[key] = _translated(value, draft, depth + 1)
    if isinstance(out.get("$ref"), str):
        out["$ref"] = _ITEM_POINTER.sub("/prefixItems/", out["$ref"])
    _translate_tuple(out)
    _translate_dependencies(out)
    if draft == "draft-04":
        _translate_bounds(out)
    anchor = out.get("$id", out.get("id"))
    if draft in _IGNORES_BESIDE_REF and isinstance(anchor, str) and anchor.startswith("#"):
        out["$anchor"] = anchor[1:]
    return out


def _translate_tuple(schema: JSONObject) -> None:
    rest = schema.pop("additionalItems", None)
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if rest is not None:
            schema["items"] = rest


def _translate_dependencies(schema: JSONObject) -> None:
    dependencies = schema.get("dependencies")
    if not isinstance(dependencies, dict):
        return
    del schema["dependencies"]
    names = {name: value for name, value in dependencies.items() if isinstance(value, list)}
    schemas = {name: value for name, value in dependencies.items() if isinstance(value, dict | bool)}
    if names:
        schema["dependentRequired"] = names | (schema.get("dependentRequired") or {})
    if schemas:
        schema["dependentSchemas"] = schemas | (schema.get("dependentSchemas") or {})


def _translate_bounds(schema: JSONObject) -> None:
    for bound, exclusive in _BOUNDS:
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)
