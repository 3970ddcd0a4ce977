"""No circle of imports: neither by late imports nor by imports for types."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def imported_modules(source: str, modules: Collection[str]) -> set[str]:
    """Members of ``modules`` imported anywhere in a source; ``from a import b`` imports ``a.b`` if that is a module."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            members = [f"{node.module}.{alias.name}" for alias in node.names]
            names |= {name if name in modules else node.module for name in members}
    return names & set(modules)


def find_circle(sources: Mapping[str, str]) -> list[str]:
    """The modules of a circle in order; empty if there is no circle."""
    graph = {module: imported_modules(source, sources.keys()) - {module} for module, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_package_has_no_circle_of_imports() -> None:
    sources = {}
    for path in (ROOT / "playground").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        sources[module] = path.read_text(encoding="utf-8")
    assert len(sources) > 500
    assert not find_circle(sources)
