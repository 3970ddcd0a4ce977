"""Masks secrets in text, bytes and headers, by value and by header name, before anything is stored or shown.

A ``Redactor`` holds the secrets of one connection. It finds each secret in every spelling a gateway may quote it in:
encodings of the whole value (base64, hex, …) are searched for as such, escapes of single characters (JSON, URL, HTML)
are decoded first (``codes``). ``redact_stream`` uses it for bodies that arrive in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import AnyStr, Final

from playground.domain.secret_spellings import spellings
from playground.gateway.codes import ESCAPE_CHARACTERS, Codes

MASK = "••••"

#: A shorter value ("none", "ollama") is no secret: masking it would spoil ordinary text.
SHORTEST = 8

Spans = list[tuple[int, int]]  # start and end of each match

#: Names under which secrets travel, in lower case with hyphens.
_SECRET_NAME: Final = re.compile(
    r"(?:^|-)(?:auth|(?:set-)?cookie2?|token|key|passw(?:or)?d|pwd|credentials?)$"
    r"|(?:authori[sz]ation|authtoken|accesstoken|api-?key|secret|password|(?:access|secret)-?key)$",
)
#: Names that match ``_SECRET_NAME`` and hold no secret.
_PUBLIC_NAMES: Final = frozenset(
    {"idempotency-key", "x-idempotency-key", "sec-websocket-key", "cache-key", "x-cache-key", "surrogate-key", "xkey"}
)

SHORTEST_PIECE: Final = 12  # characters
_PROBE: Final = 5  # characters
_PREFIX: Final = re.compile(r"(?:[A-Za-z0-9]{1,8}[-_.])*")  # "sk-proj-" and the like
_LONGEST_PREFIX: Final = 16  # characters
_JWT_HEADER: Final = re.compile(r"eyJ[A-Za-z0-9_-]+\.")  # names the algorithm, equal in many tokens
_LEAST_DISTINCT: Final = 6  # characters of a piece
_MOST_PLACES: Final = 4  # of one probe: a secret may repeat itself
_JSON_SYNTAX: Final = '"\\'
_EXACT_BYTES: Final = 24  # of a beginning; more nested groups slow the search down
_KINDS: Final = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))


@lru_cache(maxsize=256)
def is_secret_header(name: str) -> bool:
    """Return whether the value of a header or member of this name is masked whatever it holds."""
    normal = name.strip().lower().replace("_", "-")
    return normal not in _PUBLIC_NAMES and _SECRET_NAME.search(normal) is not None


class Pieces:
    """Finds long pieces of secrets: runs of characters that a part of a secret and a text have in common.

    Each run contains one of the probes, which are cut from the secrets at regular distances. The public prefix of a
    key, and secrets with characters outside ASCII, have no pieces.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        # For each probe: secrets that contain it, its position in them, and the length of their public prefix.
        self._probes: dict[str, list[tuple[str, int, int]]] = {}
        for secret in secrets:
            prefix = _JWT_HEADER.match(secret) or _PREFIX.match(secret, 0, _LONGEST_PREFIX)
            public = prefix.end() if prefix is not None else 0
            step = shortest(secret) - _PROBE + 1
            for position in range(public, len(secret) - _PROBE + 1, step) if secret.isascii() else ():
                places = self._probes.setdefault(secret[position : position + _PROBE], [])
                if len(places) < _MOST_PLACES:
                    places.append((secret, position, public))

    def spans(self, text: str) -> Spans:
        """Return where pieces are in a text; some may overlap."""
        spans: Spans = []
        for probe, places in self._probes.items():
            position = text.find(probe)
            while position >= 0:
                last = position
                for secret, offset, public in places:
                    start, end = _common_run(text, position, secret, offset)
                    run = text[max(start, position - offset + public) : end]
                    if len(run) >= shortest(secret) and _is_random(run):
                        spans.append((_before_backslashes(text, start), end))
                        last = max(last, end - _PROBE)
                position = text.find(probe, last + 1)
        return spans


