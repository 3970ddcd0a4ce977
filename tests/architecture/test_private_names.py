"""No module uses a private name of another one: of a dependency, or of another module of ours.

A private attribute may be used where its class is defined, and through ``self`` in subclasses of our own classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Uses that exist, by module, with their reasons. The list may only get shorter.
ALLOWED = {
    "playground/system/screen.py": {"_socket"},  # the C module of sockets, without the cost of ``socket``
    "playground/ui/widgets/highlight.py": {"_TokenType"},  # the type of Pygments' tokens, in an annotation
}

#: Documented names with an underscore, of named tuples, ``os`` and PyInstaller.
PUBLIC = {"_replace", "_asdict", "_fields", "_make", "_field_defaults", "_exit", "_MEIPASS"}
OWN = {"self", "cls"}
ACCESSORS = {"getattr", "setattr", "hasattr", "delattr"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in PUBLIC


def defined_names(nodes: list[ast.AST]) -> set[str]:
    """The private names that the classes and functions of a module define."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            names.add(node.attr)
        elif isinstance(node, ast.Assign) and any(getattr(name, "id", "") == "__slots__" for name in node.targets):
            names |= set(ast.literal_eval(node.value))
    return {name for name in names if is_private(name)}


def is_own(owner: ast.expr) -> bool:
    """Return whether an expression is ``self``, ``cls`` or a call of ``super``."""
    if isinstance(owner, ast.Call):
        return isinstance(owner.func, ast.Name) and owner.func.id == "super"
    return isinstance(owner, ast.Name) and owner.id in OWN


def foreign_names(nodes: list[ast.AST], defined_anywhere: set[str]) -> Iterator[tuple[int, str]]:
    """Yield line and name of each private name that is defined elsewhere."""
    defined = defined_names(nodes)
    for node in nodes:
        if not isinstance(node, ast.expr | ast.stmt):
            continue
        name, allowed = "", defined
        if isinstance(node, ast.Attribute):
            if not is_private(node.attr):
                continue
            name, allowed = node.attr, defined | defined_anywhere if is_own(node.value) else defined
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ACCESSORS:
            name = str(node.args[1].value) if isinstance(node.args[1], ast.Constant) else ""
        elif isinstance(node, ast.Import | ast.ImportFrom):
            parts = [part for alias in node.names for part in alias.name.split(".")]
            parts += (getattr(node, "module", "") or "").split(".")
            name, allowed = next((part for part in parts if is_private(part)), ""), set()
        if is_private(name) and name not in allowed:
            yield node.lineno, name


def test_private_names_are_used_only_where_they_are_defined() -> None:
    modules = {
        path.relative_to(ROOT).as_posix(): list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for path in sorted((ROOT / "playground").rglob("*.py"))
    }
    defined_anywhere = set().union(*map(defined_names, modules.values()))
    uses = {module: list(foreign_names(nodes, defined_anywhere)) for module, nodes in modules.items()}
    offenders = [
        f"{module}:{line} uses {name}"
        for module, names in uses.items()
        for line, name in names
        if name not in ALLOWED.get(module, ())
    ]
    assert not offenders, "\n".join(offenders)
    unused = {module for module, names in ALLOWED.items() if names - {name for _, name in uses.get(module, ())}}
    assert not unused, f"remove from ALLOWED: {unused}"
