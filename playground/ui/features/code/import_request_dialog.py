"""Dialog that imports a request from a pasted curl command, HAR or JSON body, with a preview before loading.

The text is parsed, never run; a secret in it is masked as soon as it is recognised.
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
    """The accepted import: the request, the gateway (``NEW`` for one to set up), and whether to store its secrets."""

    request: Imported
    profile_id: str
    keep: bool


class ImportRequestDialog(QDialog):
    """Field for the text above a preview of the parsed request; ``imported`` carries an ``Import``."""

    imported = Signal(object)

    def __init__(self, profiles: Sequence[Profile], current: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._secrets = PastedSecrets()
        self._imported: Imported | None = None
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
        """Replace the text by that of the clipboard."""
        self.set_text(QGuiApplication.clipboard().text())

    def set_text(self, text: str) -> None:
        """Replace the text and read it."""
        self.text.setPlainText(text)
        self.read_now()

    def read_now(self) -> None:
        """Parse the text, mask its secrets, and show the preview."""
        self._later.stop()
        text = self.text.text()
        if not text.strip():
            self._show(None)
            return
        pasted = self._secrets.reveal(text)
        try:
            imported = read(pasted)
        except ImportRefusedError as error:
            self._show(None, str(error))
            return
        self._conceal(imported)
        self._show(imported)

    def _conceal(self, imported: Imported) -> None:
        secrets = [*([imported.key] if imported.key is not None else []), *imported.secret_headers.values()]
        self._secrets.take_off(self.text, secrets)

    def _show(self, imported: Imported | None, problem: str = "") -> None:
        self._imported = imported
        self.verdict.setText(
            show_hidden(problem or ("Understood as:" if imported is not None else "Nothing to read yet."))
        )
        look(self.verdict, "error" if problem else "heading")
        notes = imported.notes if imported is not None else ()
        lines = [f"· {show_hidden(note)}" for note in notes[:MOST_NOTES]]
        if len(notes) > MOST_NOTES:
            lines.append(f"· and {len(notes) - MOST_NOTES} more")
        self.notes.setText("\n".join(lines))
        self.notes.setToolTip(tip("\n".join(notes)) if len(notes) > MOST_NOTES else "")
        self.notes.setVisible(bool(notes))
        groups = outline(imported) if imported is not None else ()
        self.preview.show_groups((group.title, group.value, group.rows) for group in groups)
        self.gateway.setVisible(imported is not None)
        if imported is not None:
            self.gateway.show_request(imported)
        self.import_button.setEnabled(imported is not None)

    def _import(self) -> None:
        if self._later.isActive():  # the last edit is not read yet
            self.read_now()
        if self._imported is not None:
            self.imported.emit(Import(self._imported, self.gateway.profile_id, self.gateway.keep))
            self.accept()
