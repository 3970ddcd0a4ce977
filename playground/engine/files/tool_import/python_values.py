"""JSON values of Python expressions: literals, constants of the module, members of enumerations; and docstrings.

Nothing is run.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from playground.jsonkit.values import JSON

NOT_CONSTANT: Final = object()
ENUMS: Final = frozenset(("Enum", "StrEnum", "IntEnum", "Flag", "IntFlag", "ReprEnum"))
_LONGEST: Final = 200_000  # characters of a text that is put together
_MOST_BASES: Final = 100  # classes that one derives from
_MOST_STEPS: Final = 100_000  # names that lead to names may be many times as much as the text


def parse_source(text: str) -> ast.Module:
    """The module of a source, without warnings of odd spellings in it. Raises what ``ast.parse`` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def parse_expression(text: str) -> ast.expr:
    """The expression that a text is, without warnings. Raises what ``ast.parse`` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text.strip(), mode="eval").body


def last_name(node: ast.expr | None) -> str:
    """The last part of a dotted name; empty for any other expression."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def literal(node: ast.expr) -> JSON:
    """The JSON value of a literal; ``NOT_CONSTANT`` for any other expression."""
    try:
        value = ast.literal_eval(node)
        if isinstance(value, set | frozenset):
            value = sorted(value)
        return json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, TypeError, RecursionError, MemoryError):
        return NOT_CONSTANT


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, those under ``if``, ``try`` and ``with`` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from statements(node.body)
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                yield from statements(handler.body)
        if isinstance(node, ast.If | ast.Try):
            yield from statements(node.orelse)


