"""A field for plain text that returns exactly the typed or set text, and conversions of Qt's text positions.

Qt's own ``toPlainText`` turns no-break spaces into spaces and line separators into new lines, and copying does the
same: the sent text would differ from the shown one. All code reads the text of an editor through this class.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QHelpEvent, QMouseEvent, QTextBlock, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QToolTip, QWidget

from playground.ui.widgets.fold_chip import KIND, NUMBER, Chip, chip_format
from playground.ui.widgets.folds import LONG_LINE, MARK, Folded, around, opened, pieces
from playground.ui.widgets.plain_text import tip

FOLDED = "Collapsed; the full text is sent and copied. Click to show and edit more."
#: Characters that end a line in Qt or mark a fold, by the noncharacters that replace them in a document.
_SUBSTITUTES: Final = {"\u2029": "\ufdd2", "\ufdd0": "\ufdd3", "\ufdd1": "\ufdd4", MARK: "\ufdd5"}


def units(text: str) -> int:
    """Return the length of a text in UTF-16 units, in which documents count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def index_at(text: str, place: int) -> int:
    """Return the number of characters in the first ``place`` UTF-16 units: the reverse of ``units``."""
    if text.isascii():
        return place
    return len(text.encode("utf-16-le", "replace")[: 2 * place].decode("utf-16-le", "replace"))


def readable(text: str) -> str:
    """Return the original text of a line of a document; its length in units is the same."""
    if not text.isascii():
        text = text.replace("\u2029", "\n")
        for character, substitute in _SUBSTITUTES.items():
            text = text.replace(substitute, character)
    return text


def holdable(text: str) -> str:
    """Return a text in the form in which a document can store it."""
    if not text.isascii():
        for character, substitute in _SUBSTITUTES.items():
            text = text.replace(character, substitute)
    return text


