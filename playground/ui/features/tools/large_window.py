"""Separate window for a tool: form and JSON side by side."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from playground.ui.features.tools.tool_editor import ToolEditor
from playground.ui.widgets.layouts import in_column
from playground.ui.widgets.plain_text import show_hidden

WIDE, TALL = 1100, 760


class LargeWindow(QDialog):
    """Window with an editor; the caller connects ``editor.edited`` and shows the tool."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(True)
        self.editor = ToolEditor(wide=True)
        self.editor.name.textChanged.connect(self._set_title)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.accept)
        in_column((self.editor, 1), buttons, parent=self, margins=(4, 4, 4, 12), spacing=0)
        buttons.setContentsMargins(0, 0, 12, 0)
        for button in buttons.buttons():
            if hasattr(button, "setAutoDefault"):
                button.setAutoDefault(False)
        self._set_title(self.editor.name.text())
        window = parent.window()
        self.resize(min(WIDE, window.width() - 40), min(TALL, window.height() - 40))

    def _set_title(self, name: str) -> None:
        self.setWindowTitle(f"Tool {show_hidden(name)}" if name else "Tool")
