"""The writer of documents: patches and hidden characters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument, QTextTable
from pytestqt.qtbot import QtBot

from playground.ui.features.conversation.document import DocumentWriter
from playground.ui.features.conversation.markdown import Line, Span, Style
from playground.ui.features.conversation.markdown_stream import MarkdownStream


@pytest.fixture(autouse=True)
def application(qtbot: QtBot) -> QtBot:
    return qtbot


def looks(document: QTextDocument) -> list[tuple[object, ...]]:
    """Every block with what can be seen of it."""
    out: list[tuple[object, ...]] = []
    block: QTextBlock = document.begin()
    while block.isValid():
        form = block.blockFormat()
        runs = []
        index = block.begin()
        while not index.atEnd():
            run = index.fragment()
            char = run.charFormat()
            runs.append(
                (
                    run.text(),
                    char.foreground().color().name(),
                    char.fontWeight(),
                    char.fontItalic(),
                    char.anchorHref(),
                    char.intProperty(char.Property.FontPixelSize.value),
                )
            )
            index += 1
        frame = QTextCursor(block).currentFrame()
        cell = frame.cellAt(block.position()).format() if isinstance(frame, QTextTable) else None
        shade = cell.background().color().name() if cell and cell.background().style() != Qt.BrushStyle.NoBrush else ""
        out.append(
            (
                shade,
                form.alignment(),
                block.text(),
                form.leftMargin(),
                form.topMargin(),
                form.textIndent(),
                form.lineHeight(),
                tuple(runs),
            )
        )
        block = block.next()
    return out


def fresh(lines: list[Line], zoom: float = 1.0) -> list[tuple[object, ...]]:
    document = QTextDocument()
    DocumentWriter(document, zoom=zoom).write(0, lines)
    return looks(document)


def plain(text: str) -> Line:
    return Line("paragraph", (Span(text),) if text else ())


TABLE = Line("table", rows=(((Span("a"),), (Span("b"),)), ((Span("1"),), ())), header=True, aligns=("", "right"))
LINES = st.sampled_from(
    [
        plain("one"),
        plain("one and more"),
        plain(""),
        Line("paragraph", (Span("x "), Span("bold", Style.BOLD))),
        Line("paragraph", (Span("x "), Span("bold face", Style.BOLD), Span(" tail"))),
        Line("item", (Span("item"),), 1, "•"),
        Line("item", (), 2, "3."),
        Line("heading", (Span("Head"),), 2),
        Line("code", (Span("x = 1", Style.CODE, token="name"),), language="py", first=True),
        Line("code", (Span("y", Style.CODE),), language="py"),
        Line("code", (), language="py", joins=True),
        Line("rule"),
        Line("paragraph", (Span("said\u2028twice"),), quote=2),
        Line("paragraph", (Span("goes on"),), joins=True),
        TABLE,
        replace(TABLE, rows=(*TABLE.rows, ((Span("2", Style.CODE),), (Span("c"),)))),
    ]
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 8), st.lists(LINES, max_size=5)), max_size=6))
def test_patched_document_equals_a_new_one(patches: list[tuple[int, list[Line]]]) -> None:
    document = QTextDocument()
    writer = DocumentWriter(document)
    lines: list[Line] = []
    for keep, tail in patches:
        keep = min(keep, len(lines))
        lines = [*lines[:keep], *tail]
        writer.write(keep, tail)
        assert list(writer.lines) == lines
    assert looks(document) == fresh(lines)
    starts = [writer.block_start(index) for index in range(len(lines))]
    assert starts == sorted(starts)
    for index, start in enumerate(starts):
        assert writer.line_at(start) == index
        assert document.findBlock(start).position() == start
    covered = [index for block in writer.code_blocks for index in range(block.first, block.last + 1)]
    assert covered == [index for index, line in enumerate(lines) if line.kind == "code"]


def test_hidden_characters_are_marked_in_code_and_text() -> None:
    document = QTextDocument()
    writer = DocumentWriter(document)
    odd = "a\u202eb\u200bc\ud800d\u2029e\U000e0041"
    writer.write(0, [Line("code", (Span(odd, Style.CODE),), first=True), plain(odd), plain("emoji 👩\u200d🔬")])
    code, words, emoji = document.toPlainText().split("\n", 1)[0], document.findBlockByNumber(1).text(), ""
    assert code == "a‹U+202E›b‹U+200B›c‹U+D800›d‹U+2029›e‹U+E0041›"
    assert words == "a‹U+202E›b‹U+200B›c\ufffdd\u2028e‹U+E0041›"
    emoji = document.findBlockByNumber(2).text()
    assert emoji == "emoji 👩\u200d🔬"


def test_hidden_characters_are_marked_in_any_pieces() -> None:
    """The deciding characters may be in an earlier piece, another span, or a cell of a table."""
    text = "א\u200f ❤\ufe0f 👩\u200d💻 می\u200cخ 1\ufe0f\u20e3 a\u200fb\ufe0f c\u200dd \u3164"
    displayed = "א\u200f ❤\ufe0f 👩\u200d💻 می\u200cخ 1\ufe0f\u20e3 a\u200fb‹U+FE0F› c‹U+200D›d ‹U+3164›"
    document, stream = QTextDocument(), MarkdownStream()
    writer = DocumentWriter(document)
    for character in text:
        first = stream.append_markdown(character)
        writer.write(first, stream.lines[first:])
    assert document.toPlainText() == displayed
    for index in range(len(text)):
        spans = (Span(text[:index]), Span(text[index:], Style.BOLD))
        complete, cell = QTextDocument(), QTextDocument()
        DocumentWriter(complete).write(0, [Line("text", spans)])
        assert complete.toPlainText() == displayed
        if index % 5 == 0:
            head = ((Span("A"),),)
            DocumentWriter(cell).write(0, [Line("table", rows=(head, (spans,)), header=True)])
            assert displayed in cell.toPlainText()
