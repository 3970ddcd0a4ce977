"""The window says nothing in characters that a font may lack: signs that carry meaning are icons of ours."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: All of them stand in the list of glyphs that every font for European languages has (WGL4), and in DejaVu; the last
#: one stands for what is no character.
ALLOWED = frozenset("«»±µ·×÷–—‘’“”•…‹›€←↑→↓−≈≠≤≥Δ\ufffd")
#: What a terminal shows, what only looks for characters in what others wrote, and a gateway of its own.
ELSEWHERE = {"engine/headless/show.py", "engine/requests/curl.py", "domain/hidden.py"}
SPOKEN = [
    path
    for path in sorted((ROOT / "playground").rglob("*.py"))
    if (inside := path.relative_to(ROOT / "playground")).parts[0] != "demo" and inside.as_posix() not in ELSEWHERE
]
READ = sorted((*(ROOT / "resources" / "help").rglob("*.md"), *(ROOT / "resources" / "samples").rglob("*.json")))


def spoken(source: str) -> Iterator[tuple[int, str]]:
    """The string literals of a module with their lines, those that are documentation left out."""
    tree = ast.parse(source)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


def rare(text: str) -> set[str]:
    """The characters in it that are signs (punctuation, symbols, numbers) and not allowed; letters are no signs."""
    return {c for c in text if not c.isascii() and c not in ALLOWED and unicodedata.category(c)[0] in "PSN"}


@pytest.mark.parametrize("path", SPOKEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_words_are_written_in_characters_that_every_font_has(path: Path) -> None:
    found = [
        (line, c, unicodedata.name(c, "?"))
        for line, text in spoken(path.read_text(encoding="utf-8"))
        for c in sorted(rare(text))
    ]
    assert not found, "make it an icon (playground.ui.widgets.mark_label), or a word"


@pytest.mark.parametrize("path", READ, ids=lambda path: path.name)
def test_so_are_the_texts_that_come_along(path: Path) -> None:
    assert not rare(path.read_text(encoding="utf-8"))


def test_the_check_sees_signs_in_literals_and_not_in_documentation() -> None:
    source = '"""⏸ in a docstring"""\nX = "a ⏸"\ndef f():\n    """✓"""\n    return f"{X} ✗ é"\n'
    assert [(line, c) for line, text in spoken(source) for c in rare(text)] == [(2, "⏸"), (5, "✗")]
