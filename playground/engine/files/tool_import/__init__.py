"""Tools from elsewhere: definitions in JSON, the source of Python functions, an OpenAPI document. Nothing is run.

Never raises for what is pasted. Tools are written as text again, too.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterable
from typing import Final

from playground.domain.tools import ToolDefinition
from playground.engine.files.tool_import import definitions, openapi, python_source
from playground.engine.files.tool_import.found import Imported, Kind, ToolCollector
from playground.engine.files.tool_import.python_values import parse_source
from playground.engine.io.yaml_text import YamlError, read_yaml
from playground.jsonkit.layout import indented
from playground.jsonkit.reading import parse_json
from playground.jsonkit.relaxed import read_relaxed
from playground.jsonkit.values import JSON
from playground.protocols.protocol import get_protocol

LARGEST: Final = 20_000_000  # characters
_FUNCTION: Final = re.compile(r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*[(\[]|class[ \t]+\w+[^\n]*:)", re.MULTILINE)
_TRAILING: Final = re.compile(r",\s*[}\]]")
_EVENT: Final = re.compile(r"^data:[ \t]*(\{.*)$", re.MULTILINE)
_YAML: Final = re.compile(r"^[\"']?(openapi|swagger)[\"']?[ \t]*:", re.MULTILINE)


def import_tools(text: str, taken: Iterable[str] = ()) -> Imported:
    """The tools that a text describes, under legal names that are not among ``taken``.

    Understood are tool definitions of vendors, libraries and MCP in JSON or YAML (one, a list, a whole request body),
    functions and classes in Python, and OpenAPI 2 and 3 in JSON or YAML.
    """
    if len(text) > LARGEST:
        return Imported("nothing", problem=f"this is too long to import: {len(text):,} characters")
    text = _unfenced(text.strip("\ufeff")).strip("\r\n")
    if not text.strip():
        return Imported("nothing", problem="there is nothing to import")
    try:
        value = _read_json(text.strip())
    except ValueError as error:
        return _no_json(textwrap.dedent(text).strip(), error, taken)
    return _from_value(value, taken)


def _read_json(text: str) -> JSON:
    """The value of JSON, of JSON with comments, of JSON a line each, or of the event in which a server sends it.

    Raises ValueError.
    """
    try:
        return parse_json(text)
    except ValueError:
        if text[0] in "{[" and ("//" in text or "/*" in text or _TRAILING.search(text)):
            return read_relaxed(text)
        lines = [line for line in text.split("\n") if line.strip()]  # JSON may have U+2028 in a text
        if len(lines) > 1 and all(line.lstrip()[0] == "{" and line.rstrip()[-1] == "}" for line in lines):
            return [parse_json(line) for line in lines]
        events = _EVENT.findall(text)
        if events and text.startswith(("data:", "event:", "id:")):
            return parse_json(events[-1])
        raise


def export_tools(tools: Iterable[ToolDefinition], protocol_id: str) -> str:
    """The definitions as that protocol spells them: a JSON list. A tool whose text is not JSON yet is left out.

    Raises ValueError for a protocol we do not speak.
    """
    protocol = get_protocol(protocol_id)
    return indented([protocol.write_tool(tool) for tool in tools if tool.source is None])


def _unfenced(text: str) -> str:
    """What stands in a Markdown code fence, where that is all there is."""
    whole = text.strip()
    if not whole.startswith("```") or not whole.endswith("```") or "\n" not in whole:
        return text
    return whole[whole.index("\n") + 1 : -3]


def _from_value(value: JSON, taken: Iterable[str]) -> Imported:
    found = ToolCollector()
    if isinstance(value, dict) and ("openapi" in value or "swagger" in value):
        problem = openapi.read(value, found)
        return _outcome("openapi", found, problem, taken)
    problem = definitions.read(value, found)
    return _outcome("definitions", found, problem, taken)


def _no_json(text: str, error: ValueError, taken: Iterable[str]) -> Imported:
    if _YAML.search(text) and text[0] not in "{[":
        try:
            return _from_value(read_yaml(text).value, taken)
        except YamlError as failed:
            return Imported("nothing", problem=f"this looks like an OpenAPI document in YAML, but {failed}")
    if _FUNCTION.search(text):
        found = ToolCollector()
        problem = python_source.read(text, found)
        return _outcome("python", found, problem, taken)
    value = _python_value(text)
    if value is None and text[0] not in "{[":
        value = _yaml_value(text)
    if value is not None:
        return _from_value(value, taken)
    if text[0] in "{[":
        return Imported("nothing", problem=f"not JSON: {error}")
    return Imported(
        "nothing",
        problem="this is neither JSON (tool definitions, OpenAPI) nor the source of a Python function",
    )


def _python_value(text: str) -> JSON:
    """The literal in Python notation that a text is, or assigns to a name; None when it is neither."""
    try:
        body = parse_source(text).body
        values = [node.value for node in body if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign) and node.value]
        read = [ast.literal_eval(value) for value in values if isinstance(value, ast.Dict | ast.List)]
        return json.loads(json.dumps(read[0] if len(read) == 1 else read)) if read else None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _yaml_value(text: str) -> JSON:
    """The object or list that a text in YAML stands for; None where it is none."""
    try:
        value = read_yaml(text).value
    except YamlError:
        return None
    return value if isinstance(value, dict | list) and value else None


def _outcome(kind: Kind, found: ToolCollector, problem: str, taken: Iterable[str]) -> Imported:
    tools = found.named(taken)
    if not tools:
        return Imported("nothing", notes=tuple(found.notes), problem=problem or "no tools in it")
    return Imported(kind, tools, tuple(found.notes))
