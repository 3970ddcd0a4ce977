"""The secrets of this process, as they are handed to everything that writes output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pydantic import SecretStr

from playground.gateway.redact import Redactor


class KnownSecrets:
    """The secrets in memory at the time of each iteration; handed on as it is, never as a copy."""

    def __init__(self, ask: Callable[[], Iterable[SecretStr]]) -> None:
        self._ask = ask

    def __iter__(self) -> Iterator[SecretStr]:
        return iter(self._ask())

    def __len__(self) -> int:
        return len(tuple(self._ask()))


def redactor_of(known: Iterable[SecretStr]) -> Redactor:
    """Return a redactor of those secrets."""
    return Redactor(values_of(known))


def values_of(known: Iterable[SecretStr]) -> tuple[str, ...]:
    """Return the secrets as plain text, which must never be shown."""
    return tuple(secret.get_secret_value() for secret in known)
