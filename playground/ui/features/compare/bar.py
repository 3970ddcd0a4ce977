"""The bar of Compare in the tool bar: the experiment, options for all lanes, and adding a lane."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QMenu, QPushButton, QWidget

from playground.jsonkit.texts import quantity
from playground.ui.widgets.form_parts import ExperimentTitle, push_button, styled, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row

MIN_TITLE, MAX_TITLE = 80, 180  # pixels
SPACING = 8


class LanesBar(QWidget):
    """Tool bar of Compare. Its owner fills ``menu``, the lanes to add, whenever the menu is about to open."""

    list_asked = Signal()  # to show the list of experiments
    together_set = Signal(bool)
    marking_set = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.title = ExperimentTitle(MAX_TITLE)
        self.title.clicked.connect(self.list_asked)
        self._count = text_label("", "muted")
        self.together = QCheckBox("Scroll together")
        self.together.setToolTip("Scroll lanes together, message by message")
        self.together.toggled.connect(self.together_set)
        self.add = styled(QPushButton("Lane"), "bare-menu")
        self.add.setIcon(icon("plus"))
        self.add.setAccessibleName("Add a lane")
        self.menu = QMenu(self.add)
        self.menu.setToolTipsVisible(True)
        self.add.setMenu(self.menu)
        self.mark = push_button("")
        self.mark.setCheckable(True)
        self.mark.setAccessibleName("Highlight differences")
        self.mark.setToolTip("Highlight text that lane A's answers do not have, and compare requests and metrics")
        self.mark.toggled.connect(self.marking_set)
        self._parts = (self._count, self.together, self.add, self.mark)
        in_row(self.title, *self._parts, 1, parent=self, margins=0, spacing=SPACING)

    def show_lanes(self, title: str, count: int, *, together: bool, marking: bool, full: str) -> None:
        """Show the experiment and the options; ``full`` is the reason if no lane can be added."""
        self.title.set_title(title)
        self._count.setText(quantity(count, "lane"))
        for button, on in ((self.together, together), (self.mark, marking)):
            button.blockSignals(True)
            button.setChecked(on)
            button.blockSignals(False)
        self._fit()
        self.add.setEnabled(not full)
        self.add.setToolTip(full or "Add a lane: a copy, a preset, other models, this message's alternatives")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Use short labels where long ones leave too little room for the title."""
        self._set_labels(wide=True)
        needed = sum(part.sizeHint().width() + SPACING for part in self._parts)
        if self.width() - needed < MIN_TITLE:
            self._set_labels(wide=False)

    def _set_labels(self, *, wide: bool) -> None:
        self.together.setText("Scroll together" if wide else "Together")
        self.mark.setText("Highlight differences" if wide else "Differences")
        self._count.setVisible(wide)

    def minimumSizeHint(self) -> QSize:
        """Return the width with short labels and a part of the title."""
        return QSize(260, super().minimumSizeHint().height())
