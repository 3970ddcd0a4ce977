"""Cuts Markdown into blocks, line by line, at places that later text cannot change.

No Qt here. A block that grows past a bound is cut anyway, so that one giant list, table, code block, quote or line
costs no more per token than a short one; what is open at the cut (list items, a quote) is open after it as well.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, replace

from playground.ui.features.conversation.markdown import Line, Span, Style, parse_block, plain_lines
from playground.ui.features.conversation.open_blocks import CodeBlock, TableBlock, cell_count

LONG_LINE = 2_000  # characters after which a line is cut
LONG_BLOCK = 2_500  # characters after which a block is cut at a line end
DEEPEST_QUOTE = 4  # quotes in quotes that are cut on their own; deeper ones are left to the parser
DEEPEST_LIST = 6  # list levels kept open over a cut

_FENCE = re.compile(r"(`{3,}|~{3,})(.*)\Z")
_ITEM = re.compile(r"( *)([-*+]|(\d{1,9})[.)])( +|\t|\Z)")
_HEADING = re.compile(r" {0,3}#{1,6}(?: |\t|\Z)")
_QUOTE = re.compile(r" {0,3}> ?")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*\Z")
_DELIMITER = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*\Z")
_MARKS = re.compile(
    r"([ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+\d*)([-*+.)])\Z"
)  # of items, the last without a space yet
_UNDERLINE = re.compile(r"[-=]{1,2}\Z")


@dataclass(frozen=True, slots=True)
class _Item:
    """An open list item: the column of its marker, the column of its content, the marker as written."""

    indent: int
    content: int
    marker: str


class Blocks:
    """Takes whole lines; ``drain`` gives the lines that are final, ``growing`` those that are not yet."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth  # of quotes around this
        self._out: list[Line] = []
        self._source: list[str] = []  # whole lines of the block being received
        self._size = 0
        self._items: tuple[_Item, ...] = ()  # open at the end of the source
        self._entered: tuple[_Item, ...] = ()  # open already where the source begins
        self._number: int | None = None  # the number the next item of the outermost list has
        self._start: int | None = None  # the number the list in the source begins with
        self._joined: Line | None = None  # what the source goes on with, cut inside its line
        self._code: CodeBlock | None = None
        self._table: TableBlock | None = None
        self._quote: Blocks | None = None
        self._inside_line = False  # the next line goes on a line of the quote that was cut

    def take(self, line: str) -> None:
        """A whole line, without its end."""
        self._take(self.take_front(line), whole=True)

    def take_front(self, rest: str) -> str:
        """Take pieces off the front of a line that is too long. Returns what is left of it."""
        while len(rest) > LONG_LINE:
            space = rest.rfind(" ", LONG_LINE - 300, LONG_LINE)
            at = space + 1 if space >= 0 else LONG_LINE
            self._take(rest[:at], whole=False)
            rest = rest[at:]
        return rest

    def drain(self) -> list[Line]:
        """The lines that have become final since the last time."""
        out, self._out = self._out, []
        return out

    def growing(self, rest: str) -> list[Line]:
        """How what is not final looks now, with ``rest`` as the line being received: as if the text ended here."""
        if self._code is not None:
            return self._code.provisional(rest)
        if self._table is not None and not self._table.ends(rest):
            return self._table.provisional(rest)
        if self._quote is not None and self._is_quoted(rest):
            return _quoted(self._quote.growing(self._unquoted(rest)))
        end = self._twin()
        if self._source and not self._items and _UNDERLINE.match(rest) and self._source[-1].strip():
            end._end()
            return [*end._out, *plain_lines(rest)]  # one or two dashes: rather a coming list than an underline
        if rest:
            end._take(rest, whole=True)
        end._end()
        marks = _MARKS.match(rest) if all(line.kind == "item" and not line.spans for line in end._out[-2:]) else None
        if marks is not None and len(end._out) > 1:
            return self.growing(f"{marks[1]}\\{marks[2]}")  # rather a coming word in bold than an item in an item
        return end._out

    def _twin(self) -> Blocks:
        twin = copy.copy(self)
        twin._out, twin._source = [], list(self._source)
        twin._code = self._code.twin() if self._code else None
        twin._table = self._table.twin() if self._table else None
        twin._quote = self._quote._twin() if self._quote else None
        return twin

    def _take(self, line: str, *, whole: bool) -> None:
        if self._code is not None:
            if whole and self._code.closes(line):
                self._end_code()
            else:
                self._out += self._code.add_code_line(line, open_end=not whole)
            return
        if self._table is not None:
            if line and not self._table.ends(line):
                self._out += self._table.add_table_row(line)
                return
            self._end_table()
        if self._is_quoted(line):
            self._take_quoted(line, whole=whole)
        else:
            self._end_quote()
            self._take_words(line, whole=whole)

    def _end(self) -> None:
        """The text ends here."""
        self._end_code()
        self._end_table()
        self._end_quote()
        self._finish()

    def _end_code(self) -> None:
        if self._code is not None:
            self._out += self._code.flush()
            self._code = None

    def _end_table(self) -> None:
        if self._table is not None:
            self._out += self._table.flush()
            self._table = None

    # Quotes: what is inside is cut like a text of its own

    def _is_quoted(self, line: str) -> bool:
        if self._inside_line:
            return True
        if self._joined is not None or self._depth >= DEEPEST_QUOTE:
            return False
        if not _QUOTE.match(line):
            return self._quote is not None and self._quote._wraps(line)
        return not (self._items and _indent(line) >= self._items[0].content)

    def _unquoted(self, line: str) -> str:
        return line if self._inside_line else _QUOTE.sub("", line, count=1)

    def _wraps(self, line: str) -> bool:
        """Whether ``line``, not marked as quoted, goes on the paragraph that this quote ends with."""
        if self._quote is not None:
            return self._quote._wraps(line)
        if self._code is not None or self._table is not None or not self._source or not self._source[-1].strip():
            return False
        mark = _HEADING.match(line) or _RULE.match(line) or _ITEM.match(line) or _opening(line.lstrip(" "))
        return line.strip() != "" and not mark

    def _take_quoted(self, line: str, *, whole: bool) -> None:
        if self._quote is None:
            self._finish()
            self._number = None
            self._quote = Blocks(self._depth + 1)
        self._quote._take(self._unquoted(line), whole=whole)
        self._inside_line = not whole
        self._out += _quoted(self._quote.drain())

    def _end_quote(self) -> None:
        if self._quote is not None:
            self._quote._end()
            self._out += _quoted(self._quote.drain())
            self._quote = None

    # Everything else: gathered until it ends, then given to the parser

    def _take_words(self, line: str, *, whole: bool) -> None:
        goes_on = self._joined is not None and not self._source
        if not line.strip():
            if self._source:
                self._add(line)
                self._cut_long()
            elif whole:
                self._joined = None
            return
        if not goes_on:
            if whole and self._begins_code(line):
                return
            if self._source and self._begins_block(line):
                self._finish()
            if not self._source:
                self._enter(line)
            self._follow_items(line)
            if whole and self._begins_table(line):
                return
        self._add(line)
        if not whole:
            self._finish(goes_on=True, inside_line=True)
        elif len(self._source) == 1 and (_HEADING.match(line) or _RULE.match(line)) and not goes_on:
            self._finish(goes_on=bool(self._items))
        else:
            self._cut_long()

    def _add(self, line: str) -> None:
        self._source.append(line)
        self._size += len(line) + 1

    def _cut_long(self) -> None:
        if self._size > LONG_BLOCK:
            self._finish(goes_on=True)

    def _begins_block(self, line: str) -> bool:
        """Whether ``line`` begins a block that the lines gathered have no part in."""
        if line[0] in " \t":
            return False
        if not self._source[-1].strip() or _HEADING.match(line):
            return True
        if _RULE.match(line) and (self._items or line[0] != "-"):
            return True
        item = _ITEM.match(line)
        if item is None:
            return False
        return bool(self._items) or (line[item.end() :].strip() != "" and item[3] in (None, "1"))

    def _enter(self, line: str) -> None:
        """``line`` is the first of what is gathered from now on: see what it is inside of."""
        if line[0] not in " \t":
            self._items = ()
            item = _ITEM.match(line)
            if item is None or _RULE.match(line) or item[3] is None:
                self._number = None
            elif self._number is None:
                self._number = int(item[3])
            self._start = self._number
        self._entered = self._items

    def _follow_items(self, line: str) -> None:
        """Note which list items are open after ``line``."""
        at = 0
        if _RULE.match(line):
            return
        while (found := _ITEM.match(line, at)) is not None:
            indent = found.end(1)
            if at == 0:
                self._items = tuple(item for item in self._items if item.content <= indent)
                base = self._items[-1].content if self._items else 0
                if indent - base > 3:
                    return
            if not self._items and found[3] is not None and self._number is not None:
                self._number += 1
            space = found[4] if 1 <= len(found[4]) <= 4 and line[found.end() :].strip() else " "
            self._items = (*self._items, _Item(indent, found.end(2) + len(space), found[2]))[:DEEPEST_LIST]
            at = found.end()
            if len(self._items) == DEEPEST_LIST:
                return

    def _begins_code(self, line: str) -> bool:
        """Whether ``line`` opens a fence, which then stands in the list items its column belongs to."""
        indent = _indent(line)
        item = _ITEM.match(line)
        if item is not None and _opening(line[item.end() :]) and not (indent > 3 and not self._items):
            # The item begins with the code: draw its marker, then the code inside it.
            if self._source and (self._begins_block(line) or line[0] in " \t"):
                self._finish(goes_on=line[0] in " \t")
            self._enter(line)
            self._follow_items(line)
            self._add(line[: item.end()])
            self._finish(goes_on=True)
            indent, line = item.end(), " " * item.end() + line[item.end() :]
        fence = _opening(line[indent:])
        inside = tuple(item for item in self._items if item.content <= indent)
        if fence is None or indent - (inside[-1].content if inside else 0) > 3:
            return False
        self._finish(goes_on=True)
        self._items = self._entered = inside
        if not inside:
            self._number = None
        self._code = CodeBlock(fence[1], indent, fence[2].strip().split(" ")[0], len(inside))
        return True

    def _begins_table(self, line: str) -> bool:
        """Whether ``line`` makes the one before it the head of a table."""
        if "|" not in line or not self._source or self._items or not _DELIMITER.match(line.strip()):
            return False
        head = self._source[-1]
        if "|" not in head or head[0] in " \t" or cell_count(head) != cell_count(line):
            return False
        if len(self._source) == 1 and self._joined is not None:
            return False
        self._source.pop()
        self._finish()
        self._table = TableBlock(f"{head}\n{line}\n")
        return True

    def _finish(self, *, goes_on: bool = False, inside_line: bool = False) -> None:
        """What is gathered is final. With ``goes_on`` the list items open now stay open for what follows."""
        lines = self._parsed()
        if inside_line:
            lines = _with_space(lines, self._source[-1])
        self._out += lines
        self._joined = lines[-1] if inside_line and lines and lines[-1].kind != "table" else None
        self._source, self._size = [], 0
        self._items = self._items if goes_on else ()
        self._entered, self._start = self._items, None if goes_on else self._start

    def _parsed(self) -> list[Line]:
        source = "\n".join(self._source)
        if not source.strip():
            return []
        # The items already open are written before the text, and their lines dropped again.
        outer = "".join(f"{' ' * item.indent}{item.marker} x\n" for item in self._entered)
        outer += "\n" if outer else ""
        lead = ""
        if self._joined is not None:
            spaced = not self._joined.spans or self._joined.text.endswith(" ")
            lead = " " * (self._entered[-1].content if self._entered else 0) + ("x " if spaced else "x")
        lines = parse_block(outer + lead + source, number=None if outer else self._start)
        if lines is None:
            return plain_lines(source)
        lines = lines[len(self._entered) :]
        if self._joined is not None and lines:
            lines[0] = _going_on(lines[0], self._joined, len(lead.lstrip(" ")))
        return lines


