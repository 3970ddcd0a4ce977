"""An exchange as it is kept: what is known of it as JSON, and both bodies compressed, in the shape a cassette has.

The compressed part is lines of JSON: the request's body, then reads, some hundred a line, so that no step of writing or
reading one holds everything else up.

Of an exchange under way the part has the request's body only; its reads follow in parts of the same kind, each packed
by itself, until the end, when the whole is written and they go.
"""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from playground.engine.cassettes.cassette import CassetteError, exchange_from, read_of, reads_of, tape_of
from playground.gateway.redact import Redactor
from playground.gateway.redact_stream import StreamRedactor
from playground.gateway.tape import Exchange, Read
from playground.jsonkit.values import JSON, JSONObject

_READS_A_LINE = 256
_LINE = 1_000_000  # characters of a line, above which it ends
_JSON = json.JSONEncoder()
_LARGEST = 1024 * 1024 * 1024  # bytes of one tape after it was unpacked


def write_tape(exchange: Exchange, redactor: Redactor) -> tuple[str, bytes]:
    """Return the head of an ended exchange as JSON, and its packed bodies. Raises CassetteError without them."""
    tape = tape_of(replace(exchange, reads=[]), redactor)
    body = tape["request"].pop("body")
    del tape["response"]["reads"]
    tape["bytes"] = len(exchange.request_body) + exchange.size
    packer = zlib.compressobj(6)
    packed = [packer.compress(_line(body, redactor))]
    for reads in _batches(
        reads_of(exchange, redactor)
    ):  # one batch at a time: the whole would take many times its size
        packed.append(packer.compress(_line(reads, redactor)))
    packed.append(packer.flush())
    return redactor.text(json.dumps(tape)), b"".join(packed)


def _batches(reads: Iterable[JSON]) -> Iterator[list[JSON]]:
    """Group reads into lines of a limited size."""
    batch, size = list[JSON](), 0
    for read in reads:
        batch.append(read)
        size += len(str(read[1]))
        if len(batch) >= _READS_A_LINE or size >= _LINE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class GrowingTape:
    """Packs an exchange under way: each read once. What may be the beginning of a secret waits until it is known."""

    def __init__(self) -> None:
        self._redactor = Redactor(())
        self._stream = StreamRedactor(self._redactor)
        self._size = 0  # bytes of all reads
        self._last = 0.0  # when the last one came

    def head(self, exchange: Exchange) -> str:
        """Return the head of the exchange as it is now."""
        ended = max(self._last, exchange.answered or 0.0)
        bare = replace(exchange, request_body=b"", reads=[], ended=ended, complete=False)
        tape = tape_of(bare, self._redactor)
        del tape["request"]["body"], tape["response"]["reads"]
        tape["bytes"] = len(exchange.request_body) + self._size
        return self._redactor.text(json.dumps(tape))

    def body(self, exchange: Exchange) -> bytes:
        """Return the packed body of the request, which the reads follow."""
        bare = replace(exchange, reads=[])
        return zlib.compress(_line(tape_of(bare, self._redactor)["request"]["body"], self._redactor))

    def pack(self, reads: Iterable[Read], redactor: Redactor) -> bytes:
        """The next reads, as far as they may be kept yet; empty for none. Another redactor knows other secrets."""
        lines: list[JSON] = []
        if redactor is not self._redactor:
            lines += map(read_of, self._stream.close(self._last))
            self._redactor, self._stream = redactor, StreamRedactor(redactor)
        for read in reads:
            self._size, self._last = self._size + len(read.data), read.time
            lines += map(read_of, self._stream.redact_bytes(read.data, read.time))
        return zlib.compress(_line(lines, redactor)) if lines else b""


def read_head(head: str) -> Exchange:
    """The exchange without its bodies: with bodies marked as dropped. Raises CassetteError."""
    tape = _object(head)
    tape["request"]["body"], tape["response"]["reads"] = "", []
    size = tape.pop("bytes", None)
    exchange = exchange_from(tape, "the exchange")
    exchange.dropped = size if isinstance(size, int) and size > 0 else 1
    return exchange


