"""Markdown as lines to draw, parsed by markdown-it. No Qt here.

A model's text is hostile: no HTML, no images fetched, nothing executed; every construct becomes text with a style.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntFlag
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from playground.ui.widgets.highlight import highlight

if TYPE_CHECKING:  # loaded with the first text that is drawn, not before the first frame
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_NESTING = 20  # levels the parser follows; a list item takes two
MAX_COLUMNS = 100  # of a table; a wider one is drawn as text

_BARE_URL = re.compile(r"https?://[^\s<>\"'`|\\^{}]+[^\s<>\"'`|\\^{}.,;:!?)\]]")


class Style(IntFlag):
    """Style flags of a run of characters."""

    PLAIN = 0
    BOLD = 1
    ITALIC = 2
    CODE = 4
    STRIKE = 8
    LINK = 16
    IMAGE = 32


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of one style. ``href`` is a link's address; ``token`` a kind of code ("keyword", "string" ...)."""

    text: str
    style: Style = Style.PLAIN
    href: str = ""
    token: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph to draw.

    ``kind``: "paragraph", "heading", "item", "code", "rule", "table"; "plain" and "raw" for exact text.
    ``level`` is the heading's level or the depth of a list item, ``quote`` the depth of quoting.
    ``joins`` marks the continuation of a line that was cut for speed: no space before it, no line break when copied.
    For code, ``language`` is the fence's word and ``first`` marks the first line of a block. A table has ``rows`` of
    cells of spans instead of spans.
    """

    kind: str
    spans: tuple[Span, ...] = ()
    level: int = 0
    marker: str = ""
    quote: int = 0
    joins: bool = False
    language: str = ""
    first: bool = False
    rows: tuple[tuple[tuple[Span, ...], ...], ...] = ()
    header: bool = False
    aligns: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the characters of the line."""
        return "".join(span.text for span in self.spans)

    @property
    def cell_count(self) -> int:
        """Return the number of cells of a table."""
        return sum([len(row) for row in self.rows])


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # A link reference definition would vanish from the text, and blocks are parsed apart: it is shown as text.
    rules = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    return rules.disable(["reference", "inline"])


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING}).enable("strikethrough")


@lru_cache(maxsize=512)
def _inline_spans(text: str) -> tuple[Span, ...]:
    """Parse the text inside a block; cached, since a growing block is parsed repeatedly."""
    (token,) = _inline_parser().parseInline(text)
    return _spans(token.children or [])


@lru_cache(maxsize=8)
def _code_spans(rows: tuple[str, ...], language: str) -> list[tuple[Span, ...]]:
    drawn = highlight(rows, language)
    return [tuple(Span(text, Style.CODE, token=kind) for kind, text in pieces) for pieces in drawn]


#: What opens containers at the start of a source line: quote marks, bullets and numbers of list items.
_LEAD = re.compile(r"(?:[ \t]*(?:> ?|(?:[-*+]|\d{1,9}[.)])(?:[ \t]{1,4}(?![ \t])|[ \t]|\Z)))*")


class Context(NamedTuple):
    """Containers that are open at the end of a text, for parsing what follows apart from it.

    ``lines`` open them again, ``numbers`` are the next numbers of the open lists, ``lead`` begins a further line in
    them. ``kind`` is the type of the last block's token, ``mark`` the fence if that is an open code block.
    """

    lines: tuple[str, ...] = ()
    numbers: tuple[int | None, ...] = ()
    lead: str = ""
    kind: str = ""
    mark: str = ""


class Parsed(NamedTuple):
    """Parsed lines; ``last`` is the source line of the last top-level block, ``before`` counts the lines above it."""

    lines: list[Line]
    context: Context
    last: int = 0
    before: int = 0


def parse(source: Sequence[str], context: Context) -> Parsed:
    """Parse source lines, the first of which are ``context.lines``; those are not drawn.

    Text that the parser would drop, because it is nested too deep, is drawn as plain text.
    """
    try:
        tokens = _parser().parse("\n".join(source) + "\n")
    except (RecursionError, ValueError, IndexError):
        tokens = None
    if tokens is None:
        return Parsed(plain_lines("\n".join(source[len(context.lines) :])), Context())
    walker = _Walker(source, context)
    for block in _top_level_blocks(tokens):
        walker.draw(block)
    return Parsed(walker.lines, walker.context_at_end(), walker.last, walker.before)


