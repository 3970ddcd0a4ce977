"""Takes secrets out, by value and by header name, before anything is kept.

A ``Redactor`` knows the secrets of one connection in every spelling they may come back in, and is the one place that
knows what a secret looks like; ``redact_stream`` looks with it at a body that arrives in pieces.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable
from functools import cached_property
from urllib.parse import quote, quote_plus

MASK = "••••"

#: A shorter value ("none", "ollama") is no secret, and masking it would spoil ordinary text.
SHORTEST = 8

_MASKED_NAMES = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key"})
_MASKED_ENDINGS = ("authorization", "api-key", "apikey", "secret", "-token", "access-key", "tion-key", "password")

#: Characters that make the beginning of a secret that is spelled in a code.
_LEAST_CODED = 4
_NESTED = 40  # bytes of a beginning that are looked at one by one

_HEX = re.compile("%[0-9A-F]{2}")
_MASK_BYTES = MASK.encode()


def is_secret_header(name: str) -> bool:
    """Whether a header of that name is masked whatever it holds."""
    lowered = name.lower()
    return lowered in _MASKED_NAMES or lowered.endswith(_MASKED_ENDINGS)


def spellings(secret: str) -> tuple[str, ...]:
    """``secret`` as it may be written: raw, JSON-escaped, URL-encoded, HTML-escaped, base64 at any offset.

    JSON-escaped twice, too: so it stands in a body that another one quotes.
    """
    found = _plainly(secret)
    quotable = secret.encode("utf-8", "surrogatepass")
    quoted = [quote(quotable, safe=""), quote(quotable), quote(quotable, safe="!'()*~"), quote_plus(quotable)]
    found += [*quoted, *(_HEX.sub(lambda hex_: hex_[0].lower(), text) for text in quoted), html.escape(secret)]
    for lead in range(3):
        # Only the characters that depend on nothing but the secret: the first and last group may mix with neighbours.
        first = 0 if lead == 0 else lead + 1
        whole = (lead + len(quotable)) * 8 // 6
        middle = base64.b64encode(b"\0" * lead + quotable).decode()[first:whole]
        found += [middle, middle.replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(text for text in found if len(text) >= SHORTEST))


def _plainly(secret: str) -> list[str]:
    escaped = json.dumps(secret)[1:-1]
    found = [secret, escaped, json.dumps(secret, ensure_ascii=False)[1:-1], escaped.replace("/", "\\/")]
    return found + [json.dumps(once)[1:-1] for once in found[1:]]


def _beginning(needle: bytes, least: int) -> bytes:
    """A pattern for its first bytes, ``least`` at the least."""
    rest = b'[^"]{0,%d}' % (len(needle) - _NESTED) if len(needle) > _NESTED else b""
    for byte in reversed(needle[least : min(_NESTED, len(needle) - 1)]):
        rest = b"(?:" + re.escape(bytes([byte])) + rest + b")?"
    return re.escape(needle[:least]) + rest


class Redactor:
    """Removes the given secrets from text, bytes and headers. Its repr says only how many there are."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._count = 0
        texts: list[str] = []
        self._plain: set[str] = set()
        for secret in dict.fromkeys(secrets):
            if len(secret) >= SHORTEST:
                self._count += 1
                self._plain.update(_plainly(secret))
                texts += spellings(secret)
        # Longest first, so that a spelling that holds another one goes as a whole.
        self._texts = tuple(sorted(dict.fromkeys(texts), key=len, reverse=True))
        self._needles = tuple(text.encode("utf-8", "surrogatepass") for text in self._texts)

    def __repr__(self) -> str:
        return f"Redactor({self._count} secrets)"

    @property
    def needles(self) -> tuple[bytes, ...]:
        """Every spelling as bytes, longest first. Never to be shown."""
        return self._needles

    def text(self, value: str) -> str:
        """``value`` without the secrets."""
        for secret in self._texts:
            if secret in value:
                value = value.replace(secret, MASK)
        return value

    def data(self, value: bytes) -> bytes:
        """``value`` without the secrets."""
        for secret in self._needles:
            if secret in value:
                value = value.replace(secret, _MASK_BYTES)
        return value

    def header(self, name: str, value: str) -> str:
        """A header's value; of an authorization only the scheme stays."""
        if not is_secret_header(name):
            return self.text(value)
        scheme, space, _ = value.partition(" ")
        if name.lower().endswith("authorization") and space and scheme.isalpha():
            return f"{scheme} {MASK}"
        return MASK

    def headers(self, pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """All headers, in order."""
        return tuple((name, self.header(name, value)) for name, value in pairs)

    # For ``redact_stream``; never to be shown

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Every spelling, longest first."""
        return re.compile("|".join(map(re.escape, self._texts)) or r"(?!)")

    @cached_property
    def beginnings(self) -> re.Pattern[bytes]:
        """The end of a JSON text that is the beginning of a secret, as bytes, up to what follows it."""
        spelled = (_beginning(text.encode("utf-8", "surrogatepass"), self._least(text)) for text in self._texts)
        return re.compile(b"(?:" + b"|".join(spelled) + rb')"\s*(?:[,}\]]|\Z)')

    def open_end(self, text: str) -> int:
        """The length of the longest end of ``text`` that begins a secret."""
        longest = 0
        for needle in self._texts:
            first = needle[: self._least(needle)]
            at = text.find(first, max(0, len(text) - len(needle) + 1))
            while at >= 0 and not needle.startswith(text[at:]):
                at = text.find(first, at + 1)
            if at >= 0:
                longest = max(longest, len(text) - at)
        return longest

    def _least(self, text: str) -> int:
        """How many characters make a beginning. Codes of a secret begin like many words, so they need some."""
        return 1 if text in self._plain else _LEAST_CODED
