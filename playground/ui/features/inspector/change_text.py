"""Differences as text: removed words are struck through, added ones underlined, lines have a sign.

The text is bounded; it ends with the number of differences that are not shown.
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

MAX_DIFFERENCES = 400
MAX_VALUE = 6_000  # characters of one value
MAX_TEXT = 20_000  # characters of a text; of a longer one only the surroundings of changes are shown
MAX_TOTAL = 60_000  # characters of all differences together
LONG_LINE = 5_000  # characters; longer lines wrap anywhere, because Qt's word wrap is quadratic
MIN_WORDWISE = 40  # characters; longer texts are compared word by word
MAX_AT_ONCE = 20  # differences that are written on this thread
CONTEXT = 160  # characters of equal text that are shown on each side of a change
SIGNS = {Side.ADDED: "+", Side.REMOVED: "−", Side.CHANGED: "±", Side.SAME: " "}


class Run(NamedTuple):
    """Text in one format. With an ``indent`` it begins a new line.

    ``is_line``: the sign before the line shows the change, so the text is neither struck through nor underlined.
    """

    text: str
    look: Side | str
    indent: int | None = None  # pixels
    above: int = 0  # pixels
    is_line: bool = False


class ChangeText(QTextEdit):
    """Differences of JSON (``show_differences``) or of a text (``show_pieces``)."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._redraw: Callable[[], None] | None = None
        self._writing = Aside(self)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAcceptRichText(False)
        self.setUndoRedoEnabled(False)
        self.setProperty("kind", "code")
        self.setFont(code_font())
        self.document().setDocumentMargin(4)
        self.setAccessibleName(name)

    def show_words(self, words: str) -> None:
        """Show a sentence."""
        self._redraw = partial(self.show_words, words)
        self._writing.call_off()
        self._show([Run(words, "muted")])

    def show_differences(self, differences: Sequence[Difference]) -> None:
        """Show the members in which two values differ."""
        self._redraw = partial(self.show_differences, differences)
        self._writing.do(
            partial(_written, differences), self._show, large=len(differences) > MAX_AT_ONCE or _are_long(differences)
        )
        if self._writing.busy:
            self._show([Run("Comparing…", "muted")])

    def show_pieces(self, pieces: Sequence[Piece], without: Iterable[Side] = ()) -> None:
        """Show a text in pieces, except those of the kinds in ``without``."""
        left_out = frozenset(without)
        self._redraw = partial(self.show_pieces, pieces, left_out)
        self._writing.call_off()
        self._show(_cut([piece for piece in pieces if piece.kind not in left_out]))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._redraw is not None:
            self._redraw()

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
            cursor.insertText(text, _format(run.look, is_line=run.is_line))
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    @property
    def busy(self) -> bool:
        """Return whether differences are still being computed."""
        return self._writing.busy


def _written(differences: Sequence[Difference]) -> list[Run]:
    """Return the runs of the first differences, at most ``MAX_DIFFERENCES`` of them and ``MAX_TOTAL`` characters."""
    runs: list[Run] = []
    size = count = 0
    for difference in differences[:MAX_DIFFERENCES]:
        if size >= MAX_TOTAL:
            break
        added = list(_difference(difference, above=8 * bool(count)))
        size += sum(len(run.text) for run in added)
        runs += added
        count += 1
    if len(differences) > count:
        runs.append(Run(f"… {len(differences) - count:,} more differences", "muted", 0))
    return runs


def _difference(difference: Difference, above: int) -> Iterator[Run]:
    yield Run(f"{SIGNS[difference.kind]} {difference.path or 'the whole body'}", "head", 0, above)
    before, after = difference.before, difference.after
    if difference.kind is Side.CHANGED and _are_texts(before, after):
        yield Run("", "muted", 14)
        for piece in _shortened(diff_words(str(before)[:MAX_VALUE], str(after)[:MAX_VALUE])):
            yield Run(piece.text, piece.kind)
        return
    if difference.kind is not Side.ADDED:
        yield from _lines(_value(before), Side.REMOVED)
    if difference.kind is not Side.REMOVED:
        yield from _lines(_value(after), Side.ADDED)


def _lines(text: str, kind: Side) -> Iterator[Run]:
    for line in text.split("\n"):
        yield Run(f"{SIGNS[kind]} {line}", kind, 14, is_line=True)


def _cut(pieces: Sequence[Piece]) -> Iterator[Run]:
    remaining = MAX_TEXT
    for piece in _shortened(pieces) if sum(len(piece.text) for piece in pieces) > remaining else pieces:
        yield Run(piece.text[:remaining], piece.kind)
        remaining -= len(piece.text)
        if remaining <= 0:
            yield Run("… the rest is not shown", "muted", 0)
            return


def _are_long(differences: Sequence[Difference]) -> bool:
    """Return whether one of the values takes more than a few lines."""
    sides = [side for difference in differences for side in (difference.before, difference.after)]
    return any(
        isinstance(side, dict | list) or (isinstance(side, str) and len(side) > MAX_VALUE // 4) for side in sides
    )


def _are_texts(before: JSON, after: JSON) -> bool:
    return isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) >= MIN_WORDWISE


def _shortened(pieces: Iterable[Piece]) -> Iterable[Piece]:
    """Shorten long equal pieces to the surroundings of changes."""
    for piece in pieces:
        if piece.kind is Side.SAME and len(piece.text) > 3 * CONTEXT:
            omitted = len(piece.text) - 2 * CONTEXT
            yield Piece(Side.SAME, f"{piece.text[:CONTEXT]} … {omitted:,} characters … {piece.text[-CONTEXT:]}")
        else:
            yield piece


def _value(value: JSON) -> str:
    text = indented_front(value, MAX_VALUE)
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}… and more"


def _format(kind: Side | str, *, is_line: bool = False) -> QTextCharFormat:
    t = tokens()
    form = QTextCharFormat()
    form.setForeground(QColor(t.text))
    match kind:
        case Side.REMOVED:
            form.setForeground(QColor(t.error))
            form.setBackground(QColor(t.error_background))
            form.setFontStrikeOut(not is_line)
        case Side.ADDED:
            form.setForeground(QColor(t.ok))
            form.setBackground(QColor(t.chip))
            form.setFontUnderline(not is_line)
        case "muted" | "head":
            form.setForeground(QColor(t.muted))
            if kind == "head":
                form.setFontWeight(QFont.Weight.DemiBold)
        case _:
            pass
    return form