class Values:
    """The classes and the names of one module, and the values of expressions in it."""

    def __init__(self, module: ast.Module) -> None:
        self.classes: dict[str, ast.ClassDef] = {}
        self.assigned: dict[str, ast.expr] = {}
        for inner in ast.walk(module):
            if isinstance(inner, ast.ClassDef):
                self.classes.setdefault(inner.name, inner)
        for node in statements(module.body):
            if isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            elif isinstance(node, ast.Assign):
                self.assigned |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
                self.assigned[node.target.id] = node.value
            elif type(node).__name__ == "TypeAlias":  # `type X = …`, a node of Python 3.12
                self.assigned[node.name.id] = node.value  # type: ignore[attr-defined]  # no such class in 3.11
        self._open: set[str] = set()
        self._steps = 0

    def is_exhausted(self) -> bool:
        """Count a step of the work; true where there were so many that the rest is left out."""
        self._steps += 1
        return self._steps > _MOST_STEPS

    def resolve(self, node: ast.expr) -> ast.expr:
        """The expression that a name of the module was assigned, however many names lead to it."""
        seen: set[str] = set()
        while isinstance(node, ast.Name) and node.id in self.assigned and node.id not in seen:
            seen.add(node.id)
            node = self.assigned[node.id]
        return node

    def value(self, node: ast.expr) -> JSON:
        """The JSON value of an expression; ``NOT_CONSTANT`` where only a running program knows it."""
        plain = NOT_CONSTANT if self.is_exhausted() else literal(node)
        if plain is not NOT_CONSTANT or self.is_exhausted():
            return plain
        if isinstance(node, ast.Name) and node.id in self.assigned and node.id not in self._open:
            self._open.add(node.id)
            named = self.value(self.assigned[node.id])
            self._open.discard(node.id)
            return named
        if isinstance(node, ast.Attribute):
            return self._member(node)
        if isinstance(node, ast.BinOp):
            return self._computed(node)
        if isinstance(node, ast.JoinedStr):
            return self._joined(node)
        if isinstance(node, ast.List | ast.Tuple):
            items = [self.value(item) for item in node.elts]
            return NOT_CONSTANT if NOT_CONSTANT in items else items
        if isinstance(node, ast.Dict):
            return self._object(node)
        return self._text_of_call(node) if isinstance(node, ast.Call) else NOT_CONSTANT

    def bases(self, node: ast.ClassDef) -> set[str]:
        """The names of all classes that a class derives from, those of other modules included."""
        names: set[str] = set()
        waiting = [node]
        while waiting and len(names) < _MOST_BASES:
            for base in waiting.pop().bases:
                name = last_name(base.value if isinstance(base, ast.Subscript) else base)
                if name and name not in names:
                    names.add(name)
                    waiting += [self.classes[name]] if name in self.classes else []
        return names

    def enum_members(self, node: ast.ClassDef) -> dict[str, JSON]:
        """The members of an enumeration with their values; those that a program works out are not in it."""
        bases = self.bases(node)
        generator = self._generator(node, bases)
        has_own_values = any(isinstance(line, ast.FunctionDef) and line.name == "__new__" for line in node.body)
        members: dict[str, JSON] = {}
        highest = 0
        for line in node.body:
            if self.is_exhausted():
                break
            targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
            name, expression = last_name(targets[0]), getattr(line, "value", None)
            if not name or name.startswith("_") or not isinstance(expression, ast.expr):
                continue
            call = last_name(expression.func) if isinstance(expression, ast.Call) else ""
            if call == "nonmember":
                continue
            value = _automatic(name, highest, generator, bases) if call == "auto" else self.value(expression)
            if isinstance(value, list) and value and has_own_values:
                value = value[0]
            if value is NOT_CONSTANT:
                continue
            highest = max(highest, value) if isinstance(value, int) else highest
            as_text = bool(bases & {"str", "StrEnum"}) and not isinstance(value, str)
            members[name] = str(value) if as_text else value
        return members

    def _generator(self, node: ast.ClassDef, bases: set[str]) -> ast.FunctionDef | None:
        """The method that makes the values of ``auto()`` in an enumeration, where it has one of its own."""
        for owner in (node, *(self.classes[base] for base in bases if base in self.classes)):
            for line in owner.body:
                if isinstance(line, ast.FunctionDef) and line.name == "_generate_next_value_":
                    return line
        return None

    def _member(self, node: ast.Attribute) -> JSON:
        """The value of ``Unit.CELSIUS`` or ``Unit.CELSIUS.value``, where ``Unit`` is an enumeration of the module."""
        if node.attr == "value" and isinstance(node.value, ast.Attribute):
            node = node.value
        owner = self.classes.get(last_name(node.value))
        if owner is None:
            return NOT_CONSTANT
        if self.bases(owner) & ENUMS:
            return self.enum_members(owner).get(node.attr, NOT_CONSTANT)
        for line in owner.body:
            if isinstance(line, ast.Assign) and any(last_name(target) == node.attr for target in line.targets):
                return literal(line.value)
        return NOT_CONSTANT

    def _computed(self, node: ast.BinOp) -> JSON:
        first, second = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add) and isinstance(first, str) and isinstance(second, str):
            return first + second if len(first) + len(second) <= _LONGEST else NOT_CONSTANT
        if not isinstance(first, int | float) or not isinstance(second, int | float):
            return NOT_CONSTANT
        if isinstance(node.op, ast.Add):
            return first + second
        if isinstance(node.op, ast.Sub):
            return first - second
        try:
            return first * second if isinstance(node.op, ast.Mult) and abs(first * second) < 2**63 else NOT_CONSTANT
        except OverflowError:
            return NOT_CONSTANT

    def _joined(self, node: ast.JoinedStr) -> JSON:
        parts = [
            self.value(part.value if isinstance(part, ast.FormattedValue) and part.format_spec is None else part)
            for part in node.values
        ]
        if not all(isinstance(part, str | int) for part in parts):
            return NOT_CONSTANT
        text = "".join(map(str, parts))
        return text if len(text) <= _LONGEST else NOT_CONSTANT

    def _object(self, node: ast.Dict) -> JSON:
        out: dict[str, JSON] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            name, value = self.value(key) if key is not None else NOT_CONSTANT, self.value(item)
            if not isinstance(name, str) or value is NOT_CONSTANT:
                return NOT_CONSTANT
            out[name] = value
        return out

    def _text_of_call(self, node: ast.Call) -> JSON:
        """The text of ``"…".strip()``, ``dedent("…")`` and ``cleandoc("…")``."""
        name = last_name(node.func)
        if name in ("strip", "lstrip", "rstrip") and isinstance(node.func, ast.Attribute) and not node.args:
            text = self.value(node.func.value)
            return text.strip() if isinstance(text, str) else NOT_CONSTANT
        if name in ("dedent", "cleandoc") and len(node.args) == 1:
            text = self.value(node.args[0])
            return inspect.cleandoc(text) if isinstance(text, str) else NOT_CONSTANT
        return NOT_CONSTANT


def _automatic(name: str, highest: int, generator: ast.FunctionDef | None, bases: set[str]) -> JSON:
    """The value of ``auto()`` behind members of which ``highest`` is the greatest number."""
    if generator is not None:
        return _generated(generator, name)
    if "StrEnum" in bases:
        return name.lower()
    return 1 << highest.bit_length() if bases & {"Flag", "IntFlag"} else highest + 1


def _generated(function: ast.FunctionDef, name: str) -> JSON:
    """The value that ``_generate_next_value_`` gives a member, where it returns the name in some spelling."""
    returned = next((line.value for line in ast.walk(function) if isinstance(line, ast.Return)), None)
    argument = function.args.args[0].arg if function.args.args else ""
    if isinstance(returned, ast.Name) and returned.id == argument:
        return name
    called = returned.func if isinstance(returned, ast.Call) and not returned.args else None
    if isinstance(called, ast.Attribute) and last_name(called.value) == argument:
        spelled = {"lower": name.lower(), "upper": name.upper(), "title": name.title(), "capitalize": name.capitalize()}
        return spelled.get(called.attr, NOT_CONSTANT)
    return NOT_CONSTANT


# ---- docstrings ------------------------------------------------------------------------------------------------------


