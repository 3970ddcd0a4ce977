"""Rules for every source file, checked in the text and the syntax tree of each file.

Each test names all offenders with file and line. The syntax trees take seconds, so one pass collects the offenders of
all rules that need them.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from playground.protocols import PROTOCOLS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "playground").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
TEXT_RESOURCES = sorted((*(ROOT / "resources/help").rglob("*.md"), *(ROOT / "resources/samples").rglob("*.json")))

#: Modules that may start tasks.
TASK_MODULES = {"playground/ui/widgets/loop.py", "playground/system/tasks.py"}
BANNED = {"create_task", "ensure_future", "asyncSlot", "asyncClose", "processEvents"}
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "misc", "common"}
#: The packages that may name a protocol: the protocols, the demo gateway, and the tool host, which knows no other.
PROTOCOL_PACKAGES = {"protocols", "demo", "tool_host"}

#: Signs in WGL4, the glyphs of fonts for European languages, and in DejaVu; the last one replaces invalid bytes.
SIGNS = frozenset("«»±µ·×÷–—‘’“”•…‹›€←↑→↓−≈≠≤≥Δ\ufffd")
#: Modules with texts that the window does not draw: output for terminals, and searches for signs in foreign texts.
NOT_DRAWN = {
    "playground/engine/headless/show.py",
    "playground/engine/requests/curl.py",
    "playground/domain/hidden.py",
}


@dataclass
class Module:
    """The syntax tree of a module."""

    name: str
    tree: ast.Module
    nodes: list[ast.AST] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes = list(ast.walk(self.tree))

    @property
    def package(self) -> str:
        return self.name.split("/")[1]

    def literals(self) -> Iterator[tuple[int, str]]:
        """Line and text of each string literal that is no documentation."""
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        owners = [node for node in self.nodes if isinstance(node, documented) and node.body]
        documentation = {id(node.body[0].value) for node in owners if isinstance(node.body[0], ast.Expr)}
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
                yield node.lineno, node.value


def missing_docstring(module: Module) -> Iterator[tuple[int, str]]:
    if not ast.get_docstring(module.tree):
        yield 1, "has no docstring"


def banned_name(module: Module) -> Iterator[tuple[int, str]]:
    if module.name in TASK_MODULES:
        return
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and node.attr in BANNED:
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            awaited = owner == "group" or module.name == "playground/gateway/transfer.py"
            if node.attr != "create_task" or not awaited:  # both await their tasks
                yield node.lineno, f"uses {node.attr}"
        elif isinstance(node, ast.Name) and node.id in BANNED:
            yield node.lineno, f"uses {node.id}"


def protocol_name(module: Module) -> Iterator[tuple[int, str]]:
    if module.package not in PROTOCOL_PACKAGES:
        yield from ((line, f"names protocol {text!r}") for line, text in module.literals() if text in PROTOCOLS)


def rare_sign(module: Module) -> Iterator[tuple[int, str]]:
    if module.package != "demo" and module.name not in NOT_DRAWN:
        for line, text in module.literals():
            yield from ((line, describe_sign(sign)) for sign in rare_signs(text))


def rare_signs(text: str) -> list[str]:
    """All punctuation, symbols and numbers in a text that a font may lack; letters are no signs."""
    return sorted({c for c in text if not c.isascii() and c not in SIGNS and unicodedata.category(c)[0] in "PSN"})


def describe_sign(sign: str) -> str:
    return f"has {sign!r} ({unicodedata.name(sign, 'no name')})"


#: A function that yields the line and the reason of each offender.
Rule = Callable[[Module], Iterator[tuple[int, str]]]
RULES: dict[Rule, str] = {
    missing_docstring: "Say why the module exists",
    banned_name: "See playground/ui/widgets/loop.py",
    protocol_name: "Make it a method of the protocol (playground/protocols)",
    rare_sign: "Make it an icon (playground.ui.widgets.mark_label) or a word",
}


def offenders(rule: Rule, module: Module) -> list[str]:
    return [f"{module.name}:{line} {reason}" for line, reason in rule(module)]


@pytest.fixture(scope="module")
def all_offenders() -> dict[Rule, list[str]]:
    collected: dict[Rule, list[str]] = {rule: [] for rule in RULES}
    for path in SOURCES:
        module = Module(name(path), ast.parse(path.read_text(encoding="utf-8")))
        for rule, places in collected.items():
            places += offenders(rule, module)
    return collected


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_source_has_no_offender(rule: Rule, all_offenders: dict[Rule, list[str]]) -> None:
    assert len(SOURCES) > 500
    assert not all_offenders[rule], "\n".join([RULES[rule], *all_offenders[rule]])


def test_text_resources_have_no_rare_signs() -> None:
    rare = {name(path): signs for path in TEXT_RESOURCES if (signs := rare_signs(path.read_text(encoding="utf-8")))}
    assert not rare


def test_module_names_are_not_vague() -> None:
    assert not [name(path) for path in SOURCES if path.stem in VAGUE_NAMES or path.parent.name in VAGUE_NAMES]


def test_sources_have_no_marks_of_work_left_and_no_paths_of_a_machine() -> None:
    marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "/work" + "/", "/home" + "/", "/root" + "/", "/Users" + "/"]
    texts = {name(path): path.read_text(encoding="utf-8") for path in SOURCES + TESTS}
    assert not [f"{file}: {mark}" for file, text in texts.items() for mark in marks if mark in text]


def test_thousands_are_separated_by_the_comma_format_only() -> None:
    respelled = re.compile(r""":,\}["']\.replace|u2009\d|\dx?\\u00a0\d""")
    assert not [name(path) for path in SOURCES if respelled.search(path.read_text(encoding="utf-8"))]


def test_no_file_holds_marks_of_a_merge_conflict() -> None:
    kinds = ("*.py", "*.md", "*.toml", "*.json", "*.qss", "*.sh", "*.svg", "*.html", "*.j2")
    folders = ("playground", "tests", "resources", "docs", "packaging", ".ci")
    paths = [path for folder in folders for kind in kinds for path in (ROOT / folder).rglob(kind)]
    paths += ROOT.glob("*.md")
    marks = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
    assert [str(path.relative_to(ROOT)) for path in paths if marks.search(path.read_text("utf-8", "replace"))] == []
