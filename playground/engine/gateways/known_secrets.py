"""The secrets of this process, as they are handed to everything that writes output."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

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


def redactor_of(secrets: Iterable[SecretStr]) -> Redactor:
    """Return a redactor of those secrets."""
    return Redactor(values_of(secrets))


def values_of(secrets: Iterable[SecretStr]) -> tuple[str, ...]:
    """Return the secrets as plain text, which must never be shown."""
    return tuple(secret.get_secret_value() for secret in secrets)


def remove_fingerprints(folder: Path) -> None:
    """Delete the file in which earlier versions kept digests of keys. Never raises."""
    with contextlib.suppress(OSError):
        (folder / "fingerprints.json").unlink(missing_ok=True)
