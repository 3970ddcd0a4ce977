"""Validation of answers against their response format: JSON, and the schema.

A format is ``{type, …}``; if its type is ``json_schema``, it contains the schema itself or in the member of that name.
Invalid answers and formats are reported as problems, not raised.
"""

from __future__ import annotations

import json
from enum import Enum

from playground.domain.tools import NAME_RULE, check_schema
from playground.jsonkit.problems import Problem
from playground.jsonkit.reading import parse_json
from playground.jsonkit.schema_refs import subschemas
from playground.jsonkit.validation import check_value
from playground.jsonkit.values import JSONObject


class SchemaShape(Enum):
    """Where a format has the name and the schema."""

    NESTED = "in an object of the type's name"
    FLAT = "beside the type"
    BARE = "beside the type, without a name"

    @property
    def is_named(self) -> bool:
        """Return whether a schema has a name, a description, and may be strict."""
        return self is not SchemaShape.BARE


JSON_TYPES = ("json_object", "json_schema")
STRICT_LIST = 5  # warnings about strict that are listed


def wants_json(response_format: JSONObject | None) -> bool:
    """Return whether a format asks for JSON, so that an answer can be validated."""
    return response_format is not None and response_format.get("type") in JSON_TYPES


def schema_of(response_format: JSONObject | None) -> JSONObject | None:
    """Return the schema of a format; None if it has none."""
    if response_format is None or response_format.get("type") != "json_schema":
        return None
    inner = response_format.get("json_schema")
    schema = (inner if isinstance(inner, dict) else response_format).get("schema")
    return schema if isinstance(schema, dict) else None


def check_answer(text: str, response_format: JSONObject | None) -> list[Problem]:
    """Return the problems of an answer's exact text; empty if it is valid or the format does not ask for JSON.

    Invalid JSON is one problem without a path, which states the position. Each violation of the schema has the path of
    the invalid value.
    """
    if not wants_json(response_format):
        return []
    try:
        value = parse_json(text)
    except ValueError as error:
        return [Problem((), f"not JSON: {_why_not(text, error)}")]
    schema = schema_of(response_format)
    return check_value(value, schema) if schema is not None else []


def check_format(name: str | None, schema: JSONObject | None, strict: bool | None) -> list[Problem]:
    """Return the problems of an edited schema format; ``name`` is None if the protocol has no name for schemas.

    Paths begin with ``name`` or ``schema``. The rule for names is that of tools: a–z A–Z 0–9 _ -, at most 64.
    """
    problems: list[Problem] = []
    if name == "":
        problems.append(Problem(("name",), "a name is needed"))
    elif name is not None and not NAME_RULE.match(name):
        problems.append(Problem(("name",), "use letters, digits, _ and - only, at most 64"))
    if schema is not None:
        of_schema = [Problem(("schema", *p.path[1:]), p.message, p.severity) for p in check_schema(schema)]
        problems += of_schema
        if strict and not any(p.severity == "error" for p in of_schema):
            problems += _check_strict(schema)
    return problems


def _check_strict(schema: JSONObject) -> list[Problem]:
    """Return warnings on what strict mode usually rejects: open objects, and properties that are not required."""
    out: list[Problem] = []
    for inside, inner in subschemas(schema):
        path = ("schema", *inside)
        properties, required = inner.get("properties"), inner.get("required")
        if not isinstance(properties, dict):
            continue
        if inner.get("additionalProperties") is not False:
            out.append(Problem(path, 'strict usually requires "additionalProperties": false', "warning"))
        optional = [name for name in properties if not isinstance(required, list) or name not in required]
        if optional:
            names = ", ".join(f"“{name}”" for name in optional[:3]) + ("…" if len(optional) > 3 else "")
            out.append(Problem((*path, "properties"), f"strict usually requires {names} among the required", "warning"))
    return out[:STRICT_LIST]


def _why_not(text: str, error: ValueError) -> str:
    """Return where and why a text is not JSON, in plain words for the commonest cases."""
    stripped = text.strip()
    if not stripped:
        return "the answer is empty"
    if stripped.startswith("```"):
        return "it is in a Markdown code fence"
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    if stripped[0] not in '{["-0123456789tfn':
        return "it begins with other text"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"it breaks off before its end (line {text.rstrip().count(chr(10)) + 1})"
    if error.msg.startswith("Extra data"):
        return f"other text follows the JSON (line {error.lineno}, column {error.colno})"
    return f"line {error.lineno}, column {error.colno}: {error.msg[:1].lower()}{error.msg[1:]}"
