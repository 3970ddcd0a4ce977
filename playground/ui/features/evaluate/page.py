"""The Evaluate page: run bar, views of the answers, details below them, and the panels of the plan at the side."""

from __future__ import annotations

from functools import partial
from typing import Final, Protocol, runtime_checkable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from playground.engine.evaluation.resolved import PlanProblem
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.parts import CASES, CHECKS, PANELS, RUN, VARIANTS, Parts
from playground.ui.features.evaluate.run_bar import RunBar
from playground.ui.features.evaluate.view_bar import TABLE, VIEWS, ViewBar
from playground.ui.widgets.form_parts import styled, thin_line
from playground.ui.widgets.layouts import in_column, in_row, split
from playground.ui.widgets.side_panel import SidePanel

SIDE: Final = 340  # pixels
DETAIL: Final = 230  # pixels
#: Which panel has the part of a plan that a problem is about.
_PLACES: Final = {"cases": CASES, "checks": CHECKS, "run": RUN, "variants": VARIANTS}


@runtime_checkable
class ShowsProblems(Protocol):
    """A panel that can show the very part of the plan a problem is about."""

    def show_problem(self, problem: PlanProblem) -> None:
        """Show the part of the plan that a problem is about."""


class EvaluatePage(QWidget):
    """The page. ``parts`` makes views and panels by name; ``asked`` carries a command of the run bar (``RunBar``)."""

    asked = Signal(str)

    def __init__(self, evaluation: EvaluationModel, bar: ViewBar, parts: Parts) -> None:
        super().__init__()
        self.setObjectName("evaluatePage")
        self._evaluation, self._parts = evaluation, parts
        self.run_bar = RunBar(evaluation)
        self.run_bar.asked.connect(self.asked)
        self.view_bar = bar
        bar.shown.connect(self.show_view)
        self._widgets: dict[str, QWidget] = {}
        self._stack = QStackedWidget()
        self.detail: QWidget | None = None
        self._halves = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._halves.addWidget(self._stack)
        self.side = SidePanel(PANELS)
        self.side.tabs.setAccessibleName("Plan of the evaluation")
        self.side.tabs.currentChanged.connect(lambda index: self.panel(PANELS[index]))
        top, main = styled(QWidget(), "surface"), QWidget()
        in_column(self.run_bar, thin_line(), bar, of=top, margins=0, spacing=0)
        in_column(top, thin_line(), (self._halves, 1), of=main, margins=0, spacing=0)
        self._split = split(main, self.side, sizes=(1440 - SIDE, SIDE), thin=True)
        self._split.setStretchFactor(0, 1)
        self._split.setStretchFactor(1, 0)
        in_row(self._split, of=self, margins=0)
        evaluation.planned.connect(self._show_counts)
        evaluation.chosen.connect(self._show_chosen)
        self.show_view(TABLE)
        QTimer.singleShot(0, self, partial(self.panel, VARIANTS))  # a step of its own: the table is seen first

    # What is shown

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self.isVisible():
            self._split.setSizes([max(self.width() - SIDE, SIDE), SIDE])

    @property
    def view(self) -> str:
        """The one that is shown."""
        return VIEWS[self.view_bar.views.index]

    def show_view(self, view: str) -> None:
        """Show a view; it is made when it is first shown."""
        widget = self._widgets.get(view)
        if widget is None:
            widget = self._widgets[view] = self._parts.view(view, self.view_bar)
            self._stack.addWidget(widget)
        self._stack.setCurrentWidget(widget)
        self.view_bar.show_view(view)
        if self.detail is not None:
            self.detail.setVisible(view == TABLE and self._evaluation.case is not None)

    def panel(self, name: str) -> QWidget:
        """A panel, made when it is first asked for."""
        widget = self._widgets.get(name)
        if widget is None:
            widget = self._widgets[name] = self._parts.panel(name, self.show_problem)
            self.side.fill(name, widget)
        return widget

    def show_panel(self, name: str) -> QWidget:
        """Bring a panel to the front."""
        self.side.show_page(name)
        return self.panel(name)

    def show_problem(self, problem: PlanProblem) -> None:
        """Show the panel that has the part of the plan a problem is about, and where in it that is."""
        panel = self.show_panel(_PLACES[problem.place])
        if isinstance(panel, ShowsProblems):
            panel.show_problem(problem)

    def _show_counts(self) -> None:
        resolved = self._evaluation.resolved
        counts = {VARIANTS: len(resolved.columns), CASES: len(resolved.cases), CHECKS: len(resolved.plan.checks)}
        for title, count in counts.items():
            self.side.set_count(title, count)

    def _show_chosen(self) -> None:
        """Show the details of the selected answer."""
        if self._evaluation.case is None:
            if self.detail is not None:
                self.detail.hide()
            return
        if self.detail is None:
            self.detail = self._parts.detail()
            self._halves.addWidget(self.detail)
            height = self._halves.height()
            self._halves.setSizes([height - DETAIL, DETAIL])
            self._halves.setStretchFactor(0, 1)
        self.show_view(TABLE)

    # Keys

    def focus(self) -> None:
        """Have the keys."""
        self._widgets[self.view].setFocus()

    def look_for(self) -> None:
        """Find a case or an answer."""
        self.show_view(TABLE)
        self.view_bar.search.setFocus()
        self.view_bar.search.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._evaluation.case is not None:
            self._evaluation.choose(None)
        else:
            super().keyPressEvent(event)
