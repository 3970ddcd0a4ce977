"""The card of a check: its condition, pass rate, and form.

The form is made of the fields of the check's class. An invalid value stays in its field and leaves the check unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QSizePolicy

from playground.domain.checks.asked import Judge
from playground.domain.checks.check import Check
from playground.engine.questions.kinds import CheckUsable
from playground.ui.features.evaluate.panels.judge_row import GatewayRow, JudgeModelRow, Models
from playground.ui.widgets.form_parts import look, quiet_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import show_hidden, tip
from playground.ui.widgets.problem_line import LONG_WORD
from playground.ui.widgets.rows.form import Form, form_for
from playground.ui.widgets.widget_questions import WidgetQuestions

ENTRIES: Final = (  # of the menu: name, label
    ("edit", "Edit"),
    ("copy", "Duplicate"),
    ("not", "Negate"),
    ("weight", "Weight…"),
    None,
    ("up", "Move up"),
    ("down", "Move down"),
    ("elsewhere", ""),
    None,
    ("delete", "Delete"),
)


class CheckCard(QFrame):
    """The card. ``changed`` carries the edited check, ``asked`` the name of a menu entry.

    ``elsewhere`` is the label of the entry that moves the check to the other list.
    """

    changed = Signal(object)
    asked = Signal(str)

    def __init__(self, check: Check, models: Models, elsewhere: str) -> None:
        super().__init__()
        self.check = check
        self._models = models
        self.setObjectName("checkCard")
        self.form: Form[Check] | None = None
        self.setProperty("kind", "check")
        self.title = styled(QPushButton(), "heading")
        self.title.setProperty("strong", "true")
        self.title.setCheckable(True)
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.title.toggled.connect(self._opened)
        self.rate = text_label("", "small")
        self.rate.setObjectName("passRate")
        self.more = more = quiet_button("", "More about this check", "more")
        self.menu = QMenu(more)
        self.actions_by_name = {}
        for entry in ENTRIES:
            if entry is None:
                self.menu.addSeparator()
                continue
            name, words = entry
            action = self.menu.addAction(words or elsewhere)
            action.triggered.connect(partial(self._ask, name))
            self.actions_by_name[name] = action
        self.actions_by_name["not"].setCheckable(True)
        more.setMenu(self.menu)
        more.setPopupMode(more.ToolButtonPopupMode.InstantPopup)
        self.words = text_label("", wrap=True)
        self.problem = text_label("", "flag-error", wrap=True)
        self.problem.setObjectName("problem")
        self._questions = WidgetQuestions(self)
        self._questions.answered.connect(self._judge)
        head = in_row(self.title, 1, self.rate, more, spacing=4)
        self._column = in_column(head, self.words, self.problem, parent=self, margins=(14, 6, 6, 10), spacing=2)
        self.words.setContentsMargins(0, 0, 8, 0)
        self.show_check(check)

    def show_check(self, check: Check) -> None:
        """Show another check of the same kind."""
        self.check = check
        if self.form is not None and self.form.value != check:
            self._show_in_form(self.form)
        weight = "" if check.weight == 1 else f" × {check.weight:g}"
        self.title.setText(f"{check.title}{weight}")
        self.title.setAccessibleName(f"{check.title}{weight}")
        words = show_hidden(check.words)
        self.words.setText(LONG_WORD.sub("\\1\u200b", words))
        self.title.setAccessibleDescription(f"{words} Edit this check.".strip())
        self.title.setToolTip(tip(check.HELP))
        self.more.setAccessibleName(f"More about the check {check.title}")
        self.actions_by_name["not"].setChecked(check.negated)
        self._say_words()
        self._judge()

    def show_rate(self, words: str, more: str = "") -> None:
        """Show the pass rate, or another short text, with its details as tooltip."""
        self.rate.setText(words)
        self.rate.setToolTip(tip(more))

    def show_place(self, *, first: bool, last: bool, elsewhere: str) -> None:
        """Enable moving up and down; ``elsewhere`` is the label of moving to the other list, "" for none."""
        self.actions_by_name["up"].setEnabled(not first)
        self.actions_by_name["down"].setEnabled(not last)
        self.actions_by_name["elsewhere"].setText(elsewhere)
        self.actions_by_name["elsewhere"].setVisible(bool(elsewhere))

    def open(self, name: str = "") -> None:
        """Show the form and focus the field with that name, or the first one."""
        self.title.setChecked(True)
        if self.form is not None:
            self.form.focus(name)

    def _opened(self, on: bool) -> None:
        if on and self.form is None:
            self.form = self._make_form()
            self._column.insertWidget(2, self.form)
        if self.form is not None:
            self.form.setVisible(on)
        self.actions_by_name["edit"].setText("Close" if on else "Edit")
        look(self, "true" if on else "false", "open")
        self._say_words()

    def _make_form(self) -> Form[Check]:
        hints = {name: replace(hint, group="") for name, hint in type(self.check).hints()}
        rows = {"gateway": GatewayRow, "model": JudgeModelRow}
        controls = {
            name: rows[hint.editor](name, hint, self._models) for name, hint in hints.items() if hint.editor in rows
        }
        form = form_for(type(self.check), controls, hints, is_wide=False)
        form.column.insertWidget(0, text_label(self.check.HELP, "small", wrap=True))
        form.column.setContentsMargins(0, 4, 8, 2)
        self._show_in_form(form)
        form.changed.connect(self._edited)
        return form

    def _show_in_form(self, form: Form[Check]) -> None:
        form.set_value(self.check)
        _offer_models(form)

    def _edited(self, check: Check, _errors: dict[str, str]) -> None:
        if check != self.check:
            if self.form is not None:
                _offer_models(self.form)
            self.changed.emit(check)

    def _say_words(self) -> None:
        """Show the condition, unless the form is open."""
        self.words.setVisible(bool(self.words.text()) and not self.title.isChecked())

    def _judge(self) -> None:
        problem = self._questions.ask(CheckUsable(self.check), alone=True)
        if problem is not None:
            say(self.problem, problem)

    def _ask(self, name: str, _checked: bool = False) -> None:
        does: dict[str, Callable[[], None]] = {
            "edit": partial(self.title.setChecked, not self.title.isChecked()),
            "not": partial(self._negate, not self.check.negated),
            "weight": partial(self.open, "weight"),
        }
        does.get(name, partial(self.asked.emit, name))()

    def _negate(self, on: bool) -> None:
        self.changed.emit(self.check.model_copy(update={"negated": on}))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the form on a click on the condition."""
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.title.isChecked():
            self.open()


def _offer_models(form: Form[Check]) -> None:
    """Offer the models of a judge's gateway."""
    model_row, check = form.rows.get("model"), form.value
    if isinstance(model_row, JudgeModelRow) and isinstance(check, Judge):
        model_row.show_gateway(check.profile_id)
