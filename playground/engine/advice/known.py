"""Recognises a failure by what was said about it; a few meanings are worded by what was asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Final

from playground.domain.errors import Failure, FailureKind, Sent
from playground.engine.advice.general import key_refused, no_endpoint, no_key_given
from playground.engine.advice.own import OWN
from playground.engine.advice.parts import (
    GATEWAY,
    MODEL,
    OUTPUT,
    PARAMETERS,
    RAW,
    RETRY,
    TOOLS,
    Action,
    Advice,
    add_header,
    other_protocols,
)
from playground.engine.advice.spots import header_names, parameter_named, place_of
from playground.engine.advice.table import TABLE, Known
from playground.gateway.retry import reports_no_balance

_LOOKED_AT: Final = 1500  # characters of a message: what is wrong stands at its beginning
_UNKNOWN: Final = Sent(endpoint="")


def recognise(failure: Failure) -> Advice | None:
    """The advice for what was said; None when that is nothing known."""
    said = {value.lower() for value in (failure.code, failure.type) if value}
    words = failure.message[:_LOOKED_AT].lower()
    for known, pattern in _table():
        if failure.kind not in known.kinds:
            continue
        if failure.kind is FailureKind.HTTP and failure.status not in known.statuses:
            continue
        if (known.codes & said) or (pattern is not None and pattern.search(words)):
            worded = _WORDED.get(known.advice.meaning)
            if (advice := worded(failure, known.advice) if worded else known.advice) is not None:
                return advice
    return _by_place(failure)


@cache
def _table() -> tuple[tuple[Known, re.Pattern[str] | None], ...]:
    return tuple((known, re.compile(known.words) if known.words else None) for known in (*OWN, *TABLE))


def _sent(failure: Failure) -> Sent:
    return failure.sent or _UNKNOWN


def _header(failure: Failure, _advice: Advice) -> Advice | None:
    """A header that is missing; None where the message speaks of one in passing."""
    names = header_names(failure.message)
    if not names:
        return None
    return Advice(
        "header",
        f"The gateway wants the header {names[0]}",
        "What goes with every request stands in the gateway's settings; what only this experiment sends, under Raw.",
        (add_header(names[0]), RAW._replace(value="headers"), RETRY),
        command=f"Send it with --header '{names[0]}: VALUE'.",
    )


def _key_wanted(failure: Failure, _advice: Advice) -> Advice | None:
    if _sent(failure).keyed and "x-api-key" in failure.message.lower():
        return Advice(
            "key header",
            "The gateway wants the key in the header x-api-key",
            "How the key is sent is a choice in the gateway's settings.",
            (GATEWAY, RETRY),
            command="Send it so with --key-style x-api-key.",
        )
    return key_refused() if _sent(failure).keyed else no_key_given()


def _key_refused(failure: Failure, _advice: Advice) -> Advice | None:
    return no_key_given() if _sent(failure).keyed is False else key_refused()


def _no_endpoint(failure: Failure, _advice: Advice) -> Advice | None:
    return no_endpoint(_sent(failure).endpoint)


def _balance(failure: Failure, advice: Advice) -> Advice | None:
    """An empty account; None for a quota by the minute, which passes."""
    return advice if failure.status != 429 or reports_no_balance(failure) else None


def _other_protocol(failure: Failure, advice: Advice) -> Advice | None:
    return replace(advice, actions=(MODEL, *other_protocols(_sent(failure).endpoint), RETRY))


_WORDED: Final[dict[str, Callable[[Failure, Advice], Advice | None]]] = {
    "balance": _balance,
    "header": _header,
    "key wanted": _key_wanted,
    "key refused": _key_refused,
    "no endpoint": _no_endpoint,
    "not for this protocol": _other_protocol,
}

#: What helps where a field is not accepted, by the place where it is set.
_PLACES: Final[dict[str, Action]] = {
    "model": MODEL, "tools": TOOLS, "output": OUTPUT, "parameters": PARAMETERS, "raw": RAW,
}  # fmt: skip


def _by_place(failure: Failure) -> Advice | None:
    """Advice for a refusal that names the field of the body it is about."""
    if failure.kind is not FailureKind.HTTP or failure.status not in (400, 422):
        return None
    name = parameter_named(failure)
    if not name:
        return None
    place = place_of(name)
    if place == "turns":
        return next(known.advice for known in TABLE if known.advice.meaning == "turns")
    return Advice(
        "parameter",
        f"The gateway does not accept “{name}”",
        "Change its value, or take it out so that it is not sent, then run again.",
        (_PLACES[place]._replace(value=name), RETRY),
    )
