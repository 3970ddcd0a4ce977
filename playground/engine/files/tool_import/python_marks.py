"""How the libraries for agents mark Python functions as tools: decorators, calls, lists of tools, classes of tools."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from playground.domain.tool_servers import Hints
from playground.engine.files.tool_import.hints import read_hints
from playground.engine.files.tool_import.python_values import Values, last_name
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
