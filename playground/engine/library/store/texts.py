"""Values as the text of a column and back. Pictures stand apart: one is written once, however often it is used."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from playground.jsonkit.pieces import json_pieces
from playground.jsonkit.values import JSON, JSONObject

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret
    from playground.engine.library.store.unread import Unreadable

Clean = Callable[[str], str]

#: The words that the text of an exchange is made of.
_TAPE_WORDS: Final = ("exchange", "protocol", "request", "headers", "started_at", "connected", "answered", "response")
_STORED: Final = "stored:"
_SHORT: Final = 512  # characters of an address that is not worth a row of its own
_MOST_KNOWN: Final = 64
_AS_IT_IS: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ESCAPED: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def no_words(known: Iterable[Secret]) -> tuple[Secret, ...]:
    """Secrets, but for those that are words of the rows ("assistant"): without them none could be read again."""
    found = tuple(known)
    if not found:
        return found
    from playground.engine.files.experiment_file import structure_words

    words = " ".join((*structure_words(), *_TAPE_WORDS, "http_version", "wire_bytes", "complete"))
    return tuple(secret for secret in found if secret.get_secret_value() not in words)


def as_text(value: JSON, clean: Clean) -> str:
    """JSON text that SQLite takes, with the secrets that ``clean`` knows taken out. Raises RecursionError."""
    try:
        pieces = list(json_pieces(value, _AS_IT_IS))
    except ValueError:
        value = _finite(value)
        pieces = list(json_pieces(value, _AS_IT_IS))
    try:
        for piece in pieces:
            piece.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        pieces = list(json_pieces(value, _ESCAPED))
    return clean("".join(pieces))


def _finite(value: JSON) -> JSON:
    """Numbers that JSON cannot say become the largest one, or null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else math.copysign(1.7976931348623157e308, value)
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _images(value: JSONObject) -> Iterator[JSONObject]:
    """The pictures of a turn or of a draft."""
    for name in ("parts", "images"):
        found = value.get(name)
        for part in found if isinstance(found, list) else ():
            if isinstance(part, dict) and isinstance(part.get("url"), str):
                yield part


class Pictures:
    """Puts pictures into their table while rows are written."""

    def __init__(self) -> None:
        self._hashes: dict[str, str] = {}

    def stow(self, value: JSONObject, experiment: int, connection: sqlite3.Connection) -> None:
        """Replace the large addresses in a turn or a draft by the names they are kept under."""
        for part in _images(value):
            url: str = part["url"]
            if len(url) > _SHORT or url.startswith(_STORED):
                name = self._hash(url)
                row = connection.execute("SELECT 1 FROM images WHERE hash = ?", (name,)).fetchone()
                if row is None:
                    connection.execute("INSERT INTO images VALUES (?, ?)", (name, url))
                connection.execute("INSERT OR IGNORE INTO image_uses VALUES (?, ?)", (experiment, name))
                part["url"] = _STORED + name

    def _hash(self, url: str) -> str:
        found = self._hashes.get(url)
        if found is None:
            if len(self._hashes) >= _MOST_KNOWN:
                self._hashes.clear()
            found = self._hashes[url] = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
        return found


def bring_pictures(value: JSONObject, known: dict[str, str], lost: Unreadable) -> None:
    """Put the addresses back. ``known`` are those that were looked up already, by name."""
    for part in _images(value):
        url: str = part["url"]
        if url.startswith(_STORED):
            name = url.removeprefix(_STORED)
            if name not in known:
                known[name] = _address(name, lost) or url
            part["url"] = known[name]


def _address(name: str, lost: Unreadable) -> str:
    """What is kept under that name; empty where there is nothing, or nothing that can be read."""
    row = lost.connection.execute("SELECT rowid, url FROM images WHERE hash = ?", (name,)).fetchone()
    if row is None:
        return ""
    number, url = row
    if not isinstance(url, str):
        lost.note("images", number)
        return ""
    lost.look("images", number, "url", url)
    return url
