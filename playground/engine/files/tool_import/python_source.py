"""Tools from the source of Python functions and classes. The text is parsed, never compiled, imported or run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from playground.domain.tool_servers import Hints
from playground.domain.tools import ToolDefinition
from playground.engine.files.tool_import import definitions
from playground.engine.files.tool_import.collector import ToolCollector, list_names, object_schema, read_hints
from playground.engine.files.tool_import.python_types import Types, described
from playground.engine.files.tool_import.python_values import (
    Docstring,
    Values,
    last_name,
    parse_source,
    read_docstring,
    statements,
)
from playground.jsonkit.values import JSON, JSONObject

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

#: LangChain, MCP, pydantic-ai, OpenAI Agents, Anthropic, AutoGen, Semantic Kernel, Agent Framework, LiveKit.
_DECORATORS: Final = frozenset(
    (
        "tool", "tool_plain", "function_tool", "beta_tool", "beta_async_tool", "register_for_llm", "kernel_function",
        "ai_function", "ai_callable", "llm_tool",
    )
)  # fmt: skip
_CALLS: Final = _DECORATORS | {"from_function", "from_defaults", "FunctionTool", "StructuredTool", "Tool", "add_tool"}
#: What is decorated with these is part of a program, and no tool.
_OTHERS: Final = frozenset(
    (
        "property", "cached_property", "setter", "getter", "deleter", "overload", "computed_field", "field_validator",
        "model_validator", "validator", "root_validator", "field_serializer", "model_serializer", "resource", "prompt",
        "system_prompt", "instructions", "output_validator", "result_validator", "custom_route", "fixture",
    )
)  # fmt: skip
_NAMES: Final = "name", "name_override", "name_or_callable", "tool_name"
_DESCRIPTIONS: Final = "description", "description_override", "desc"
_SCHEMAS: Final = "args_schema", "input_schema", "input_model", "fn_schema", "schema"
_FUNCTIONS: Final = "func", "fn", "function", "coroutine", "async_fn", "name_or_callable"
_TOOL_CLASSES: Final = frozenset(("BaseTool", "Tool", "StructuredTool"))
_RUN_METHODS: Final = "_run", "_arun", "forward", "run", "execute"


@dataclass(frozen=True, slots=True)
class Mark:
    """A tool as a mark describes it. A member is empty where the function itself says it."""

    name: str = ""
    description: str = ""
    schema: ast.expr | None = None
    hints: Hints | None = None
    excluded: frozenset[str] = frozenset()


def is_other(function: Function) -> bool:
    """Return whether a decorator says that a function is something else than a tool: a property, a validator."""
    return any(_decorator_name(decorator) in _OTHERS for decorator in function.decorator_list)


def is_static(function: Function) -> bool:
    """Return whether a method takes no object."""
    return any(last_name(decorator) == "staticmethod" for decorator in function.decorator_list)


def mark_of(function: Function, values: Values) -> Mark | None:
    """The mark that the decorators of a function give it; None where they make no tool of it."""
    for decorator in function.decorator_list:
        if _decorator_name(decorator) in _DECORATORS:
            return _mark(decorator, values) if isinstance(decorator, ast.Call) else Mark()
    return None


def marks_by_call(module: ast.Module, values: Values, functions: set[str]) -> dict[str, Mark]:
    """The functions that calls such as ``StructuredTool.from_function(f)`` or lists ``tools=[f]`` make tools of."""
    marks: dict[str, Mark] = {}
    listed: list[str] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and last_name(node.func) in _CALLS:
            words = {word.arg: word.value for word in node.keywords if word.arg in _FUNCTIONS}
            for argument in (*words.values(), *node.args[:2]):
                if isinstance(argument, ast.Name) and argument.id in functions:
                    marks.setdefault(argument.id, _mark(node, values))
        for name, value in _lists(node):
            if name == "tools" and isinstance(value, ast.List):
                listed += [last_name(item) for item in value.elts if last_name(item) in functions]
    return {**{name: Mark() for name in listed}, **marks}


def _lists(node: ast.AST) -> Iterator[tuple[str | None, ast.expr]]:
    if isinstance(node, ast.keyword):
        yield node.arg, node.value
    elif isinstance(node, ast.Assign):
        yield from ((last_name(target), node.value) for target in node.targets)


def class_mark(node: ast.ClassDef, values: Values) -> tuple[Mark, Function, JSON] | None:
    """The tool that a class derived from ``BaseTool`` or ``Tool`` is, its method, and its ``inputs``, where it has any.

    None for any other class.
    """
    if not values.bases(node) & _TOOL_CLASSES:
        return None
    methods = {line.name: line for line in node.body if isinstance(line, Function)}
    method = next((methods[name] for name in _RUN_METHODS if name in methods), None)
    if method is None:
        return None
    words: dict[str, ast.expr] = {}
    for line in node.body:
        target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
        value = getattr(line, "value", None)
        if isinstance(value, ast.expr):
            words[last_name(target)] = value
    mark = Mark(
        _text(words, ("name",), values) or node.name,
        _text(words, ("description",), values) or ast.get_docstring(node) or "",
        next((words[word] for word in _SCHEMAS if word in words), None),
    )
    return mark, method, values.value(words["inputs"]) if "inputs" in words else None


def _decorator_name(decorator: ast.expr) -> str:
    return last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _mark(call: ast.Call, values: Values) -> Mark:
    words = {word.arg: word.value for word in call.keywords if word.arg}
    by_place = [values.value(argument) for argument in call.args]
    texts = [value for value in by_place if isinstance(value, str)]
    schema = next((words[word] for word in _SCHEMAS if word in words), None)
    if schema is None and len(call.args) > 2 and len(texts) > 1:  # tool(name, description, schema)
        schema = call.args[2]
    excluded = values.value(words["exclude_args"]) if "exclude_args" in words else []
    return Mark(
        _text(words, _NAMES, values) or next(iter(texts), ""),
        _text(words, _DESCRIPTIONS, values) or next(iter(texts[1:]), ""),
        schema,
        _hints(words, values),
        frozenset(name for name in excluded if isinstance(name, str)) if isinstance(excluded, list) else frozenset(),
    )


def _text(words: dict[str, ast.expr], names: tuple[str, ...], values: Values) -> str:
    texts = [values.value(words[name]) for name in names if name in words]
    return next((value.strip() for value in texts if isinstance(value, str)), "")


def _hints(words: dict[str, ast.expr], values: Values) -> Hints | None:
    """The ``annotations`` of an MCP tool, as a dict or a ``ToolAnnotations``, and its title."""
    annotations: JSONObject = {}
    node = words.get("annotations")
    if isinstance(node, ast.Call):
        annotations = {word.arg: values.value(word.value) for word in node.keywords if word.arg}
    elif node is not None:
        value = values.value(node)
        annotations = value if isinstance(value, dict) else {}
    return read_hints(annotations, _text(words, ("title",), values))[0]


MAX_SIZE: Final = 1_000_000  # characters
_OPTIONAL: Final = re.compile(r",?\s*(optional|default\b.*)$", re.IGNORECASE)
_DATA_CLASSES: Final = frozenset(("BaseModel", "TypedDict", "NamedTuple", "Struct", "SQLModel"))
#: Statements of Python 3.12 that 3.11 cannot parse, and what they become.
_NEW_SYNTAX: Final = (
    (re.compile(r"^([ \t]*)type[ \t]+(\w+)[ \t]*(?:\[[^\]\n]*\])?[ \t]*=", re.MULTILINE), r"\1\2 ="),
    (re.compile(r"^([ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w+)\[[^\]\n]*\]", re.MULTILINE), r"\1"),
)


class _Candidate(NamedTuple):
    """A function that may be a tool. ``owner`` is the class that it is a method of, empty for none."""

    function: Function
    owner: str = ""
    mark: Mark | None = None

    @property
    def title(self) -> str:
        return f"{self.owner}.{self.function.name}" if self.owner else self.function.name

    @property
    def is_public(self) -> bool:
        return not self.function.name.startswith("_")


def read(text: str, collector: ToolCollector) -> str:
    """Put a tool for each function of a source into ``collector``; return the problem if there are none, or ""."""
    if len(text) > MAX_SIZE:
        return f"this source is too long to read: {len(text):,} characters"
    try:
        module = _with_real_names(_parsed(text))
        values = Values(module)
        types = Types(values, collector)
        for candidate in _tool_functions(module, values, collector):
            collector.tools.append(_tool(candidate, types, values, collector))
        _add_tool_classes(values, types, collector)
        _add_definitions(module, values, collector)
        if not collector.tools:
            _add_data_classes(module, values, types, collector)
    except SyntaxError as error:
        return f"not valid Python, line {error.lineno}: {error.msg}"
    except RecursionError:
        return "this source is nested too deeply"
    except (ValueError, MemoryError):
        return "this source cannot be parsed"
    return "" if collector.tools else "there are no functions in this source"


def _parsed(text: str) -> ast.Module:
    """The module of a text, with type aliases and parameters of Python 3.12 too. Raises what ``ast.parse`` does."""
    try:
        return parse_source(text)
    except SyntaxError:
        older = text
        for pattern, replacement in _NEW_SYNTAX:
            older = pattern.sub(replacement, older)
        if older == text:
            raise
        return parse_source(older)


def _with_real_names(module: ast.Module) -> ast.Module:
    """The module with the names that it imported things under (``Field as F``) replaced by their own names."""
    names = {
        alias.asname: alias.name
        for node in module.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname and alias.asname != alias.name
    }
    for node in ast.walk(module) if names else ():
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]
    return module


# ---- which functions are tools ---------------------------------------------------------------------------------------


def _tool_functions(module: ast.Module, values: Values, collector: ToolCollector) -> list[_Candidate]:
    """The functions that a library makes tools of, wherever they are; where there are none, the public ones.

    Public functions of the module go before methods, and private ones come only where there is nothing else.
    Those that are left out are named.
    """
    plain = {it.name: _Candidate(it) for it in statements(module.body) if isinstance(it, Function) and not is_other(it)}
    owners = [owner for owner in statements(module.body) if isinstance(owner, ast.ClassDef)]
    owned = [
        _Candidate(line, owner.name)
        for owner in owners
        if class_mark(owner, values) is None
        for line in owner.body
        if isinstance(line, Function) and not is_other(line)
    ]
    marked = _marked(module, values, set(plain))
    if marked:
        titles = {candidate.title for candidate in marked}
        rest = [it.title for it in (*plain.values(), *owned) if it.is_public and it.title not in titles]
        _name_left_out("functions that are not marked as tools are left out", rest, collector)
        return marked
    if any(candidate.is_public for candidate in plain.values()):
        methods = [candidate.title for candidate in owned if candidate.is_public]
        _name_left_out("methods of classes are left out, since there are functions", methods, collector)
    for group in (list(plain.values()), owned):
        public = [candidate for candidate in group if candidate.is_public]
        if public:
            return public
    return list(plain.values())


def _marked(module: ast.Module, values: Values, functions: set[str]) -> list[_Candidate]:
    by_call = marks_by_call(module, values, functions)
    out: list[_Candidate] = []
    waiting: list[tuple[ast.AST, str]] = [(module, "")]
    while waiting:
        parent, owner = waiting.pop()
        inner: list[tuple[ast.AST, str]] = []
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, Function) and not is_other(node):
                mark = mark_of(node, values) or (by_call.get(node.name) if parent is module else None)
                out += [_Candidate(node, owner, mark)] if mark is not None else []
            inner.append((node, node.name if isinstance(node, ast.ClassDef) else ""))
        waiting += reversed(inner)
    return sorted(out, key=lambda candidate: candidate.function.lineno)


def _name_left_out(words: str, titles: list[str], collector: ToolCollector) -> None:
    if titles:
        collector.note(f"{words}: {list_names([title[:80] for title in titles])}")


# ---- a tool of a function --------------------------------------------------------------------------------------------


def _tool(candidate: _Candidate, types: Types, values: Values, collector: ToolCollector) -> ToolDefinition:
    function, mark = candidate.function, candidate.mark or Mark()
    name = mark.name or function.name
    documentation = read_docstring(ast.get_docstring(function))
    types.begin(name)
    parameters = _given_schema(mark, types, values, collector, name)
    description = mark.description or documentation.description
    if parameters is None:
        parameters = _signature(candidate, documentation, mark.excluded, types, collector)
    else:
        own = parameters.pop("description", "")
        description = description or (own if isinstance(own, str) else "")
    return _definition(name, description, parameters, types, mark)


def _definition(name: str, description: str, parameters: JSONObject, types: Types, mark: Mark) -> ToolDefinition:
    definitions = types.definitions()
    if definitions:
        parameters = {**parameters, "$defs": {**definitions, **parameters.get("$defs", {})}}
    return ToolDefinition(name=name, description=description, parameters=parameters, hints=mark.hints)


def _given_schema(mark: Mark, types: Types, values: Values, collector: ToolCollector, name: str) -> JSONObject | None:
    """The parameters that a mark gives as a class, a JSON Schema or a dict of types; None where it gives none."""
    if mark.schema is None or (isinstance(mark.schema, ast.Constant) and mark.schema.value is None):
        return None
    node = values.resolve(mark.schema)
    owner = values.classes.get(last_name(node))
    if owner is not None:
        return types.fields(owner)
    value = values.value(node)
    if isinstance(value, dict) and ("properties" in value or value.get("type") == "object"):
        return value
    if isinstance(node, ast.Dict):
        return types.of_members(node)
    collector.note(f"{name}: its schema “{ast.unparse(node)[:60]}” is not in this source, so its signature is read")
    return None


def _signature(
    candidate: _Candidate, documentation: Docstring, excluded: frozenset[str], types: Types, collector: ToolCollector
) -> JSONObject:
    """The parameters of a function as its head has them."""
    function = candidate.function
    properties: JSONObject = {}
    required: list[str] = []
    for argument, default in _arguments(function, bool(candidate.owner) and not is_static(function)):
        if argument.arg in excluded or types.is_injected(argument.arg, argument.annotation, default):
            collector.note(f"{function.name}: “{argument.arg}” is left out, since a framework fills it in")
            continue
        parameter = types.parameter(argument.annotation, default, argument.arg)
        _document(parameter.schema, argument.arg, documentation, types)
        properties[parameter.name] = parameter.schema
        required += [parameter.name] if parameter.required else []
    for rest, stars in ((function.args.vararg, "*"), (function.args.kwarg, "**")):
        if rest is not None:
            collector.note(f"{function.name}: “{stars}{rest.arg}” is left out")
    return object_schema(properties, required)


def _arguments(function: Function, is_method: bool) -> list[tuple[ast.arg, ast.expr | None]]:
    spec = function.args
    plain = [*spec.posonlyargs, *spec.args]
    padding: list[ast.expr | None] = [None] * (len(plain) - len(spec.defaults))
    out: list[tuple[ast.arg, ast.expr | None]] = list(zip(plain, [*padding, *spec.defaults], strict=True))
    if out and (is_method or out[0][0].arg in ("self", "cls")):
        out = out[1:]
    return [*out, *zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]


def _document(schema: JSONObject, name: str, documentation: Docstring, types: Types) -> None:
    """Add what the docstring says; the annotation has the first word on the type."""
    written = _OPTIONAL.sub("", documentation.types.get(name, "")).strip()
    if written and not (schema.keys() - {"default", "description"}):
        schema |= {**types.of_text(written), **schema}
    if documentation.parameters.get(name):
        described(schema, documentation.parameters[name])


def _add_definitions(module: ast.Module, values: Values, collector: ToolCollector) -> None:
    """Add the definitions that a source writes as dicts, in the place of functions of the same names."""
    calls = [node for node in ast.walk(module) if isinstance(node, ast.keyword) and node.arg in ("tools", "functions")]
    nodes = [*values.assigned.values(), *(call.value for call in calls)]
    written = ToolCollector()
    for node in nodes:
        value = values.value(node) if isinstance(node, ast.List | ast.Dict) else None
        if definitions.holds_tools(value):
            definitions.read(value, written)
    unique = {tool.name: tool for tool in written.tools}
    collector.tools[:] = [*(tool for tool in collector.tools if tool.name not in unique), *unique.values()]
    for note in written.notes:
        collector.note(note)


# ---- a tool of a class -----------------------------------------------------------------------------------------------


def _add_tool_classes(values: Values, types: Types, collector: ToolCollector) -> None:
    """Add the tools that are classes derived from a library's ``BaseTool`` or ``Tool``."""
    for owner in values.classes.values():
        marked_class = class_mark(owner, values)
        if marked_class is None:
            continue
        mark, method, inputs = marked_class
        types.begin(mark.name)
        parameters = _inputs(inputs) or _given_schema(mark, types, values, collector, mark.name)
        if parameters is None:
            documentation = read_docstring(ast.get_docstring(method))
            parameters = _signature(_Candidate(method, owner.name), documentation, frozenset(), types, collector)
        collector.tools.append(_definition(mark.name, mark.description, parameters, types, mark))


