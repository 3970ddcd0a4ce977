"""A small button with an icon in the colours of the scheme, an accessible name, and no text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from playground.ui.widgets.icons import icon
from playground.ui.widgets.plain_text import tip
from playground.ui.widgets.theme import tokens


class IconButton(QToolButton):
    """A button of the icon file ``name``; ``says`` is the accessible name and tooltip, ``quiet`` the muted colour."""

    def __init__(
        self, name: str, says: str, parent: QWidget | None = None, *, size: int = 16, quiet: bool = True
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._quiet = quiet
        self.setProperty("kind", "icon")
        self.setAutoRaise(True)
        self.setIconSize(QSize(size, size))
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.say(says)
        self._draw()

    def say(self, says: str) -> None:
        """Set the accessible name and the tooltip."""
        self.setAccessibleName(says)
        self.setToolTip(tip(says))

    def _draw(self) -> None:
        self.setIcon(icon(self._name, tokens().muted if self._quiet else None))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()
