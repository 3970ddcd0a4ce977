"""The run options of an evaluation, its estimate and problems, and the saved answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from playground.domain.durations import span
from playground.domain.parameters import Hint
from playground.engine.evaluation.answers import AnswersError
from playground.engine.session.plan import MOST_AT_ONCE, MOST_REPEATS, Budget, Keep, Order, Plan
from playground.jsonkit.problems import Problem
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSON
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.widgets.choice_fields import CompactCombo
from playground.ui.widgets.dialogs import agreed
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.problem_line import ProblemList
from playground.ui.widgets.rows.kinds import row_for
from playground.ui.widgets.rows.row import FieldRow
from playground.ui.widgets.scroll_page import ScrollPage

if TYPE_CHECKING:
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.resolved import PlanProblem

MOST_NAMED: Final = 200  # listed problems
NOTHING: Final = "Budget is 0; nothing can run. Raise it, or leave it empty."
FINE: Final = "Ready to run."
_PLAN: Final = Plan()


def _hint(group: str, label: str, editor: str, help_: str, *, start: object, **more: float) -> Hint:
    return Hint(label, group, editor, help_, start=start, sent=False, **more)  # type: ignore[arg-type]  # numbers alone


REQUESTS, OUTPUT, BUDGET = "Run options", "Output", "Limits"
#: The rows, by the name of the field of the plan, or of its budget.
HINTS: Final[dict[str, Hint]] = {
    "repeats": _hint(
        REQUESTS,
        "Repeats",
        "integer",
        "Requests of each case to each variant.",
        start=_PLAN.repeats,
        low=1,
        high=MOST_REPEATS,
        soft_high=20,
    ),
    "at_once": _hint(
        REQUESTS,
        "Parallel requests",
        "integer",
        "Requests at the same time to each gateway, at most. Rate limits of a gateway are observed as well.",
        start=_PLAN.at_once,
        low=1,
        high=MOST_AT_ONCE,
        soft_high=64,
    ),
    "order": _hint(
        REQUESTS,
        "Order",
        "pick",
        "By case: each in all variants, then the next. Shuffled: random, by the seed.",
        start="by_case",
    ),
    "seed": _hint(
        REQUESTS,
        "Seed",
        "integer",
        "Seed of the shuffled order and of the bootstrap intervals.",
        start=_PLAN.seed,
    ),
    "streamed": _hint(
        OUTPUT,
        "Streaming",
        "pick",
        "On measures the time to the first token, and costs several times the CPU time.",
        start=None,
    ),
    "keep": _hint(
        OUTPUT,
        "Save events",
        "pick",
        "The events of answers, to inspect later. Failures: of failed checks and requests.",
        start="failed",
    ),
    "record": _hint(
        OUTPUT,
        "Tool servers",
        "pick",
        "Recorded: the result of a call is saved and used again for equal calls. "
        "Each answer shows which of its calls were real.",
        start=False,
    ),
    "requests": _hint(BUDGET, "Requests", "integer", "Includes judge requests.", start=None, low=0),
    "tokens": _hint(BUDGET, "Tokens", "integer", "Input and output tokens.", start=None, low=0),
    "money": _hint(BUDGET, "Cost", "number", "By the prices of the models, in their currency.", start=None, low=0),
}
#: The values of the options with their labels.
PICKS: Final[dict[str, tuple[tuple[JSON, str], ...]]] = {
    "order": (
        (Order.BY_CASE.value, "by case"),
        (Order.BY_VARIANT.value, "by variant"),
        (Order.SHUFFLED.value, "shuffled"),
    ),
    "record": ((False, "call each time"), (True, "recorded")),
    "streamed": ((None, "Current settings"), (True, "On"), (False, "Off")),
    "keep": ((Keep.FAILED.value, "failures only"), (Keep.ALL.value, "all"), (Keep.NONE.value, "none")),
}


class PickRow(FieldRow):
    """A row to pick one of a few values."""

    def __init__(self, name: str, hint: Hint, values: Sequence[tuple[JSON, str]]) -> None:
        super().__init__(name, hint)
        self._values = tuple(value for value, _ in values)
        self.field = CompactCombo()
        for _, words in values:
            self.field.addItem(words)
        self.field.activated.connect(self._picked)
        self.head.addWidget(self.field)
        self._introduce(self.field)

    def main_field(self) -> QWidget:
        return self.field

    def _show(self, value: JSON) -> None:
        self.field.setCurrentIndex(self._values.index(value) if value in self._values else -1)

    def _picked(self, index: int) -> None:
        self._tell(self._values[index])


class RunPanel(ScrollPage):
    """The panel. ``place_asked`` carries the problem (``PlanProblem``) to show."""

    place_asked = Signal(object)

    def __init__(self, evaluation: EvaluationModel) -> None:
        super().__init__()
        self._evaluation = evaluation
        self.rows: dict[str, FieldRow] = {}
        self._column = column = self.fill(16)
        groups: dict[str, QVBoxLayout] = {}
        for name, hint in HINTS.items():
            row = PickRow(name, hint, PICKS[name]) if name in PICKS else row_for(name, hint)
            row.edited.connect(self._edited)
            self.rows[name] = row
            if hint.group not in groups:
                groups[hint.group] = self._group(hint.group)
            groups[hint.group].addWidget(row)
        self.estimate = text_label("", wrap=True)
        self.estimate.setAccessibleName("Estimate")
        self._group("Remaining cost").addWidget(self.estimate)
        self.ready = text_label(FINE, "small", wrap=True)
        self.problems = ProblemList()
        self.problems.chosen.connect(self._go_to)
        before = self._group("Problems")
        before.addWidget(self.ready)
        before.addWidget(self.problems)
        self.kept = text_label("", "small", wrap=True)
        self.kept.setObjectName("savedAnswers")
        self.forget_stale = push_button("Delete outdated answers…")
        self.forget_stale.setToolTip("Delete answers to earlier versions of the evaluation")
        self.forget_all = push_button("Delete all answers…")
        self.forget_recorded = push_button("Delete recorded calls…")
        self.forget_recorded.setToolTip("Delete recorded results of tool calls; the next run calls the servers again")
        self.forget_recorded.clicked.connect(self._forget_recorded)
        self.forget_stale.clicked.connect(partial(self._forget, self.forget_stale))
        self.forget_all.clicked.connect(partial(self._forget, self.forget_all))
        answers = self._group("Saved answers")
        answers.addWidget(self.kept)
        answers.addLayout(in_row(self.forget_stale, 1))
        answers.addLayout(in_row(self.forget_all, 1))
        answers.addLayout(in_row(self.forget_recorded, 1))
        column.addStretch(1)
        evaluation.planned.connect(self._planned)
        evaluation.moved.connect(self._show_kept)
        evaluation.estimated.connect(self._show_estimate)
        evaluation.figured.connect(self._show_kept)
        self._planned()

    def _group(self, title: str) -> QVBoxLayout:
        box = in_column(text_label(title, "group"), spacing=10)
        self._column.addLayout(box)
        return box

    # The plan

    def _planned(self) -> None:
        plan = self._evaluation.plan
        for name, row in self.rows.items():
            value = getattr(plan.budget if name in Budget.model_fields else plan, name)
            row.show_value(value.value if isinstance(value, Order | Keep) else value, self._flag(name, value))
        problems = self._evaluation.problems
        self.ready.setVisible(self._evaluation.ready and not problems)
        self.problems.show_problems([Problem((), problem.words) for problem in problems[:MOST_NAMED]])
        self._show_kept()
        self._show_estimate()

    def _flag(self, name: str, value: object) -> str:
        """Return the warning for a budget, or ""."""
        if name not in Budget.model_fields or value is None:
            return ""
        if value == 0:
            return NOTHING
        if name != "money":
            return ""
        settings = {column.settings.model: column.settings for column in self._evaluation.resolved.columns}
        unknown = [
            name for name, used in settings.items() if name and self._evaluation.entered(used.profile_id, name) is None
        ]
        if not unknown:
            return ""
        more = [f"{len(unknown) - 3} others"] if len(unknown) > 3 else []
        return f"No price for {listed([*unknown[:3], *more])}: only costs reported by the gateway count."

    def _edited(self, name: str, value: JSON) -> None:
        plan = self._evaluation.plan
        try:
            if name in Budget.model_fields:
                self._evaluation.change(budget=Budget.model_validate({**dict(plan.budget), name: value}))
            else:
                self._evaluation.change(**{name: value})
        except ValueError:
            before = getattr(plan.budget if name in Budget.model_fields else plan, name)
            self.rows[name].refuse("out of range", before)
        else:
            self.rows[name].set_flag(self._flag(name, value))

    def show_problem(self, _problem: PlanProblem) -> None:
        """Focus the first budget that is 0."""
        row = next((row for name, row in self.rows.items() if name in Budget.model_fields and row.value == 0), None)
        if row is not None:
            self.ensureWidgetVisible(row)
            row.main_field().setFocus(Qt.FocusReason.OtherFocusReason)

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
        say(self.kept, words if evaluation.ready else "")
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
        count = f"{len(answers):,} answer{'s' * (len(answers) != 1)}"
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
            words = f"Delete the recorded results of {count:,} call{'s' * (count != 1)}?"
            more = "The next run calls the tool servers again. This cannot be undone."
            if await agreed(self.window(), "Delete recorded calls", words, more, "Delete"):
                await evaluation.forget_recorded()
        except AnswersError as error:
            evaluation.refused.emit(str(error))
