"""A request from a pasted curl command or JSON body. What was understood is looked over before anything is loaded.

The text is read, never run; a secret in it is taken off the screen as soon as it is recognised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QPushButton,
    QWidget,
)

from playground.engine.gateways.profiles import Profile
from playground.engine.requests.pasted import Imported, ImportRefusedError, read
from playground.ui.features.code.gateway_choice import GatewayChoice
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.import_outline import outline
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.outline_tree import OutlineTree
from playground.ui.widgets.pasted_secrets import PastedSecrets
from playground.ui.widgets.plain_text import show_hidden, tip

READ_AFTER_MS = 200
WIDE, TALL = 780, 720
MOST_NOTES = 8


@dataclass(frozen=True)
class Import:
    """What a person decided: the request, the gateway (``NEW`` for one to set up), and whether to keep its secrets."""

    found: Imported
    profile_id: str
    keep: bool


class ImportRequestDialog(QDialog):
    """Text above, what it was understood as below. ``imported`` carries an ``Import``."""

    imported = Signal(object)

    def __init__(self, profiles: Sequence[Profile], current: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._secrets = PastedSecrets()
        self._found: Imported | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Import request")
        self.text = CodeEditor(json=False)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName("Text to import from")
        self.text.setPlaceholderText(
            "Paste here: a curl command, an HTTP archive (HAR), or the JSON body of a request of either protocol."
        )
        self.paste_button = QPushButton("Paste")
        self.paste_button.setAccessibleName("Paste from the clipboard")
        self.verdict = text_label("Nothing to read yet.", "heading")
        self.notes = text_label("", "small")
        for label in (self.verdict, self.notes):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.preview = OutlineTree("What was understood")
        self.gateway = GatewayChoice(profiles, current)
        self.import_button = styled(QPushButton("Load as a new experiment"), "primary")
        self._later = QTimer(self, singleShot=True, interval=READ_AFTER_MS)
        self._later.timeout.connect(self.read_now)
        self._arrange()
        self._show(None)
        self.text.setFocus()
        self.text.textChanged.connect(self._later.start)
        self.paste_button.clicked.connect(self.paste)
        self.import_button.clicked.connect(self._import)

    def _arrange(self) -> None:
        caption = text_label("From", "group")
        caption.setBuddy(self.text)
        top = in_row(caption, 1, self.paste_button)
        cancel = QPushButton("Cancel")
        cancel.clicked.connect(self.reject)
        bottom = in_row(1, cancel, self.import_button, spacing=8)
        for button in (self.paste_button, cancel):
            button.setAutoDefault(False)
        in_column(
            top,
            (self.text, 2),
            self.verdict,
            self.notes,
            (self.preview, 3),
            self.gateway,
            bottom,
            of=self,
            margins=(14, 12, 14, 12),
            spacing=8,
        )
        window = self.parentWidget()
        room = window.window().size() if window is not None else self.size()
        self.resize(min(WIDE, room.width() - 40), min(TALL, room.height() - 40))

    def paste(self) -> None:
        """Take the clipboard's text."""
        self.set_text(QGuiApplication.clipboard().text())

    def set_text(self, text: str) -> None:
        """Read this text instead."""
        self.text.setPlainText(text)
        self.read_now()

    def read_now(self) -> None:
        """Read the text, take its secrets off the screen, and show what it was understood as."""
        self._later.stop()
        text = self.text.text()
        if not text.strip():
            self._show(None)
            return
        pasted = self._secrets.reveal(text)
        try:
            found = read(pasted)
        except ImportRefusedError as error:
            self._show(None, str(error))
            return
        self._conceal(found)
        self._show(found)

    def _conceal(self, found: Imported) -> None:
        secrets = [*([found.key] if found.key is not None else []), *found.secret_headers.values()]
        self._secrets.take_off(self.text, secrets)

    def _show(self, found: Imported | None, problem: str = "") -> None:
        self._found = found
        self.verdict.setText(
            show_hidden(problem or ("Understood as:" if found is not None else "Nothing to read yet."))
        )
        look(self.verdict, "error" if problem else "heading")
        notes = found.notes if found is not None else ()
        shown = [f"· {show_hidden(note)}" for note in notes[:MOST_NOTES]]
        if len(notes) > MOST_NOTES:
            shown.append(f"· and {len(notes) - MOST_NOTES} more")
        self.notes.setText("\n".join(shown))
        self.notes.setToolTip(tip("\n".join(notes)) if len(notes) > MOST_NOTES else "")
        self.notes.setVisible(bool(notes))
        groups = outline(found) if found is not None else ()
        self.preview.show_groups((group.title, group.value, group.rows) for group in groups)
        self.gateway.setVisible(found is not None)
        if found is not None:
            self.gateway.show_found(found)
        self.import_button.setEnabled(found is not None)

    def _import(self) -> None:
        if self._later.isActive():  # typed a moment ago
            self.read_now()
        if self._found is not None:
            self.imported.emit(Import(self._found, self.gateway.profile_id, self.gateway.keep))
            self.accept()
