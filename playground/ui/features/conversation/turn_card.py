"""The card of a turn: its header, parts, editors and errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
)
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from playground.domain.errors import Failure
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn
from playground.domain.variables import names_in, resolve_turns, unresolved
from playground.engine.session.request_executor import RetryWait
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.card_finds import CardFinds
from playground.ui.features.conversation.commands import Growth, TurnCommands
from playground.ui.features.conversation.part_view import PartContext
from playground.ui.features.conversation.rows import Row, shown_parts
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_editor import TurnEditor
from playground.ui.features.conversation.turn_end import TurnEnd
from playground.ui.features.conversation.turn_header import TurnHeader
from playground.ui.features.conversation.turn_parts import TurnParts
from playground.ui.features.conversation.verdict_view import AnswerCheckView
from playground.ui.widgets import figures
from playground.ui.widgets.card_frame import CardFrame
from playground.ui.widgets.form_parts import text_label
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.parts_row import PartsRow
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.theme import tokens

NO_TEXT_YET = "Receiving non-text content…"
METRICS_S = 0.1  # between two updates of a growing turn's metrics, each of which lays the card out
FEW_ALTERNATIVES = 3  # that ‹ and › reach at once
MAX_TIP = 1500  # characters of the message as it is sent


class TurnCard(CardFrame):
    """Show one row. A row that is growing is drawn by `draw_growth`."""

    def __init__(
        self,
        row: Row,
        commands: TurnCommands,
        tools: tuple[ToolDefinition, ...],
        *,
        zoom: float,
        parent: QWidget,
        width: int = 0,
    ) -> None:
        super().__init__(parent)
        if width:
            self.resize(width, self.height())
        self._commands = commands
        self._context = PartContext(
            frame=self,
            commands=commands,
            row=row,
            tools=tools,
            zoom=zoom,
            judged=self.refresh_verdict,
            edit_call=self._edit_call,
        )
        self._waiting = False  # for the next attempt
        self._metrics_at = math.inf  # seconds of the run when the metrics were shown
        self._header = TurnHeader(commands)
        self._header.menu.aboutToShow.connect(self._fill_menu)
        self._body = in_column(margins=0, spacing=8)
        pager = PartsRow(self)
        pager.asked.connect(self._step)
        self._end = TurnEnd(commands, lambda: self.turn.id)
        self._end.height_changed.connect(self.height_changed)
        self._sent = AsSent(self._header, commands)
        self._sent.height_changed.connect(self.height_changed)
        top = in_column(margins=(1, 0, 4, 0))
        column = in_column(self._body, pager, self._end, margins=(1, 2, 4, 0), spacing=8)
        in_column(self._header, top, column, self._sent, parent=self, margins=(17, 6, 10, 10), spacing=2)
        self.parts = TurnParts(self._body, pager, self._context)
        self.finds = CardFinds(self, lambda: self.row, self.parts, self.turn_to)
        self.editing = TurnEditor(self._context, self.parts, self._header, self._body, top)
        self.setObjectName("messageCard")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.show_row(row, tools)

    # What it shows

    @property
    def turn(self) -> Turn:
        """The turn shown."""
        return self._context.turn

    @property
    def row(self) -> Row:
        """The row shown."""
        return self._context.row

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The tools whose schemas validate the calls."""
        return self._context.tools

    @property
    def body(self) -> list[QWidget]:
        """The widgets of the parts in view, from top to bottom."""
        return self.parts.views

    @property
    def calls(self) -> list[CallCard]:
        """The cards of the calls in view."""
        return self.parts.calls

    @property
    def busy(self) -> bool:
        """Return whether text that is typed or selected would be lost with the card."""
        return self.editing.open or self.parts.busy

    def show_row(self, row: Row, tools: tuple[ToolDefinition, ...]) -> None:
        """Show a row. Widgets whose part is the same stay, and with them a selection."""
        received, self._context.row, self._context.tools = self.row.growing, row, tools
        self._waiting, self._metrics_at = False, math.inf
        self.refresh_header()
        if row.growing:
            self._end.clear()
            self._show_waiting()
            return
        parts = shown_parts(row.turn)
        self.parts.show(parts, received=received)
        self._end.show_turn(row.turn)
        if not parts and not self._end:
            words = "(nothing received)" if row.turn.outcome is not None else "(empty)"
            self.parts.show_placeholder(text_label(words, "muted"))
        self._parts_changed()

    def _parts_changed(self) -> None:
        self.refresh_verdict()
        self.editing.follow()
        self.finds.follow()
        self.height_changed.emit()

    def refresh_header(self) -> None:
        """Show the header again."""
        self._sent.follow(self.turn)
        state = self._header.show_row(self.row, growing=self.row.growing, waiting=self._waiting)
        self.setAccessibleName(f"{ROLE_WORDS[self.turn.role]} message {state}".strip())
        self.setProperty("messageId", self.turn.id)

    def refresh_verdict(self) -> None:
        """Show in the header whether an answer matches its format."""
        answer = next((view for view in self.parts.views if isinstance(view, AnswerCheckView)), None)
        self._header.show_verdict(*(answer.chip_text if answer is not None else ("", "chip", "")))

    def refresh_call(self, card: CallCard) -> None:
        """Show what the debugger knows of a call."""
        if not self.row.growing:
            card.show_state(self._commands.calls.state(self.turn.id, card.call.id))

    def _edit_call(self, call_id: str) -> None:
        self.editing.edit_call(call_id)

    # Pages of parts

    def _step(self, direction: str) -> None:
        self.parts.step(direction)
        self._parts_changed()

    def _set_raw(self, raw: bool) -> None:
        self.parts.set_raw(raw)
        self._parts_changed()

    def turn_to(self, number: int) -> None:
        """Show the page with the part of this number."""
        if self.parts.turn_to(number):
            self._parts_changed()

    def turn_to_call(self, call_id: str) -> CallCard | None:
        """Show the page with a call, and return its card."""
        parts = enumerate(shown_parts(self.turn))
        is_call = (number for number, part in parts if part.kind == "tool_call" and part.id == call_id)
        self.turn_to(next(is_call, self.parts.first))
        return next((card for card in self.calls if card.call.id == call_id), None)

    # A turn that is being received

    def draw_growth(self, growth: Growth) -> None:
        """Draw what has arrived, or the wait for the next attempt."""
        choice, elapsed, wait, starting = growth
        if (wait is not None) is not self._waiting:
            self._waiting = wait is not None
            self.refresh_header()
        self._show_trouble(wait, choice.failure, has_parts=bool(choice.parts))
        if not 0 <= elapsed - self._metrics_at < METRICS_S:
            self._metrics_at = elapsed
            self._header.show_metrics(figures.live_figures(elapsed, choice.deltas))
        if self.parts.views and isinstance(label := self.parts.views[0], QLabel):
            if choice.parts:
                self.parts.clear()
            else:
                waiting = figures.waiting_words(starting=starting)
                label.setText(NO_TEXT_YET if choice.members is not None else waiting)
        self.parts.draw_growing_parts(choice.parts, figures.seconds(elapsed), is_json=choice.is_json)
        self.finds.follow()

    def _show_waiting(self) -> None:
        if not self.parts.views:
            self.parts.show_placeholder(text_label(figures.waiting_words(), "muted"))
            self.height_changed.emit()

    def _show_trouble(self, wait: RetryWait | None, failure: Failure | None, *, has_parts: bool) -> None:
        if wait is not None:
            self.parts.clear()
            self._end.show_retry_wait(wait)
        elif failure is not None:
            if not has_parts:
                self.parts.clear()
            self._end.show_live(failure, arrived=has_parts)
        elif self._end:  # the next attempt begins
            self._end.clear()
            self._show_waiting()

    # The menu

    def _fill_menu(self) -> None:
        menu, commands, turn = self._header.menu, self._commands, self.turn
        menu.clear()

        def add(words: str, command: Callable[[], object]) -> None:
            menu.addAction(words).triggered.connect(lambda _checked: command())

        for words, command in self.editing.menu_entries:
            add(words, command)
        if turn.outcome is not None and not commands.read_only:
            add("Regenerate", partial(commands.regenerate, turn.id))
        menu.addSeparator()
        add("Copy text", self._copy)
        raw = menu.addAction("Raw text")
        raw.setCheckable(True)
        raw.setChecked(self._context.raw)
        raw.toggled.connect(self._set_raw)
        if turn.outcome is not None:
            add("Show request and response", partial(commands.show_exchange, turn.id))
            add("Show its events", partial(commands.frames_asked.emit, turn.id, ""))
        if commands.read_only:
            return
        if turn.outcome is not None:
            add("Compare with…", partial(commands.compare_asked.emit, turn.id))
        if len(self.row.alternatives) > FEW_ALTERNATIVES:
            add("Go to alternative…", partial(commands.choose_alternative, turn.id))
        if len(self.row.alternatives) > 1:
            add("Open in Compare", partial(commands.alternatives_asked.emit, turn.id))
        if not turn.role.is_instruction:
            add("Make this a case", partial(commands.case_asked.emit, turn.id))
        menu.addSeparator()
        add("Move up", partial(commands.move_turn, turn.id, -1))
        add("Move down", partial(commands.move_turn, turn.id, 1))
        menu.addSeparator()
        add("Delete", partial(commands.delete_turn, turn.id))

    def _copy(self) -> None:
        text = self.turn.text or "\n".join(result.text for result in self.turn.results)
        QGuiApplication.clipboard().setText(text)

    # Pasted and dropped images

    def keyPressEvent(self, event: QKeyEvent) -> None:
        mime = QGuiApplication.clipboard().mimeData() if event.matches(QKeySequence.StandardKey.Paste) else None
        if mime is None or not self.editing.takes(mime, True):
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._dragged(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._dragged(event)

    def _dragged(self, event: QDragMoveEvent) -> None:
        """Accept images; anything else is for the window."""
        if self.editing.takes(event.mimeData(), False):
            event.acceptProposedAction()
            self.mark(True)
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.mark(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self.mark(False)
        if self.editing.takes(event.mimeData(), True):
            event.acceptProposedAction()
        else:
            event.ignore()

    # Look

    def stripe(self) -> str:
        return tokens().role(self.turn.role)

    def heads(self) -> Iterator[tuple[int, int]]:
        """Yield the upper and lower edges of headers and captions, in pixels of the parent."""
        top = self.y()
        yield top, top + self._header.geometry().bottom()
        for call in self.calls:
            upper = top + call.mapTo(self, QPoint(0, 0)).y()
            yield upper, upper + call.rule.y()
            for caption in call.captions:
                line = top + caption.mapTo(self, QPoint(0, 0)).y()
                yield line, line + caption.height()


class AsSent(QFrame):
    """A message with its variables replaced. Its button in the header is there only for messages with variables."""

    height_changed = Signal()

    def __init__(self, header: TurnHeader, commands: TurnCommands) -> None:
        super().__init__()
        self._header = header
        self._commands = commands
        self._turn: Turn | None = None
        self._view: TextView | None = None  # made when it is first shown
        self._column = in_column(text_label("As sent", "group"), parent=self, margins=(10, 6, 8, 6), spacing=3)
        self.setProperty("kind", "as-sent")
        self.setAccessibleName("The message as it is sent")
        header.as_sent.toggled.connect(self._show)
        self.hide()

    def follow(self, turn: Turn) -> None:
        """Show this turn with the current values."""
        button = self._header.as_sent
        last, self._turn = self._turn, turn
        names = names_in((turn,)) if turn.role is not Role.ASSISTANT else ()
        if not names:
            if not button.isHidden():
                button.setChecked(False)
                button.hide()
            return
        if last is not None and last.id != turn.id:
            button.setChecked(False)
        missing = unresolved((turn,), self._commands.variables)
        self._header.show_variables(missing, f"Variables: {', '.join(names)}\n\n{self.text[:MAX_TIP]}")
        if button.isChecked() and self._view is not None:
            self._view.set_text(self.text)

    @property
    def text(self) -> str:
        """The text of the message, or its result, with the values of variables."""
        if self._turn is None:
            return ""
        (turn,) = resolve_turns((self._turn,), self._commands.variables)
        return turn.text or "\n".join(result.text for result in turn.results)

    def _show(self, on: bool) -> None:
        if on and self._view is None:
            self._view = TextView(mode="plain", zoom=1.0)
            self._view.setAccessibleName("Text as it is sent")
            self._view.height_changed.connect(self.height_changed)
            self._column.addWidget(self._view)
        if on and self._view is not None:
            self._view.set_text(self.text)
        self.setVisible(on)
        self.height_changed.emit()
