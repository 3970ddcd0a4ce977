"""The top line of a turn: role, model, how it ended, figures, alternatives, and the buttons for it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from playground.ui.features.conversation.alternative_switch import AlternativeSwitch
from playground.ui.features.conversation.rows import Row
from playground.ui.widgets import figures
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.icon_button import IconButton
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.mark_label import Chip
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.role_words import ROLE_WORDS
from playground.ui.widgets.theme import SMALL_PX, body_font, tokens

PART_UNREAD = "part unread"
TRIED = "changed once"
SPACING = 6
NARROW = 460  # pixels below which it may not have room for all


class TurnHeader(QWidget):
    """Shows a row's figures. ``menu`` is filled by whoever connects to its ``aboutToShow``.

    ``fixed``: the turn is only to be read.
    """

    role_chosen = Signal(object)
    alternative_chosen = Signal(str)
    edit_asked = Signal()
    lint_asked = Signal()

    def __init__(self, *, fixed: bool = False) -> None:
        super().__init__()
        self._fixed = fixed
        self._role_colour = ""
        self._role = styled(QPushButton(), "heading")
        if fixed:
            self._role.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        else:
            self._role.setToolTip("Change the role")
            roles = QMenu(self._role)
            for role, word in ROLE_WORDS.items():
                roles.addAction(word).triggered.connect(partial(self.role_chosen.emit, role))
            self._role.setMenu(roles)
        self._model = text_label("", "small")
        self._ending, self._hole, self._verdict, self._tried = Chip(), Chip(), Chip(), Chip()
        self._tried.setText(TRIED)
        self._hole.say(PART_UNREAD, "chip-error")
        self._lint = styled(QPushButton(), "pill")
        self._lint.setFixedHeight(20)  # of the chips' height, so that a header is as tall with it as without
        self._lint.clicked.connect(self.lint_asked)
        self._verdict.hide()
        self._figures = _Figures()
        self.alternatives = AlternativeSwitch()
        self.alternatives.chosen.connect(self.alternative_chosen)
        self.sent = styled(QToolButton(), "quiet")
        self.edit = styled(QToolButton(), "quiet")
        self.edit.setText("edit")
        self.edit.setToolTip("Edit this turn (Ctrl+I)")
        self.edit.setAccessibleName("Edit this turn (Ctrl+I)")
        self.edit.clicked.connect(self.edit_asked)
        more = IconButton("more", "More for this turn")
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(more)
        more.setMenu(self.menu)
        row = in_row(of=self, margins=0, spacing=SPACING)
        chips = (self._tried, self._hole, self._verdict)
        left: tuple[QWidget, ...] = (self._role, self._model, self._ending, *chips, self._lint)
        for widget in left:
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        right = (self.sent, self.alternatives, self.edit, more)
        for control in (self._figures, *right):
            row.addWidget(control)
        self._parts = (*left, *right)
        self._has_model = False

    def show_row(self, row: Row, *, growing: bool, cost: str, waiting: bool = False, most: int | None = None) -> str:
        """Show what is known about a turn; ``most`` tokens its model writes at most by the gateway's list.

        Returns the word for how it ended.
        """
        turn, outcome = row.turn, row.turn.outcome
        self._role.setText(ROLE_WORDS[turn.role])
        self._role_colour = turn.role
        self._colour()
        self._model.setText(show_hidden(_short(outcome.model)) if outcome else "")
        rules = [f"By a rule of the gateway's: {rule.words}" for rule in outcome.adapted] if outcome else []
        self._model.setToolTip(tip("\n".join([outcome.model, *rules])) if outcome else "")
        tried = outcome.tried if outcome else ()
        self._tried.setToolTip(tip("This time alone: " + "; ".join(rule.words for rule in tried)))
        self._tried.setVisible(bool(tried))
        self._has_model = bool(outcome and outcome.model)
        self._model.setVisible(self._has_model)
        chip, words = figures.ending_words(outcome, most) if outcome else ("", "")
        if growing:
            chip, words = "receiving", "The answer is arriving."
            if waiting:
                chip, words = "waiting to retry", "The last try failed; the next one is waited for."
        self._ending.setText(chip)
        self._ending.setToolTip(words)
        self._ending.setVisible(bool(chip))
        unread = figures.hole_words(outcome) if outcome else ""
        self._hole.setToolTip(tip(f"Part of the answer could not be read:\n{unread}"))
        self._hole.setVisible(bool(unread))
        deviations = outcome.deviations if outcome else ()
        self._lint.setText(f"{len(deviations)} deviation{'s' * (len(deviations) > 1)}")
        self._lint.setAccessibleName(f"{self._lint.text()} from the specification: show them")
        self._lint.setToolTip(tip("\n".join(f"• {note}" for _, note in deviations)))
        self._lint.setVisible(bool(deviations))
        if not growing:
            self.show_figures(figures.figures(turn, cost))
        self.alternatives.show_alternatives(turn.id, row.alternatives)
        self.edit.setVisible(not growing and not self._fixed)
        self._give_way()
        return f"{chip}, {PART_UNREAD}" if unread else chip

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_way()

    def _give_way(self) -> None:
        """The model is not shown where something else would be cut off for it, as in a lane, which has it above."""
        if not self._has_model:
            return
        shown = True
        if self.width() < NARROW:
            others = [part for part in self._parts if part is not self._model and not part.isHidden()]
            taken = sum(part.sizeHint().width() + SPACING for part in (*others, self._model))
            shown = taken <= self.width()
        if shown == self._model.isHidden():
            self._model.setVisible(shown)

    def show_verdict(self, words: str, kind: str, says: str) -> None:
        """Whether the answer fits the format it was asked for; nothing without words."""
        self._verdict.say(words, kind)
        self._verdict.setToolTip(tip(says))
        self._verdict.setVisible(bool(words))

    def show_figures(self, figures: list[str]) -> None:
        """Times, rates, tokens and cost; where the room is short the first ones give way, whole."""
        self._figures.show_figures(figures)

    def _colour(self) -> None:
        sheet = f"color: {tokens().role(self._role_colour)}; font-weight: 600;"
        if self._role.styleSheet() != sheet:  # a style sheet costs a quarter of a millisecond, and this runs per frame
            self._role.setStyleSheet(sheet)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._role_colour:
            self._colour()


class _Figures(ElidedLabel):
    """Figures side by side; as many from the right as there is room for."""

    def __init__(self) -> None:
        super().__init__("Figures", align=Qt.AlignmentFlag.AlignRight)
        self.setFont(body_font(SMALL_PX))
        self._all: list[str] = []

    def show_figures(self, figures: list[str]) -> None:
        self._all = figures
        self.set_text(" · ".join(figures))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def fitting(self) -> str:
        for start in range(len(self._all)):
            words = " · ".join(self._all[start:])
            if self.fontMetrics().horizontalAdvance(words) <= self.width():
                return words
        return ""


def _short(model: str) -> str:
    return model if len(model) <= 28 else f"{model[:14]}…{model[-13:]}"
