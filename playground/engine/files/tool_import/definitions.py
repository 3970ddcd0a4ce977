"""Tool definitions in JSON: any protocol's shape, Gemini's, Bedrock's, Cohere's, MCP's, lists, whole request bodies.

Each member of a definition is kept, or named in a note.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from playground.domain.hidden import short_name
from playground.domain.tool_servers import Hints
from playground.domain.tools import ToolDefinition
from playground.engine.files.tool_import.collector import ToolCollector, list_names, object_schema, read_hints
from playground.jsonkit.reading import parse_json
from playground.jsonkit.schema_refs import BY_NAME, DATA
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT
from playground.protocols.protocol import get_protocol, runs_at_vendor
from playground.protocols.reading import at_vendor, tool_from

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
_MAX_DEPTH: Final = 60


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
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
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


_LISTS: Final = "tools", "functions", "function_declarations", "functionDeclarations"
_WRAPPERS: Final = "result", "body", "params", "request", "toolConfig", "tool_config", "config", "data"
#: The members in which definitions have the schema of their parameters.
_SCHEMAS: Final = (
    "parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema", "args_schema",
    "inputParameters",
)  # fmt: skip
_OUTPUTS: Final = (
    "outputSchema", "output_schema", "responseJsonSchema", "response_json_schema", "response", "output_type",
)  # fmt: skip
_INNER: Final = "json", "jsonSchema", "json_schema"  # where Bedrock and the AI SDK wrap a schema
_ALONE: Final = frozenset((*_SCHEMAS, "function", "name", "toolSpec", "custom", "parameter_definitions"))
_PYTHON_TYPES: Final = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "dict": "object"}
_MAX_DEFINITIONS: Final = 2000


def read(value: JSON, collector: ToolCollector) -> str:
    """Put the tools of a JSON value into ``collector``; return the problem if there are none, or ""."""
    entries = _entries(value, collector)
    if entries is None:
        return "there are no tool definitions in this JSON"
    if len(entries) > _MAX_DEFINITIONS:
        collector.note(f"only the first {_MAX_DEFINITIONS:,} of {len(entries):,} definitions are read")
    for number, entry in enumerate(entries[:_MAX_DEFINITIONS]):
        try:
            collector.tools.append(_tool(entry, collector))
        except ValueError as error:
            collector.note(f"definition {number + 1} is left out: {error}")
    if not collector.tools and collector.notes:
        return collector.notes.pop(0) if len(collector.notes) == 1 else "none of the definitions can be read"
    return ""


def holds_tools(value: JSON) -> bool:
    """Return whether a value is a definition with a name and parameters, or a list of nothing else."""
    if isinstance(value, list):
        return bool(value) and all(holds_tools(entry) for entry in value)
    if not isinstance(value, dict):
        return False
    inner = value.get("function", value)
    return isinstance(inner, dict) and isinstance(inner.get("name"), str) and any(key in inner for key in _SCHEMAS)


# ---- where definitions are -------------------------------------------------------------------------------------------


def _entries(value: JSON, collector: ToolCollector) -> list[JSON] | None:
    """The definitions inside of lists, request bodies and replies; None when there is no place for any."""
    if isinstance(value, list):
        return _entries_of_list(value, collector)
    if not isinstance(value, dict):
        return None
    listed = _list_of(value)
    if listed is not None:
        if value.get("nextCursor"):
            collector.note("the server lists more tools on a following page (“nextCursor”), which is not in this text")
        return _entries(listed, collector)
    for wrapper in _WRAPPERS:
        inner = value.get(wrapper)
        if isinstance(inner, dict) and _list_of(inner) is not None:
            return _entries(inner, collector)
    if value.keys() & _ALONE or _is_schema(value):
        return [value]
    return _by_name(value)


def _entries_of_list(entries: list[JSON], collector: ToolCollector) -> list[JSON]:
    out: list[JSON] = []
    for entry in map(_read_text, entries):
        listed = _list_of(entry) if isinstance(entry, dict) else None
        inner = _entries(listed, collector) if listed is not None else None
        if inner is None or not isinstance(entry, dict):
            out.append(entry)
            continue
        rest = [key for key in entry if key not in (*_LISTS, "type", "name", "description")]
        if rest and not entry.keys() & {"model", "contents"}:
            collector.note(f"left out besides functions: {_quoted(rest)}")
        if isinstance(entry.get("name"), str):
            collector.note(f"the tools of “{short_name(entry['name'])}” are taken without that group")
        out += inner
    return out


def _read_text(value: JSON) -> JSON:
    """The value of a JSON object that is written as a text, as traces of the AI SDK have them; others as they are."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value


def _list_of(value: JSONObject) -> list[JSON] | None:
    if "name" in value and any(key in value for key in _SCHEMAS):
        return None  # a tool of its own
    for word in _LISTS:
        listed = value.get(word)
        if isinstance(listed, list):
            return listed
        if isinstance(listed, dict) and (entries := _by_name(listed)) is not None:
            return entries
    return None


def _by_name(value: JSONObject) -> list[JSON] | None:
    """The definitions of an object that has each under its name, as the AI SDK has them; None for any other object."""
    words = {*_SCHEMAS, "description"}
    if not value or not all(isinstance(entry, dict) and entry.keys() & words for entry in value.values()):
        return None
    if not any(entry.keys() & set(_SCHEMAS) for entry in value.values()):
        return None
    return [{"name": name, **entry} for name, entry in value.items()]


# ---- one definition --------------------------------------------------------------------------------------------------


class _Parts(NamedTuple):
    """A definition taken apart: its function, and the members that are left over."""

    function: JSONObject
    leftover: list[str]
    output: JSONObject | None = None
    hints: Hints | None = None


