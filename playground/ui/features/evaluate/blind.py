"""The blind test: two answers to a case side by side without names. The names are shown with the result."""

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
    from playground.ui.features.evaluate.model import EvaluationModel

REFRESH_MS = 1_000  # between two searches for pairs while answers arrive
QUESTION_LENGTH = 400  # characters
TOO_FEW: Final = "A blind test needs two variants. Add one under Variants, or include the current settings."
NO_PAIRS: Final = "No case was answered by both yet. Run the evaluation to get pairs of answers."
#: The key and the label of each vote.
BUTTONS: Final[tuple[tuple[str, str], ...]] = (
    ("1", "Left is better"),
    ("2", "Right is better"),
    ("=", "Both are good"),
    ("0", "Both are bad"),
)


class BlindView(QWidget):
    """The blind test of an evaluation. Votes are saved at once. ``judged`` is emitted for each pair."""

    judged = Signal()

    def __init__(self, evaluation: EvaluationModel) -> None:
        super().__init__()
        self._evaluation = evaluation
        self.setObjectName("blindTest")
        self._number = 0  # of the last search for pairs
        self._pair_number = 0  # of the last pair to show
        self._pairs: list[BlindPair] = []
        self._votes: dict[Pair, str] = {}
        self._new_votes: dict[Pair, str] = {}  # votes since they were read from the store
        self._done: set[Pair] = set()  # pairs judged in this round
        self._is_repeat = False  # all pairs are judged once more
        self._history: list[BlindPair] = []  # pairs judged since the page was opened
        self._current: BlindPair | None = None
        self._drawn: BlindPair | None = None  # the pair that is drawn
        self.panes: list[AnswerPane] = []
        self._refresh_throttle = Throttle(self._refresh, self, REFRESH_MS)
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
        keys = (
            *((key, partial(self._press, index)) for index, (key, _) in enumerate(BUTTONS)),
            ("Backspace", self.back),
        )
        for key, act in keys:
            shortcut = QShortcut(QKeySequence(key), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)
        evaluation.planned.connect(self._planned)
        evaluation.arrived.connect(self._arrived)
        self._planned()

    def _pair_page(self) -> QWidget:
        self.question = text_label("", wrap=True)
        self.question.setObjectName("pairQuestion")
        self.expected = ElidedLabel("Expected")
        self._sides = split(*(QWidget() for _ in range(2)), sizes=(500, 500), thin=True)
        self.buttons: list[QPushButton] = []
        below = QWidget()
        flow = FlowLayout(below, 8)
        for index, (key, words) in enumerate(BUTTONS):
            button = push_button(f"{key}   {words}")
            button.setAccessibleName(words)
            button.setToolTip(tip(f"{words} ({key})"))
            button.clicked.connect(partial(self._press, index))
            self.buttons.append(button)
            flow.addWidget(button)
        self.back_button = push_button("Back", "quiet")
        self.back_button.setToolTip("Previous pair (Backspace)")
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
        self.on_button = styled(QPushButton("Continue"), "primary")
        self.on_button.clicked.connect(self._next)
        self.again_button = push_button("Judge all pairs again")
        self.again_button.setToolTip("Restart; votes are kept until you change them")
        self.again_button.clicked.connect(self._judge_all_again)
        page = QWidget()
        buttons = in_row(self.on_button, self.again_button, 1, spacing=8)
        in_column(self.words, self.counts, self.note, buttons, 1, of=page, margins=(24, 24, 24, 24), spacing=10)
        return page

    # Variants

    def _planned(self) -> None:
        columns = self._evaluation.resolved.columns
        for place, box in enumerate((self.first, self.other)):
            chosen = box.currentData()
            box.clear()
            for column in columns:
                box.addItem(show_hidden(cut(column.label, 60)).replace("\n", " "), column.id)
            box.setCurrentIndex(next((index for index, item in enumerate(columns) if item.id == chosen), place))
            box.setEnabled(len(columns) > 1)
        self._refresh_throttle.poke()

    @property
    def columns(self) -> tuple[EvalVariant, EvalVariant] | None:
        """The two compared variants, or None if they are not two."""
        selected = [
            next((column for column in self._evaluation.resolved.columns if column.id == box.currentData()), None)
            for box in (self.first, self.other)
        ]
        first, second = selected
        return (first, second) if first is not None and second is not None and first.id != second.id else None

    def _begin(self) -> None:
        """Start with the variants selected now."""
        if self.first.currentIndex() == self.other.currentIndex():
            moved = self.other if self.sender() is self.first else self.first
            moved.setCurrentIndex((moved.currentIndex() + 1) % max(moved.count(), 1))
        self._pairs, self._history, self._current = [], [], None
        self._done, self._is_repeat = set(self._votes), False
        self._refresh()

    def _arrived(self, _answers: object) -> None:
        self._refresh_throttle.poke()

    def _refresh(self) -> None:
        if not self.isVisible():
            return
        self._number += 1
        columns = self.columns
        if columns is None:
            self._pairs, self._current = [], None
            self._say_empty(TOO_FEW)
        else:
            spawn(self._find(self._number, *columns), name="find pairs")

    async def _find(self, number: int, first: EvalVariant, second: EvalVariant) -> None:
        evaluation = self._evaluation
        self._new_votes = {}
        try:
            votes = await evaluation.store.votes(evaluation.resolved.id)
        except AnswersError as error:
            if number == self._number:
                self._say_empty(str(error))
            return
        pairs = await asyncio.to_thread(_pairs, evaluation.resolved, evaluation.results.answers, first, second)
        if number != self._number:
            return
        self._pairs, self._votes = pairs, {**votes, **self._new_votes}
        back = {self._current.pair} if self._current is not None else set()
        self._done = self._done & self._votes.keys() if self._is_repeat else self._votes.keys() - back
        if self._current is not None:
            is_drawn = self._current is self._drawn
            self._current = next((pair for pair in pairs if pair.pair == self._current.pair), None)
            self._drawn = self._current if is_drawn else self._drawn
        self._count()
        if not pairs:
            self._say_empty(NO_PAIRS)
        elif self._current is None and self._stack.currentIndex() != 2:
            self._next()
        elif self._stack.currentIndex() == 2:
            self.show_result()

    def _say_empty(self, words: str) -> None:
        self._empty.setText(show_hidden(words))
        self._stack.setCurrentWidget(self._empty)
        self._count()

    def _count(self) -> None:
        total = len(self._pairs)
        done = sum(pair.pair in self._done for pair in self._pairs)
        self.progress.setRange(0, max(total, 1))
        self.progress.setValue(done)
        self.count.setText(f"{done:,} of {total:,} pairs" if total else "")
        self.result_button.setEnabled(any(pair.pair in self._votes for pair in self._pairs))
        self.back_button.setEnabled(bool(self._history))

    # A pair

    def _next(self) -> None:
        """Show the next pair without a vote; after the last one, the result."""
        next_pair = next((pair for pair in self._pairs if pair.pair not in self._done), None)
        if next_pair is None:
            self.show_result()
        else:
            self._show(next_pair)

    def _show(self, sides: BlindPair) -> None:
        self._current = sides
        self._pair_number += 1
        self._count()
        spawn(self._read(self._pair_number, sides), name="show a pair")

    async def _read(self, number: int, sides: BlindPair) -> None:
        evaluation = self._evaluation
        try:
            left_answer, right_answer = await asyncio.gather(*(evaluation.saved(answer) for answer in sides.sides))
        except AnswersError as error:
            if number == self._pair_number:
                self._say_empty(str(error))
            return
        columns = self.columns
        if number != self._pair_number or columns is None:
            return
        self._show_question(sides, left_answer)
        drawn = columns[::-1] if sides.is_swapped else columns
        for side, (column, saved) in enumerate(zip(drawn, (left_answer, right_answer), strict=True)):
            sent = evaluation.resolved.sent_turns(sides.case, column)
            self._show_side(side, column, nameless(saved, sent))
        self._stack.setCurrentIndex(1)
        self._drawn = sides
        if self.isVisible() and QApplication.focusWidget() is None:
            self.setFocus()

    def _show_question(self, sides: BlindPair, saved: SavedAnswer) -> None:
        questions = [turn.text for turn in saved.turns if turn.role is Role.USER]
        say(self.question, cut(" ".join((questions[-1] if questions else "").split()), QUESTION_LENGTH))
        self.question.setToolTip(tip(questions[-1] if questions else ""))
        expected = sides.case.expected
        self.expected.set_text(show_hidden(f"expected: {expected}") if expected else "")
        self.expected.setVisible(bool(expected))

    def _show_side(self, side: int, column: EvalVariant, turns: Sequence[Turn]) -> None:
        session = _session(self._evaluation.resolved, column, turns)
        if side < len(self.panes):
            self.panes[side].set_session(session)
        else:
            name = ("The left answer", "The right answer")[side]
            pane = AnswerPane(session, self._evaluation.entered, name)
            self.panes.append(pane)
            if (blank := self._sides.replaceWidget(side, pane)) is not None:
                blank.deleteLater()
            pane.show()
        pane = self.panes[side]
        pane.show_from(turns[0] if turns else None)

    # Votes

    @property
    def ready(self) -> bool:
        """Return whether a pair is drawn and can be judged."""
        return self._stack.currentIndex() == 1 and self._current is not None and self._current is self._drawn

    def _press(self, index: int, _checked: bool = False) -> None:
        if self._current is None or not self.ready:
            return  # the next pair is being read
        votes = self._current.vote(True), self._current.vote(False), Vote.BOTH, Vote.NEITHER
        self.vote(votes[index])

    def vote(self, vote: Vote) -> None:
        """Save a vote on the pair that is shown, and show the next."""
        sides = self._current
        if sides is None:
            return
        self._votes[sides.pair] = self._new_votes[sides.pair] = vote
        self._done.add(sides.pair)
        self._history.append(sides)
        spawn(self._save_vote(sides.pair, vote), name="save a vote")
        self._current = None
        self._next()
        self.judged.emit()

    async def _save_vote(self, pair: Pair, vote: Vote) -> None:
        try:
            await self._evaluation.store.vote(self._evaluation.resolved.id, pair, vote)
        except AnswersError as error:
            self._evaluation.refused.emit(str(error))

    def back(self) -> None:
        """Show the pair judged last again."""
        if self._history:
            sides = self._history.pop()
            self._done.discard(sides.pair)
            self._show(sides)

    def _judge_all_again(self) -> None:
        self._is_repeat = True
        self._done.clear()
        self._next()

    # Result

    def show_result(self, _checked: bool = False) -> None:
        """Show the result so far, with the names of the variants."""
        columns = self.columns
        if columns is None:
            return
        self._current = None
        self._pair_number += 1
        counts = count_votes(self._pairs, self._votes, *columns)
        self.words.setText(show_hidden(counts.words))
        self.counts.setText(show_hidden("\n".join(_counts(counts, *columns))))
        say(
            self.note,
            "" if counts.remaining == 0 else f"{counts.remaining:,} of {len(self._pairs):,} pairs are not judged yet.",
        )
        has_more = any(pair.pair not in self._done for pair in self._pairs)
        self.on_button.setVisible(has_more)
        self._stack.setCurrentIndex(2)
        self._count()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh_throttle.poke()
        self.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        self._number += 1  # results of searches and reads under way are dropped
        self._pair_number += 1
        self._current = self._current if self._current is self._drawn else None
        super().hideEvent(event)


