"""The checks of an evaluation: those of all cases, a card each, and those of the case that is chosen.

How often each was passed is among the findings of all views; how many cases have a check of their own is counted
beside the window's thread while the panel is seen.
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
from shiboken6 import isValid

from playground.domain.checks import OFFERED
from playground.domain.checks.check import Check
from playground.engine.evaluation.resolved import PlanProblem, case_title
from playground.engine.evaluation.results import CheckRate
from playground.engine.session.plan import Case
from playground.ui.features.evaluate.look import Look
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
LISTED: Final = 20  # checks of single cases that are named while no case is chosen
FOR_ALL, FOR_ONE = "For all cases", "For the chosen case only"
NONE_YET: Final = "Without a check nothing passes or fails: answers are kept, to be looked at and compared blind."
CHOOSE: Final = "Choose a case to give it checks of its own."
_BEGIN: Final = ("Is JSON", "Tool called", "Finish reason", "Refusal", "Judge")  # each begins a group of the menu


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
        self._column = in_column(self.more, of=self, margins=0, spacing=8)
        self.more.hide()

    def show_checks(self, checks: Sequence[Check], *, can_move: bool = True, anew: bool = False) -> None:
        """Show these. A card stays that of its check, open or not; ``anew``: they are another case's."""
        before, self.checks, self._can_move = self.cards, tuple(checks), can_move
        free = [] if anew else list(before)
        self._most = MOST if anew else self._most
        shown = checks[: self._most]
        self.more.setVisible(len(checks) > len(shown))
        self.more.setText(f"Show all {len(checks):,} checks")
        fits = [_take(free, check, Check.__eq__) for check in shown]
        matches = [fit or _take(free, check, _alike) for fit, check in zip(fits, shown, strict=True)]
        discard(self._column, *[card for card in before if card not in matches])
        self.cards = [card or self._make(check) for card, check in zip(matches, shown, strict=True)]
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
        """One more, with its form open."""
        if len(self.checks) >= self._most:
            self._most = len(self.checks) + 1
        self.changed.emit((*self.checks, check))
        if self.cards:
            self.cards[-1].open()

    def _edited(self, card: CheckCard, check: Check) -> None:
        at = self.cards.index(card)
        card.show_check(check)
        self.changed.emit((*self.checks[:at], check, *self.checks[at + 1 :]))

    def _do(self, card: CheckCard, what: str) -> None:
        checks, at = list(self.checks), self.cards.index(card)
        if what == "elsewhere":
            self.moved.emit(card.check)
            return
        if what == "copy":
            checks.insert(at + 1, card.check.model_copy())
        elif what == "delete":
            del checks[at]
        else:
            checks.insert(at - 1 if what == "up" else at + 1, checks.pop(at))
        self.changed.emit(tuple(checks))
        if what == "delete" and (cards := self.cards):
            cards[min(at, len(cards) - 1)].title.setFocus(Qt.FocusReason.OtherFocusReason)


def _take(cards: list[CheckCard], check: Check, fits: Callable[[Check, Check], bool]) -> CheckCard | None:
    """The first card that fits a check, out of those that are left."""
    found = next((card for card in cards if fits(card.check, check)), None)
    if found is not None:
        cards.remove(found)
    return found


def _alike(one: Check, other: Check) -> bool:
    return type(one) is type(other)