def exact_lines(text: str, kind: str, *, joins: bool = False) -> list[Line]:
    """The exact text, a line each; one without a break is cut so that it costs no more than a short one."""
    style = Style.CODE if kind == "raw" else Style.PLAIN
    out: list[Line] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        pieces = [line[at : at + LONG_LINE] for at in range(0, len(line), LONG_LINE)] or [""]
        for number, piece in enumerate(pieces):
            spans = (Span(piece, style),) if piece else ()
            out.append(Line(kind, spans, joins=number > 0 or (joins and not out)))
    return out


def _opening(text: str) -> re.Match[str] | None:
    """The fence that ``text`` begins with, if it opens a code block."""
    fence = _FENCE.match(text)
    return None if fence is None or (fence[1][0] == "`" and "`" in fence[2]) else fence


def _going_on(line: Line, before: Line, lead: int) -> Line:
    """``line`` as what goes on ``before``, without the characters that were put at its front for the parser."""
    if line.spans and line.spans[0].text[:lead].startswith("x"):
        first = line.spans[0]
        spans = (replace(first, text=first.text[lead:]), *line.spans[1:])
        line = replace(line, spans=tuple(span for span in spans if span.text))
    if line.kind == "paragraph" and before.kind in ("heading", "item"):
        line = replace(line, kind=before.kind, level=before.level)
    return replace(line, joins=True)


def _with_space(lines: list[Line], source: str) -> list[Line]:
    """The lines with the space at the end of the source, which the parser takes away: words follow it."""
    space = source[len(source.rstrip(" ")) :]
    if not space or not lines or lines[-1].kind == "table":
        return lines
    return [*lines[:-1], replace(lines[-1], spans=(*lines[-1].spans, Span(space)))]


def _quoted(lines: list[Line]) -> list[Line]:
    return [replace(line, quote=line.quote + 1) for line in lines]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
