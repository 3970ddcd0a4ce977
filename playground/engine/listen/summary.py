"""The row of an exchange in the list: facts of its request, and of its answer once it has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from playground.domain.accumulator import Accumulator
from playground.domain.events import ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta
from playground.domain.prices import DOLLARS, Price, cost_of
from playground.engine.listen.exchanges import Listened, Summary
from playground.engine.listen.prefixes import PrefixIndex
from playground.gateway.tape import Exchange
from playground.jsonkit.nesting import loads
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.errors import read_error
from playground.protocols.protocol import get_protocol

#: Returns the price of a model by its name; None if it is unknown.
PriceOf = Callable[[str], Price | None]

_CONTENT: Final = (TextDelta, RefusalDelta, ToolCallDelta, ReasoningDelta)
_LONGEST: Final = 200  # characters of a text from outside
_MOST_NAMES: Final = 500  # tools or calls


def request_facts(listened: Listened, prefixes: PrefixIndex) -> Summary:
    """Return the row of an exchange whose request is known and whose answer is not."""
    exchange = listened.exchange
    body = body_of(exchange)
    prefix = None
    if exchange.protocol and body:
        session = f"{listened.program}/{listened.session}"
        prefix = prefixes.add(listened.number, session, exchange.protocol, body)
        listened.notes += [note for note in prefix.notes if note not in listened.notes]
    model = body.get("model")
    return Summary(
        number=listened.number,
        id=exchange.id,
        started_at=exchange.started_at,
        method=exchange.method,
        path=listened.path,
        protocol=exchange.protocol,
        program=listened.program,
        session=listened.session,
        agent=listened.agent,
        retry=listened.retry,
        model=model[:_LONGEST] if isinstance(model, str) else "",
        tools=tuple(_tool_names(body.get("tools")))[:_MOST_NAMES],
        messages=len(get_protocol(exchange.protocol).entries(body)) if exchange.protocol else 0,
        notes=tuple(listened.notes),
        extends=prefix.extends if prefix is not None else 0,
        common=prefix.common if prefix is not None else 0,
        broken_at=prefix.broken_at if prefix is not None else None,
    )


def whole_summary(listened: Listened, facts: Summary, price_of: PriceOf) -> Summary:
    """Return the row of an exchange that has ended. ``facts`` are those of its request. Decodes the whole answer."""
    exchange = listened.exchange
    facts = replace(
        facts,
        started_at=exchange.started_at,
        retry=listened.retry,
        status=exchange.status if exchange.status is not None or exchange.failure is None else exchange.failure.status,
        failure=failure_words(exchange),
        duration=exchange.ended,
        ended_by=listened.ended_by.value if listened.ended_by is not None else "",
        changes=tuple(listened.changes),
        notes=tuple(listened.notes),
    )
    if not exchange.protocol or exchange.status is None or exchange.status >= 300:
        return facts
    try:
        answer, first = decode(exchange)
    except Exception as error:  # noqa: BLE001 - the tape of an answer that a decoder fails at is worth recording most
        return replace(facts, failure=facts.failure or f"The answer could not be decoded ({type(error).__name__}).")
    usage = answer.usage
    choice = answer.choices[min(answer.choices)] if answer.choices else None
    cost = None
    if usage is not None:
        price = price_of(facts.model) or price_of(answer.model)
        cost = cost_of(usage, price) if price is not None and price.currency == DOLLARS else None
        cost = usage.cost if cost is None else cost
    calls = (call.name for choice in answer.choices.values() for call in choice.calls.values())
    failure = answer.failure.message[:_LONGEST] if answer.failure is not None else ""
    return replace(
        facts,
        served_model=answer.model[:_LONGEST],
        calls=tuple(calls)[:_MOST_NAMES],
        failure=facts.failure or failure,
        first=first,
        input_tokens=usage.prompt if usage is not None else None,
        cached_tokens=usage.cached if usage is not None else None,
        output_tokens=usage.completion if usage is not None else None,
        cost=cost,
        finish=(choice.finish_reason or "")[:_LONGEST] if choice is not None else "",
    )


def decode(exchange: Exchange) -> tuple[Accumulator, float | None]:
    """Return the answer of an exchange with a protocol, and the seconds from its start to the first content."""
    answer = Accumulator()
    first: float | None = None
    for read, events in exchange.replay(get_protocol(exchange.protocol).decoder(exchange.content_type)):
        answer.add_events(events)
        if first is None and any(isinstance(event, _CONTENT) for event in events):
            first = read.time
    return answer, first


def failure_words(exchange: Exchange) -> str:
    """Return why an exchange failed, in words; empty if it did not."""
    if exchange.failure is not None:
        return exchange.failure.message[:_LONGEST]
    if exchange.status is not None and exchange.status >= 400:
        return read_error(exchange.body, exchange.status).message[:_LONGEST]
    return ""


def body_of(exchange: Exchange) -> JSONObject:
    """Return the JSON object of a request; empty for another body."""
    try:
        body = loads(exchange.request_body or b"null")
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _tool_names(tools: JSON) -> Iterator[str]:
    """Yield the names of the tools of a body, of a vendor's own tool its type."""
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            function = tool.get("function")
            names = (function.get("name") if isinstance(function, dict) else None, tool.get("name"), tool.get("type"))
            name = next((name for name in names if isinstance(name, str) and name), "")
            if name:
                yield name[:_LONGEST]
