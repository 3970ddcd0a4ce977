"""The run of an evaluation: what keeps it from running, its estimate, its options, and the saved answers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout

from playground.domain.durations import span
from playground.domain.hints import hints_of
from playground.engine.evaluation.answers import AnswersError
from playground.engine.session.plan import Budget, Plan
from playground.jsonkit.problems import Problem
from playground.jsonkit.texts import listed, quantity
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.widgets.dialogs import agreed
from playground.ui.widgets.fold import Fold
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.problem_line import ProblemList
from playground.ui.widgets.rows.form import Form, form_for
from playground.ui.widgets.scroll_page import ScrollPage

if TYPE_CHECKING:
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.resolved import PlanProblem

MOST_NAMED: Final = 200  # listed problems
NOTHING: Final = "Budget is 0; nothing can run. Raise it, or leave it empty."
FINE: Final = "Ready to run."
LIMITS: Final = "Limits"


class RunPanel(ScrollPage):
    """The panel; its options are folded. ``place_asked`` carries the problem (``PlanProblem``) to show."""

    place_asked = Signal(object)

    def __init__(self, evaluation: EvaluationModel) -> None:
        super().__init__()
        self._evaluation = evaluation
        self._column = column = self.fill(16)
        self.ready = text_label(FINE, "small", wrap=True)
        self.problems = ProblemList()
        self.problems.chosen.connect(self._go_to)
        self.estimate = text_label("", wrap=True)
        self.estimate.setAccessibleName("Estimate")
        column.addLayout(in_column(self.ready, self.problems, spacing=10))
        self._group("Remaining cost").addWidget(self.estimate)
        self.folds: dict[str, Fold] = {}
        self.forms: dict[str, Form[Plan]] = {}
        hints = hints_of(Plan)
        for group in dict.fromkeys(hint.group for hint in hints.values()):
            own = {name: replace(hint, group="") for name, hint in hints.items() if hint.group == group}
            form = self.forms[group] = form_for(Plan, hints=own, is_wide=False)
            form.set_value(evaluation.plan)
            form.changed.connect(partial(self._edited, form))
            fold = self.folds[group] = Fold(group, form)
            column.addWidget(fold)
        self.saved_answers = text_label("", "small", wrap=True)
        self.saved_answers.setObjectName("savedAnswers")
        self.forget_stale = push_button("Delete outdated answers…")
        self.forget_stale.setToolTip("Delete answers to earlier versions of the evaluation")
        self.forget_all = push_button("Delete all answers…")
        self.forget_recorded = push_button("Delete recorded calls…")
        self.forget_recorded.setToolTip("Delete recorded results of tool calls; the next run calls the servers again")
        self.forget_recorded.clicked.connect(self._forget_recorded)
        self.forget_stale.clicked.connect(partial(self._forget, self.forget_stale))
        self.forget_all.clicked.connect(partial(self._forget, self.forget_all))
        answers = self._group("Saved answers")
        answers.addWidget(self.saved_answers)
        for button in (self.forget_stale, self.forget_all, self.forget_recorded):
            answers.addLayout(in_row(button, 1))
        column.addStretch(1)
        evaluation.planned.connect(self._show_plan)
        evaluation.moved.connect(self._show_kept)
        evaluation.estimated.connect(self._show_estimate)
        evaluation.figured.connect(self._show_kept)
        self._show_plan()

    def _group(self, title: str) -> QVBoxLayout:
        box = in_column(text_label(title, "group"), spacing=10)
        self._column.addLayout(box)
        return box

    # The plan

    def _show_plan(self) -> None:
        plan, problems = self._evaluation.plan, self._evaluation.problems
        for form in self.forms.values():
            if _changes(form, plan):
                form.set_value(plan)
        self._show_flags()
        limits = [name for name in Budget.model_fields if getattr(plan.budget, name) is not None]
        self.folds[LIMITS].set_count(f"{len(limits)} set" if limits else "none")
        self.ready.setVisible(self._evaluation.ready and not problems)
        self.problems.show_problems([Problem((), problem.words) for problem in problems[:MOST_NAMED]])
        self._show_kept()
        self._show_estimate()

    def _edited(self, form: Form[Plan], plan: Plan, _errors: dict[str, str]) -> None:
        changes = _changes(form, self._evaluation.plan)
        if changes:
            self._evaluation.change(**{name: getattr(plan, name) for name in changes})
        self._show_flags()

    def _show_flags(self) -> None:
        """Show the warnings of limits."""
        budget = self._evaluation.plan.budget
        flags = {f"budget.{name}": NOTHING for name in Budget.model_fields if getattr(budget, name) == 0}
        if budget.money:
            flags["budget.money"] = self._unpriced()
        self.forms[LIMITS].show_flags(flags)

    def _unpriced(self) -> str:
        """Return a warning that names models without a price, or ""."""
        settings = {column.settings.model: column.settings for column in self._evaluation.resolved.columns}
        entered = self._evaluation.entered
        models = [name for name, used in settings.items() if name and entered(used.profile_id, name) is None]
        if not models:
            return ""
        more = [f"{len(models) - 3} others"] if len(models) > 3 else []
        return f"No price for {listed([*models[:3], *more])}: only costs reported by the gateway count."

    def show_problem(self, _problem: PlanProblem) -> None:
        """Focus the first budget that is 0."""
        budget = self._evaluation.plan.budget
        name = next((name for name in Budget.model_fields if getattr(budget, name) == 0), None)
        if name is not None:
            self.folds[LIMITS].set_open(True)
            self.forms[LIMITS].focus(f"budget.{name}")

    def _go_to(self, problem: Problem) -> None:
        match = next((candidate for candidate in self._evaluation.problems if candidate.words == problem.message), None)
        if match is not None:
            self.place_asked.emit(match)

    # Estimate

    def _show_estimate(self) -> None:
        estimate = self._evaluation.estimate
        if estimate is not None:
            words = estimate.words[:1].upper() + estimate.words[1:]
            say(self.estimate, f"{words} · ≈ {span(round(estimate.seconds, 1))}" if estimate.seconds else words)

    # Saved answers

    def _show_kept(self) -> None:
        evaluation = self._evaluation
        count, stale = evaluation.results.count, len(evaluation.stale)
        words = f"{count:,} current answers"
        words += f", {stale:,} outdated" if stale else ""
        say(self.saved_answers, words if evaluation.ready else "")
        is_running = evaluation.under_way
        self.forget_stale.setEnabled(bool(stale) and not is_running)
        self.forget_all.setEnabled(bool(count or stale) and not is_running)
        self.forget_recorded.setVisible(evaluation.plan.record)
        self.forget_recorded.setEnabled(not is_running)

    def _forget(self, button: QPushButton, _checked: bool = False) -> None:
        evaluation = self._evaluation
        every = button is self.forget_all
        answers = [*(evaluation.results.answers.values() if every else ()), *evaluation.stale]
        spawn(self._ask_forget(answers, every=every), name="delete answers")

    async def _ask_forget(self, answers: list[Answer], *, every: bool) -> None:
        count = quantity(len(answers), "answer")
        title = "Delete all answers" if every else "Delete outdated answers"
        more = "Their messages, events, verdicts and votes will be permanently deleted. This cannot be undone."
        if not await agreed(self.window(), title, f"Delete {count}?", more, title):
            return
        try:
            await self._evaluation.forget(answers)
        except AnswersError as error:
            self._evaluation.refused.emit(str(error))

    def _forget_recorded(self, _checked: bool = False) -> None:
        spawn(self._ask_forget_recorded(), name="delete recorded calls")

    async def _ask_forget_recorded(self) -> None:
        evaluation = self._evaluation
        try:
            count = await evaluation.recorded()
            if not count:
                evaluation.refused.emit("No tool calls are recorded yet.")
                return
            words = f"Delete the recorded results of {quantity(count, 'call')}?"
            more = "The next run calls the tool servers again. This cannot be undone."
            if await agreed(self.window(), "Delete recorded calls", words, more, "Delete"):
                await evaluation.forget_recorded()
        except AnswersError as error:
            evaluation.refused.emit(str(error))


def _changes(form: Form[Plan], plan: Plan) -> list[str]:
    """Return the fields in the rows of a form whose value there is another one than in ``plan``."""
    fields = dict.fromkeys(name.partition(".")[0] for name in form.rows)
    return [name for name in fields if getattr(form.value, name) != getattr(plan, name)]
