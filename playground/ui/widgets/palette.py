"""A filtered list: the command palette, and choosers of presets, files and prompts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import one_line_of, tip
from playground.ui.widgets.row_delegate import ONE_LINE, ROW, Row, RowDelegate, Words

SHOWN = 200
MARGIN = 8  # pixels
PREFIX, WORD_STARTS, SYNONYMS, SUBSTRING = RANKS = range(4)
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a palette: its name, its kind, and its action.

    ``synonyms`` and the kind match a query as well; ``keys`` is a shortcut, shown instead of the kind.
    """

    text: str
    kind: str
    act: Callable[[], None]
    keys: str = ""
    synonyms: str = ""


@dataclass(frozen=True, slots=True)
class Names:
    """Many entries of one kind, created when they are listed; ``folded`` are the case-folded names."""

    names: Sequence[str]
    folded: Sequence[str]
    kind: str
    act: Callable[[str], None]


def match_rank(text: str, synonyms: str, query: str) -> int | None:
    """Return how well a query matches, as one of ``RANKS``, the best first; None without a match.

    Every word of the query has to be in ``text`` or to begin one of the ``synonyms``. All three are case-folded.
    """
    if text.startswith(query):
        return PREFIX
    words = query.split()
    if all(word in text for word in words):
        starts = _SEPARATORS.split(text)
        starts_match = all(any(start.startswith(word) for start in starts) for word in words)
        return WORD_STARTS if starts_match else SUBSTRING
    starts = [*_SEPARATORS.split(text), *synonyms.split()]
    return SYNONYMS if all(any(start.startswith(word) for start in starts) for word in words) else None


class Palette(QDialog):
    """A pop-up list with a filter. The chosen entry runs after the palette has closed; ``chosen`` carries its name.

    With ``recent``, the names chosen last, it is a command palette: those come first while nothing is typed, and
    nothing is selected then, so that Enter alone runs no command.
    """

    chosen = Signal(str)

    def __init__(
        self, entries: Sequence[Entry | Names], hint: str, parent: QWidget, recent: Sequence[str] | None = None
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self._anchor = parent
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("palette")
        self._entries = list(entries)
        self._recent = recent
        self._field = QLineEdit(placeholderText=hint)
        self._field.setAccessibleName(hint)
        self._field.textChanged.connect(self._filter)
        self._field.installEventFilter(self)
        self._list = QListWidget()
        self._list.setAccessibleName("Matches")
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setItemDelegate(RowDelegate(self._list))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self._list.itemClicked.connect(self._choose)
        self._empty_label = QLabel(
            "No commands found" if recent is not None else "No matches", alignment=Qt.AlignmentFlag.AlignTop
        )
        self._empty_label.setProperty("kind", "muted")
        self._empty_label.setContentsMargins(10, 6, 10, 6)
        frame = styled(QFrame(), "palette")
        in_column(self._field, (self._list, 1), (self._empty_label, 1), parent=frame, margins=MARGIN, spacing=MARGIN)
        in_column(frame, parent=self, margins=0)
        self._filter("")

    @property
    def field(self) -> QLineEdit:
        """The field for the query."""
        return self._field

    @property
    def matches(self) -> list[str]:
        """The names of the listed entries."""
        return [self._entry(self._list.item(row)).text for row in range(self._list.count())]

    def open_over(self) -> None:
        """Show the palette near the top of its window."""
        window = self._anchor.window()
        width = min(560, window.width() - 40)
        height = min(420, window.height() - 120)
        self.resize(width, height)
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - width) // 2, corner.y() + 60)
        self.show()
        self.resize(width, height - self._list.viewport().height() % ONE_LINE)  # no row is cut
        self._field.setFocus()

    def _filter(self, text: str) -> None:
        query = " ".join(text.casefold().split())
        self._list.clear()
        for entry in islice(self._rank_entries(query) if query else self._all_entries(), SHOWN):
            item = QListWidgetItem(one_line_of(entry.text))
            item.setToolTip(tip(f"{entry.text}\n{entry.kind}" if len(entry.text) > 50 else ""))
            item.setData(Qt.ItemDataRole.UserRole, entry)
            item.setData(
                ROW, Row(Words(entry.text, "text"), side=Words(entry.keys or entry.kind), middle=True)
            )  # long names end differently
            self._list.addItem(item)
        self._list.setCurrentRow(0 if query or self._recent is None else -1)
        self._list.setVisible(self._list.count() > 0)
        self._empty_label.setVisible(self._list.count() == 0)

    def _all_entries(self) -> Iterator[Entry]:
        recent = self._recent or ()
        recent_entries = (
            {text: entry for entry in _expand(self._entries) if (text := entry.text) in recent} if recent else {}
        )
        yield from (recent_entries[text] for text in recent if text in recent_entries)
        yield from (entry for entry in _expand(self._entries) if entry.text not in recent_entries)

    def _rank_entries(self, query: str) -> Iterator[Entry]:
        ranked: list[list[Entry]] = [[] for _ in RANKS]
        for entries in self._entries:
            if isinstance(entries, Entry):
                rank = match_rank(entries.text.casefold(), f"{entries.kind} {entries.synonyms}".casefold(), query)
                if rank is not None:
                    ranked[rank].append(entries)
                continue
            for name, folded in zip(entries.names, entries.folded, strict=True):
                rank = match_rank(folded, entries.kind, query)
                if rank is not None and len(ranked[rank]) < SHOWN:
                    ranked[rank].append(Entry(name, entries.kind, partial(entries.act, name)))
        for matches in ranked:
            yield from matches

    @staticmethod
    def _entry(item: QListWidgetItem) -> Entry:
        entry: Entry = item.data(Qt.ItemDataRole.UserRole)
        return entry

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            entry = self._entry(item)
            self.chosen.emit(entry.text)
            self.close()
            entry.act()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the list with the arrow keys while the cursor stays in the field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}.get(
                Qt.Key(event.key())
            )
            if step is not None:
                row = min(max(self._list.currentRow() + step, 0), self._list.count() - 1)
                self._list.setCurrentRow(row)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose(self._list.currentItem())
                return True
        return super().eventFilter(watched, event)


def _expand(entries: Iterable[Entry | Names]) -> Iterator[Entry]:
    for entry in entries:
        if isinstance(entry, Entry):
            yield entry
        else:
            yield from (Entry(name, entry.kind, partial(entry.act, name)) for name in entry.names)
