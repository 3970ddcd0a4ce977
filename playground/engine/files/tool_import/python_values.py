"""JSON values of Python expressions: literals, constants of the module, members of enumerations. Nothing is run."""

from __future__ import annotations

import ast
import inspect
import json
import warnings
from collections.abc import Iterator
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
