"""JSON values one after the other over a pipe: each is preceded by its length in bytes.

Spelled in ASCII, so that half of a surrogate pair comes over as it is. What is longer than a pipe may bring is refused
before it is read.
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
    """One value as it goes over the pipe. Raises ValueError for what JSON cannot spell, RecursionError if too deep."""
    body = json.dumps(value, separators=(",", ":")).encode("ascii")
    if len(body) > LONGEST:
        raise ValueError(f"{len(body):,} bytes are too many")
    return len(body).to_bytes(_SIZE, "big") + body


def unpack(pipe: BufferedReader) -> JSON:
    """The next value; blocks until it is there. Raises EOFError when the other end is gone, or speaks otherwise."""
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
