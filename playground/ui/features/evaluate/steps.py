"""The steps of an evaluation as tabs: cases, variants, checks, run, each with its state below its title."""

from __future__ import annotations

from typing import Final, NamedTuple

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QTabBar

from playground.jsonkit.texts import quantity
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.widgets.icons import icon
from playground.ui.widgets.theme import SMALL_PX, body_font, tokens

CASES, VARIANTS, CHECKS, RUN = "Cases", "Variants", "Checks", "Run"
STEPS: Final = (CASES, VARIANTS, CHECKS, RUN)
HEIGHT, SIGN = 50, 12  # pixels
LEAST: Final = 60  # pixels of a step


class StepState(NamedTuple):
    """The state of a step in words. ``sign`` is an icon with its colour, or empty."""

    words: str
    sign: tuple[str, str] | None = None

    @property
    def is_done(self) -> bool:
        """Return whether nothing has to be done in this step."""
        return self.sign == DONE


DONE: Final = ("check", "ok")
_WRONG: Final = ("error", "error")


def step_states(evaluation: EvaluationModel) -> dict[str, StepState]:
    """Return the states of all steps."""
    plan = evaluation.plan
    problems = dict.fromkeys(STEPS, 0)
    for problem in evaluation.problems:
        problems[problem.place.capitalize()] += 1
    cases, variants = len(plan.cases), len(plan.variants) + plan.as_set
    checks = len(plan.checks) or sum(len(case.checks) for case in plan.cases)
    states = {}
    for step, count, word in ((CASES, cases, "case"), (VARIANTS, variants, "variant"), (CHECKS, checks, "check")):
        if not count:
            states[step] = StepState(f"needs a {word}")
        elif problems[step]:
            states[step] = StepState(quantity(problems[step], "problem"), _WRONG)
        else:
            states[step] = StepState(quantity(count, word), DONE)
    done, total = evaluation.results.count, evaluation.total
    if problems[RUN]:
        states[RUN] = StepState(quantity(problems[RUN], "problem"), _WRONG)
    elif evaluation.complete and (failed := evaluation.results.failed):
        states[RUN] = StepState(f"{failed:,} failed", _WRONG)
    elif done or evaluation.under_way:
        states[RUN] = StepState(f"{done:,} of {total:,}", DONE if evaluation.complete else None)
    else:
        states[RUN] = StepState("not ready" if evaluation.problems or not cases else "ready")
    return states


class Steps(QTabBar):
    """The tabs of the steps, all of the same width."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Plan of the evaluation")
        self.setDrawBase(False)
        self.setExpanding(True)
        self.setUsesScrollButtons(False)
        self._states: dict[str, StepState] = {}
        self._small = body_font(SMALL_PX - 1)
        for step in STEPS:
            self.addTab(step)

    def show_states(self, states: dict[str, StepState]) -> None:
        """Show the state of each step."""
        if states != self._states:
            self._states = states
            for index, step in enumerate(STEPS):
                self.setAccessibleTabName(index, f"{step}: {states[step].words}")
                self.setTabToolTip(index, states[step].words)
            self.update()

    def show_step(self, step: str) -> None:
        """Bring a step to the front."""
        self.setCurrentIndex(STEPS.index(step))

    def tabSizeHint(self, index: int) -> QSize:
        return QSize(max(self.width() // len(STEPS), LEAST), HEIGHT)

    def minimumTabSizeHint(self, index: int) -> QSize:
        return QSize(LEAST, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, t = QPainter(self), tokens()
        title_font, title_height = QFont(self.font()), QFontMetrics(self.font()).height()
        small = QFontMetrics(self._small)
        for index, step in enumerate(STEPS):
            tab, is_current = self.tabRect(index), index == self.currentIndex()
            inner = tab.adjusted(8, 7, 0, -6)
            if index:
                icon("chevron-right", "line").paint(painter, tab.left() - 5, inner.top() - 1, SIGN, SIGN)
            title_font.setWeight(QFont.Weight.DemiBold if is_current else QFont.Weight.Normal)
            painter.setFont(title_font)
            painter.setPen(QColor(t.accent if is_current else t.text))
            painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, step)
            state = self._states.get(step, StepState(""))
            line = QRect(inner.left(), inner.top() + title_height + 1, inner.width() - 2, small.height())
            if state.sign is not None:
                icon(*state.sign).paint(painter, line.left(), line.top() + (line.height() - SIGN) // 2 + 1, SIGN, SIGN)
                line.setLeft(line.left() + SIGN + 3)
            painter.setFont(self._small)
            painter.setPen(QColor(t.error if state.sign == _WRONG else t.muted))
            elided = small.elidedText(state.words, Qt.TextElideMode.ElideRight, line.width())
            painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, elided)
            if is_current:
                painter.fillRect(QRect(tab.left(), tab.bottom() - 1, tab.width(), 2), QColor(t.accent))
            if is_current and self.hasFocus():
                painter.setPen(QColor(t.accent))
                painter.drawRoundedRect(tab.adjusted(1, 1, -2, -4), 4, 4)
        painter.end()
