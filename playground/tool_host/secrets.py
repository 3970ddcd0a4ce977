"""Takes the secrets of one server out of what goes to its tape and its log, by value, in the spellings they come in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from playground.domain.secret_spellings import spellings

MASK: Final = "••••"
SHORTEST: Final = 6  # characters; a shorter one would spoil ordinary text


class Mask:
    """Knows some secrets, and takes them out of texts."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Know these, too."""
        self._secrets |= {secret for secret in secrets if len(secret) >= SHORTEST}
        found = {spelling for secret in self._secrets for spelling in spellings(secret, SHORTEST)}
        longest_first = sorted(found, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, text: str) -> str:
        """The text without them."""
        return self._pattern.sub(MASK, text) if self._pattern is not None else text
