"""One plot on the page: its title, what it shows, the picture or the table behind it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QSizePolicy

from playground.ui.features.evaluate.plots.chart import BELOW, Chart
from playground.ui.features.evaluate.plots.scene import Plot
from playground.ui.features.evaluate.plots.table import RowsTable
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import quiet_button, styled, text_label
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.plain_text import tip

LEAST: Final = 330  # pixels
AROUND: Final = BELOW + 80


class PlotCard(QFrame):
    """``pressed`` tells the target of a point, a bar or a row; ``save_asked`` that its picture is to be saved."""

    pressed = Signal(object)
    save_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        styled(self, "card")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.plot: Plot | None = None
        self.title = text_label("", "heading")
        self.subtitle = ElidedLabel("", colour="muted")
        self.as_table = quiet_button("Table", "The numbers behind this plot")
        self.as_table.setCheckable(True)
        self.as_table.toggled.connect(self._show_table)
        self.save = quiet_button("Save…", "Save this plot as a picture")
        self.save.clicked.connect(self.save_asked)
        self.chart = Chart()
        self.chart.pressed.connect(self.pressed)
        self.table: RowsTable | None = None
        self._pages = in_pages(self.chart)
        head = in_row((self.title, 1), self.as_table, self.save, spacing=4)
        in_column(head, self.subtitle, (self._pages, 1), parent=self, margins=(14, 10, 10, 10), spacing=4)

    def show_plot(self, plot: Plot) -> None:
        """Show this one; nothing is drawn again where it is the same."""
        if plot == self.plot:
            return
        self.plot = plot
        self.title.setText(plot.title)
        self.subtitle.set_text(plot.subtitle)
        self.subtitle.setToolTip(tip(plot.subtitle))
        self.setAccessibleName(plot.title)
        self.chart.setAccessibleName(f"{plot.title}: {plot.subtitle}. Table shows its numbers.")
        self.chart.show_scene(plot.scene)
        self.setFixedHeight(max(LEAST, plot.scene.height + AROUND))
        self._fill()

    def _fill(self) -> None:
        if self.table is not None and self.plot is not None and self.as_table.isChecked():
            self.table.show_rows(self.plot.header, self.plot.rows)

    def _show_table(self, on: bool) -> None:
        if on and self.table is None:
            self.table = RowsTable("Numbers behind the plot")
            self.table.pressed.connect(self.pressed)
            self._pages.addWidget(self.table)
        self._fill()
        self._pages.setCurrentIndex(int(on))
