"""The endpoints of the Responses protocol: what is created, stored, listed, counted and compacted."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping

from playground.demo import tokens
from playground.demo.generation import GenerationRequest
from playground.demo.rendering import Answer, Renderer, Rendering
from playground.demo.responses.answer import ResponsesRendering
from playground.demo.responses.errors import ResponsesError, not_found
from playground.demo.responses.request import read, read_compaction
from playground.demo.responses.sealing import seal
from playground.demo.responses.store import JsonObject, ResponseStore, StoredResponse

_MOST_LISTED = 100


class ResponsesEndpoints:
    """The endpoints with their stored responses. Used from the server's event loop alone."""

    def __init__(self) -> None:
        self._store = ResponseStore()

    def read(self, body: JsonObject) -> tuple[GenerationRequest, Renderer]:
        """Return the request in ``body`` and what spells its answer. Raises ResponsesError."""
        request = read(body, self._store)

        def keep(response: JsonObject) -> None:
            self._store.add(response, request.sent, request.earlier)

        def render(answer: Answer) -> Rendering:
            return ResponsesRendering(request, answer, keep)

        return request.generation, render

    def get(self, response_id: str) -> JsonObject:
        """Return a stored response. Raises ResponsesError 404."""
        return self._stored(response_id).body

    def delete(self, response_id: str) -> JsonObject:
        """Delete a stored response. Raises ResponsesError 404."""
        self._stored(response_id)
        self._store.delete(response_id)
        return {"id": response_id, "object": "response", "deleted": True}

    def cancel(self, response_id: str) -> JsonObject:
        """Raise ResponsesError: no response runs in the background here."""
        self._stored(response_id)
        raise ResponsesError("Cannot cancel a synchronous response.")

    def input_items(self, response_id: str, query: Mapping[str, str]) -> JsonObject:
        """Return a page of the items that were sent, the newest first unless ``order`` is asc."""
        stored = self._stored(response_id)
        items = [*stored.earlier, *stored.sent]
        if query.get("order", "desc") == "desc":
            items.reverse()
        if after := query.get("after"):
            position = next((i for i, item in enumerate(items) if item.get("id") == after), None)
            if position is None:
                raise not_found("Item", after, "after")
            items = items[position + 1 :]
        limit = _limit(query.get("limit", "20"))
        page = items[:limit]
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {"first_id": None, "last_id": None}
        return {"object": "list", "data": page, **ends, "has_more": len(items) > limit}

    def count_tokens(self, body: JsonObject) -> JsonObject:
        """Return the tokens of the input of a request. Raises ResponsesError."""
        count = read(body, self._store).generation.prompt_tokens()
        return {"object": "response.input_tokens", "input_tokens": count}

    def compact(self, body: JsonObject) -> JsonObject:
        """Return the conversation compacted: messages of the user, and all of it sealed. Raises ResponsesError."""
        request, items, text = read_compaction(body, self._store)
        users = [item for item in items if item.get("type") == "message" and item.get("role") == "user"]
        mark = secrets.token_hex(12)
        sealed = seal(text, request.model.id, mark)
        compaction = {"id": f"cmp_{mark}", "type": "compaction", "encrypted_content": sealed}
        sent, received = tokens.count(text), tokens.count(sealed)
        return {
            "id": f"resp_{mark}",
            "object": "response.compaction",
            "created_at": int(time.time()),
            "output": [*users, compaction],
            "usage": {
                "input_tokens": sent,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": received,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": sent + received,
            },
        }

    def _stored(self, response_id: str) -> StoredResponse:
        stored = self._store.get(response_id)
        if stored is None:
            raise not_found("Response", response_id)
        return stored


def _limit(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_LISTED:
        message = f"Invalid 'limit': expected an integer from 1 to {_MOST_LISTED}."
        raise ResponsesError(message, reason="invalid_value", param="limit")
    return int(text)
