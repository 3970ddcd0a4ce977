"""Cassettes: files of recorded exchanges with times and without secrets. A file is one JSON object.

``{"cassette": 1, "app", "created_at", "title", "exchanges": [{"id", "protocol", "method", "url", "request": {"headers",
"body"}, "started_at", "connected", "sent", "answered", "ended", "response": {"status", "reason", "http_version",
"headers", "reads", "wire_bytes", "mended"}, "complete", "failure"}]}``. Times are seconds since the start of the
exchange; a read is ``[at, data]``; data is text if it is UTF-8, else ``{"base64": "…"}``; an empty "mended" is omitted.
No file is trusted: an invalid one raises ``CassetteError`` in words, and an unreadable exchange is skipped and
reported. Unknown members of the file, an exchange, its request, its response, or of a read after its data are kept and
written again.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, ValidationError

from playground import __version__
from playground.domain.errors import Failure
from playground.domain.transcript import new_id
from playground.engine.gateways.redaction import redacted_failure, redacted_reads, redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.io.files import write_whole
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange, Headers, Read
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import PROTOCOLS
from playground.system.named_file import read_named

VERSION: Final = 1
SUFFIX: Final = ".cassette.json"
MAX_FILE_SIZE: Final = 512 * 1024 * 1024  # bytes
_MAX_DURATION: Final = 24 * 3600.0  # seconds of an exchange
_MAX_TIME: Final = 2.5e11  # seconds; later times are no date
_MAX_EXCHANGES: Final = 10_000
_MAX_DEPTH: Final = 64  # of unknown members
_MAX_REASONS: Final = 3  # named unreadable exchanges
_DAMAGED: Final = "This cassette is damaged: "

M = TypeVar("M", bound=BaseModel)
UnknownReadMembers = list[tuple[float, list[JSON]]]  # what followed the data of reads, by their times


class CassetteError(ValueError):
    """A file is no cassette, or cannot be read or written; the text says what is wrong and where."""


@dataclass(frozen=True)
class Cassette:
    """Recorded exchanges, oldest first. ``created_at`` is Unix time, ``app`` the program that wrote the file.

    ``unread`` has the reason for each unreadable exchange, ``unknown_members`` those of the file.
    """

    exchanges: tuple[Exchange, ...]
    title: str = ""
    created_at: float = 0.0
    app: str = ""
    unread: tuple[str, ...] = ()
    unknown_members: JSONObject = field(default_factory=dict)

    @property
    def unread_words(self) -> str:
        """A sentence about the unreadable exchanges; empty without any."""
        count = len(self.unread)
        if not count:
            return ""
        them = "them" if count > 1 else "it"
        more = f"; and {count - _MAX_REASONS} more" if count > _MAX_REASONS else ""
        return (
            f"{count} of {count + len(self.exchanges)} exchanges could not be read and "
            f"{'are' if count > 1 else 'is'} left out; the file still has {them}: "
            f"{'; '.join(self.unread[:_MAX_REASONS])}{more}."
        )


def write(
    exchanges: Iterable[Exchange],
    title: str = "",
    secrets: Iterable[Secret] = (),
    unknown_members: JSONObject | None = None,
) -> bytes:
    """Return the content of a file, without any spelling of the secrets of this process.

    ``unknown_members`` are those that the file had before. Raises CassetteError for an exchange whose bodies are no
    longer in memory, and without any exchange.
    """
    redactor = redactor_of(secrets)
    tapes = [tape_of(exchange, redactor) for exchange in exchanges]
    if not tapes:
        raise CassetteError("There is no exchange to save. Run the conversation first.")
    content = {
        **(unknown_members or {}),
        "cassette": VERSION,
        "app": f"gateway-playground/{__version__}",
        "created_at": time.time(),
        "title": redactor.text(title),
        "exchanges": tapes,
    }
    text = json.dumps(content, ensure_ascii=False, indent=1)
    return redactor.text(text).encode("utf-8", "backslashreplace")


def save(
    path: Path,
    exchanges: Iterable[Exchange],
    title: str = "",
    secrets: Iterable[Secret] = (),
    unknown_members: JSONObject | None = None,
) -> None:
    """Write a cassette; a reader gets either the old file or the new one. Raises CassetteError."""
    data = write(exchanges, title, secrets, unknown_members)
    try:
        write_whole(path, data)
    except OSError as error:
        raise CassetteError(f"{path} cannot be written: {error.strerror or error}.") from None


def open_file(path: Path, *, pipes: bool = False) -> Cassette:
    """Read a cassette from a file, with ``pipes`` also from a pipe; blocks. Raises CassetteError."""
    try:
        data = read_named(path, MAX_FILE_SIZE, pipes=pipes)
    except OSError as error:
        raise CassetteError(f"{path} cannot be read: {error.strerror or error}.") from None
    return read(data)


def read(data: bytes) -> Cassette:
    """Parse the content of a file. Raises CassetteError."""
    members, unknown_members = _parse(_FileMembers, _load(data), "the file")
    if not members.exchanges:
        raise CassetteError("This cassette is empty: “exchanges” holds none.")
    if len(members.exchanges) > _MAX_EXCHANGES:
        count = len(members.exchanges)
        raise CassetteError(f"This cassette holds {count} exchanges; at most {_MAX_EXCHANGES} are read.")
    exchanges: list[Exchange] = []
    unread: list[str] = []
    for number, tape in enumerate(members.exchanges, 1):
        try:
            exchanges.append(exchange_from(tape, f"exchange {number}"))
        except CassetteError as error:
            unread.append(str(error).removeprefix(_DAMAGED).removesuffix("."))
    if not exchanges:
        more = f"; and {len(unread) - 1} more that cannot be read" if len(unread) > 1 else ""
        raise CassetteError(f"{_DAMAGED}{unread[0]}{more}.")
    ids: set[str] = set()
    for exchange in exchanges:
        if exchange.id in ids:
            exchange.id = new_id()
        ids.add(exchange.id)
    return Cassette(tuple(exchanges), members.title, members.created_at, members.app, tuple(unread), unknown_members)


def _load(data: bytes) -> JSONObject:
    """Parse the JSON of a file and check the version. Raises CassetteError."""
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
            f"This cassette has version {version}; only {VERSION} is supported. Update the application."
        )
    return content


# ---- writing ---------------------------------------------------------------------------------------------------------


def tape_of(exchange: Exchange, redactor: Redactor) -> JSONObject:
    """Return an exchange as JSON, without secrets. Raises CassetteError when its bodies are no longer in memory."""
    if exchange.dropped:
        raise CassetteError("The bodies of an exchange were removed to save memory, so it cannot be saved any more.")
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
        for key, value in exchange.unknown_members.get(name, {}).items():
            members.setdefault(key, value)
    return tape


def reads_of(exchange: Exchange, redactor: Redactor) -> Iterator[JSON]:
    """Yield the reads as JSON, without secrets.

    Members that a file had for a read follow it, or are a read alone.
    """
    unknown: deque[tuple[float, list[JSON]]] = deque(exchange.unknown_members.get("reads", []))
    for read in redacted_reads(exchange, redactor):
        while unknown and unknown[0][0] < read.time:
            moment, members = unknown.popleft()
            yield [moment, "", *members]
        yield [*read_of(read), *(unknown.popleft()[1] if unknown and unknown[0][0] == read.time else ())]
    yield from ([moment, "", *members] for moment, members in unknown)


def read_of(read: tuple[float, bytes]) -> list[JSON]:
    """Return a read as JSON."""
    return [read[0], _data(read[1])]


def _data(data: bytes) -> JSON:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


# ---- reading ---------------------------------------------------------------------------------------------------------


def _clean_text(value: Any) -> Any:
    """Return text without unpaired surrogates, which cannot be written again; null becomes an empty text."""
    if value is None:
        return ""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _parse_headers(value: Any) -> Headers:
    if not isinstance(value, list):
        raise ValueError("a list")
    for pair in value:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
            raise ValueError("a list of pairs of text")
    return tuple((_clean_text(name), _clean_text(text)) for name, text in value)


def _parse_data(value: Any) -> bytes:
    if value is None:
        return b""
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    if not isinstance(value, dict) or not isinstance(value.get("base64"), str):
        raise ValueError("text or base64")
    if len(value) > 1:
        raise ValueError("text or base64 without other members")
    try:
        return base64.b64decode(value["base64"], validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("base64 that can be read") from None


def _parse_reads(value: Any) -> tuple[list[Read], UnknownReadMembers]:
    """Return the reads, and unknown members behind their data."""
    if not isinstance(value, list):
        raise ValueError("a list")
    reads: list[Read] = []
    unknown: UnknownReadMembers = []
    last = 0.0
    for item in value:
        if not isinstance(item, list) or len(item) < 2:
            raise ValueError("a list of pairs of a time and data")
        moment = item[0]
        if isinstance(moment, bool) or not isinstance(moment, int | float) or not 0 <= moment <= _MAX_DURATION:
            raise ValueError("seconds from 0 to one day")
        if moment < last:
            raise ValueError("in the order of time")
        last = float(moment)
        if data := _parse_data(item[1]):
            reads.append(Read(last, data))
        if len(item) > 2:
            _check_depth(item[2:])
            unknown.append((last, item[2:]))
    return reads, unknown


def _parse_short_texts(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError("an object of texts")
    return {_clean_text(name[:64]): _clean_text(text[:200]) for name, text in value.items()}


def _parse_failure(value: Any) -> Failure | None:
    try:
        return None if value is None else Failure.model_validate(value)
    except (ValidationError, RecursionError):
        raise ValueError("a failure as this application writes it, or null") from None


def _check_protocol(name: str) -> str:
    if name and name not in PROTOCOLS:
        raise ValueError(f"one of {', '.join(PROTOCOLS)}, or empty")
    return name


def _check_depth(value: JSON) -> None:
    """Raise ValueError for a value that is too deep to be written again."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    depth = 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise ValueError(f"nested {_MAX_DEPTH} levels deep at most")
        containers = [
            item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)
        ]
        level = [item for items in containers for item in items if isinstance(item, dict | list)]


