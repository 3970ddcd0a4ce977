"""The tools, prompts, resources and templates that a server offers, read page by page within limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import mcp_types as types

from playground.domain.tool_servers import MOST_OFFERED
from playground.domain.values import Value
from playground.jsonkit.values import JSON, JSONObject
from playground.tool_host import reading
from playground.tool_host.limits import CHUNK_OF_LIST, LONGEST_LIST, MOST_PAGES
from playground.tool_host.report import ServerReport
from playground.tool_host.tap import Mask
from playground.tool_host.words import FaultError

_ITEMS_PER_CHUNK: Final = 100  # of a list that go to the window together


@dataclass(frozen=True)
class Offer:
    """A list that servers offer. ``capability`` announces it, ``member`` holds it in a result."""

    kind: str
    capability: str
    request: Callable[..., types.Request[Any, Any]]
    member: str
    read: Callable[[JSON], Value | None]


OFFERS: Final = (
    Offer("tools", "tools", types.ListToolsRequest, "tools", reading.tool),
    Offer("prompts", "prompts", types.ListPromptsRequest, "prompts", reading.prompt),
    Offer("resources", "resources", types.ListResourcesRequest, "resources", reading.resource),
    Offer("templates", "resources", types.ListResourceTemplatesRequest, "resourceTemplates", reading.template),
)


async def read_offer(
    offer: Offer, ask: Callable[[types.Request[Any, Any]], Awaitable[JSONObject]], report: ServerReport
) -> list[Value]:
    """Return all items of a list that can be read. Raises FaultError if there are no tools because of an error."""
    items: list[Value] = []
    cursor: str | None = None
    size = left_out = 0
    cursors: set[str] = set()
    for _ in range(MOST_PAGES):
        try:
            page = await ask(offer.request(params=types.PaginatedRequestParams(cursor=cursor)))
        except FaultError as error:
            if offer.kind == "tools" and not items:
                raise
            if offer.kind != "templates":  # many servers have resources and no templates
                report.log("warning", "", f"Its {offer.kind} could not be listed: {error}")
            break
        for value in reading.entries(page.get(offer.member)):
            item = offer.read(value) if len(items) < MOST_OFFERED and size < LONGEST_LIST else None
            if item is None:
                left_out += 1
            else:
                size += len(reading.encoded(value) or "")
                items.append(item)
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor or cursor in cursors or len(items) >= MOST_OFFERED:
            break
        cursors.add(cursor)
    if left_out:
        kind = offer.kind
        report.log("warning", "", f"{left_out:,} of its {kind} are left out: without a name, too large, or too many.")
    return items


def send_offer(kind: str, items: list[Value], report: ServerReport) -> None:
    """Send the window a list, in chunks."""
    chunks = list(_chunks(items, report.mask)) or [[]]
    for number, chunk in enumerate(chunks):
        is_last = number == len(chunks) - 1
        report.send({"is": "offers", "kind": kind, "items": chunk, "first": not number, "last": is_last})


def _chunks(items: list[Value], mask: Mask) -> Iterator[list[JSON]]:
    chunk: list[JSON] = []
    size = 0
    for item in items:
        value = _masked(item.model_dump(mode="json", exclude_defaults=True), mask)
        length = len(reading.encoded(value) or "")
        if chunk and (len(chunk) >= _ITEMS_PER_CHUNK or size + length > CHUNK_OF_LIST):
            yield chunk
            chunk, size = [], 0
        chunk.append(value)
        size += length
    if chunk:
        yield chunk


def _masked(item: JSONObject, mask: Mask) -> JSONObject:
    """Mask the secrets in an item, which is saved and sent to models, but for the name or address that requests use."""
    text = reading.encoded(item) or ""
    if mask.text(text) == text:
        return item
    return {name: value if name in ("name", "uri") else mask.value(value) for name, value in item.items()}
