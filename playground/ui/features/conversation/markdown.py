"""Lines to draw, and how a piece of Markdown that is complete in itself becomes lines.

No Qt here. What a model writes is hostile: no HTML, no images fetched, nothing executed; every construct ends as
text with a style.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntFlag
from functools import cache
from typing import TYPE_CHECKING, Any

from playground.ui.widgets.highlight import highlight

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

DEEPEST = 20  # levels of nesting the parser follows; a list item takes two

_BARE_URL = re.compile(r"https?://[^\s<>\"'`|\\^{}]+[^\s<>\"'`|\\^{}.,;:!?)\]]")


class Style(IntFlag):
    """How a run of characters looks."""

    PLAIN = 0
    BOLD = 1
    ITALIC = 2
    CODE = 4
    STRIKE = 8
    LINK = 16
    IMAGE = 32


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of one look. ``href`` is a link's address; ``token`` a kind of code ("keyword", "string" ...)."""

    text: str
    style: Style = Style.PLAIN
    href: str = ""
    token: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph to draw.

    ``kind``: "paragraph", "heading", "item", "code", "rule", "table"; "plain" and "raw" for exact text.
    ``level`` is the heading's level or the depth of a list item, ``quote`` the depth of quoting.
    ``joins`` marks a continuation that was cut only for
    speed: no space before it, no line break when copied. For code, ``language`` is the fence's word and ``first``
    marks the line a block begins with. A table has ``rows`` of cells of spans instead of spans.
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
        """The characters of the line."""
        return "".join(span.text for span in self.spans)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # A link's definition would vanish from the text, and the blocks are parsed apart: it is shown as it stands.
    rules = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    return rules.disable("reference")


def parse_block(source: str, *, number: int | None = None) -> list[Line] | None:
    """The lines of a piece of Markdown, complete in itself; None if it cannot be parsed without losing text.

    ``number`` is what a numbered list that begins here goes on with, whatever number is written.
    """
    try:
        tokens = _parser().parse(source)
    except (RecursionError, ValueError, IndexError):
        return None
    if any(token.nesting == 1 and token.level >= DEEPEST - 1 for token in tokens):
        return None  # the parser drops what lies deeper
    return _Walker(tokens, number).lines


def plain_lines(source: str) -> list[Line]:
    """The same text with nothing made of it."""
    text = source.strip("\n")
    return [Line("paragraph", (Span(text.replace("\n", "\u2028")),))] if text else []


class _Walker:
    """Turns markdown-it's tokens into lines."""

    def __init__(self, tokens: list[Token], number: int | None) -> None:
        self.lines: list[Line] = []
        self._number = number
        self._lists: list[int | None] = []  # the next number of each open list, None for bullets
        self._quote = 0
        self._marker = ""
        self._table: list[list[tuple[Span, ...]]] | None = None
        self._aligns: list[str] = []
        self._heading = 0
        for token in tokens:
            self._take(token)

    def _take(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(None)
            case "ordered_list_open":
                start = int(token.attrs.get("start", 1))
                self._lists.append(self._number if self._number is not None and not self._lists else start)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._flush_marker()
                number = self._lists[-1]
                self._marker = "•" if number is None else f"{number}."
                if number is not None:
                    self._lists[-1] = number + 1
            case "list_item_close":
                self._flush_marker()
            case "blockquote_open":
                self._flush_marker()
                self._quote += 1
            case "blockquote_close":
                self._quote -= 1
            case "heading_open":
                self._heading = int(token.tag[1])
            case "heading_close":
                self._heading = 0
            case "inline":
                self._inline(token)
            case "fence" | "code_block":
                self._code(token)
            case "hr":
                self._flush_marker()
                self.lines.append(Line("rule", quote=self._quote))
            case "table_open":
                self._flush_marker()
                self._table, self._aligns = [], []
            case "tr_open" if self._table is not None:
                self._table.append([])
            case "th_open":
                style = str(token.attrs.get("style", ""))
                self._aligns.append(style.removeprefix("text-align:"))
            case "table_close" if self._table is not None:
                rows = tuple(tuple(row) for row in self._table)
                self.lines.append(Line("table", rows=rows, header=True, aligns=tuple(self._aligns), quote=self._quote))
                self._table = None
            case _:
                pass

    def _inline(self, token: Token) -> None:
        spans = _spans(token.children or [])
        if self._table is not None:
            if self._table:
                self._table[-1].append(spans)
            return
        if self._heading and self._marker:
            spans, self._heading = tuple(replace(span, style=span.style | Style.BOLD) for span in spans), 0
        kind = "heading" if self._heading else ("item" if self._lists else "paragraph")
        level = self._heading or len(self._lists)
        self.lines.append(Line(kind, spans, level, self._marker if self._lists else "", self._quote))
        self._marker = ""

    def _flush_marker(self) -> None:
        """An item that begins with something else than words, or is empty, still shows its marker."""
        if self._marker:
            self.lines.append(Line("item", (), len(self._lists), self._marker, self._quote))
            self._marker = ""

    def _code(self, token: Token) -> None:
        """A code block inside a list or quote, or an indented one."""
        self._flush_marker()
        language = (token.info or "").strip().split(" ")[0][:40]
        rows = token.content.removesuffix("\n").split("\n")
        for number, spans in enumerate(highlight(rows, language)):
            self.lines.append(
                Line(
                    "code",
                    tuple(Span(text, Style.CODE, token=kind) for kind, text in spans),
                    level=len(self._lists),
                    quote=self._quote,
                    language=language,
                    first=number == 0,
                )
            )


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
                # Never fetched: the words and the address stand in the picture's place.
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
    at = 0
    for found in _BARE_URL.finditer(text):
        if found.start() > at:
            out.append(Span(text[at : found.start()], style))
        out.append(Span(found[0], style | Style.LINK, found[0]))
        at = found.end()
    if at < len(text):
        out.append(Span(text[at:], style))


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
    """A link's address if it is one a person may be asked to open; else empty."""
    text = str(value)
    return text if text.lower().startswith(("http://", "https://", "mailto:")) else ""