_GOOGLE_HEAD: Final = re.compile(r"^(?P<name>[A-Za-z][A-Za-z ]{2,24}):\s*$")
_NUMPY_LINE: Final = re.compile(r"^-{3,}\s*$")
_FIELD: Final = re.compile(
    r"^[:@](?P<kind>param|parameter|arg|argument|key|keyword|kwarg|ivar|var|type|paramtype|returns?|rtype|raises?"
    r"|except|exception|yields?|ytype|meta)\b(?P<what>[^:]*):(?P<text>.*)$"
)
_GOOGLE_PARAM: Final = re.compile(  # also "- `name`: …" of Markdown, and "name {type} -- …" of editors
    r"^(?:[-*+]\s+)?[*`]{0,3}(?P<name>\w+)[*`]{0,3}\s*(?:\((?P<type>.*?)\)|\{(?P<braced>[^}]*)\})?[*`]{0,3}"
    r"\s*(?::|--?\s|\u2013|\u2014)\s*[*`]{0,2}(?P<text>.*)$"
)
_NUMPY_PARAM: Final = re.compile(r"^(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::\s*(?P<type>.*))?$")
_LONGEST_TYPE: Final = 200  # characters; what is longer is prose
_PARAMETERS: Final = frozenset(
    ("args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters", "attributes")
)
_SECTIONS: Final = _PARAMETERS | frozenset(
    (
        "returns", "return", "yields", "yield", "raises", "raise", "example", "examples", "note", "notes", "warning",
        "warnings", "warns", "see also", "references", "todo", "receives", "methods", "usage", "side effects",
    )
)  # fmt: skip


@dataclass(slots=True)
class Docstring:
    """The words before the first section, and for each parameter its type as written and its description."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Docstring:
    """Parse a docstring; only sections about parameters are read."""
    out = Docstring()
    if not text:
        return out
    lines = inspect.cleandoc(text).splitlines()
    first = next((number for number in range(len(lines)) if _begins_section(lines, number)), len(lines))
    out.description = "\n".join(lines[:first]).strip()
    index = first
    while index < len(lines):
        end = next((n for n in range(index + 1, len(lines)) if _begins_section(lines, n)), len(lines))
        match = _FIELD.match(lines[index])
        if match:
            _read_field(match, lines[index + 1 : end], out)
        elif _NUMPY_LINE.match(lines[index + 1] if index + 1 < len(lines) else ""):
            if lines[index].strip().lower() in _PARAMETERS:
                _read_numpy(lines[index + 2 : end], out)
        elif lines[index].strip().rstrip(":").lower() in _PARAMETERS:
            _read_google(lines[index + 1 : end], out)
        index = end
    return out


def _begins_section(lines: list[str], number: int) -> bool:
    line = lines[number]
    if _FIELD.match(line):
        return True
    if number + 1 < len(lines) and _NUMPY_LINE.match(lines[number + 1]) and line.strip().lower() in _SECTIONS:
        return True
    head = _GOOGLE_HEAD.match(line)
    return head is not None and head["name"].lower() in _SECTIONS


def _read_field(match: re.Match[str], following: list[str], out: Docstring) -> None:
    kind, what = match["kind"], match["what"].split()
    text = _joined([match["text"], *following])
    if not what:
        return
    name = what[-1].lstrip("*")
    if kind in ("param", "parameter", "arg", "argument", "key", "keyword", "kwarg", "ivar", "var"):
        out.parameters[name] = text
        if len(what) > 1:
            out.types[name] = " ".join(what[:-1])[:_LONGEST_TYPE]
    elif kind in ("type", "paramtype"):
        out.types[name] = text[:_LONGEST_TYPE]


def _read_google(lines: list[str], out: Docstring) -> None:
    for head, body in _entries(lines):
        match = _GOOGLE_PARAM.match(head)
        if match:
            out.parameters[match["name"]] = _joined([match["text"], *body])
            if written := match["type"] or match["braced"]:
                out.types[match["name"]] = written[:_LONGEST_TYPE]


def _read_numpy(lines: list[str], out: Docstring) -> None:
    for head, body in _entries(lines):
        match = _NUMPY_PARAM.match(head)
        for listed in match["names"].split(",") if match else ():
            name = listed.strip().lstrip("*")
            out.parameters[name] = _joined(body)
            if match and match["type"]:
                out.types[name] = match["type"][:_LONGEST_TYPE]


def _entries(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Lines at the outermost indentation, each with the deeper ones that follow it."""
    out: list[tuple[str, list[str]]] = []
    for line in textwrap.dedent("\n".join(lines)).splitlines():
        if line[:1] not in ("", " ", "\t"):
            out.append((line.strip(), []))
        elif out:
            out[-1][1].append(line)
    return out


def _joined(lines: list[str]) -> str:
    """One paragraph a line; list items keep theirs."""
    out = ""
    for line in lines:
        words = line.strip()
        new_line = not words or words.startswith(("- ", "* "))
        out += ("\n" if new_line else " " if out and not out.endswith("\n") else "") + words
    return re.sub(r"\n{2,}", "\n", out).strip()
