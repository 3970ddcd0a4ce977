"""The top line of a turn's card: role, model, state, metrics, alternatives and buttons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from playground.domain.transcript import Role
from playground.jsonkit.texts import quantity
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.rows import Row
from playground.ui.widgets import figures
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import quiet_button, styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.icons import icon
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.mark_label import Chip
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.theme import SMALL_PX, body_font, tokens

UNREAD = "part unread"
ADAPTED = "adapted once"
CALLS_TOOLS = ("tool_calls", "tool_use")  # finish reasons that the cards of the calls show
SPACING = 6
NARROW = 460  # pixels below which the model may be hidden
MAX_MODEL = 28  # characters


class TurnHeader(QWidget):
    """Show the header of a turn. `menu` is filled by the card when it opens; `as_sent` is the card's, too."""

    edit_asked = Signal()

    def __init__(self, commands: TurnCommands) -> None:
        super().__init__()
        self._commands = commands
        self._turn_id = ""
        self._turn_role = Role.USER
        self._role = styled(QPushButton(), "heading")
        if commands.read_only:
            self._role.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        else:
            self._role.setToolTip("Change the role")
            roles = QMenu(self._role)
            for role, word in ROLE_WORDS.items():
                roles.addAction(word).triggered.connect(partial(self._set_role, role))
            self._role.setMenu(roles)
        self._model = text_label("", "small")
        self._ending, self._unread, self._verdict, self._adapted = Chip(), Chip(), Chip(), Chip()
        self._adapted.setText(ADAPTED)
        self._unread.say(UNREAD, "chip-error")
        self._verdict.hide()
        self._spec_check = styled(QPushButton(), "pill")
        self._spec_check.setFixedHeight(20)  # as high as the chips
        self._spec_check.clicked.connect(lambda: commands.lint_asked.emit(self._turn_id))
        self._metrics = _Metrics()
        self.alternatives = AlternativeSwitch(lane_of=commands.other_lane)
        self.alternatives.chosen.connect(commands.select_alternative)
        self.as_sent = quiet_button("As sent", "Show the message as it is sent")
        self.as_sent.setCheckable(True)
        self.as_sent.hide()
        self.edit = quiet_button("Edit", "Edit this message (Ctrl+I)")
        self.edit.clicked.connect(self.edit_asked)
        more = IconButton("more", "More for this message")
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(more)
        more.setMenu(self.menu)
        labels = (self._role, self._model, self._ending, self._adapted, self._unread, self._verdict, self._spec_check)
        buttons = (self.as_sent, self.alternatives, self.edit, more)
        row = in_row(parent=self, margins=0, spacing=SPACING)
        for part in labels:
            row.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        for control in (self._metrics, *buttons):
            row.addWidget(control)
        self._parts = (*labels, *buttons)
        self._has_model = False

    def show_row(self, row: Row, *, growing: bool, waiting: bool = False) -> str:
        """Show what is known of a turn, `waiting` for the next attempt or not. Return the words of its state."""
        turn, outcome = row.turn, row.turn.outcome
        self._turn_id, self._turn_role = turn.id, turn.role
        self._role.setText(ROLE_WORDS[turn.role])
        self._colour()
        model = outcome.model if outcome else ""
        self._model.setText(show_hidden(model if len(model) <= MAX_MODEL else f"{model[:14]}…{model[-13:]}"))
        rules = [f"Gateway rule: {rule.words}" for rule in outcome.adapted] if outcome else []
        self._model.setToolTip(tip("\n".join([model, *rules])) if outcome else "")
        self._has_model = bool(model)
        self._model.setVisible(self._has_model)
        tried = outcome.tried if outcome else ()
        self._adapted.setToolTip(tip("For this request only: " + "; ".join(rule.words for rule in tried)))
        self._adapted.setVisible(bool(tried))
        limit = None if growing else self._commands.output_limit(turn.id)
        ending, description = figures.ending_words(outcome, limit) if outcome else ("", "")
        if growing:
            ending, description = "receiving", "The answer is arriving."
            if waiting:
                ending, description = "waiting to retry", "The last attempt failed; retrying."
        self._ending.setText(ending)
        self._ending.setToolTip(description)
        self._ending.setVisible(bool(ending) and ending not in CALLS_TOOLS)
        unread = figures.hole_words(outcome) if outcome else ""
        self._unread.setToolTip(tip(f"Part of the answer could not be read:\n{unread}"))
        self._unread.setVisible(bool(unread))
        deviations = outcome.deviations if outcome else ()
        self._spec_check.setText(f"Spec check: {len(deviations)}")
        self._spec_check.setAccessibleName(f"Spec check: {quantity(len(deviations), 'problem')}")
        self._spec_check.setToolTip(tip("\n".join(f"• {note}" for _, note in deviations)))
        self._spec_check.setVisible(bool(deviations))
        if not growing:
            self.show_metrics(figures.figures(turn, self._commands.cost_words(turn.id)))
        self.alternatives.show_alternatives(turn.id, row.alternatives)
        has_text = turn.role is not Role.ASSISTANT or bool(turn.text)
        self.edit.setVisible(has_text and not growing and not self._commands.read_only)
        self._hide_model_if_narrow()
        return f"{ending}, {UNREAD}" if unread else ending

    def show_verdict(self, words: str, kind: str, description: str) -> None:
        """Show whether the answer matches its format; nothing without words."""
        self._verdict.say(words, kind)
        self._verdict.setToolTip(tip(description))
        self._verdict.setVisible(bool(words))

    def show_metrics(self, metrics: list[str]) -> None:
        """Show times, rates, tokens and cost; the first ones are left out where there is no room."""
        self._metrics.show_metrics(metrics)

    def show_variables(self, missing: Sequence[str], description: str) -> None:
        """Offer the message as it is sent, with a warning if variables have no value."""
        self.as_sent.setIcon(icon("warning", "tool") if missing else QIcon())
        style = Qt.ToolButtonStyle
        self.as_sent.setToolButtonStyle(style.ToolButtonTextBesideIcon if missing else style.ToolButtonTextOnly)
        without = f"; no value for {', '.join(missing)}" if missing else ""
        self.as_sent.setAccessibleName(f"Show the message as it is sent{without}")
        self.as_sent.setToolTip(tip(description))
        self.as_sent.show()

    def _set_role(self, role: Role, _checked: bool = False) -> None:
        self._commands.set_role(self._turn_id, role)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._hide_model_if_narrow()

    def _hide_model_if_narrow(self) -> None:
        """Hide the model where something else would be cut off, as in a lane, which names it above."""
        if not self._has_model:
            return
        fits = True
        if self.width() < NARROW:
            others = [part for part in self._parts if part is not self._model and not part.isHidden()]
            fits = sum(part.sizeHint().width() + SPACING for part in (*others, self._model)) <= self.width()
        if fits == self._model.isHidden():
            self._model.setVisible(fits)

    def _colour(self) -> None:
        sheet = f"color: {tokens().role(self._turn_role)}; font-weight: 600;"
        if self._role.styleSheet() != sheet:  # setting a style sheet is slow, and this runs for each picture of a run
            self._role.setStyleSheet(sheet)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colour()


