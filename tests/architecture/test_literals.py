"""What is known of a protocol stands in its folder: nowhere else is one called by its name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from playground.protocols import PROTOCOLS

PACKAGE = Path(__file__).resolve().parents[2] / "playground"
#: The protocols themselves, a gateway of its own, and what is spoken with tool servers: these know none of ours.
AT_HOME = {"protocols", "demo", "tool_host"}
ELSEWHERE = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in AT_HOME]


def names_in(source: str) -> list[int]:
    """The lines with a text that is the name of a protocol."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and node.value in PROTOCOLS
    ]


@pytest.mark.parametrize("path", ELSEWHERE, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_protocol_is_called_by_its_name(path: Path) -> None:
    assert names_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_name_is_found_where_it_stands(name: str) -> None:
    assert names_in(f"a = 1\nif b == {name!r}: pass\nc = 'no {name}', {{{name!r}: 2}}") == [2, 3]
    assert names_in((PACKAGE / "protocols" / name / "__init__.py").read_text(encoding="utf-8"))
