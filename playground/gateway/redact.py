"""Takes secrets out, by value and by header name, before anything is kept.

A ``Redactor`` knows the secrets of one connection in every spelling they may come back in. A ``StreamRedactor``
does the same for a body that arrives in pieces. Neither keeps what it saw.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASK = "••••"

#: A shorter value ("none", "ollama") is no secret, and masking it would spoil ordinary text.
SHORTEST = 8

_MASKED_NAMES = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key"})
_MASKED_ENDINGS = ("authorization", "api-key", "apikey", "secret", "-token", "access-key", "tion-key", "password")

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
    escaped = json.dumps(secret)[1:-1]
    found = [secret, escaped, json.dumps(secret, ensure_ascii=False)[1:-1], escaped.replace("/", "\\/")]
    found += [json.dumps(once)[1:-1] for once in found[1:]]
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


class Redactor:
    """Removes the given secrets from text, bytes and headers. Its repr says only how many there are."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._count = 0
        texts: list[str] = []
        for secret in dict.fromkeys(secrets):
            if len(secret) >= SHORTEST:
                self._count += 1
                texts += spellings(secret)
        # Longest first, so that a spelling that holds another one goes as a whole.
        self._texts = tuple(sorted(dict.fromkeys(texts), key=len, reverse=True))
        self._needles = tuple(text.encode("utf-8", "surrogatepass") for text in self._texts)

    def __repr__(self) -> str:
        return f"Redactor({self._count} secrets)"

    @property
    def needles(self) -> tuple[bytes, ...]:
        """Every spelling as bytes, longest first. For ``StreamRedactor``; never to be shown."""
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

    def stream(self) -> StreamRedactor:
        """A redactor for one body in pieces."""
        return StreamRedactor(self._needles)


class StreamRedactor:
    """Redacts a body read by read; a secret split over reads is found too.

    Bytes are held back only while a read ends with the beginning of a secret, which no complete event does:
    events end in a line break and keys hold none. A read without a secret costs one ``in`` per spelling.
    """

    __slots__ = ("_held", "_inside", "_needles")

    def __init__(self, needles: tuple[bytes, ...]) -> None:
        self._needles = needles
        self._inside = frozenset(byte for needle in needles for byte in needle)
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What may be kept of the body so far."""
        if self._held:
            data = self._held + data
            self._held = b""
        if not data:
            return data
        for needle in self._needles:
            if needle in data:
                data = data.replace(needle, _MASK_BYTES)
        if data[-1] in self._inside:
            held = self._open_end(data)
            if held:
                self._held = data[-held:]
                return data[:-held]
        return data

    def close(self) -> bytes:
        """What was still held back when the body ended."""
        held, self._held = self._held, b""
        return held

    def _open_end(self, data: bytes) -> int:
        """The length of the longest end of ``data`` that begins a secret."""
        longest = 0
        for needle in self._needles:
            first = needle[:1]
            at = data.find(first, max(0, len(data) - len(needle) + 1))
            while at >= 0 and not needle.startswith(data[at:]):
                at = data.find(first, at + 1)
            if at >= 0:
                longest = max(longest, len(data) - at)
        return longest
