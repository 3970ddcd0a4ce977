"""A request from a pasted curl command or JSON body. What was understood is looked over before anything is loaded.

The text is read, never run; a secret in it is taken off the screen as soon as it is recognised.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QPushButton,
    QWidget,
)

from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.requests.pasted import Imported, ImportRefusedError, read
from playground.ui.features.code.gateway_choice import GatewayChoice
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import look, styled, text_label
from playground.ui.widgets.import_outline import outline
from playground.ui.widgets.layouts import in_column, in_row
from playground.ui.widgets.outline_tree import OutlineTree
from playground.ui.widgets.plain_text import show_hidden, tip

READ_AFTER_MS = 200
WIDE, TALL = 780, 720
MOST_NOTES = 8

LEAST = 4  # characters; anything shorter would be found all over a text


class PastedSecrets:
    """``conceal`` puts a mark in the place of each secret, ``reveal`` the secret in the place of each mark."""

    def __init__(self) -> None:
        self._hidden: dict[str, Secret] = {}

    def conceal(self, text: str, secrets: Iterable[Secret]) -> str:
        """The text with marks; a secret that is not in it as it stands changes nothing."""
        found = {form for secret in secrets for form in _forms(secret.get_secret_value())}
        for form in sorted(found, key=len, reverse=True):
            if form in text:
                text = text.replace(form, self._mark(form))
        return text

    def reveal(self, text: str) -> str:
        """The text as it was pasted."""
        for mark, secret in self._hidden.items():
            text = text.replace(mark, secret.get_secret_value())
        return text

    def _mark(self, form: str) -> str:
        known = next((mark for mark, secret in self._hidden.items() if secret.get_secret_value() == form), "")
        mark = known or f"••••{len(self._hidden) + 1}••••"
        self._hidden[mark] = Secret(form)
        return mark


def _forms(value: str) -> Iterator[str]:
    """How a header's secret may stand in a command: whole, without its scheme, or as user name and password."""
    scheme, space, token = value.partition(" ")
    if len(value) >= LEAST:
        yield value
    if space and len(token) >= LEAST:
        yield token
    if scheme.lower() == "basic":
        try:
            user = base64.b64decode(token, validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            return
        if len(user) >= LEAST:
            yield user


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
        self.text.setPlaceholderText("Paste here: a curl command, or the JSON body of a request of either protocol.")
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
        self._conceal(pasted, found)
        self._show(found)

    def _conceal(self, pasted: str, found: Imported) -> None:
        secrets = [*([found.key] if found.key is not None else []), *found.secret_headers.values()]
        shown = self._secrets.conceal(pasted, secrets)
        if shown == self.text.text():
            return
        before = self._secrets.reveal(self.text.text()[: self.text.textCursor().position()])
        place = len(self._secrets.conceal(before, secrets))
        self.text.blockSignals(True)
        self.text.setPlainText(shown)  # forgets what could be undone, and with it the secret
        self.text.blockSignals(False)
        cursor = QTextCursor(self.text.document())
        cursor.setPosition(min(place, self.text.document().characterCount() - 1))
        self.text.setTextCursor(cursor)

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
