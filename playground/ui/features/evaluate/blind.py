"""The blind test: two answers to a case side by side without names. The names are shown with the result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QComboBox, QHBoxLayout, QProgressBar, QWidget

from playground.domain.parts import Reasoning
from playground.domain.transcript import Role, Transcript, Turn
from playground.engine.evaluation.answers import AnswersError, Pair, SavedAnswer
from playground.engine.evaluation.blind import BlindPair, Vote, VoteCounts, blind_pairs, count_votes
from playground.engine.evaluation.provider import received_turns
from playground.engine.evaluation.results import Results
from playground.engine.session.session import Experiment, Session
from playground.jsonkit.texts import cut, quantity
from playground.ui.features.evaluate.answer_pane import AnswerPane
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import push_button, say, text_label, thin_line
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
        self._pairs: list[BlindPair] = []
        self._votes: dict[Pair, str] | None = None  # None until they are read from the store
        self._judged: set[Pair] = set()  # pairs judged in this round
        self._history: list[BlindPair] = []  # pairs judged since the page was opened
        self._pair: BlindPair | None = None  # on the page, or being read for it
        self._reads = 0  # reads of pairs so far; only the last one is shown
        self._is_drawn = False
        self.panes: list[AnswerPane] = []
        self._refresh_throttle = Throttle(self._refresh, self, REFRESH_MS)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._empty = empty_words("")
        self._pair_page, self._result_page = self._make_pair_page(), self._make_result_page()
        self._pages = in_pages(self._empty, self._pair_page, self._result_page)
        in_column(self._make_head(), thin_line(), (self._pages, 1), parent=self, margins=0, spacing=0)
        votes = ((key, partial(self._press, index)) for index, (key, _) in enumerate(BUTTONS))
        for key, act in (*votes, ("Backspace", self.back)):
            shortcut = QShortcut(QKeySequence(key), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)
        evaluation.planned.connect(self._show_plan)
        evaluation.arrived.connect(lambda _answers: self._refresh_throttle.poke())
        self._show_plan()

    def _make_head(self) -> QHBoxLayout:
        self.first, self.second = QComboBox(), QComboBox()
        for box, name in ((self.first, "The first variant"), (self.second, "The second variant")):
            box.setAccessibleName(name)
            box.setMinimumContentsLength(8)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.activated.connect(self._choose_variant)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName("Pairs judged")
        self.progress.setMinimumWidth(60)
        self.count = text_label("", "muted")
        self.count.setObjectName("pairCount")
        self.result_button = push_button("Who won so far?")
        self.result_button.clicked.connect(self.show_result)
        against, last = text_label("against", "muted"), (self.count, self.result_button)
        margins = 18, 8, 18, 8
        return in_row(self.first, against, self.second, (self.progress, 1), *last, margins=margins, spacing=8)

    def _make_pair_page(self) -> QWidget:
        self.question = text_label("", wrap=True)
        self.question.setObjectName("pairQuestion")
        self.expected = text_label("", "muted", wrap=True)
        self._sides = split(*(QWidget() for _ in range(2)), sizes=(500, 500), thin=True)
        below = QWidget()
        flow = FlowLayout(below, 8)
        for index, (key, words) in enumerate(BUTTONS):
            button = push_button(f"{key}   {words}")
            button.setAccessibleName(words)
            button.setToolTip(tip(f"{words} ({key})"))
            button.clicked.connect(partial(self._press, index))
            flow.addWidget(button)
        self.back_button = push_button("Back", "quiet")
        self.back_button.setToolTip("Previous pair (Backspace)")
        self.back_button.clicked.connect(self.back)
        flow.addWidget(self.back_button)
        head = in_column(self.question, self.expected, margins=(18, 8, 18, 6), spacing=2)
        foot = in_row((below, 1), margins=(18, 6, 18, 10))
        page = QWidget()
        in_column(head, thin_line(), (self._sides, 1), thin_line(), foot, parent=page, margins=0, spacing=0)
        return page

    def _make_result_page(self) -> QWidget:
        self.words = text_label("", "heading", wrap=True)
        self.counts = text_label("", wrap=True)
        self.counts.setObjectName("voteCounts")
        self.note = text_label("", "small", wrap=True)
        for label in (self.words, self.counts):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.on_button = push_button("Continue", "primary")
        self.on_button.clicked.connect(self._show_next)
        again = push_button("Judge all pairs again")
        again.setToolTip("Restart; votes are kept until you change them")
        again.clicked.connect(self._judge_all_again)
        page = QWidget()
        buttons = in_row(self.on_button, again, 1, spacing=8)
        in_column(self.words, self.counts, self.note, buttons, 1, parent=page, margins=(24, 24, 24, 24), spacing=10)
        return page

    # Variants and their pairs

    def _show_plan(self) -> None:
        columns = self._evaluation.resolved.columns
        for place, box in enumerate((self.first, self.second)):
            selected = box.currentData()
            box.clear()
            for column in columns:
                box.addItem(show_hidden(cut(column.label, 60)).replace("\n", " "), column.id)
            box.setCurrentIndex(next((index for index, item in enumerate(columns) if item.id == selected), place))
            box.setEnabled(len(columns) > 1)
        self._refresh_throttle.poke()

    @property
    def columns(self) -> tuple[EvalVariant, EvalVariant] | None:
        """The two compared variants, or None if they are not two."""
        by_id = {column.id: column for column in self._evaluation.resolved.columns}
        first, second = (by_id.get(box.currentData()) for box in (self.first, self.second))
        return (first, second) if first is not None and second is not None and first is not second else None

    def _choose_variant(self) -> None:
        """Start with the variants selected now."""
        if self.first.currentIndex() == self.second.currentIndex():
            moved = self.second if self.sender() is self.first else self.first
            moved.setCurrentIndex((moved.currentIndex() + 1) % max(moved.count(), 1))
        self._pairs, self._history, self._pair = [], [], None
        self._judged = set(self._votes or ())
        self._pages.setCurrentWidget(self._empty)
        self._refresh()

    def _refresh(self) -> None:
        if not self.isVisible():
            return
        if (columns := self.columns) is None:
            self._pairs, self._pair = [], None
            self._show_empty(TOO_FEW)
        else:
            spawn(self._find_pairs(*columns), name="find pairs")

    async def _find_pairs(self, first: EvalVariant, second: EvalVariant) -> None:
        evaluation = self._evaluation
        resolved, answers = evaluation.resolved, dict(evaluation.results.answers)
        try:
            if self._votes is None:
                self._votes = await evaluation.store.votes(resolved.id)
                self._judged = set(self._votes)
        except AnswersError as error:
            self._show_empty(str(error))
            return
        pairs = await asyncio.to_thread(_pairs, resolved, answers, first, second)
        if self.columns != (first, second) or resolved is not evaluation.resolved:
            return
        self._pairs = pairs
        if self._pair is not None and self._pair.pair not in {pair.pair for pair in pairs}:
            self._pair = None
        self._show_counts()
        if not pairs:
            self._show_empty(NO_PAIRS)
        elif self._pages.currentWidget() is self._result_page:
            self.show_result()
        elif self._pair is None:
            self._show_next()

    def _show_empty(self, words: str) -> None:
        self._empty.setText(show_hidden(words))
        self._pages.setCurrentWidget(self._empty)
        self._show_counts()

    def _show_counts(self) -> None:
        total, done = len(self._pairs), sum(pair.pair in self._judged for pair in self._pairs)
        self.progress.setRange(0, max(total, 1))
        self.progress.setValue(done)
        self.count.setText(f"{done:,} of {total:,} pairs" if total else "")
        self.result_button.setEnabled(any(pair.pair in (self._votes or ()) for pair in self._pairs))
        self.back_button.setEnabled(bool(self._history))

    # A pair

    def _show_next(self, _checked: bool = False) -> None:
        """Show the next pair without a vote; after the last one, the result."""
        pair = next((pair for pair in self._pairs if pair.pair not in self._judged), None)
        if pair is None:
            self.show_result()
        else:
            self._show_pair(pair)

    def _show_pair(self, pair: BlindPair) -> None:
        self._pair, self._is_drawn = pair, False
        self._reads += 1
        self._show_counts()
        spawn(self._read_pair(self._reads, pair), name="show a pair")

    async def _read_pair(self, number: int, pair: BlindPair) -> None:
        evaluation = self._evaluation
        try:
            left, right = await asyncio.gather(*(evaluation.saved(answer) for answer in pair.sides))
        except AnswersError as error:
            if number == self._reads:
                self._show_empty(str(error))
            return
        columns = self.columns
        if number != self._reads or pair is not self._pair or columns is None:
            return
        question = next((turn.text for turn in reversed(left.turns) if turn.role is Role.USER), "")
        say(self.question, cut(" ".join(question.split()), QUESTION_LENGTH))
        self.question.setToolTip(tip(question))
        say(self.expected, f"expected: {cut(pair.case.expected, QUESTION_LENGTH)}" if pair.case.expected else "")
        displayed = columns[::-1] if pair.is_swapped else columns
        for side, (column, saved) in enumerate(zip(displayed, (left, right), strict=True)):
            self._show_side(side, column, nameless(saved, evaluation.resolved.sent_turns(pair.case, column)))
        self._pages.setCurrentWidget(self._pair_page)
        self._is_drawn = True
        if self.isVisible() and QApplication.focusWidget() is None:
            self.setFocus()

    def _show_side(self, side: int, column: EvalVariant, turns: Sequence[Turn]) -> None:
        session = _session(self._evaluation.resolved, column, turns)
        if side < len(self.panes):
            self.panes[side].set_session(session)
        else:
            pane = AnswerPane(session, self._evaluation.entered, ("The left answer", "The right answer")[side])
            self.panes.append(pane)
            if (blank := self._sides.replaceWidget(side, pane)) is not None:
                blank.deleteLater()
            pane.show()
        self.panes[side].show_from(turns[0] if turns else None)

    # Votes

    @property
    def ready(self) -> bool:
        """Return whether a pair is drawn and can be judged."""
        return self._is_drawn and self._pair is not None and self._pages.currentWidget() is self._pair_page

    def _press(self, index: int, _checked: bool = False) -> None:
        if self._pair is not None and self.ready:
            self.vote((self._pair.vote(True), self._pair.vote(False), Vote.BOTH, Vote.NEITHER)[index])

    def vote(self, vote: Vote) -> None:
        """Save a vote on the pair that is shown, and show the next."""
        pair = self._pair
        if pair is None or self._votes is None:
            return
        self._votes[pair.pair] = vote
        self._judged.add(pair.pair)
        self._history.append(pair)
        spawn(self._save_vote(pair.pair, vote), name="save a vote")
        self._show_next()
        self.judged.emit()

    async def _save_vote(self, pair: Pair, vote: Vote) -> None:
        try:
            await self._evaluation.store.vote(self._evaluation.resolved.id, pair, vote)
        except AnswersError as error:
            self._evaluation.refused.emit(str(error))

    def back(self, _checked: bool = False) -> None:
        """Show the pair judged last again."""
        if self._history:
            pair = self._history.pop()
            self._judged.discard(pair.pair)
            self._show_pair(pair)

    def _judge_all_again(self, _checked: bool = False) -> None:
        self._judged.clear()
        self._show_next()

    # Result

    def show_result(self, _checked: bool = False) -> None:
        """Show the result so far, with the names of the variants."""
        columns = self.columns
        if columns is None:
            return
        self._pair = None
        counts = count_votes(self._pairs, self._votes or {}, *columns)
        self.words.setText(show_hidden(counts.words))
        self.counts.setText(show_hidden("\n".join(_counts(counts, *columns))))
        left = f"{counts.remaining:,} of {len(self._pairs):,} pairs are not judged yet." if counts.remaining else ""
        say(self.note, left)
        self.on_button.setVisible(any(pair.pair not in self._judged for pair in self._pairs))
        self._pages.setCurrentWidget(self._result_page)
        self._show_counts()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh_throttle.poke()
        self.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        if not self._is_drawn:
            self._pair = None  # its read under way is dropped
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
        f"{column.label}: better in {quantity(count, 'pair')}."
        for column, count in ((first, counts.first), (second, counts.second))
    ]
    lines.append(f"Both good: {counts.both:,}. Both bad: {counts.neither:,}. These count neither way.")
    return lines