class ChecksPanel(ScrollPage):
    """``gateways`` offer the models of judges."""

    def __init__(self, look: Look, gateways: Gateways | None = None) -> None:
        super().__init__()
        self._look = look
        models = Models(gateways, lambda: look.session.settings.profile_id)
        self.add_button = push_button("Check")
        self.add_button.setIcon(icon("plus"))
        self.add_button.setAccessibleName("Add a check of all cases")
        self.add_button.setMenu(self._menu(self.add_button))
        self._none = text_label(NONE_YET, "small", wrap=True)
        self.of_all = CheckList(models, FOR_ONE)
        self.of_all.setObjectName("checksOfAllCases")
        self.own_title = text_label("Of one case", "group")
        self.own_words = text_label("", "small", wrap=True)
        self.own = CheckList(models, FOR_ALL)
        self.own.setObjectName("checksOfThisCase")
        self.add_own = push_button("Check of this case")
        self.add_own.setIcon(icon("plus"))
        self.add_own.setMenu(self._menu(self.add_own))
        self.others = _Others()
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
        self._at = 0  # where the chosen case was found last
        self._own: dict[str, _Own] = {}
        self._counted: tuple[Case, ...] | None = None
        self.of_all.changed.connect(self._change_all)
        self.of_all.moved.connect(self._to_case)
        self.own.changed.connect(self._change_own)
        self.own.moved.connect(self._to_all)
        self.of_all.more.clicked.connect(self._show_rates)
        self.own.more.clicked.connect(self._show_counts)
        look.planned.connect(self.show_plan)
        look.chosen.connect(self.show_plan)
        look.figured.connect(self._show_rates)
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

    # What is shown

    @property
    def _case(self) -> Case | None:
        """The case that is chosen, as it is set now."""
        chosen, cases = self._look.case, self._look.plan.cases
        if chosen is None:
            return None
        if not (self._at < len(cases) and cases[self._at].id == chosen.id):
            self._at = next((at for at, case in enumerate(cases) if case.id == chosen.id), len(cases))
        return cases[self._at] if self._at < len(cases) else None

    def show_plan(self) -> None:
        """The checks as they are set."""
        plan, case = self._look.plan, self._case
        self.of_all.show_checks(plan.checks, can_move=case is not None)
        self._none.setVisible(not plan.checks)
        anew = case is None or case.id != self._case_id
        self._case_id = case.id if case is not None else ""
        self.own.show_checks(case.checks if case is not None else (), anew=anew)
        self.add_own.setVisible(case is not None)
        if case is not None:
            title = case_title(case, self._at + 1)
            say(self.own_words, f"“{title}”")
            self.add_own.setAccessibleName(f"Add a check of {show_hidden(title)} alone")
        else:
            say(self.own_words, CHOOSE)
        self._show_rates()
        self._show_counts()
        self._count_soon()

    def _change_all(self, checks: tuple[Check, ...]) -> None:
        self._look.change(checks=checks)
        self.show_plan()

    def _change_own(self, checks: tuple[Check, ...], of_all: tuple[Check, ...] | None = None) -> None:
        plan, case = self._look.plan, self._case
        if case is None:
            return
        made = case.model_copy(update={"checks": checks})
        cases = (*plan.cases[: self._at], made, *plan.cases[self._at + 1 :])
        self._look.change(cases=cases, checks=plan.checks if of_all is None else of_all)
        self.show_plan()

    def _to_case(self, check: Check) -> None:
        """Have a check of all cases be one of the chosen case alone."""
        checks = self._look.plan.checks
        if (case := self._case) is not None and check in checks:
            at = checks.index(check)
            self._change_own((*case.checks, check), (*checks[:at], *checks[at + 1 :]))

    def _to_all(self, check: Check) -> None:
        """Have a check of the chosen case be one of all; cases that have the same have it from there."""
        spawn(self._spread(check), name="spread a check")

    async def _spread(self, check: Check) -> None:
        plan = self._look.plan
        cases = await asyncio.to_thread(_without, plan.cases, check)
        if isValid(self) and self._look.plan is plan:
            self._look.change(cases=cases, checks=(*plan.checks, check))
            self.show_plan()

    def _choose(self, case_id: str) -> None:
        case = next((one for one in self._look.plan.cases if one.id == case_id), None)
        self._look.choose(case, self._look.column)

    def show_problem(self, problem: PlanProblem) -> None:
        """Open the check that cannot be made, of its case where it is one of a case."""
        if problem.id:
            self._choose(problem.id)
        cards = self.own.cards if problem.id else self.of_all.cards
        named = [card for card in cards if problem.words.startswith(f"{card.check.title}: ")]
        if found := next((card for card in named if card.problem.text()), None) or next(iter(named), None):
            found.open()
            self.ensureWidgetVisible(found)

    # What is worked out

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._count_soon()

    def _count_soon(self) -> None:
        if self.isVisible() and self._look.plan.cases is not self._counted:
            self._counted = self._look.plan.cases
            spawn(self._count(self._counted), name="count the checks of cases")

    async def _count(self, cases: tuple[Case, ...]) -> None:
        found = await asyncio.to_thread(_count, cases)
        if isValid(self) and cases is self._counted:
            self._own = found
            self._show_counts()

    def _show_counts(self) -> None:
        for card in self.own.cards:
            count = self._own.get(_key(card.check))
            card.show_rate(_cases(count.count) if count is not None and count.count > 1 else "")
        self.others.show_counts([] if self._case is not None else [*self._own.values()])

    def _show_rates(self) -> None:
        look = self._look
        if look.findings is None:
            return
        left = list(zip(look.resolved.plan.checks, look.findings.checks, strict=True))
        for card in self.of_all.cards:
            found = next((one for one in left if one[0] == card.check), None)
            if found is not None:
                left.remove(found)
                card.show_rate(*_said(found[1], len(look.resolved.cases)))


