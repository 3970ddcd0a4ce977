"""A field for a JSONPath, checked while it is typed: why it cannot be read, or what it finds in the latest call."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QLineEdit, QSizePolicy, QWidget

from playground.engine.questions.kinds import Fit, PathFits
from playground.ui.widgets.asking import Asking
from playground.ui.widgets.form_parts import look, styled
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import show_hidden
from playground.ui.widgets.theme import code_font

EXAMPLE = "$[?@.city == 'Oslo']"


class PathField(QWidget):
    """``edited`` tells each text typed, readable or not. Empty is no problem: it is up to its owner what that means."""

    edited = Signal(str)

    def __init__(self, says: str, placeholder: str = EXAMPLE) -> None:
        super().__init__()
        self._latest: str | None = None
        self._asking = Asking(self)
        self._asking.answered.connect(self._judge)
        self.line = styled(QLineEdit(), "field")
        self.line.setFont(code_font())
        self.line.setPlaceholderText(placeholder)
        self.line.setAccessibleName(says)
        self.line.setMaxLength(10_000)
        self.said = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.said.hide()
        in_column(self.line, self.said, of=self, margins=0, spacing=2)
        self.setFocusProxy(self.line)
        self.line.textEdited.connect(self._typed)

    def show_path(self, path: str, latest: str | None = None) -> None:
        """Show a path, and whether it selects something in ``latest``, the raw arguments of a call."""
        self._latest = latest
        if path != self.line.text():
            self.line.setText(path)
        self._judge()

    def _typed(self, text: str) -> None:
        self._judge()
        self.edited.emit(text)

    def _judge(self) -> None:
        text = self.line.text()
        fit = self._asking.ask(PathFits(text, self._latest), alone=True) if text else Fit()
        problem = fit.problem if fit is not None else ""
        words = _words(fit)
        self.said.setText(words)
        self.said.setVisible(bool(words))
        look(self.said, "flag-error" if problem else "small")
        look(self.line, "true" if problem else "false", "bad")
        self.line.setAccessibleDescription(words)


def _words(fit: Fit | None) -> str:
    if fit is None:
        return "Checking…"
    if fit.problem:
        return f"Not a JSONPath: {show_hidden(fit.problem)}"
    if fit.costly:
        return f"Too costly to check against the latest call: {fit.costly}."
    words = {True: "Matches the latest call.", False: "Does not match the latest call.", None: ""}
    return words[fit.fits]
