"""Differences as text to read: words taken out are struck through, added ones underlined, lines have a sign.

Bounded however large the values are; what is left out is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QFont, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QTextEdit, QWidget

from playground.engine.inspect.compare import Difference, Piece, Side, diff_words
from playground.jsonkit.layout import indented_front
from playground.jsonkit.values import JSON
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import code_font, tokens

MOST = 400  # differences that are shown
LONGEST = 6_000  # characters of one value
TEXT_MOST = 20_000  # characters of a whole text; of a longer one only what is around the changes
ALL_MOST = 60_000  # characters of all differences together
LONG_LINE = 5_000  # characters of a line that is broken anywhere: Qt looks for words in the square of its length
WORDS_FROM = 40  # characters of two texts from which on they are compared word by word
AT_ONCE = 20  # differences that are written while the window waits
KEPT = 160  # characters of what is the same that stay on each side of a change, within a value
SIGNS = {Side.ADDED: "+", Side.REMOVED: "−", Side.CHANGED: "±", Side.SAME: " "}


class Run(NamedTuple):
    """A stretch of what is shown, all in one look. With an ``indent`` it begins a line of its own."""

    text: str
    look: Side | str
    indent: int | None = None  # pixels
    above: int = 0  # pixels
    whole: bool = False  # a sign before the line says what it is: it needs no line through or below it


class ChangeText(QTextEdit):
    """``show_differences`` for JSON, ``show_pieces`` for text; either replaces what was shown."""

    def __init__(self, says: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._again: Callable[[], None] | None = None
        self._writing = Aside(self)
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
        self._again = partial(self.show_words, words)
        self._writing.call_off()
        self._show([Run(words, "muted")])

    def show_differences(self, differences: Sequence[Difference]) -> None:
        """The members in which two values differ, one below the other."""
        self._again = partial(self.show_differences, differences)
        self._writing.do(
            partial(_written, differences), self._show, large=len(differences) > AT_ONCE or _long(differences)
        )
        if self._writing.busy:
            self._show([Run("Comparing…", "muted")])

    def show_pieces(self, pieces: Sequence[Piece], without: Iterable[Side] = ()) -> None:
        """A text in pieces; those of a kind in ``without`` are left out."""
        left_out = frozenset(without)
        self._again = partial(self.show_pieces, pieces, left_out)
        self._writing.call_off()
        self._show(_cut([piece for piece in pieces if piece.kind not in left_out]))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._again is not None:
            self._again()

    # Drawing

    def _show(self, runs: Iterable[Run]) -> None:
        self.clear()
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.setBlockFormat(QTextBlockFormat())
        for run in runs:
            if run.indent is not None:
                block = QTextBlockFormat()
                block.setTopMargin(run.above)
                block.setLeftMargin(run.indent)
                if cursor.atStart():
                    cursor.setBlockFormat(block)
                else:
                    cursor.insertBlock(block)
            if len(run.text) > LONG_LINE:
                self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
            text = show_hidden(run.text.replace("\r\n", "\n").replace("\r", "\n"))
            cursor.insertText(text, _format(run.look, whole=run.whole))
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    @property
    def busy(self) -> bool:
        """Return whether differences are still being computed."""
        return self._writing.busy


def _written(differences: Sequence[Difference]) -> list[Run]:
    """Return the runs of the first differences, at most ``MOST`` of them and ``ALL_MOST`` characters."""
    runs: list[Run] = []
    size = shown = 0
    for difference in differences[:MOST]:
        if size >= ALL_MOST:
            break
        added = list(_difference(difference, above=8 * bool(shown)))
        size += sum(len(run.text) for run in added)
        runs += added
        shown += 1
    if len(differences) > shown:
        runs.append(Run(f"… {len(differences) - shown:,} more differences", "muted", 0))
    return runs


def _difference(difference: Difference, above: int) -> Iterator[Run]:
    yield Run(f"{SIGNS[difference.kind]} {difference.path or 'the whole body'}", "head", 0, above)
    before, after = difference.before, difference.after
    if difference.kind is Side.CHANGED and _are_texts(before, after):
        yield Run("", "muted", 14)
        for piece in _shortened(diff_words(str(before)[:LONGEST], str(after)[:LONGEST])):
            yield Run(piece.text, piece.kind)
        return
    if difference.kind is not Side.ADDED:
        yield from _lines(_value(before), Side.REMOVED)
    if difference.kind is not Side.REMOVED:
        yield from _lines(_value(after), Side.ADDED)


def _lines(text: str, kind: Side) -> Iterator[Run]:
    for line in text.split("\n"):
        yield Run(f"{SIGNS[kind]} {line}", kind, 14, whole=True)


def _cut(pieces: Sequence[Piece]) -> Iterator[Run]:
    left = TEXT_MOST
    for piece in _shortened(pieces) if sum(len(piece.text) for piece in pieces) > left else pieces:
        yield Run(piece.text[:left], piece.kind)
        left -= len(piece.text)
        if left <= 0:
            yield Run("… the rest is left out", "muted", 0)
            return


def _long(differences: Sequence[Difference]) -> bool:
    """Whether one of them, of a few, is more than a line or two."""
    sides = [side for one in differences for side in (one.before, one.after)]
    return any(isinstance(side, dict | list) or (isinstance(side, str) and len(side) > LONGEST // 4) for side in sides)


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
    text = indented_front(value, LONGEST)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… and more"


def _format(kind: Side | str, *, whole: bool = False) -> QTextCharFormat:
    t = tokens()
    form = QTextCharFormat()
    form.setForeground(QColor(t.text))
    match kind:
        case Side.REMOVED:
            form.setForeground(QColor(t.error))
            form.setBackground(QColor(t.error_background))
            form.setFontStrikeOut(not whole)
        case Side.ADDED:
            form.setForeground(QColor(t.ok))
            form.setBackground(QColor(t.chip))
            form.setFontUnderline(not whole)
        case "muted" | "head":
            form.setForeground(QColor(t.muted))
            if kind == "head":
                form.setFontWeight(QFont.Weight.DemiBold)
        case _:
            pass
    return form
