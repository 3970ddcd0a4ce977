"""Error cards below a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPushButton, QTextEdit

from tests.flows.pages.page import Page

if TYPE_CHECKING:
    pass

BODY = "error body"  # in the label of the button that unfolds it


class ErrorCard(Page):
    """An error card: what happened, and buttons that help."""

    @property
    def text(self) -> str:
        """Everything it says."""
        return "\n".join([*self.texts, *(view.toPlainText() for view in self.find(QTextEdit))])

    @property
    def buttons(self) -> list[str]:
        """The labels of the buttons that help, in their order."""
        labels = [button.text() for button in self.find(QPushButton)]
        return [label for label in labels if BODY not in label]