class _Metrics(ElidedLabel):
    """Metrics side by side; as many from the right as there is room for."""

    def __init__(self) -> None:
        super().__init__("Metrics", align=Qt.AlignmentFlag.AlignRight)
        self.setFont(body_font(SMALL_PX))
        self._metrics: list[str] = []

    def show_metrics(self, metrics: list[str]) -> None:
        self._metrics = metrics
        self.set_text(" · ".join(metrics))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def fitting(self) -> str:
        for start in range(len(self._metrics)):
            words = " · ".join(self._metrics[start:])
            if self.fontMetrics().horizontalAdvance(words) <= self.width():
                return words
        return ""


MAX_LISTED = 12  # alternatives in the tooltip


class AlternativeSwitch(QWidget):
    """Switch between alternatives with ‹ 1/3 ›. Hidden while there is only one.

    `chosen` carries the id of the turn to show. `lane_of` returns the other lane that shows a turn, for the tooltips.
    """

    chosen = Signal(str)

    def __init__(self, noun: str = "alternative", lane_of: Callable[[str], str] | None = None) -> None:
        super().__init__()
        self._lane_of = lane_of
        self._noun = noun
        self._alternatives: Sequence[str] = ()
        self._index = 0
        self._earlier = IconButton("chevron-left", f"Earlier {noun}", size=14)
        self._number = text_label("", "small")
        self._later = IconButton("chevron-right", f"Later {noun}", size=14)
        self._earlier.clicked.connect(lambda: self._step(-1))
        self._later.clicked.connect(lambda: self._step(1))
        self._number.setObjectName("alternativeNumber")
        if lane_of is not None:
            for part in (self._earlier, self._number, self._later):
                part.installEventFilter(self)
        in_row(self._earlier, self._number, self._later, parent=self, margins=0, spacing=6)
        self.hide()

    def show_alternatives(self, turn_id: str, alternatives: Sequence[str]) -> None:
        """Show the ids of the alternatives, oldest first, of which `turn_id` is shown."""
        self._alternatives = alternatives
        self._index = alternatives.index(turn_id) if turn_id in alternatives else 0
        self._number.setText(f"{self._index + 1}/{len(alternatives)}")
        self._earlier.setEnabled(self._index > 0)
        self._later.setEnabled(self._index + 1 < len(alternatives))
        self.setVisible(len(alternatives) > 1)

    def _step(self, step: int) -> None:
        if 0 <= self._index + step < len(self._alternatives):
            self.chosen.emit(self._alternatives[self._index + step])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self._describe_lanes()
        return super().eventFilter(watched, event)

    def _describe_lanes(self) -> None:
        """Name the lanes of other alternatives in the tooltip, on demand since the search is slow."""
        if self._lane_of is None:
            return
        neighbours = (self._earlier, "Earlier", self._index - 1), (self._later, "Later", self._index + 1)
        for button, word, index in neighbours:
            lane = self._lane_of(self._alternatives[index]) if 0 <= index < len(self._alternatives) else ""
            button.setToolTip(f"{word} {self._noun}{', of ' * bool(lane)}{lane}")
            button.setAccessibleDescription(f"of {lane}" if lane else "")
        others = [(n, key) for n, key in enumerate(self._alternatives[:MAX_LISTED]) if n != self._index]
        self._number.setToolTip("\n".join(f"{n + 1} of {lane}" for n, key in others if (lane := self._lane_of(key))))
