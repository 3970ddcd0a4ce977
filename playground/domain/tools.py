"""Tool definitions and what can be said about them and about arguments without running anything.

`jsonschema` is imported on first use: it is not needed to show a window.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playground.domain.json_tree import Path
from playground.domain.schema_refs import BY_NAME, DATA, reach, target_of
from playground.domain.tokens import definition_tokens
from playground.domain.values import JSON, JSONObject, Value

NAME_RULE = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
TYPES = "string", "number", "integer", "boolean", "object", "array", "null"  # of JSON Schema
NO_ALTERNATIVE = "fits none of the alternatives"
LARGE = 2000  # tokens of one definition above which its size is worth a word
DEEPEST = 60  # steps of a path into a schema that is looked through


class ToolDefinition(Value):
    """A function the model may call (specification, section 2.3).

    ``parameters`` is a JSON Schema object, or None where the definition has none. ``source`` holds the text
    of the definition as typed while it is not valid JSON, so that no keystroke is lost; such a tool is not sent.
    ``text`` is the schema as somebody spelled it where that differs from our own layout, and ``group`` the heading it
    stands under in the list; neither goes over the wire.
    """

    name: str
    description: str = ""
    parameters: JSONObject | None = None
    strict: bool | None = None
    enabled: bool = True
    source: str | None = None
    text: str | None = None
    group: str = ""

    @property
    def sendable(self) -> bool:
        """Whether this tool is part of the request: switched on and readable."""
        return self.enabled and self.source is None

    @property
    def offer(self) -> tuple[str, str, JSONObject | None, bool | None]:
        """What of it a request carries: two tools with the same offer are the same one on the wire."""
        return self.name, self.description, self.parameters, self.strict


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to say about a definition or an argument: where (a JSON path of keys and indexes) and what.

    ``offset`` is the place in the raw text, in characters, where that is known.
    """

    path: tuple[str | int, ...]
    message: str
    severity: str = "error"  # or "warning"
    offset: int | None = None

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
    out = [check_definition(tool) for tool in tools]
    for number, problem in doubled_names(tools):
        out[number].insert(0, problem)
    return out


def doubled_names(tools: tuple[ToolDefinition, ...]) -> list[tuple[int, Problem]]:
    """The tools whose name another one before them has: their number and the problem."""
    first: dict[str, int] = {}
    for number, tool in enumerate(tools):
        first.setdefault(tool.name, number)
    return [
        (number, Problem(("name",), f"the name “{tool.name}” is also used by tool {first[tool.name] + 1}"))
        for number, tool in enumerate(tools)
        if tool.name and first[tool.name] != number
    ]


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
    if tool.source is None:
        problems += _without_description(tool.parameters)
        size = definition_tokens(tool)
        if size > LARGE:
            problems.append(Problem((), f"≈ {size:,} tokens go with every request for this tool alone", "warning"))
    return problems


def _without_description(schema: JSON) -> list[Problem]:
    """One warning for all parameters, nested ones too, that neither they nor what they refer to describes."""
    bare = [
        (name, path)
        for path, inner in subschemas(schema)
        if isinstance(inner.get("properties"), dict)
        for name, parameter in inner["properties"].items()
        if not _described(schema, parameter)
    ]
    if not bare:
        return []
    names = ", ".join(f"“{name}”" for name, _ in bare[:3]) + (f" and {len(bare) - 3} more" if len(bare) > 3 else "")
    verb = "has" if len(bare) == 1 else "have"
    where = ("parameters", *bare[0][1], "properties", bare[0][0])
    return [Problem(where, _short(f"{names} {verb} no description"), "warning")]


def _described(root: JSON, schema: JSON) -> bool:
    for _ in range(8):  # references to references
        if not isinstance(schema, dict):
            return True  # true and false say all there is to say
        words = schema.get("description")
        if (isinstance(words, str) and words.strip()) or "const" in schema:
            return True
        parts = [part for union in ("anyOf", "oneOf", "allOf") for part in _list(schema, union)]
        if any(isinstance(part, dict) and part.get("description") for part in parts):
            return True
        refs = [part["$ref"] for part in (schema, *parts) if isinstance(part, dict) and "$ref" in part]
        path = target_of(root, refs[0]) if refs and isinstance(refs[0], str) else None
        if path is None:
            return False
        schema = reach(root, path)
    return False


def _list(schema: JSONObject, keyword: str) -> list[JSON]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


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
    for path, inner in subschemas(schema):
        problems += _check_required(inner, ("parameters", *path))
        ref = inner.get("$ref")
        if isinstance(ref, str) and target_of(schema, ref) is None:
            local = ref.startswith("#")
            words = "leads nowhere" if local else "leads to another document, which is not fetched"
            found = Problem(("parameters", *path, "$ref"), _short(f"“{ref}” {words}"), "error" if local else "warning")
            problems.append(found)
    return sorted(problems, key=lambda problem: problem.severity != "error")


def _check_required(schema: JSONObject, path: Path) -> list[Problem]:
    """Required names that do not exist, where all names are listed."""
    properties = schema.get("properties")
    elsewhere = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if", "dependentSchemas")
    if any(word in schema for word in elsewhere) or not (isinstance(properties, dict) or path == ("parameters",)):
        return []
    known = properties if isinstance(properties, dict) else {}
    return [
        Problem((*path, "required"), f"“{name}” is required but is not among the properties", "warning")
        for name in _list(schema, "required")
        if isinstance(name, str) and name not in known
    ]


def subschemas(schema: JSON) -> Iterator[tuple[Path, JSONObject]]:
    """Every schema object inside a schema with its path, itself first; 60 levels deep, and not what is data."""
    waiting: list[tuple[Path, JSON, bool]] = [((), schema, True)]
    while waiting:
        path, node, is_schema = waiting.pop()
        if len(path) > DEEPEST:
            continue
        if isinstance(node, dict):
            if is_schema:
                yield path, node
            inner = [((*path, key), value, not is_schema or key not in BY_NAME) for key, value in node.items()]
            waiting += reversed([step for step in inner if not is_schema or step[0][-1] not in DATA])
        elif isinstance(node, list):
            waiting += reversed([((*path, number), value, True) for number, value in enumerate(node)])


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
    if error.validator in ("anyOf", "oneOf") and "valid under any" in error.message:
        shown = json.dumps(error.instance, ensure_ascii=False)
        return f"{shown if len(shown) <= 200 else shown[:197] + '...'} {NO_ALTERNATIVE}"
    if error.validator == "type":
        wanted = error.validator_value
        wanted = " or ".join(wanted) if isinstance(wanted, list) else wanted
        return _short(f"{json.dumps(error.instance, ensure_ascii=False)} is not of type {wanted}")
    return _short(error.message)


def _short(text: str) -> str:
    return text if len(text) <= 300 else text[:297] + "..."
