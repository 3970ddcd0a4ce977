"""Differences as text to read: words taken out are struck through, added ones underlined, lines have a sign.

Bounded however large the values are; what is left out is said.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QFont, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QTextEdit, QWidget

from playground.engine.inspect.compare import Difference, Piece, Side, diff_words
from playground.jsonkit.values import JSON
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import code_font, tokens

MOST = 400  # differences that are shown
LONGEST = 6_000  # characters of one value
TEXT_MOST = 20_000  # characters of a whole text; of a longer one only what is around the changes
LONG_LINE = 5_000  # characters of a line that is broken anywhere: Qt looks for words in the square of its length
WORDS_FROM = 40  # characters of two texts from which on they are compared word by word
KEPT = 160  # characters of what is the same that stay on each side of a change, within a value
SIGNS = {Side.ADDED: "+", Side.REMOVED: "−", Side.CHANGED: "±", Side.SAME: " "}


class ChangeText(QTextEdit):
    """``show_differences`` for JSON, ``show_pieces`` for text; either replaces what was shown."""

    def __init__(self, says: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._again: tuple[str, Sequence[Difference] | Sequence[Piece] | str, frozenset[Side]] = ("", "", frozenset())
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAcceptRichText(False)
        self.setUndoRedoEnabled(False)
        self.setProperty("kind", "code")
        self.setFont(code_font())
        self.document().setDocumentMargin(4)
        self.setAccessibleName(says)

    def show_words(self, words: str) -> None:
        """Only a sentence."""
        self._again = ("words", words, frozenset())
        self._begin()
        self._put(words, _format("muted"))

    def show_differences(self, differences: Sequence[Difference]) -> None:
        """The members in which two values differ, one below the other."""
        self._again = ("differences", differences, frozenset())
        self._begin()
        for number, difference in enumerate(differences[:MOST]):
            self._difference(difference, first=number == 0)
        if len(differences) > MOST:
            self._line(f"… {len(differences) - MOST:,} more differences", _format("muted"))
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def show_pieces(self, pieces: Sequence[Piece], without: Iterable[Side] = ()) -> None:
        """A text in pieces; those of a kind in ``without`` are left out."""
        self._again = ("pieces", pieces, frozenset(without))
        self._begin()
        left = TEXT_MOST
        seen = [piece for piece in pieces if piece.kind not in self._again[2]]
        for piece in _shortened(seen) if sum(len(piece.text) for piece in seen) > left else seen:
            self._put(piece.text[:left], _format(piece.kind))
            left -= len(piece.text)
            if left <= 0:
                self._line("… the rest is left out", _format("muted"))
                break
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._again[0]:
            what, value, without = self._again
            if what == "words":
                self.show_words(str(value))
            elif what == "differences":
                self.show_differences([one for one in value if isinstance(one, Difference)])
            else:
                self.show_pieces([one for one in value if isinstance(one, Piece)], without)

    # Writing

    def _begin(self) -> None:
        self.clear()
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._cursor = QTextCursor(self.document())
        self._cursor.setBlockFormat(QTextBlockFormat())

    def _put(self, text: str, form: QTextCharFormat) -> None:
        if len(text) > LONG_LINE:
            self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self._cursor.insertText(show_hidden(text.replace("\r\n", "\n").replace("\r", "\n")), form)

    def _line(self, text: str, form: QTextCharFormat, *, above: int = 0, indent: int = 0) -> None:
        block = QTextBlockFormat()
        block.setTopMargin(above)
        block.setLeftMargin(indent)
        if self._cursor.atStart():
            self._cursor.setBlockFormat(block)
        else:
            self._cursor.insertBlock(block)
        self._put(text, form)

    def _difference(self, difference: Difference, *, first: bool) -> None:
        head = _format("muted")
        head.setFontWeight(QFont.Weight.DemiBold)
        self._line(f"{SIGNS[difference.kind]} {difference.path or 'the whole body'}", head, above=0 if first else 8)
        before, after = difference.before, difference.after
        if difference.kind is Side.CHANGED and _are_texts(before, after):
            self._line("", _format("muted"), indent=14)
            for piece in _shortened(diff_words(str(before)[:LONGEST], str(after)[:LONGEST])):
                self._put(piece.text, _format(piece.kind))
            return
        if difference.kind is not Side.ADDED:
            self._block(_value(before), Side.REMOVED)
        if difference.kind is not Side.REMOVED:
            self._block(_value(after), Side.ADDED)

    def _block(self, text: str, kind: Side) -> None:
        """Whole lines: a sign before each says what they are, so they need no line through or below them."""
        form = _format(kind)
        form.setFontStrikeOut(False)
        form.setFontUnderline(False)
        for line in text.split("\n"):
            self._line(f"{SIGNS[kind]} {line}", form, indent=14)


def _are_texts(before: JSON, after: JSON) -> bool:
    return isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) >= WORDS_FROM


def _shortened(pieces: Iterable[Piece]) -> Iterable[Piece]:
    """Long stretches that are the same, down to what stands next to a change."""
    for piece in pieces:
        if piece.kind is Side.SAME and len(piece.text) > 3 * KEPT:
            left_out = len(piece.text) - 2 * KEPT
            yield Piece(Side.SAME, f"{piece.text[:KEPT]} … {left_out:,} characters … {piece.text[-KEPT:]}")
        else:
            yield piece


def _value(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… {len(text) - LONGEST:,} more characters"


def _format(kind: Side | str) -> QTextCharFormat:
    t = tokens()
    form = QTextCharFormat()
    form.setForeground(QColor(t.text))
    match kind:
        case Side.REMOVED:
            form.setForeground(QColor(t.error))
            form.setBackground(QColor(t.error_background))
            form.setFontStrikeOut(True)
        case Side.ADDED:
            form.setForeground(QColor(t.ok))
            form.setBackground(QColor(t.chip))
            form.setFontUnderline(True)
        case "muted":
            form.setForeground(QColor(t.muted))
        case _:
            pass
    return form
