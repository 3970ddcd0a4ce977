"""Card above the form of a server's tool: its origin, its hints, and the changes of its definition.

The server owns the definition: it is read-only here. The user can accept a changed definition or edit a copy.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.tools import ToolTrust, mapping_words
from playground.ui.features.tools.standings import ABSENT, Seen, Standings, declared_words, tells_alike
from playground.ui.widgets.aside import Aside
from playground.ui.widgets.elided_label import ElidedLabel
from playground.ui.widgets.form_parts import push_button, say, styled, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import short_name, show_hidden, tip
from playground.ui.widgets.state_dot import SIDE, state_dot

if TYPE_CHECKING:
    from playground.ui.features.inspector.change_text import ChangeText

CHANGE_HEIGHT = 120  # minimum height of the difference in pixels
#: Action and label of the button next to a server's name, by the server's state.
WAYS = {ABSENT: ("set up", "Set it up…"), "failed": ("start", "Start again"), "unconfirmed": ("start", "Start…")}


class ServerCard(QWidget):
    """Card of a server's tool; hidden for a tool of the user's own. The signals are emitted by its buttons."""

    copy_asked = Signal()
    accept_asked = Signal()
    leave_asked = Signal()
    remove_asked = Signal()
    server_asked = Signal(str)  # "set up" or "start"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._server_action = ""
        self._state: str | None = None
        self.setObjectName("serverToolCard")
        self._compared: tuple[ToolDefinition, Seen] | None = None  # the tool and server that were compared
        self._folded = False  # the difference is hidden: the tool was left off
        self._differs = False  # the definitions differ
        self._comparing = Aside(self)
        self.dot = QLabel()
        self.dot.setFixedSize(SIDE, SIDE)
        self.origin = ElidedLabel("From", colour="text", elide=Qt.TextElideMode.ElideRight)
        self.way_button = push_button("")
        self.way_button.setAccessibleName("Set up or start the server")
        self.copy_button = push_button("Edit a copy", "quiet")
        self.copy_button.setToolTip(tip("A tool of your own made from this one. Your rules answer its calls."))
        self.problem = text_label("", "flag", wrap=True)
        self.problem.setObjectName("problem")
        self.mapped = text_label("", "small", wrap=True)
        self.mapped.setObjectName("mappedName")
        self.says = text_label("", "small", wrap=True)
        self.says.setToolTip(tip("So the server describes its tool. Nothing checks whether it is true."))
        self.box = styled(QFrame(), "banner")
        self.words = text_label("", "", wrap=True)
        self.change: ChangeText | None = None  # created for the first difference
        self._place = in_column(margins=0)
        self.accept_button = push_button("Accept", "primary")
        self.leave_button = push_button("Leave off")
        self.remove_button = push_button("Remove it")
        buttons = in_row(1, self.remove_button, self.leave_button, self.accept_button, spacing=6)
        in_column(self.words, self._place, buttons, parent=self.box, margins=(10, 8, 10, 8), spacing=6)
        head = in_row(self.dot, (self.origin, 1), self.copy_button, spacing=4)
        way = in_row(self.way_button, 1)
        in_column(
            head, self.problem, way, self.mapped, self.says, self.box, parent=self, margins=(0, 0, 0, 6), spacing=4
        )
        self.copy_button.clicked.connect(self.copy_asked)
        self.accept_button.clicked.connect(self.accept_asked)
        self.leave_button.clicked.connect(self._toggle_change)
        self.remove_button.clicked.connect(self.remove_asked)
        self.way_button.clicked.connect(lambda: self.server_asked.emit(self._server_action))
        self.hide()

    def show_tool(self, tool: ToolDefinition | None, standings: Standings) -> None:
        """Show the origin of a tool and its trust."""
        if tool is None or not tool.server:
            self.hide()
            self._reset()
            return
        seen, trust = standings.server(tool.server), standings.trust(tool)
        self._show_server(seen)
        say(self.mapped, mapping_words(tool))
        say(self.says, declared_words(tool.hints))
        words = _trust_message(trust, tool, seen)
        self.words.setText(words)
        self.box.setVisible(bool(words))
        self.accept_button.setVisible(trust in (ToolTrust.CHANGED, ToolTrust.NEW))
        self.leave_button.setVisible(trust is ToolTrust.CHANGED)
        self.remove_button.setVisible(trust is ToolTrust.GONE)
        self._show_change(tool, seen, standings)
        self.show()

    def _show_server(self, seen: Seen) -> None:
        if seen.state != self._state:
            self._state = seen.state
            self._draw_dot()
        name = show_hidden(short_name(seen.name))
        self.origin.set_text(f"From “{name}”: {seen.words}")
        problem = seen.problem if seen.state == "failed" else ""
        if seen.state == ABSENT:
            problem = (
                f"No server called “{name}” is set up on this computer. Its tools are still sent, and you can "
                "answer their calls."
            )
        say(self.problem, problem)
        self._server_action, words = WAYS.get(seen.state, ("", ""))
        self.way_button.setText(words)
        self.way_button.setVisible(bool(words))

    def _show_change(self, tool: ToolDefinition, seen: Seen, standings: Standings) -> None:
        before = self._compared
        if before is not None and before[0] is tool and tells_alike(before[1], seen):
            return
        if before is None or before[0].name_there != tool.name_there or not tells_alike(before[1], seen):
            self._folded = False
        self._compared = tool, seen
        self._differs = False
        pair = standings.difference(tool)
        self._update_leave_button()
        self._comparing.call_off()
        if pair is not None:
            self._differs = True
            from playground.engine.inspect.compare import diff_json

            change = self._changes()
            change.show_words("Comparing…")
            self._comparing.do(partial(diff_json, *pair), change.show_differences, large=True)
        self._update_change()

    def _changes(self) -> ChangeText:
        from playground.ui.features.inspector.change_text import ChangeText

        if self.change is None:
            self.change = ChangeText("What the server changed")
            self.change.setMinimumHeight(CHANGE_HEIGHT)
            self._place.addWidget(self.change)
        return self.change

    def _toggle_change(self) -> None:
        """Hide or show the difference."""
        self._folded = not self._folded
        self._update_leave_button()
        self._update_change()
        if self._folded:
            self.leave_asked.emit()

    def _update_change(self) -> None:
        if self.change is not None:
            self.change.setVisible(self._differs and not self._folded)

    def _update_leave_button(self) -> None:
        self.leave_button.setText("Show the difference" if self._folded else "Leave off")

    def _reset(self) -> None:
        self._compared = None
        self._comparing.call_off()

    def _draw_dot(self) -> None:
        self.dot.setPixmap(state_dot(self._state or "").pixmap(QSize(SIDE, SIDE)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_dot()


def _trust_message(trust: ToolTrust, tool: ToolDefinition, seen: Seen) -> str:
    name = show_hidden(short_name(seen.name))
    if trust is ToolTrust.CHANGED:
        off = "" if tool.enabled else " It stays off until you accept it."
        return (
            f"“{name}” changed this tool since you accepted it. Additions are underlined, deletions are struck "
            f"through.{off}"
        )
    if trust is ToolTrust.NEW:
        return (
            f"This tool of “{name}” has not been accepted on this computer. Read its description and parameters, "
            "then accept it."
        )
    if trust is ToolTrust.GONE:
        return f"“{name}” no longer offers this tool. You can still answer its calls."
    return ""
