"""No module imports another one that imports it in turn, however far round: not late, and not for types only."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def imported(source: str, modules: Collection[str]) -> set[str]:
    """Those of ``modules`` that are imported anywhere in a module; of ``from a import b`` that is ``a.b`` or ``a``."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in modules else node.module for name in names}
    return found & set(modules)


def circle(sources: Mapping[str, str]) -> list[str]:
    """The modules of one circle in their order; empty where there is none."""
    graph = {module: imported(source, sources.keys()) - {module} for module, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_package_has_no_circle_of_imports() -> None:
    sources = {}
    for path in (ROOT / "playground").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        sources[module] = path.read_text(encoding="utf-8")
    assert len(sources) > 500
    assert not circle(sources)


@pytest.mark.parametrize(
    "back",
    [
        "from a.one import x",
        "import a.one",
        "def f():\n    from a import one",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.one import x",
    ],
)
def test_a_circle_is_seen(back: str) -> None:
    sources = {"a": "", "a.one": "from a.two import y", "a.two": "from a.three import z", "a.three": back}
    assert set(circle(sources)) == {"a.one", "a.two", "a.three"}
    assert not circle({**sources, "a.three": "import sys\nfrom b import one"})
