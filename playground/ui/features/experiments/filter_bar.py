"""Which experiments are shown: a button with a menu of filters, and a chip for each one in force."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from playground.engine.library.store import Filters
from playground.engine.requests.spoken import TITLES
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.plain_text import show_prose, tip

USUAL = Filters(archived=False)
_LONGEST = 24  # letters of a model's name on a chip
#: Filters that are on or off: the attribute, the value in force, the words.
_SWITCHES: tuple[tuple[str, bool, str], ...] = (
    ("has_error", True, "Has an error"),
    ("has_tools", True, "Has tools"),
    ("archived", True, "Archived"),
)


class FilterChips(QWidget):
    """The filters in force; ``changed`` says that they are others. ``button`` opens the menu, and stands elsewhere."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.filters = USUAL
        self._models: tuple[str, ...] = ()
        self.button = IconButton("filter", "Filter the experiments")
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.menu = QMenu(self.button)
        self.menu.aboutToShow.connect(self._fill)
        self.button.setMenu(self.menu)
        self.chips: list[QPushButton] = []
        self._flow = FlowLayout(self, gap=4)
        self._show()

    def set_models(self, models: Iterable[str]) -> None:
        """The models to choose from."""
        self._models = tuple(sorted({model for model in models if model}))

    def set_filters(self, filters: Filters) -> None:
        """Put these in force."""
        if filters != self.filters:
            self.filters = filters
            self._show()
            self.changed.emit()

    def clear(self) -> None:
        """No filter but that what is archived is not shown."""
        self.set_filters(USUAL)

    def _fill(self) -> None:
        menu = self.menu
        menu.clear()
        models = menu.addMenu("Model")
        models.setEnabled(bool(self._models))
        for model in self._models:
            self._add(models, show_prose(model).replace("&", "&&"), "model", model, "")
        for name, title in TITLES.items():
            self._add(menu, title, "protocol", name, "")
        menu.addSeparator()
        for attribute, value, words in _SWITCHES:
            self._add(menu, words, attribute, value, getattr(USUAL, attribute))
        menu.addSeparator()
        menu.addAction("No filter").triggered.connect(self.clear)

    def _add(self, menu: QMenu, words: str, attribute: str, value: Any, off: Any) -> QAction:
        action = menu.addAction(words)
        action.setCheckable(True)
        on = getattr(self.filters, attribute) == value
        action.setChecked(on)
        action.triggered.connect(partial(self._set, attribute, off if on else value))
        return action

    def _set(self, attribute: str, value: Any, _checked: bool = False) -> None:
        self.set_filters(replace(self.filters, **{attribute: value}))

    def _show(self) -> None:
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = []
        model, protocol = self.filters.model, self.filters.protocol
        if model:
            words = show_prose(model if len(model) <= _LONGEST else model[: _LONGEST - 1] + "…")
            self._chip(words, f"the model {show_prose(model)}", "model", "")
        if protocol:
            self._chip(TITLES.get(protocol, protocol), TITLES.get(protocol, protocol), "protocol", "")
        for attribute, value, words in _SWITCHES:
            if getattr(self.filters, attribute) == value:
                self._chip(words, words, attribute, getattr(USUAL, attribute))
        self.setVisible(bool(self.chips))

    def _chip(self, words: str, spoken: str, attribute: str, off: Any) -> None:
        chip = QPushButton(f"{words} ×".replace("&", "&&"), self)
        chip.setProperty("kind", "pill")
        chip.setAccessibleName(f"Take the filter away: {spoken}")
        chip.setToolTip(tip(f"Take the filter away: {spoken}"))
        chip.clicked.connect(partial(self._set, attribute, off))
        chip.show()
        self.chips.append(chip)
        self._flow.addWidget(chip)
