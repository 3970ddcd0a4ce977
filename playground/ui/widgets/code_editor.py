"""An editor and read-only view for JSON and other code.

The caller decides which problems it marks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QMimeData, QRect, Qt
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QLabel, QTextEdit, QToolTip, QWidget

from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.reading import problem_at
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.exact_field import ExactField, holdable, index_at, readable, units
from playground.ui.widgets.form_parts import press_default_button
from playground.ui.widgets.json_highlight import LONGEST_LINE, JsonHighlighter
from playground.ui.widgets.json_text import pretty
from playground.ui.widgets.plain_text import HIDDEN, hidden_name, show_hidden, tip
from playground.ui.widgets.theme import code_font, tokens

TAB = "  "
EDGE = 3  # pixels above the first line and below the last one
HIGHLIGHTED_AT_MOST = 200_000  # characters; a longer text is not highlighted
HIGHLIGHTED_LINES = 10_000  # lines; a longer text is not highlighted
AT_ONCE = 20_000  # characters; a longer text is formatted on another thread
PAIRS = {"{": "}", "[": "]"}
_LONE = re.compile("[\ud800-\udfff]")
_LONG = re.compile(rf"^[^\n]{{{LONGEST_LINE + 1}}}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mark:
    """A message about a place in the text; line and column count from 1."""

    line: int
    column: int
    message: str
    severity: str = "error"  # or "warning"


class CodeEditor(ExactField):
    """A code editor with JSON colours, indenting on Enter, and marks under problems. Shift+Tab leaves it."""

    may_fold = False  # links and edits use positions in the text; a field for typing may fold

    def __init__(self, parent: QWidget | None = None, *, read_only: bool = False, json: bool = True) -> None:
        super().__init__(parent)
        self._marks: list[Mark] = []
        self._highlighter: JsonHighlighter | None = JsonHighlighter(self.document()) if json else None
        self._highlighted = json
        self._wheel_needs_focus = False
        self._formatting = Aside(self)
        self._busy_label = QLabel("Formatting…", self.viewport(), textFormat=Qt.TextFormat.PlainText)
        self._busy_label.setProperty("kind", "chip")
        self._busy_label.hide()
        self.setProperty("kind", "code")
        self.setFont(code_font())
        self.document().setDocumentMargin(2)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # every line wraps
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        self.document().setDefaultTextOption(option)
        self.setReadOnly(read_only)
        if read_only:
            self.setTabChangesFocus(True)
            self.setUndoRedoEnabled(False)
            self.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        else:
            self.setAccessibleDescription("Tab indents. Shift+Tab or Ctrl+Tab leaves the field.")
        self._format = QAction("Format JSON", self)
        self._format.setShortcut(QKeySequence("Ctrl+Shift+F"))
        self._format.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self._format.triggered.connect(self.format_json)
        self._format.setEnabled(json and not read_only)
        self.addAction(self._format)

    # -- the text ----------------------------------------------------------------------------------------------

    def setPlainText(self, text: str) -> None:
        """Show another text; an equal text keeps its cursor, marks, scroll position and undo history.

        Lone surrogates, which Qt cannot store, become visible marks.
        """
        text = _holdable(text)
        if text == holdable(self.text()):
            return
        self.clear_marks()
        super().setPlainText("")  # a change of the wrap mode would lay out the old text again
        self._adapt_to(text)
        super().setPlainText(text)

    def show_text(self, text: str) -> None:
        """Show a text for reading, with hidden characters as marks; append to the current text where possible."""
        text = show_hidden(text).replace("\r\n", "\n").replace("\r", "\n")
        old = self.text()
        if text == old:
            return
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum()
        place = bar.value()
        if old and text.startswith(old):
            self._adapt_to(text)
            cursor = QTextCursor(self.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(text[len(old) :])
        else:
            self.setPlainText(text)
        bar.setValue(bar.maximum() if at_end and old else place)

    def format_json(self) -> None:
        """Format the text as JSON in one undo step. Text that is not valid JSON stays unchanged.

        A long text is formatted on another thread; the result is dropped if the text changes meanwhile.
        """
        if not self.isReadOnly():
            text = self.text()
            self._formatting.do(
                partial(_format_text, text), partial(self._put_formatted, text), large=len(text) > AT_ONCE
            )
            self._update_busy_label()

    def _put_formatted(self, text: str, formatted: str | None) -> None:
        if (
            formatted is not None and not self.isReadOnly() and text == self.text()
        ):  # the text has not changed meanwhile
            self.replace_text(formatted)
        self._update_busy_label()

    def _update_busy_label(self) -> None:
        if self._formatting.busy or self._busy_label.isVisible():
            self._busy_label.setVisible(self._formatting.busy)
            self._busy_label.move(self.viewport().width() - self._busy_label.width() - EDGE, EDGE)

    def problem(self) -> JsonTextError | None:
        """Return the first problem of the text as JSON, or None."""
        return problem_at(self.text())

    # -- marks -------------------------------------------------------------------------------------------------

    def mark(self, line: int, column: int, message: str, severity: str = "error") -> None:
        """Underline a place and show ``message`` as its tooltip."""
        self._marks.append(Mark(line, column, message, severity))
        self._draw_marks()

    def clear_marks(self) -> None:
        """Remove all marks."""
        if self._marks:
            self._marks = []
            self._draw_marks()

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The current marks."""
        return tuple(self._marks)

    def go_to(self, line: int, column: int) -> None:
        """Move the cursor to a place, scroll to it, and take the focus."""
        self.setTextCursor(self._cursor_at(line, column))
        self.ensureCursorVisible()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_wheel_needs_focus(self) -> None:
        """Ignore the wheel without the focus, so that the surrounding area scrolls."""
        self._wheel_needs_focus = True

    def _cursor_at(self, line: int, column: int) -> QTextCursor:
        if self.folds:
            return self._cursor_among_folds(line, column)
        block = self.document().findBlockByNumber(max(line - 1, 0))
        if not block.isValid():
            block = self.document().lastBlock()
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + units(block.text()[: max(column - 1, 0)]))
        return cursor

    def _cursor_among_folds(self, line: int, column: int) -> QTextCursor:
        text, start = self.text(), 0
        for _ in range(line - 1):
            start = text.find("\n", start) + 1 or len(text)
        cursor = QTextCursor(self.document())
        cursor.setPosition(self.place_of(min(start + max(column - 1, 0), len(text))))
        return cursor

    def _draw_marks(self) -> None:
        t = tokens()
        selections = []
        for mark in self._marks:
            colour, background = (t.error, t.error_background) if mark.severity == "error" else (t.tool, "")
            cursor = self._cursor_at(mark.line, mark.column)
            if background:
                line = QTextEdit.ExtraSelection()
                line.cursor = QTextCursor(cursor)
                text_format = QTextCharFormat()
                text_format.setBackground(QColor(background))
                text_format.setProperty(QTextFormat.Property.FullWidthSelection, True)
                line.format = text_format
                selections.append(line)
            _select_token(cursor)
            underline = QTextEdit.ExtraSelection()
            underline.cursor = cursor
            text_format = QTextCharFormat()
            text_format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            text_format.setUnderlineColor(QColor(colour))
            underline.format = text_format
            selections.append(underline)
        self.setExtraSelections(selections)

    def _adapt_to(self, text: str) -> None:
        """Choose fast wrapping and highlighting for a text: Qt's word wrap is quadratic in the length of a line."""
        long_lines = len(text) > LONGEST_LINE and _LONG.search(text) is not None
        mode = QTextOption.WrapMode
        self.setWordWrapMode(mode.WrapAnywhere if long_lines else mode.WrapAtWordBoundaryOrAnywhere)
        highlighted = len(text) <= HIGHLIGHTED_AT_MOST and text.count("\n") <= HIGHLIGHTED_LINES
        if self._highlighter is not None and highlighted != self._highlighted:
            self._highlighted = highlighted
            self._highlighter.setDocument(self.document() if highlighted else None)

    # -- events ------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers()
        control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        if key == Qt.Key.Key_Backtab:
            QWidget.focusNextPrevChild(self, False)
        elif key == Qt.Key.Key_Tab and (control or self.isReadOnly() or self.tabChangesFocus()):
            QWidget.focusNextPrevChild(self, True)
        elif self.isReadOnly():
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Tab:
            self._indent()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not control:
            self._new_line()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and press_default_button(self):
            event.accept()
        elif event.text() in ("}", "]") and not self.textCursor().block().text().strip():
            self._insert_closing_bracket(event.text())
        else:
            super().keyPressEvent(event)

    def _indent(self) -> None:
        cursor = self.textCursor()
        if not cursor.hasSelection() or "\u2029" not in cursor.selectedText():
            cursor.insertText(TAB)
            self.setTextCursor(cursor)
            return
        first = self.document().findBlock(cursor.selectionStart())
        last = self.document().findBlock(max(cursor.selectionEnd() - 1, cursor.selectionStart()))
        cursor.beginEditBlock()
        for number in range(first.blockNumber(), last.blockNumber() + 1):
            QTextCursor(self.document().findBlockByNumber(number)).insertText(TAB)
        cursor.endEditBlock()

    def _new_line(self) -> None:
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        line = cursor.block().text()
        index = index_at(line, cursor.positionInBlock())
        before, after = line[:index], line[index:]
        indent = before[: len(before) - len(before.lstrip(" \t"))]
        opener = before.rstrip()[-1:]
        inner = indent + TAB if opener in PAIRS else indent
        cursor.insertText("\n" + inner)
        if opener in PAIRS and after.lstrip().startswith(PAIRS[opener]):
            place = cursor.position()
            cursor.insertText("\n" + indent)
            cursor.setPosition(place)
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def _insert_closing_bracket(self, bracket: str) -> None:
        """Type a closing bracket on an empty line, one level less indented."""
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(cursor.selectedText().removesuffix(TAB) + bracket)
        cursor.endEditBlock()
        self.setTextCursor(cursor)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste as plain text, with all line endings as LF."""
        text = source.text()
        if len(text) > LONGEST_LINE:
            self._adapt_to(self.text() + text)
        super().insertFromMimeData(source)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adjust the lower margin of a read-only view so that no line is cut."""
        super().resizeEvent(event)
        if self.isReadOnly():
            margins, line = self.viewportMargins(), self.fontMetrics().lineSpacing()
            cut_height = max(self.viewport().height() + margins.bottom() - EDGE, 0) % line
            if cut_height != margins.bottom():
                self.setViewportMargins(margins.left(), margins.top(), margins.right(), cut_height)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._format.isEnabled():
            menu.addSeparator()
            menu.addAction(self._format)
        menu.popup(event.globalPos())

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._wheel_needs_focus and not self.hasFocus():
            event.ignore()
        else:
            super().wheelEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._highlighter is not None:
            if self._highlighted:
                self._highlighter.recolour()
            self._draw_marks()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self._tip_at(event)
            if text:
                QToolTip.showText(event.globalPos(), tip(text), self)
            else:
                QToolTip.hideText()
                event.ignore()
            return True
        return super().event(event)

    def _tip_at(self, event: QHelpEvent) -> str:
        cursor = self.cursorForPosition(self.viewport().mapFrom(self, event.pos()))
        line = cursor.blockNumber() + 1
        messages = [mark.message for mark in self._marks if mark.line == line]
        text = readable(cursor.block().text())
        index = index_at(text, cursor.positionInBlock())
        messages += [hidden_name(match[0]) for match in HIDDEN.finditer(text, max(index - 1, 0), index + 1)]
        return "\n".join(messages) or self.toolTip()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter: QPainter | None = None
        block = self.firstVisibleBlock()
        while block.isValid():
            top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
            if top > event.rect().bottom():
                break
            if block.isVisible() and block.length() <= LONGEST_LINE:
                text = readable(block.text())
                for match in HIDDEN.finditer(text):
                    painter = painter or QPainter(self.viewport())
                    self._paint_hidden(painter, block, units(text[: match.start()]))
            block = block.next()
        if painter is not None:
            painter.end()

    def _paint_hidden(self, painter: QPainter, block: QTextBlock, offset: int) -> None:
        """Paint a flag at a hidden character."""
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + offset)
        rect = self.cursorRect(cursor)
        colour = QColor(tokens().error)
        painter.fillRect(QRect(rect.left() - 1, rect.top(), 2, rect.height()), colour)
        painter.fillRect(QRect(rect.left() - 3, rect.top(), 6, 3), colour)


def _select_token(cursor: QTextCursor) -> None:
    """Grow the cursor over the word at its place, at least one character, also at the end of a line."""
    text = cursor.block().text()
    start = end = index_at(text, cursor.positionInBlock())
    while end < len(text) and (text[end].isalnum() or text[end] in '_-."'):
        end += 1
    if end == start:
        end += 1
    if start >= len(text):
        start, end = max(len(text) - 1, 0), len(text)
    line = cursor.block().position()
    cursor.setPosition(line + units(text[:start]))
    cursor.setPosition(line + units(text[:end]), QTextCursor.MoveMode.KeepAnchor)


def _format_text(text: str) -> str | None:
    return pretty(text) if problem_at(text) is None else None


def _holdable(text: str) -> str:
    text = holdable(text.replace("\r\n", "\n").replace("\r", "\n"))
    return text if text.isascii() else _LONE.sub(lambda match: show_hidden(match[0]), text)
