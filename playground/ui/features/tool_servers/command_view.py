"""Shows what a server runs or connects to before it is confirmed: command line or address, variables, folders."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.tool_servers.secret_values import command_text, shown_address
from playground.jsonkit.texts import cut, listed
from playground.ui.widgets.form_parts import styled
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import escape_hidden
from playground.ui.widgets.theme import body_font, code_font

MOST_LINES = 8
SPARE = 6  # pixels: a line that just does not fit would have a scroll bar
_LONGEST = 20_000  # characters of the line
_LONGEST_VALUE = 5_000
_MOST_MORE = 18_000  # and of all that goes with it


class FullLine(QPlainTextEdit):
    """A long wrapped line, as high as it needs up to a number of lines, then scrolled."""

    def __init__(self, says: str, *, code: bool = True, most: int = MOST_LINES) -> None:
        super().__init__()
        self._most = most
        self._shown = ""
        styled(self, "code")
        self.setReadOnly(True)
        self.setAccessibleName(says)
        self.setFont(code_font() if code else body_font())
        self.setWordWrapMode(
            QTextOption.WrapMode.WrapAnywhere if code else QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
        )
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_text(self, text: str) -> None:
        """Show a text."""
        text = escape_hidden(cut(text, _LONGEST))
        if text != self._shown:
            self._shown = text
            self.setPlainText(text)
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def sizeHint(self) -> QSize:
        return QSize(200, self.minimumHeight())

    def _fit(self) -> None:
        document = self.document()
        lines = max(int(document.size().height()), 1)
        first = document.firstBlock()
        line = self.blockBoundingRect(first).height() / max(first.lineCount(), 1)  # may be more than the font's
        room = 2 * int(document.documentMargin()) + self.height() - self.viewport().height()
        self.setFixedHeight(ceil(min(lines, self._most) * line) + room + SPARE)


class CommandView(QWidget):
    """The command line or address of a server, with its details."""

    def __init__(self) -> None:
        super().__init__()
        self.line = FullLine("Command")
        self.more = FullLine("Details", code=False, most=6)
        in_column(self.line, self.more, parent=self, margins=0, spacing=6)

    def show_server(self, server: ToolServer) -> None:
        """Show a server."""
        self.line.setAccessibleName("Command line" if server.via is Via.STDIO else "Address")
        line = command_text(server) if server.via is Via.STDIO else shown_address(server)
        self.line.set_text(line)
        more = "\n".join(_more(server))
        omitted = [_too_long(len(line) - _LONGEST, "")] if len(line) > _LONGEST else []
        values = server.environment if server.via is Via.STDIO else server.headers
        omitted += [
            _too_long(len(value) - _LONGEST_VALUE, f" of {name}")
            for name, value in values.items()
            if len(value) > _LONGEST_VALUE
        ]
        if len(more) > _MOST_MORE:
            omitted.append(_too_long(len(more) - _MOST_MORE, " of the details"))
        more = "\n".join([*omitted[:MOST_LINES], *([cut(more, _MOST_MORE)] if more else [])])
        self.more.set_text(more)
        self.more.setVisible(bool(more))


def _too_long(more: int, unit: str) -> str:
    return f"Too long to be shown: {more:,} more characters{cut(unit, 100)} follow. Do not confirm it omitted."


def _more(server: ToolServer) -> list[str]:
    """Return the folder, variables or headers, and roots, a line each."""
    out: list[str] = []
    plain, secret = server.environment, server.secret_environment
    what = "Variables"
    if server.via is Via.STDIO:
        if server.folder:
            out.append(f"In the folder {server.folder}")
    else:
        plain, secret, what = server.headers, server.secret_headers, "Headers"
    if plain:
        out.append(f"{what}: " + "; ".join(f"{name}={cut(value, _LONGEST_VALUE)}" for name, value in plain.items()))
    if secret:
        out.append(f"{what} from the keyring: {listed(secret)}")
    if server.roots:
        out.append(f"Roots: {listed(server.roots)}")
    return out


def question(server: ToolServer) -> str:
    """Return the question before a server is started."""
    if server.via is Via.STDIO:
        return (
            "This program will run on your computer with your full permissions. Start it only if you know its source."
        )
    return "The app will connect to this address and send it the values below. Continue only if you trust it."


def agreement(server: ToolServer) -> str:
    """Return the label of the button to confirm."""
    return "Confirm and start" if server.via is Via.STDIO else "Confirm and connect"
