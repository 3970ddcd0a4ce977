"""The record of one exchange: request, response headers and time-stamped reads of the body, without secrets.

Frames and events are never stored: they are derived by replaying the reads through the protocol's decoder. All values
must be redacted before they are put into an exchange.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from playground.domain.errors import Failure
from playground.domain.events import Event
from playground.jsonkit.values import JSONObject
from playground.protocols.protocol import Decoder

Headers = tuple[tuple[str, str], ...]


class Read(NamedTuple):
    """One network read of the body: ``time`` in seconds since the start (monotonic clock), ``data`` decoded.

    Whole chunks received together are one read; the beginning of an incomplete one is a read of its own.
    """

    time: float
    data: bytes


@dataclass(slots=True)
class Exchange:
    """One request and its response, which grows while it arrives.

    ``started_at`` is Unix time in seconds. ``connected`` (None on a reused connection), ``sent``, ``answered`` (arrival
    of status and headers) and ``ended`` are seconds since the start. ``request_body`` is empty for GET. ``wire_bytes``
    counts the response body before decompression. ``complete``: the body was read to its own end or to the protocol's
    end marker. ``protocol`` is empty for a model list. ``mended`` describes, by code, how the body contradicted its
    headers and was decoded nevertheless. ``dropped`` counts the bytes of both bodies that were removed to save memory.
    ``unknown_members`` are unknown members of a cassette (``engine.cassette``).
    """

    id: str
    method: str
    url: str
    request_headers: Headers
    request_body: bytes
    started_at: float
    status: int | None = None
    reason: str = ""
    http_version: str = ""
    response_headers: Headers = ()
    reads: list[Read] = field(default_factory=list)
    wire_bytes: int = 0
    connected: float | None = None
    sent: float | None = None
    answered: float | None = None
    ended: float | None = None
    complete: bool = False
    failure: Failure | None = None
    protocol: str = ""
    mended: dict[str, str] = field(default_factory=dict)
    dropped: int = 0
    unknown_members: JSONObject = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """The whole decoded response body."""
        return b"".join(read.data for read in self.reads)

    @property
    def size(self) -> int:
        """Number of bytes of the decoded response body."""
        return sum(len(read.data) for read in self.reads)

    @property
    def content_type(self) -> str | None:
        """The response's Content-Type; None if it has none."""
        return self.response_header("content-type")

    @property
    def delimited(self) -> bool:
        """Return whether the body was read to the end given by its length or its last chunk."""
        chunked = "chunked" in (self.response_header("transfer-encoding") or "").lower()
        return self.complete and (chunked or self.response_header("content-length") is not None)

    def response_header(self, name: str) -> str | None:
        """Return the first response header of a name, in any case; None if there is none."""
        lowered = name.lower()
        return next((value for key, value in self.response_headers if key.lower() == lowered), None)

    def drop(self) -> None:
        """Remove both bodies, and count them as dropped."""
        self.dropped += len(self.request_body) + self.size
        self.request_body, self.reads = b"", []

    def replay(self, decoder: Decoder) -> Iterator[tuple[Read, list[Event]]]:
        """Yield each read with its events; the events of the decoder's ``close`` are last, with an empty read."""
        for read in self.reads:
            yield read, decoder.decode_bytes(read.data)
        last = self.reads[-1].time if self.reads else 0.0
        yield Read(self.ended if self.ended is not None else last, b""), decoder.close(delimited=self.delimited)
