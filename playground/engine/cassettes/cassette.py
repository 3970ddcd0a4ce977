"""Exchanges in a file: what went over the wire, when, and nothing secret. The file is one JSON object.

``{"cassette": 1, "app", "created_at", "title", "exchanges": [{"id", "protocol", "method", "url", "request": {"headers",
"body"}, "started_at", "connected", "sent", "answered", "ended", "response": {"status", "reason", "http_version",
"headers", "reads", "wire_bytes", "mended"}, "complete", "failure"}]}``. Times are seconds since the start of the
exchange; a read is ``[at, data]``; data is text where it is UTF-8, else ``{"base64": "…"}``; "mended" is left out where
there is nothing in it. Nothing in a file that was made elsewhere is trusted: a wrong one gives a ``CassetteError`` in
words. An exchange that cannot be read is left out and told of; what else a file, an exchange, its request or response
has, and a read behind its data, is written again.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import os
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from playground import __version__
from playground.domain.errors import Failure
from playground.domain.transcript import new_id
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.gateways.tape_secrets import redacted_failure, redacted_reads
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange, Headers, Read
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON, JSONObject
from playground.named_file import read_named
from playground.protocols import PROTOCOLS

VERSION: Final = 1
SUFFIX: Final = ".cassette.json"
LARGEST: Final = 512 * 1024 * 1024  # bytes of a file that is read
_LONGEST: Final = 24 * 3600.0  # seconds that an exchange may have taken
_LATEST: Final = 2.5e11  # the largest number that still is a date
_MOST_EXCHANGES: Final = 10_000
_DEEPEST: Final = 64  # values in one another, of what is not known here
_DAMAGED: Final = "This cassette is damaged: "
_TOLD: Final = 3  # exchanges that could not be read, of which it is said why


class CassetteError(ValueError):
    """A file is no cassette, or cannot be read or written; the text says what is wrong and where."""


@dataclass(frozen=True)
class Cassette:
    """Recorded exchanges, oldest first. ``created_at`` is Unix time, ``app`` what wrote the file.

    ``unread`` says of each exchange that could not be read what is wrong with it; ``beside`` are the file's members
    that are not known here.
    """

    exchanges: tuple[Exchange, ...]
    title: str = ""
    created_at: float = 0.0
    app: str = ""
    unread: tuple[str, ...] = ()
    beside: JSONObject = field(default_factory=dict)

    @property
    def unread_words(self) -> str:
        """What to tell people who opened it; empty when all of it was read."""
        count = len(self.unread)
        if not count:
            return ""
        them = "them" if count > 1 else "it"
        why = "; ".join(self.unread[:_TOLD]) + (f"; and {count - _TOLD} more" if count > _TOLD else "")
        return (
            f"{count} of {count + len(self.exchanges)} exchanges could not be read and "
            f"{'are' if count > 1 else 'is'} left out; the file still has {them}: {why}."
        )


def write(
    exchanges: Iterable[Exchange],
    title: str = "",
    known: Iterable[Secret] = (),
    beside: JSONObject | None = None,
) -> bytes:
    """The file's content. ``known`` are the secrets of this process: none of them is in it, in any spelling.

    ``beside`` are members that the file had before and that are not known here. Raises CassetteError for an exchange
    whose bodies are no longer in memory.
    """
    redactor = redactor_of(known)
    tapes = [tape_of(exchange, redactor) for exchange in exchanges]
    if not tapes:
        raise CassetteError("There is no exchange to save. Run the conversation first.")
    content = {
        "cassette": VERSION,
        "app": f"gateway-playground/{__version__}",
        "created_at": time.time(),
        "title": redactor.text(title),
        "exchanges": tapes,
    }
    content = {**(beside or {}), **content}
    text = json.dumps(content, ensure_ascii=False, indent=1)
    return redactor.text(text).encode("utf-8", "backslashreplace")


def save(
    path: Path,
    exchanges: Iterable[Exchange],
    title: str = "",
    known: Iterable[Secret] = (),
    beside: JSONObject | None = None,
) -> None:
    """Write a cassette; a reader finds the old file or the new one. Raises CassetteError."""
    data = write(exchanges, title, known, beside)
    temporary = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise CassetteError(f"{path} cannot be written: {error.strerror or error}.") from None


def open_file(path: Path, *, pipes: bool = False) -> Cassette:
    """The cassette in a file, with ``pipes`` also in a pipe; blocks. Raises CassetteError."""
    try:
        data = read_named(path, LARGEST, pipes=pipes)
    except OSError as error:
        raise CassetteError(f"{path} cannot be read: {error.strerror or error}.") from None
    return read(data)


def read(data: bytes) -> Cassette:
    """The cassette that ``data`` holds. Raises CassetteError."""
    try:
        content = loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise CassetteError("This is no cassette: it is not UTF-8 text.") from None
    except RecursionError:
        raise CassetteError("This is no cassette: its JSON is nested too deeply.") from None
    except ValueError as error:
        raise CassetteError(f"This is no cassette: it is not JSON ({str(error)[:200]}).") from None
    if not isinstance(content, dict) or "cassette" not in content:
        raise CassetteError("This is no cassette: “cassette”, which names the version of the format, is missing.")
    version = content["cassette"]
    if type(version) is not int or version < 1:
        raise CassetteError("This is no cassette: “cassette” must be the version of the format, a number.")
    if version > VERSION:
        raise CassetteError(
            f"This cassette has version {version}; only {VERSION} is known here. Update the application."
        )
    whole = _Reader(content, "the file")
    whole.get("cassette")
    tapes = whole.list("exchanges")
    if not tapes:
        raise CassetteError("This cassette is empty: “exchanges” holds none.")
    if len(tapes) > _MOST_EXCHANGES:
        raise CassetteError(f"This cassette holds {len(tapes)} exchanges; at most {_MOST_EXCHANGES} are read.")
    exchanges: list[Exchange] = []
    unread: list[str] = []
    for number, tape in enumerate(tapes, 1):
        try:
            exchanges.append(exchange_from(tape, f"exchange {number}"))
        except CassetteError as error:
            unread.append(str(error).removeprefix(_DAMAGED).removesuffix("."))
    if not exchanges:
        more = f"; and {len(unread) - 1} more that cannot be read" if len(unread) > 1 else ""
        raise CassetteError(f"{_DAMAGED}{unread[0]}{more}.")
    seen: set[str] = set()
    for exchange in exchanges:
        if exchange.id in seen:
            exchange.id = new_id()
        seen.add(exchange.id)
    created, title, app = whole.number("created_at", 0.0), whole.text("title"), whole.text("app")
    return Cassette(tuple(exchanges), title, created, app, tuple(unread), whole.rest())


# ---- writing ---------------------------------------------------------------------------------------------------------


def tape_of(exchange: Exchange, redactor: Redactor) -> JSONObject:
    """Return an exchange as JSON, without secrets. Raises CassetteError when its bodies are no longer in memory."""
    if exchange.dropped:
        raise CassetteError("The bodies of an exchange were let go to save memory, so it cannot be saved any more.")
    tape: JSONObject = {
        "id": exchange.id,
        "protocol": exchange.protocol,
        "method": exchange.method,
        "url": redactor.text(exchange.url),
        "request": {
            "headers": [list(pair) for pair in redactor.headers(exchange.request_headers)],
            "body": _data(redactor.data(exchange.request_body)),
        },
        "started_at": exchange.started_at,
        "connected": exchange.connected,
        "sent": exchange.sent,
        "answered": exchange.answered,
        "ended": exchange.ended,
        "response": {
            "status": exchange.status,
            "reason": redactor.text(exchange.reason),
            "http_version": exchange.http_version,
            "headers": [list(pair) for pair in redactor.headers(exchange.response_headers)],
            "reads": list(reads_of(exchange, redactor)),
            "wire_bytes": exchange.wire_bytes,
            **({"mended": dict(exchange.mended)} if exchange.mended else {}),
        },
        "complete": exchange.complete,
        "failure": redacted_failure(exchange.failure, redactor),
    }
    for name, members in (("exchange", tape), ("request", tape["request"]), ("response", tape["response"])):
        for key, value in exchange.beside.get(name, {}).items():
            members.setdefault(key, value)
    return tape


def reads_of(exchange: Exchange, redactor: Redactor) -> Iterator[JSON]:
    """Yield the reads as JSON, without secrets.

    Members that a file had for a read follow it, or are a read alone.
    """
    left: deque[tuple[float, list[JSON]]] = deque(exchange.beside.get("reads", []))
    for read in redacted_reads(exchange, redactor):
        while left and left[0][0] < read.at:
            at, rest = left.popleft()
            yield [at, "", *rest]
        yield [*read_of(read), *(left.popleft()[1] if left and left[0][0] == read.at else ())]
    yield from ([at, "", *rest] for at, rest in left)


def read_of(read: tuple[float, bytes]) -> list[JSON]:
    """One read as JSON."""
    at, data = read
    return [at, _data(data)]


def _data(data: bytes) -> JSON:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


# ---- reading ---------------------------------------------------------------------------------------------------------


class _Reader:
    """Members of one object of a file that nobody vouches for."""

    def __init__(self, value: JSON, where: str) -> None:
        if not isinstance(value, dict):
            raise CassetteError(f"{_DAMAGED}{where} must be an object.")
        self._value: JSONObject = value
        self._where = where
        self._known: set[str] = set()

    def wrong(self, name: str, expected: str) -> CassetteError:
        return CassetteError(f"{_DAMAGED}“{name[:64]}” of {self._where} must be {expected}.")

    def get(self, name: str) -> Any:
        self._known.add(name)
        return self._value.get(name)

    def rest(self) -> JSONObject:
        """The members that nobody has asked for, which are those that are not known here."""
        found = {name: value for name, value in self._value.items() if name not in self._known}
        for name, value in found.items():
            self.kept(value, name)
        return found

    def kept(self, value: JSON, name: str) -> None:
        """Raise CassetteError for what could not be written again."""
        level, depth = [value], 0
        while level:
            depth += 1
            if depth > _DEEPEST:
                raise self.wrong(name, f"nested {_DEEPEST} levels deep at most")
            inner = [
                item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)
            ]
            level = [item for items in inner for item in items if isinstance(item, dict | list)]

    def text(self, name: str) -> str:
        value = self.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.wrong(name, "text")
        return _whole(value)

    def words(self, name: str) -> dict[str, str]:
        """Short texts by their names; none where there are none."""
        value = self.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
            raise self.wrong(name, "an object of texts")
        return {_whole(key[:64]): _whole(text[:200]) for key, text in value.items()}

    def list(self, name: str) -> list[Any]:
        value = self.get(name)
        if not isinstance(value, list):
            raise self.wrong(name, "a list")
        return value

    def number(self, name: str, default: float) -> float:
        value = self.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LATEST:
            raise self.wrong(name, "a number, 0 or more")
        return float(value)

    def moment(self, name: str) -> float | None:
        return None if self.get(name) is None else self.time(self.get(name), name)

    def time(self, value: Any, name: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LONGEST:
            raise self.wrong(name, "seconds from 0 to one day")
        return float(value)

    def headers(self, name: str) -> Headers:
        pairs = self.list(name)
        for pair in pairs:
            if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
                raise self.wrong(name, "a list of pairs of text")
        return tuple((_whole(pair[0]), _whole(pair[1])) for pair in pairs)

    def data(self, value: Any, name: str) -> bytes:
        if value is None:
            return b""
        if isinstance(value, str):
            return value.encode("utf-8", "replace")
        if isinstance(value, dict) and isinstance(value.get("base64"), str):
            if len(value) > 1:
                raise self.wrong(name, "text or base64 with nothing beside it")
            try:
                return base64.b64decode(value["base64"], validate=True)
            except (binascii.Error, ValueError):
                raise self.wrong(name, "base64 that can be read") from None
        raise self.wrong(name, "text or base64")


def _whole(text: str) -> str:
    """``text`` without halves of surrogate pairs, which could not be written again."""
    return text.encode("utf-8", "replace").decode()


def exchange_from(value: JSON, where: str) -> Exchange:
    """The exchange that JSON of any source holds. Raises CassetteError, which calls it ``where``."""
    tape = _Reader(value, where)
    asked = _Reader(tape.get("request"), f"the request of {where}")
    answer = _Reader(tape.get("response"), f"the response of {where}")
    protocol = tape.text("protocol")
    if protocol and protocol not in PROTOCOLS:
        raise tape.wrong("protocol", f"one of {', '.join(PROTOCOLS)}, or empty")
    status = answer.get("status")
    if status is not None and (type(status) is not int or not 100 <= status <= 599):
        raise answer.wrong("status", "a number from 100 to 599, or null")
    complete = tape.get("complete")
    if not isinstance(complete, bool):
        raise tape.wrong("complete", "true or false")
    reads, rests = _reads(answer)
    ended = tape.moment("ended")
    if ended is None:  # saved while it ran
        ended = reads[-1].at if reads else tape.moment("answered") or 0.0
    found = Exchange(
        id=tape.text("id")[:64] or new_id(),
        method=tape.text("method"),
        url=tape.text("url"),
        request_headers=asked.headers("headers"),
        request_body=asked.data(asked.get("body"), "body"),
        started_at=tape.number("started_at", 0.0),
        status=status,
        reason=answer.text("reason"),
        http_version=answer.text("http_version"),
        response_headers=answer.headers("headers"),
        reads=reads,
        wire_bytes=int(answer.number("wire_bytes", 0.0)),
        mended=answer.words("mended"),
        connected=tape.moment("connected"),
        sent=tape.moment("sent"),
        answered=tape.moment("answered"),
        ended=ended,
        complete=complete,
        failure=_failure(tape),
        protocol=protocol,
    )
    unknown = {"exchange": tape.rest(), "request": asked.rest(), "response": answer.rest(), "reads": rests}
    found.beside = {name: members for name, members in unknown.items() if members}
    return found


def _reads(answer: _Reader) -> tuple[list[Read], list[tuple[float, list[JSON]]]]:
    """The reads, and what else followed the data of some, by their times."""
    reads: list[Read] = []
    rests: list[tuple[float, list[JSON]]] = []
    last = -math.inf
    for item in answer.list("reads"):
        if not isinstance(item, list) or len(item) < 2:
            raise answer.wrong("reads", "a list of pairs of a time and data")
        at = answer.time(item[0], "reads")
        if at < last:
            raise answer.wrong("reads", "in the order of time")
        last = at
        if data := answer.data(item[1], "reads"):
            reads.append(Read(at, data))
        if len(item) > 2:
            answer.kept(item[2:], "reads")
            rests.append((at, item[2:]))
    return reads, rests


def _failure(tape: _Reader) -> Failure | None:
    value = tape.get("failure")
    if value is None:
        return None
    try:
        return Failure.model_validate(value)
    except (ValidationError, RecursionError):
        raise tape.wrong("failure", "a failure as this application writes it, or null") from None
