"""Tool definitions and what can be said about them and about arguments without running anything.

`jsonschema` is imported on first use: it is not needed to show a window.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from playground.domain.values import JSON, JSONObject, Value

NAME_RULE = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
TYPES = "string", "number", "integer", "boolean", "object", "array", "null"  # of JSON Schema


class ToolDefinition(Value):
    """A function the model may call (specification, section 2.3).

    ``parameters`` is a JSON Schema object, or None where the definition has none. ``source`` holds the text
    of the definition as typed while it is not valid JSON, so that no keystroke is lost; such a tool is not sent.
    """

    name: str
    description: str = ""
    parameters: JSONObject | None = None
    strict: bool | None = None
    enabled: bool = True
    source: str | None = None

    @property
    def sendable(self) -> bool:
        """Whether this tool is part of the request: switched on and readable."""
        return self.enabled and self.source is None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to say about a definition or an argument: where (a JSON path of keys and indexes) and what."""

    path: tuple[str | int, ...]
    message: str
    severity: str = "error"  # or "warning"

    @property
    def where(self) -> str:
        """The path as people write it: ``items[2].unit``; empty for the whole."""
        out = ""
        for step in self.path:
            out += f"[{step}]" if isinstance(step, int) else (f".{step}" if out else str(step))
        return out


def parse_json(text: str) -> JSON:
    """`json.loads` that raises only ValueError, whatever the text: deep nesting, huge numbers, NaN and Infinity."""
    try:
        return json.loads(text, parse_constant=_not_json)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _not_json(word: str) -> JSON:
    raise ValueError(f"{word} is not JSON")


def check_definitions(tools: tuple[ToolDefinition, ...]) -> list[list[Problem]]:
    """Problems of each tool, in order: name rule, duplicate names, description, schema."""
    seen: dict[str, int] = {}
    out: list[list[Problem]] = []
    for number, tool in enumerate(tools):
        problems = check_definition(tool)
        if tool.name in seen and tool.name:
            problems.insert(0, Problem(("name",), f"the name “{tool.name}” is also used by tool {seen[tool.name] + 1}"))
        seen.setdefault(tool.name, number)
        out.append(problems)
    return out


def check_definition(tool: ToolDefinition) -> list[Problem]:
    """Problems of one definition, errors first."""
    problems: list[Problem] = []
    if not tool.name:
        problems.append(Problem(("name",), "a name is needed"))
    elif not NAME_RULE.match(tool.name):
        problems.append(Problem(("name",), "use letters, digits, _ and - only, at most 64"))
    if tool.source is not None:
        problems.append(Problem((), "the definition is not valid JSON yet, so this tool is not sent"))
    elif tool.parameters is not None:
        problems += check_schema(tool.parameters)
    if not tool.description.strip():
        problems.append(Problem(("description",), "without a description the model has to guess", "warning"))
    return problems


def check_schema(schema: JSON) -> list[Problem]:
    """Problems of a parameters schema: JSON Schema 2020-12, an object at the top, required names that exist."""
    from jsonschema import Draft202012Validator, SchemaError

    if not isinstance(schema, dict):
        return [Problem(("parameters",), "must be a JSON Schema object")]
    problems: list[Problem] = []
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        path = ("parameters", *error.absolute_path)
        problems.append(Problem(path, _phrase(error)))
    except (RecursionError, ValueError, TypeError) as error:
        problems.append(Problem(("parameters",), f"cannot be read as a schema: {_short(str(error))}"))
    if schema.get("type") != "object" and "$ref" not in schema:
        problems.append(Problem(("parameters", "type"), 'gateways expect "type": "object" here', "warning"))
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(required, list):
        known = properties if isinstance(properties, dict) else {}
        problems += [
            Problem(("parameters", "required"), f"“{name}” is required but is not among the properties", "warning")
            for name in required
            if isinstance(name, str) and name not in known
        ]
    return problems


def check_arguments(arguments: str, schema: JSONObject | None) -> list[Problem]:
    """Problems of a call's raw arguments against the tool's schema. Empty arguments mean ``{}``."""
    try:
        value = parse_json(arguments) if arguments.strip() else {}
    except ValueError as error:
        return [Problem((), f"not JSON: {_short(str(error))}")]
    if not isinstance(value, dict):
        return [Problem((), "arguments must be a JSON object")]
    if schema is None:
        return []
    return check_value(value, schema)


def check_value(value: JSON, schema: JSONObject) -> list[Problem]:
    """Problems of a value against a schema, in document order; a broken schema is one problem, never an exception."""
    from jsonschema import Draft202012Validator  # the package itself: two threads may be importing it at once

    try:
        errors = sorted(
            _validator(Draft202012Validator, schema).iter_errors(value),
            key=lambda e: list(map(str, e.absolute_path)),
        )
    except Exception as error:  # noqa: BLE001 - a hostile schema can fail anywhere inside the validator
        return [Problem((), f"the schema cannot be applied: {_short(str(error))}")]
    return [problem for error in errors for problem in _problems_of(error)]


def _problems_of(error: Any) -> list[Problem]:
    """The problems one violation stands for: members that are not allowed are pointed at one by one."""
    path = tuple(error.absolute_path)
    if error.validator == "additionalProperties" and error.validator_value is False:
        patterns = error.schema.get("patternProperties", {})
        known = error.schema.get("properties", {})
        extra = [k for k in error.instance if k not in known and not any(re.search(p, k) for p in patterns)]
        if extra:
            return [Problem((*path, name), "is not allowed by the schema") for name in extra]
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        if len(missing) == 1:
            return [Problem(path, f"“{missing[0]}” is missing")]
    return [Problem(path, _phrase(error))]


def _validator(cls: Any, schema: JSONObject) -> Any:
    from referencing import Registry

    return cls(schema, registry=Registry())  # an empty registry: a remote $ref is an error, never fetched


def _phrase(error: Any) -> str:
    """The validator's message in the words a person would use."""
    if error.validator == "enum":
        allowed = ", ".join(str(item) for item in error.validator_value)
        return _short(f"{json.dumps(error.instance, ensure_ascii=False)} is not one of {allowed}")
    if error.validator == "anyOf" and error.absolute_path and error.absolute_path[-1] == "type":
        found = [name for name in error.instance if name not in TYPES] if isinstance(error.instance, list) else []
        odd = json.dumps(found[0] if found else error.instance, ensure_ascii=False)
        return _short(f"{odd} is not a type; use {', '.join(TYPES[:-1])} or {TYPES[-1]}")
    if error.validator == "type":
        wanted = error.validator_value
        wanted = " or ".join(wanted) if isinstance(wanted, list) else wanted
        return _short(f"{json.dumps(error.instance, ensure_ascii=False)} is not of type {wanted}")
    return _short(error.message)


def _short(text: str) -> str:
    return text if len(text) <= 300 else text[:297] + "..."
