"""Import of tools from definitions in JSON, the source of Python functions, or OpenAPI; and export. Nothing is run.

No imported text raises an error.
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
from playground.engine.files.tool_import.collector import Imported, Kind, ToolCollector
from playground.engine.files.tool_import.python_values import parse_source
from playground.engine.io.yaml_text import YamlError, read_yaml
from playground.jsonkit.layout import indented
from playground.jsonkit.reading import parse_json
from playground.jsonkit.relaxed import read_relaxed
from playground.jsonkit.values import JSON
from playground.protocols.protocol import get_protocol

MAX_SIZE: Final = 20_000_000  # characters
_FUNCTION: Final = re.compile(r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*[(\[]|class[ \t]+\w+[^\n]*:)", re.MULTILINE)
_TRAILING: Final = re.compile(r",\s*[}\]]")
_EVENT: Final = re.compile(r"^data:[ \t]*(\{.*)$", re.MULTILINE)
_YAML: Final = re.compile(r"^[\"']?(openapi|swagger)[\"']?[ \t]*:", re.MULTILINE)


def import_tools(text: str, used_names: Iterable[str] = ()) -> Imported:
    """Return the tools of a text, under legal names that are not among ``used_names``.

    It may have tool definitions of vendors, libraries and MCP in JSON or YAML (one, a list, a whole request body),
    functions and classes in Python, and OpenAPI 2 and 3 in JSON or YAML.
    """
    if len(text) > MAX_SIZE:
        return Imported("nothing", problem=f"this is too long to import: {len(text):,} characters")
    text = _unfenced(text.strip("\ufeff")).strip("\r\n")
    if not text.strip():
        return Imported("nothing", problem="there is nothing to import")
    try:
        value = _read_json(text.strip())
    except ValueError as error:
        return _from_text(textwrap.dedent(text).strip(), error, used_names)
    return _from_value(value, used_names)


def _read_json(text: str) -> JSON:
    """Return the value of JSON, also with comments, as JSON Lines, or in a server-sent event.

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
    """Return a JSON list of definitions in the shape of a protocol, without tools whose text is not JSON.

    Raises ValueError for an unknown protocol.
    """
    protocol = get_protocol(protocol_id)
    return indented([protocol.write_tool(tool) for tool in tools if tool.source is None])


def _unfenced(text: str) -> str:
    """Return the content of a Markdown code fence, if the text is nothing else."""
    stripped = text.strip()
    if not stripped.startswith("```") or not stripped.endswith("```") or "\n" not in stripped:
        return text
    return stripped[stripped.index("\n") + 1 : -3]


def _from_value(value: JSON, used_names: Iterable[str]) -> Imported:
    collector = ToolCollector()
    if isinstance(value, dict) and ("openapi" in value or "swagger" in value):
        problem = openapi.read(value, collector)
        return _outcome("openapi", collector, problem, used_names)
    problem = definitions.read(value, collector)
    return _outcome("definitions", collector, problem, used_names)


def _from_text(text: str, error: ValueError, used_names: Iterable[str]) -> Imported:
    if _YAML.search(text) and text[0] not in "{[":
        try:
            return _from_value(read_yaml(text).value, used_names)
        except YamlError as failed:
            return Imported("nothing", problem=f"this looks like an OpenAPI document in YAML, but {failed}")
    if _FUNCTION.search(text):
        collector = ToolCollector()
        problem = python_source.read(text, collector)
        return _outcome("python", collector, problem, used_names)
    value = _python_value(text)
    if value is None and text[0] not in "{[":
        value = _yaml_value(text)
    if value is not None:
        return _from_value(value, used_names)
    if text[0] in "{[":
        return Imported("nothing", problem=f"not JSON: {error}")
    return Imported(
        "nothing",
        problem="this is neither JSON (tool definitions, OpenAPI) nor the source of a Python function",
    )


def _python_value(text: str) -> JSON:
    """Return the value of a Python literal, also of one that is assigned to a name; None for other texts."""
    try:
        body = parse_source(text).body
        values = [node.value for node in body if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign) and node.value]
        read = [ast.literal_eval(value) for value in values if isinstance(value, ast.Dict | ast.List)]
        return json.loads(json.dumps(read[0] if len(read) == 1 else read)) if read else None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _yaml_value(text: str) -> JSON:
    """Return the object or list of a text in YAML, or None."""
    try:
        value = read_yaml(text).value
    except YamlError:
        return None
    return value if isinstance(value, dict | list) and value else None


def _outcome(kind: Kind, collector: ToolCollector, problem: str, used_names: Iterable[str]) -> Imported:
    tools = collector.named(used_names)
    if not tools:
        return Imported("nothing", notes=tuple(collector.notes), problem=problem or "no tools in it")
    return Imported(kind, tools, tuple(collector.notes))
