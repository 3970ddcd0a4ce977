"""The live parts of the dialog: state with its buttons, capabilities, log."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QPlainTextEdit, QWidget

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.tool_servers.events import LogLine, ServerSnapshot, State
from playground.jsonkit.texts import cut
from playground.ui.features.tool_servers.command_view import CommandView, agreement, question
from playground.ui.features.tool_servers.log_view import LogView, log_line
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import push_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_pages, in_row
from playground.ui.widgets.plain_text import escape_hidden, few_lines_of, one_line_of, show_hidden
from playground.ui.widgets.segments import Segments
from playground.ui.widgets.state_dot import SIDE, state_dot
from playground.ui.widgets.theme import body_font

STATES: Final = {
    State.STOPPED: "Stopped",
    State.UNCONFIRMED: "Needs approval",
    State.STARTING: "Starting…",
    State.READY: "Ready",
    State.FAILED: "Failed",
}
LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_LAST: Final = 3  # lines
_LISTED: Final = 200  # names of each kind
_LONGEST_INSTRUCTIONS: Final = 20_000


def counts(live: ServerSnapshot) -> str:
    """Return the numbers of tools, prompts and resources in words; "" while they are not known."""
    kinds = (
        (len(live.tools), "tool"),
        (len(live.prompts), "prompt"),
        (len(live.resources), "resource"),
    )
    return ", ".join(f"{number:,} {word}{'' if number == 1 else 's'}" for number, word in kinds if number)


def short_state(live: ServerSnapshot) -> str:
    """Return the state of a server in short."""
    if live.state is not State.READY:
        return STATES[live.state]
    number = len(live.tools)
    return f"{STATES[live.state]} · {number:,} tool{'' if number == 1 else 's'}"


def state_words(live: ServerSnapshot) -> str:
    """Return the state of a server in a line."""
    words = [STATES[live.state]]
    if live.state is State.READY:
        words += [counts(live), f"{live.title} {live.version}".strip()]
    elif live.state is State.FAILED and live.restarts_in is not None:
        words.append(f"restarts in {max(live.restarts_in, 1):.0f} s")
    return " · ".join(show_hidden(cut(word, 100)) for word in words if word)


class StateBar(QFrame):
    """The state with its buttons; below it the problem, or the command to confirm."""

    start_asked = Signal()  # after the command was shown
    stop_asked = Signal()
    restart_asked = Signal()
    sign_in_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._state = ""
        self.dot = QLabel()
        self.dot.setFixedSize(SIDE, SIDE)
        self.words = ElidedLabel("State", colour="text", elide=Qt.TextElideMode.ElideRight)
        self.start_button = push_button("S&tart", "primary")
        self.stop_button = push_button("S&top")
        self.restart_button = push_button("&Restart")
        self.problem = text_label("", "error", wrap=True)
        self.problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.box = styled(QFrame(), "banner")
        self.question = text_label("", "", wrap=True)
        self.command = CommandView()
        self.confirm_button = push_button("", "primary")
        in_column(
            self.question,
            self.command,
            in_row(1, self.confirm_button),
            parent=self.box,
            margins=(12, 8, 12, 8),
            spacing=8,
        )
        self.sign_in = styled(QFrame(), "banner")
        self.sign_in_words = text_label("", "", wrap=True)
        self.sign_in_button = push_button("Sign in…", "primary")
        in_row((self.sign_in_words, 1), self.sign_in_button, parent=self.sign_in, margins=(12, 8, 12, 8), spacing=8)
        self.sign_in.hide()
        row = in_row(self.dot, (self.words, 1), self.restart_button, self.stop_button, self.start_button, spacing=8)
        in_column(row, self.problem, self.sign_in, self.box, parent=self, margins=(24, 12, 24, 8), spacing=8)
        self.start_button.clicked.connect(self.start_asked)
        self.confirm_button.clicked.connect(self.start_asked)
        self.stop_button.clicked.connect(self.stop_asked)
        self.restart_button.clicked.connect(self.restart_asked)
        self.sign_in_button.clicked.connect(self.sign_in_asked)

    def show_live(self, live: ServerSnapshot | None, server: ToolServer, confirmed: bool, missing: str) -> None:
        """Show the state. ``live`` is None for an unsaved server; ``server`` is the one in the form."""
        state = live.state if live is not None else State.UNCONFIRMED
        if not confirmed and state in (State.STOPPED, State.FAILED):
            state = State.UNCONFIRMED
        if state != self._state:
            self._state = state
            self._draw()
        self.words.set_text(state_words(live) if live is not None and state is live.state else STATES[state])
        # a problem of another command than the one in the form is not shown
        say(self.problem, few_lines_of(_problem(live) if state is State.FAILED else ""))
        runs = state in (State.STARTING, State.READY)
        self.start_button.setVisible(confirmed and not runs)
        self.start_button.setEnabled(not missing)
        self.start_button.setText("S&tart again" if state is State.FAILED else "S&tart")
        self.stop_button.setVisible(runs or (live is not None and live.restarts_in is not None))
        self.restart_button.setVisible(state is State.READY)
        self.box.setVisible(not confirmed and not missing)
        if self.box.isVisibleTo(self):
            self.question.setText(question(server))
            self.command.show_server(server)
            again = " again" if runs else ""
            self.confirm_button.setText(agreement(server) + again)

    def ask_to_sign_in(self, address: str) -> None:
        """Offer to open the sign-in page; "" for none."""
        self.sign_in.setVisible(bool(address))
        self.sign_in_words.setText("The server asks you to sign in in your browser." if address else "")

    def _draw(self) -> None:
        self.dot.setPixmap(state_dot(self._state).pixmap(QSize(SIDE, SIDE)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()


def _problem(live: ServerSnapshot | None) -> str:
    """Return the problem of a failed server, with its last line of output."""
    if live is None or live.state is not State.FAILED:
        return ""
    last = [line for line in live.stderr[-_LAST:] if line.strip() and line.strip() not in live.problem]
    return "\n".join([live.problem, *(f"Last output: {cut(line.strip(), 300)}" for line in last[-1:])])


class OffersPage(QWidget):
    """The capabilities of a server as plain text."""

    def __init__(self) -> None:
        super().__init__()
        self.about = text_label("", "muted", wrap=True)
        self.text = styled(QPlainTextEdit(), "code")
        self.text.setReadOnly(True)
        self.text.setFont(body_font())
        self.text.setAccessibleName("Capabilities")
        self.text.setTabChangesFocus(True)
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._shown: tuple[object, ...] = ()
        in_column(self.about, (self.text, 1), parent=self, margins=(24, 12, 24, 12), spacing=8)

    def show_live(self, live: ServerSnapshot | None) -> None:
        """Show the capabilities, if they have changed."""
        state = (
            (live.title, live.version, live.protocol, live.instructions, live.tools, live.prompts, live.resources)
            if (live is not None)
            else ()
        )
        if state == self._shown and self._shown:
            return
        self._shown = state
        if live is None or not (live.title or live.tools or live.prompts or live.resources):
            self.about.setText("Start the server to see its capabilities.")
            self.text.hide()
            return
        about = [
            f"{live.title} {live.version}".strip(),
            f"protocol {live.protocol}" if live.protocol else "",
            counts(live),
        ]
        self.about.setText(" · ".join(show_hidden(cut(word, 200)) for word in about if word))
        self.text.setPlainText("\n".join(_offers(live)))
        self.text.show()


def _offers(live: ServerSnapshot) -> list[str]:
    out: list[str] = []
    if live.instructions:
        out += ["Instructions", escape_hidden(cut(live.instructions, _LONGEST_INSTRUCTIONS)), ""]
    lists = (
        ("Tools", [(tool.name, tool.description) for tool in live.tools[:_LISTED]], len(live.tools)),
        ("Prompts", [(prompt.name, prompt.description) for prompt in live.prompts[:_LISTED]], len(live.prompts)),
        ("Resources", [(it.uri, it.name) for it in live.resources[:_LISTED]], len(live.resources)),
    )
    for title, items, number in lists:
        if not number:
            continue
        out.append(f"{title} ({number:,})")
        out += [f"  {one_line_of(name)}{_description(words)}" for name, words in items]
        if number > len(items):
            out.append(f"  and {number - len(items):,} more")
        out.append("")
    return out


def _description(words: str) -> str:
    first = words.strip().split("\n", 1)[0]
    return f"  —  {one_line_of(cut(first, 160))}" if first else ""


class LogPage(QWidget):
    """The log and the standard error of a server."""

    level_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.which = Segments(("Log", "Standard error"), "Output")
        self.level = QComboBox()
        self.level.setAccessibleName("Minimum log level")
        self.level.addItems(["Server default", *LEVELS])
        self.level_words = text_label("From level", "small")
        self.log: LogView[LogLine] = LogView("Log of the server", "The log is empty.", log_line)
        self.stderr: LogView[str] = LogView("Standard error of the server", "Standard error is empty.", str)
        self.pages = in_pages(self.log, self.stderr)
        top = in_row(self.which, 1, self.level_words, self.level, spacing=8)
        in_column(top, (self.pages, 1), parent=self, margins=(24, 12, 24, 12), spacing=8)
        self.which.chosen.connect(self._choose)
        self.level.activated.connect(self._choose_level)
        self._choose(0)

    def show_live(self, live: ServerSnapshot | None, level: str) -> None:
        """Show the last lines; ``level`` is the selected log level."""
        self.log.show_lines(live.log if live is not None else ())
        self.stderr.show_lines(live.stderr if live is not None else ())
        can = live is not None and live.state is State.READY and "logging" in live.can
        self.level.setEnabled(can)
        self.level.setToolTip("" if can else "The server is not running, or has no levels.")
        self.level.setCurrentIndex(LEVELS.index(level) + 1 if level in LEVELS else 0)
        self.which.buttons[1].setEnabled(live is None or live.server.via is Via.STDIO)

    def forget(self) -> None:
        """Clear the pages before another server is shown."""
        self.log.forget()
        self.stderr.forget()

    def _choose(self, index: int) -> None:
        self.pages.setCurrentIndex(index)
        self.level.setVisible(index == 0)
        self.level_words.setVisible(index == 0)

    def _choose_level(self, index: int) -> None:
        if index:
            self.level_chosen.emit(LEVELS[index - 1])
