"""A piece of text in a turn: as tall as its content, selectable, growing at its end."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QGuiApplication,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextTable,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QToolButton, QWidget

from playground.ui.conversation.blocks import exact_lines
from playground.ui.conversation.document import CODE_HEAD, CODE_PAD, JOINS, DocumentWriter
from playground.ui.conversation.markdown import Line
from playground.ui.conversation.markdown_stream import MarkdownStream
from playground.ui.icons import icon
from playground.ui.theme import tokens

COPIED_MS = 2_000  # how long a copy button says that it has copied


class _Document(QTextDocument):
    """A document that opens nothing: whatever resource is asked for, there is an empty one."""

    def loadResource(self, kind: int, name: object) -> object:
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return b""
        picture = QImage(1, 1, QImage.Format.Format_ARGB32)  # for none, and for an empty one, Qt opens the file itself
        picture.fill(Qt.GlobalColor.transparent)
        return picture


class TextView(QTextEdit):
    """Text that can be appended to; its height follows its content at the width it is given.

    ``mode``: "markdown", "plain" (the exact text in the body font) or "raw" (the exact text, fixed width).

    ``link_clicked`` carries an http, https or mailto address; nothing is opened here. ``height_changed`` is
    emitted when the content needs more or less room.
    """

    link_clicked = Signal(str)
    height_changed = Signal()

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        mode: str = "markdown",
        muted: bool = False,
        zoom: float = 1.0,
    ) -> None:
        super().__init__(parent)
        self._stream = MarkdownStream()
        self._mode = mode
        self._source: list[str] = []
        self._copy_buttons: list[QToolButton] = []
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.timeout.connect(self._forget_copied)
        self._zoom = zoom
        self.setDocument(_Document(self))
        # The width is ours to say, once a change. NoWrap would unwrap it all, WidgetWidth lay it out a second time.
        self.setLineWrapMode(QTextEdit.LineWrapMode.FixedPixelWidth)
        self._writer = DocumentWriter(self.document(), zoom=zoom, muted=muted)
        self.setReadOnly(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAcceptDrops(False)
        self.setTabChangesFocus(True)
        self.setStyleSheet("QTextEdit { background: transparent; border: none; padding: 0; border-radius: 0; }")
        self.viewport().setAutoFillBackground(False)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._height = 0
        self._pressed: QPoint | None = None  # where the left button went down

    # Content

    @property
    def source(self) -> str:
        """The text as given, exactly."""
        if len(self._source) > 1:
            self._source = ["".join(self._source)]
        return self._source[0] if self._source else ""

    def append(self, text: str) -> None:
        """More text at the end."""
        if not text:
            return
        self._source.append(text)
        chosen = self.textCursor()
        anchor, position = chosen.anchor(), chosen.position()
        if self._mode == "markdown":
            first = self._stream.feed(text)
            self._writer.write(first, self._stream.lines[first:])
        else:
            self._append_exact(text)
        if anchor != position:
            self._select(anchor, position)
        self._fit(grown=True)

    def set_text(self, text: str) -> None:
        """Show ``text``; when it goes on from what is shown, only the rest is added."""
        shown = self.source
        if text == shown:
            return
        if text.startswith(shown):
            self.append(text[len(shown) :])
            return
        self._source = [text]
        self._show_again()

    def set_mode(self, mode: str) -> None:
        """Show the same text another way."""
        if mode != self._mode:
            self._mode = mode
            self._show_again()

    def set_lines(self, source: str, lines: Sequence[Line]) -> None:
        """Show ``lines`` made elsewhere; ``source`` is what copying everything gives."""
        self._source = [source]
        self._writer.write(0, lines)
        self._fit()

    def set_zoom(self, zoom: float) -> None:
        """Another text size; 1.0 is the normal one."""
        if zoom != self._zoom:
            self._zoom = zoom
            self._writer.rewrite(zoom=zoom)
            self._fit()

    def _show_again(self) -> None:
        self._stream = MarkdownStream()
        text = self.source
        if self._mode == "markdown":
            self._stream.feed(text)
            self._writer.write(0, self._stream.lines)
        else:
            self._writer.write(0, exact_lines(text, self._mode))
        self._fit()

    def _select(self, anchor: int, position: int) -> None:
        """A selection up to the end must not have grown with the text."""
        cursor = self.textCursor()
        if (cursor.anchor(), cursor.position()) == (anchor, position):
            return
        last = self.document().characterCount() - 1
        cursor.setPosition(min(anchor, last))
        cursor.setPosition(min(position, last), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def _append_exact(self, text: str) -> None:
        # A line end that came in two pieces is one: the first piece has drawn it.
        if text.startswith("\n") and len(self._source) > 1 and self._source[-2].endswith("\r"):
            text = text[1:]
        drawn = self._writer.lines
        last = drawn[-1] if drawn else Line(self._mode)
        self._writer.write(max(len(drawn) - 1, 0), exact_lines(last.text + text, self._mode, joins=last.joins))

    # Size

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        document = self.document()
        if document.textWidth() != width:
            self.setLineWrapColumnOrWidth(width)
        return math.ceil(document.size().height()) + self._foot()

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 50)))

    def minimumSizeHint(self) -> QSize:
        return QSize(50, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Not QTextEdit's own, which would lay the whole text out again at each new height."""
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.setRange(0, 0)
        if self.document().textWidth() != self.width():
            self.setLineWrapColumnOrWidth(self.width())
        self._place_copy_buttons()

    def _foot(self) -> int:
        """Room below a code block that ends the text."""
        lines = self._writer.lines
        return CODE_PAD if lines and lines[-1].kind == "code" else 0

    def _fit(self, *, grown: bool = False) -> None:
        height = self.heightForWidth(max(self.width(), 50))
        if height != self._height:
            self._height = height
            self.updateGeometry()
            self.height_changed.emit()
        self._place_copy_buttons(max(len(self._copy_buttons) - 1, 0) if grown else 0)

    # Looks

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_frames(painter, QRectF(event.rect()))
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(event.rect())
        context.palette = self.palette()
        context.palette.setColor(QPalette.ColorRole.Text, QColor(tokens().text))
        cursor = self.textCursor()
        if cursor.hasSelection():
            selection = QAbstractTextDocumentLayout.Selection()
            selection.cursor = cursor
            selection.format.setBackground(QColor(tokens().accent))
            selection.format.setForeground(QColor(tokens().on_accent))
            context.selections = [selection]
        painter.setClipRect(event.rect())
        self.document().documentLayout().draw(painter, context)
        painter.end()

    def _paint_frames(self, painter: QPainter, clip: QRectF) -> None:
        """What stands behind the text: code blocks, quote bars, rules."""
        t = tokens()
        writer = self._writer
        if not writer.lines:
            return
        # One line more on top: a frame reaches into the gap below its last line.
        top, bottom = max(self._line_at(clip.top()) - 1, 0), self._line_at(clip.bottom())
        blocks = writer.code_blocks
        for block in blocks[bisect_left(blocks, top, key=lambda b: b.last) :]:
            if block.first > bottom + 1:
                break
            self._paint_code_frame(painter, self._code_rect(block.first, block.last), block.language)
        for index in range(max(top - 1, 0), min(bottom + 2, len(writer.lines))):
            line = writer.lines[index]
            if not line.quote and line.kind != "rule":
                continue
            rect = self._line_rect(index)
            if line.kind == "rule":
                painter.setPen(QColor(t.line))
                y = round(rect.center().y())
                painter.drawLine(0, y, self.width(), y)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.line))
            for depth in range(line.quote):
                painter.drawRoundedRect(QRectF(depth * 14 + 1, rect.top(), 3, rect.height()), 1.5, 1.5)

    def _paint_code_frame(self, painter: QPainter, rect: QRectF, language: str) -> None:
        t = tokens()
        painter.setPen(QColor(t.line))
        painter.setBrush(QColor(t.code))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
        font = self.font()
        font.setPixelSize(11)
        painter.setFont(font)
        painter.setPen(QColor(t.muted))
        head = QRectF(rect.left() + CODE_PAD, rect.top() + 3, rect.width() - 90, CODE_HEAD - 4)
        painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, language or "text")

    def _line_at(self, y: float) -> int:
        """The line at a height. By halving: the layout's own hit test looks at every line there is."""
        count = len(self._writer.lines)
        return min(bisect_left(range(count), y, key=lambda index: self._line_rect(index).bottom()), count - 1)

    def _line_rect(self, index: int) -> QRectF:
        block = self.document().findBlock(self._writer.block_start(index))
        return self.document().documentLayout().blockBoundingRect(block)

    def _code_rect(self, first: int, last: int) -> QRectF:
        top, bottom = self._line_rect(first), self._line_rect(last)
        line = self._writer.lines[first]
        left = line.level * 20 + line.quote * 14
        return QRectF(left, top.top() - CODE_HEAD, self.width() - left, bottom.bottom() - top.top() + CODE_HEAD + 10)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_writer"):
            self._writer.rewrite()
            for button in self._copy_buttons:
                button.setIcon(icon("copy"))

    # Copying

    def _place_copy_buttons(self, first: int = 0) -> None:
        """``first`` is the first one that may have to move or has to be made."""
        blocks = self._writer.code_blocks
        while len(self._copy_buttons) < len(blocks):
            button = QToolButton(self)
            button.setProperty("kind", "quiet")
            button.setIcon(icon("copy"))
            button.setText("Copy")
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setAccessibleName("Copy this code")
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(self._copy_clicked)
            self._copy_buttons.append(button)
        for number, button in enumerate(self._copy_buttons[first:], start=first):
            button.setVisible(number < len(blocks))
            if number < len(blocks):
                rect = self._code_rect(blocks[number].first, blocks[number].last)
                size = button.sizeHint()
                button.setGeometry(self.width() - size.width() - 4, round(rect.top()) + 2, size.width(), 22)

    def _copy_clicked(self) -> None:
        button = self.sender()
        if not isinstance(button, QToolButton) or button not in self._copy_buttons:
            return
        block = self._writer.code_blocks[self._copy_buttons.index(button)]
        lines = self._writer.lines[block.first : block.last + 1]
        text = "".join(("" if line.joins or not number else "\n") + line.text for number, line in enumerate(lines))
        QGuiApplication.clipboard().setText(text)
        button.setText("Copied")
        self._place_copy_buttons()
        self._copied.start(COPIED_MS)

    def _forget_copied(self) -> None:
        for button in self._copy_buttons:
            button.setText("Copy")
        self._place_copy_buttons()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Plain text only, with lines that were cut for speed joined again."""
        cursor = self.textCursor()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        out: list[str] = []
        block = self.document().findBlock(start)
        while block.isValid() and block.position() < end:
            form, text = block.blockFormat(), block.text()
            first, last = max(start - block.position(), 0), min(end - block.position(), len(text))
            holds_table = form.lineHeightType() == QTextBlockFormat.LineHeightTypes.FixedHeight.value
            if text or not holds_table:
                if self._writer.lines[self._writer.line_at(block.position())].kind == "item":
                    text = text.replace("\t", " ", 1)  # the tab behind the marker
                before = "" if form.property(JOINS) or not out else "\t" if _in_later_column(block) else "\n"
                out.append(before + text[first:last].replace("\u2028", "\n"))
            block = block.next()
        data = QMimeData()
        data.setText("".join(out))
        return data

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint() if event.button() == Qt.MouseButton.LeftButton else None
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        at, pressed = event.position().toPoint(), self._pressed
        self._pressed = None
        if pressed is not None:
            event.accept()  # whatever Qt makes of it, it was meant for this text
        if pressed is None or (at - pressed).manhattanLength() >= QGuiApplication.styleHints().startDragDistance():
            return
        address = self.anchorAt(at)
        if address and address == self.anchorAt(pressed):
            cursor = self.textCursor()  # Qt selects the words of a link that is clicked
            cursor.clearSelection()
            self.setTextCursor(cursor)
            self.link_clicked.emit(address)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        over = self.anchorAt(event.position().toPoint())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the conversation scrolls, never one text

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        return  # the whole content is always in view


def _in_later_column(block: QTextBlock) -> bool:
    frame = QTextCursor(block).currentFrame()
    return isinstance(frame, QTextTable) and frame.cellAt(block.position()).column() > 0
