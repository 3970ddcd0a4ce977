"""Tools from the source of Python functions. The text is parsed, never compiled, imported or run."""

from __future__ import annotations

import ast
import re
from typing import Final, TypeAlias

from playground.domain.tools import ToolDefinition
from playground.engine.files.tool_import.docstrings import Docstring, read_docstring
from playground.engine.files.tool_import.found import ToolCollector
from playground.engine.files.tool_import.python_types import Types, described
from playground.jsonkit.values import JSONObject

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

LARGEST: Final = 1_000_000  # characters
_CONTEXTS: Final = frozenset(
    ("Context", "RunContext", "ToolContext", "RunContextWrapper", "CallbackContext", "Request")
)
NAMED: Final = 12  # methods that are named in one note
_OPTIONAL: Final = re.compile(r",?\s*(optional|default\b.*)$", re.IGNORECASE)


def read(text: str, found: ToolCollector) -> str:
    """Put a tool for each function of a source into ``found``; the words why there are none, or nothing."""
    if len(text) > LARGEST:
        return f"this source is too long to read: {len(text):,} characters"
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        return f"not valid Python, line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError):
        return "this source cannot be parsed"
    try:
        types = Types(module, found)
        for function, is_method in _functions(module, found):
            found.tools.append(_tool(function, is_method, types, found))
    except RecursionError:
        return "this source is nested too deeply"
    return "" if found.tools else "there are no functions in this source"


def _functions(module: ast.Module, found: ToolCollector) -> list[tuple[Function, bool]]:
    """The public functions of a module; of its classes when it has none; private ones when there is nothing else.

    Public methods that are left out for that are named.
    """
    plain: list[tuple[Function, bool]] = [(node, False) for node in module.body if isinstance(node, Function)]
    owned = [
        (owner.name, node)
        for owner in module.body
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, Function)
    ]
    methods: list[tuple[Function, bool]] = [(node, not _is_static(node)) for _, node in owned]
    if any(not node.name.startswith("_") for node, _ in plain):
        left = [f"{owner}.{node.name}" for owner, node in owned if not node.name.startswith("_")]
        if left:
            more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
            names = ", ".join(name[:80] for name in left[:NAMED])
            found.note(f"methods of classes are left out, since there are functions beside them: {names}{more}")
    for group in (plain, methods):
        public = [(node, is_method) for node, is_method in group if not node.name.startswith("_")]
        if public:
            return public
    return plain


def _is_static(function: Function) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in function.decorator_list)


def _tool(function: Function, is_method: bool, types: Types, found: ToolCollector) -> ToolDefinition:
    documentation = read_docstring(ast.get_docstring(function))
    types.begin(function.name)
    properties: JSONObject = {}
    required: list[str] = []
    for argument, default in _arguments(function, is_method):
        if _is_context(argument.annotation):
            found.note(f"{function.name}: “{argument.arg}” is left out, since a framework fills it in")
            continue
        schema, is_required = types.parameter(argument.annotation, default, argument.arg)
        _document(schema, argument.arg, documentation, types)
        properties[argument.arg] = schema
        if is_required:
            required.append(argument.arg)
    for rest, stars in ((function.args.vararg, "*"), (function.args.kwarg, "**")):
        if rest is not None:
            found.note(f"{function.name}: “{stars}{rest.arg}” is left out")
    parameters: JSONObject = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    definitions = types.definitions()
    if definitions:
        parameters["$defs"] = definitions
    return ToolDefinition(name=function.name, description=documentation.description, parameters=parameters)


def _arguments(function: Function, is_method: bool) -> list[tuple[ast.arg, ast.expr | None]]:
    spec = function.args
    plain = [*spec.posonlyargs, *spec.args]
    padding: list[ast.expr | None] = [None] * (len(plain) - len(spec.defaults))
    out: list[tuple[ast.arg, ast.expr | None]] = list(zip(plain, [*padding, *spec.defaults], strict=True))
    if out and (is_method or out[0][0].arg in ("self", "cls")):
        out = out[1:]
    return [*out, *zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]


def _is_context(annotation: ast.expr | None) -> bool:
    node = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in _CONTEXTS


def _document(schema: JSONObject, name: str, documentation: Docstring, types: Types) -> None:
    """Add what the docstring says; the annotation has the first word on the type."""
    written = _OPTIONAL.sub("", documentation.types.get(name, "")).strip()
    if written and not (schema.keys() - {"default", "description"}):
        schema |= {**types.of_text(written), **schema}
    if documentation.parameters.get(name):
        described(schema, documentation.parameters[name])
