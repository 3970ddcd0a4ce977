"""Takes secrets out, by value and by header name, before anything is kept.

A ``Redactor`` knows the secrets of one connection in every spelling they may come back in, and is the one place that
knows what a secret looks like; ``redact_stream`` looks with it at a body that arrives in pieces. What writes each
character on its own (JSON, URLs, HTML) is undone by ``codes``; what does not is looked for as it would be written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import AnyStr, Final

from playground.domain.secret_spellings import plainly, spellings
from playground.gateway.codes import CODED, CODING, Codes
from playground.gateway.event_texts import next_between, once

MASK = "••••"

#: A shorter value ("none", "ollama") is no secret, and masking it would spoil ordinary text.
SHORTEST = 8

#: The one list of names that secrets travel under; an underscore counts as a hyphen.
_SECRET_NAME = re.compile(
    r"(?:^|-)(?:auth|(?:set-)?cookie2?|token|key|passw(?:or)?d|pwd|credentials?)$"
    r"|(?:authori[sz]ation|authtoken|accesstoken|api-?key|secret|password|(?:access|secret)-?key)$",
)
#: They end like the name of a secret, and tell none.
_NO_SECRETS = frozenset({"idempotency-key", "x-idempotency-key", "sec-websocket-key", "cache-key", "x-cache-key"})
_NO_SECRETS |= {"surrogate-key", "xkey"}

SLICE = 50_000  # characters that are looked at in one go

#: Characters that make the beginning of a secret that is spelled in a code.
_LEAST_CODED = 4
_NESTED = 40  # bytes of a beginning that are looked at one by one

_TEXT_END = rb'"\s*(?:[,}\]\r\n]|\Z)'
_MASK_BYTES = MASK.encode()

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
        return any(part in text for part in self._parts)

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


@lru_cache(maxsize=256)  # the same ones in every exchange
def is_secret_header(name: str) -> bool:
    """Whether what goes under that name, in a header or elsewhere, is masked whatever it holds."""
    plain = name.strip().lower().replace("_", "-")
    return plain not in _NO_SECRETS and _SECRET_NAME.search(plain) is not None


def _beginning(needle: bytes, least: int) -> bytes:
    """A pattern for its first bytes, ``least`` at the least."""
    rest = b'[^"]{0,%d}' % (len(needle) - _NESTED) if len(needle) > _NESTED else b""
    for byte in reversed(needle[least : min(_NESTED, len(needle) - 1)]):
        rest = b"(?:" + re.escape(bytes([byte])) + rest + b")?"
    return re.escape(needle[:least]) + rest


class _Matcher:
    """Finds some needles in texts, however each of their characters is written. ``least`` of them make a beginning."""

    def __init__(self, needles: tuple[str, ...], least: Callable[[str], int], codes: Codes, longest: int) -> None:
        self._needles = tuple((needle, needle[: least(needle)]) for needle in needles)
        self._pattern = re.compile("|".join(map(re.escape, needles)) or r"(?!)")
        self._codes = codes
        self.reach = 8 * longest + 32  # characters that a needle takes at most
        self.inside = frozenset("".join(needles) + CODING) if needles else frozenset()
        self._border = re.compile(f"[^{re.escape(''.join(sorted(self.inside)))}]" if needles else r"(?!)")

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where they stand, in order."""
        found = [found.span() for found in self._pattern.finditer(text)]
        coded = self.coded(text)
        return _joined([*found, *coded]) if found and coded else found or coded

    def coded(self, text: str) -> list[tuple[int, int]]:
        """Where they stand with some of their characters in a code, in order."""
        if not self._needles:
            return []
        out: list[tuple[int, int]] = []
        for begin, end in self._slices(text):
            for start, stop in self._coded(text[begin:end]):
                if out and begin + start < out[-1][1]:  # found twice; the first may have been cut off
                    out[-1] = out[-1][0], max(out[-1][1], begin + stop)
                else:
                    out.append((begin + start, begin + stop))
        return out

    def _coded(self, text: str) -> list[tuple[int, int]]:
        plain = self._codes.undo(text)
        if plain is None:
            return []
        places = (found.span() for found in self._pattern.finditer(plain.text))
        return [(plain.place(start), plain.place(end)) for start, end in places]

    def _slices(self, text: str) -> Iterator[tuple[int, int]]:
        """A long text is looked at piece by piece: one search of all of it would hold up every other thread.

        A piece ends before a character that no needle and no code has; where there is none, two have some in common.
        """
        at = 0
        while len(text) - at > SLICE:
            border = self._border.search(text, at + SLICE, at + SLICE + self.reach)
            end = border.start() if border is not None else at + SLICE
            yield at, end + (0 if border is not None else self.reach)
            at = end
        yield at, len(text)

    def open_end(self, text: str) -> int:
        """The length of the longest end of ``text`` that begins one."""
        if not text or text[-1] not in self.inside:
            return 0
        tail = text[-self.reach :]
        longest = self._begun(tail)
        plain = self._codes.undo(tail)
        said = plain.text if plain is not None else tail
        cut = self._codes.cut_off(said)
        if plain is None and not cut:
            return longest
        begun = max(self._begun(said), cut + self._begun(said[: len(said) - cut]) if cut else 0)
        if not begun:
            return longest
        at = len(said) - begun
        return max(longest, len(tail) - (plain.place(at) if plain is not None else at))

    def _begun(self, text: str) -> int:
        longest = 0
        for needle, first in self._needles:
            at = text.find(first, max(0, len(text) - len(needle) + 1))
            while at >= 0 and not needle.startswith(text[at:]):
                at = text.find(first, at + 1)
            if at >= 0:
                longest = max(longest, len(text) - at)
        return longest