def _inputs(inputs: JSON) -> JSONObject | None:
    """The parameters of a smolagents tool: schemas by their names, required unless they are nullable."""
    if not isinstance(inputs, dict) or not all(isinstance(schema, dict) for schema in inputs.values()):
        return None
    properties = {
        name: {key: ("string" if value == "any" else value) for key, value in schema.items() if key != "nullable"}
        for name, schema in inputs.items()
    }
    required = [name for name, schema in inputs.items() if schema.get("nullable") is not True]
    return object_schema(properties, required)


def _add_data_classes(module: ast.Module, values: Values, types: Types, collector: ToolCollector) -> None:
    """Add tools for the models, dataclasses and TypedDicts of a source without functions, as libraries do with them.

    Classes that others refer to or derive from are parts of those.
    """
    owners = [node for node in statements(module.body) if isinstance(node, ast.ClassDef) and _is_data(node, values)]
    used = {
        last_name(inner) if not isinstance(inner, ast.Constant) else str(inner.value)
        for owner in owners
        for part in (*owner.bases, *(line.annotation for line in owner.body if isinstance(line, ast.AnnAssign)))
        for inner in _expressions(part)
    }
    for owner in owners:
        if owner.name in used:
            continue
        types.begin(owner.name)
        schema = types.fields(owner)
        description = schema.pop("description", "")
        collector.note(f"the fields of the class “{owner.name[:80]}” are taken as the parameters of a tool")
        collector.tools.append(_definition(owner.name, description, schema, types, Mark()))


def _expressions(node: ast.expr) -> Iterable[ast.expr]:
    return (inner for inner in ast.walk(node) if isinstance(inner, ast.Name | ast.Attribute | ast.Constant))


def _is_data(node: ast.ClassDef, values: Values) -> bool:
    decorators = [it.func if isinstance(it, ast.Call) else it for it in node.decorator_list]
    return bool(values.bases(node) & _DATA_CLASSES) or any(last_name(it) == "dataclass" for it in decorators)
