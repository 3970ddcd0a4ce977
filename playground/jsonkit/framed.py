"""JSON values over a pipe, each preceded by its length in bytes.

They are ASCII, so that lone surrogates survive. A value above the size limit is refused before it is read.
"""

from __future__ import annotations

import json
from io import BufferedReader
from typing import Final

from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON

LONGEST: Final = 1 << 28  # bytes of one value
_SIZE: Final = 4  # bytes of a length


def pack(value: JSON) -> bytes:
    """Encode a value with its length. Raises ValueError for what JSON cannot express, RecursionError if too deep."""
    body = json.dumps(value, separators=(",", ":")).encode("ascii")
    if len(body) > LONGEST:
        raise ValueError(f"{len(body):,} bytes are too many")
    return len(body).to_bytes(_SIZE, "big") + body


def unpack(pipe: BufferedReader) -> JSON:
    """Read the next value; blocks. Raises EOFError at the end of the pipe and for data that is no such value."""
    head = pipe.read(_SIZE)
    size = int.from_bytes(head, "big")
    if len(head) < _SIZE or size > LONGEST:
        raise EOFError
    body = pipe.read(size)
    if len(body) < size:
        raise EOFError
    try:
        return loads(body)
    except (ValueError, RecursionError) as error:
        raise EOFError from error
