"""A pasted text on the screen without the secrets in it, and the way back to the text as it was pasted. No widgets.

The secrets live here as long as the text is looked at, and no longer; no repr shows one.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator

from playground.engine.gateways.secrets import Secret

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
