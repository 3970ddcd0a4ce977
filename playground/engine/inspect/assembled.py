"""The answer of an event stream, written as the body of a response that is not streamed."""

from __future__ import annotations

import re
from typing import Final

from playground.domain.accumulator import Accumulator
from playground.gateway.tape import Exchange
from playground.jsonkit.layout import indented
from playground.protocols.protocol import get_protocol

#: Bytes of a stream that is assembled. Larger ones are shown as events.
MAX_ASSEMBLED: Final = 32 * 1024 * 1024
_CREATED: Final = re.compile(rb'"created"\s*:\s*(\d{1,12})')


class AssembledAnswer:
    """The answer of a streamed exchange. Call ``read`` whenever more of it has been received."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._protocol = get_protocol(exchange.protocol)
        self._decoder = self._protocol.decoder(exchange.content_type)
        self._answer = Accumulator()
        self._reads = self._size = 0
        self._closed = False

    def read(self) -> None:
        """Take in what has been received since the last call."""
        exchange = self._exchange
        while self._reads < len(exchange.reads) and self._size <= MAX_ASSEMBLED:
            data = exchange.reads[self._reads].data
            self._answer.add_events(self._decoder.decode_bytes(data))
            self._reads += 1
            self._size += len(data)
        if exchange.ended is not None and self._reads == len(exchange.reads) and not self._closed:
            self._closed = True
            self._answer.add_events(self._decoder.close(delimited=exchange.delimited))

    @property
    def too_large(self) -> bool:
        """Return whether the stream is larger than ``MAX_ASSEMBLED``."""
        return self._size > MAX_ASSEMBLED

    def text(self) -> str:
        """Return the answer so far as JSON, one member a line; empty if the protocol cannot express it."""
        if not self._answer.choices:
            return ""
        try:
            body = self._protocol.write_answer(self._answer, 0)
            if "created" in body:  # the time is the gateway's, and no event carries it
                created = _CREATED.search(self._exchange.reads[0].data) if self._exchange.reads else None
                body = {name: value for name, value in body.items() if name != "created" or created}
                if created is not None:
                    body["created"] = int(created[1])
            return indented(body)
        except (ValueError, RecursionError):
            return ""
