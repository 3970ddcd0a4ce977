"""The row that shows which call a result answers, with a list of the calls above and a field for any id."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from playground.engine.session.edits import Answerable
from playground.jsonkit.texts import cut
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.kept_line import KeptLine
from playground.ui.widgets.layouts import in_row
from playground.ui.widgets.mark_label import MarkLabel
from playground.ui.widgets.plain_text import show_hidden, shown_name

LONGEST = 60  # characters of a call in the list
NONE_CHOSEN, NOT_ABOVE = "No call chosen", "No call above has this id"

#: Returns the calls that may be answered.
Calls = Callable[[], Sequence[Answerable]]


class AnswersRow(QWidget):
    """Choose the call of a result; `chosen` carries its id: with `at_once` after every key, else on leaving the field.

    `calls` returns the calls to choose from.
    """

    chosen = Signal(object)  # an id; a QString would lose lone surrogates

    def __init__(self, calls: Calls, parent: QWidget | None = None, *, at_once: bool = False) -> None:
        super().__init__(parent)
        self._calls = calls
        self._shown = ""
        self._stands_in = ""
        self._title = styled(MarkLabel("Answers"), "muted")
        self.field = _CallField(self._fill)
        self.mark = MarkLabel()
        self.state = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        in_row(self._title, (self.field, 2), self.mark, (self.state, 3), parent=self, margins=0, spacing=8)
        self.setFocusProxy(self.field)
        self.set_name("")
        line = self.field.line
        if at_once:
            line.textEdited.connect(self._typed)
        line.editingFinished.connect(self._typed)
        line.given_up.connect(self._restore)
        self.field.activated.connect(self._picked)

    def set_name(self, which: str) -> None:
        """Name the result, if a turn has several."""
        self._title.setText(f"{which} answers" if which else "Answers")
        self.field.setAccessibleName(f"Call that {which or 'the result'} answers")

    def show_call(self, call_id: str, stands_in: str = "") -> None:
        """Show the call that is answered; `stands_in` is the one that is used if none was chosen."""
        self._shown, self._stands_in = call_id, stands_in
        line = self.field.line
        line.saved = call_id
        if line.text() != call_id and not (line.hasFocus() and line.isModified()):
            line.setText(call_id)
        line.setPlaceholderText(stands_in or "id of the call")
        self._describe()

    def choose(self) -> None:
        """Open the list of calls."""
        self.field.setFocus()
        self.field.showPopup()

    def _describe(self) -> None:
        call_id = self._shown.strip() or self._stands_in
        entry = next((entry for entry in self._calls() if entry.call.id == call_id), None)
        if entry is not None:
            words = shown_name(entry.call.name or "(no name)")
            words += (
                " · first without a result" if not self._shown.strip() else "" if entry.waits else " · has a result"
            )
        else:
            words = NOT_ABOVE if call_id else NONE_CHOSEN
        self.state.set_text(words)
        self.field.setAccessibleDescription(words)
        self.state.set_colour("muted" if entry is not None else "tool")
        self.mark.set_mark("" if entry is not None else "warning", "tool")
        self.mark.setVisible(entry is None)

    def _fill(self) -> Sequence[tuple[str, str]]:
        return [(_words(entry), entry.call.id) for entry in self._calls()]

    def _picked(self, index: int) -> None:
        call_id = self.field.ids[index] if index < len(self.field.ids) else self._shown
        self.field.line.setText(call_id)
        self._choose_id(call_id)

    def _typed(self) -> None:
        if self.field.line.isModified():  # an id that a field cannot hold stays unchanged
            self._choose_id(self.field.line.text())

    def _choose_id(self, call_id: str) -> None:
        if call_id != self._shown:
            self._shown = call_id
            self.chosen.emit(call_id)
            self._describe()

    def _restore(self) -> None:
        line = self.field.line
        line.setText(line.saved)
        line.selectAll()
        self._choose_id(line.saved)


class _CallField(QComboBox):
    """A field for any id, with a list of calls that is filled when it opens."""

    def __init__(self, entries: Callable[[], Sequence[tuple[str, str]]]) -> None:
        super().__init__()
        self._entries = entries
        self.ids: list[str] = []  # of the entries; item data of Qt would lose lone surrogates
        self.line = KeptLine()
        self.setProperty("kind", "field")
        self.setEditable(True)
        self.setLineEdit(self.line)
        self.setCompleter(None)  # type: ignore[arg-type]  # None removes the completer: the labels are not ids
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setMinimumWidth(120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def showPopup(self) -> None:
        text, typing = self.line.text(), self.line.isModified()
        self.blockSignals(True)
        self.clear()
        entries = self._entries()
        self.ids = [call_id for _, call_id in entries]
        self.addItems([words for words, _ in entries] or ["No calls above"])
        self.setCurrentIndex(self.ids.index(text) if text in self.ids else -1)
        self.line.setText(text)
        self.line.setModified(typing)
        self.blockSignals(False)
        super().showPopup()

    def wheelEvent(self, event: QEvent) -> None:
        """Leave the wheel to the scroll area, so that scrolling never chooses another call."""
        event.ignore()


def _words(entry: Answerable) -> str:
    name = shown_name(entry.call.name or "(no name)")
    label = f"{name} · {show_hidden(entry.call.id)}"
    return cut(label, LONGEST) + (" · needs a result" if entry.waits else "")
