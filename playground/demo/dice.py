"""A random generator seeded from the request, so that a seed repeats its answer."""

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
    """Return a generator that depends on ``seed`` and the texts alone; a random one without a seed."""
    if seed is None:
        return Dice(secrets.randbits(128))
    text = "\x1f".join((str(seed), *about))
    return Dice(int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), "big"))
