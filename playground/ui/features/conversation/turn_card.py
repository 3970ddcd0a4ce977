"""One turn as a card: who speaks, what was said, what it cost, and what can be done with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
    QIcon,
    QKeyEvent,
    QKeySequence,
)
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QSizePolicy, QSpacerItem, QToolButton, QVBoxLayout, QWidget

from playground.domain.errors import Failure
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn
from playground.domain.variables import names_in, resolve_turns, unresolved
from playground.engine.advice.parts import Action
from playground.engine.session.request_executor import RetryWait
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.card_editing import CardEditing
from playground.ui.features.conversation.card_finds import CardFinds
from playground.ui.features.conversation.card_frame import CardFrame
from playground.ui.features.conversation.card_parts import CardParts
from playground.ui.features.conversation.commands import Growth, TurnCommands
from playground.ui.features.conversation.part_views import Drawing, calls_in, drawn_by, growing_view, view_for
from playground.ui.features.conversation.parts_row import PartsRow
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.shown_parts import PAGE, Shown, shown_parts
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.turn_end import TurnEnd
from playground.ui.features.conversation.turn_header import TurnHeader
from playground.ui.features.conversation.verdict_view import AnswerCheckView
from playground.ui.widgets import figures
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.loop import Throttle
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.theme import tokens

OTHERWISE = "Receiving what is not text…"
FIGURES_S = 0.1  # between two readings of the figures of a growing turn: each lays the card out

SAYS = "Show this turn as it is sent"
LONGEST_TIP = 1500  # characters


class AsSent(QFrame):
    """Hidden until the ``button`` is pressed, which is there only for turns with variables.

    ``values`` gives theirs, by name.
    """

    height_changed = Signal()

    def __init__(self, values: Callable[[], Mapping[str, str]], button: QToolButton) -> None:
        super().__init__()
        self._values = values
        self._button = button
        self._turn: Turn | None = None
        self._view: TextView | None = None
        self._column = in_column(of=self, margins=(10, 6, 8, 6), spacing=3)
        self.setProperty("kind", "as-sent")
        self.setAccessibleName("The turn as it is sent")
        button.setText("as sent")
        button.setCheckable(True)
        button.hide()
        button.toggled.connect(self._toggled)
        self.hide()

    def follow(self, turn: Turn) -> None:
        """Another turn is shown, or other values hold."""
        before, self._turn = self._turn, turn
        if turn.role is Role.ASSISTANT or not (names := names_in((turn,))):
            if before is not None and not self._button.isHidden():
                self._button.setChecked(False)
                self._button.hide()
            return
        if before is not None and before.id != turn.id:
            self._button.setChecked(False)
        missing = unresolved((turn,), self._values())
        lacks = f"; no value yet: {', '.join(missing)}" if missing else ""
        self._button.setIcon(icon("warning", "tool") if missing else QIcon())
        look = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if missing else Qt.ToolButtonStyle.ToolButtonTextOnly
        self._button.setToolButtonStyle(look)
        self._button.setAccessibleName(f"{SAYS}{lacks}")
        self._button.setToolTip(tip(f"{SAYS}{lacks}. Variables: {', '.join(names)}\n\n{self.text[:LONGEST_TIP]}"))
        self._button.show()
        if self._button.isChecked() and self._view is not None:
            self._view.set_text(self.text)

    @property
    def text(self) -> str:
        """The text of the turn, or its result, with the values in it."""
        if self._turn is None:
            return ""
        (turn,) = resolve_turns((self._turn,), self._values())
        return turn.text or "\n".join(result.text for result in turn.results)

    def _toggled(self, on: bool) -> None:
        if on and self._view is None:
            caption = text_label("As sent", "group")
            self._view = TextView(mode="plain", zoom=1.0)
            self._view.setAccessibleName("Text as it is sent")
            self._view.height_changed.connect(self.height_changed)
            self._column.addWidget(caption)
            self._column.addWidget(self._view)
        if on and self._view is not None:
            self._view.set_text(self.text)
        self.setVisible(on)
        self.height_changed.emit()


FEW_BESIDE = 3  # alternatives: ‹ and › lead to each of them at once


def fill_menu(
    menu: QMenu,
    row: Row,
    commands: TurnCommands,
    exact: bool,
    copy: Callable[[], None],
    set_exact: Callable[[bool], None],
    more: Sequence[tuple[str, Callable[[], None]]] = (),
) -> None:
    """Fill the menu anew for a row; ``exact`` says whether its exact text is shown, ``more`` is for its role."""
    menu.clear()
    turn = row.turn
    menu.addAction("Copy text").triggered.connect(copy)
    raw = menu.addAction("Raw text")
    raw.setCheckable(True)
    raw.setChecked(exact)
    raw.toggled.connect(set_exact)
    for words, act in more:
        menu.addAction(words).triggered.connect(act)
    if turn.outcome is not None:
        menu.addAction("Show request and response").triggered.connect(partial(commands.show_exchange, turn.id))
        menu.addAction("Show its events").triggered.connect(partial(commands.wire.frames_asked.emit, turn.id, ""))
    if commands.read_only:
        return
    if turn.outcome is not None:
        menu.addAction("Compare with…").triggered.connect(partial(commands.wire.compare_asked.emit, turn.id))
        menu.addAction("Regenerate").triggered.connect(partial(commands.regenerate, turn.id))
    if len(row.alternatives) > FEW_BESIDE:
        menu.addAction("Go to an alternative…").triggered.connect(partial(commands.choose_alternative, turn.id))
    if len(row.alternatives) > 1:
        menu.addAction("Open in Compare").triggered.connect(partial(commands.open_in_compare, turn.id))
    if turn.role not in (Role.SYSTEM, Role.DEVELOPER):
        menu.addAction("Make this a case").triggered.connect(partial(commands.make_case, turn.id))
    menu.addSeparator()
    menu.addAction("Move up").triggered.connect(partial(commands.move_turn, turn.id, -1))
    menu.addAction("Move down").triggered.connect(partial(commands.move_turn, turn.id, 1))
    menu.addSeparator()
    menu.addAction("Delete").triggered.connect(partial(commands.delete_turn, turn.id))


class TurnCard(CardFrame):
    """Shows one row."""

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
        """`width` is the one that the card will have."""
        super().__init__(parent)
        if width:
            self.resize(width, self.height())
        self._commands = commands
        self._drawing = Drawing(
            frame=self,
            commands=commands,
            row=row,
            tools=tools,
            zoom=zoom,
            judged=self.refresh_verdict,
            edit_call=self._edit_call,
            patient=False,
        )
        self._rest: QSpacerItem | None = None
        self._growth: Growth | None = None
        self._grew = False  # drawn since the last step of what was too much for one
        self._going = Throttle(self._go_on, self)
        self._header = TurnHeader(fixed=commands.read_only)
        self._header.role_chosen.connect(self._role_chosen)
        self._header.alternative_chosen.connect(commands.select_alternative)
        self._header.alternatives.whose = commands.other_lane
        self._header.lint_asked.connect(self._ask_lint)
        self._header.menu.aboutToShow.connect(self._fill_menu)
        self._body = QVBoxLayout()
        self._body.setSpacing(8)
        self._end = TurnEnd(fixed=commands.read_only)
        self._end.action_taken.connect(self._advice_taken)
        self._end.frame_asked.connect(self._ask_hole)
        self._end.height_changed.connect(self.height_changed)
        column = QVBoxLayout()
        column.setContentsMargins(1, 2, 4, 0)  # text begins where the role does
        column.setSpacing(8)
        column.addLayout(self._body)
        row_of_parts = PartsRow(self)
        row_of_parts.asked.connect(lambda where: self._patiently(lambda: self.parts.step(where)))
        column.addWidget(row_of_parts)
        column.addLayout(self._end)
        self.parts = CardParts(self._body, row_of_parts, self._make, self._fill)
        self.finds = CardFinds(self, lambda: self.row, self.parts, self.turn_to)
        top = QVBoxLayout()  # what stands above the parts
        top.setContentsMargins(1, 0, 4, 0)
        layout = in_column(self._header, top, column, of=self, margins=(17, 6, 10, 10), spacing=2)
        self.editing = CardEditing(self._drawing, self.parts, self._header, self._body, top)
        self._sent = AsSent(lambda: commands.variables, self._header.sent)
        self._sent.height_changed.connect(self.height_changed)
        layout.addWidget(self._sent)
        self.setObjectName("messageCard")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.show_row(row, tools)

    def heads(self) -> Iterator[tuple[int, int]]:
        """Upper and lower edges of what names things: the turn's header and its calls', in pixels of the parent."""
        top = self.y()
        yield top, top + self._header.geometry().bottom()
        for call in self.calls:
            upper = top + call.mapTo(self, QPoint(0, 0)).y()
            yield upper, upper + call.rule.y()
            for word in call.captions:
                line = top + word.mapTo(self, QPoint(0, 0)).y()
                yield line, line + word.height()

    @property
    def turn(self) -> Turn:
        """The turn shown."""
        return self._drawing.turn

    @property
    def row(self) -> Row:
        """The row shown."""
        return self._drawing.row

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The tools that its calls are judged by."""
        return self._drawing.tools

    def refresh_header(self) -> None:
        """Show the figures again."""
        self._refresh_header(self._drawing.row.growing)

    def refresh_verdict(self) -> None:
        """Say in the head what is thought of an answer that was to be JSON."""
        judged = next((view for view in self.parts.views if isinstance(view, AnswerCheckView)), None)
        self._header.show_verdict(*(judged.chip_text if judged is not None else ("", "chip", "")))

    def _refresh_header(self, growing: bool, *, waiting: bool = False) -> None:
        self._sent.follow(self.turn)
        cost = "" if growing else self._commands.cost_words(self.turn.id)
        most = None if growing else self._commands.output_limit(self.turn.id)
        chip = self._header.show_row(self._drawing.row, growing=growing, cost=cost, waiting=waiting, most=most)
        self.setAccessibleName(f"{ROLE_WORDS[self.turn.role]} turn {chip}".strip())
        self.setProperty("messageId", self.turn.id)

    # Content

    def show_row(self, row: Row, tools: tuple[ToolDefinition, ...]) -> None:
        """Show a turn that is whole. Views whose text is the same stay, and with them a selection."""
        drawing = self._drawing
        came, drawing.row, drawing.tools = drawing.row.growing, row, tools
        self._waiting, self._told = False, math.inf
        self._refresh_header(row.growing)
        if row.growing:
            self._end.clear()
            self._show_waiting()
            return
        wanted = shown_parts(row.turn)
        self.parts.show(wanted, anew=drawing.patient, came=came)
        self._end.show_turn(row.turn)
        if not wanted and not self._end:
            empty = styled(QLabel("(nothing arrived)" if row.turn.outcome is not None else "(empty)"), "muted")
            self.parts.put_alone(empty)
        self._parts_made()

    def _parts_made(self) -> None:
        """Some views are new, or there are others."""
        if not self.parts.whole:
            self._going.poke()
        self.leave_room(not self.parts.whole)
        self.refresh_verdict()
        self.editing.follow()
        self.finds.follow()
        self.height_changed.emit()

    def leave_room(self, missing: bool) -> None:
        """As long as parts are missing the others stand above, as high as they are."""
        layout = self.layout()
        if layout is None or missing is (self._rest is not None):
            return
        if self._rest is None:
            self._rest = QSpacerItem(0, 0, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Expanding)
            layout.addItem(self._rest)
        else:
            layout.removeItem(self._rest)
            self._rest = None

    def _patiently(self, work: Callable[[], object]) -> None:
        """Make some views, with the beginnings of their texts."""
        self._drawing.patient = True
        work()
        self._drawing.patient = False
        self._parts_made()

    def turn_to(self, at: int) -> None:
        """Show the part of that number among those of the turn that are shown, all of its page."""
        if not self.parts.first <= at < self.parts.first + PAGE:
            self._patiently(lambda: self.parts.turn_to(at))
        while not self.parts.whole:
            self.fill()

    def turn_to_call(self, call_id: str) -> CallCard | None:
        """Show the call of that id."""
        parts = enumerate(shown_parts(self.turn))
        self.turn_to(next((at for at, one in parts if one.kind == "tool_call" and one.id == call_id), self.parts.first))
        return next((card for card in self.calls if card.call.id == call_id), None)

    def _show_waiting(self) -> None:
        """Nothing has arrived yet. What has is drawn by ``draw_growth``."""
        if not self.parts.views:
            label = text_label(figures.waiting_words(), "muted")
            self.parts.put_alone(label)
            self.height_changed.emit()

    def _make(self, part: Shown, old: list[QWidget]) -> QWidget:
        return view_for(part, old, self._drawing)

    def refresh_call(self, card: CallCard) -> None:
        """The debugger may know something else of a call."""
        if not self._drawing.row.growing:
            card.show_state(self._commands.calls.state(self.turn.id, card.call.id))

    def _fill(self, view: QWidget, part: Shown) -> None:
        drawn_by(view).show(view, part, self._drawing)

    @property
    def whole(self) -> bool:
        """Whether all of its parts are in it."""
        return self.parts.whole

    @property
    def bare(self) -> bool:
        """Whether there is nothing to be seen yet but its head."""
        return not self.parts.views and not self.parts.whole

    def fill(self) -> None:
        """Make some more of the parts."""
        if not self.parts.whole:
            self._patiently(self.parts.go_on)

    def draw_growth(self, growth: Growth) -> None:
        """Draw what has arrived since the last time, or how long the next try is waited for."""
        choice, elapsed, pause, starting = growth
        waiting = pause is not None
        if waiting is not self._waiting:
            self._waiting = waiting
            self._refresh_header(growing=True, waiting=waiting)
        self._show_trouble(pause, choice.failure, has_parts=bool(choice.parts))
        if not 0 <= elapsed - self._told < FIGURES_S:
            self._told = elapsed
            self._header.show_figures(figures.live_figures(elapsed, choice.deltas))
        if self.parts.views and isinstance(label := self.parts.views[0], QLabel):
            if choice.parts:
                self.parts.clear()
            else:
                label.setText(OTHERWISE if choice.members is not None else figures.waiting_words(starting=starting))
        self._growth, self._grew = growth, True
        if self.parts.add_views(choice.parts, lambda part: growing_view(part, self._drawing, is_json=choice.is_json)):
            self._going.poke()
        last = len(choice.parts) - 1
        for number, view in enumerate(self.parts.views, self.parts.first):
            if number <= last:
                seconds = figures.seconds(elapsed) if number == last else None
                drawn_by(view).draw_growing_part(view, choice.parts[number], self._drawing, seconds)
        self.finds.follow()

    def _go_on(self) -> None:
        """Another step of what was too much for one."""
        if self._drawing.row.growing:
            if self._grew:  # more came, and that was a step
                self._going.poke()
            elif self._growth is not None:
                self.draw_growth(self._growth)
            self._grew = False
        elif not self.whole:
            self.fill()
            self._going.poke()

    def _show_trouble(self, pause: RetryWait | None, failure: Failure | None, *, has_parts: bool) -> None:
        if pause is not None:
            self.parts.clear()
            self._end.show_retry_wait(pause)
        elif failure is not None:
            if not has_parts:
                self.parts.clear()
            self._end.show_live(failure, arrived=has_parts)
        elif self._end:  # the next try begins
            self._end.clear()
            self._show_waiting()

    # Images

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Images that are pasted onto the card are the turn's."""
        mime = QGuiApplication.clipboard().mimeData() if event.matches(QKeySequence.StandardKey.Paste) else None
        if mime is None or not self.editing.takes(mime, True):
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._dragged(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._dragged(event)

    def _dragged(self, event: QDragMoveEvent) -> None:
        """What is no image, or for a turn that takes none, is everybody else's business."""
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

    # Doing

    @property
    def busy(self) -> bool:
        """Whether something typed here, or selected, would be lost with the card."""
        return self.editing.open or any(drawn_by(view).busy(view) for view in self.parts.views)

    @property
    def body(self) -> list[QWidget]:
        """The parts from top to bottom."""
        return self.parts.views

    # Used again for another row: cheaper than a new card

    @property
    def as_made(self) -> bool:
        """Whether nothing was done to it by hand and it shows a turn that is whole."""
        return not self._drawing.row.growing and not self.editing.open and not self._drawing.exact

    def take_row(self, row: Row, tools: tuple[ToolDefinition, ...]) -> None:
        """Show another turn, as a new card would."""
        for view in self.parts.views:
            drawn_by(view).renew(view)
        self._drawing.patient = True
        self.show_row(row, tools)
        self._drawing.patient = False

    @property
    def calls(self) -> list[CallCard]:
        """The cards of the calls in this turn."""
        return calls_in(self.parts.views)

    def set_zoom(self, zoom: float) -> None:
        """Another text size."""
        self._drawing.zoom = zoom
        for view in self.parts.views:
            drawn_by(view).set_zoom(view, zoom)

    def _fill_menu(self) -> None:
        drawing, more = self._drawing, self.editing.offers
        fill_menu(self._header.menu, drawing.row, self._commands, drawing.exact, self._copy, self._set_exact, more)

    def _copy(self) -> None:
        turn = self.turn
        QGuiApplication.clipboard().setText(turn.text or "\n".join(result.text for result in turn.results))

    def _set_exact(self, exact: bool) -> None:
        self._drawing.exact = exact
        for view, part in zip(self.parts.views, self.parts.shown, strict=False):
            drawn_by(view).set_exact(view, part, self._drawing)

    def _edit_call(self, call_id: str) -> None:
        self.editing.edit_call(call_id)

    def _role_chosen(self, role: Role) -> None:
        self._commands.set_role(self.turn.id, role)

    def _ask_hole(self) -> None:
        self._commands.wire.hole_asked.emit(self.turn.id)

    def _ask_lint(self) -> None:
        self._commands.wire.lint_asked.emit(self.turn.id)

    def _advice_taken(self, action: Action) -> None:
        self._commands.take_advice(self.turn.id, action)

    def stripe(self) -> str:
        return tokens().role(self.turn.role)
