"""The lines of a series: what will be asked and what it may cost, then what came of it, a group each protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem

from playground.engine.gateway_check.export import line_words
from playground.engine.gateway_check.report import Line, Verdict
from playground.jsonkit.texts import cut
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import show_hidden, tip

Key: TypeAlias = tuple[str, str]
#: A line before it is made: its key, its title, what it asks, what that may cost.
Planned: TypeAlias = tuple[Key, str, str, str]

CHECK, VERDICT, WORDS = range(3)
_KEY: Final = Qt.ItemDataRole.UserRole + 1
_MOST: Final = 400  # characters of a sentence in its line
_ROW: Final = 26  # pixels
SIGNS: Final = {
    Verdict.WORKS: ("check", "ok"),
    Verdict.DEVIATES: ("warning", "tool"),
    Verdict.REFUSED: ("error", "error"),
    Verdict.UNSUPPORTED: ("minus", "muted"),
    Verdict.WRONG: ("error", "error"),
    Verdict.FAILED: ("error", "error"),
    Verdict.UNTOLD: ("info", "muted"),
    Verdict.SKIPPED: ("minus", "muted"),
}


class Lines(QTreeWidget):
    """``chosen`` carries the key of the line that is looked at, None for none; ``ticked`` says that others are."""

    chosen = Signal(object)
    ticked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[Key, QTreeWidgetItem] = {}
        self._made: dict[Key, Line] = {}
        styled(self, "checks")
        self.setAccessibleName("Checks")
        self.setColumnCount(3)
        self.setHeaderLabels(["Check", "Verdict", "What came"])
        self.setIndentation(16)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        header = self.header()
        header.setStretchLastSection(True)
        header.setSectionsMovable(False)
        self._fit()
        self.currentItemChanged.connect(self._current_changed)
        self.itemChanged.connect(self._item_changed)

    def _fit(self) -> None:
        """The first two columns as wide as their longest words."""
        wide = self.fontMetrics().horizontalAdvance
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.header().resizeSection(CHECK, wide("Token counts in the stream") + 90)
        self.header().resizeSection(VERDICT, wide(Verdict.DEVIATES.words) + 40)

    # What is shown

    def show_plan(self, groups: Iterable[tuple[str, Sequence[Planned]]], unticked: Iterable[Key] = ()) -> None:
        """What can be asked, all of it ticked but those."""
        left_out = frozenset(unticked)
        self.headerItem().setText(WORDS, "What is asked, and what it may cost")
        self._begin()
        for heading, rows in groups:
            top = self._heading(heading, ticks=True)
            for key, title, asks, cost in rows:
                item = self._line(top, key, title)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                off = key in left_out
                item.setCheckState(CHECK, Qt.CheckState.Unchecked if off else Qt.CheckState.Checked)
                self._say(item, f"{asks} [{cost}]")
        self.blockSignals(False)

    def show_report(self, groups: Iterable[tuple[str, Sequence[Line]]]) -> None:
        """What came of a series that was made."""
        self.headerItem().setText(WORDS, "What came")
        self._begin()
        for heading, lines in groups:
            top = self._heading(heading, ticks=False)
            for line in lines:
                self._fill(self._line(top, line.key, line.title), line)
        self.blockSignals(False)

    def begin_run(self) -> None:
        """What is ticked will be made now: nothing can be ticked any more."""
        self.headerItem().setText(WORDS, "What came")
        self.blockSignals(True)
        for key, item in self._items.items():
            wanted = item.checkState(CHECK) is Qt.CheckState.Checked
            self._say(item, "" if wanted else "Not ticked")
            item.setDisabled(not wanted)
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
            self._made.pop(key, None)
        self.blockSignals(False)

    def show_begun(self, key: Key) -> None:
        """That one is being asked."""
        if (item := self._items.get(key)) is not None:
            item.setText(VERDICT, "asking…")
            self.scrollToItem(item)

    def show_line(self, line: Line) -> None:
        """That one is made."""
        if (item := self._items.get(line.key)) is not None:
            self._fill(item, line)
            if item is self.currentItem():
                self.chosen.emit(line.key)

    # What is chosen

    @property
    def wanted(self) -> list[Key]:
        """Those that are ticked, in their order."""
        return [key for key, item in self._items.items() if item.checkState(CHECK) is Qt.CheckState.Checked]

    @property
    def current(self) -> Key | None:
        """The key of the line that is looked at."""
        item = self.currentItem()
        key: Key | None = item.data(CHECK, _KEY) if item is not None else None
        return key

    @property
    def made(self) -> int:
        """How many lines are made."""
        return len(self._made)

    @property
    def unticked(self) -> list[Key]:
        """The others."""
        wanted = frozenset(self.wanted)
        return [key for key in self._items if key not in wanted]

    def line(self, key: Key) -> Line | None:
        """What came of a check; None before."""
        return self._made.get(key)

    def choose(self, key: Key) -> None:
        """Look at that line."""
        if (item := self._items.get(key)) is not None:
            self.setCurrentItem(item)

    def words(self, key: Key) -> tuple[str, str]:
        """The verdict and the sentence that stand in a line."""
        item = self._items[key]
        return item.text(VERDICT), item.text(WORDS)

    def tick(self, key: Key, on: bool) -> None:
        """Tick a line, or not."""
        self._items[key].setCheckState(CHECK, Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)

    # Making

    def _begin(self) -> None:
        self.blockSignals(True)
        self.clear()
        self._items, self._made = {}, {}

    def _heading(self, words: str, *, ticks: bool) -> QTreeWidgetItem:
        top = QTreeWidgetItem([show_hidden(words)])
        if ticks:
            top.setFlags(top.flags() | Qt.ItemFlag.ItemIsAutoTristate | Qt.ItemFlag.ItemIsUserCheckable)
        top.setSizeHint(CHECK, QSize(0, _ROW))  # the first row gives all of them their height
        font = self.font()
        font.setBold(True)
        top.setFont(CHECK, font)
        self.addTopLevelItem(top)
        top.setExpanded(True)
        return top

    def _line(self, top: QTreeWidgetItem, key: Key, title: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(top, [show_hidden(title)])
        item.setData(CHECK, _KEY, key)
        item.setSizeHint(CHECK, QSize(0, _ROW))
        self._items[key] = item
        return item

    def _fill(self, item: QTreeWidgetItem, line: Line) -> None:
        self._made[line.key] = line
        item.setIcon(VERDICT, icon(*SIGNS[line.verdict]))
        item.setText(VERDICT, line.verdict.words)
        notes = "".join(f"\n{one.note}" for one in line.deviations)
        self._say(item, line_words(line), notes)

    def _say(self, item: QTreeWidgetItem, words: str, notes: str = "") -> None:
        first = notes.strip().partition("\n")[0]
        shown = f"{words} · {first}" if first else words
        item.setText(WORDS, show_hidden(cut(" ".join(shown.split()), _MOST)))
        item.setToolTip(WORDS, tip(words + notes))

    def _current_changed(self, item: QTreeWidgetItem | None, _before: QTreeWidgetItem | None = None) -> None:
        self.chosen.emit(item.data(CHECK, _KEY) if item is not None else None)

    def _item_changed(self, item: QTreeWidgetItem, column: int) -> None:
        if column == CHECK and item.data(CHECK, _KEY) is not None:
            self.ticked.emit()
