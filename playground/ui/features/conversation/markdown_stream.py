"""Markdown that grows: every top-level block but the last is final, and the last one is parsed again with each piece.

A block or line that grows too long is cut, so that a token costs the same however long the text is; what is open at
the cut (list items, a quote, code, a table) is opened again for what follows. The lines depend on the text alone, not
on the pieces it arrives in. No Qt here.
"""

from __future__ import annotations

import re
from dataclasses import replace

from playground.ui.features.conversation.caps import CONTINUED_BLOCK, LONG_BLOCK, LONG_LINE
from playground.ui.features.conversation.markdown import Context, Line, Parsed, Span, Style, parse

_UNDERLINE = re.compile(r"[-=]{1,2}\Z")  # of a heading, or the start of a list
_BULLETS = re.compile(r"([ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+\d*)([-*+.)])\Z")  # the last without a space yet


class MarkdownStream:
    """Parse growing Markdown into ``lines``; ``append_markdown`` returns the first index that changed."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._final = 0  # lines before this index never change
        self._context = Context()  # open where the tail begins
        self._joined: Line | None = None  # the tail continues this line, which was cut
        self._tail: list[str] = []  # source lines that are complete and not final
        self._size = 0  # characters of the tail
        self._rest = ""  # the last source line as received so far
        self._end = Context()  # open behind the complete lines
        self._after_return = False

    def append_markdown(self, text: str) -> int:
        """Append text. Return the index of the first line that may be new or different."""
        if self._after_return and text.startswith("\n"):  # a line end received in two pieces
            text = text[1:]
            self._after_return = False
        if not text:
            return len(self.lines)
        self._after_return = text.endswith("\r")
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        start = self._final
        del self.lines[start:]
        *complete, rest = (self._rest + text).split("\n")
        for line in complete:
            self._add_line(line)
        self._rest = self._cut_long_line(rest)
        if complete:
            self._settle()
        self.lines += self._growing_lines()
        return start

    def _growing_lines(self) -> list[Line]:
        """Draw the tail and the unfinished line; a table's unfinished row apart, for Qt lays out whole tables."""
        lines = self._parse(self._provisional_rest()).lines
        last = lines[-1] if lines and self._rest.strip() else None
        if last is not None and last.kind == "table" and len(last.rows) > 1:
            row = replace(last, rows=last.rows[-1:], header=False, joins=True)
            lines[-1:] = [replace(last, rows=last.rows[:-1]), row]
        return lines

    def _add_line(self, line: str) -> None:
        line = self._cut_long_line(line)
        self._tail.append(line)
        self._size += len(line) + 1
        goes_on = self._context.mark or self._context.kind == "table_open"
        longest = CONTINUED_BLOCK if goes_on else LONG_BLOCK
        if self._size > longest:
            parsed = self._settle()
            if self._size > longest:
                self._cut(parsed)

    def _cut_long_line(self, rest: str) -> str:
        """Cut pieces off a line that is too long. Return the rest."""
        while len(rest) > LONG_LINE:
            space = rest.rfind(" ", LONG_LINE - 300, LONG_LINE)
            end = space + 1 if space >= 0 else LONG_LINE
            self._tail.append(rest[:end])
            self._cut(inside_line=True)
            rest = rest[end:]
        return rest

    def _parse(self, rest: str | None = None) -> Parsed:
        """Parse the tail, with ``rest`` as its last line."""
        source = self._tail if rest is None else [*self._tail, rest]
        joined = self._joined
        if joined is None or not source:
            return parse([*self._context.lines, *source], self._context)
        mark = "x " if not joined.spans or joined.text.endswith(" ") else "x"  # words, whatever the piece begins with
        lead = self._context.lead + ("    " if self._context.kind == "code_block" else "")
        parsed = parse([*self._context.lines, f"{lead}{mark}{source[0]}", *source[1:]], self._context)
        if parsed.lines:
            parsed.lines[0] = _continued(parsed.lines[0], joined, len(mark))
            if parsed.lines[0].kind != "table" and not parsed.lines[0].spans:
                del parsed.lines[0]
                return parsed._replace(before=max(parsed.before - 1, 0))
        return parsed

    def _settle(self) -> Parsed | None:
        """Make all top-level blocks but the last final. Return the parsed tail if there is only one."""
        parsed = self._parse()
        self._end = parsed.context
        if (first := parsed.last - len(self._context.lines)) > 0:
            self.lines += parsed.lines[: parsed.before]
            self._final = len(self.lines)
            self._size -= sum(len(line) + 1 for line in self._tail[:first])
            del self._tail[:first]
            self._context, self._joined = Context(), None
            return None
        return parsed

    def _cut(self, parsed: Parsed | None = None, *, inside_line: bool = False) -> None:
        """Make the whole tail final; ``parsed`` is the tail if it was parsed before."""
        parsed = parsed or self._parse()
        lines = parsed.lines
        piece = self._tail[-1]
        if inside_line and piece.endswith(" ") and lines and lines[-1].kind not in ("table", "code"):
            spaces = Span(piece[len(piece.rstrip(" ")) :])  # stripped by the parser
            lines[-1] = replace(lines[-1], spans=(*lines[-1].spans, spaces))
        self.lines += lines
        self._final = len(self.lines)
        self._context = self._end = parsed.context
        self._joined = lines[-1] if inside_line and lines else None
        self._tail, self._size = [], 0

    def _provisional_rest(self) -> str | None:
        """Return the unfinished line as it is likely to continue, so that the text does not flicker."""
        rest, end = self._rest, self._end
        if end.mark and rest.strip() and not rest.strip().strip(end.mark[0]):
            return None  # the end of the code
        if end.kind == "paragraph_open" and _UNDERLINE.match(rest) and self._tail and self._tail[-1].strip():
            return f"\\{rest}"  # rather a list item than the underline of a heading
        if not end.mark and (bullets := _BULLETS.match(rest)) is not None:
            return f"{bullets[1]}\\{bullets[2]}"  # rather a word in bold than an item in an item
        return rest if rest or not end.mark else None


def _continued(line: Line, before: Line, mark: int) -> Line:
    """Return ``line`` as the continuation of ``before``, without the ``mark`` characters put in front of it."""
    if line.kind == "table":
        (first, *cells), *rows = line.rows
        return replace(line, rows=((_without(first, mark), *cells), *rows))
    line = replace(line, spans=_without(line.spans, mark), joins=True)
    if line.kind == "paragraph" and before.kind == "heading":
        line = replace(line, kind=before.kind, level=before.level)
    return line


def _without(spans: tuple[Span, ...], count: int) -> tuple[Span, ...]:
    """Return the spans without the first characters."""
    out: list[Span] = []
    for span in spans:
        dropped = min(count, len(span.text))
        count -= dropped
        if dropped < len(span.text):
            out.append(replace(span, text=span.text[dropped:]))
    return tuple(out)


def exact_lines(text: str, kind: str, *, joins: bool = False) -> list[Line]:
    """Return the exact text, a line each; one without a break is cut so that it costs no more than a short one."""
    style = Style.CODE if kind == "raw" else Style.PLAIN
    out: list[Line] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        pieces = [line[start : start + LONG_LINE] for start in range(0, len(line), LONG_LINE)] or [""]
        for number, piece in enumerate(pieces):
            spans = (Span(piece, style),) if piece else ()
            out.append(Line(kind, spans, joins=number > 0 or (joins and not out)))
    return out
