"""Two answers to the same without names, side by side: somebody says which is better, and learns at the end whose."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QComboBox, QProgressBar, QPushButton, QWidget

from playground.domain.parts import Reasoning
from playground.domain.transcript import Role, Transcript, Turn
from playground.engine.evaluation.answers import AnswersError, Pair, SavedAnswer
from playground.engine.evaluation.blind import BlindPair, Vote, VoteCounts, blind_pairs, count_votes
from playground.engine.evaluation.provider import received_turns
from playground.engine.evaluation.results import Results
from playground.engine.session.session import Experiment, Session
from playground.jsonkit.texts import cut
from playground.ui.features.evaluate.answer_pane import AnswerPane
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import push_button, say, styled, text_label, thin_line
from playground.ui.widgets.layouts import in_column, in_pages, in_row, split
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden, tip

if TYPE_CHECKING:
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.resolved import EvalVariant, ResolvedEvaluation
    from playground.ui.features.evaluate.look import Look

AGAIN_MS = 1_000  # between two looks for pairs while answers come
ASKED = 400  # characters of a question that are shown
TOO_FEW: Final = "A blind test needs two variants. Add one under Variants, or let the experiment as set take part."
NO_PAIRS: Final = "No case was answered by both yet. Run the evaluation: the pairs of answers stand here as they come."
#: Which side is better, or both alike: the key, the words on the button.
BUTTONS: Final[tuple[tuple[str, str], ...]] = (
    ("1", "Left is better"),
    ("2", "Right is better"),
    ("=", "Both are good"),
    ("0", "Both are bad"),
)


class BlindView(QWidget):
    """Of ``look``; what is said is kept at once, and gone on with another day. ``judged`` tells of each pair."""

    judged = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setObjectName("blindTest")
        self._number = 0  # of the pairs that were looked for last
        self._shown_number = 0  # of the pair that is to be shown
        self._pairs: list[BlindPair] = []
        self._votes: dict[Pair, str] = {}
        self._said: dict[Pair, str] = {}  # since the votes were read
        self._done: set[Pair] = set()  # in this round
        self._again = False  # whether all are judged once more
        self._before: list[BlindPair] = []  # judged since the page was opened
        self._now: BlindPair | None = None
        self._seen: BlindPair | None = None  # the pair that stands there
        self.panes: list[AnswerPane] = []
        self._looking = Throttle(self._look_again, self, AGAIN_MS)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.first, self.other = QComboBox(), QComboBox()
        for box, name in ((self.first, "The first variant"), (self.other, "The second variant")):
            box.setAccessibleName(name)
            box.setMinimumContentsLength(8)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.activated.connect(self._begin)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName("Pairs judged")
        self.progress.setMinimumWidth(60)
        self.count = text_label("", "muted")
        self.count.setObjectName("pairCount")
        self.result_button = push_button("Who won so far?")
        self.result_button.clicked.connect(self.show_result)
        top = in_row(
            self.first,
            text_label("against", "muted"),
            self.other,
            (self.progress, 1),
            self.count,
            self.result_button,
            margins=(18, 8, 18, 8),
            spacing=8,
        )
        self._empty = empty_words("")
        self._stack = in_pages(self._empty, self._pair_page(), self._result_page())
        in_column(top, thin_line(), (self._stack, 1), of=self, margins=0, spacing=0)
        keys = (*((key, partial(self._press, at)) for at, (key, _) in enumerate(BUTTONS)), ("Backspace", self.back))
        for key, act in keys:
            shortcut = QShortcut(QKeySequence(key), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)
        look.planned.connect(self._planned)
        look.arrived.connect(self._arrived)
        self._planned()

    def _pair_page(self) -> QWidget:
        self.question = text_label("", wrap=True)
        self.question.setObjectName("pairQuestion")
        self.expected = ElidedLabel("Expected")
        self._sides = split(*(QWidget() for _ in range(2)), sizes=(500, 500), thin=True)
        self.buttons: list[QPushButton] = []
        below = QWidget()
        flow = FlowLayout(below, 8)
        for at, (key, words) in enumerate(BUTTONS):
            button = push_button(f"{key}   {words}")
            button.setAccessibleName(words)
            button.setToolTip(tip(f"{words} ({key})"))
            button.clicked.connect(partial(self._press, at))
            self.buttons.append(button)
            flow.addWidget(button)
        self.back_button = push_button("Back", "quiet")
        self.back_button.setToolTip("The pair before, to say otherwise (Backspace)")
        self.back_button.clicked.connect(self.back)
        flow.addWidget(self.back_button)
        head = in_column(self.question, self.expected, margins=(18, 8, 18, 6), spacing=2)
        foot = in_row((below, 1), margins=(18, 6, 18, 10))
        page = QWidget()
        in_column(head, thin_line(), (self._sides, 1), thin_line(), foot, of=page, margins=0, spacing=0)
        return page

    def _result_page(self) -> QWidget:
        self.words = text_label("", wrap=True)
        font = self.words.font()
        font.setPixelSize(17)
        font.setBold(True)
        self.words.setFont(font)
        self.counts = text_label("", "", wrap=True)
        self.counts.setObjectName("voteCounts")
        self.note = text_label("", "small", wrap=True)
        for label in (self.words, self.counts):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.on_button = styled(QPushButton("Go on"), "primary")
        self.on_button.clicked.connect(self._next)
        self.again_button = push_button("Judge all pairs again")
        self.again_button.setToolTip("From the first pair on; what was said stands until it is said otherwise")
        self.again_button.clicked.connect(self._all_again)
        page = QWidget()
        buttons = in_row(self.on_button, self.again_button, 1, spacing=8)
        in_column(self.words, self.counts, self.note, buttons, 1, of=page, margins=(24, 24, 24, 24), spacing=10)
        return page

    # Between whom

    def _planned(self) -> None:
        columns = self._look.resolved.columns
        for place, box in enumerate((self.first, self.other)):
            chosen = box.currentData()
            box.clear()
            for column in columns:
                box.addItem(show_hidden(cut(column.title, 60)).replace("\n", " "), column.id)
            box.setCurrentIndex(next((at for at, one in enumerate(columns) if one.id == chosen), place))
            box.setEnabled(len(columns) > 1)
        self._looking.poke()

    @property
    def columns(self) -> tuple[EvalVariant, EvalVariant] | None:
        """Those that are compared; None where there are not two."""
        found = [
            next((one for one in self._look.resolved.columns if one.id == box.currentData()), None)
            for box in (self.first, self.other)
        ]
        first, other = found
        return (first, other) if first is not None and other is not None and first.id != other.id else None

    def _begin(self) -> None:
        """Others are compared."""
        if self.first.currentIndex() == self.other.currentIndex():
            moved = self.other if self.sender() is self.first else self.first
            moved.setCurrentIndex((moved.currentIndex() + 1) % max(moved.count(), 1))
        self._pairs, self._before, self._now = [], [], None
        self._done, self._again = set(self._votes), False
        self._look_again()

    def _arrived(self, _answers: object) -> None:
        self._looking.poke()

    def _look_again(self) -> None:
        if not self.isVisible():
            return
        self._number += 1
        columns = self.columns
        if columns is None:
            self._pairs, self._now = [], None
            self._say_empty(TOO_FEW)
        else:
            spawn(self._find(self._number, *columns), name="find pairs")

    async def _find(self, number: int, first: EvalVariant, other: EvalVariant) -> None:
        look = self._look
        self._said = {}
        try:
            votes = await look.store.votes(look.resolved.id)
        except AnswersError as error:
            if number == self._number:
                self._say_empty(str(error))
            return
        found = await asyncio.to_thread(_pairs, look.resolved, look.results.answers, first, other)
        if number != self._number:
            return
        self._pairs, self._votes = found, {**votes, **self._said}
        back = {self._now.pair} if self._now is not None else set()
        self._done = self._done & self._votes.keys() if self._again else self._votes.keys() - back
        if self._now is not None:
            here = self._now is self._seen
            self._now = next((one for one in found if one.pair == self._now.pair), None)
            self._seen = self._now if here else self._seen
        self._count()
        if not found:
            self._say_empty(NO_PAIRS)
        elif self._now is None and self._stack.currentIndex() != 2:
            self._next()
        elif self._stack.currentIndex() == 2:
            self.show_result()

    def _say_empty(self, words: str) -> None:
        self._empty.setText(show_hidden(words))
        self._stack.setCurrentWidget(self._empty)
        self._count()

    def _count(self) -> None:
        total = len(self._pairs)
        done = sum(one.pair in self._done for one in self._pairs)
        self.progress.setRange(0, max(total, 1))
        self.progress.setValue(done)
        self.count.setText(f"{done:,} of {total:,} pairs" if total else "")
        self.result_button.setEnabled(any(one.pair in self._votes for one in self._pairs))
        self.back_button.setEnabled(bool(self._before))

    # A pair

    def _next(self) -> None:
        """Show the next pair nobody judged; after the last one, who won."""
        found = next((one for one in self._pairs if one.pair not in self._done), None)
        if found is None:
            self.show_result()
        else:
            self._show(found)

    def _show(self, sides: BlindPair) -> None:
        self._now = sides
        self._shown_number += 1
        self._count()
        spawn(self._read(self._shown_number, sides), name="show a pair")

    async def _read(self, number: int, sides: BlindPair) -> None:
        look = self._look
        try:
            left, right = await asyncio.gather(*(look.kept(one) for one in sides.sides))
        except AnswersError as error:
            if number == self._shown_number:
                self._say_empty(str(error))
            return
        columns = self.columns
        if number != self._shown_number or columns is None:
            return
        self._show_question(sides, left)
        shown = columns[::-1] if sides.is_swapped else columns
        for at, (column, kept) in enumerate(zip(shown, (left, right), strict=True)):
            given = look.resolved.sent_turns(sides.case, column)
            self._show_side(at, column, nameless(kept, given))
        self._stack.setCurrentIndex(1)
        self._seen = sides
        if self.isVisible() and QApplication.focusWidget() is None:
            self.setFocus()

    def _show_question(self, sides: BlindPair, kept: SavedAnswer) -> None:
        asked = [turn.text for turn in kept.turns if turn.role is Role.USER]
        say(self.question, cut(" ".join((asked[-1] if asked else "").split()), ASKED))
        self.question.setToolTip(tip(asked[-1] if asked else ""))
        expected = sides.case.expected
        self.expected.set_text(show_hidden(f"expected: {expected}") if expected else "")
        self.expected.setVisible(bool(expected))

    def _show_side(self, at: int, column: EvalVariant, turns: Sequence[Turn]) -> None:
        session = _session(self._look.resolved, column, turns)
        if at < len(self.panes):
            self.panes[at].set_session(session)
        else:
            name = ("The left answer", "The right answer")[at]
            pane = AnswerPane(session, self._look.entered, name)
            self.panes.append(pane)
            if (blank := self._sides.replaceWidget(at, pane)) is not None:
                blank.deleteLater()
            pane.show()
        pane = self.panes[at]
        pane.show_from(turns[0] if turns else None)

    # What is said

    @property
    def ready(self) -> bool:
        """Whether a pair stands there to be judged."""
        return self._stack.currentIndex() == 1 and self._now is not None and self._now is self._seen

    def _press(self, at: int, _checked: bool = False) -> None:
        if self._now is None or not self.ready:
            return  # the next one is on its way
        votes = self._now.vote(True), self._now.vote(False), Vote.BOTH, Vote.NEITHER
        self.vote(votes[at])

    def vote(self, vote: Vote) -> None:
        """Say so of the pair that is shown, and go on to the next."""
        sides = self._now
        if sides is None:
            return
        self._votes[sides.pair] = self._said[sides.pair] = vote
        self._done.add(sides.pair)
        self._before.append(sides)
        spawn(self._keep(sides.pair, vote), name="keep a vote")
        self._now = None
        self._next()
        self.judged.emit()

    async def _keep(self, pair: Pair, vote: Vote) -> None:
        try:
            await self._look.store.vote(self._look.resolved.id, pair, vote)
        except AnswersError as error:
            self._look.refused.emit(str(error))

    def back(self) -> None:
        """The pair that was judged last, to say otherwise."""
        if self._before:
            sides = self._before.pop()
            self._done.discard(sides.pair)
            self._show(sides)

    def _all_again(self) -> None:
        self._again = True
        self._done.clear()
        self._next()

    # Who won

    def show_result(self, _checked: bool = False) -> None:
        """Say who won so far; names are told here only."""
        columns = self.columns
        if columns is None:
            return
        self._now = None
        self._shown_number += 1
        found = count_votes(self._pairs, self._votes, *columns)
        self.words.setText(show_hidden(found.words))
        self.counts.setText(show_hidden("\n".join(_counts(found, *columns))))
        say(
            self.note,
            "" if found.remaining == 0 else f"{found.remaining:,} of {len(self._pairs):,} pairs are not judged yet.",
        )
        left = any(one.pair not in self._done for one in self._pairs)
        self.on_button.setVisible(left)
        self._stack.setCurrentIndex(2)
        self._count()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._looking.poke()
        self.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        self._number += 1  # what is being looked for or read comes too late
        self._shown_number += 1
        self._now = self._now if self._now is self._seen else None
        super().hideEvent(event)


def _pairs(
    resolved: ResolvedEvaluation, answers: Mapping[tuple[str, int], Answer], first: EvalVariant, other: EvalVariant
) -> list[BlindPair]:
    """All pairs there are, worked out apart from what the window looks at."""
    return blind_pairs(Results(resolved, answers), first, other)


def nameless(kept: SavedAnswer, given: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns that came, without what tells who wrote them or how: model, figures, thinking, what only some have."""
    return tuple(
        Turn(id=turn.id, role=turn.role, parts=tuple(part for part in turn.parts if not isinstance(part, Reasoning)))
        for turn in received_turns(kept.turns, given)
    )


def _session(resolved: ResolvedEvaluation, column: EvalVariant, turns: Sequence[Turn]) -> Session:
    """One that stands nowhere, with these turns and the tools they call; braces in them are text."""
    profile_id = column.settings.profile_id
    made = Experiment(resolved.connect, profile_id=profile_id, profile_of=resolved.profile_of, literal=True).main
    settings = made.settings.model_copy(update={"tools": column.settings.tools})
    made.history.reset(Transcript().append(*turns), settings)
    return made


def _counts(found: VoteCounts, first: EvalVariant, other: EvalVariant) -> list[str]:
    """The votes in words."""
    lines = []
    if found.share is not None:
        low, high = round(100 * found.interval.low), round(100 * found.interval.high)
        decided = found.first + found.second
        lines.append(
            f"{other.title} was better in {round(100 * found.share)} % [{low}–{high}] of the {decided:,} that decided."
        )
    lines += [
        f"{column.title}: better in {count:,} pair{'s' * (count != 1)}."
        for column, count in ((first, found.first), (other, found.second))
    ]
    lines.append(f"Both good: {found.both:,}. Both bad: {found.neither:,}. These count neither way.")
    return lines
