"""The centre of the window at its first paint: the welcome, and the composer one can write in already.

The conversation pane takes both over, where they stand, once what it needs is loaded. Nothing heavy is imported here.
"""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout

from playground.ui.features.conversation.composer import Composer
from playground.ui.features.conversation.measures import Centre, at_reading_width
from playground.ui.features.conversation.welcome import WelcomePage


class StartPage(Centre):
    """Lays ``welcome`` and ``composer`` out as the conversation pane does."""

    def __init__(self) -> None:
        super().__init__()
        self.welcome = self.seen = WelcomePage()
        self.composer = Composer()
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.composer)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.welcome, 1)
        layout.addLayout(at_reading_width(column))
