"""The models a gateway lists, as they are offered: some of them at a time, each on a line, however many and long.

A list of a hundred thousand, or an id of a megabyte, is something else than a menu: what Qt lays out is bounded here,
and nothing that is chosen is another id than the one that was listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QCompleter

from playground.ui.widgets.plain_text import show_hidden

SHOWN: Final = 200  # lines of a list
LONGEST: Final = 1_000  # characters of an id that stands in a field as it is
_ENDS: Final = 100
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT: Final = QModelIndex()


class Ids:
    """The ids of one list, searched and spelled for a field of one line."""

    def __init__(self, ids: Sequence[str] = ()) -> None:
        self.all = tuple(ids)
        self._odd: dict[str, str] = {}  # by how it is spelled here

    @cached_property
    def folded(self) -> list[str]:
        """Each id without its case, as far as it is searched."""
        return [one[:LONGEST].casefold() for one in self.all]

    def found(self, text: str) -> Iterator[str]:
        """The ids that have ``text`` in them, in their order."""
        part = text.strip().casefold()
        if not part:
            return iter(self.all)
        return (one for one, folded in zip(self.all, self.folded, strict=True) if part in folded)

    def spelled(self, model: str) -> str:
        """As it stands in a field: whole, or, of one that is too long to be edited, both ends and its length."""
        if len(model) <= LONGEST and model == model.strip():
            return model
        spelled, number = model, 1
        while len(model) > LONGEST and (number == 1 or self._odd.get(spelled, model) != model):
            which = f", no. {number}" if number > 1 else ""
            spelled = f"{model[:_ENDS]}… ‹{len(model):,} characters{which}› …{model[-_ENDS:]}"
            number += 1
        self._odd[spelled] = model
        return spelled

    def meant(self, text: str) -> str:
        """The id that text in a field stands for: what somebody typed, but for what ``spelled`` gave."""
        return self._odd.get(text, text.strip())


class Offer(QAbstractListModel):
    """Some ids, a line each; a last line that cannot be chosen says that there are more."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lines: list[str] = []
        self._more = ""

    def show_found(self, ids: Ids, text: str = "") -> None:
        """Offer the first ids that have ``text`` in them."""
        found = ids.found(text)
        self.beginResetModel()
        self._lines = [ids.spelled(one) for one in islice(found, SHOWN)]
        self._more = "" if next(found, None) is None else "… more: type to find"
        self.endResetModel()

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._lines) + bool(self._more)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = index.row()
        if role == Qt.ItemDataRole.DisplayRole:
            return show_hidden(self._lines[row]) if row < len(self._lines) else self._more
        if role == Qt.ItemDataRole.EditRole and row < len(self._lines):
            return self._lines[row]
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if index.row() < len(self._lines):
            return super().flags(index)
        return Qt.ItemFlag.ItemNeverHasChildren


class ModelCompleter(QCompleter):
    """Offers what is found as one types; nothing is chosen before a person goes to it."""

    def __init__(self, parent: QObject) -> None:
        self._offer = Offer(parent)
        self.ids = Ids()
        super().__init__(self._offer, parent)

    def splitPath(self, path: str) -> list[str]:
        """What Qt searches for in the lines: nothing, for all of them are what was found of the text."""
        self._offer.show_found(self.ids, path)
        return [""]
