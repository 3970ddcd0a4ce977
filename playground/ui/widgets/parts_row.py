"""The line below a page of parts: their numbers, and buttons to other pages."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from playground.ui.widgets.flow_layout import FlowLayout
from playground.ui.widgets.form_parts import text_label


class PartsRow(QWidget):
    """Buttons to the other pages; hidden if there is only one. `asked` carries "first", "before", "after" or "last".

    `what` is the plural noun of the parts.
    """

    asked = Signal(str)

    def __init__(self, parent: QWidget, what: str = "parts") -> None:
        super().__init__(parent)
        self._what = what
        self.words = text_label("", "small")
        flow = FlowLayout(self, 6)
        flow.addWidget(self.words)
        self.buttons: dict[str, QPushButton] = {}
        self._flow = flow
        self.hide()

    def say(self, first: int, stop: int, count: int, *, growing: bool = False) -> None:
        """Show that the parts from `first` to before `stop` of `count` are in view; while `growing`, the last ones."""
        stop = min(stop, count)
        has_pages = count > stop - first
        if has_pages:
            self._make()
            numbers = f"{self._what} {first + 1:,} to {stop:,} of {count:,}"
            so_far = f"{count:,} {self._what} so far · the last ones are shown"
            self.words.setText(so_far if growing else numbers)
            can = {"first": first > 0, "before": first > 0, "after": stop < count, "last": stop < count}
            for key, button in self.buttons.items():
                button.setVisible(not growing)
                button.setEnabled(can[key])
        if has_pages is self.isHidden():
            self.setVisible(has_pages)

    def _make(self) -> None:
        """Create the buttons when a card first needs them."""
        for key, text, words in (
            ("first", "Beginning", f"The first {self._what}"),
            ("before", "Back", f"The {self._what} before these"),
            ("after", "Next", f"The {self._what} after these"),
            ("last", "End", f"The last {self._what}"),
        ):
            if key not in self.buttons:
                button = self.buttons[key] = QPushButton(text)
                button.setProperty("kind", "quiet")
                button.setToolTip(words)
                button.setAccessibleName(words)
                button.clicked.connect(lambda _checked=False, key=key: self.asked.emit(key))
                self._flow.addWidget(button)
