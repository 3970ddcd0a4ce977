"""A redactor that learns: a secret of the keyring that was not fetched yet is recognised in the text that has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from playground.engine.secrets import Secret
from playground.gateway.redact import Redactor


class LateRedactor(Redactor):
    """Takes out what ``known`` gives, after ``recognise`` has looked at the text and may have added to it."""

    def __init__(self, known: Callable[[], Iterable[Secret]], recognise: Callable[[str], None]) -> None:
        self.known = _values(known)
        super().__init__(self.known)
        self._ask, self._recognise = known, recognise
        self._later: tuple[tuple[str, ...], Redactor] = (self.known, self)

    def text(self, value: str) -> str:
        found = self._after(value)
        return super().text(value) if found is self else found.text(value)

    def front(self, value: str, most: int) -> str:
        found = self._after(value)
        return super().front(value, most) if found is self else found.front(value, most)

    def data(self, value: bytes) -> bytes:
        found = self._after(value.decode("latin-1"))
        return super().data(value) if found is self else found.data(value)

    def _after(self, text: str) -> Redactor:
        self._recognise(text)
        known = _values(self._ask)
        if known != self._later[0]:
            self._later = known, Redactor(known) if known != self.known else self
        return self._later[1]


def _values(known: Callable[[], Iterable[Secret]]) -> tuple[str, ...]:
    return tuple(secret.get_secret_value() for secret in known())
