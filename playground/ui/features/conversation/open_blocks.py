"""Blocks that are drawn while they are received: code and tables. Chunks of them are final, the last chunk grows.

No Qt here. What is drawn depends on the lines alone, never on when they came.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from playground.ui.features.conversation.markdown import Line, Span, Style, parse_block, plain_lines
from playground.ui.widgets.highlight import highlight

TABLE_CHUNK = 32  # rows drawn for good as one table: Qt looks at every table at each change
CODE_CHUNK = 24  # lines highlighted together
CODE_CHUNK_SIZE = 2_000  # characters after which they are drawn for good although they are fewer lines


class CodeBlock:
    """A fenced code block. ``indent`` is that of the fence, ``level`` the number of list items around it."""

    def __init__(self, mark: str, indent: int, language: str, level: int) -> None:
        self._mark = mark
        self._indent = indent
        self._language = language[:40]
        self._level = level
        self._chunk: list[str] = []
        self._size = 0
        self._drawn: list[Line] = []  # the chunk as last drawn, so that a growing last line redraws only itself
        self._started = False
        self._joins = False

    def closes(self, line: str) -> bool:
        """Whether the line ends the block."""
        stripped = line.strip()
        return len(stripped) >= len(self._mark) and self._may_close(line)

    def add_code_line(self, line: str, *, open_end: bool = False) -> list[Line]:
        """A whole line came, or with ``open_end`` the front of a long one. Returns lines that are final now."""
        self._chunk.append(self._outdented(line))
        self._size += len(line) + 1
        if len(self._chunk) >= CODE_CHUNK or open_end or self._joins or self._size > CODE_CHUNK_SIZE:
            return self.flush(joins_next=open_end)
        return []

    def flush(self, *, joins_next: bool = False) -> list[Line]:
        """Everything held back is final now."""
        lines = self._chunk or ([] if self._started else [""])
        out = self._draw(lines)
        self._started = self._started or bool(out)
        self._chunk, self._drawn, self._size = [], [], 0
        self._joins = joins_next
        return out

    def provisional(self, rest: str) -> list[Line]:
        """How it looks now, with ``rest`` as the unfinished last line."""
        if len(self._drawn) != len(self._chunk):
            self._drawn = self._draw(self._chunk)
        if (not rest or self._may_close(rest)) and (self._chunk or self._started):
            return self._drawn
        last = "" if self._may_close(rest) else self._outdented(rest)
        return [*self._drawn, *self._draw([last], offset=len(self._chunk))]

    def twin(self) -> CodeBlock:
        """A copy that can be finished without this one knowing."""
        twin = copy.copy(self)
        twin._chunk = list(self._chunk)
        return twin

    def _may_close(self, line: str) -> bool:
        """Whether the line is, or may become, the fence that ends the block."""
        stripped = line.strip()
        return bool(stripped) and not stripped.strip(self._mark[0]) and _indent(line) <= self._indent + 3

    def _outdented(self, line: str) -> str:
        if self._joins and not self._chunk:
            return line  # it goes on a line whose front is drawn
        return line[min(self._indent, _indent(line)) :]

    def _draw(self, lines: Sequence[str], *, offset: int = 0) -> list[Line]:
        """Lines as drawn; ``offset`` is the place of the first of them in the chunk."""
        drawn = highlight(lines, self._language) if lines else []
        return [
            Line(
                "code",
                tuple(Span(text, Style.CODE, token=token) for token, text in spans),
                level=self._level,
                language=self._language,
                first=number == 0 and not self._started,
                joins=number == 0 and self._joins,
            )
            for number, spans in enumerate(drawn, start=offset)
        ]


class TableBlock:
    """A table. ``head`` is its first line and the one that delimits it, each with its end.

    It is drawn as several that look like one, because Qt lays out and draws a table as a whole: each of the last rows
    is a table of its own, and the rows before them are put together, ``TABLE_CHUNK`` at a time.
    """

    def __init__(self, head: str) -> None:
        self._head = head
        self._lines: list[Line] = []  # the head and the rows that are not put together yet
        self._begun = False  # whether the head is final
        self._lines = self._drawn("")

    def ends(self, line: str) -> bool:
        """Whether the line is no row of it any more. An empty rest of the text ends nothing."""
        return line != "" and (not line.strip() or (line[0] in "#>`-*" and "|" not in line))

    def add_table_row(self, row: str) -> list[Line]:
        """A whole row came. Returns lines that are final now."""
        self._lines += self._drawn(row)
        return self.flush() if len(self._lines) >= TABLE_CHUNK else []

    def flush(self) -> list[Line]:
        """Everything held back is final now."""
        out: list[Line] = []
        for line in self._lines:
            if out and out[-1].kind == line.kind == "table":
                out[-1] = replace(out[-1], rows=out[-1].rows + line.rows)
            else:
                out.append(line)
        self._lines, self._begun = [], True
        return out

    def provisional(self, rest: str) -> list[Line]:
        """How it looks now, with ``rest`` as the unfinished last row."""
        return [*self._lines, *self._drawn(rest)] if rest.strip() else self._lines

    def twin(self) -> TableBlock:
        """A copy that can be finished without this one knowing."""
        twin = copy.copy(self)
        twin._lines = list(self._lines)
        return twin

    def _drawn(self, row: str) -> list[Line]:
        """One row as drawn, or the head if it is not drawn yet."""
        begun = self._begun or bool(self._lines)
        source = self._head + (row if "|" in row or not begun else f"| {row}")
        lines = parse_block(source)
        if lines is None or not any(line.kind == "table" for line in lines):
            return plain_lines(row if begun else source)
        if begun:
            lines = [
                replace(line, rows=line.rows[1:], header=False, joins=True) if line.kind == "table" else line
                for line in lines
            ]
        return lines


def cell_count(row: str) -> int:
    """The number of cells in a row of a table."""
    return len(row.replace("\\|", "").strip().strip("|").split("|"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
