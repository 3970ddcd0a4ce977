"""Finds a piece of a secret that stands alone: its middle or its end, where something was cut before anybody looked.

A run of ``SHORTEST_PIECE`` characters of a secret in their order is a piece, of a long secret an eighth of it. What
many keys begin with, as "sk-ant-api03-", is none, nor is a run of one kind of characters ("my-gateway-key"): it may
stand in any text.

Of each secret a few short parts are looked for, each by one search in C; a run as long as a piece holds one of them
wholly. Only where one was found is it looked how far the run goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

SHORTEST_PIECE: Final = 12  # characters
_PART: Final = 5
_PUBLIC: Final = re.compile(r"(?:[A-Za-z0-9]{1,8}[-_.])*")
_LONGEST_PUBLIC: Final = 16
_HEAD: Final = re.compile(r"eyJ[A-Za-z0-9_-]+\.")  # of a JSON web token: it says how it is signed, as that of any other
_LEAST_DISTINCT: Final = 6
_MOST_PLACES: Final = 4  # of one part: a secret may repeat itself
_KINDS: Final = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))


class Pieces:
    """The pieces of some secrets. Those with other characters than ASCII have none."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # By a part: the secrets that have it, where, and what is public of them.
        self._parts: dict[str, list[tuple[str, int, int]]] = {}
        for secret in secrets:
            public = _HEAD.match(secret) or _PUBLIC.match(secret, 0, _LONGEST_PUBLIC)
            begin = public.end() if public is not None else 0
            step = shortest(secret) - _PART + 1
            for at in range(begin, len(secret) - _PART + 1, step) if secret.isascii() else ():
                places = self._parts.setdefault(secret[at : at + _PART], [])
                if len(places) < _MOST_PLACES:
                    places.append((secret, at, begin))
        self.parts = tuple(part.encode() for part in self._parts)

    def may_be_in(self, text: str) -> bool:
        """Whether there may be one in a text."""
        return any(map(text.__contains__, self._parts))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where they stand, in order of the secrets; some may overlap."""
        found: list[tuple[int, int]] = []
        for part, places in self._parts.items():
            at = text.find(part)
            while at >= 0:
                furthest = at
                for secret, begin, public in places:
                    start, end = _run(text, at, secret, begin)
                    run = text[max(start, at - begin + public) : end]
                    if len(run) >= shortest(secret) and _tells(run):
                        found.append((start, end))
                        furthest = max(furthest, end - _PART)
                at = text.find(part, furthest + 1)
        return found


def shortest(secret: str) -> int:
    """How many characters of it in a row are a piece."""
    return max(SHORTEST_PIECE, len(secret) // 8)


def _run(text: str, at: int, secret: str, begin: int) -> tuple[int, int]:
    """How far the text goes on as the secret does, both ways, from a part of both."""
    start, first = at, begin
    while start > 0 and first > 0 and text[start - 1] == secret[first - 1]:
        start, first = start - 1, first - 1
    end, last = at + _PART, begin + _PART
    while end < len(text) and last < len(secret) and text[end] == secret[last]:
        end, last = end + 1, last + 1
    return start, end


def _tells(run: str) -> bool:
    """Whether a run of a secret, without what is public of it, is no ordinary text."""
    return len(set(run)) >= _LEAST_DISTINCT and sum(kind.search(run) is not None for kind in _KINDS) > 1
