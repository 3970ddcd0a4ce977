"""Secrets in a text that somebody pastes: taken off the screen once they are recognised, and still there."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator

from PySide6.QtGui import QTextCursor

from playground.domain.secret_spellings import plainly
from playground.engine.gateways.secrets import Secret
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.exact_field import index_at, units

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

    def take_off(self, editor: CodeEditor, secrets: Iterable[Secret]) -> None:
        """Put marks into an editor's text, which forgets what could be undone, and with it the secrets."""
        shown = editor.text()
        pasted = self.reveal(shown)
        known = tuple(secrets)
        text = self.conceal(pasted, known)
        if text == shown:
            return
        cursor = editor.textCursor()
        before = self.reveal(shown[: index_at(shown, cursor.position())])
        place = units(self.conceal(before, known))  # behind what it stood behind
        editor.blockSignals(True)
        editor.setPlainText(text)
        editor.blockSignals(False)
        cursor = QTextCursor(editor.document())
        cursor.setPosition(min(place, editor.document().characterCount() - 1))
        editor.setTextCursor(cursor)

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
    """How a secret may stand in a command or in JSON: whole, without its scheme, or as user name and password."""
    scheme, space, token = value.partition(" ")
    if len(value) >= LEAST:
        yield from plainly(value)
    if space and len(token) >= LEAST:
        yield token
    if scheme.lower() == "basic":
        try:
            user = base64.b64decode(token, validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            return
        if len(user) >= LEAST:
            yield user
