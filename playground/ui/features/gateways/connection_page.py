"""The second page of the connect wizard: the result of the connection test, and offered fixes."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from playground.engine.gateways.connection_test import ConnectionReport
from playground.ui.features.gateways.test_result import TestResult
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.layouts import Gap, in_column, in_row
from playground.ui.widgets.scroll_page import DownArea

ASKED = "Gateways refuse an empty request before anything is generated, so nothing is billed."


class ConnectionPage(DownArea):
    """Page with the result of the test. ``again_asked`` asks for another test, ``skip_asked`` to continue without.

    ``offer_taken`` carries the chosen ``Offer``.
    """

    again_asked = Signal()
    skip_asked = Signal()
    offer_taken = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.headline = text_label(kind="title", wrap=True)
        self.words = text_label(wrap=True)
        self.words.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.test_result = TestResult()
        self.test_result.offer_taken.connect(self.offer_taken)
        self.progress = QProgressBar()
        self.progress.setRange(0, 0)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("The test is running")
        self.again = push_button("Test again")
        self.again.clicked.connect(self.again_asked)
        self.skip = push_button("Continue anyway", "quiet")
        self.skip.setToolTip("Save this gateway although the test failed, for instance because it is switched off now")
        self.skip.clicked.connect(self.skip_asked)
        inner = QWidget(self.viewport())
        column = in_column(
            self.headline,
            self.progress,
            self.words,
            self.test_result,
            Gap(6),
            parent=inner,
            margins=(24, 4, 24, 8),
            spacing=10,
        )
        row = in_row(self.again, self.skip, 1, spacing=8)
        column.addLayout(row)
        column.addStretch(1)
        self.setWidget(inner)

    def begin(self, where: str) -> None:
        """Show that the test is running."""
        self._show("Testing…", f"Asking {where} for its models, and with an empty request for both endpoints.", "")
        self.test_result.say(ASKED)
        self.progress.show()

    def show_verdict(self, verdict: ConnectionReport) -> None:
        """Show the result of the test."""
        kind = "ok" if verdict.ok else "error"
        self._show("Connected" if verdict.ok else "Could not connect", verdict.headline, kind)
        self.test_result.show_verdict(verdict)
        self.again.setVisible(not verdict.ok)
        self.skip.setVisible(not verdict.ok)

    def show_stopped(self) -> None:
        """Show that the user stopped the test."""
        self._show("The test was stopped", "Nothing was saved.", "")
        self.again.show()
        self.skip.show()

    def _show(self, headline: str, words: str, kind: str) -> None:
        self.headline.setText(headline)
        say(self.words, words, kind)
        self.test_result.clear()
        for widget in (self.progress, self.again, self.skip):
            widget.hide()
        self.setAccessibleName(f"{headline}. {words}")
