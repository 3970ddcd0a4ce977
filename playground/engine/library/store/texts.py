"""Values as the text of a column and back. Pictures have a table of their own: each is written once."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from playground.gateway.redact import MASK
from playground.jsonkit.values import JSON, JSONObject

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret

Clean = Callable[[str], str]

#: The words that the text of an exchange is made of.
_TAPE_WORDS: Final = ("exchange", "protocol", "request", "headers", "started_at", "connected", "answered", "response")
_STORED: Final = "stored:"
_SHORT: Final = 512  # characters of an address that is not worth a row of its own
_MOST_KNOWN: Final = 64
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_AS_IT_IS: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ESCAPED: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def without_format_words(secrets: Iterable[Secret]) -> tuple[Secret, ...]:
    """Return secrets without those that are words of the format ("assistant"): redacted rows could not be read."""
    values = tuple(secrets)
    if not values:
        return values
    from playground.engine.files.experiment_file import structure_words

    words = " ".join((*structure_words(), *_TAPE_WORDS, "http_version", "wire_bytes", "complete"))
    return tuple(secret for secret in values if secret.get_secret_value() not in words)


def as_text(value: JSON, clean: Clean) -> str:
    """JSON text that SQLite takes, with the secrets that ``clean`` knows taken out. Raises RecursionError."""
    try:
        text = _encode(value, _AS_IT_IS)
    except ValueError:  # half of a surrogate pair, or a number that JSON does not have
        text = _encode(_finite(value), _ESCAPED)
    return clean(text)


def _encode(value: JSON, encoder: json.JSONEncoder) -> str:
    """JSON text of a value. Raises ValueError where it cannot be encoded, and RecursionError."""
    text = encoder.encode(value)
    if not text.isascii() and _SURROGATE.search(text):  # a search makes no copy of a large text
        raise ValueError("half of a surrogate pair")
    return text


def _finite(value: JSON) -> JSON:
    """Numbers that JSON cannot say become the largest one, or null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else math.copysign(1.7976931348623157e308, value)
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _images(value: JSONObject) -> Iterator[tuple[JSONObject, str]]:
    """The pictures of a turn or of a draft, of results and of what was typed for calls, and all that tool servers sent
    in base64: what holds each, and under which name.
    """
    for name in ("parts", "images"):
        for part in _objects(value.get(name)):
            if isinstance(part.get("url"), str):
                yield part, "url"
            yield from _of_answer(part)
    for call in _objects(value.get("calls")):
        typed = call.get("typed")
        for answer in _objects([typed, typed.get("prepared") if isinstance(typed, dict) else None]):
            yield from _of_answer(answer)
        for answer in _objects(call.get("fork")):
            yield from _of_answer(answer)


def _of_answer(answer: JSONObject) -> Iterator[tuple[JSONObject, str]]:
    """Those of one result, or of what may become one."""
    served = answer.get("served")
    for image in _objects(answer.get("images")):
        if isinstance(image.get("url"), str):
            yield image, "url"
    for block in _objects(served.get("blocks")) if isinstance(served, dict) else ():
        if isinstance(block.get("data"), str):
            yield block, "data"


def _objects(value: JSON) -> Iterator[JSONObject]:
    """Yield the objects of a list; none for another value."""
    return (item for item in (value if isinstance(value, list) else ()) if isinstance(item, dict))


class Pictures:
    """Puts pictures into their table while rows are written. ``clean`` takes secrets out of files that servers sent."""

    def __init__(self) -> None:
        self.clean: Clean = str
        self._hashes: dict[str, str] = {}

    def stow(self, value: JSONObject, experiment: int, connection: sqlite3.Connection) -> None:
        """Replace the large addresses in a turn or a draft by the names they are kept under."""
        for part, member in _images(value):
            url: str = part[member]
            if len(url) > _SHORT or url.startswith(_STORED):
                name = self._hash(url)
                row = connection.execute("SELECT 1 FROM images WHERE hash = ?", (name,)).fetchone()
                if row is None:
                    address = _bytes_without(url, self.clean) if part.get("kind") == "blob" else url
                    connection.execute("INSERT INTO images VALUES (?, ?)", (name, address))
                connection.execute("INSERT OR IGNORE INTO image_uses VALUES (?, ?)", (experiment, name))
                part[member] = _STORED + name

    def _hash(self, url: str) -> str:
        name = self._hashes.get(url)
        if name is None:
            if len(self._hashes) >= _MOST_KNOWN:
                self._hashes.clear()
            name = self._hashes[url] = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
        return name


def _bytes_without(data: str, clean: Clean) -> str:
    """Base64 of the same length without the secrets in it: zeros replace them."""
    masked = clean(data)
    if masked == data or not data.isascii():
        return masked
    first, *others = masked.split(MASK)
    missing = len(data) - len(masked) + len(MASK)
    return first + "A" * missing + ("A" * len(MASK)).join(others) if others and missing > 0 else ""


def bring_pictures(value: JSONObject, addresses: dict[str, str], connection: sqlite3.Connection) -> None:
    """Put the addresses of pictures back. ``addresses`` collects those that were looked up, by name."""
    for part, member in _images(value):
        url: str = part[member]
        if url.startswith(_STORED):
            name = url.removeprefix(_STORED)
            if name not in addresses:
                row = connection.execute("SELECT url FROM images WHERE hash = ?", (name,)).fetchone()
                addresses[name] = row[0] if row is not None and isinstance(row[0], str) else url
            part[member] = addresses[name]
