"""Syntax highlighting of code: Pygments' tokens mapped to the kinds of the theme. No Qt here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from playground.engine.files.lexers import lexer_for

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

LONGEST = 20_000  # characters highlighted at once; a longer text stays plain

_KINDS = (
    ("Comment", "comment"),
    ("Keyword", "keyword"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Name.Function", "name"),
    ("Name.Class", "name"),
    ("Name.Tag", "keyword"),
    ("Name.Attribute", "name"),
    ("Name.Builtin", "keyword"),
    ("Name.Decorator", "name"),
    ("Operator.Word", "keyword"),
    ("Generic.Deleted", "deleted"),
    ("Generic.Inserted", "string"),
    ("Generic.Heading", "keyword"),
)


def highlight(lines: Sequence[str], language: str, longest: int = LONGEST) -> list[list[tuple[str, str]]]:
    """Return the pieces of each line as (kind, text); an empty kind is plain text.

    Text of an unknown language, or of more than ``longest`` characters, is plain.
    """
    lexer = lexer_for(language.lower()) if language else None
    source = "\n".join(lines)
    if lexer is None or len(source) > longest:
        return [[("", line)] for line in lines]
    try:
        out = list(rows(lexer, source))
    except Exception:  # noqa: BLE001 - a lexer may fail on hostile input, and the text must be shown
        return [[("", line)] for line in lines]
    if ["".join(text for _, text in row) for row in out] != list(lines):
        return [[("", line)] for line in lines]
    return out


def load_colours() -> None:
    """Load the lexer for Python, the most frequent language, ahead of time on a worker thread."""
    lexer_for("python")


def rows(lexer: Lexer, source: str) -> Iterator[list[tuple[str, str]]]:
    """Yield each line of a text as pieces (kind, text). Raises whatever the lexer raises."""
    row: list[tuple[str, str]] = []
    for _, token, text in lexer.get_tokens_unprocessed(source):
        kind = _kind(token)
        for number, piece in enumerate(text.split("\n")):
            if number:
                yield row
                row = []
            if not piece:
                continue
            if row and row[-1][0] == kind:
                row[-1] = (kind, row[-1][1] + piece)
            else:
                row.append((kind, piece))
    yield row


@lru_cache(maxsize=512)
def _kind(token: _TokenType) -> str:
    name = str(token).removeprefix("Token.")
    return next((kind for prefix, kind in _KINDS if name.startswith(prefix)), "")
