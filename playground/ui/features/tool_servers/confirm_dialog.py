"""The question before a server is started for the first time, or after its command was changed."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QWidget

from playground.domain.tool_servers import ToolServer, Via
from playground.ui.features.tool_servers.command_view import CommandView, agreement, question
from playground.ui.widgets.form_parts import push_button, text_label
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.plain_text import short_name, show_hidden

WIDE = 620  # pixels


class ConfirmDialog(QDialog):
    """Accepted when the user confirms. Cancel is the default button."""

    def __init__(self, server: ToolServer, parent: QWidget, *, again: bool = False) -> None:
        super().__init__(parent)
        name = show_hidden(short_name(server.name))
        what = "Run" if server.via is Via.STDIO else "Connect to"
        self.setWindowTitle("Start a tool server")
        self.setObjectName("confirmServerDialog")
        self.heading = text_label(f"{what} “{name}”?", "heading", wrap=True)
        words = question(server)
        if again:
            words = f"It is not what you agreed to before: the command line or what goes with it has changed. {words}"
        self.words = text_label(words, "muted", wrap=True)
        self.words.setObjectName("question")
        self.command = CommandView()
        self.command.show_server(server)
        self.cancel_button = push_button("Cancel")
        self.confirm_button = push_button(agreement(server), "primary")
        in_column(
            self.heading,
            self.words,
            self.command,
            1,
            in_row(1, self.cancel_button, self.confirm_button, spacing=8),
            parent=self,
            margins=(18, 14, 18, 14),
            spacing=10,
        )
        room = parent.window().size()
        wide = min(WIDE, room.width() - 40)
        self.command.resize(wide - 36, 0)  # how high the line is follows from that
        self.resize(wide, min(self.heightForWidth(wide), room.height() - 40))
        self.cancel_button.clicked.connect(self.reject)
        self.confirm_button.clicked.connect(self.accept)
        self.cancel_button.setFocus()
