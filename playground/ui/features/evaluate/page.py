"""The page of an evaluation: run bar, views of its answers, what is chosen below them, what it is made of beside them.

What is not seen is not made: a view, a panel when its name is first chosen.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from playground.engine.evaluate.inquiry import PlanProblem
from playground.ui.features.evaluate.look import Look
from playground.ui.features.evaluate.run_bar import RunBar
from playground.ui.features.host import Host
from playground.ui.widgets.form_parts import thin_line
from playground.ui.widgets.layouts import in_column, in_row, split
from playground.ui.widgets.segments import Segments
from playground.ui.widgets.side_panel import SidePanel

SIDE: Final = 330  # pixels
CASES, CHECKS, RUN, VARIANTS = "Cases", "Checks", "Run", "Variants"
PANELS: Final = (VARIANTS, CASES, CHECKS, RUN)
#: Which panel has the part of a plan that a problem is about.
_PLACES: Final = {"cases": CASES, "checks": CHECKS, "run": RUN, "variants": VARIANTS}
TABLE: Final = "Table"
VIEWS: Final = (TABLE,)


class EvaluatePage(QWidget):
    """``asked`` tells what is to be done with the run (``RunBar``), ``again_asked`` a cell that is to be asked anew."""

    asked = Signal(str)
    again_asked = Signal(object, object)

    def __init__(self, look: Look, host: Host) -> None:
        super().__init__()
        self._look, self._host = look, host
        self.run_bar = RunBar(look)
        self.run_bar.asked.connect(self.asked)
        self.views = Segments(VIEWS, "View of the answers", tall=True)
        self.views.chosen.connect(self._show_view)
        self._stack = QStackedWidget()
        self._made: dict[str, QWidget] = {}
        self.side = SidePanel(PANELS)
        self.side.tabs.currentChanged.connect(self._show_panel)
        self._panels: set[str] = set()
        main = QWidget()
        tools = in_row(self.views, 1, margins=(18, 8, 18, 8), spacing=12)
        in_column(self.run_bar, thin_line(), tools, thin_line(), (self._stack, 1), of=main, margins=0, spacing=0)
        in_row(split(main, self.side, sizes=(1110, SIDE), thin=True), of=self, margins=0)
        look.planned.connect(self._show_counts)

    def focus(self) -> None:
        """Have the keys."""
        self.views.buttons[self.views.index].setFocus()

    def show_problem(self, problem: PlanProblem) -> None:
        """Show the panel that has the part of the plan a problem is about."""
        self.side.show_page(_PLACES[problem.place])

    def _show_counts(self) -> None:
        inquiry = self._look.inquiry
        for title, count in (
            (VARIANTS, len(inquiry.columns)),
            (CASES, len(inquiry.cases)),
            (CHECKS, len(inquiry.plan.checks)),
        ):
            self.side.set_count(title, count)

    def _show_view(self, index: int) -> None:
        """The view of that number, made when it is first shown."""

    def _show_panel(self, index: int) -> None:
        """The panel of that number, made when it is first shown."""
