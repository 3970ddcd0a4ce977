"""The three pages of connecting a gateway: address and key, the test in words, a model. None of them opens a socket."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QProgressBar,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from playground.engine.gateways.profiles import ConnectionReport
from playground.ui.features.gateways.address_field import AddressField
from playground.ui.features.gateways.key_field import KeyField
from playground.ui.features.gateways.test_result import TestResult
from playground.ui.widgets.form_parts import push_button, say, text_label
from playground.ui.widgets.plain_text import show_hidden

GAP = 6  # pixels between a field and the words that belong to it
ASKED = "An empty request is refused before anything is generated, so nothing is billed."
WHERE = "Paste the address your provider gives for its interface (API), and the key that belongs to it."


class AddressPage(QScrollArea):
    """Address and key, with the same fields as in the gateway settings."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.address = AddressField()
        self.key = KeyField()
        self.message = text_label(kind="warning", wrap=True)
        say(self.message, "")
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(24, 4, 24, 8)
        column.setSpacing(GAP)
        column.addWidget(text_label(WHERE, "muted", wrap=True))
        for title, field in (("&Address", self.address), ("&Key", self.key)):
            label = text_label(title, "heading")
            label.setBuddy(field.edit)
            label.setContentsMargins(0, 10, 0, 0)
            column.addWidget(label)
            column.addWidget(field)
        column.addWidget(self.message)
        column.addStretch(1)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(inner)
        self.address.changed.connect(self._edited)
        self.key.changed.connect(self._edited)

    def say(self, words: str) -> None:
        """Why it does not go on, in view."""
        say(self.message, words)
        if words:
            self.ensureWidgetVisible(self.message)

    def _edited(self) -> None:
        say(self.message, "")
        self.changed.emit()


class TestPage(QScrollArea):
    """What the test found. ``again_asked`` and ``skip_asked``: the person wants another one, or to go on without.

    ``offer_taken`` carries the ``Offer`` that is to be carried out.
    """

    again_asked = Signal()
    skip_asked = Signal()
    offer_taken = Signal(object)

    def __init__(self) -> None:
        super().__init__()
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
        self.skip = push_button("Go on all the same", "quiet")
        self.skip.setToolTip("Save this gateway although the test failed, for instance because it is switched off now")
        self.skip.clicked.connect(self.skip_asked)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(24, 4, 24, 8)
        column.setSpacing(10)
        for widget in (self.headline, self.progress, self.words, self.found):
            column.addWidget(widget)
        column.addSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.again)
        row.addWidget(self.skip)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(1)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(inner)

    def begin(self, where: str) -> None:
        """The test is under way."""
        self._show("Testing…", f"Asking {where} for its models, and with an empty request for both endpoints.", "")
        self.found.say(ASKED)
        self.progress.show()

    def show_verdict(self, verdict: ConnectionReport) -> None:
        """The test has ended."""
        kind = "ok" if verdict.ok else "error"
        self._show("It works" if verdict.ok else "It does not work yet", verdict.headline, kind)
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


class ModelPage(QWidget):
    """A model and a name. What is typed counts, whether it is in the list or not. ``chosen``: a double click."""

    chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._ids: tuple[str, ...] = ()
        self.model = QLineEdit()
        self.model.setPlaceholderText("Type to search, or type a model id")
        self.model.setAccessibleName("Model")
        self.models = QListWidget()
        self.models.setProperty("kind", "choices")
        self.models.setAccessibleName("Models of this gateway")
        self.models.setMinimumHeight(60)
        self.none = text_label(
            "This gateway listed no models. Type a model id, or leave it for later.", "muted", wrap=True
        )
        self.name = QLineEdit()
        self.name.setAccessibleName("Name")
        self.place = text_label(kind="small", wrap=True)
        self.message = text_label(kind="error", wrap=True)
        say(self.message, "")
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 4, 24, 8)
        column.setSpacing(GAP)
        for title, buddy in (("&Model", self.model), ("&Name of this gateway", self.name)):
            label = text_label(title, "heading")
            label.setBuddy(buddy)
            if buddy is self.name:
                column.addWidget(self.none)
                column.addWidget(self.models, 1)
                label.setContentsMargins(0, 10, 0, 0)
            column.addWidget(label)
            column.addWidget(buddy)
        column.addWidget(self.place)
        column.addWidget(self.message)
        column.addStretch(0)
        self.model.textEdited.connect(self._filter)
        self.models.currentTextChanged.connect(self._picked)
        self.models.itemDoubleClicked.connect(self._taken)

    def offer(self, ids: Sequence[str], model: str, name: str, place: str) -> None:
        """Show what the gateway listed; ``name`` stands in the empty name field, ``place`` says where the key goes."""
        self._ids = tuple(ids)
        self.none.setVisible(not ids)
        self.models.setVisible(bool(ids))
        self._filter("")
        self.model.setText(model or (ids[0] if ids else ""))
        self.name.setPlaceholderText(name)
        say(self.place, place)
        say(self.message, "")

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        shown = [one for one in self._ids if all(word in one.casefold() for word in words)]
        self.models.blockSignals(True)
        self.models.clear()
        self.models.addItems([show_hidden(one) for one in shown])
        for row, one in enumerate(shown):
            self.models.item(row).setData(Qt.ItemDataRole.UserRole, one)
        self.models.blockSignals(False)

    def _picked(self, _text: str) -> None:
        item = self.models.currentItem()
        if item is not None:
            self.model.setText(str(item.data(Qt.ItemDataRole.UserRole)))

    def _taken(self) -> None:
        self._picked("")
        self.chosen.emit()
