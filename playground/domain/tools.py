"""Tool definitions, and the validation of definitions and arguments.

Checks that may take long raise TooCostlyError; ``engine.questions`` then runs them in a killable worker process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from playground.domain.hidden import short_name
from playground.domain.parts import ToolCall
from playground.domain.tokens import estimate_tokens
from playground.domain.tool_servers import Hints
from playground.domain.values import LongText, Value
from playground.jsonkit import limits
from playground.jsonkit.drafts import NEWEST, unknown_draft
from playground.jsonkit.problems import Problem, short
from playground.jsonkit.reading import READ_AT_MOST, parse_json, too_long
from playground.jsonkit.schema_refs import reach, subschemas, target_of
from playground.jsonkit.validation import check_value, schema_problem
from playground.jsonkit.values import JSON, JSONObject, Path

NAME_RULE = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
LARGE = 2000  # tokens of one definition above which there is a warning


class ToolDefinition(Value):
    """A function the model may call (specification, section 2.3).

    ``parameters`` is a JSON Schema object, or None if the definition has none. ``source`` is the typed text of the
    definition while it is not valid JSON, so that no input is lost; such a tool is not sent. ``text`` is the source
    text of the schema if it differs from our own layout, and ``group`` its heading in the list; neither is sent.

    ``server`` is the name of its tool server, empty for a person's own tool; ``remote`` is its name on the server if
    the protocol does not allow that or another tool has it, else empty; ``output`` is the schema of its results and
    ``hints`` are its annotations. They are not sent either.

    ``custom`` marks a custom tool, whose input is free text instead of JSON, and has the members of its definition
    besides name and description (such as ``format``).
    """

    name: str
    description: LongText = ""
    parameters: JSONObject | None = None
    strict: bool | None = None
    enabled: bool = True
    source: LongText | None = None
    text: LongText | None = None
    group: str = ""
    server: str = ""
    remote: str = ""
    output: JSONObject | None = None
    hints: Hints | None = None
    custom: JSONObject | None = None

    @property
    def name_there(self) -> str:
        """The name of the tool on its server."""
        return self.remote or self.name

    @property
    def sendable(self) -> bool:
        """Return whether the tool is part of requests: enabled and valid JSON."""
        return self.enabled and self.source is None

    @property
    def unread(self) -> str:
        """The reason why a definition is not sent; empty if it is valid JSON."""
        if self.source is None:
            return ""
        return too_long() if len(self.source) > READ_AT_MOST else "not a JSON object yet"

    @property
    def offer(self) -> tuple[str, str, JSONObject | None, bool | None, JSONObject | None]:
        """The fields that are sent: tools with an equal offer are equal on the wire."""
        return self.name, self.description, self.parameters, self.strict, self.custom


def doubled_names(tools: tuple[ToolDefinition, ...]) -> list[tuple[int, Problem]]:
    """Return the index and the problem of each tool with the name of a previous one."""
    first: dict[str, int] = {}
    for number, tool in enumerate(tools):
        first.setdefault(tool.name, number)
    return [
        (number, Problem(("name",), f"the name “{short_name(tool.name)}” is also used by tool {first[tool.name] + 1}"))
        for number, tool in enumerate(tools)
        if tool.name and first[tool.name] != number
    ]


def check_definition(tool: ToolDefinition) -> list[Problem]:
    """Return the problems of one definition, errors first. Raises TooCostlyError."""
    problems: list[Problem] = []
    if not tool.name:
        problems.append(Problem(("name",), "a name is needed"))
    elif not NAME_RULE.match(tool.name):
        problems.append(Problem(("name",), "use letters, digits, _ and - only, at most 64"))
    if tool.source is not None:
        problems.append(Problem((), f"the definition is {tool.unread}, so this tool is not sent"))
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
    """Return one warning for all parameters, nested ones too, without a description of their own or by reference."""
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
    return [Problem(where, short(f"{names} {verb} no description"), "warning")]


def _described(root: JSON, schema: JSON) -> bool:
    for _ in range(8):  # references to references
        if not isinstance(schema, dict):
            return True  # the schemas true and false need no description
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
    """Return the problems of a parameters schema: JSON Schema, an object at the top, required names that exist.

    Raises TooCostlyError.
    """
    if not isinstance(schema, dict):
        return [Problem(("parameters",), "must be a JSON Schema object")]
    wrong = schema_problem(schema)
    problems = [Problem(("parameters", *wrong.path), wrong.message)] if wrong is not None else []
    if unknown := unknown_draft(schema):
        words = f"“{unknown}” is not a known version of JSON Schema: the schema is read as {NEWEST}"
        problems.append(Problem(("parameters", "$schema"), short(words), "warning"))
    if schema.get("type") != "object" and "$ref" not in schema:
        problems.append(Problem(("parameters", "type"), 'gateways expect "type": "object"', "warning"))
    for path, inner in subschemas(schema):
        problems += _check_required(inner, ("parameters", *path))
        ref = inner.get("$ref")
        if isinstance(ref, str) and target_of(schema, ref) is None:
            local = ref.startswith("#")
            words = "leads nowhere" if local else "leads to another document, which is not fetched"
            message, severity = short(f"“{ref}” {words}"), "error" if local else "warning"
            problems.append(Problem(("parameters", *path, "$ref"), message, severity))
    return sorted(problems, key=lambda problem: problem.severity != "error")


def _check_required(schema: JSONObject, path: Path) -> list[Problem]:
    """Return a problem for each required name that does not exist in a schema that lists all names."""
    properties = schema.get("properties")
    elsewhere = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if", "dependentSchemas")
    if any(word in schema for word in elsewhere) or not (isinstance(properties, dict) or path == ("parameters",)):
        return []
    names = properties if isinstance(properties, dict) else {}
    return [
        Problem((*path, "required"), f"“{name}” is required but is not among the properties", "warning")
        for name in _list(schema, "required")
        if isinstance(name, str) and name not in names
    ]


def check_arguments(arguments: str, schema: JSONObject | None) -> list[Problem]:
    """Return the problems of raw arguments under the tool's schema. Empty arguments mean ``{}``.

    Raises TooCostlyError, but not without a schema.
    """
    if schema is not None:
        limits.bound_text(arguments)
    try:
        value = parse_json(arguments) if arguments.strip() else {}
    except ValueError as error:
        return [Problem((), f"not JSON: {short(str(error))}")]
    if not isinstance(value, dict):
        return [Problem((), "arguments must be a JSON object")]
    if schema is None:
        return []
    return check_value(value, schema)


def check_call(call: ToolCall, schema: JSONObject | None) -> list[Problem]:
    """Return the problems of a call's arguments; the free text of a custom tool has none. Raises TooCostlyError."""
    return [] if call.free_text else check_arguments(call.arguments, schema)


#: Definitions with their numbers of tokens, by ``id``; holding the definition keeps its ``id`` unique.
Sizes = dict[int, tuple[ToolDefinition, int]]


def sizes_of(tools: Iterable[ToolDefinition], previous: Sizes) -> Sizes:
    """Estimate the tokens of each tool; those in ``previous`` are not computed again."""
    return {id(tool): previous.get(id(tool)) or (tool, definition_tokens(tool)) for tool in tools}


def definition_tokens(tool: ToolDefinition) -> int:
    """Estimate the tokens that a definition adds to a request."""
    words = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    try:
        return estimate_tokens(json.dumps(words, ensure_ascii=False, separators=(",", ":")))
    except (RecursionError, ValueError, TypeError):
        return estimate_tokens(tool.name + tool.description)
