"""What went over the wire in one exchange, with the secrets already out and every read stamped.

Frames and events are never stored: they are derived by replaying the reads through the protocol's decoder, so
the tape is the one truth about what came. Whoever fills an exchange hands it redacted values only.
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
    """One network read of the body: ``at`` in seconds since the start (monotonic clock), ``data`` decoded.

    Whole chunks that came together are one read; the beginning of one that was cut is a read of its own.
    """

    at: float
    data: bytes


@dataclass(slots=True)
class Exchange:
    """One request and what came back. It fills while the answer arrives.

    ``started_at`` is Unix time in seconds. ``connected`` (None on a connection in use already), ``sent``, ``answered``
    (status and headers are here) and ``ended`` are seconds since the start. ``request_body`` is empty for GET.
    ``wire_bytes`` counts the response body before gzip or deflate was undone. ``complete`` says whether the body was
    read to its own end or to the protocol's end marker. ``protocol`` names the one spoken; it is empty for a model
    list. ``mended`` says by code what the body was against its headers, and was undone. ``dropped`` counts the bytes of
    both bodies that were let go to save memory. ``beside`` is what a cassette had that is not known here
    (``engine.cassette``).
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
    beside: JSONObject = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """The whole response body as decoded."""
        return b"".join(read.data for read in self.reads)

    @property
    def size(self) -> int:
        """Bytes of the response body as decoded."""
        return sum(len(read.data) for read in self.reads)

    @property
    def content_type(self) -> str | None:
        """The response's Content-Type, None when it sent none."""
        return self.response_header("content-type")

    @property
    def delimited(self) -> bool:
        """Whether the body was read to the end that its length or its last chunk told."""
        chunked = "chunked" in (self.response_header("transfer-encoding") or "").lower()
        return self.complete and (chunked or self.response_header("content-length") is not None)

    def response_header(self, name: str) -> str | None:
        """The first response header of that name, whatever its case."""
        lowered = name.lower()
        return next((value for key, value in self.response_headers if key.lower() == lowered), None)

    def drop(self) -> None:
        """Let both bodies go; everything else stays."""
        self.dropped += len(self.request_body) + self.size
        self.request_body, self.reads = b"", []

    def replay(self, decoder: Decoder) -> Iterator[tuple[Read, list[Event]]]:
        """Each read with the events it gives; what ``close`` adds comes last, on an empty read at the end."""
        for read in self.reads:
            yield read, decoder.decode_bytes(read.data)
        last = self.reads[-1].at if self.reads else 0.0
        yield Read(self.ended if self.ended is not None else last, b""), decoder.close(delimited=self.delimited)
