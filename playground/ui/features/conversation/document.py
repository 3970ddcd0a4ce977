"""Write lines into a text document, changing only what differs, and paint the frames behind them.

Painting looks at lines in view only: a text may be very long.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QPainter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextLength,
    QTextOption,
    QTextTable,
    QTextTableFormat,
)

from playground.ui.features.conversation.markdown import Line, Span, Style
from playground.ui.widgets.plain_text import LOOKED_AT, show_hidden, show_prose
from playground.ui.widgets.theme import body_font, code_font, tokens

JOINS = QTextBlockFormat.Property.UserProperty + 1  # a block that continues the one before, split only for speed
CODE_PAD = 12
CELL_PAD = 6
CODE_HEAD = 26  # room above a code block for its language and the copy button
QUOTE_INDENT = 14
TEXT_LINE, CODE_LINE = 122, 112  # percent of the font's own height
_SIDES = {"right": Qt.AlignmentFlag.AlignRight, "center": Qt.AlignmentFlag.AlignHCenter}
HEADING_PX = {1: 20, 2: 17, 3: 15}


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """The lines of a code block: first and last index, both inclusive."""

    first: int
    last: int
    language: str


class DocumentWriter:
    """Keep a document equal to a list of lines, written with the current colours and fonts."""

    def __init__(self, document: QTextDocument, *, zoom: float = 1.0, muted: bool = False) -> None:
        self._document = document
        self._zoom = zoom
        self._muted = muted
        self._starts: list[int] = []  # position of each line's first block
        self._code: list[CodeBlock] = []
        self._lines: list[Line] = []
        self._looks: dict[tuple[object, ...], QTextCharFormat] = {}
        font = body_font()
        font.setPixelSize(round(font.pixelSize() * zoom))
        document.setDefaultFont(font)
        document.setDocumentMargin(0)
        document.setUndoRedoEnabled(False)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)

    @property
    def lines(self) -> Sequence[Line]:
        """The lines as written."""
        return self._lines

    @property
    def code_blocks(self) -> Sequence[CodeBlock]:
        """The code blocks among the lines, in order."""
        return self._code

    def block_start(self, index: int) -> int:
        """Return the document position at which a line begins."""
        return self._starts[index]

    def table(self, index: int) -> QTextTable | None:
        """Return the table that a line is drawn as; None for a line of another kind."""
        if self._lines[index].kind != "table":
            return None
        place = QTextCursor(self._document)
        place.setPosition(self._starts[index] + 1)
        frame = place.currentFrame()
        return frame if isinstance(frame, QTextTable) else None

    def line_at(self, position: int) -> int:
        """Return the index of the line that holds a document position."""
        return max(bisect_right(self._starts, position) - 1, 0)

    def line_rect(self, index: int) -> QRectF:
        """Return the rectangle of a line."""
        return self.layout.blockBoundingRect(self._document.findBlock(self._starts[index]))

    def line_at_height(self, y: float) -> int:
        """Return the line at a height by binary search; the layout's hit test is linear."""
        count = len(self._lines)
        first, step = count - 1, 1
        while first > 0 and self.line_rect(first).bottom() >= y:  # most lookups are near the end, where the text grows
            first, step = max(first - step, 0), step * 2
        lines = range(first, count)
        return min(first + bisect_left(lines, y, key=lambda index: self.line_rect(index).bottom()), count - 1)

    def code_rect(self, block: CodeBlock, width: int) -> QRectF:
        """Return the rectangle of the frame of a code block in a text of this width."""
        top, bottom = self.line_rect(block.first), self.line_rect(block.last)
        line = self._lines[block.first]
        margin = line.level * 20 + line.quote * QUOTE_INDENT
        return QRectF(margin, top.top() - CODE_HEAD, width - margin, bottom.bottom() - top.top() + CODE_HEAD + 10)

    @property
    def layout(self) -> QAbstractTextDocumentLayout:
        """The layout of the document; not kept, since PySide invalidates a kept wrapper when lanes are closed."""
        return self._document.documentLayout()

    def write(self, keep: int, lines: Sequence[Line]) -> None:
        """Make the document show the first ``keep`` lines as they are, then ``lines``."""
        index = keep
        new = 0
        while index < len(self._lines) and new < len(lines) and self._lines[index] == lines[new]:
            index += 1
            new += 1
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        try:
            if index < len(self._lines):
                self._cut(cursor, index)
            for line in lines[new:]:
                self._append(cursor, line)
        finally:
            cursor.endEditBlock()
        self._make_head()

    def rewrite(self) -> None:
        """Write everything again, for new colours."""
        lines = list(self._lines)
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        if lines:
            self._cut(cursor, 0)
        for line in lines:
            self._append(cursor, line)
        cursor.endEditBlock()

    def _make_head(self) -> None:
        """Add space above a text that begins with code, since Qt omits the top margin of the first block."""
        head = CODE_HEAD if self._lines and self._lines[0].kind == "code" else 0
        frame = self._document.rootFrame()
        form = frame.frameFormat()
        if form.topMargin() != head:
            form.setTopMargin(head)
            frame.setFrameFormat(form)

    def _cut(self, cursor: QTextCursor, index: int) -> None:
        """Remove the lines from ``index`` on."""
        start = self._starts[index]
        cursor.setPosition(start - 1 if index else start)
        before = cursor.blockFormat() if index else QTextBlockFormat()
        letters = cursor.blockCharFormat()
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        if cursor.blockFormat() != before:  # an empty block takes over the format of the removed text behind it
            cursor.setBlockFormat(before)
            cursor.setBlockCharFormat(letters)
        del self._starts[index:], self._lines[index:]
        while self._code and self._code[-1].last >= index:
            last = self._code.pop()
            if last.first < index:
                self._code.append(CodeBlock(last.first, index - 1, last.language))

    def _append(self, cursor: QTextCursor, line: Line) -> None:
        cursor.movePosition(QTextCursor.MoveOperation.End)
        form = self._block(line)
        # An empty line of code is as tall as the others only if its block has their font.
        empty = self._char(Span("", Style.CODE), line) if line.kind in ("code", "raw") else QTextCharFormat()
        if not self._lines:  # a document always has a block
            cursor.setBlockFormat(form)
            cursor.setBlockCharFormat(empty)
        else:
            cursor.insertBlock(form, empty)
        self._starts.append(cursor.block().position())
        if line.kind == "table":
            self._table(cursor, line)
        else:
            if line.kind == "item":
                marker = QTextCharFormat()
                marker.setForeground(QColor(tokens().muted))
                cursor.insertText(f"{line.marker}\t", marker)
            before = ""
            for span in line.spans:
                cursor.insertText(drawn_text(span.text, line, before), self._char(span, line))
                before = (before + span.text)[-LOOKED_AT:]
        self._lines.append(line)
        if line.kind == "code":
            self._note_code(len(self._lines) - 1, line)

    def _note_code(self, index: int, line: Line) -> None:
        last = self._code[-1] if self._code else None
        if line.first or last is None or last.last != index - 1:
            self._code.append(CodeBlock(index, index, line.language))
        else:
            self._code[-1] = CodeBlock(last.first, index, last.language)

    def _table(self, cursor: QTextCursor, line: Line) -> None:
        columns = max((len(row) for row in line.rows), default=1) or 1
        form = QTextTableFormat()
        form.setBorder(0)  # the grid is painted by ``paint_grid``: Qt takes twenty times as long for it
        form.setCellPadding(CELL_PAD)
        form.setCellSpacing(0)
        form.setBorderCollapse(False)  # else Qt computes the borders of all neighbours for each painted cell
        form.setTopMargin(0)  # the block before it has the margin: the table's own would count as its height
        form.setBottomMargin(0)
        form.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        share = 100 / columns
        form.setColumnWidthConstraints([QTextLength(QTextLength.Type.PercentageLength, share)] * columns)
        table = cursor.insertTable(max(len(line.rows), 1), columns, form)
        for r, row in enumerate(line.rows):
            for c, spans in enumerate(row[:columns]):
                self._fill_cell(table, r, c, spans, line)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        thin = QTextBlockFormat()
        thin.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor.setBlockFormat(thin)  # Qt wants a block behind a table

    def _fill_cell(self, table: QTextTable, r: int, c: int, spans: Sequence[Span], line: Line) -> None:
        cell = table.cellAt(r, c)
        cursor = cell.firstCursorPosition()
        is_head = r == 0 and line.header
        if is_head:
            shade = QTextCharFormat()
            shade.setBackground(QColor(tokens().code))
            cell.setFormat(shade)
        block = QTextBlockFormat()
        if c < len(line.aligns) and line.aligns[c] in _SIDES:
            block.setAlignment(_SIDES[line.aligns[c]])
        cursor.setBlockFormat(block)
        cursor.setBlockCharFormat(QTextCharFormat())
        before = ""
        for span in spans:
            char = self._char(span, line)
            if is_head:
                char = QTextCharFormat(char)
                char.setFontWeight(QFont.Weight.DemiBold)
            cursor.insertText(drawn_text(span.text, line, before), char)
            before = (before + span.text)[-LOOKED_AT:]

    # Formats

    def _block(self, line: Line) -> QTextBlockFormat:
        form = QTextBlockFormat()
        first = not self._lines
        before = self._lines[-1] if self._lines else None
        margin = line.quote * QUOTE_INDENT
        below_table = 5 if before is not None and before.kind == "table" else 0
        if line.kind == "code":
            margin += CODE_PAD + max(line.level, 0) * 20
            form.setLeftMargin(margin)
            form.setRightMargin(CODE_PAD)
            form.setLineHeight(CODE_LINE, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            if line.first:
                form.setTopMargin(CODE_HEAD + (0 if first else 10) + below_table)
        elif line.kind == "table":
            form.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
            form.setTopMargin(0 if line.joins else 18 if before is not None and before.kind == "code" else 4)
        else:
            height = CODE_LINE if line.kind == "raw" else TEXT_LINE
            form.setLineHeight(height, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            gap = {"heading": 14, "item": 2, "rule": 10, "raw": 0, "plain": 0}.get(line.kind, 8)
            if before is not None and before.kind == "item" and line.kind != "item":
                gap = 8
            if before is not None and before.kind == "code":
                gap += 14
            gap += below_table
            if line.kind == "item":
                indent = 20 * line.level * self._zoom
                margin += round(indent)
                form.setTextIndent(-16 * self._zoom if line.marker else 0)
                form.setTabPositions([QTextOption.Tab(16 * self._zoom, QTextOption.TabType.LeftTab)])
            form.setTopMargin(0 if first or line.joins else gap)
            form.setLeftMargin(margin)
        if line.joins:
            form.setProperty(JOINS, True)
        return form

    def _char(self, span: Span, line: Line) -> QTextCharFormat:
        """Return the format of a span, read-only: spans of one style without an address share a format."""
        look = (tokens(), self._zoom, span.style.value, span.token, line.kind, line.level, bool(line.quote))
        form = self._looks.get(look) if not span.href else None
        if form is None:
            form = self._new_char(span, line)
            if not span.href:
                self._looks[look] = form
        return form

    def _new_char(self, span: Span, line: Line) -> QTextCharFormat:
        t = tokens()
        form = QTextCharFormat()
        style = span.style
        colour = t.muted if self._muted or line.quote else t.text
        if style & Style.CODE or line.kind == "code":
            font = code_font(round(12 * self._zoom))
            form.setFontFamilies(font.families())
            form.setFontFixedPitch(True)
            form.setProperty(QTextCharFormat.Property.FontPixelSize, font.pixelSize())
            colour = code_colour(span.token)
            if line.kind not in ("code", "raw"):
                form.setBackground(QColor(t.chip))
        if line.kind == "heading":
            size = round(HEADING_PX.get(line.level, 14) * self._zoom)
            form.setProperty(QTextCharFormat.Property.FontPixelSize, size)
            form.setFontWeight(QFont.Weight.DemiBold)
        if style & Style.BOLD:
            form.setFontWeight(QFont.Weight.DemiBold)
        if style & Style.ITALIC:
            form.setFontItalic(True)
        if style & Style.STRIKE:
            form.setFontStrikeOut(True)
        if style & Style.IMAGE:
            colour = t.muted
            form.setFontItalic(True)
        if style & Style.LINK:
            colour = t.accent
            form.setFontUnderline(True)
        if span.href:
            form.setAnchor(True)
            form.setAnchorHref(span.href)
        if colour != t.text:  # the default colour is omitted, since smaller formats are cheaper
            form.setForeground(QColor(colour))
        return form


def code_colour(token: str) -> str:
    """Return the current colour for a kind of code, as named by ``highlight``."""
    t = tokens()
    return {
        "comment": t.muted,
        "keyword": t.system,
        "string": t.ok,
        "number": t.tool,
        "name": t.accent,
        "deleted": t.error,
    }.get(token, t.text)


def drawn_text(text: str, line: Line, before: str = "") -> str:
    """Return text that can be drawn: invisible characters made visible, unsupported ones replaced.

    ``before`` is the end of the text in front of it in the line.
    """
    if text.isascii() and text.isprintable():
        return text
    return (show_hidden if line.kind in ("code", "raw") else show_prose)(text, before)


def paint_grid(
    painter: QPainter,
    clip: QRectF,
    layout: QAbstractTextDocumentLayout,
    table: QTextTable,
    *,
    header: bool,
    goes_on: bool,
) -> None:
    """Draw the lines between the cells of a table, and the ground of the first row if it is a ``header``.

    With ``goes_on`` another table joins below it, and the end has no line.
    """

    def top_of(row: int) -> int:
        cell = table.cellAt(row, 0).firstCursorPosition().block()
        return round(layout.blockBoundingRect(cell).top()) - CELL_PAD

    top, size = top_of(0), layout.frameBoundingRect(table).size()  # of a table, only the size is right
    bottom = top + round(size.height())
    if bottom < clip.top() or top > clip.bottom():
        return
    rows, columns, colour = table.rows(), table.columns(), QColor(tokens().line)
    width = round(size.width()) - 1
    first = max(bisect_left(range(1, rows), clip.top(), key=top_of), 0) if top < clip.top() else 0
    tops = list(takewhile(lambda y: y <= clip.bottom(), (top_of(row) for row in range(first, rows))))
    if header and first == 0:
        painter.fillRect(QRect(0, top, width, (top_of(1) if rows > 1 else bottom) - top), QColor(tokens().code))
    if not goes_on:
        tops.append(bottom)
    for y in tops:
        painter.fillRect(QRect(0, y, width, 1), colour)
    for column in range(columns + 1):
        painter.fillRect(QRect(round(width * column / columns), top, 1, bottom - top), colour)


def paint_frames(painter: QPainter, clip: QRectF, writer: DocumentWriter, width: int, font: QFont) -> None:
    """Paint behind the lines in ``clip``; ``width`` and ``font`` are those of the text."""
    lines, colour = writer.lines, QColor(tokens().line)
    if not lines:
        return
    # One line more on top: a frame reaches into the gap below its last line.
    top, bottom = max(writer.line_at_height(clip.top()) - 1, 0), writer.line_at_height(clip.bottom())
    blocks = writer.code_blocks
    for number in range(bisect_left(blocks, top, key=lambda b: b.last), len(blocks)):
        block = blocks[number]
        if block.first > bottom + 1:
            break
        _paint_code(painter, writer.code_rect(block, width), block.language, font)
    for index in range(max(top - 1, 0), min(bottom + 2, len(lines))):
        line = lines[index]
        table = writer.table(index)
        if table is not None:
            goes_on = index + 1 < len(lines) and lines[index + 1].kind == "table" and lines[index + 1].joins
            paint_grid(painter, clip, writer.layout, table, header=line.header, goes_on=goes_on)
        if not line.quote and line.kind != "rule":
            continue
        rect = writer.line_rect(index)
        if line.kind == "rule":
            painter.setPen(colour)
            y = round(rect.center().y())
            painter.drawLine(0, y, width, y)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        for depth in range(line.quote):
            painter.drawRoundedRect(QRectF(depth * QUOTE_INDENT + 1, rect.top(), 3, rect.height()), 1.5, 1.5)


def _paint_code(painter: QPainter, rect: QRectF, language: str, font: QFont) -> None:
    t = tokens()
    painter.setPen(QColor(t.line))
    painter.setBrush(QColor(t.code))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
    small = QFont(font)
    small.setPixelSize(11)
    painter.setFont(small)
    painter.setPen(QColor(t.muted))
    head = QRectF(rect.left() + CODE_PAD, rect.top() + 3, rect.width() - 90, CODE_HEAD - 4)
    painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, language or "text")
