"""Markdown that grows: text goes in a piece at a time, lines to draw come out, and only the last block is redone.

No Qt here. What a model writes is hostile: no HTML, no images fetched, nothing executed; every construct ends as
text with a style. The text is cut into blocks at places that later text cannot change; a block that grows past
a bound is cut anyway, so that one giant list, table, code block or line costs no more per token than a short one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from playground.ui.conversation.highlight import highlight
from playground.ui.conversation.markdown import Line, Span, Style, parse_block

LONG_PARAGRAPH = 2_000  # characters after which an unbroken paragraph is cut
LONG_BLOCK = 2_500  # characters after which any other block is cut at a line end
TABLE_CHUNK = 25  # rows drawn as one table
CODE_CHUNK = 24  # lines highlighted together
LONG_CODE_LINE = 2_000  # characters after which a line of code is cut


_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})([^\n]*)\n?\Z")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?: |\t|\Z)")
_DELIMITER = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*\Z")
_QUIET = re.compile(r"[A-Za-zÀ-ɏͰ-ӿ一-鿿ぁ-ヿ0-9 ,;'’“”()…—–?%/€$-]+\Z")


class MarkdownStream:
    """Keeps the lines drawn so far and says, after each piece, from which line on they changed."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._done = 0  # lines before this index never change again
        self._tail = ""  # source of the block that may still change
        self._scanned = 0  # how far the tail has been searched for a cut
        self._fence: _Fence | None = None
        self._table: _Table | None = None
        self._groups = 0
        self._continues = False  # the tail goes on a paragraph that was cut
        self._quiet = False  # the last line is a plain paragraph that plain text can simply extend

    def feed(self, text: str) -> int:
        """Take more text. Returns the index of the first line that is new or different."""
        if not text:
            return len(self.lines)
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "�")
        if self._quiet and len(self._tail) < LONG_PARAGRAPH and _QUIET.match(text):
            self._tail += text
            self._scanned = min(self._scanned, len(self._tail))
            return self._extend_last(text)
        start = self._done
        self._tail += text
        while self._advance():
            pass
        self._draw_tail()
        return start

    def _extend_last(self, text: str) -> int:
        last = self.lines[-1]
        spans = last.spans
        grown = replace(spans[-1], text=spans[-1].text + text)
        self.lines[-1] = replace(last, spans=(*spans[:-1], grown))
        return len(self.lines) - 1

    # Cutting

    def _advance(self) -> bool:
        """Finish what can be finished at the front of the tail. Returns whether to look again."""
        if self._fence is not None:
            return self._advance_fence(self._fence)
        if self._table is not None:
            return self._advance_table(self._table)
        tail = self._tail
        at = self._scanned
        while True:
            end = tail.find("\n", at)
            if end < 0:
                break
            line, start = tail[at:end], at
            at = end + 1
            fence = _FENCE.match(line)
            if fence and not ("`" in fence[3] and fence[2][0] == "`"):
                self._finish(tail[:start])
                self._groups += 1
                self._fence = _Fence(fence[2], len(fence[1]), fence[3].strip().split(" ")[0], self._groups)
                self._tail, self._scanned = tail[at:], 0
                return True
            if start and self._starts_block(tail, start, line):
                self._finish(tail[:start])
                self._tail, self._scanned = tail[start:], 0
                return True
            if "|" in line and _DELIMITER.match(line.strip()) and self._opens_table(tail[:start], line):
                head_at = tail.rfind("\n", 0, start - 1) + 1
                self._finish(tail[:head_at])
                self._table = _Table(tail[head_at:at])
                self._tail, self._scanned = tail[at:], 0
                return True
            self._scanned = at
        rest = tail[self._scanned :]
        if self._scanned and rest and self._starts_block(tail, self._scanned, rest, partial=True):
            start = self._scanned
            self._finish(tail[:start])
            self._tail, self._scanned = tail[start:], 0
            return False
        return self._cut_long()

    def _starts_block(self, tail: str, start: int, line: str, *, partial: bool = False) -> bool:
        """Whether ``line`` at ``start`` begins a block that the text before it has no part in."""
        if not line.strip() or line[0] in " \t":
            return False
        if partial and len(line) < 4:
            return False  # "1." may become a list item, "``" a fence
        after_blank = tail[start - 2 : start] == "\n\n" or not tail[:start].strip()
        if after_blank:
            return True
        in_list = bool(_ITEM.match(tail))
        return in_list and bool(_ITEM.match(line))

    @staticmethod
    def _opens_table(before: str, delimiter: str) -> bool:
        lines = before.rstrip("\n").rsplit("\n", 1)
        head = lines[-1]
        return "|" in head and not head.startswith((" ", "\t", ">")) and _cells(head) == _cells(delimiter)

    def _cut_long(self) -> bool:
        """Cut a block that has grown past its bound; the rest goes on as the same paragraph."""
        tail = self._tail
        newline = tail.rfind("\n")
        if newline < 0 or newline == len(tail) - 1:
            newline = tail.rfind("\n", 0, max(newline, 0))
        if len(tail) - newline - 1 > LONG_PARAGRAPH:
            limit = newline + 1 + LONG_PARAGRAPH
            space = tail.rfind(" ", limit - 300, limit)
            cut = space + 1 if space > 0 else limit
            self._finish(tail[:cut])
            self._tail, self._scanned, self._continues = tail[cut:], 0, True
            return True
        if len(tail) > LONG_BLOCK and newline > 0:
            self._finish(tail[: newline + 1])
            self._tail, self._scanned = tail[newline + 1 :], 0
            return True
        return False

    def _finish(self, source: str) -> None:
        """``source`` is final: draw it for good."""
        del self.lines[self._done :]
        self.lines += self._parse(source)
        self._done = len(self.lines)
        self._continues = False

    def _draw_tail(self) -> None:
        """Draw what may still change."""
        self._quiet = False
        if self._fence is not None:
            del self.lines[self._done :]
            self.lines += self._fence.provisional(self._tail)
        elif self._table is not None:
            del self.lines[self._done :]
            self.lines += self._table.provisional(self._tail)
        else:
            del self.lines[self._done :]
            self.lines += self._parse(self._tail)
            last_line = self._tail.rsplit("\n", 1)[-1]
            if len(self.lines) > self._done and len(last_line) > 12 and last_line[0] not in " \t|>":
                last = self.lines[-1]
                self._quiet = (
                    last.kind in ("paragraph", "item")
                    and bool(last.spans)
                    and last.spans[-1].style is Style.PLAIN
                    and last_line.endswith(last.spans[-1].text[-8:])
                    and len(last.spans[-1].text) > 3
                )

    def _parse(self, source: str) -> list[Line]:
        if not source.strip():
            return []
        lines = parse_block(source)
        if self._continues and lines and lines[0].kind == "paragraph":
            lines[0] = replace(lines[0], joins=True)
        return lines

    # Code

    def _advance_fence(self, fence: _Fence) -> bool:
        tail = self._tail
        at = 0
        while (end := tail.find("\n", at)) >= 0:
            line = tail[at:end]
            at = end + 1
            if fence.closes(line):
                self._commit(fence.flush())
                self._fence = None
                self._tail, self._scanned = tail[at:], 0
                return True
            self._commit(fence.add(line))
        rest = tail[at:]
        while len(rest) > LONG_CODE_LINE:
            self._commit(fence.add(rest[:LONG_CODE_LINE], open_end=True))
            rest = rest[LONG_CODE_LINE:]
        self._tail = rest
        return False

    def _commit(self, lines: Iterable[Line]) -> None:
        del self.lines[self._done :]
        self.lines += lines
        self._done = len(self.lines)

    def _advance_table(self, table: _Table) -> bool:
        tail = self._tail
        at = 0
        while (end := tail.find("\n", at)) >= 0:
            line = tail[at:end]
            if not line.strip() or (line[0] in "#>`-*" and "|" not in line):
                self._commit(table.flush())
                self._table = None
                self._tail, self._scanned = tail[at:], 0
                return True
            at = end + 1
            self._commit(table.add(line))
        self._tail = tail[at:]
        if len(self._tail) > LONG_BLOCK:
            self._commit(table.add(self._tail))
            self._tail = ""
        return False


