"""The steps of a dialog in one line: which there are, which one is open, which are done. Words, never colour alone."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QWidget

from playground.ui.widgets.form_parts import set_kind, text_label
from playground.ui.widgets.mark_label import MarkLabel


class StepsRow(QWidget):
    """``show_step`` says which one is open; those before it carry a mark."""

    def __init__(self, titles: Sequence[str]) -> None:
        super().__init__()
        self._titles = tuple(titles)
        self._labels: list[MarkLabel] = []
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(10)
        for number in range(len(self._titles)):
            if number:
                line.addWidget(text_label("›", "small"))
            label = MarkLabel()
            self._labels.append(label)
            line.addWidget(label)
        line.addStretch(1)
        self.show_step(0)

    def show_step(self, current: int) -> None:
        """Mark the step of that number, counted from 0."""
        for number, (label, title) in enumerate(zip(self._labels, self._titles, strict=True)):
            done = number < current
            label.setText(title if done else f"{number + 1} {title}")
            label.set_mark("check" if done else "", "muted")
            set_kind(label, "heading" if number == current else "muted")
        self.setAccessibleName(f"Step {current + 1} of {len(self._titles)}: {self._titles[current]}")