# The description of a type completes the sentence “… must be …”; a validator's ValueError is more specific.
_Text = Annotated[str, BeforeValidator(_clean_text), Field(description="text")]
_Number = Annotated[
    float,
    BeforeValidator(lambda value: 0.0 if value is None else value),
    Field(ge=0, lt=_MAX_TIME, allow_inf_nan=False, description="a number, 0 or more"),
]
_Moment = Annotated[
    float | None, Field(ge=0, le=_MAX_DURATION, allow_inf_nan=False, description="seconds from 0 to one day")
]


class _Members(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class _FileMembers(_Members):
    cassette: int
    app: _Text = ""
    created_at: _Number = 0.0
    title: _Text = ""
    exchanges: list[Any] = Field(None, validate_default=True, description="a list")


class _ExchangeMembers(_Members):
    id: _Text = ""
    protocol: Annotated[_Text, AfterValidator(_check_protocol)] = ""
    method: _Text = ""
    url: _Text = ""
    request: Any = None
    started_at: _Number = 0.0
    connected: _Moment = None
    sent: _Moment = None
    answered: _Moment = None
    ended: _Moment = None
    response: Any = None
    complete: bool = Field(None, validate_default=True, description="true or false")
    failure: Annotated[Failure | None, PlainValidator(_parse_failure)] = None


class _RequestMembers(_Members):
    headers: Annotated[Headers, PlainValidator(_parse_headers)] = Field(None, validate_default=True)
    body: Annotated[bytes, PlainValidator(_parse_data)] = b""


class _ResponseMembers(_Members):
    status: int | None = Field(None, ge=100, le=599, description="a number from 100 to 599, or null")
    reason: _Text = ""
    http_version: _Text = ""
    headers: Annotated[Headers, PlainValidator(_parse_headers)] = Field(None, validate_default=True)
    reads: Annotated[tuple[list[Read], UnknownReadMembers], PlainValidator(_parse_reads)] = Field(
        None, validate_default=True
    )
    wire_bytes: _Number = 0.0
    mended: Annotated[dict[str, str], PlainValidator(_parse_short_texts)] = {}


def _parse(model: type[M], value: JSON, where: str) -> tuple[M, JSONObject]:
    """Return the known members of an object as a model, and the unknown ones. Raises CassetteError with the place."""
    if not isinstance(value, dict):
        raise CassetteError(f"{_DAMAGED}{where} must be an object.")
    unknown = {name: member for name, member in value.items() if name not in model.model_fields}
    for name, member in unknown.items():
        try:
            _check_depth(member)
        except ValueError as error:
            raise _invalid(name, where, str(error)) from None
    try:
        return model.model_validate({name: value[name] for name in model.model_fields if name in value}), unknown
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)[0]
        name = str(details["loc"][0])
        expected = str(details["ctx"]["error"]) if details["type"] == "value_error" else ""
        raise _invalid(name, where, expected or str(model.model_fields[name].description)) from None