@dataclass(frozen=True)
class _Own:
    """A check of single cases: how many have it, and the first of them."""

    check: Check
    count: int
    first: str


def _key(check: Check) -> str:
    """The same for checks that are the same."""
    return repr(check)


def _count(cases: Sequence[Case]) -> dict[str, _Own]:
    """The checks of single cases by their keys, those of most cases first."""
    found: dict[str, tuple[Check, int, str]] = {}
    for case in cases:
        for check in case.checks:
            key = _key(check)
            known, count, first = found.get(key, (check, 0, case.id))
            found[key] = known, count + 1, first
    return {key: _Own(*one) for key, one in sorted(found.items(), key=lambda item: -item[1][1])}


def _without(cases: Sequence[Case], check: Check) -> tuple[Case, ...]:
    """The cases without a check like this one."""
    return tuple(
        case.model_copy(update={"checks": tuple(one for one in case.checks if one != check)})
        if check in case.checks
        else case
        for case in cases
    )


def _cases(count: int) -> str:
    return f"{count:,} case{'s' * (count != 1)}"


def _said(found: CheckRate, cases: int) -> tuple[str, str]:
    """A rate in short, and all that is known of it."""
    rate, of = found.rate, found.cases
    more = [f"{rate.passed:,} of {rate.judged:,} answers passed: {rate.words}."] if rate.judged else []
    more += [f"{found.not_judged:,} were not judged."] if found.not_judged else []
    if of < cases:
        who = "No case has" if not of else f"It is for {of:,} of {_cases(cases)}: the others lack"
        more.append(f"{who} a value for what it mentions in braces.")
    if rate.share is not None:
        return f"{round(100 * rate.share)} %", " ".join(more)
    if of < cases:
        return f"{of:,} of {_cases(cases)}" if of else "for no case", " ".join(more)
    words = "not judged" if found.not_judged else ""
    return words, " ".join(more)


class _Others(QWidget):
    """Checks of single cases, a line each; ``chosen`` tells the id of a case that has one."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._column = in_column(of=self, margins=0, spacing=4)
        self.lines: list[QWidget] = []
        self._shown: list[_Own] = []

    def show_counts(self, own: Sequence[_Own]) -> None:
        """Name these, the first ones of many."""
        shown = list(own[:LISTED])
        if shown != self._shown:
            self._shown = shown
            discard(self._column, *self.lines)
            self.lines = [self._line(one) for one in shown]
            if len(own) > LISTED:
                self.lines.append(text_label(f"and {len(own) - LISTED:,} others", "small"))
            for line in self.lines:
                self._column.addWidget(line)
        self.setVisible(bool(shown))

    def _line(self, one: _Own) -> QWidget:
        words = f"{one.check.title} {one.check.words}".strip()
        label = ElidedLabel(colour="text", elide=Qt.TextElideMode.ElideRight)
        label.set_text(show_hidden(words))
        button = push_button(_cases(one.count), "link")
        button.setAccessibleName(f"{show_hidden(words)}: choose a case that has it, of {_cases(one.count)}")
        button.clicked.connect(partial(self._chosen, one.first))
        line = QWidget()
        in_row((label, 1), button, of=line, margins=0, spacing=8)
        return line

    def _chosen(self, case_id: str, _checked: bool = False) -> None:
        self.chosen.emit(case_id)
