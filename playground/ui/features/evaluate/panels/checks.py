"""The checks of an evaluation: those of all cases, and those of the selected case.

Pass rates come from the findings; the checks of single cases are counted in a worker thread while the panel is visible.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from playground.domain.checks import OFFERED
from playground.domain.checks.check import Check
from playground.engine.evaluation.resolved import PlanProblem, case_title
from playground.engine.evaluation.results import CheckRate
from playground.engine.session.plan import Case
from playground.jsonkit.texts import quantity
from playground.ui.features.evaluate.model import EvaluationModel
from playground.ui.features.evaluate.panels.check_card import CheckCard
from playground.ui.features.evaluate.panels.judge_row import Models
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import discard, in_column, in_row
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.scroll_page import ScrollPage

if TYPE_CHECKING:
    from playground.engine.gateways.gateways import Gateways

MOST: Final = 50  # cards that are shown first
LISTED: Final = 20  # checks of single cases, listed while no case is selected
FOR_ALL, FOR_ONE = "For all cases", "For selected case only"
NONE_YET: Final = "No checks: answers aren't scored. Read them, or compare them in the blind test."
CHOOSE: Final = "Select a case to give it checks of its own."
_BEGIN: Final = (
    "Is JSON",
    "Tool called",
    "Finish reason",
    "Refusal",
    "Judge",
)  # the first entry of each group of the menu


class CheckList(QWidget):
    """Checks, a card each. ``changed`` carries the edited checks, ``moved`` the check to be moved to the other list."""

    changed = Signal(tuple)
    moved = Signal(object)

    def __init__(self, models: Models, elsewhere: str) -> None:
        super().__init__()
        self._models, self._elsewhere = models, elsewhere
        self._can_move = True
        self.checks: tuple[Check, ...] = ()
        self.cards: list[CheckCard] = []  # in the order of their checks
        self._most = MOST  # cards
        self.more = push_button("", "link")
        self.more.clicked.connect(self._show_all)
        self._column = in_column(self.more, parent=self, margins=0, spacing=8)
        self.more.hide()

    def show_checks(self, checks: Sequence[Check], *, can_move: bool = True, is_other_case: bool = False) -> None:
        """Show the checks. A card stays with its check, open or not, unless they are of another case."""
        before, self.checks, self._can_move = self.cards, tuple(checks), can_move
        free = [] if is_other_case else list(before)
        self._most = MOST if is_other_case else self._most
        visible = checks[: self._most]
        self.more.setVisible(len(checks) > len(visible))
        self.more.setText(f"Show all {len(checks):,} checks")
        fits = [_take(free, check, Check.__eq__) for check in visible]
        matches = [fit or _take(free, check, _alike) for fit, check in zip(fits, visible, strict=True)]
        discard(self._column, *[card for card in before if card not in matches])
        self.cards = [card or self._make(check) for card, check in zip(matches, visible, strict=True)]
        for place, card in enumerate(self.cards):
            self._put(place, card)
        self.setVisible(bool(checks))

    def _put(self, place: int, card: CheckCard) -> None:
        check = self.checks[place]
        if self._column.indexOf(card) != place:
            self._column.insertWidget(place, card)
        if card.check != check:
            card.show_check(check)
            card.show_rate("")
        last = place == len(self.checks) - 1
        card.show_place(first=place == 0, last=last, elsewhere=self._elsewhere if self._can_move else "")

    def _show_all(self) -> None:
        self._most = len(self.checks)
        self.show_checks(self.checks, can_move=self._can_move)

    def _make(self, check: Check) -> CheckCard:
        card = CheckCard(check, self._models, self._elsewhere)
        card.changed.connect(partial(self._edited, card))
        card.asked.connect(partial(self._do, card))
        return card

    def add(self, check: Check) -> None:
        """Add a check and open its form."""
        if len(self.checks) >= self._most:
            self._most = len(self.checks) + 1
        self.changed.emit((*self.checks, check))
        if self.cards:
            self.cards[-1].open()

    def _edited(self, card: CheckCard, check: Check) -> None:
        index = self.cards.index(card)
        card.show_check(check)
        self.changed.emit((*self.checks[:index], check, *self.checks[index + 1 :]))

    def _do(self, card: CheckCard, what: str) -> None:
        checks, index = list(self.checks), self.cards.index(card)
        if what == "elsewhere":
            self.moved.emit(card.check)
            return
        if what == "copy":
            checks.insert(index + 1, card.check.model_copy())
        elif what == "delete":
            del checks[index]
        else:
            checks.insert(index - 1 if what == "up" else index + 1, checks.pop(index))
        self.changed.emit(tuple(checks))
        if what == "delete" and (cards := self.cards):
            cards[min(index, len(cards) - 1)].title.setFocus(Qt.FocusReason.OtherFocusReason)


def _take(cards: list[CheckCard], check: Check, fits: Callable[[Check, Check], bool]) -> CheckCard | None:
    """Remove and return the first card that fits a check."""
    match = next((card for card in cards if fits(card.check, check)), None)
    if match is not None:
        cards.remove(match)
    return match


def _alike(first: Check, second: Check) -> bool:
    return type(first) is type(second)


class ChecksPanel(ScrollPage):
    """The panel of checks. ``gateways`` offer the models of judges."""

    def __init__(self, evaluation: EvaluationModel, gateways: Gateways | None = None) -> None:
        super().__init__()
        self._evaluation = evaluation
        models = Models(gateways, lambda: evaluation.session.settings.profile_id)
        self.add_button = push_button("Check")
        self.add_button.setIcon(icon("plus"))
        self.add_button.setAccessibleName("Add a check of all cases")
        self.add_button.setMenu(self._menu(self.add_button))
        self._none = text_label(NONE_YET, "small", wrap=True)
        self.of_all = CheckList(models, FOR_ONE)
        self.of_all.setObjectName("checksOfAllCases")
        self.own_title = text_label("Case-specific checks", "group")
        self.own_words = text_label("", "small", wrap=True)
        self.own = CheckList(models, FOR_ALL)
        self.own.setObjectName("checksOfThisCase")
        self.add_own = push_button("Check of this case")
        self.add_own.setIcon(icon("plus"))
        self.add_own.setMenu(self._menu(self.add_own))
        self.others = _CaseChecks()
        self.others.setObjectName("checksOfSingleCases")
        self.others.chosen.connect(self._choose)
        column = self.fill(10)
        head = in_row(self.add_button, 1, text_label("each applies to all cases", "small"), spacing=8)
        own = in_row(self.add_own, 1)
        for item in (self._none, self.of_all, self.own_title, self.own_words, self.own):
            column.addWidget(item)
        column.insertLayout(0, head)
        column.addLayout(own)
        column.addWidget(self.others)
        column.addStretch(1)
        self._case_id = ""
        self._case_index = 0  # the place of the selected case
        self._own: dict[str, _CaseCheck] = {}
        self._counted: tuple[Case, ...] | None = None
        self.of_all.changed.connect(self._change_all)
        self.of_all.moved.connect(self._to_case)
        self.own.changed.connect(self._change_own)
        self.own.moved.connect(self._to_all)
        self.of_all.more.clicked.connect(self._show_rates)
        self.own.more.clicked.connect(self._show_counts)
        evaluation.planned.connect(self.show_plan)
        evaluation.chosen.connect(self.show_plan)
        evaluation.figured.connect(self._show_rates)
        self.show_plan()

    def _menu(self, button: QPushButton) -> QMenu:
        menu = QMenu(button)
        menu.setToolTipsVisible(True)
        for name, make in OFFERED.items():
            if name in _BEGIN:
                menu.addSeparator()
            action = menu.addAction(name)
            action.setToolTip(tip(make().HELP))
            action.triggered.connect(partial(self._add, button, name))
        return menu

    def _add(self, button: QPushButton, name: str, _checked: bool = False) -> None:
        places = self.of_all if button is self.add_button else self.own
        places.add(OFFERED[name]())
        if places.cards:
            self.ensureWidgetVisible(places.cards[-1])

    # Cards

    @property
    def _case(self) -> Case | None:
        """The selected case as it is in the plan now."""
        chosen, cases = self._evaluation.case, self._evaluation.plan.cases
        if chosen is None:
            return None
        if not (self._case_index < len(cases) and cases[self._case_index].id == chosen.id):
            self._case_index = next((index for index, case in enumerate(cases) if case.id == chosen.id), len(cases))
        return cases[self._case_index] if self._case_index < len(cases) else None

    def show_plan(self) -> None:
        """Show the checks of the plan."""
        plan, case = self._evaluation.plan, self._case
        self.of_all.show_checks(plan.checks, can_move=case is not None)
        self._none.setVisible(not plan.checks)
        is_other_case = case is None or case.id != self._case_id
        self._case_id = case.id if case is not None else ""
        self.own.show_checks(case.checks if case is not None else (), is_other_case=is_other_case)
        self.add_own.setVisible(case is not None)
        if case is not None:
            title = case_title(case, self._case_index + 1)
            say(self.own_words, f"“{title}”")
            self.add_own.setAccessibleName(f"Add a check of {show_hidden(title)} alone")
        else:
            say(self.own_words, CHOOSE)
        self._show_rates()
        self._show_counts()
        self._count_soon()

    def _change_all(self, checks: tuple[Check, ...]) -> None:
        self._evaluation.change(checks=checks)
        self.show_plan()

    def _change_own(self, checks: tuple[Check, ...], of_all: tuple[Check, ...] | None = None) -> None:
        plan, case = self._evaluation.plan, self._case
        if case is None:
            return
        changed = case.model_copy(update={"checks": checks})
        cases = (*plan.cases[: self._case_index], changed, *plan.cases[self._case_index + 1 :])
        self._evaluation.change(cases=cases, checks=plan.checks if of_all is None else of_all)
        self.show_plan()

    def _to_case(self, check: Check) -> None:
        """Move a check of all cases to the selected case."""
        checks = self._evaluation.plan.checks
        if (case := self._case) is not None and check in checks:
            index = checks.index(check)
            self._change_own((*case.checks, check), (*checks[:index], *checks[index + 1 :]))

    def _to_all(self, check: Check) -> None:
        """Move a check of the selected case to all cases, and delete it from all others that have it."""
        spawn(self._spread(check), name="spread a check", owner=self)

    async def _spread(self, check: Check) -> None:
        plan = self._evaluation.plan
        cases = await asyncio.to_thread(_without, plan.cases, check)
        if self._evaluation.plan is plan:
            self._evaluation.change(cases=cases, checks=(*plan.checks, check))
            self.show_plan()

    def _choose(self, case_id: str) -> None:
        case = next((case for case in self._evaluation.plan.cases if case.id == case_id), None)
        self._evaluation.choose(case, self._evaluation.column)

    def show_problem(self, problem: PlanProblem) -> None:
        """Open the check that a problem is about, and select its case."""
        if problem.id:
            self._choose(problem.id)
        cards = self.own.cards if problem.id else self.of_all.cards
        named = [card for card in cards if problem.words.startswith(f"{card.check.title}: ")]
        if failing := next((card for card in named if card.problem.text()), None) or next(iter(named), None):
            failing.open()
            self.ensureWidgetVisible(failing)

    # Counts and rates

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._count_soon()

    def _count_soon(self) -> None:
        if self.isVisible() and self._evaluation.plan.cases is not self._counted:
            self._counted = self._evaluation.plan.cases
            spawn(self._count(self._counted), name="count the checks of cases", owner=self)

    async def _count(self, cases: tuple[Case, ...]) -> None:
        counts = await asyncio.to_thread(_count, cases)
        if cases is self._counted:
            self._own = counts
            self._show_counts()

    def _show_counts(self) -> None:
        for card in self.own.cards:
            count = self._own.get(_key(card.check))
            card.show_rate(quantity(count.count, "case") if count is not None and count.count > 1 else "")
        self.others.show_counts([] if self._case is not None else [*self._own.values()])

    def _show_rates(self) -> None:
        evaluation = self._evaluation
        if evaluation.findings is None:
            return
        remaining = list(zip(evaluation.resolved.plan.checks, evaluation.findings.checks, strict=True))
        for card in self.of_all.cards:
            match = next((pair for pair in remaining if pair[0] == card.check), None)
            if match is not None:
                remaining.remove(match)
                card.show_rate(*_rate_words(match[1], len(evaluation.resolved.cases)))


@dataclass(frozen=True)
class _CaseCheck:
    """A check of single cases: their number, and the id of the first."""

    check: Check
    count: int
    first: str


def _key(check: Check) -> str:
    """Return a key that is equal for equal checks."""
    return repr(check)


def _count(cases: Sequence[Case]) -> dict[str, _CaseCheck]:
    """Return the checks of single cases by their keys, the most frequent first."""
    entries: dict[str, tuple[Check, int, str]] = {}
    for case in cases:
        for check in case.checks:
            key = _key(check)
            first_check, count, first = entries.get(key, (check, 0, case.id))
            entries[key] = first_check, count + 1, first
    return {key: _CaseCheck(*entry) for key, entry in sorted(entries.items(), key=lambda item: -item[1][1])}


def _without(cases: Sequence[Case], check: Check) -> tuple[Case, ...]:
    """Return the cases without checks equal to this one."""
    return tuple(
        case.model_copy(update={"checks": tuple(own for own in case.checks if own != check)})
        if check in case.checks
        else case
        for case in cases
    )


def _rate_words(result: CheckRate, cases: int) -> tuple[str, str]:
    """Return a pass rate in short, and its details."""
    rate, count = result.rate, result.cases
    more = [f"{rate.passed:,} of {rate.judged:,} answers passed: {rate.words}."] if rate.judged else []
    more += [f"{result.not_judged:,} were not judged."] if result.not_judged else []
    if count < cases:
        who = "No case has" if not count else f"Applies to {count:,} of {quantity(cases, 'case')}: the others lack"
        more.append(f"{who} a value for its variables.")
    if rate.share is not None:
        return f"{round(100 * rate.share)} %", " ".join(more)
    if count < cases:
        return f"{count:,} of {quantity(cases, 'case')}" if count else "for no case", " ".join(more)
    words = "not judged" if result.not_judged else ""
    return words, " ".join(more)


class _CaseChecks(QWidget):
    """The checks of single cases, a line each. ``chosen`` carries the id of a case that has one."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._column = in_column(parent=self, margins=0, spacing=4)
        self.lines: list[QWidget] = []
        self._shown: list[_CaseCheck] = []

    def show_counts(self, own: Sequence[_CaseCheck]) -> None:
        """Show the first checks, and how many more there are."""
        visible = list(own[:LISTED])
        if visible != self._shown:
            self._shown = visible
            discard(self._column, *self.lines)
            self.lines = [self._line(entry) for entry in visible]
            if len(own) > LISTED:
                self.lines.append(text_label(f"and {len(own) - LISTED:,} others", "small"))
            for line in self.lines:
                self._column.addWidget(line)
        self.setVisible(bool(visible))

    def _line(self, entry: _CaseCheck) -> QWidget:
        words = f"{entry.check.title} {entry.check.words}".strip()
        label = ElidedLabel(colour="text", elide=Qt.TextElideMode.ElideRight)
        label.set_text(show_hidden(words))
        button = push_button(quantity(entry.count, "case"), "link")
        button.setAccessibleName(f"{show_hidden(words)}: select the first of {quantity(entry.count, 'case')}")
        button.clicked.connect(partial(self._chosen, entry.first))
        line = QWidget()
        in_row((label, 1), button, parent=line, margins=0, spacing=8)
        return line

    def _chosen(self, case_id: str, _checked: bool = False) -> None:
        self.chosen.emit(case_id)