def _invalid(name: str, where: str, expected: str) -> CassetteError:
    return CassetteError(f"{_DAMAGED}“{name[:64]}” of {where} must be {expected}.")


def exchange_from(value: JSON, where: str) -> Exchange:
    """Return the exchange in untrusted JSON. Raises CassetteError, which names the place as ``where``."""
    members, unknown = _parse(_ExchangeMembers, value, where)
    request, unknown_of_request = _parse(_RequestMembers, members.request, f"the request of {where}")
    response, unknown_of_response = _parse(_ResponseMembers, members.response, f"the response of {where}")
    reads, unknown_of_reads = response.reads
    ended = members.ended
    if ended is None:  # saved while it ran
        ended = reads[-1].time if reads else members.answered or 0.0
    all_unknown: JSONObject = {
        "exchange": unknown,
        "request": unknown_of_request,
        "response": unknown_of_response,
        "reads": unknown_of_reads,
    }
    return Exchange(
        id=members.id[:64] or new_id(),
        method=members.method,
        url=members.url,
        request_headers=request.headers,
        request_body=request.body,
        started_at=members.started_at,
        status=response.status,
        reason=response.reason,
        http_version=response.http_version,
        response_headers=response.headers,
        reads=reads,
        wire_bytes=int(response.wire_bytes),
        mended=response.mended,
        connected=members.connected,
        sent=members.sent,
        answered=members.answered,
        ended=ended,
        complete=members.complete,
        failure=members.failure,
        protocol=members.protocol,
        unknown_members={name: entries for name, entries in all_unknown.items() if entries},
    )
