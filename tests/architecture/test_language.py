"""Names, docstrings and texts are plain technical English.

Each test names all offenders with file and line. A use that has a reason stands in one of the short tables below.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("playground", "tests")
PAGES = ("*.md", "docs/**/*.md", "resources/help/**/*.md", "resources/templates/**/*.*", "packaging/**/*.md")

#: Pronouns, participles and adverbs: a name says what the value is.
VAGUE_NAMES = frozenset(
    {"one", "other", "found", "known", "told", "said", "came", "kept", "made"}
    | {"here", "there", "at", "of", "beside", "anew", "standing", "asking", "going"}
)
OPENING = re.compile(r"(The same|What|Whether|Who|After that|All that|As)\b")
PHRASES = re.compile(
    r"\b(whoever|who waits|is told|is said|what came|came of|stands|anew|all the same|otherwise than|let go|"
    r"as it stands|beside it|told of)\b",
    re.IGNORECASE,
)

#: Names with a reason to be vague, by file.
PERMITTED_NAMES = {
    "playground/domain/prices.py": {"told": "a key of saved prices"},
    "playground/engine/gateways/services.py": {"said": "a key of gateways.json, which people extend"},
    "playground/ui/features/evaluate/panels/case_model.py": {"other": "the argument of __eq__ in Python's data model"},
}
#: Phrases with a reason, by file.
PERMITTED_PHRASES = {
    "playground/demo/writer.py": dict.fromkeys(("what came", "stands", "Whoever"), "prose of simulated answers"),
}
#: Entries of released versions are a record, and stay as they were written.
RECORDS = ("CHANGELOG.md",)

Place = tuple[int, str]


@cache
def sources() -> dict[str, tuple[str, list[ast.AST]]]:
    """Return the text and the syntax nodes of each module, by its path from the root."""
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
    }
    return {name: (text, list(ast.walk(ast.parse(text)))) for name, text in texts.items()}


def vague_names(nodes: list[ast.AST]) -> Iterator[Place]:
    """Yield each definition whose name is a vague word."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


def docstrings(nodes: list[ast.AST]) -> Iterator[Place]:
    """Yield each docstring with the line of its owner."""
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text


def comments(text: str) -> Iterator[Place]:
    """Yield each comment."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def strings(nodes: list[ast.AST]) -> Iterator[Place]:
    """Yield each string literal, docstrings included."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def phrases(text: str) -> Iterator[str]:
    """Yield the phrases of a text that plain English avoids."""
    yield from (match[0] for match in PHRASES.finditer(text))


@pytest.mark.parametrize("folder", FOLDERS)
def test_definition_has_no_vague_name(folder: str) -> None:
    offenders = [
        f"{path}:{line}: {name}"
        for path, (_, nodes) in sources().items()
        for line, name in vague_names(nodes)
        if path.startswith(f"{folder}/") and name.strip("_").lower() in VAGUE_NAMES
        if name not in PERMITTED_NAMES.get(path, {})
    ]
    assert not offenders, "\n".join(offenders)


def test_docstring_begins_with_what_it_describes() -> None:
    offenders = [
        f"{path}:{line}: {text.splitlines()[0]}"
        for path, (_, nodes) in sources().items()
        for line, text in docstrings(nodes)
        if OPENING.match(text)
    ]
    assert not offenders, "\n".join(offenders)


@pytest.mark.parametrize("folder", FOLDERS)
def test_source_has_no_roundabout_phrase(folder: str) -> None:
    offenders = []
    for path, (text, nodes) in sources().items():
        own = path == Path(__file__).relative_to(ROOT).as_posix()
        if path.startswith(f"{folder}/") and not own and PHRASES.search(text):
            written = strings(nodes) if folder == "playground" else docstrings(nodes)  # strings of tests are data
            offenders += [
                f"{path}:{line}: {phrase}"
                for line, words in [*written, *comments(text)]
                for phrase in phrases(words)
                if phrase not in PERMITTED_PHRASES.get(path, {})
            ]
    assert not offenders, "\n".join(offenders)


def test_page_has_no_roundabout_phrase() -> None:
    pages = sorted({path for pattern in PAGES for path in ROOT.glob(pattern) if path.is_file()})
    assert len(pages) > 10
    offenders = []
    for path, page in ((page.relative_to(ROOT).as_posix(), page) for page in pages):
        if path in RECORDS:
            continue
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            offenders += [
                f"{path}:{number}: {phrase}"
                for phrase in phrases(line)
                if phrase not in PERMITTED_PHRASES.get(path, {})
            ]
    assert not offenders, "\n".join(offenders)


def test_permitted_words_are_in_use() -> None:
    for path, words in (PERMITTED_NAMES | PERMITTED_PHRASES).items():
        assert all(re.search(rf"\b{word}\b", sources()[path][0]) for word in words), path