class ExactField(QPlainTextEdit):
    """A text field without conversions: typed, pasted, set by the program, read and copied exactly.

    Typed and pasted lines end with LF; ``set_text`` and ``text`` preserve every line ending until a person types. With
    ``may_fold``, text that is too long to lay out at every key is folded, see ``folds``: then positions in the document
    are not positions in the text.
    """

    may_fold = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._source = self._stored = ""
        self._cached_text: str | None = ""  # None after a change
        self._folds: list[Folded] = []
        self._chip: Chip | None = None
        self.document().contentsChange.connect(self._changed)

    def text(self) -> str:
        """Return the text."""
        if self._cached_text is None:
            text = self._text_of(self.document().toRawText(), 0)
            self._cached_text = self._source if text == self._stored else text
        return self._cached_text

    def set_text(self, text: str) -> None:
        """Show another text and clear the undo history, like ``setPlainText``."""
        self.setPlainText(holdable(text))
        self._source, self._stored = text, self._text_of(self.document().toRawText(), 0)
        self._cached_text = text

    def setPlainText(self, text: str) -> None:
        """Show another text and fold its parts that are too long."""
        self._folds.clear()
        if not self.may_fold or len(text) <= LONG_LINE:
            super().setPlainText(text)
            return
        were_blocked = self.blockSignals(True)  # emit one change, not two
        super().setPlainText("")
        self.blockSignals(were_blocked)
        self.setUndoRedoEnabled(False)
        self._insert(QTextCursor(self.document()), readable(text))
        self.setUndoRedoEnabled(True)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste as plain text only."""
        cursor = self.textCursor()
        cursor.beginEditBlock()
        self._insert(cursor, source.text())
        block = cursor.block()
        if self.may_fold and block.length() > LONG_LINE:  # the line was long already
            before = self._text_of(_cut(block.text(), 0, cursor.positionInBlock()), block.position())
            line = self._text_of(block.text(), block.position())
            self._fold_line(cursor, around(line, len(before)), len(before))
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def _insert(self, cursor: QTextCursor, text: str) -> None:
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        if "\r" in text:  # saves two passes over a long text
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._insert_pieces(cursor, pieces(text) if self.may_fold else [text])
        cursor.endEditBlock()

    def _place_in_line(self, block: QTextBlock, index: int) -> int:
        """Return the document position of a character of a line; ``index`` counts characters of the text from 0."""
        place = block.position()
        for number, piece in enumerate(block.text().split(MARK)):
            if number:
                index -= len(self._text_of(MARK, place))
                place += 1
                if index < 0:
                    return place - 1
            content = readable(piece)
            if index <= len(content):
                return place + units(content[:index])
            index -= len(content)
            place += units(piece)
        return place

    @property
    def folds(self) -> bool:
        """True if anything is folded; positions in the document are then not those of the text."""
        return bool(self._folds)

    def replace_text(self, text: str) -> None:
        """Replace the text like a person's edit: one undo step reverts it."""
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        self._insert(cursor, text)

    def place_of(self, index: int) -> int:
        """Return the document position of a character of the text; for a folded one, the position of its chip."""
        if not self._folds:
            return units(self.text()[:index])
        place = 0
        for number, piece in enumerate(self.document().toRawText().split(MARK)):
            if number:
                index -= len(self._text_of(MARK, place))
                if index < 0:
                    return place
                place += 1
            if index <= len(piece):
                return place + units(piece[:index])
            index -= len(piece)
            place += units(piece)
        return place

    def open_fold(self, place: int) -> bool:
        """Show more of the fold at a document position. Return whether there is a fold."""
        fold = self._fold_at(place)
        if fold is None:
            return False
        block, cursor = self.document().findBlock(place), QTextCursor(self.document())
        raw, offset = block.text(), place - block.position()
        before, after = (
            self._text_of(_cut(raw, 0, offset), block.position()),
            self._text_of(_cut(raw, offset + 1), place + 1),
        )
        parts, in_line = opened(fold, before, after)
        cursor.setPosition(place)
        cursor.beginEditBlock()
        if in_line:
            self._fold_line(cursor, parts, len(before))
        else:
            cursor.deleteChar()
            self._insert_pieces(cursor, parts)
            cursor.setPosition(place)
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()
        return True

    def _fold_line(self, cursor: QTextCursor, parts: list[str], index: int) -> None:
        """Replace the line of the cursor by ``parts`` and put the cursor before the character at ``index``."""
        cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._insert_pieces(cursor, parts)
        cursor.setPosition(self._place_in_line(cursor.block(), index))

    def _insert_pieces(self, cursor: QTextCursor, parts: list[str]) -> None:
        for piece in parts:
            if not isinstance(piece, Folded):
                cursor.insertText(holdable(piece), QTextCharFormat())
            elif piece:
                if self._chip is None:
                    self._chip = Chip(self)
                    self.document().documentLayout().registerHandler(KIND, self._chip)
                self._folds.append(piece)
                cursor.insertText(MARK, chip_format(len(self._folds) - 1, piece.words))

    def _text_of(self, raw: str, place: int) -> str:
        """Return the text of a part of the document that begins at a position."""
        if not self._folds or MARK not in raw:
            return readable(raw)
        out = []
        for number, piece in enumerate(raw.split(MARK)):
            if number:
                fold = self._fold_at(place)
                out.append(MARK if fold is None else fold)
                place += 1
            out.append(readable(piece))
            place += units(piece)
        return "".join(out)

    def _fold_at(self, place: int) -> Folded | None:
        if self.document().characterAt(place) != MARK:
            return None
        cursor = QTextCursor(self.document())
        cursor.setPosition(place + 1)
        number = cursor.charFormat().property(NUMBER)
        return self._folds[number] if isinstance(number, int) and number < len(self._folds) else None

    def _fold_under(self, point: QPoint) -> int | None:
        """Return the document position of the chip under a point of the viewport, or None."""
        place, document = self.cursorForPosition(point).position(), self.document()
        for position in (place - 1, place):
            if self._chip is not None and position >= 0 and self._fold_at(position) is not None:
                cursor = QTextCursor(document)
                cursor.setPosition(position)
                box = self.cursorRect(cursor)
                cursor.setPosition(position + 1)
                box.setWidth(int(self._chip.intrinsicSize(document, position, cursor.charFormat()).width()))
                if box.contains(point):
                    return position
        return None

    def _changed(self, _position: int, _removed: int, _added: int) -> None:
        self._cached_text = None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            place = self._fold_under(event.position().toPoint())
            if place is not None:
                self.open_fold(place)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the tooltip of a chip."""
        if isinstance(event, QHelpEvent) and self._fold_under(event.pos()) is not None:
            QToolTip.showText(event.globalPos(), tip(FOLDED), self)
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the context menu, with an action for the fold next to the cursor."""
        menu, place = self.createStandardContextMenu(), self.textCursor().position()
        fold_position = next(
            (position for position in (place, place - 1) if position >= 0 and self._fold_at(position) is not None), None
        )
        if fold_position is not None:
            menu.addSeparator()
            menu.addAction("Show more of the folded text").triggered.connect(lambda: self.open_fold(fold_position))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy the selected text exactly."""
        data, cursor = QMimeData(), self.textCursor()
        data.setText(self._text_of(cursor.selectedText(), cursor.selectionStart()))
        return data


def _cut(raw: str, start: int, stop: int | None = None) -> str:
    """Return a part of a text by positions in UTF-16 units."""
    if raw.isascii():
        return raw[start:stop]
    data = raw.encode("utf-16-le", "surrogatepass")
    return data[2 * start : None if stop is None else 2 * stop].decode("utf-16-le", "surrogatepass")