class Risks:
    """Where some patterns are found in bytes, asked for from front to back: each goes over them once, in C."""

    __slots__ = ("_data", "_found", "_patterns")

    def __init__(self, patterns: tuple[re.Pattern[bytes], ...], data: bytes) -> None:
        self._data = data
        self._patterns = patterns
        self._found = [-1] * len(patterns)

    def next(self, at: int) -> int:
        """The first place from ``at`` on, never before the ``at`` of the last call; the size where there is none."""
        for number, place in enumerate(self._found):
            if place < at:
                found = self._patterns[number].search(self._data, at)
                self._found[number] = found.start() if found is not None else len(self._data)
        return min(self._found)


class Redactor:
    """Removes the given secrets from text, bytes and headers. Its repr says only how many there are."""

    def __init__(self, secrets: Iterable[str], *, least_coded: int = _LEAST_CODED) -> None:
        self._least_coded = least_coded
        known = self._known = [secret for secret in dict.fromkeys(secrets) if len(secret) >= SHORTEST]
        self._count = len(known)
        self._plain = {text for secret in known for text in plainly(secret)}
        self._codes = Codes("".join(known))
        self._pieces = Pieces(known)
        texts = dict.fromkeys(text for secret in known for text in spellings(secret, SHORTEST))
        # A secret that may be taken for a code itself is not what is left of a text when all codes in it are undone.
        texts |= dict.fromkeys(text for secret in known if len(text := self._codes.undone(secret)) >= SHORTEST)
        # Longest first, so that a spelling that holds another one goes as a whole.
        self._texts = tuple(sorted(texts, key=len, reverse=True))
        self._needles = tuple(text.encode("utf-8", "surrogatepass") for text in self._texts)
        self._quotes = any(b'"' in needle for needle in self._needles)
        self._pairs = frozenset(pair for needle in self._needles for pair in pairwise(needle))
        longest = self._longest = max(map(len, self._needles), default=0)
        self._said = _Matcher(self._texts, self._least, self._codes, longest)
        as_bytes = tuple(needle.decode("latin-1") for needle in self._needles)
        self._sent = _Matcher(as_bytes, lambda _: 1, self._codes, longest)
        self._last = frozenset(map(ord, self._sent.inside))

    @cached_property
    def thorough(self) -> Redactor:
        """The redactor of the same secrets that takes one character for the beginning of any spelling.

        It finds a spelling that a stream cuts anywhere, takes longer, and is for bodies that are complete.
        """
        return Redactor(self._known, least_coded=1)

    @property
    def parts(self) -> tuple[bytes, ...]:
        """What one of has to be in bytes in which ``without_pieces`` finds anything. Never to be shown."""
        return self._pieces.parts

    def __repr__(self) -> str:
        return f"Redactor({self._count} secrets)"

    def __bool__(self) -> bool:
        return bool(self._count)

    def text(self, value: str) -> str:
        """``value`` without the secrets, and without pieces of one."""
        for secret in self._texts:
            if secret in value:
                value = value.replace(secret, MASK)
        if self._pieces.may_be_in(value):
            value = _without(value, _joined(self._pieces.spans(value)), MASK)
        return _without(value, self._said.coded(value), MASK)

    def front(self, value: str, most: int) -> str:
        """The first ``most`` characters of ``value`` without the secrets, also without the one that is cut there.

        Whoever shortens a text that is not known to be free of secrets does it so.
        """
        if len(value) <= most:
            return self.text(value)
        front = value[: most + self._said.reach]
        for start, end in _joined([*self._said.spans(front), *self._pieces.spans(front)]):
            if start < most < end:
                most = end
        return self.text(value[:most])

    def data(self, value: bytes) -> bytes:
        """``value`` without the secrets, and without pieces of one."""
        return self.without_pieces(self.without_whole(value))

    def without_pieces(self, value: bytes) -> bytes:
        """``value`` without what are pieces of a secret. For a body that arrives, once no more of it is to come."""
        if not any(map(value.__contains__, self.parts)):
            return value
        return _without(value, _joined(self._pieces.spans(value.decode("latin-1"))), _MASK_BYTES)

    def without_whole(self, value: bytes) -> bytes:
        """``value`` without secrets that are whole."""
        for secret in self._needles:
            if secret in value:
                value = value.replace(secret, _MASK_BYTES)
        if not self._count or not self._codes.may_be_in(value):
            return value
        return _without(value, self._sent.coded(value.decode("latin-1")), _MASK_BYTES)

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
        told = tuple([(name, self.header(name, value) if is_secret_header(name) else value) for name, value in pairs])
        whole = "\n".join(chain.from_iterable(told))
        if self.text(whole) == whole:  # mostly nothing is in any of them, and one look tells
            return told
        return tuple([(self.text(name), self.header(name, value)) for name, value in told])

    def after(self, text: str | bytes) -> Redactor:
        """What takes out the secrets that are known once that text was looked at, too."""
        return self

    # For ``redact_stream``; never to be shown

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where secrets stand in ``text``, in order."""
        return self._said.spans(text)

    def open_end(self, text: str) -> int:
        """The length of the longest end of ``text`` that begins a secret."""
        return self._said.open_end(text)

    def open_text(self, text: str) -> int:
        """Return the length of the longest end of ``text`` that begins a spelling of a secret, from one character on.

        Longer than ``open_end`` gives: it is for text that is held back at no cost.
        """
        return self._shown.open_end(text)

    def open_data(self, data: bytes) -> int:
        """The length of the longest end of ``data`` that begins a secret."""
        if not data or data[-1] not in self._last:
            return 0
        return self._sent.open_end(data[-self._sent.reach :].decode("latin-1"))

    def is_clear(self, data: bytes) -> bool:
        """Whether ``data`` and ``risks`` find nothing in those bytes and no secret begins at their end.

        One search for all of it. For the few bytes of one event that costs half; for many, each of its own costs less.
        """
        return data[-1] not in self._last and self._glance.search(data) is None

    def plain(self, data: bytes) -> bytes | None:
        """Those bytes as ``once`` gives them, when no secret, no piece of one, no code and no front of one in a code is
        in them. Nothing but the front of a secret that is spelled as it is may then be at the end of a text. Else None.
        """
        said = once(data) if not self._quotes else data
        wanted = (*self._needles, *self._coded_fronts, *self.parts)
        return None if any(map(said.__contains__, wanted)) or self._codes.may_be_in(said) else said

    def goes_on_otherwise(self, said: bytes) -> bool:
        """Whether what ``plain`` gave tells that no text which ends like the front of a secret goes on like one."""
        for found in self._plain_beginnings.finditer(said):
            quote = said.find(b'"', found.start())
            text = next_between(said, quote)
            if not text or self.may_go_on(said[quote - 1], text[0]):
                return False
        return True

    def risks(self, data: bytes, *, plain: bool) -> Risks:
        """Where a JSON text in ``data`` may end with the beginning of a secret, or hold one in a code.

        ``plain`` when it is known that all of it is.
        """
        signs = self._codes.signs if not plain and self._codes.may_be_in(data) else ()
        # For the plain ones alone ``re`` has few characters to stop at, and a code's beginning is seldom in any text.
        coded = not plain and any(map(data.__contains__, self._coded_fronts))
        return Risks((self._beginnings if coded else self._plain_beginnings, *signs), data)

    def may_go_on(self, last: int, byte: int) -> bool:
        """Whether a secret of which ``last`` is some byte may have that one next, itself or in a code."""
        return byte in CODED or (last, byte) in self._pairs

    @cached_property
    def _shown(self) -> _Matcher:
        return _Matcher(self._texts, lambda _: 1, self._codes, self._longest)

    @cached_property
    def _beginnings(self) -> re.Pattern[bytes]:
        """The end of a JSON text that is the beginning of a secret, as bytes, up to what follows it."""
        return re.compile(b"|".join(self._begun(self._texts)))

    @cached_property
    def _plain_beginnings(self) -> re.Pattern[bytes]:
        """The same of those that are spelled as they are."""
        return re.compile(b"|".join(self._begun(text for text in self._texts if text in self._plain)))

    @cached_property
    def _coded_fronts(self) -> frozenset[bytes]:
        """What the beginnings of all others begin with."""
        coded = (text for text in self._texts if text not in self._plain)
        return frozenset(text.encode("utf-8", "surrogatepass")[: self._least_coded] for text in coded)

    @cached_property
    def _glance(self) -> re.Pattern[bytes]:
        """Any of it: the front of a secret, a text that ends with one, a code."""
        fronts = (re.escape(front) for front in {needle[:SHORTEST] for needle in self._needles})
        return re.compile(
            b"|".join((*fronts, *self._begun(self._texts), *(sign.pattern for sign in self._codes.signs)))
        )

    def _begun(self, texts: Iterable[str]) -> Iterable[bytes]:
        # Each to its end, so that all alternatives begin with a character, and ``re`` tries only where one stands.
        for text in texts:
            yield _beginning(text.encode("utf-8", "surrogatepass"), self._least(text)) + _TEXT_END

    def _least(self, text: str) -> int:
        """How many characters make a beginning. Codes of a secret begin like many words, so they need some."""
        return 1 if text in self._plain else self._least_coded


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places in order, those that overlap as one."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start < out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


def _without(text: AnyStr, spans: list[tuple[int, int]], mask: AnyStr) -> AnyStr:
    """``text`` with a mask where secrets stand."""
    if not spans:
        return text
    out: list[AnyStr] = []
    at = 0
    for start, end in spans:
        out += [text[at:start], mask]
        at = end
    out.append(text[at:])
    return text[:0].join(out)
