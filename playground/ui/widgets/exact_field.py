"""A field for plain text that returns exactly what was typed or set, and conversions of Qt's text positions.

Qt's own ``toPlainText`` turns no-break spaces into spaces and line separators into new lines, and copying does the
same: the sent text would differ from the shown one. Nothing else reads the text of an editor.
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
#: Characters at which Qt ends a line or that mean something here, kept in a document under noncharacters that no text
#: may hold.
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

    Lines typed or pasted end with LF, whatever the clipboard had; ``set_text`` and ``text`` keep every kind of end
    until a person types. What is too long to be laid out at every key is folded, see ``folds``, where the field
    ``may_fold``: places in such a document are no places in its text.
    """

    may_fold = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._given = self._held = ""
        self._read: str | None = ""  # the text, as long as it is known
        self._folds: list[Folded] = []
        self._chip: Chip | None = None
        self.document().contentsChange.connect(self._changed)

    def text(self) -> str:
        """The text."""
        if self._read is None:
            text = self._text_of(self.document().toRawText(), 0)
            self._read = self._given if text == self._held else text
        return self._read

    def set_text(self, text: str) -> None:
        """Show another text. As ``setPlainText``: undo goes back no further than this."""
        self.setPlainText(holdable(text))
        self._given, self._held = text, self._text_of(self.document().toRawText(), 0)
        self._read = text

    def setPlainText(self, text: str) -> None:
        """Show another text; what of it is too long is folded."""
        self._folds.clear()
        if not self.may_fold or len(text) <= LONG_LINE:
            super().setPlainText(text)
            return
        blocked = self.blockSignals(True)  # there is one other text, not none and then another
        super().setPlainText("")
        self.blockSignals(blocked)
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
        if self.may_fold and block.length() > LONG_LINE:  # what stood there was not short either
            before = self._text_of(_cut(block.text(), 0, cursor.positionInBlock()), block.position())
            line = self._text_of(block.text(), block.position())
            self._fold_line(cursor, around(line, len(before)), len(before))
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def _insert(self, cursor: QTextCursor, text: str) -> None:
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        if "\r" in text:  # else two walks that find nothing: 20 ms of ten megabytes
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._put(cursor, pieces(text) if self.may_fold else [text])
        cursor.endEditBlock()

    def _place_in_line(self, block: QTextBlock, index: int) -> int:
        """The place in the document of a character of a line, its number counted from 0 in the text that is meant."""
        place = block.position()
        for number, shown in enumerate(block.text().split(MARK)):
            if number:
                index -= len(self._text_of(MARK, place))
                place += 1
                if index < 0:
                    return place - 1
            meant = readable(shown)
            if index <= len(meant):
                return place + units(meant[:index])
            index -= len(meant)
            place += units(shown)
        return place

    @property
    def folds(self) -> bool:
        """True if anything is folded; positions in the document are then not those of the text."""
        return bool(self._folds)

    def replace_text(self, text: str) -> None:
        """Put another text in as a person would: one step of undo takes it back."""
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        self._insert(cursor, text)

    def place_of(self, index: int) -> int:
        """The place in the document of a character of the text; of one that is folded, that of its chip."""
        if not self._folds:
            return units(self.text()[:index])
        place = 0
        for number, shown in enumerate(self.document().toRawText().split(MARK)):
            if number:
                index -= len(self._text_of(MARK, place))
                if index < 0:
                    return place
                place += 1
            if index <= len(shown):
                return place + units(shown[:index])
            index -= len(shown)
            place += units(shown)
        return place

    def open_fold(self, place: int) -> bool:
        """Show more of what is folded at a place in the document. Returns whether there is something folded."""
        fold = self._fold_at(place)
        if fold is None:
            return False
        block, cursor = self.document().findBlock(place), QTextCursor(self.document())
        raw, offset = block.text(), place - block.position()
        before, after = (
            self._text_of(_cut(raw, 0, offset), block.position()),
            self._text_of(_cut(raw, offset + 1), place + 1),
        )
        shown, in_line = opened(fold, before, after)
        cursor.setPosition(place)
        cursor.beginEditBlock()
        if in_line:
            self._fold_line(cursor, shown, len(before))
        else:
            cursor.deleteChar()
            self._put(cursor, shown)
            cursor.setPosition(place)
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()
        return True

    def _fold_line(self, cursor: QTextCursor, shown: list[str], index: int) -> None:
        """Replace a line by these pieces and put the cursor before that character."""
        cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._put(cursor, shown)
        cursor.setPosition(self._place_in_line(cursor.block(), index))

    def _put(self, cursor: QTextCursor, shown: list[str]) -> None:
        for piece in shown:
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
        for number, shown in enumerate(raw.split(MARK)):
            if number:
                fold = self._fold_at(place)
                out.append(MARK if fold is None else fold)
                place += 1
            out.append(readable(shown))
            place += units(shown)
        return "".join(out)

    def _fold_at(self, place: int) -> Folded | None:
        if self.document().characterAt(place) != MARK:
            return None
        cursor = QTextCursor(self.document())
        cursor.setPosition(place + 1)
        number = cursor.charFormat().property(NUMBER)
        return self._folds[number] if isinstance(number, int) and number < len(self._folds) else None

    def _fold_under(self, at: QPoint) -> int | None:
        """The place of the chip under a point of the viewport."""
        place, document = self.cursorForPosition(at).position(), self.document()
        for near in (place - 1, place):
            if self._chip is not None and near >= 0 and self._fold_at(near) is not None:
                cursor = QTextCursor(document)
                cursor.setPosition(near)
                box = self.cursorRect(cursor)
                cursor.setPosition(near + 1)
                box.setWidth(int(self._chip.intrinsicSize(document, near, cursor.charFormat()).width()))
                if box.contains(at):
                    return near
        return None

    def _changed(self, _at: int, _removed: int, _added: int) -> None:
        self._read = None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            place = self._fold_under(event.position().toPoint())
            if place is not None:
                self.open_fold(place)

    def viewportEvent(self, event: QEvent) -> bool:
        """A chip says what it is."""
        if isinstance(event, QHelpEvent) and self._fold_under(event.pos()) is not None:
            QToolTip.showText(event.globalPos(), tip(FOLDED), self)
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu of the field, by the keyboard, too, with what is folded beside the cursor."""
        menu, place = self.createStandardContextMenu(), self.textCursor().position()
        folded = next((near for near in (place, place - 1) if near >= 0 and self._fold_at(near) is not None), None)
        if folded is not None:
            menu.addSeparator()
            menu.addAction("Show more of what is folded").triggered.connect(lambda: self.open_fold(folded))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy exactly what is selected."""
        data, cursor = QMimeData(), self.textCursor()
        data.setText(self._text_of(cursor.selectedText(), cursor.selectionStart()))
        return data


def _cut(raw: str, start: int, stop: int | None = None) -> str:
    """A part of a text by places."""
    if raw.isascii():
        return raw[start:stop]
    data = raw.encode("utf-16-le", "surrogatepass")
    return data[2 * start : None if stop is None else 2 * stop].decode("utf-16-le", "surrogatepass")