class _Fence:
    """A code block being received."""

    def __init__(self, mark: str, indent: int, language: str, group: int) -> None:
        self._mark = mark
        self._indent = indent
        self._language = language[:40]
        self._group = group
        self._chunk: list[str] = []
        self._drawn: list[Line] = []  # the chunk as last drawn, so that a growing last line redraws only itself
        self._started = False
        self._joins = False

    def closes(self, line: str) -> bool:
        stripped = line.strip()
        return (
            len(stripped) >= len(self._mark)
            and stripped[0] == self._mark[0]
            and not stripped.strip(self._mark[0])
            and len(line) - len(line.lstrip(" ")) <= 3
        )

    def add(self, line: str, *, open_end: bool = False) -> list[Line]:
        """A whole line came. Returns lines that are final now."""
        if self._indent and line[: self._indent].isspace():
            line = line[self._indent :]
        self._chunk.append(line)
        if len(self._chunk) >= CODE_CHUNK or open_end or self._joins or len(line) > 500:
            return self.flush(joins_next=open_end)
        return []

    def flush(self, *, joins_next: bool = False) -> list[Line]:
        """Everything held back is final now."""
        lines = self._chunk or ([] if self._started else [""])
        out = self._draw(lines)
        self._started = self._started or bool(out)
        self._chunk, self._drawn = [], []
        self._joins = joins_next
        return out

    def provisional(self, rest: str) -> list[Line]:
        """How it looks now, with ``rest`` as the unfinished last line."""
        if len(self._drawn) != len(self._chunk):
            self._drawn = self._draw(self._chunk)
        if not rest and (self._chunk or self._started):
            return self._drawn
        return [*self._drawn, *self._draw([rest], offset=len(self._chunk))]

    def _draw(self, lines: Sequence[str], *, offset: int = 0) -> list[Line]:
        """Lines as drawn; ``offset`` is the place of the first of them in the chunk."""
        drawn = highlight(lines, self._language) if lines else []
        return [
            Line(
                "code",
                tuple(Span(text, Style.CODE, token=token) for token, text in spans),
                language=self._language,
                group=self._group,
                first=number == 0 and not self._started,
                joins=number == 0 and self._joins,
            )
            for number, spans in enumerate(drawn, start=offset)
        ]


class _Table:
    """A table being received: whole chunks of rows are final, the last chunk grows."""

    def __init__(self, head: str) -> None:
        self._head = head
        self._rows: list[str] = []
        self._chunks = 0

    def add(self, row: str) -> list[Line]:
        """A whole row came. Returns lines that are final now."""
        self._rows.append(row)
        return self.flush() if len(self._rows) >= TABLE_CHUNK else []

    def flush(self) -> list[Line]:
        """Everything held back is final now."""
        out = self.provisional("")
        self._rows = []
        self._chunks += 1
        return out

    def provisional(self, rest: str) -> list[Line]:
        """How it looks now, with ``rest`` as the unfinished last row."""
        rows = [*self._rows, rest] if rest.strip() else self._rows
        if not rows and self._chunks:
            return []
        source = self._head + "\n".join(row if "|" in row else f"| {row}" for row in rows)
        lines = parse_block(source)
        if self._chunks:
            lines = [
                replace(line, rows=line.rows[1:], header=False, joins=True) if line.kind == "table" else line
                for line in lines
            ]
        return lines


def _cells(row: str) -> int:
    return len(row.replace("\\|", "").strip().strip("|").split("|"))
