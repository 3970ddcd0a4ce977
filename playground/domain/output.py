"""What an answer is worth under the response format it was asked for: is it JSON, and does it fit the schema.

A format is ``{type, …}``, and where its type is ``json_schema`` the schema stands in it, or in the member of that name.
Nothing is raised for what a model or a person wrote. `jsonschema_rs` is imported on first use.
"""

from __future__ import annotations

import json

from playground.domain.tools import NAME_RULE, check_schema
from playground.jsonkit.problems import Problem
from playground.jsonkit.reading import parse_json
from playground.jsonkit.schema_refs import subschemas
from playground.jsonkit.validation import check_value
from playground.jsonkit.values import JSONObject

JSON_TYPES = ("json_object", "json_schema")
STRICT_LIST = 5  # warnings about strict that are listed; more would say the same again


def wants_json(response_format: JSONObject | None) -> bool:
    """Whether an answer under this format is to be JSON, and so can be judged."""
    return response_format is not None and response_format.get("type") in JSON_TYPES


def schema_of(response_format: JSONObject | None) -> JSONObject | None:
    """The schema an answer has to fit; None when the format has none."""
    if response_format is None or response_format.get("type") != "json_schema":
        return None
    inner = response_format.get("json_schema")
    schema = (inner if isinstance(inner, dict) else response_format).get("schema")
    return schema if isinstance(schema, dict) else None


def check_answer(text: str, response_format: JSONObject | None) -> list[Problem]:
    """Problems of an answer's exact text. Empty for a format that asks for no JSON, or when all is well.

    An answer that is not JSON is one problem without a path, which says where. Under a schema, each violation has
    the path of the value that is wrong.
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
    """Problems of a schema format as a person writes it; ``name`` is None where the protocol has no name for it.

    Paths begin with ``name`` or ``schema``. The rule for names is that of tools: a–z A–Z 0–9 _ -, at most 64.
    """
    problems: list[Problem] = []
    if name == "":
        problems.append(Problem(("name",), "a name is needed"))
    elif name is not None and not NAME_RULE.match(name):
        problems.append(Problem(("name",), "use letters, digits, _ and - only, at most 64"))
    if schema is not None:
        found = [Problem(("schema", *p.path[1:]), p.message, p.severity) for p in check_schema(schema)]
        problems += found
        if strict and not any(p.severity == "error" for p in found):
            problems += _check_strict(schema)
    return problems


def _check_strict(schema: JSONObject) -> list[Problem]:
    """What gateways usually refuse with strict on: open objects, and properties that are not required."""
    out: list[Problem] = []
    for inside, inner in subschemas(schema):
        path = ("schema", *inside)
        properties, required = inner.get("properties"), inner.get("required")
        if not isinstance(properties, dict):
            continue
        if inner.get("additionalProperties") is not False:
            out.append(Problem(path, 'strict usually wants "additionalProperties": false here', "warning"))
        left = [name for name in properties if not isinstance(required, list) or name not in required]
        if left:
            names = ", ".join(f"“{name}”" for name in left[:3]) + ("…" if len(left) > 3 else "")
            out.append(Problem((*path, "properties"), f"strict usually wants {names} among the required", "warning"))
    return out[:STRICT_LIST]


def _why_not(text: str, error: ValueError) -> str:
    """Where and why a text is no JSON, in the words of the commonest cases."""
    stripped = text.strip()
    if not stripped:
        return "the answer is empty"
    if stripped.startswith("```"):
        return "it stands in a Markdown code fence"
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    if stripped[0] not in '{["-0123456789tfn':
        return "it begins with other text"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"it breaks off before its end (line {text.rstrip().count(chr(10)) + 1})"
    if error.msg.startswith("Extra data"):
        return f"other text follows the JSON (line {error.lineno}, column {error.colno})"
    return f"line {error.lineno}, column {error.colno}: {error.msg[:1].lower()}{error.msg[1:]}"
