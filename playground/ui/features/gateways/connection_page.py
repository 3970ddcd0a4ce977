"""The second page of connecting: whether the gateway answers, and what to do where it does not."""

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
    """What the test found. ``again_asked`` and ``skip_asked``: the person wants another one, or to go on without.

    ``offer_taken`` carries the ``Offer`` that is to be carried out.
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
        self.found = TestResult()
        self.found.offer_taken.connect(self.offer_taken)
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
            self.headline, self.progress, self.words, self.found, Gap(6), of=inner, margins=(24, 4, 24, 8), spacing=10
        )
        row = in_row(self.again, self.skip, 1, spacing=8)
        column.addLayout(row)
        column.addStretch(1)
        self.setWidget(inner)

    def begin(self, where: str) -> None:
        """The test is under way."""
        self._show("Testing…", f"Asking {where} for its models, and with an empty request for both endpoints.", "")
        self.found.say(ASKED)
        self.progress.show()

    def show_verdict(self, verdict: ConnectionReport) -> None:
        """The test has ended."""
        kind = "ok" if verdict.ok else "error"
        self._show("Connected" if verdict.ok else "Could not connect", verdict.headline, kind)
        self.found.show_verdict(verdict)
        self.again.setVisible(not verdict.ok)
        self.skip.setVisible(not verdict.ok)

    def show_stopped(self) -> None:
        """The person ended the test."""
        self._show("The test was stopped", "Nothing was saved.", "")
        self.again.show()
        self.skip.show()

    def _show(self, headline: str, words: str, kind: str) -> None:
        self.headline.setText(headline)
        say(self.words, words, kind)
        self.found.clear()
        for widget in (self.progress, self.again, self.skip):
            widget.hide()
        self.setAccessibleName(f"{headline}. {words}")
