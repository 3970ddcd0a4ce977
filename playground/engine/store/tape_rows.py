"""An exchange as it is kept: what is known of it as JSON, and both bodies compressed, in the shape a cassette has.

The compressed part is lines of JSON: the request's body, then reads, some hundred a line, so that no step of writing or
reading one holds everything else up.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator

from playground.domain.values import JSONObject
from playground.engine.cassette import CassetteError, exchange_from, tape_of
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange

_READS_A_LINE = 256
_LARGEST = 1024 * 1024 * 1024  # bytes of one tape after it was unpacked


def write_tape(exchange: Exchange, redactor: Redactor) -> tuple[str, bytes]:
    """What is known of an ended exchange, and its bodies. Raises CassetteError where those were let go."""
    tape = tape_of(exchange, redactor)
    body = tape["request"].pop("body")
    reads = tape["response"].pop("reads")
    tape["bytes"] = len(exchange.request_body) + exchange.size
    packer = zlib.compressobj(6)
    packed = [packer.compress(_line(body, redactor))]
    for at in range(0, len(reads), _READS_A_LINE):
        packed.append(packer.compress(_line(reads[at : at + _READS_A_LINE], redactor)))
    packed.append(packer.flush())
    return redactor.text(json.dumps(tape)), b"".join(packed)


def read_head(head: str) -> Exchange:
    """The exchange without its bodies: as one whose bodies were let go. Raises CassetteError."""
    tape = _object(head)
    tape["request"]["body"], tape["response"]["reads"] = "", []
    exchange = exchange_from(tape, "the exchange")
    size = tape.get("bytes")
    exchange.dropped = size if isinstance(size, int) and size > 0 else 1
    return exchange


def read_tape(head: str, data: bytes) -> Exchange:
    """The whole exchange. Raises CassetteError."""
    tape = _object(head)
    lines = _lines(data)
    try:
        tape["request"]["body"] = json.loads(next(lines, b'""'))
        tape["response"]["reads"] = [read for line in lines for read in json.loads(line)]
    except (ValueError, TypeError, RecursionError, zlib.error):
        raise CassetteError("This exchange is damaged: its bodies cannot be unpacked.") from None
    return exchange_from(tape, "the exchange")


def _object(head: str) -> JSONObject:
    try:
        tape = json.loads(head)
    except (ValueError, RecursionError):
        tape = None
    parts = (tape.get("request"), tape.get("response")) if isinstance(tape, dict) else (None, None)
    if not isinstance(tape, dict) or not all(isinstance(part, dict) for part in parts):
        raise CassetteError("This exchange is damaged: it is not JSON as this application writes it.")
    return tape


def _line(value: object, redactor: Redactor) -> bytes:
    return redactor.text(json.dumps(value)).encode() + b"\n"


def _lines(data: bytes) -> Iterator[bytes]:
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(data, _LARGEST)
    if unpacker.unconsumed_tail:
        raise CassetteError("This exchange is damaged: it is larger than any can be.")
    start = 0
    while start < len(text):
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1
