"""What is asked of every source file, read from the files themselves."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "playground").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
SPAWN = {"playground/ui/widgets/loop.py", "playground/tasks.py"}
BANNED = {"create_task", "ensure_future", "asyncSlot", "asyncClose", "processEvents"}
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "misc", "common"}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_there_are_sources() -> None:
    assert len(SOURCES) > 50


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_every_module_says_why_it_exists(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{name(path)} has no docstring"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_tasks_start_in_one_place_and_loops_never_nest(path: Path) -> None:
    if name(path) in SPAWN:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            word, owner = node.attr, node.value.id if isinstance(node.value, ast.Name) else ""
        elif isinstance(node, ast.Name):
            word, owner = node.id, ""
        else:
            continue
        if (owner, word) == ("group", "create_task"):
            continue  # an asyncio.TaskGroup keeps its tasks and waits for them
        assert word not in BANNED, f"{name(path)}:{node.lineno} uses {word}; see playground/ui/widgets/loop.py"


def test_modules_are_nouns() -> None:
    vague = [name(path) for path in SOURCES if path.stem in VAGUE_NAMES or path.parent.name in VAGUE_NAMES]
    assert not vague


def test_nothing_is_left_to_do_and_nothing_names_a_machine() -> None:
    marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "/work" + "/", "/home" + "/", "/root" + "/", "/Users" + "/"]
    found = [
        f"{name(path)}: {mark}"
        for path in SOURCES + TESTS
        for mark in marks
        if mark in path.read_text(encoding="utf-8")
    ]
    assert not found


def test_thousands_have_one_spelling_the_comma_of_the_format() -> None:
    respelled = re.compile(r""":,\}["']\.replace|u2009\d|\dx?\\u00a0\d""")
    assert not [name(path) for path in SOURCES if respelled.search(path.read_text(encoding="utf-8"))]