def _top_level_blocks(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    start = 0
    for end, token in enumerate(tokens, 1):
        if token.level == 0 and token.nesting < 1:
            yield tokens[start:end]
            start = end


def plain_lines(source: str) -> list[Line]:
    """Return the text as one paragraph without any markup."""
    text = source.strip("\n")
    return [Line("paragraph", (Span(text.replace("\n", "\u2028")),))] if text else []


class _Walker:
    """Convert markdown-it's tokens into lines."""

    def __init__(self, source: Sequence[str], context: Context) -> None:
        self.lines: list[Line] = []
        self.last = self.before = 0
        self._source = source
        self._hidden = len(context.lines)  # source lines that only open containers
        self._numbers = context.numbers
        self._lists: list[int | None] = []  # the next number of each open list, None for bullets
        self._items: list[int] = []  # the source line each open list item begins with
        self._end: tuple[Token, tuple[int, ...], tuple[int | None, ...]] | None = None
        self._quote = 0
        self._marker = ""
        self._table: list[list[tuple[Span, ...]]] | None = None
        self._aligns: list[str] = []
        self._heading = 0
        self._line = 0  # the source line of the block being read

    def draw(self, block: Sequence[Token]) -> None:
        """Draw the tokens of a top-level block."""
        start, stop = block[0].map or (0, 0)
        self.last, self.before = start, len(self.lines)
        if any(token.nesting == 1 and token.level >= MAX_NESTING - 1 for token in block):  # the rest is not in it
            self.lines += plain_lines("\n".join(self._source[max(start, self._hidden) : stop]))
            self._end = None
            return
        for token in block:
            if token.map is not None:
                self._line = token.map[0]
            self._convert(token)

    def _convert(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(None)
            case "ordered_list_open":
                self._lists.append(self._first_number(token))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._flush_marker()
                self._open_item(token)
            case "list_item_close":
                self._flush_marker()
                self._items.pop()
            case "blockquote_open":
                self._flush_marker()
                self._quote += 1
            case "blockquote_close":
                self._quote -= 1
            case "paragraph_open":
                self._note_end(token)
            case "heading_open":
                self._note_end(token)
                self._heading = int(token.tag[1])
            case "heading_close":
                self._heading = 0
            case "inline":
                self._inline(token)
            case "fence" | "code_block":
                self._note_end(token)
                self._code(token)
            case "hr":
                self._note_end(token)
                self._flush_marker()
                self.lines.append(Line("rule", quote=self._quote))
            case "table_open":
                self._note_end(token)
                self._flush_marker()
                self._table, self._aligns = [], []
            case "tr_open" if self._table is not None:
                self._table.append([])
            case "tr_close" if self._table and self._line < self._hidden:
                self._table.pop()
            case "th_open":
                style = str(token.attrs.get("style", ""))
                self._aligns.append(style.removeprefix("text-align:"))
            case "table_close":
                self._close_table()
            case _:
                pass

    def _note_end(self, token: Token) -> None:
        self._end = token, tuple(self._items), tuple(self._lists)

    def _first_number(self, token: Token) -> int | None:
        depth = len(self._lists)
        if self._line < self._hidden and depth < len(self._numbers) and (number := self._numbers[depth]) is not None:
            return number - 1  # the hidden item takes the number before
        return int(token.attrs.get("start", 1))

    def _open_item(self, token: Token) -> None:
        number = self._lists[-1]
        if number is not None:
            self._lists[-1] = number + 1
        if self._line >= self._hidden:
            self._marker = "•" if number is None else f"{number}."
        self._items.append(self._line)
        self._note_end(token)

    def _inline(self, token: Token) -> None:
        if self._table:
            self._table[-1].append(_inline_spans(token.content))
        if self._table is not None or self._line < self._hidden:
            return
        spans = _inline_spans(token.content)
        if self._heading and self._marker:
            spans, self._heading = tuple(replace(span, style=span.style | Style.BOLD) for span in spans), 0
        kind = "heading" if self._heading else ("item" if self._lists else "paragraph")
        level = self._heading or len(self._lists)
        self.lines.append(Line(kind, spans, level, self._marker if self._lists else "", self._quote))
        self._marker = ""

    def _flush_marker(self) -> None:
        """Show the marker of an item that is empty or begins with something other than words."""
        if self._marker:
            self.lines.append(Line("item", (), len(self._lists), self._marker, self._quote))
            self._marker = ""

    def _code(self, token: Token) -> None:
        self._flush_marker()
        goes_on = self._line < self._hidden
        if goes_on and not token.content:
            return
        language = (token.info or "").strip().split(" ")[0][:40]
        rows = tuple(token.content.removesuffix("\n").split("\n"))
        if _is_open(token):  # by itself, so that the others are not coloured again as it grows
            drawn = [*_code_spans(rows[:-1], language), *_code_spans(rows[-1:], language)]
        else:
            drawn = _code_spans(rows, language)
        for number, spans in enumerate(drawn):
            first = number == 0 and not goes_on
            self.lines.append(Line("code", spans, len(self._lists), "", self._quote, False, language, first))

    def _close_table(self) -> None:
        rows = tuple(tuple(row) for row in self._table or ())
        goes_on = self._end is not None and self._end[0].map is not None and self._end[0].map[0] < self._hidden
        self._table = None
        if len(self._aligns) > MAX_COLUMNS:
            for row in rows:
                text = " | ".join("".join(span.text for span in cell) for cell in row)
                self.lines.append(Line("paragraph", (Span(text),), quote=self._quote))
        elif rows:
            aligns = tuple(self._aligns)
            self.lines.append(
                Line("table", rows=rows, header=not goes_on, aligns=aligns, quote=self._quote, joins=goes_on)
            )

    def context_at_end(self) -> Context:
        """Return the containers that are open behind the last block."""
        if self._end is None:
            return Context()
        source = self._source
        token, items, numbers = self._end
        leads = [_LEAD.match(source[line]) for line in dict.fromkeys(items)]
        lines = [f"{lead[0] if lead[0][-1:].isspace() else lead[0] + ' '}x" for lead in leads if lead is not None]
        begin = token.map[0] if token.map is not None else 0
        if leads and leads[-1] is not None:
            lead = _without_markers(leads[-1][0])
        else:
            first = _LEAD.match(source[begin])
            lead = _without_markers(first[0]) if first is not None else ""
        mark = ""
        if _is_open(token):
            lines.append(_in_container(source[begin]))
            mark = token.markup
        elif token.type == "table_open":
            lines += [_in_container(source[begin]), _in_container(source[begin + 1])]
        elif lines:
            lines.append(lead.rstrip())  # ends the paragraph that opens the container
        return Context(tuple(lines), numbers, lead, token.type, mark)


def _is_open(token: Token) -> bool:
    """Return whether the token is code whose fence has not ended."""
    begin, end = token.map or (0, 0)
    return token.type == "fence" and token.content.count("\n") >= end - begin - 1


def _without_markers(lead: str) -> str:
    return re.sub(r"[^>\s]", " ", lead)


def _in_container(line: str) -> str:
    lead = _LEAD.match(line)
    return _without_markers(lead[0]) + line[lead.end() :] if lead is not None else line


def _spans(children: Iterable[Token]) -> tuple[Span, ...]:
    out: list[Span] = []
    style, href = Style.PLAIN, ""
    for token in children:
        match token.type:
            case "text":
                _add_text(out, token.content, style, href)
            case "code_inline":
                out.append(Span(token.content, style | Style.CODE, href))
            case "softbreak" | "hardbreak":
                out.append(Span("\u2028", style, href))
            case "strong_open":
                style |= Style.BOLD
            case "strong_close":
                style &= ~Style.BOLD
            case "em_open":
                style |= Style.ITALIC
            case "em_close":
                style &= ~Style.ITALIC
            case "s_open":
                style |= Style.STRIKE
            case "s_close":
                style &= ~Style.STRIKE
            case "link_open":
                href = _address(token.attrs.get("href", ""))
                style = style | Style.LINK if href else style
            case "link_close":
                style &= ~Style.LINK
                href = ""
            case "image":
                # Never fetched: its words and address are shown instead.
                words = token.content or "image"
                out.append(Span(f"[{words}]", style | Style.IMAGE, _address(token.attrs.get("src", ""))))
            case _:
                if token.content:
                    _add_text(out, token.content, style, href)
    return _merged(out)


def _add_text(out: list[Span], text: str, style: Style, href: str) -> None:
    if href or "://" not in text:
        out.append(Span(text, style, href))
        return
    start = 0
    for address in _BARE_URL.finditer(text):
        if address.start() > start:
            out.append(Span(text[start : address.start()], style))
        out.append(Span(address[0], style | Style.LINK, address[0]))
        start = address.end()
    if start < len(text):
        out.append(Span(text[start:], style))


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    out: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        last = out[-1] if out else None
        if last and (last.style, last.href, last.token) == (span.style, span.href, span.token):
            out[-1] = replace(last, text=last.text + span.text)
        else:
            out.append(span)
    return tuple(out)


def _address(value: Any) -> str:
    """Return a link's address if a person may be asked to open it; else an empty text."""
    text = str(value)
    return text if text.lower().startswith(("http://", "https://", "mailto:")) else ""
