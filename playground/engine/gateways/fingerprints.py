"""Knows a secret of the keyring again before it was fetched: what is kept of it tells a text that has it, and no more.

Of each secret stands in a file: how long it is, its first two characters, ten bits of a keyed digest, and a slow digest
of it all. The first three let a text be searched quickly and rule out nearly everything; the slow digest decides. Who
has the file may try out secrets against it, some 20 a second and processor. That finds no key that a gateway makes, and
it would find a short password: of a secret shorter than ``SHORTEST`` nothing is kept, and it is known once fetched.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import string
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from playground.engine.io.whole_file import write_whole
from playground.gateway.codes import Codes
from playground.named_file import read_named

SHORTEST: Final = 20  # characters
_FRONT: Final = 2  # characters that are kept as they are; of nearly every key they are "sk"
_BITS: Final = 10
_PIECE: Final = 50_000  # characters whose codes are undone in one go
_LAP: Final = 4_000
_CODES: Final = Codes(string.punctuation)
_LARGEST: Final = 4 * 1024 * 1024  # bytes of the file


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is kept of one secret; ``size`` is in characters."""

    size: int
    front: str
    check: int
    digest: str


class Fingerprints:
    """Those in the file at ``path``. A file that cannot be read or written means that nothing is recognised."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()  # the store's thread asks, too
        self._salt = b""
        self._known: dict[str, Fingerprint] | None = None
        self._tried: dict[bytes, str] = {}  # what is none of them, or is one, by its quick digest

    def remember(self, user: str, secret: str) -> bool:
        """Keep what tells that secret. Blocks for a twentieth of a second. Returns whether nothing told it before."""
        with self._lock:
            known = self._load()
        made = None
        if len(secret) >= SHORTEST:
            made = Fingerprint(len(secret), secret[:_FRONT], _check(self._quick(secret)), self._slow(secret))
        with self._lock:
            if known.get(user) == made:
                return False
            is_new = made is not None and made not in known.values()
            known.pop(user, None)
            if made is not None:
                known[user] = made
            self._save()
            return is_new

    def forget(self, user: str) -> None:
        """Keep nothing of that secret any more."""
        with self._lock:
            if self._load().pop(user, None) is not None:
                self._save()

    def find(self, text: str, besides: frozenset[str]) -> dict[str, str]:
        """The secrets that stand in ``text``, by their user; those of ``besides`` are known and not looked for."""
        with self._lock:
            wanted = {user: one for user, one in self._load().items() if user not in besides}
            out: dict[str, str] = {}
            for said in _said(text) if wanted else ():
                left = ((user, one) for user, one in wanted.items() if user not in out)
                out |= {user: found for user, one in left if (found := self._in(said, one))}
            return out

    def _in(self, text: str, one: Fingerprint) -> str:
        """That secret, where it stands in ``text``; else nothing."""
        at = text.find(one.front)
        while at >= 0:
            part = text[at : at + one.size]
            if len(part) == one.size and part.isascii() and part.isprintable() and " " not in part:
                quick = self._quick(part)
                if _check(quick) == one.check and self._tell(quick, part) == one.digest:
                    return part
            at = text.find(one.front, at + 1)
        return ""

    def _tell(self, quick: bytes, part: str) -> str:
        if quick not in self._tried:
            if len(self._tried) > 4096:
                self._tried.clear()
            self._tried[quick] = self._slow(part)
        return self._tried[quick]

    def _quick(self, text: str) -> bytes:
        return hmac.digest(self._salt, text.encode("utf-8", "surrogatepass"), "sha256")

    def _slow(self, text: str) -> str:
        return hashlib.scrypt(text.encode("utf-8", "surrogatepass"), salt=self._salt, n=2**14, r=8, p=1, dklen=16).hex()

    def _load(self) -> dict[str, Fingerprint]:
        if self._known is None:
            self._known = {}
            try:
                content = json.loads(read_named(self._path, _LARGEST))
                self._salt = bytes.fromhex(content["salt"])
                found = {str(user): Fingerprint(**one) for user, one in content["secrets"].items()}
                self._known = {user: one for user, one in found.items() if one.size >= SHORTEST and one.front}
            except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
                pass  # made anew, as each secret is fetched
            if len(self._salt) != 32:
                self._salt, self._known = secrets.token_bytes(32), {}
        return self._known

    def _save(self) -> None:
        known = {user: asdict(one) for user, one in self._load().items()}
        content = {"version": 1, "salt": self._salt.hex(), "secrets": known}
        try:
            write_whole(self._path, json.dumps(content, indent=2).encode(), private=True)
        except OSError:
            return  # known in this session all the same


def _said(text: str) -> Iterator[str]:
    """The text, and what its pieces say where it has codes; they overlap, so that no secret is cut by all of them."""
    yield text
    for at in range(0, len(text) if any(map(text.__contains__, "\\%&")) else 0, _PIECE):
        piece = text[at : at + _PIECE + _LAP]
        plain = _CODES.undo(piece)
        if plain is not None:
            yield plain.text


def _check(quick: bytes) -> int:
    return int.from_bytes(quick[:2], "big") >> (16 - _BITS)
