"""A piece of text in a turn: as tall as its content, selectable, growing at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Property, QEvent, QMimeData, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCursor,
    QTextDocument,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget

from playground.ui.features.conversation.caps import LARGE, LINES
from playground.ui.features.conversation.document import CODE_PAD, DocumentWriter, paint_frames
from playground.ui.features.conversation.markdown import Line
from playground.ui.features.conversation.measures import scroll_to, update_layouts
from playground.ui.features.conversation.shown_text import LongTextRow, ShownText
from playground.ui.features.conversation.text_actions import CopyButtons, LinkKeys, selected_text
from playground.ui.features.conversation.text_marks import Span as Span
from playground.ui.features.conversation.text_marks import TextMarks
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.theme import tokens

ROW_GAP = 4
MARK_DESCRIBED = 200  # characters of a marked passage in its description


class _Document(QTextDocument):
    """A document that loads no resources: every requested resource is empty."""

    def loadResource(self, kind: int, name: object) -> object:
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return b""
        picture = QImage(1, 1, QImage.Format.Format_ARGB32)  # without a picture, Qt would open the file itself
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
        self.row: LongTextRow | None = None  # below a text of which only a part is shown
        self._drawing = Throttle(self._draw_more, self)
        self._document = _Document(self)
        self.setDocument(self._document)
        # A fixed width is set once a change: NoWrap would unwrap all lines, WidgetWidth lay them out twice.
        self.setLineWrapMode(QTextEdit.LineWrapMode.FixedPixelWidth)
        self.setLineWrapColumnOrWidth(self.width())  # width 0 would wrap text that is written before the first layout
        self._writer = DocumentWriter(self._document, zoom=zoom, muted=muted)
        self._colours = tokens()  # colours of the document's formats
        self.shown = ShownText(self._writer, mode)
        self.marks = TextMarks(self._document, self._writer, self.shown)
        self.links = LinkKeys(self, self._document, self._writer)
        self._copies = CopyButtons(self, self._writer, lambda block: self._writer.code_rect(block, self.width()))
        self.setReadOnly(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAcceptDrops(False)
        self.setTabChangesFocus(True)
        self.setProperty("kind", "text")
        self.viewport().setAutoFillBackground(False)
        for widget in (self, self.viewport()):  # painted text stays when more is added below
            widget.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._height = 0
        self._heights: dict[int, int] = {}  # heights by width: each one computed costs a layout
        self._pressed: QPoint | None = None  # where the left button went down

    # Content

    @property
    def source(self) -> str:
        """The text as given, exactly."""
        return self.shown.text

    @property
    def mode(self) -> str:
        """How the text is shown."""
        return self.shown.mode

    def append(self, text: str) -> None:
        """Add text at the end."""
        if text:
            self._draw(partial(self.shown.append, text))
            if self.shown.is_behind:
                self._drawing.poke()
            self._show_row()

    def set_text(self, text: str) -> None:
        """Show ``text``; if it begins with what is shown, only the rest is added."""
        display = self.shown
        if display.by_lines or not display.length or not text.startswith(display.text):
            display.set_text(text)
            self._follow()
        elif len(text) == display.length:
            display.share_text(text)
        else:
            self.append(text[display.length :])

    def set_lines(self, source: str, lines: Sequence[Line]) -> bool:
        """Show ``lines`` made elsewhere for ``source``, or just that if they are too many. Return which."""
        fits = len(lines) <= LINES and sum([len(line.text) for line in lines]) <= LARGE
        if fits:
            self.shown.set_lines(source, lines)
            self._follow()
        else:
            self.set_text(source)
        return fits

    def _follow(self) -> None:
        """Update the view after a change of the lines."""
        self.marks.follow(0)
        self._show_row()
        self._fit()

    def _draw(self, draw: Callable[[], int | None]) -> None:
        """Draw more at the end. `draw` returns the first line that may differ, None if nothing was drawn."""
        selection = self.textCursor()
        anchor, position = selection.anchor(), selection.position()
        first = draw()
        if anchor != position:
            self._select(anchor, position)
        if first is not None:
            self.marks.follow(first)
            self._fit(grown=True)

    def _draw_more(self) -> None:
        """Draw more of a text that came faster than it is drawn."""
        self._draw(self.shown.draw_more)
        if self.shown.is_behind:
            self._drawing.poke()
        else:
            self._show_row()

    # Large texts

    def show_place(self, place: int) -> None:
        """Show the part of a large text with that character."""
        if self.shown.show_place(place):
            self._follow()
            update_layouts(self)

    def _show_row(self) -> None:
        capped = self.shown.is_capped
        if self.row is None and capped:
            self.row = LongTextRow(self.shown, self)
            self.row.more_asked.connect(self._show_more)
            self.row.collapse_asked.connect(self._collapse)
            self.row.reworded.connect(self._fit)
        if self.row is not None:
            self.row.setVisible(capped)
            if capped:
                self.row.refresh()

    def _show_more(self) -> None:
        self._draw(self.shown.show_more)
        self._show_row()
        update_layouts(self)

    def _collapse(self) -> None:
        self.shown.collapse()
        self._follow()
        update_layouts(self)
        scroll_to(self, QRectF(0, 0, 1, 1))

    def _select(self, anchor: int, position: int) -> None:
        """Restore a selection, so that one up to the end does not grow with the text."""
        cursor = self.textCursor()
        if (cursor.anchor(), cursor.position()) == (anchor, position):
            return
        last = self._document.characterCount() - 1
        cursor.setPosition(min(anchor, last))
        cursor.setPosition(min(position, last), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    # Size

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        document, own = self._document, width == self.width()
        if document.textWidth() != width and (own or width not in self._heights):
            self.setLineWrapColumnOrWidth(width)
        if own or width not in self._heights:
            self._heights[width] = math.ceil(document.size().height())
        return self._heights[width] + self._foot() + self._row_height(width)

    def sizeHint(self) -> QSize:
        width = max(self.width(), 50)  # Qt also asks for the height at the hinted width; each width costs a layout
        return QSize(width if self.shown.is_capped else 200, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(50, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Skip QTextEdit's handler, which would lay out the whole text again at each new height."""
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.setRange(0, 0)
        if self._document.textWidth() != self.width():
            self.setLineWrapColumnOrWidth(self.width())
        if event.oldSize().width() != self.width():
            self.viewport().update()
            self._place_row()
            self._copies.follow()  # a change of height alone follows a change of text, which places them

    def _foot(self) -> int:
        """Return the space below the last line for a code block's frame or a table's border, in pixels."""
        lines = self._writer.lines
        return {"code": CODE_PAD, "table": 1}.get(lines[-1].kind, 0) if lines else 0

    def _row_height(self, width: int) -> int:
        return self.row.heightForWidth(width) + ROW_GAP if self.row is not None and self.shown.is_capped else 0

    def _place_row(self) -> None:
        if self.row is not None and (height := self._row_height(self.width())):
            top = math.ceil(self._document.size().height()) + self._foot() + ROW_GAP
            self.row.setGeometry(0, top, self.width(), height - ROW_GAP)

    def _fit(self, *, grown: bool = False) -> None:
        self._heights = {}
        height = self.heightForWidth(max(self.width(), 50))
        if height != self._height:
            self._height = height
            self.updateGeometry()
            self.height_changed.emit()
        self._place_row()
        self._copies.follow(grown=grown)

    # Looks

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_frames(painter, QRectF(event.rect()))
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(event.rect())
        context.palette = self.palette()
        context.palette.setColor(QPalette.ColorRole.Text, QColor(tokens().text))
        selections = self._marked(event.rect().top(), event.rect().bottom())
        if (cursor := self.textCursor()).hasSelection():
            selection = QAbstractTextDocumentLayout.Selection()
            selection.cursor = cursor
            t, focused = tokens(), self.hasFocus()  # an unfocused selection is painted beneath linked characters
            selection.format.setBackground(QColor(t.accent if focused else t.line))
            selection.format.setForeground(QColor(t.on_accent if focused else t.text))
            selections.insert(len(selections) if focused else 0, selection)
        context.selections = selections
        painter.setClipRect(event.rect())
        self._writer.layout.draw(painter, context)
        painter.end()

    def show_matches(self, spans: Sequence[Span], current: int | None) -> None:
        """Highlight matches in the source; the match of number ``current`` more than the others."""
        if self.marks.show_matches(spans, current):
            self.viewport().update()

    #: Begin and end of the current match in the document, or nothing; readable through Qt's own interface, too.
    current_match = Property(list, lambda view: list(view.marks.current_place or ()))

    def show_linked(self, spans: Sequence[Span]) -> None:
        """Mark characters of the source that belong to an event chosen elsewhere."""
        if self.marks.show_linked(spans):
            self.setAccessibleDescription(self._describe_marks())
            self.viewport().update()

    def _describe_marks(self) -> str:
        """Return the first marked passage in words, for screen readers."""
        if not (places := self.marks.linked_places):
            return ""
        begin, end = places[0]
        cursor = QTextCursor(self.document())
        cursor.setPosition(begin)
        cursor.setPosition(min(end, begin + MARK_DESCRIBED), QTextCursor.MoveMode.KeepAnchor)
        return f"Marked: {cursor.selectedText().strip()}"

    def _marked(self, top: float, bottom: float) -> list[QAbstractTextDocumentLayout.Selection]:
        lines = self._writer.lines
        if not lines or not self.marks:
            return []
        after = self._writer.line_at_height(bottom) + 2
        first = self._writer.block_start(max(self._writer.line_at_height(top) - 1, 0))
        last = self._writer.block_start(after) if after < len(lines) else self.document().characterCount()
        return self.marks.selections(first, last)

    def _paint_frames(self, painter: QPainter, clip: QRectF) -> None:
        paint_frames(painter, clip, self._writer, self.width(), self.font())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if hasattr(self, "_heights"):
            self._heights = {}  # another font lays everything out again
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_writer") and self._colours is not tokens():
            self._colours = tokens()  # a palette changes too when a widget gets a parent or a style: nothing to write
            self._writer.rewrite()
            self._copies.recolour()

    # Copying

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selection as plain text; all of an exact text includes the part that is not drawn."""
        cursor, data = self.textCursor(), QMimeData()
        everything = cursor.selectionStart() == 0 and cursor.selectionEnd() == self._document.characterCount() - 1
        exact = self.mode != "markdown" or self.shown.is_capped
        data.setText(self.source if everything and exact else selected_text(cursor, self._writer))
        return data

    # Mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint() if event.button() == Qt.MouseButton.LeftButton else None
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        position, pressed = event.position().toPoint(), self._pressed
        self._pressed = None
        if pressed is not None:
            event.accept()  # whatever Qt makes of it, it was meant for this text
        if (
            pressed is None
            or (position - pressed).manhattanLength() >= QGuiApplication.styleHints().startDragDistance()
        ):
            return
        address = self.anchorAt(position)
        if address and address == self.anchorAt(pressed):
            cursor = self.textCursor()  # Qt selects the words of a link that is clicked
            cursor.clearSelection()
            self.setTextCursor(cursor)
            self.link_clicked.emit(address)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        over = self.anchorAt(event.position().toPoint())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor)

    def focusNextPrevChild(self, forward: bool) -> bool:
        return self.links.step(forward) or super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if address := self.links.opened_by(event):
            self.link_clicked.emit(address)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the conversation scrolls, never one text

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        return  # the whole content is always in view
