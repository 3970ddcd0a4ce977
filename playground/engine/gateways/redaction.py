"""The one way out: exports, reports, recordings and standard output are redacted here before they are written.

A writer hands over its text, or its JSON value, with the secrets that this process knows. ``redact`` removes whole
secrets in all their spellings, pieces of one, and the beginning of one before an ellipsis, where a text was shortened.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from playground.domain.errors import Failure
from playground.engine.io.files import write_whole
from playground.engine.io.spreadsheet import json_text
from playground.gateway.redact import MASK, SHORTEST, Redactor
from playground.gateway.redact_stream import StreamRedactor
from playground.gateway.tape import Exchange, Read
from playground.jsonkit.layout import indented, indented_pieces
from playground.jsonkit.values import JSON, JSONObject


class KnownSecrets:
    """The secrets in memory at the time of each iteration; handed on as it is, never as a copy."""

    def __init__(self, ask: Callable[[], Iterable[SecretStr]]) -> None:
        self._ask = ask

    def __iter__(self) -> Iterator[SecretStr]:
        return iter(self._ask())

    def __len__(self) -> int:
        return len(tuple(self._ask()))


def redactor_of(secrets: Iterable[SecretStr]) -> Redactor:
    """Return a redactor of those secrets."""
    return Redactor(values_of(secrets))


def values_of(secrets: Iterable[SecretStr]) -> tuple[str, ...]:
    """Return the secrets as plain text, which must never be shown."""
    return tuple(secret.get_secret_value() for secret in secrets)


def remove_fingerprints(folder: Path) -> None:
    """Delete the file in which earlier versions kept digests of keys. Never raises."""
    with contextlib.suppress(OSError):
        (folder / "fingerprints.json").unlink(missing_ok=True)


_ELLIPSIS: Final = re.compile("…")


def redact(text: str, redactor: Redactor) -> str:
    """Return ``text`` without the secrets that ``redactor`` knows, also without one that an ellipsis cuts off."""
    clean = redactor.text(text)
    if "…" not in clean or not redactor:
        return clean
    pieces: list[str] = []
    start = 0
    for ellipsis in _ELLIPSIS.finditer(clean):
        end = ellipsis.start()
        begun = redactor.open_text(clean[start:end])
        pieces += (clean[start : end - begun], MASK) if begun >= SHORTEST else (clean[start:end],)
        start = end
    return "".join((*pieces, clean[start:]))


def redact_json(value: JSON, redactor: Redactor) -> JSON:
    """Return a JSON value without secrets in its texts, names and numbers; its structure stays."""
    if isinstance(value, str):
        return redact(value, redactor)
    if isinstance(value, dict):
        return {redact(name, redactor): redact_json(item, redactor) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(item, redactor) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool) and len(str(value)) >= SHORTEST:
        return value if redactor.text(str(value)) == str(value) else MASK
    return value


def output_json(value: JSON, redactor: Redactor) -> str:
    """Return a JSON value as indented text without secrets."""
    try:
        return json_text(redact_json(value, redactor))
    except RecursionError:
        return redact(json_text(value), redactor)


def output_json_pieces(value: JSON, redactor: Redactor) -> Iterator[str]:
    """Yield the text of a JSON value without secrets piece by piece: a large value needs no copy of its whole text."""
    try:
        clean = redact_json(value, redactor)
    except RecursionError:
        return iter((redact(indented(value), redactor),))
    return indented_pieces(clean)


def write_output(path: Path, content: str | bytes, secrets: Iterable[SecretStr]) -> None:
    """Write a file that leaves the program, as a whole and without ``secrets``. Raises OSError."""
    redactor = redactor_of(secrets)
    if isinstance(content, str):
        data = redact(content, redactor).encode("utf-8", "backslashreplace")
    else:
        data = redactor.data(content)
    write_whole(path, data)


# ---- recordings ------------------------------------------------------------------------------------------------------


def redacted_reads(exchange: Exchange, redactor: Redactor) -> Iterator[Read]:
    """Yield the reads of the response body without secrets, also where reads or events cut one."""
    stream = StreamRedactor(redactor)
    for position, data in exchange.reads:
        yield from (Read(*piece) for piece in stream.redact_bytes(data, position))
    yield from (Read(*piece) for piece in stream.close(exchange.reads[-1].time if exchange.reads else 0.0))


def redacted_failure(failure: Failure | None, redactor: Redactor) -> JSON:
    """Return a failure as JSON, without secrets in its texts."""
    if failure is None:
        return None
    members = _redact_members(failure.model_dump(mode="json", exclude_none=True, exclude={"sent"}), redactor)
    if failure.sent is not None:
        members["sent"] = _redact_members(failure.sent.model_dump(mode="json", exclude_defaults=True), redactor)
    return members


def _redact_members(members: JSONObject, redactor: Redactor) -> JSONObject:
    """Return an object without secrets in its texts and in those of nested objects."""
    clean: JSONObject = {}
    for name, item in members.items():
        if isinstance(item, str):
            clean[name] = redactor.text(item)
        else:
            clean[name] = _redact_members(item, redactor) if isinstance(item, dict) else item
    return clean
