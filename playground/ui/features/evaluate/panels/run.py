"""How an evaluation is run: how often, how many at once, in which order, with which budget; what it will take, what
keeps it from being run, and the answers that are kept.
"""

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
from playground.ui.features.evaluate.look import Look
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

MOST_NAMED: Final = 200  # problems; who has mended these sees the others
NOTHING: Final = "It lets nothing be asked. Raise it, or leave it empty."
FINE: Final = "It can be run."
_PLAN: Final = Plan()


def _hint(group: str, label: str, editor: str, help_: str, *, start: object, **more: float) -> Hint:
    return Hint(label, group, editor, help_, start=start, sent=False, **more)  # type: ignore[arg-type]  # numbers alone


ASKED, CAME, BUDGET = "How it is asked", "What comes", "It stops by itself after"
#: The rows, by the name of the field of the plan, or of its budget.
HINTS: Final[dict[str, Hint]] = {
    "repeats": _hint(
        ASKED,
        "Repeats",
        "integer",
        "How often each case is asked of each variant.",
        start=_PLAN.repeats,
        low=1,
        high=MOST_REPEATS,
        soft_high=20,
    ),
    "at_once": _hint(
        ASKED,
        "At once",
        "integer",
        "Requests under way at each gateway, at most. A gateway that tells its limits is never asked faster than that.",
        start=_PLAN.at_once,
        low=1,
        high=MOST_AT_ONCE,
        soft_high=64,
    ),
    "order": _hint(
        ASKED, "Order", "pick", "By case: each in all variants, then the next. Shuffled: by the seed.", start="by_case"
    ),
    "seed": _hint(
        ASKED,
        "Seed",
        "integer",
        "Of what is drawn by chance: the order, and the intervals of figures.",
        start=_PLAN.seed,
    ),
    "streamed": _hint(
        CAME,
        "Answers",
        "pick",
        "Streamed tells when the first token came, and takes several times the work. Whole has no first token.",
        start=None,
    ),
    "keep": _hint(
        CAME,
        "Frames kept",
        "pick",
        "What went over the wire, to be looked at later. Failed: of answers that did not pass a check, or failed.",
        start="failed",
    ),
    "record": _hint(
        CAME,
        "Tool servers",
        "pick",
        "Recorded: what a server answers to a call is kept, and given again when the same is called: a repeat asks "
        "nothing of the world. Each answer says which of its calls were real.",
        start=False,
    ),
    "requests": _hint(BUDGET, "Requests", "integer", "Those of judges count, too.", start=None, low=0),
    "tokens": _hint(BUDGET, "Tokens", "integer", "Of questions and answers together.", start=None, low=0),
    "money": _hint(
        BUDGET, "Money", "number", "By the prices of the models, in the currency of these prices.", start=None, low=0
    ),
}
#: What can be picked, with its words.
PICKS: Final[dict[str, tuple[tuple[JSON, str], ...]]] = {
    "order": (
        (Order.BY_CASE.value, "by case"),
        (Order.BY_VARIANT.value, "by variant"),
        (Order.SHUFFLED.value, "shuffled"),
    ),
    "record": ((False, "asked each time"), (True, "recorded")),
    "streamed": ((None, "as set"), (True, "streamed"), (False, "whole")),
    "keep": ((Keep.FAILED.value, "of failed ones"), (Keep.ALL.value, "of all"), (Keep.NONE.value, "none")),
}


