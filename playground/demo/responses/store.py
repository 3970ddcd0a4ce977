"""Stored responses, which GET, DELETE and ``previous_response_id`` refer to: in memory, the oldest dropped first."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

JsonObject = Mapping[str, Any]
_MOST_RESPONSES: Final = 200
_MOST_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True)
class StoredResponse:
    """A response with the items that were sent for it; ``earlier`` are the items of the conversation before them."""

    body: JsonObject
    sent: tuple[JsonObject, ...]
    earlier: tuple[JsonObject, ...]
    size: int

    @property
    def conversation(self) -> tuple[JsonObject, ...]:
        """All items up to the end of the response."""
        return (*self.earlier, *self.sent, *self.body["output"])


class ResponseStore:
    """Up to 200 responses by their id. Used from the server's event loop alone."""

    def __init__(self) -> None:
        self._responses: OrderedDict[str, StoredResponse] = OrderedDict()
        self._bytes = 0

    def add(self, body: JsonObject, sent: tuple[JsonObject, ...], earlier: tuple[JsonObject, ...]) -> None:
        """Store a response; a response of the same id is replaced."""
        self.delete(body["id"])
        size = len(json.dumps([body, sent]))
        self._responses[body["id"]] = StoredResponse(body, sent, earlier, size)
        self._bytes += size
        while len(self._responses) > _MOST_RESPONSES or (self._bytes > _MOST_BYTES and len(self._responses) > 1):
            self.delete(next(iter(self._responses)))

    def get(self, response_id: str) -> StoredResponse | None:
        """Return the response of that id, or None."""
        return self._responses.get(response_id)

    def delete(self, response_id: str) -> bool:
        """Delete a response. Return False where there is none."""
        response = self._responses.pop(response_id, None)
        self._bytes -= response.size if response else 0
        return response is not None

    def item(self, item_id: str) -> JsonObject | None:
        """Return the stored item of that id, or None."""
        for response in reversed(self._responses.values()):
            items: tuple[JsonObject, ...] = (*response.body["output"], *response.sent)
            for item in items:
                if item.get("id") == item_id:
                    return item
        return None
