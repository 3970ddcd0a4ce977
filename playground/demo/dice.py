"""Chance that can be repeated: a generator seeded from the request, so that a seed brings the same answer again."""

from __future__ import annotations

import hashlib
import random
import secrets


class Dice(random.Random):
    """A random generator with the few draws the gateway needs."""

    def hex(self, digits: int) -> str:
        """``digits`` hexadecimal digits, for ids."""
        return f"{self.getrandbits(4 * digits):0{digits}x}"


def throw(seed: int | None, *about: str) -> Dice:
    """Dice that fall the same way for the same ``seed`` and texts; without a seed they fall anew each time."""
    if seed is None:
        return Dice(secrets.randbits(128))
    text = "\x1f".join((str(seed), *about))
    return Dice(int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), "big"))