class PickRow(FieldRow):
    """One of a few values, each with its words."""

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
    """``place_asked`` carries a problem (``PlanProblem``) whose place somebody wants to see."""

    place_asked = Signal(object)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
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
        self._group("What is missing will take").addWidget(self.estimate)
        self.ready = text_label(FINE, "small", wrap=True)
        self.problems = ProblemList()
        self.problems.chosen.connect(self._go_to)
        before = self._group("Before it begins")
        before.addWidget(self.ready)
        before.addWidget(self.problems)
        self.kept = text_label("", "small", wrap=True)
        self.kept.setObjectName("savedAnswers")
        self.forget_stale = push_button("Forget stale answers…")
        self.forget_stale.setToolTip("Let those go that answer what is not asked any more")
        self.forget_all = push_button("Forget all answers…")
        self.forget_recorded = push_button("Forget what tools answered…")
        self.forget_recorded.setToolTip("Let go what tool servers answered: the next run asks them again")
        self.forget_recorded.clicked.connect(self._forget_recorded)
        self.forget_stale.clicked.connect(partial(self._forget, self.forget_stale))
        self.forget_all.clicked.connect(partial(self._forget, self.forget_all))
        answers = self._group("Answers that are kept")
        answers.addWidget(self.kept)
        answers.addLayout(in_row(self.forget_stale, 1))
        answers.addLayout(in_row(self.forget_all, 1))
        answers.addLayout(in_row(self.forget_recorded, 1))
        column.addStretch(1)
        look.planned.connect(self._planned)
        look.moved.connect(self._show_kept)
        look.estimated.connect(self._show_estimate)
        look.figured.connect(self._show_kept)
        self._planned()

    def _group(self, title: str) -> QVBoxLayout:
        box = in_column(text_label(title, "group"), spacing=10)
        self._column.addLayout(box)
        return box

    # The plan

    def _planned(self) -> None:
        plan = self._look.plan
        for name, row in self.rows.items():
            value = getattr(plan.budget if name in Budget.model_fields else plan, name)
            row.show_value(value.value if isinstance(value, Order | Keep) else value, self._flag(name, value))
        found = self._look.problems
        self.ready.setVisible(self._look.ready and not found)
        self.problems.show_problems([Problem((), problem.words) for problem in found[:MOST_NAMED]])
        self._show_kept()
        self._show_estimate()

    def _flag(self, name: str, value: object) -> str:
        """What is odd about a budget."""
        if name not in Budget.model_fields or value is None:
            return ""
        if value == 0:
            return NOTHING
        if name != "money":
            return ""
        settings = {column.settings.model: column.settings for column in self._look.resolved.columns}
        unknown = [name for name, one in settings.items() if name and self._look.entered(one.profile_id, name) is None]
        if not unknown:
            return ""
        more = [f"{len(unknown) - 3} others"] if len(unknown) > 3 else []
        return f"No price is known for {listed([*unknown[:3], *more])}: only costs that the gateway tells are counted."

    def _edited(self, name: str, value: JSON) -> None:
        plan = self._look.plan
        try:
            if name in Budget.model_fields:
                self._look.change(budget=Budget.model_validate({**dict(plan.budget), name: value}))
            else:
                self._look.change(**{name: value})
        except ValueError:
            before = getattr(plan.budget if name in Budget.model_fields else plan, name)
            self.rows[name].refuse("out of range", before)
        else:
            self.rows[name].set_flag(self._flag(name, value))

    def show_problem(self, _problem: PlanProblem) -> None:
        """Go to the budget that lets nothing be asked."""
        row = next((row for name, row in self.rows.items() if name in Budget.model_fields and row.value == 0), None)
        if row is not None:
            self.ensureWidgetVisible(row)
            row.main_field().setFocus(Qt.FocusReason.OtherFocusReason)

    def _go_to(self, problem: Problem) -> None:
        found = next((one for one in self._look.problems if one.words == problem.message), None)
        if found is not None:
            self.place_asked.emit(found)

    # What it will take

    def _show_estimate(self) -> None:
        found = self._look.estimate
        if found is not None:
            words = found.words[:1].upper() + found.words[1:]
            say(self.estimate, f"{words} · ≈ {span(round(found.seconds, 1))}" if found.seconds else words)

    # Answers that are kept

    def _show_kept(self) -> None:
        look = self._look
        count, stale = look.results.count, len(look.stale)
        words = f"{count:,} to what is asked now"
        words += f", {stale:,} stale: to what is not asked any more" if stale else ""
        say(self.kept, words if look.ready else "")
        going = look.under_way
        self.forget_stale.setEnabled(bool(stale) and not going)
        self.forget_all.setEnabled(bool(count or stale) and not going)
        self.forget_recorded.setVisible(look.plan.record)
        self.forget_recorded.setEnabled(not going)

    def _forget(self, button: QPushButton, _checked: bool = False) -> None:
        look = self._look
        every = button is self.forget_all
        answers = [*(look.results.answers.values() if every else ()), *look.stale]
        spawn(self._ask_forget(answers, every=every), name="forget answers")

    async def _ask_forget(self, answers: list[Answer], *, every: bool) -> None:
        count = f"{len(answers):,} answer{'s' * (len(answers) != 1)}"
        title = "Forget all answers" if every else "Forget stale answers"
        more = "Their turns, frames, verdicts and votes go for good; undo does not bring them back."
        if not await agreed(self.window(), title, f"Forget {count}?", more, title):
            return
        try:
            await self._look.forget(answers)
        except AnswersError as error:
            self._look.refused.emit(str(error))

    def _forget_recorded(self, _checked: bool = False) -> None:
        spawn(self._ask_forget_recorded(), name="forget what tools answered")

    async def _ask_forget_recorded(self) -> None:
        look = self._look
        try:
            count = await look.recorded()
            if not count:
                look.refused.emit("No answer of a tool server is recorded yet.")
                return
            words = f"Forget what tool servers answered to {count:,} call{'s' * (count != 1)}?"
            more = "They are asked again where the next run calls them. Undo does not bring it back."
            if await agreed(self.window(), "Forget what tools answered", words, more, "Forget"):
                await look.forget_recorded()
        except AnswersError as error:
            look.refused.emit(str(error))