def _tool(entry: JSON, collector: ToolCollector) -> ToolDefinition:
    """One definition. Raises ValueError saying what is wrong with it."""
    if not isinstance(entry, dict):
        raise ValueError("a tool definition is a JSON object")
    if _is_schema(entry) and "name" not in entry:
        return _tool_of_schema(entry, collector)
    if isinstance(entry.get("toolSpec"), dict):
        entry = entry["toolSpec"]
    if _is_free_text(entry):
        return _free_text_tool(entry, collector)
    if entry.get("type") == "object" and isinstance(entry.get("properties"), dict):
        schema = {key: value for key, value in entry.items() if key not in ("name", "description")}
        entry = {"name": entry["name"], "description": entry.get("description"), "parameters": schema}
    if runs_at_vendor(entry):
        raise at_vendor(entry["type"])
    if "name" not in entry and "function" not in entry and len(entry) == 1:
        raise at_vendor(next(iter(entry)))
    parts = _split(entry, collector)
    tool = tool_from(parts.function, "parameters")
    if parts.leftover:
        collector.note(f"“{tool.name[:80]}”: left out {_quoted(parts.leftover)}")
    return tool.model_copy(update={"output": parts.output, "hints": parts.hints})


def _split(entry: JSONObject, collector: ToolCollector) -> _Parts:
    inner = entry.get("function", entry)
    if not isinstance(inner, dict):
        raise ValueError("“function” must be an object")
    members = {key: value for key, value in {**entry, **inner}.items() if value is not None}
    handled = {"type", "function", "name", "description", "strict", "title", "annotations"}
    key = next((key for key in _SCHEMAS if key in members), "")
    schema = _schema(members, key, collector)
    output_key = next((key for key in _OUTPUTS if isinstance(members.get(key), dict)), "")
    output = _unwrapped(members.get(output_key))
    if is_gemini(output):
        output = from_gemini(output)
    hints, odd = read_hints(members.get("annotations"), members.get("title"))
    function = {word: members.get(word) for word in ("name", "description", "strict")} | {"parameters": schema}
    handled |= {key, output_key, *(("parameter_definitions",) if not key else ())}
    leftover = [word for word in members if word not in handled] + [f"annotations.{word}" for word in odd]
    if "annotations" in members and not isinstance(members["annotations"], dict):
        leftover.append("annotations")
    return _Parts(function, leftover, output if isinstance(output, dict) else None, hints)


def _schema(members: JSONObject, key: str, collector: ToolCollector) -> JSON:
    """The schema of the parameters as JSON Schema."""
    if not key and isinstance(members.get("parameter_definitions"), dict):
        return _from_cohere(members["parameter_definitions"])
    schema = _unwrapped(members.get(key))
    name = str(members.get("name"))[:80]
    if is_gemini(schema):
        collector.note(f"“{name}”: Gemini's schema is written as JSON Schema, its types in small letters")
        return from_gemini(schema)
    return schema


def _unwrapped(schema: JSON) -> JSON:
    """A schema without what Bedrock and the AI SDK put around it; one that is written as a text is read."""
    schema = _read_text(schema)
    if isinstance(schema, dict) and "type" not in schema and "properties" not in schema:
        for word in _INNER:
            if isinstance(schema.get(word), dict | str):
                return _unwrapped(schema[word])
    return schema


def _from_cohere(definitions: JSONObject) -> JSONObject:
    """The schema that Cohere's ``parameter_definitions`` describe."""
    properties: JSONObject = {}
    for name, definition in definitions.items():
        inner = (
            {key: value for key, value in definition.items() if key != "required"}
            if isinstance(definition, dict)
            else {}
        )
        kind = inner.get("type")
        if isinstance(kind, str):
            inner["type"] = _PYTHON_TYPES.get(kind, "array" if kind.startswith(("List", "list")) else kind)
        properties[name] = inner
    required = [name for name, it in definitions.items() if isinstance(it, dict) and it.get("required") is True]
    return object_schema(properties, required)


def _tool_of_schema(schema: JSONObject, collector: ToolCollector) -> ToolDefinition:
    title = schema.get("title")
    name = title if isinstance(title, str) and title else "tool"
    collector.note(f"a schema without a definition around it is taken as the parameters of “{name}”")
    description = schema.get("description")
    return ToolDefinition(
        name=name,
        description=description if isinstance(description, str) else "",
        parameters=from_gemini(schema) if is_gemini(schema) else schema,
    )


def _is_free_text(entry: JSONObject) -> bool:
    return entry.get("type") == "custom" and not any(key in entry for key in _SCHEMAS)


def _free_text_tool(entry: JSONObject, collector: ToolCollector) -> ToolDefinition:
    """Return a custom tool, whose input is free text; Responses writes it without "custom". Raises ValueError."""
    inner = entry["custom"] if isinstance(entry.get("custom"), dict) else entry
    members = {name: value for name, value in inner.items() if name != "type"}
    form = members.get("format")
    if isinstance(form, dict) and form.get("type") == "grammar" and "grammar" not in form:
        grammar = {name: value for name, value in form.items() if name != "type"}
        members["format"] = {"type": "grammar", "grammar": grammar}
    tool = get_protocol(DEFAULT).read_tool({"type": "custom", "custom": members})
    if inner is not entry and (rest := [name for name in entry if name not in ("type", "custom")]):
        collector.note(f"“{tool.name[:80]}”: left out {_quoted(rest)}")
    return tool


def _quoted(names: list[str]) -> str:
    return list_names([f"“{short_name(name)}”" for name in names])


def _is_schema(value: JSONObject) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind.lower() == "object" and isinstance(value.get("properties"), dict)
