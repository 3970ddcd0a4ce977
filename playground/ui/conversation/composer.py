"""Where the next turn is written. Enter makes a new line, Ctrl+Enter runs; a setting swaps them."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QInputMethodEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from playground.domain.transcript import Role
from playground.engine.changes import RunState
from playground.ui.conversation.facts import count
from playground.ui.conversation.turn_card import ROLE_WORDS
from playground.ui.icons import icon
from playground.ui.theme import body_font, tokens

WRITABLE = (Role.USER, Role.SYSTEM, Role.DEVELOPER, Role.ASSISTANT, Role.TOOL)
MOST_LINES = 12


class Composer(QFrame):
    """Text, role and the two things to do with them: add as a turn, or add and run."""

    run_asked = Signal()
    stop_asked = Signal()
    add_asked = Signal()
    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._role = Role.USER
        self._state = RunState.IDLE
        self._field = _Field()
        self._field.setAccessibleName("Message")
        self._field.setPlaceholderText("Message")
        self._field.run_pressed.connect(self._run_pressed)
        self._field.textChanged.connect(self.edited)
        self._note = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._note.setProperty("kind", "warning")
        self._note.hide()
        self._role_button = QPushButton()
        self._role_button.setAccessibleName("Role of the message")
        menu = QMenu(self._role_button)
        for role in WRITABLE:
            menu.addAction(ROLE_WORDS[role]).triggered.connect(partial(self.set_role, role))
        self._role_button.setMenu(menu)
        self._tokens = QLabel(textFormat=Qt.TextFormat.PlainText)
        self._tokens.setProperty("kind", "muted")
        self._tokens.setToolTip("Estimated size of the next request: about four characters a token")
        self._add = QPushButton("Add")
        self._add.setToolTip("Add as a turn without running")
        self._add.clicked.connect(self.add_asked)
        self._run = QPushButton()
        self._run.clicked.connect(self._run_pressed)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._role_button)
        row.addStretch(1)
        row.addWidget(self._tokens)
        row.addWidget(self._add)
        row.addWidget(self._run)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 8)
        layout.setSpacing(6)
        layout.addWidget(self._note)
        layout.addWidget(self._field)
        layout.addLayout(row)
        self.setFocusProxy(self._field)
        self.set_role(Role.USER)
        self.set_state(RunState.IDLE)

    @property
    def text(self) -> str:
        """What is written."""
        return self._field.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace what is written."""
        if text != self.text:
            self._field.setPlainText(text)
            self._field.moveCursor(self._field.textCursor().MoveOperation.End)

    @property
    def role(self) -> Role:
        """The role the text will have."""
        return self._role

    def set_role(self, role: Role) -> None:
        """Choose the role."""
        changed = role is not self._role
        self._role = role
        self._role_button.setText(f"{ROLE_WORDS[role]}   ")
        if changed:
            self.edited.emit()

    def set_state(self, state: RunState) -> None:
        """Offer Run when nothing runs, Stop when something does."""
        self._state = state
        running = state is not RunState.IDLE
        self._run.setText("Stop  Esc" if running else f"Run  {self._field.run_keys}")
        self._run.setIcon(icon("stop", tokens().error) if running else icon("run", tokens().on_accent))
        self._run.setProperty("kind", "danger" if running else "primary")
        self._run.setAccessibleName("Stop" if running else "Run")
        self._run.style().unpolish(self._run)
        self._run.style().polish(self._run)
        self._add.setEnabled(not running)

    def set_enter_runs(self, enter_runs: bool) -> None:
        """Whether Enter runs and Ctrl+Enter makes a new line, or the reverse."""
        self._field.enter_runs = enter_runs
        self.set_state(self._state)

    def set_tokens(self, estimate: int) -> None:
        """Show the estimated size of the next request."""
        self._tokens.setText(f"≈ {count(estimate)} tokens" if estimate else "")

    def say(self, words: str) -> None:
        """Show why something was not done; empty takes it away."""
        self._note.setText(words)
        self._note.setVisible(bool(words))

    def _run_pressed(self) -> None:
        if self._state is RunState.IDLE:
            self.run_asked.emit()
        else:
            self.stop_asked.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(t.accent if self._field.hasFocus() else t.line))
        painter.setBrush(QColor(t.raised))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_run"):
            self.set_state(self._state)


class _Field(QPlainTextEdit):
    """The text. Enter that ends an input-method composition never runs."""

    run_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.enter_runs = False
        self._composing = False
        self.setFont(body_font())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("QPlainTextEdit { background: transparent; border: none; padding: 0; }")
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.textChanged.connect(self._fit)
        self._fit()

    @property
    def run_keys(self) -> str:
        """The keys that run, for a button's text."""
        return "⏎" if self.enter_runs else "Ctrl+⏎"

    def _fit(self) -> None:
        lines, block = 0, self.document().firstBlock()
        while block.isValid() and lines < MOST_LINES:
            lines += max(block.lineCount(), 1)
            block = block.next()
        self.setFixedHeight(min(max(lines, 1), MOST_LINES) * self.fontMetrics().lineSpacing() + 12)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def event(self, event: QEvent) -> bool:
        """Enter comes here, although the window has a shortcut on it."""
        overrides = event.type() == QEvent.Type.ShortcutOverride
        if overrides and isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self._composing:
            with_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if (self.enter_runs and plain) or (not self.enter_runs and with_control):
                self.run_pressed.emit()
                return
            if with_control:
                self.insertPlainText("\n")
                return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._frame_changed()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._frame_changed()

    def _frame_changed(self) -> None:
        frame = self.parentWidget()
        if frame is not None:
            frame.update()
