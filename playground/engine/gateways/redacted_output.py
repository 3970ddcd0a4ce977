"""The one way out: exports, reports, recordings and standard output are redacted here before they are written.

A writer hands over its text, or its JSON value, with the secrets that this process knows. ``redact`` removes whole
secrets in all their spellings, pieces of one, and the beginning of one before an ellipsis, where a text was shortened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.io.spreadsheet import json_text
from playground.engine.io.whole_file import write_whole
from playground.gateway.redact import MASK, SHORTEST, Redactor
from playground.jsonkit.layout import indented, indented_pieces
from playground.jsonkit.values import JSON

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


def write_output(path: Path, content: str | bytes, known: Iterable[SecretStr]) -> None:
    """Write a file that leaves the program, as a whole and without the secrets in ``known``. Raises OSError."""
    redactor = redactor_of(known)
    if isinstance(content, str):
        data = redact(content, redactor).encode("utf-8", "backslashreplace")
    else:
        data = redactor.data(content)
    write_whole(path, data)
