"""One answer of an evaluation, below the table: its turns, what the checks say of it, what went over the wire."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QTabBar, QWidget

from playground.domain.checks.asked import You
from playground.engine.evaluation.answers import AnswersError, SavedAnswer
from playground.engine.evaluation.cases import begin_with_answer
from playground.engine.evaluation.digests import check_key
from playground.engine.evaluation.judging import manual_verdict
from playground.engine.evaluation.provider import received_turns
from playground.engine.evaluation.resolved import case_title
from playground.engine.session.plan import Keep
from playground.jsonkit.texts import cut
from playground.ui.features.evaluate.answer_pane import AnswerPane, session_of
from playground.ui.features.evaluate.frames import Frames
from playground.ui.features.evaluate.verdicts import ChecksPage, Judged, Thumbs, VerdictTable, thumb_of
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
    from playground.ui.features.evaluate.look import Look

TITLE = 60  # characters of the title of a conversation that an answer becomes
STEP_S = 0.005  # between two steps in which a page is made: what else is due has its turn
LEAST = QSize(320, 170)
ANSWERS, CHECKS, REQUEST, TIMELINE = range(4)
CHOOSE: Final = (
    "Choose a cell of the table to see its answers, what the checks say of them, and what went over the wire."
)


class Detail(QWidget):
    """What ``look`` has chosen. ``host`` opens answers as conversations.

    ``again_asked`` carries the case and the column of a cell that is to be run again, ``opened`` the session of a
    conversation that an answer became: it is the one looked at.
    """

    again_asked = Signal(object, object)
    opened = Signal(object)

    def __init__(self, look: Look, host: Host) -> None:
        super().__init__()
        self._look, self._host = look, host
        self.setObjectName("answerDetails")
        self._number = 0  # of what was chosen last
        self._answer: Answer | None = None
        self._kept = SavedAnswer()
        self._place: tuple[Case, EvalVariant] | None = None
        self._pane: AnswerPane | None = None
        self._frames: Frames | None = None
        self.setProperty("kind", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.tabs = QTabBar()
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setAccessibleName("About the answer")
        for title in ("Answers", "Checks", "Request", "Timeline"):
            self.tabs.addTab(title)
        self.title = ElidedLabel("Answer", align=Qt.AlignmentFlag.AlignRight)
        self.before = IconButton("chevron-left", "The repeat before", size=14)
        self.count = text_label("", "muted")
        self.after = IconButton("chevron-right", "The repeat after", size=14)
        for button, by in ((self.before, -1), (self.after, 1)):
            button.clicked.connect(partial(self.step, by))
        head = in_row(self.tabs, (self.title, 1), self.before, self.count, self.after, margins=(12, 0, 8, 0), spacing=6)
        self._empty = empty_words(CHOOSE)
        self.checks = ChecksPage(look.entered)
        self.checks.given.connect(self._given)
        self._wire = QWidget()
        self._wire_column = in_column(of=self._wire, margins=0, spacing=0)
        self._stack = in_pages(self._empty, self._answers_page(), self.checks, self._wire)
        in_column(head, thin_line(), (self._stack, 1), of=self, margins=0, spacing=0)
        self.tabs.currentChanged.connect(self._tab_changed)
        look.chosen.connect(self._chosen)
        look.planned.connect(self._again)
        look.arrived.connect(self._arrived)
        look.moved.connect(self._again)

    def _answers_page(self) -> QWidget:
        self.failure = MarkLabel(wraps=True)
        styled(self.failure, "error")
        self.failure.set_mark("error", "error")
        self.failure.setContentsMargins(12, 6, 12, 0)
        self.verdicts = VerdictTable()
        self.verdicts.looked_at.connect(self._look_at_check)
        self.open_button = push_button("Open as conversation")
        self.open_button.setToolTip("Make it an experiment of its own, and go on from there")
        self.frames_button = push_button("Show frames")
        self.again_button = push_button("Run this cell again")
        self.again_button.setToolTip("Let the answers of this case and variant go, and ask for them again")
        self.open_button.clicked.connect(self.open_as_conversation)
        self.frames_button.clicked.connect(partial(self.tabs.setCurrentIndex, TIMELINE))
        self.again_button.clicked.connect(self.ask_again)
        self.thumbs = Thumbs()
        self.thumbs.setMinimumWidth(200)
        self.thumbs.given.connect(self._thumb)
        buttons = QWidget()
        flow = FlowLayout(buttons, 8)
        for one in (self.open_button, self.frames_button, self.again_button, self.thumbs):
            flow.addWidget(one)
        left = QWidget()
        self._turns = in_column(of=left, margins=0, spacing=0)
        below = in_row((buttons, 1), margins=(12, 4, 12, 8))
        whole = QWidget()
        in_column(self.failure, (left, 1), below, of=whole, margins=0, spacing=0)
        page = split(whole, self.verdicts, sizes=(640, 400), thin=True)
        page.setStretchFactor(0, 3)
        page.setStretchFactor(1, 2)
        return page

    def minimumSizeHint(self) -> QSize:
        """Of any page the same: the table above does not jump when another one is looked at."""
        return LEAST

    # What is chosen

    @property
    def kept(self) -> SavedAnswer:
        """What is kept of the answer that is shown."""
        return self._kept

    @property
    def shown(self) -> Answer | None:
        """The answer that is shown; None while there is none."""
        return self._answer

    @property
    def pane(self) -> AnswerPane | None:
        """Where its turns are, once there were any."""
        return self._pane

    def step(self, by: int, _checked: bool = False) -> None:
        """Go to the repeat so many after this one."""
        look = self._look
        repeat = look.repeat + by
        if 0 < repeat <= len(look.cell_answers()):
            look.choose(look.case, look.column, repeat)

    def _arrived(self, answers: list[Answer]) -> None:
        look = self._look
        if look.case is None or look.column is None:
            return
        digest = look.resolved.digest(look.case, look.column)
        if any(one.digest == digest for one in answers):
            self._again()

    def _chosen(self) -> None:
        self._flush()
        self._again()

    def _flush(self) -> None:
        for thumbs in (self.thumbs, self.checks.thumbs):
            thumbs.flush()

    def hideEvent(self, event: QHideEvent) -> None:
        self._flush()
        self._number += 1  # what is being read comes too late
        super().hideEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._again()

    def _again(self) -> None:
        """Show what is chosen as it is now, where anybody sees it."""
        if not self.isVisible():
            return
        look = self._look
        self._number += 1
        case, column, answer = look.case, look.column, look.answer
        if case is None or column is None:
            self._place = self._answer = None
            self._show_head("", 0, 0)
            self._say_empty(CHOOSE)
            return
        self._place = case, column
        name = case_title(case, look.resolved.numbers.get(case.id, 0))
        answers = look.cell_answers()
        self._show_head(f"{name} · {column.letter}", sum(one is not None for one in answers), len(answers))
        if answer is None:
            self._answer = None
            self._say_empty("This answer is under way, or will be soon." if look.under_way else "Not asked for yet.")
        else:
            spawn(self._read(self._number, case, column, answer), name="show an answer")

    def _show_head(self, title: str, came: int, repeats: int) -> None:
        self.title.set_text(show_hidden(title))
        self.tabs.setTabText(ANSWERS, f"Answers {came}" if came else "Answers")
        repeat = self._look.repeat
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
        kept = self._kept
        same = before is not None and (before.key, before.created_at) == (answer.key, answer.created_at)
        if not same or before is None or before.verdicts != answer.verdicts:  # a judge may have been asked
            try:
                kept = await self._look.kept(answer)
            except AnswersError as error:
                if number == self._number:
                    self._answer = None
                    self._say_empty(str(error))
                return
        if number == self._number and self._pane is None:  # made in steps, the window goes on between them
            self._stack.setCurrentIndex(1)
            await asyncio.sleep(STEP_S)
            if number == self._number:
                self._make_pane(column)
                await asyncio.sleep(STEP_S)
        if number == self._number:
            self._show(case, column, answer, kept, same=same)

    def _show(self, case: Case, column: EvalVariant, answer: Answer, kept: SavedAnswer, *, same: bool) -> None:
        self._flush()
        self._answer, self._kept = answer, kept
        if not same:
            self._show_turns(case, column, kept)
        told = any(turn.outcome is not None and turn.outcome.failure is not None for turn in kept.turns)
        say(self.failure, f"Failed to answer: {answer.failure}" if answer.failure and not told else "")
        rows = self._rows(case, answer)
        self.verdicts.show_verdicts(rows)
        self.verdicts.setVisible(bool(rows))
        self.checks.show_verdicts(self._look.resolved, answer, rows)
        you = next((one for one in rows if isinstance(one.check, You)), None)
        given = thumb_of(you.check, you.verdict) if you is not None and isinstance(you.check, You) else (None, "")
        self.thumbs.show_given(answer.key, *given)
        self.thumbs.setVisible(not answer.failure)
        self._tab_changed(self.tabs.currentIndex())

    def _rows(self, case: Case, answer: Answer) -> list[Judged]:
        if answer.failure:
            return []
        judgements = self._kept.judgements
        keyed = self._look.resolved.checks(case)
        return [Judged(key, check, answer.verdicts.get(key), judgements.get(key)) for key, check in keyed]

    def _show_turns(self, case: Case, column: EvalVariant, kept: SavedAnswer) -> None:
        pane, resolved = self._pane or self._make_pane(column), self._look.resolved
        pane.set_session(session_of(resolved, column, kept))
        came = received_turns(kept.turns, resolved.sent_turns(case, column))
        pane.show_from(came[0] if came else None)

    def _make_pane(self, column: EvalVariant) -> AnswerPane:
        look, main = self._look, self._host.pane
        pane = self._pane = AnswerPane(session_of(look.resolved, column, SavedAnswer()), look.entered)
        pane.link_asked.connect(main.link_asked)
        pane.advice_asked.connect(main.advice_asked)
        pane.again_asked.connect(self.ask_again)
        pane.stream_asked.connect(partial(look.change, streamed=True))
        pane.exchange_asked.connect(partial(self._show_wire, REQUEST))
        pane.wire.frames_asked.connect(self._show_frames_of)
        pane.wire.hole_asked.connect(self._show_frames_of)
        pane.wire.lint_asked.connect(self._show_frames_of)
        self._turns.addWidget(pane, 1)
        return pane

    # Tabs

    def _tab_changed(self, index: int) -> None:
        if self._answer is None:
            return
        if index in (REQUEST, TIMELINE):
            self.wire.show_tab(self.tabs.tabText(index))
            self.wire.show_exchanges(self._kept.exchanges, self._look.plan.keep)
        self._stack.setCurrentIndex(min(index, REQUEST) + 1)

    @property
    def wire(self) -> Frames:
        """What went over the wire."""
        if self._frames is None:
            self._frames = Frames()
            self._frames.keep_asked.connect(partial(self._look.change, keep=Keep.ALL))
            self._frames.again_asked.connect(self.ask_again)
            self._wire_column.addWidget(self._frames)
        return self._frames

    def _look_at_check(self, row: int) -> None:
        self.tabs.setCurrentIndex(CHECKS)
        self.checks.choose(row)

    def _show_frames_of(self, turn_id: str, _call_id: str = "") -> None:
        turn = next((one for one in self._kept.turns if one.id == turn_id), None)
        exchange = turn.outcome.exchange if turn is not None and turn.outcome is not None else None
        self._show_wire(TIMELINE, exchange or "")

    def _show_wire(self, index: int, exchange_id: str) -> None:
        self.tabs.setCurrentIndex(index)
        self.wire.show_exchange(exchange_id)

    # Doing

    def ask_again(self) -> None:
        """Have the cell run again."""
        if self._place is not None:
            self.again_asked.emit(*self._place)

    def open_as_conversation(self) -> None:
        """Make the answer an experiment of its own."""
        if self._answer is None or self._place is None:
            return
        workspace = self._host.workspace
        column = self._place[1]
        session = workspace.blank(column.settings.profile_id)
        begin_with_answer(session, column, self._kept, cut(self.title.text, TITLE))
        workspace.add_experiment(session)
        self.opened.emit(session)

    def _thumb(self, good: bool | None, note: str) -> None:
        """A thumb for the first check that a person makes; where there is none, there is one from now on."""
        if self._answer is None or self._place is None:
            return
        keyed = self._look.resolved.checks(self._place[0])
        found = next(((key, check) for key, check in keyed if isinstance(check, You)), None)
        if found is None:
            check = You()
            self._look.change(checks=(*self._look.plan.checks, check))
            found = check_key(check), check
        key, check = found
        self._keep_verdict(self._answer, key, check, good, note)

    def _given(self, key: str, good: bool | None, note: str) -> None:
        if self._answer is None or self._place is None:
            return
        check = dict(self._look.resolved.checks(self._place[0])).get(key)
        if isinstance(check, You):
            self._keep_verdict(self._answer, key, check, good, note)

    def _keep_verdict(self, answer: Answer, key: str, check: You, good: bool | None, note: str) -> None:
        async def keep() -> None:
            try:
                await self._look.judge(answer, {key: manual_verdict(check, good, note)})
            except AnswersError as error:
                self._host.notice.say(str(error))

        spawn(keep(), name="keep a verdict")