def shortest(secret: str) -> int:
    """Return how many characters of a secret in a row are a piece of it."""
    return max(SHORTEST_PIECE, len(secret) // 8)


def _common_run(text: str, position: int, secret: str, offset: int) -> tuple[int, int]:
    """Extend a probe, found in both, in both directions while text and secret agree. Return its span in the text.

    A run ends at a quotation mark and at a backslash: these may be JSON syntax and no part of the secret.
    """
    start, first = position, offset
    while start > 0 and first > 0 and text[start - 1] == secret[first - 1] and text[start - 1] not in _JSON_SYNTAX:
        start, first = start - 1, first - 1
    end, last = position + _PROBE, offset + _PROBE
    while end < len(text) and last < len(secret) and text[end] == secret[last] and text[end] not in _JSON_SYNTAX:
        end, last = end + 1, last + 1
    return start, end


def _before_backslashes(text: str, position: int) -> int:
    """Return the position before the backslashes that escape the character at ``position``."""
    while position > 0 and text[position - 1] == "\\":
        position -= 1
    return position


def _is_random(run: str) -> bool:
    """Return whether a run of a secret is no ordinary word."""
    return len(set(run)) >= _LEAST_DISTINCT and sum(kind.search(run) is not None for kind in _KINDS) > 1


class _Search:
    """Finds spellings of secrets in texts, also where some of their characters are escaped."""

    def __init__(self, needles: Iterable[str], codes: Codes) -> None:
        self._needles = tuple(needles)
        self._codes = codes
        self._characters = frozenset("".join(self._needles) + ESCAPE_CHARACTERS if self._needles else "")
        #: The most characters that a spelling takes when each character of it is escaped.
        self.reach = 8 * max(map(len, self._needles), default=0) + 32

    def spans(self, text: str) -> Spans:
        """Return where secrets are, in order and without overlaps."""
        spans = self._exact_spans(text)
        decoded = self._codes.undo(text) if self._needles else None
        if decoded is not None:
            spans += [(decoded.place(start), decoded.place(end)) for start, end in self._exact_spans(decoded.text)]
        return _merge(spans)

    def _exact_spans(self, text: str) -> Spans:
        spans: Spans = []
        for needle in self._needles:
            start = text.find(needle)
            while start >= 0:
                spans.append((start, start + len(needle)))
                start = text.find(needle, start + 1)
        return spans

    def open_end(self, text: str) -> int:
        """Return the length of the longest end of ``text`` that is the beginning of a spelling."""
        if not text or text[-1] not in self._characters:
            return 0
        tail = text[-self.reach :]
        longest = self._exact_end(tail)
        decoded = self._codes.undo(tail)
        plain = decoded.text if decoded is not None else tail
        cut = self._codes.cut_off(plain)
        if decoded is None and not cut:
            return longest
        begun = max(self._exact_end(plain), cut + self._exact_end(plain[: len(plain) - cut]))
        if not begun:
            return longest
        start = len(plain) - begun
        return max(longest, len(tail) - (decoded.place(start) if decoded is not None else start))

    def _exact_end(self, text: str) -> int:
        longest = 0
        for needle in self._needles:
            start = text.find(needle[0], max(0, len(text) - len(needle) + 1))
            while start >= 0 and not needle.startswith(text[start:]):
                start = text.find(needle[0], start + 1)
            if start >= 0:
                longest = max(longest, len(text) - start)
        return longest


class Redactor:
    """Removes the given secrets from text, bytes and headers. Its repr shows only how many there are."""

    def __init__(self, secrets: Iterable[str]) -> None:
        values = [secret for secret in dict.fromkeys(secrets) if len(secret) >= SHORTEST]
        codes = Codes("".join(values))
        texts = dict.fromkeys(text for secret in values for text in spellings(secret, SHORTEST))
        # A secret that contains an escape itself differs from its text after all escapes are decoded.
        texts |= dict.fromkeys(text for secret in values if len(text := codes.undone(secret)) >= SHORTEST)
        self._count = len(values)
        self._needles = tuple(text.encode("utf-8", "surrogatepass") for text in texts)
        self._pieces = Pieces(values)
        self._texts = _Search(texts, codes)
        # Bytes are searched as Latin-1, in which one byte is one character.
        self._bytes = _Search((needle.decode("latin-1") for needle in self._needles), codes)

    def __repr__(self) -> str:
        return f"Redactor({self._count} secrets)"

    def __bool__(self) -> bool:
        return bool(self._count)

    def text(self, value: str) -> str:
        """Return ``value`` without secrets and pieces of secrets."""
        return _replace(value, _merge([*self._texts.spans(value), *self._pieces.spans(value)]), MASK)

    def front(self, value: str, most: int) -> str:
        """Return the first ``most`` characters of ``value`` without secrets, also without one that is cut there."""
        if len(value) <= most:
            return self.text(value)
        front = value[: most + self._texts.reach]
        for start, end in _merge([*self._texts.spans(front), *self._pieces.spans(front)]):
            if start < most < end:
                most = end
        return self.text(value[:most])

    def data(self, value: bytes) -> bytes:
        """Return ``value`` without secrets and pieces of secrets."""
        return self.data_without_pieces(self.data_without_secrets(value))

    def data_without_secrets(self, value: bytes) -> bytes:
        """Return ``value`` without whole secrets."""
        if not self._count:
            return value
        return _replace(value, self._bytes.spans(value.decode("latin-1")), MASK.encode())

    def data_without_pieces(self, value: bytes) -> bytes:
        """Return ``value`` without pieces of secrets; of a stream, when no later bytes can complete a secret."""
        if not self._count:
            return value
        return _replace(value, _merge(self._pieces.spans(value.decode("latin-1"))), MASK.encode())

    def header(self, name: str, value: str) -> str:
        """Return a header's value without secrets; of an authorization only the scheme stays."""
        if not is_secret_header(name):
            return self.text(value)
        scheme, space, _ = value.partition(" ")
        if name.lower().endswith("authorization") and space and scheme.isalpha():
            return f"{scheme} {MASK}"
        return MASK

    def headers(self, pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Return all headers without secrets, in order."""
        return tuple([(self.text(name), self.header(name, value)) for name, value in pairs])

    # For ``redact_stream``; the results must not be shown.

    def spans(self, text: str) -> Spans:
        """Return where secrets are in ``text``, in order and without overlaps."""
        return self._texts.spans(text)

    def open_text(self, text: str) -> int:
        """Return the length of the longest end of ``text`` that is the beginning of a spelling of a secret."""
        return self._texts.open_end(text)

    def open_data(self, data: bytes) -> int:
        """Return the length of the longest end of ``data`` that is the beginning of a spelling of a secret."""
        return self._bytes.open_end(data[-self._bytes.reach :].decode("latin-1"))

    def next_open(self, data: bytes, start: int) -> int:
        """Return where the next JSON string may end with the beginning of a secret, or has an escape of a character.

        That is the position of the beginning or of the escape, the size of ``data`` when there is none.
        """
        match = self._open_string.search(data, start)
        return match.start() if match is not None else len(data)

    @cached_property
    def _open_string(self) -> re.Pattern[bytes]:
        # The short escapes of JSON represent characters that no secret has, a quotation mark excepted.
        short = b"nrtbf" if any(b'"' in needle for needle in self._needles) else b'nrtbf"'
        escapes = (rb"\\(?![%b])" % short, rb'%(?=[2-7"])', rb'&(?=[#a-zA-Z"])')
        return re.compile(b"|".join([*escapes, *map(_open_end, self._needles)]))


def _open_end(needle: bytes) -> bytes:
    """Return a pattern for the end of a JSON string, no member name, that is the beginning of ``needle``."""
    exact = needle[1:-1][:_EXACT_BYTES]
    pattern = b'[^"]{0,%d}' % (len(needle) - _EXACT_BYTES) if len(needle) > _EXACT_BYTES else b""
    for byte in reversed(exact):
        pattern = b"(?:%b%b)?" % (re.escape(bytes([byte])), pattern)
    first, second = re.escape(needle[:1]), re.escape(needle[1:2])
    return first + b'(?=["%b])' % second + pattern + rb'"(?!\s*:)'  # most matches of the first byte end there


def _merge(spans: Spans) -> Spans:
    """Return the spans in order, overlapping ones as one."""
    merged: Spans = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _replace(text: AnyStr, spans: Spans, mask: AnyStr) -> AnyStr:
    """Return ``text`` with a mask in place of each span."""
    if not spans:
        return text
    pieces: list[AnyStr] = []
    copied = 0
    for start, end in spans:
        pieces += [text[copied:start], mask]
        copied = end
    pieces.append(text[copied:])
    return text[:0].join(pieces)
