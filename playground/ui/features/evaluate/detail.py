"""The details of the selected answer: its messages, verdicts, request and timeline."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QTabBar, QWidget

from playground.domain.checks.asked import You
from playground.engine.evaluation.answers import AnswersError, SavedAnswer
from playground.engine.evaluation.judging import manual_verdict
from playground.engine.evaluation.provider import received_turns
from playground.engine.evaluation.resolved import case_title, check_key
from playground.engine.evaluation.variants import begin_with_answer
from playground.engine.session.plan import Keep
from playground.jsonkit.texts import cut
from playground.ui.features.evaluate.answer_pane import AnswerPane, session_of
from playground.ui.features.evaluate.frames import Frames
from playground.ui.features.evaluate.verdicts import CheckDetails, Judged, Thumbs, VerdictTable, thumb_of
from playground.ui.features.host import Host
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import push_button, say, styled, text_label, thin_line
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_column, in_pages, in_row, split
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.page_parts import empty_words
from playground.ui.widgets.plain_text import show_hidden

if TYPE_CHECKING:
    from playground.engine.evaluation.provider import Answer
    from playground.engine.evaluation.resolved import EvalVariant
    from playground.engine.session.plan import Case
    from playground.ui.features.evaluate.model import EvaluationModel

TITLE = 60  # characters of the title of a conversation made of an answer
LEAST = QSize(320, 170)
ANSWERS, CHECKS, REQUEST, TIMELINE = range(4)
CHOOSE: Final = "Select a cell of the table to see its answers, verdicts and events."


class Detail(QWidget):
    """Shows the selection of ``evaluation``. ``host`` opens answers as conversations.

    ``again_asked`` carries the case and the variant of a cell to run again, ``opened`` the new session.
    """

    again_asked = Signal(object, object)
    opened = Signal(object)

    def __init__(self, evaluation: EvaluationModel, host: Host) -> None:
        super().__init__()
        self._evaluation, self._host = evaluation, host
        self.setObjectName("answerDetails")
        self._number = 0  # of the last selection
        self._answer: Answer | None = None
        self._saved = SavedAnswer()
        self._place: tuple[Case, EvalVariant] | None = None
        self._rated: Judged | None = None  # the check that the thumbs show
        self._pane: AnswerPane | None = None
        self._frames: Frames | None = None
        self.setProperty("kind", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.tabs = QTabBar()
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setAccessibleName("Details of the answer")
        for title in ("Answers", "Checks", "Request", "Timeline"):
            self.tabs.addTab(title)
        self.title = ElidedLabel("Answer", align=Qt.AlignmentFlag.AlignRight)
        self.before = IconButton("chevron-left", "Previous repeat", size=14)
        self.count = text_label("", "muted")
        self.after = IconButton("chevron-right", "Next repeat", size=14)
        for button, by in ((self.before, -1), (self.after, 1)):
            button.clicked.connect(partial(self.step, by))
        head = in_row(self.tabs, (self.title, 1), self.before, self.count, self.after, margins=(12, 0, 8, 0), spacing=6)
        self._empty = empty_words(CHOOSE)
        self.check = CheckDetails(evaluation.entered)
        self._wire = QWidget()
        self._wire_column = in_column(parent=self._wire, margins=0, spacing=0)
        self._left = in_pages(self._make_answer_page(), self.check)
        self._judged = split(self._left, self._make_verdicts(), sizes=(640, 400), thin=True)
        self._judged.setStretchFactor(0, 3)
        self._judged.setStretchFactor(1, 2)
        self._stack = in_pages(self._empty, self._judged, self._wire)
        in_column(head, thin_line(), (self._stack, 1), parent=self, margins=0, spacing=0)
        self.tabs.currentChanged.connect(self._tab_changed)
        evaluation.chosen.connect(self._chosen)
        evaluation.planned.connect(self._refresh)
        evaluation.arrived.connect(self._arrived)
        evaluation.moved.connect(self._refresh)

    def _make_answer_page(self) -> QWidget:
        self.failure = styled(MarkLabel(wraps=True), "error")
        self.failure.set_mark("error", "error")
        self.failure.setContentsMargins(12, 6, 12, 0)
        open_button, events_button = push_button("Open as conversation"), push_button("Show events")
        again_button = push_button("Run this cell again")
        open_button.setToolTip("Continue in a new experiment")
        again_button.setToolTip("Delete the answers of this case and variant and request them again")
        open_button.clicked.connect(self.open_as_conversation)
        events_button.clicked.connect(partial(self.tabs.setCurrentIndex, TIMELINE))
        again_button.clicked.connect(self.ask_again)
        buttons = QWidget()
        flow = FlowLayout(buttons, 8)
        for widget in (open_button, events_button, again_button):
            flow.addWidget(widget)
        page, turns = QWidget(), QWidget()
        self._turns = in_column(parent=turns, margins=0, spacing=0)
        below = in_row((buttons, 1), margins=(12, 4, 12, 8))
        in_column(self.failure, (turns, 1), below, parent=page, margins=0, spacing=0)
        return page

    def _make_verdicts(self) -> QWidget:
        self.verdicts = VerdictTable()
        self.verdicts.opened.connect(partial(self.tabs.setCurrentIndex, CHECKS))
        self.verdicts.currentCellChanged.connect(self._check_chosen)
        self.thumbs = Thumbs()
        self.thumbs.given.connect(self._thumb)
        self._right = QWidget()
        rating = in_row((self.thumbs, 1), margins=(12, 4, 12, 8))
        in_column((self.verdicts, 1), rating, parent=self._right, margins=0, spacing=0)
        return self._right

    def minimumSizeHint(self) -> QSize:
        """Return one size for all pages, so that the table above does not jump."""
        return LEAST

    # Selection

    @property
    def saved(self) -> SavedAnswer:
        """The stored turns, exchanges and judgements of the answer."""
        return self._saved

    @property
    def current(self) -> Answer | None:
        """The answer that is shown, or None."""
        return self._answer

    @property
    def pane(self) -> AnswerPane | None:
        """The pane with the messages of the answer, once it was made."""
        return self._pane

    def step(self, by: int, _checked: bool = False) -> None:
        """Select another repeat: 1 for the next, -1 for the previous."""
        evaluation = self._evaluation
        repeat = evaluation.repeat + by
        if 0 < repeat <= len(evaluation.cell_answers()):
            evaluation.choose(evaluation.case, evaluation.column, repeat)

    def _arrived(self, answers: list[Answer]) -> None:
        evaluation = self._evaluation
        if evaluation.case is None or evaluation.column is None:
            return
        digest = evaluation.resolved.digest(evaluation.case, evaluation.column)
        if any(answer.digest == digest for answer in answers):
            self._refresh()

    def _chosen(self) -> None:
        self.thumbs.flush()
        self._refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        self.thumbs.flush()
        self._number += 1  # results of reads under way are dropped
        super().hideEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _refresh(self) -> None:
        """Show the selection again, if the page is visible."""
        if not self.isVisible():
            return
        evaluation = self._evaluation
        self._number += 1
        case, column, answer = evaluation.case, evaluation.column, evaluation.answer
        if case is None or column is None:
            self._place = self._answer = None
            self._show_head("", 0, 0)
            self._say_empty(CHOOSE)
            return
        self._place = case, column
        name = case_title(case, evaluation.resolved.numbers.get(case.id, 0))
        answers = evaluation.cell_answers()
        self._show_head(f"{name} · {column.letter}", sum(entry is not None for entry in answers), len(answers))
        if answer is None:
            self._answer = None
            self._say_empty("This answer is under way." if evaluation.under_way else "Not requested yet.")
        else:
            spawn(self._read(self._number, case, column, answer), name="show an answer")

    def _show_head(self, title: str, received: int, repeats: int) -> None:
        self.title.set_text(show_hidden(title))
        self.tabs.setTabText(ANSWERS, f"Answers {received}" if received else "Answers")
        repeat = self._evaluation.repeat
        self.count.setText(f"{repeat} of {repeats}" if repeats else "")
        for part in (self.before, self.count, self.after):
            part.setVisible(repeats > 1)
        self.before.setEnabled(repeat > 1)
        self.after.setEnabled(repeat < repeats)

    def _say_empty(self, words: str) -> None:
        self._empty.setText(show_hidden(words))
        self._stack.setCurrentWidget(self._empty)

    async def _read(self, number: int, case: Case, column: EvalVariant, answer: Answer) -> None:
        before = self._answer
        saved = self._saved
        same = before is not None and (before.key, before.created_at) == (answer.key, answer.created_at)
        if not same or before is None or before.verdicts != answer.verdicts:  # a judge may have answered
            try:
                saved = await self._evaluation.saved(answer)
            except AnswersError as error:
                if number == self._number:
                    self._answer = None
                    self._say_empty(str(error))
                return
        if number == self._number:
            self._show(case, column, answer, saved, same=same)

    def _show(self, case: Case, column: EvalVariant, answer: Answer, saved: SavedAnswer, *, same: bool) -> None:
        self.thumbs.flush()
        self._answer, self._saved = answer, saved
        if not same:
            self._show_turns(case, column, saved)
        has_failed_turn = any(turn.outcome is not None and turn.outcome.failure is not None for turn in saved.turns)
        say(self.failure, f"Failed to answer: {answer.failure}" if answer.failure and not has_failed_turn else "")
        rows = self._rows(case, answer)
        self.verdicts.show_verdicts(rows)
        self.verdicts.setVisible(bool(rows))
        self._right.setVisible(not answer.failure)
        self._check_chosen()
        self._tab_changed(self.tabs.currentIndex())

    def _check_chosen(self, *_cells: int) -> None:
        """Show the selected check, and the rating of the manual one."""
        self.thumbs.flush()
        if self._answer is None:
            return
        self.check.show_check(self._evaluation.resolved, self.verdicts.current)
        manual = self._rated = self._manual_check()
        rating = thumb_of(manual.check, manual.verdict) if manual and isinstance(manual.check, You) else (None, "")
        self.thumbs.show_given((self._answer.key, manual.key if manual else ""), *rating)

    def _manual_check(self) -> Judged | None:
        """Return the manual check that the thumbs rate: the selected one, or the first."""
        current, rows = self.verdicts.current, self.verdicts.rows
        manual = [row for row in rows if isinstance(row.check, You)]
        return current if current in manual else next(iter(manual), None)

    def _rows(self, case: Case, answer: Answer) -> list[Judged]:
        if answer.failure:
            return []
        judgements = self._saved.judgements
        keyed = self._evaluation.resolved.checks(case)
        return [Judged(key, check, answer.verdicts.get(key), judgements.get(key)) for key, check in keyed]

    def _show_turns(self, case: Case, column: EvalVariant, saved: SavedAnswer) -> None:
        pane, resolved = self._pane or self._make_pane(column), self._evaluation.resolved
        pane.set_session(session_of(resolved, column, saved))
        received = received_turns(saved.turns, resolved.sent_turns(case, column))
        pane.show_from(received[0] if received else None)

    def _make_pane(self, column: EvalVariant) -> AnswerPane:
        evaluation, main = self._evaluation, self._host.pane
        pane = self._pane = AnswerPane(session_of(evaluation.resolved, column, SavedAnswer()), evaluation.entered)
        pane.link_asked.connect(main.link_asked)
        pane.advice_asked.connect(main.advice_asked)
        pane.again_asked.connect(self.ask_again)
        pane.stream_asked.connect(partial(evaluation.change, streamed=True))
        pane.exchange_asked.connect(partial(self._show_wire, REQUEST))
        pane.commands.frames_asked.connect(self._show_frames_of)
        pane.commands.hole_asked.connect(self._show_frames_of)
        pane.commands.lint_asked.connect(self._show_frames_of)
        self._turns.addWidget(pane, 1)
        return pane

    # Tabs

    def _tab_changed(self, index: int) -> None:
        if self._answer is None:
            return
        if index in (REQUEST, TIMELINE):
            self.wire.show_tab(self.tabs.tabText(index))
            self.wire.show_exchanges(self._saved.exchanges, self._evaluation.plan.keep)
            self._stack.setCurrentWidget(self._wire)
        else:
            self._left.setCurrentIndex(index)
            self._stack.setCurrentWidget(self._judged)

    @property
    def wire(self) -> Frames:
        """The page with the request and the timeline."""
        if self._frames is None:
            self._frames = Frames()
            self._frames.keep_asked.connect(partial(self._evaluation.change, keep=Keep.ALL))
            self._frames.again_asked.connect(self.ask_again)
            self._wire_column.addWidget(self._frames)
        return self._frames

    def _show_frames_of(self, turn_id: str, _call_id: str = "") -> None:
        turn = next((turn for turn in self._saved.turns if turn.id == turn_id), None)
        exchange = turn.outcome.exchange if turn is not None and turn.outcome is not None else None
        self._show_wire(TIMELINE, exchange or "")

    def _show_wire(self, index: int, exchange_id: str) -> None:
        self.tabs.setCurrentIndex(index)
        self.wire.show_exchange(exchange_id)

    # Commands

    def ask_again(self) -> None:
        """Ask to run the cell again."""
        if self._place is not None:
            self.again_asked.emit(*self._place)

    def open_as_conversation(self) -> None:
        """Open the answer as a new experiment."""
        if self._answer is None or self._place is None:
            return
        workspace = self._host.workspace
        column = self._place[1]
        session = workspace.blank(column.settings.profile_id)
        begin_with_answer(session, column, self._saved, cut(self.title.text, TITLE))
        workspace.add_experiment(session)
        self.opened.emit(session)

    def _thumb(self, good: bool | None, note: str) -> None:
        """Save a rating as the verdict of the manual check; add such a check if there is none."""
        if self._answer is None:
            return
        if self._rated is not None and isinstance(self._rated.check, You):
            self._save_verdict(self._answer, self._rated.key, self._rated.check, good, note)
            return
        checks = self._evaluation.plan.checks
        check = next((check for check in checks if isinstance(check, You)), None)
        if check is None:
            check = You()
            self._evaluation.change(checks=(*checks, check))
        self._save_verdict(self._answer, check_key(check), check, good, note)

    def _save_verdict(self, answer: Answer, key: str, check: You, good: bool | None, note: str) -> None:
        async def save() -> None:
            try:
                await self._evaluation.judge(answer, {key: manual_verdict(check, good, note)})
            except AnswersError as error:
                self._host.notice.say(str(error))

        spawn(save(), name="save a verdict")