def _pairs(
    resolved: ResolvedEvaluation, answers: Mapping[tuple[str, int], Answer], first: EvalVariant, second: EvalVariant
) -> list[BlindPair]:
    """Return all pairs of answers, from results of their own: this runs in a worker thread."""
    return blind_pairs(Results(resolved, answers), first, second)


def nameless(saved: SavedAnswer, sent: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the received turns without what could reveal the variant: model, metrics, reasoning."""
    return tuple(
        Turn(id=turn.id, role=turn.role, parts=tuple(part for part in turn.parts if not isinstance(part, Reasoning)))
        for turn in received_turns(saved.turns, sent)
    )


def _session(resolved: ResolvedEvaluation, column: EvalVariant, turns: Sequence[Turn]) -> Session:
    """Return a session with these turns and their tools, not in the list of experiments; braces are text."""
    profile_id = column.settings.profile_id
    session = Experiment(resolved.connect, profile_id=profile_id, profile_of=resolved.profile_of, literal=True).main
    settings = session.settings.model_copy(update={"tools": column.settings.tools})
    session.history.reset(Transcript().append(*turns), settings)
    return session


def _counts(counts: VoteCounts, first: EvalVariant, second: EvalVariant) -> list[str]:
    """Return the lines of the result."""
    lines = []
    if counts.share is not None:
        low, high = round(100 * counts.interval.low), round(100 * counts.interval.high)
        decided = counts.first + counts.second
        lines.append(
            f"{second.label} was better in {round(100 * counts.share)} % [{low}–{high}] of {decided:,} decided pairs."
        )
    lines += [
        f"{column.label}: better in {count:,} pair{'s' * (count != 1)}."
        for column, count in ((first, counts.first), (second, counts.second))
    ]
    lines.append(f"Both good: {counts.both:,}. Both bad: {counts.neither:,}. These count neither way.")
    return lines
