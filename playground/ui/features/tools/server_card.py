"""What stands above the form of a tool that a server offers: where it is from, what it says of itself, what changed.

The definition is the server's own: it is read here, and changed only by accepting another one or as a copy.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.tools import ToolTrust, mapping_words
from playground.ui.features.tools.standings import ABSENT, Seen, Standings, says_of_itself, tells_alike
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import push_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import short_name, show_hidden, tip
from playground.ui.widgets.state_dot import SIDE, state_dot

if TYPE_CHECKING:
    from playground.ui.features.inspector.change_text import ChangeText

CHANGE_HEIGHT = 120  # pixels of the difference, at least
#: What the button beside a server's name does, by its state.
WAYS = {ABSENT: ("set up", "Set it up…"), "failed": ("start", "Start again"), "unconfirmed": ("start", "Start…")}


class ServerCard(QWidget):
    """``show_tool`` shows it for a tool, hidden for one of a person's own. The signals are what its buttons ask."""

    copy_asked = Signal()
    accept_asked = Signal()
    leave_asked = Signal()
    remove_asked = Signal()
    server_asked = Signal(str)  # "set up" or "start"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._way = ""
        self._state: str | None = None
        self.setObjectName("serverToolCard")
        self._shown: tuple[ToolDefinition, Seen] | None = None  # whose difference is shown
        self._left = False  # it is folded away: the tool was left off
        self._differs = False  # there is one
        self._comparing = Aside(self)
        self.dot = QLabel()
        self.dot.setFixedSize(SIDE, SIDE)
        self.origin = ElidedLabel("From", colour="text", elide=Qt.TextElideMode.ElideRight)
        self.way_button = push_button("")
        self.way_button.setAccessibleName("Set up or start the server")
        self.copy_button = push_button("Edit a copy", "quiet")
        self.copy_button.setToolTip(
            tip("A tool of your own made of this one. Its calls are answered as your rules say.")
        )
        self.problem = text_label("", "flag", wrap=True)
        self.problem.setObjectName("problem")
        self.mapped = text_label("", "small", wrap=True)
        self.mapped.setObjectName("mappedName")
        self.says = text_label("", "small", wrap=True)
        self.says.setToolTip(tip("So the server describes its tool. Nothing checks whether it is true."))
        self.box = styled(QFrame(), "banner")
        self.words = text_label("", "", wrap=True)
        self.change: ChangeText | None = None  # made when there is a difference to be shown
        self._place = in_column(margins=0)
        self.accept_button = push_button("Accept", "primary")
        self.leave_button = push_button("Leave off")
        self.remove_button = push_button("Remove it")
        buttons = in_row(1, self.remove_button, self.leave_button, self.accept_button, spacing=6)
        in_column(self.words, self._place, buttons, of=self.box, margins=(10, 8, 10, 8), spacing=6)
        head = in_row(self.dot, (self.origin, 1), self.copy_button, spacing=4)
        way = in_row(self.way_button, 1)
        in_column(head, self.problem, way, self.mapped, self.says, self.box, of=self, margins=(0, 0, 0, 6), spacing=4)
        self.copy_button.clicked.connect(self.copy_asked)
        self.accept_button.clicked.connect(self.accept_asked)
        self.leave_button.clicked.connect(self._leave)
        self.remove_button.clicked.connect(self.remove_asked)
        self.way_button.clicked.connect(lambda: self.server_asked.emit(self._way))
        self.hide()

    def show_tool(self, tool: ToolDefinition | None, standings: Standings) -> None:
        """Show where a tool comes from and how it stands."""
        if tool is None or not tool.server:
            self.hide()
            self._forget()
            return
        seen, found = standings.server(tool.server), standings.of(tool)
        self._show_server(seen)
        say(self.mapped, mapping_words(tool))
        say(self.says, says_of_itself(tool.hints))
        words = _words(found, tool, seen)
        self.words.setText(words)
        self.box.setVisible(bool(words))
        self.accept_button.setVisible(found in (ToolTrust.CHANGED, ToolTrust.NEW))
        self.leave_button.setVisible(found is ToolTrust.CHANGED)
        self.remove_button.setVisible(found is ToolTrust.GONE)
        self._show_change(tool, seen, standings)
        self.show()

    def _show_server(self, seen: Seen) -> None:
        if seen.state != self._state:
            self._state = seen.state
            self._draw()
        name = show_hidden(short_name(seen.name))
        self.origin.set_text(f"From “{name}”: {seen.words}")
        said = seen.problem if seen.state == "failed" else ""
        if seen.state == ABSENT:
            said = (
                f"No server called “{name}” is set up on this computer. Its tools are sent as they stand here, "
                "and you can answer their calls by hand."
            )
        say(self.problem, said)
        self._way, words = WAYS.get(seen.state, ("", ""))
        self.way_button.setText(words)
        self.way_button.setVisible(bool(words))

    def _show_change(self, tool: ToolDefinition, seen: Seen, standings: Standings) -> None:
        before = self._shown
        if before is not None and before[0] is tool and tells_alike(before[1], seen):
            return
        if before is None or before[0].name_there != tool.name_there or not tells_alike(before[1], seen):
            self._left = False
        self._shown = tool, seen
        self._differs = False
        pair = standings.difference(tool)
        self._say_leave()
        self._comparing.call_off()
        if pair is not None:
            self._differs = True
            from playground.engine.inspect.compare import diff_json

            change = self._changes()
            change.show_words("Comparing…")
            self._comparing.do(partial(diff_json, *pair), change.show_differences, large=True)
        self._show_left()

    def _changes(self) -> ChangeText:
        from playground.ui.features.inspector.change_text import ChangeText

        if self.change is None:
            self.change = ChangeText("What the server changed")
            self.change.setMinimumHeight(CHANGE_HEIGHT)
            self._place.addWidget(self.change)
        return self.change

    def _leave(self) -> None:
        """Fold the difference away, or bring it back."""
        self._left = not self._left
        self._say_leave()
        self._show_left()
        if self._left:
            self.leave_asked.emit()

    def _show_left(self) -> None:
        if self.change is not None:
            self.change.setVisible(self._differs and not self._left)

    def _say_leave(self) -> None:
        self.leave_button.setText("Show the difference" if self._left else "Leave off")

    def _forget(self) -> None:
        self._shown = None
        self._comparing.call_off()

    def _draw(self) -> None:
        self.dot.setPixmap(state_dot(self._state or "").pixmap(QSize(SIDE, SIDE)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()


def _words(found: ToolTrust, tool: ToolDefinition, seen: Seen) -> str:
    name = show_hidden(short_name(seen.name))
    if found is ToolTrust.CHANGED:
        off = "" if tool.enabled else " It stays off until you accept it."
        return (
            f"“{name}” changed this tool since you accepted it. What came is underlined, what went is struck "
            f"through.{off}"
        )
    if found is ToolTrust.NEW:
        return (
            f"Nobody has accepted this tool of “{name}” on this computer yet. Read its description and its parameters, "
            "then accept it."
        )
    if found is ToolTrust.GONE:
        return f"“{name}” does not offer this tool any more. Its calls can still be answered by hand."
    return ""
