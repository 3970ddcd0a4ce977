"""The lines of a gateway check by protocol: the requests with their maximum cost, then the results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem

from playground.engine.gateway_check.report import Line, Verdict, line_words
from playground.jsonkit.texts import cut
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import show_hidden, tip

Key: TypeAlias = tuple[str, str]
#: A line before its check: key, title, description, maximum cost.
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
    """The lines. ``chosen`` carries the key of the current line or None, ``ticked`` is emitted when a box changes."""

    chosen = Signal(object)
    ticked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[Key, QTreeWidgetItem] = {}
        self._results: dict[Key, Line] = {}
        styled(self, "checks")
        self.setAccessibleName("Checks")
        self.setColumnCount(3)
        self.setHeaderLabels(["Check", "Status", "Result"])
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
        """Fit the first two columns to their longest words."""
        wide = self.fontMetrics().horizontalAdvance
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.header().resizeSection(CHECK, wide("Token counts in the stream") + 90)
        self.header().resizeSection(VERDICT, wide(Verdict.DEVIATES.words) + 40)

    # Content

    def show_plan(self, groups: Iterable[tuple[str, Sequence[Planned]]], unticked: Iterable[Key] = ()) -> None:
        """Show the possible checks, all ticked but ``unticked``."""
        left_out = frozenset(unticked)
        self.headerItem().setText(WORDS, "Request and maximum cost")
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

    def show_report(
        self, groups: Iterable[tuple[str, Sequence[Line]]], others: Mapping[str, Sequence[Line]] = MappingProxyType({})
    ) -> None:
        """Show the lines of a report, and the checks that were not part of it by heading."""
        self.headerItem().setText(WORDS, "Result")
        self._begin()
        displayed = dict(groups)
        for heading in dict.fromkeys((*displayed, *others)):
            lines = [*displayed.get(heading, ()), *others.get(heading, ())]
            if not lines:
                continue
            top = self._heading(heading, ticks=False)
            for line in lines:
                self._fill(self._line(top, line.key, line.title), line)
        self.blockSignals(False)

    def begin_run(self) -> None:
        """Show that the ticked checks run now; boxes are removed."""
        self.headerItem().setText(WORDS, "Result")
        self.blockSignals(True)
        for key, item in self._items.items():
            is_ticked = item.checkState(CHECK) is Qt.CheckState.Checked
            self._say(item, "" if is_ticked else "Skipped: not selected")
            item.setDisabled(not is_ticked)
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
            self._results.pop(key, None)
        self.blockSignals(False)

    def show_begun(self, key: Key) -> None:
        """Mark the check that is running."""
        if (item := self._items.get(key)) is not None:
            item.setText(VERDICT, "running…")
            self.scrollToItem(item)

    def show_line(self, line: Line) -> None:
        """Show the result of a check."""
        if (item := self._items.get(line.key)) is not None:
            self._fill(item, line)
            if item is self.currentItem():
                self.chosen.emit(line.key)

    # Selection

    @property
    def ticked_keys(self) -> list[Key]:
        """The ticked checks in order."""
        return [key for key, item in self._items.items() if item.checkState(CHECK) is Qt.CheckState.Checked]

    @property
    def current(self) -> Key | None:
        """The key of the current line, or None."""
        item = self.currentItem()
        key: Key | None = item.data(CHECK, _KEY) if item is not None else None
        return key

    @property
    def completed(self) -> int:
        """The number of results."""
        return len(self._results)

    @property
    def unticked(self) -> list[Key]:
        """The checks that are not ticked."""
        ticked = frozenset(self.ticked_keys)
        return [key for key in self._items if key not in ticked]

    def line(self, key: Key) -> Line | None:
        """Return the result of a check, or None before."""
        return self._results.get(key)

    def choose(self, key: Key) -> None:
        """Select a line."""
        if (item := self._items.get(key)) is not None:
            self.setCurrentItem(item)

    def words(self, key: Key) -> tuple[str, str]:
        """Return the texts of a line: verdict and sentence."""
        item = self._items[key]
        return item.text(VERDICT), item.text(WORDS)

    def tick(self, key: Key, on: bool) -> None:
        """Tick or untick a line."""
        self._items[key].setCheckState(CHECK, Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)

    # Items

    def _begin(self) -> None:
        self.blockSignals(True)
        self.clear()
        self._items, self._results = {}, {}

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
        self._results[line.key] = line
        item.setIcon(VERDICT, icon(*SIGNS[line.verdict]))
        item.setText(VERDICT, line.verdict.words)
        notes = "".join(f"\n{deviation.note}" for deviation in line.deviations)
        self._say(item, line_words(line), notes)

    def _say(self, item: QTreeWidgetItem, words: str, notes: str = "") -> None:
        first = notes.strip().partition("\n")[0]
        text = f"{words} · {first}" if first else words
        item.setText(WORDS, show_hidden(cut(" ".join(text.split()), _MOST)))
        item.setToolTip(WORDS, tip(words + notes))

    def _current_changed(self, item: QTreeWidgetItem | None, _before: QTreeWidgetItem | None = None) -> None:
        self.chosen.emit(item.data(CHECK, _KEY) if item is not None else None)

    def _item_changed(self, item: QTreeWidgetItem, column: int) -> None:
        if column == CHECK and item.data(CHECK, _KEY) is not None:
            self.ticked.emit()
