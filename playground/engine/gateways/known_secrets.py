"""The secrets of this process, as they are handed to whatever writes something that leaves it.

Those that are in memory can be named. Others are in the keyring and were not fetched yet: they are recognised in the
text that has one. What takes both out is a ``LateRedactor``; whoever writes asks ``redactor_of`` for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import SecretStr

from playground.gateway.redact import Redactor

Ask = Callable[[], Iterable[SecretStr]]
#: Looks for secrets in a text that are not known yet, and says whether there are more now.
Recognise = Callable[[str], bool]


class Known(tuple[SecretStr, ...]):
    """Those in memory now, and whom to ask for others: so it is handed on as it is, never as a plain tuple."""

    ask: Ask
    recognise: Recognise

    def __new__(cls, ask: Ask, recognise: Recognise) -> Known:
        """What ``ask`` gives now."""
        known = super().__new__(cls, ask())
        known.ask, known.recognise = ask, recognise
        return known


class LateRedactor(Redactor):
    """Takes out what ``ask`` gives, after ``recognise`` has looked at the text and may have added to it."""

    def __init__(self, ask: Ask, recognise: Recognise) -> None:
        self.known = values_of(ask())
        super().__init__(self.known)
        self._ask, self._recognise = ask, recognise
        self._later: Redactor | None = None

    def text(self, value: str) -> str:
        found = self.after(value)
        return super().text(value) if found is self else found.text(value)

    def front(self, value: str, most: int) -> str:
        found = self.after(value)
        return super().front(value, most) if found is self else found.front(value, most)

    def data(self, value: bytes) -> bytes:
        found = self.after(value)
        return super().data(value) if found is self else found.data(value)

    def after(self, text: str | bytes) -> Redactor:
        if self._recognise(text if isinstance(text, str) else text.decode("latin-1")):
            self._later = Redactor(values_of(self._ask()))
        return self._later or self


def redactor_of(known: Iterable[SecretStr]) -> Redactor:
    """What takes those secrets out of texts, with all that are recognised where they are those of this process."""
    if isinstance(known, Known):
        return LateRedactor(known.ask, known.recognise)
    return Redactor(values_of(known))


def values_of(known: Iterable[SecretStr]) -> tuple[str, ...]:
    """The secrets as they are. Never to be shown."""
    return tuple(secret.get_secret_value() for secret in known)
