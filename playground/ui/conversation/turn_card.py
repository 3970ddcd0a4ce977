"""One turn as a card: who speaks, what was said, what it cost, and what can be done with it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from playground.domain.accumulator import GrowingChoice
from playground.domain.errors import Failure
from playground.domain.output import wants_json
from playground.domain.parts import Image, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn
from playground.engine.advice import GIVE_UP, RETRY_NOW
from playground.engine.pause import Pause
from playground.ui.conversation import facts
from playground.ui.conversation.call_card import CallCard, json_lines
from playground.ui.conversation.commands import TurnCommands
from playground.ui.conversation.error_card import ErrorCard
from playground.ui.conversation.inline_editor import InlineEditor
from playground.ui.conversation.reasoning_view import ReasoningView
from playground.ui.conversation.rows import Row
from playground.ui.conversation.text_view import TextView
from playground.ui.conversation.turn_header import ROLE_WORDS, TurnHeader
from playground.ui.conversation.turn_images import TurnImages, first_of_runs
from playground.ui.conversation.verdict_view import VerdictView
from playground.ui.theme import tokens


class TurnCard(QFrame):
    """Shows one row. ``height_changed`` asks the transcript to lay the rows out again."""

    height_changed = Signal()

    def __init__(
        self, row: Row, commands: TurnCommands, tools: tuple[ToolDefinition, ...], *, zoom: float, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._commands = commands
        self._row = row
        self._tools = tools
        self._zoom = zoom
        self._parts: list[QWidget] = []
        self._editor: InlineEditor | None = None
        self._exact = False
        self._header = TurnHeader()
        self._header.role_chosen.connect(self._role_chosen)
        self._header.variant_stepped.connect(self._step_variant)
        self._header.edit_asked.connect(self.begin_edit)
        self._header.menu.aboutToShow.connect(self._fill_menu)
        self._body = QVBoxLayout()
        self._body.setContentsMargins(1, 2, 4, 0)  # text begins where the role does
        self._body.setSpacing(8)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(17, 6, 10, 10)
        layout.setSpacing(2)
        layout.addWidget(self._header)
        layout.addLayout(self._body)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.show_row(row, tools)

    @property
    def turn(self) -> Turn:
        """The turn shown."""
        return self._row.turn

    def refresh_header(self) -> None:
        """Show the figures again."""
        self._refresh_header(self._row.growing)

    def _refresh_header(self, growing: bool, *, waiting: bool = False) -> None:
        cost = "" if growing else self._commands.cost_words(self.turn.id)
        chip = self._header.show_row(self._row, growing=growing, cost=cost, waiting=waiting)
        self.setAccessibleName(f"{ROLE_WORDS[self.turn.role]} turn {chip}".strip())

    # Content

    def show_row(self, row: Row, tools: tuple[ToolDefinition, ...]) -> None:
        """Show a turn that is whole. Views whose text is the same stay, and with them a selection."""
        self._row, self._tools = row, tools
        self._refresh_header(row.growing)
        if row.growing:
            self._show_waiting()
            return
        wanted = _wanted(row.turn)
        old, self._parts = self._parts, []
        for part in wanted:
            view = self._reuse(old, part) or self._make(part)
            self._fill(view, part)
            self._parts.append(view)
        judged = next((view for view in self._parts if isinstance(view, VerdictView)), None)
        self._header.show_verdict(*(judged.verdict if judged is not None else ("", "chip", "")))
        outcome = row.turn.outcome
        if outcome is not None and outcome.failure is not None:
            self._parts.append(self._make_error(outcome.failure, streamed=outcome.streamed))
        elif not wanted:
            empty = QLabel("(nothing arrived)" if outcome is not None else "(empty)")
            empty.setProperty("kind", "muted")
            self._parts.append(empty)
        for view in old:
            if view not in self._parts:
                view.hide()
                view.deleteLater()
        for at, view in enumerate(self._parts):
            if self._body.indexOf(view) != at:
                self._body.insertWidget(at, view)
            view.setVisible(self._editor is None or not isinstance(view, TextView | VerdictView))
        self.height_changed.emit()

    def _show_waiting(self) -> None:
        """Nothing has arrived yet. What has is drawn by ``grow``."""
        if not self._parts:
            label = QLabel("Waiting for the first token…")
            label.setProperty("kind", "muted")
            self._parts.append(label)
            self._body.addWidget(label)
            self.height_changed.emit()

    def _reuse(self, old: list[QWidget], part: object) -> QWidget | None:
        for view in old:
            if view in self._parts:
                continue
            if isinstance(part, ToolCall):
                if isinstance(view, CallCard) and view.call.id == part.id:
                    return view
            elif isinstance(part, Reasoning):
                if isinstance(view, ReasoningView):
                    return view
            elif isinstance(part, Image):
                if isinstance(view, TurnImages):
                    return view
            elif isinstance(part, Text) and _is_judged(self.turn):
                if isinstance(view, VerdictView):
                    return view
            elif isinstance(view, TextView) and isinstance(part, Text | Refusal | ToolResult):
                return view
        return None

    def _make(self, part: object) -> QWidget:
        if isinstance(part, ToolCall):
            return self._make_call()
        if isinstance(part, Reasoning):
            return self._make_reasoning()
        if isinstance(part, Image):
            return TurnImages(self._commands)
        if isinstance(part, Text) and _is_judged(self.turn):
            return self._make_verdict()
        exact = isinstance(part, Unknown | ToolResult) or self._exact
        written = self.turn.role is not Role.ASSISTANT
        return self._make_text("raw" if exact else "plain" if written else "markdown")

    def _make_text(self, mode: str) -> TextView:
        view = TextView(mode=mode, zoom=self._zoom)
        view.setAccessibleName("Text of the turn")
        view.link_clicked.connect(self._commands.open_link)
        view.height_changed.connect(self.height_changed)
        return view

    def _make_verdict(self) -> VerdictView:
        view = VerdictView(zoom=self._zoom)
        view.set_exact(self._exact)
        view.height_changed.connect(self.height_changed)
        return view

    def _make_reasoning(self) -> ReasoningView:
        view = ReasoningView(zoom=self._zoom)
        view.height_changed.connect(self.height_changed)
        view.text_view.link_clicked.connect(self._commands.open_link)
        return view

    def _make_call(self) -> CallCard:
        card = CallCard()
        card.height_changed.connect(self.height_changed)
        card.answered.connect(self._commands.answer)
        card.arguments_edited.connect(self._call_edited)
        card.result_edited.connect(self._commands.edit_text)
        card.result_deleted.connect(self._commands.delete_turn)
        return card

    def _make_error(self, failure: Failure, *, streamed: bool, actions: tuple[str, ...] | None = None) -> ErrorCard:
        error = ErrorCard(failure, streamed=streamed, actions=actions)
        error.action_taken.connect(self._advice_taken)
        error.height_changed.connect(self.height_changed)
        return error

    def _fill(self, view: QWidget, part: object) -> None:
        turn = self.turn
        if isinstance(view, CallCard) and isinstance(part, ToolCall):
            tool = next((tool for tool in self._tools if tool.name == part.name), None)
            view.show_call(
                part,
                tool.parameters if tool else None,
                self._row.answers.get(part.id),
                waiting=not turn.truncated,
                known=tool is not None,
            )
        elif isinstance(view, ReasoningView) and isinstance(part, Reasoning):
            view.set_text(part.text or "(redacted by the provider)", facts.reasoning_line(turn))
        elif isinstance(view, TurnImages) and isinstance(part, Image):
            view.show_run(turn, part)
        elif isinstance(view, VerdictView) and isinstance(part, Text):
            view.show_answer(part.text, turn.outcome.response_format if turn.outcome else None)
        elif isinstance(view, TextView):
            if isinstance(part, Text | Refusal | ToolResult):
                view.set_text(part.text)
            elif isinstance(part, Unknown):
                view.set_text("\n".join(line for _, line in json_lines(part.value)))

    def grow(self, choice: GrowingChoice, elapsed: float, pause: Pause | None = None) -> None:
        """Draw what has arrived since the last time, or how long the next try is waited for."""
        self._refresh_header(growing=True, waiting=pause is not None)
        self._show_pause(pause)
        self._header.show_figures(facts.live_figures(elapsed, choice.deltas))
        if choice.parts and self._parts and isinstance(self._parts[0], QLabel):
            self._clear()
        last = len(choice.parts) - 1
        for number, part in enumerate(choice.parts):
            view = self._parts[number] if number < len(self._parts) else None
            if view is None:
                exact = part.kind == "unknown" or self._exact or choice.is_json
                view = {"reasoning": self._make_reasoning, "tool_call": self._make_call}.get(
                    part.kind, partial(self._make_text, "raw" if exact else "markdown")
                )()
                self._parts.append(view)
                self._body.addWidget(view)
            if isinstance(view, ReasoningView):
                if number == last:
                    view.grow(part.fragments, facts.seconds(elapsed))
                else:
                    view.grow(part.fragments, "")
                    view.settle("")
            elif isinstance(view, CallCard):
                view.grow(part.id, part.name, part.fragments)
            elif isinstance(view, TextView):
                drawn = int(view.property("drawn") or 0)
                if len(part.fragments) > drawn:
                    view.append("".join(part.fragments[drawn:]))
                    view.setProperty("drawn", len(part.fragments))

    def _show_pause(self, pause: Pause | None) -> None:
        shown = self._parts[0] if self._parts else None
        if pause is None:
            if isinstance(shown, ErrorCard):
                self._clear()
                self._show_waiting()
            return
        if not isinstance(shown, ErrorCard) or shown.failure is not pause.failure:
            self._clear()
            shown = self._make_error(pause.failure, streamed=True, actions=(RETRY_NOW, GIVE_UP))
            self._parts.append(shown)
            self._body.addWidget(shown)
            self.height_changed.emit()
        shown.count_down(pause.remaining, pause.attempt, pause.most)

    def _clear(self) -> None:
        for view in self._parts:
            view.hide()
            view.deleteLater()
        self._parts = []

    # Doing

    def begin_edit(self) -> None:
        """Edit the text in place."""
        if self._editor is not None:
            self._editor.setFocus()
            return
        turn = self.turn
        text = turn.results[0].text if turn.role is Role.TOOL and turn.results else turn.text
        self.open_editor(text)

    def open_editor(self, text: str) -> None:
        """Edit in place, starting from ``text``."""
        self._editor = InlineEditor(text, f"Edit the {ROLE_WORDS[self.turn.role].lower()} turn")
        self._editor.kept.connect(self._edit_kept)
        self._editor.cancelled.connect(self.end_edit)
        self._editor.height_changed.connect(self.height_changed)
        for view in self._parts:
            if isinstance(view, TextView | VerdictView) or (isinstance(view, QLabel) and not self.turn.parts):
                view.hide()
        self._body.addWidget(self._editor)
        self._header.edit.setEnabled(False)
        self._editor.setFocus()
        self.height_changed.emit()

    def end_edit(self) -> None:
        """Leave the editor without keeping what is typed."""
        if self._editor is None:
            return
        self._editor.hide()
        self._editor.deleteLater()
        self._editor = None
        self._header.edit.setEnabled(True)
        for view in self._parts:
            view.show()
        self.setFocus()
        self.height_changed.emit()

    def _edit_kept(self, text: str) -> None:
        self.end_edit()
        self._commands.edit_text(self.turn.id, text)

    @property
    def busy(self) -> bool:
        """Whether something typed here, or selected, would be lost with the card."""
        if self._editor is not None:
            return True
        return any(
            (isinstance(view, CallCard) and view.editing)
            or (isinstance(view, TextView) and view.textCursor().hasSelection())
            or (isinstance(view, VerdictView) and view.view.textCursor().hasSelection())
            for view in self._parts
        )

    @property
    def calls(self) -> list[CallCard]:
        """The cards of the calls in this turn."""
        return [view for view in self._parts if isinstance(view, CallCard)]

    def set_zoom(self, zoom: float) -> None:
        """Another text size."""
        self._zoom = zoom
        for view in self._parts:
            if isinstance(view, TextView | VerdictView):
                view.set_zoom(zoom)
            elif isinstance(view, ReasoningView):
                view.text_view.set_zoom(zoom)

    def _fill_menu(self) -> None:
        menu = self._header.menu
        menu.clear()
        turn = self.turn
        menu.addAction("Copy text").triggered.connect(self._copy)
        raw = menu.addAction("Show the exact text")
        raw.setCheckable(True)
        raw.setChecked(self._exact)
        raw.toggled.connect(self._set_exact)
        if turn.outcome is not None:
            menu.addAction("Show its request and response").triggered.connect(
                partial(self._commands.show_exchange, turn.id)
            )
            menu.addAction("Regenerate").triggered.connect(partial(self._commands.regenerate, turn.id))
        if len(self._row.variants) > 1:
            menu.addAction("Show variants side by side").triggered.connect(
                partial(self._commands.show_variants, turn.id)
            )
        menu.addSeparator()
        menu.addAction("Move up").triggered.connect(partial(self._commands.move_turn, turn.id, -1))
        menu.addAction("Move down").triggered.connect(partial(self._commands.move_turn, turn.id, 1))
        menu.addSeparator()
        menu.addAction("Delete").triggered.connect(partial(self._commands.delete_turn, turn.id))

    def _copy(self) -> None:
        turn = self.turn
        QGuiApplication.clipboard().setText(turn.text or "\n".join(result.text for result in turn.results))

    def _set_exact(self, exact: bool) -> None:
        self._exact = exact
        usual = "markdown" if self.turn.role is Role.ASSISTANT else "plain"
        for view, part in zip(self._parts, _wanted(self.turn), strict=False):
            if isinstance(view, VerdictView):
                view.set_exact(exact)
            elif isinstance(view, TextView) and isinstance(part, Text | Refusal):
                view.set_mode("raw" if exact else usual)

    def _role_chosen(self, role: Role) -> None:
        self._commands.change_role(self.turn.id, role)

    def _step_variant(self, step: int) -> None:
        at = self._row.variants.index(self.turn.id) + step
        if 0 <= at < len(self._row.variants):
            self._commands.select_variant(self._row.variants[at])

    def _call_edited(self, call_id: str, arguments: str) -> None:
        self._commands.edit_call(self.turn.id, call_id, arguments)

    def _advice_taken(self, action: str) -> None:
        self._commands.take_advice(self.turn.id, action)

    # Looks

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QColor(t.accent if self.hasFocus() else t.line))
        painter.setBrush(QColor(t.raised))
        painter.drawRoundedRect(rect, 8, 8)
        painter.setClipRect(0, 0, 3, self.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.role(self.turn.role)))
        painter.drawRoundedRect(self.rect(), 8, 8)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_editor"):
            self.update()


def _is_judged(turn: Turn) -> bool:
    """Whether the text of a turn is an answer that was to be JSON; what stands beside a tool call is not."""
    outcome = turn.outcome
    return outcome is not None and wants_json(outcome.response_format) and bool(turn.text) and not turn.calls


def _wanted(turn: Turn) -> list[Part]:
    """The parts that are shown; the text of an answer that was to be JSON is one part."""
    parts = [part for part in first_of_runs(turn.parts) if not (isinstance(part, Reasoning) and not _has_words(part))]
    if not _is_judged(turn):
        return parts
    first = next(part for part in parts if isinstance(part, Text))
    whole = first.model_copy(update={"text": turn.text})
    return [whole if part is first else part for part in parts if part is first or not isinstance(part, Text)]


def _has_words(part: Reasoning) -> bool:
    return bool(part.text or part.redacted)
