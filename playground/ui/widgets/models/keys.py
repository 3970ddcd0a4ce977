"""The keys of a list of models, which a field beside it passes on."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt

STAR_KEY: Final = Qt.Key.Key_D  # with Ctrl
#: The keys that move in the list, and by how many models.
STEPS: Final = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
