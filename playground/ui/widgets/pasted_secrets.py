"""Hide recognised secrets of a pasted text behind marks, and restore them from the marks."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator

from PySide6.QtGui import QTextCursor

from playground.domain.secret_spellings import plainly
from playground.engine.gateways.secrets import Secret
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.exact_field import index_at, units

LEAST = 4  # characters; a shorter text would match in many places


class PastedSecrets:
    """Secrets by their marks: ``conceal`` replaces each secret by a mark, ``reveal`` each mark by its secret."""

    def __init__(self) -> None:
        self._hidden: dict[str, Secret] = {}

    def conceal(self, text: str, secrets: Iterable[Secret]) -> str:
        """Return the text with each verbatim occurrence of a secret replaced by its mark."""
        forms = {form for secret in secrets for form in _forms(secret.get_secret_value())}
        for form in sorted(forms, key=len, reverse=True):
            if form in text:
                text = text.replace(form, self._mark(form))
        return text

    def take_off(self, editor: CodeEditor, secrets: Iterable[Secret]) -> None:
        """Replace secrets in an editor by marks, and clear its undo history, which contains them."""
        current = editor.text()
        original = self.reveal(current)
        values = tuple(secrets)
        text = self.conceal(original, values)
        if text == current:
            return
        cursor = editor.textCursor()
        before = self.reveal(current[: index_at(current, cursor.position())])
        place = units(self.conceal(before, values))  # the cursor stays behind the same text
        editor.blockSignals(True)
        editor.setPlainText(text)
        editor.blockSignals(False)
        cursor = QTextCursor(editor.document())
        cursor.setPosition(min(place, editor.document().characterCount() - 1))
        editor.setTextCursor(cursor)

    def reveal(self, text: str) -> str:
        """Return the text as it was pasted, with each mark replaced by its secret."""
        for mark, secret in self._hidden.items():
            text = text.replace(mark, secret.get_secret_value())
        return text

    def _mark(self, form: str) -> str:
        existing = next((mark for mark, secret in self._hidden.items() if secret.get_secret_value() == form), "")
        mark = existing or f"••••{len(self._hidden) + 1}••••"
        self._hidden[mark] = Secret(form)
        return mark


def _forms(value: str) -> Iterator[str]:
    """Yield the spellings of a secret in a command or JSON: whole, without scheme, or as user name and password."""
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