def read_tape(head: str, data: bytes, more: Iterable[bytes] = ()) -> Exchange:
    """The whole exchange, with ``more`` reads that came one by one. Raises CassetteError."""
    tape = _object(head)
    tape.pop("bytes", None)
    lines = _lines(data)
    try:
        tape["request"]["body"] = json.loads(next(lines, b'""'))
        lines = chain(lines, *map(_lines, more))
        tape["response"]["reads"] = [read for line in lines for read in json.loads(line)]
    except (ValueError, TypeError, RecursionError, zlib.error):
        raise CassetteError("This exchange is damaged: its bodies cannot be unpacked.") from None
    return exchange_from(tape, "the exchange")


def _object(head: str) -> JSONObject:
    try:
        tape = json.loads(head)
    except (TypeError, ValueError, RecursionError):
        tape = None
    parts = (tape.get("request"), tape.get("response")) if isinstance(tape, dict) else (None, None)
    if not isinstance(tape, dict) or not all(isinstance(part, dict) for part in parts):
        raise CassetteError("This exchange is damaged: it is not JSON as this application writes it.")
    return tape


def _line(value: JSON, redactor: Redactor) -> bytes:
    return redactor.text(_JSON.encode(value)).encode() + b"\n"


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


# ---- retention -------------------------------------------------------------------------------------------------------


GIBIBYTE: Final = 1024 * 1024 * 1024
#: Bytes of a tape; one that says it is larger than any can be is damaged, and must not displace all others.
SIZE: Final = "iif(typeof(size) = 'integer' AND size BETWEEN 0 AND 1 << 31, size, length(data))"
_PAGES: Final = 16384  # given back at once
_FEW: Final = 256  # pages that may lie unused: they are soon written again


@dataclass(frozen=True, slots=True)
class KeepTapes:
    """How long bodies are kept: ``days`` since the request, and ``bytes`` of all together, packed. None: no bound."""

    days: float | None = 90
    bytes: int | None = GIBIBYTE


def prune(connection: sqlite3.Connection, rule: KeepTapes) -> None:
    """Drop bodies that are older than the rule allows, then the oldest, until the others fit."""
    if rule.days is not None:
        oldest = time.time() - rule.days * 86400
        connection.execute("UPDATE tapes SET data = NULL WHERE started_at < ? AND data IS NOT NULL", (oldest,))
    if rule.bytes is not None:
        connection.execute(
            f"""UPDATE tapes SET data = NULL WHERE data IS NOT NULL AND rowid IN (SELECT number FROM (
                SELECT rowid AS number, sum({SIZE}) OVER (ORDER BY started_at DESC, rowid DESC) AS taken
                FROM tapes WHERE data IS NOT NULL) WHERE taken > ?)""",  # noqa: S608 - our own words
            (rule.bytes,),
        )
    connection.execute(
        """DELETE FROM tape_reads WHERE EXISTS (SELECT 1 FROM tapes WHERE tapes.experiment = tape_reads.experiment
            AND tapes.id = tape_reads.tape AND tapes.data IS NULL)"""
    )


def give_back(connection: sqlite3.Connection) -> None:
    """Return unused pages to the file system. Not inside a transaction."""
    if connection.execute("PRAGMA freelist_count").fetchone()[0] > _FEW:
        # As a script: a single statement of this kind is ended after its first page.
        connection.executescript(f"PRAGMA incremental_vacuum({_PAGES})")


def copy_tapes(connection: sqlite3.Connection, source: str, target: str) -> None:
    """Copy the exchanges of one experiment to another."""
    connection.execute(
        """INSERT OR IGNORE INTO tapes SELECT new.number, tapes.id, started_at, head, size, data
            FROM tapes JOIN experiments AS old ON old.number = tapes.experiment, experiments AS new
            WHERE old.id = ? AND new.id = ? ORDER BY tapes.rowid""",
        (source, target),
    )
    connection.execute(
        """INSERT INTO tape_reads SELECT new.number, tape, data
            FROM tape_reads JOIN experiments AS old ON old.number = tape_reads.experiment, experiments AS new
            WHERE old.id = ? AND new.id = ? AND NOT EXISTS (SELECT 1 FROM tape_reads AS had
                WHERE had.experiment = new.number AND had.tape = tape_reads.tape)
            ORDER BY tape_reads.rowid""",
        (source, target),
    )
