"""What a failure means and what to do about it, in words for people (specification, sections 5 and 7).

The gateway's own message is never replaced: it stands beside these words.
"""

from __future__ import annotations

from dataclasses import dataclass

from playground.domain.errors import Failure, FailureKind

RETRY = "retry"
GATEWAY = "gateway"
STREAM_ON = "stream_on"
TIMEOUT = "timeout"
MODEL = "model"

#: What can be done while the next try is waited for.
RETRY_NOW = "retry_now"
GIVE_UP = "give_up"

LABELS = {
    RETRY_NOW: "Retry now",
    GIVE_UP: "Give up",
    RETRY: "Retry",
    GATEWAY: "Open gateway settings",
    STREAM_ON: "Turn streaming on and retry",
    TIMEOUT: "Raise the time-out",
    MODEL: "Choose a model",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """A headline, the remedy, and the actions that carry it out, the best first."""

    title: str
    remedy: str
    actions: tuple[str, ...] = (RETRY,)


_STATUS = {
    400: Advice(
        "The gateway did not accept the request",
        "Check the parameters in its message. A conversation longer than the model's context window also ends here.",
    ),
    401: Advice(
        "The key was not accepted",
        "Usual causes: spaces or line breaks in the key, a key that was revoked or never set, an expired token, "
        "or a key from another service.",
        (GATEWAY, RETRY),
    ),
    402: Advice("The account's balance is used up", "Add funds in the service's dashboard, then retry.", (RETRY,)),
    403: Advice(
        "The key may not do this",
        "Most often the model asks for identity verification of the account. Verify it in the dashboard, "
        "or choose another model.",
        (MODEL, RETRY),
    ),
    404: Advice(
        "There is no such model or address",
        "Choose a model the gateway lists. If every model fails, check the base URL: it ends in /v1, once.",
        (MODEL, GATEWAY),
    ),
    408: Advice("The gateway gave up waiting", "Retry; a longer time-out helps with long answers.", (RETRY, TIMEOUT)),
    413: Advice("The request is too large", "Take out images or earlier turns, then run again.", (RETRY,)),
    429: Advice("A limit was reached", "Wait until the window resets, then retry.", (RETRY,)),
    500: Advice("The gateway had an error of its own", "Retry; if it stays, it is for the gateway's operators."),
    502: Advice("A proxy got no proper answer from the gateway", "Retry in a moment."),
    503: Advice("The gateway is overloaded", "Retry later. Streaming makes this less likely.", (RETRY, STREAM_ON)),
    504: Advice(
        "The gateway took too long",
        "Retry later. Streaming avoids it, and a longer time-out helps.",
        (RETRY, STREAM_ON, TIMEOUT),
    ),
    529: Advice("The gateway is overloaded", "Retry later.", (RETRY,)),
}

_KIND = {
    FailureKind.INPUT: Advice(
        "The request could not be made", "Mend what the message names, then run again.", (RETRY,)
    ),
    FailureKind.NAME: Advice(
        "The gateway's name was not found", "Check the base URL for a slip, and the network.", (GATEWAY, RETRY)
    ),
    FailureKind.REFUSED: Advice(
        "Nothing answers at that address", "Check the port and that the gateway is running.", (RETRY, GATEWAY)
    ),
    FailureKind.TLS: Advice(
        "No secure connection could be made",
        "Where the certificate comes from a private authority, name that authority's file in the gateway's settings.",
        (GATEWAY, RETRY),
    ),
    FailureKind.CONNECTION: Advice("The connection was lost", "What arrived is kept. Retry to ask again.", (RETRY,)),
    FailureKind.TIMEOUT_CONNECT: Advice(
        "No connection in time", "Check the address and the network.", (RETRY, GATEWAY, TIMEOUT)
    ),
    FailureKind.TIMEOUT_FIRST: Advice(
        "Connected, but no content in time", "Models that reason can take long: raise the time-out.", (TIMEOUT, RETRY)
    ),
    FailureKind.TIMEOUT_IDLE: Advice(
        "Content stopped coming", "Retry, or allow longer pauses between pieces of content.", (RETRY, TIMEOUT)
    ),
    FailureKind.TIMEOUT_TOTAL: Advice(
        "The time set for the whole answer is over", "What arrived is kept.", (TIMEOUT, RETRY)
    ),
    FailureKind.REDIRECT: Advice(
        "The gateway sends us elsewhere",
        "Redirects are not followed, because the key would go along. Set the new address if you trust it.",
        (GATEWAY,),
    ),
    FailureKind.STREAM: Advice("The gateway reported an error while answering", "What arrived before it is kept."),
    FailureKind.DECODE: Advice(
        "The answer is not what the protocol says",
        "Check that the base URL is the gateway's and that the protocol is the right one.",
        (GATEWAY, RETRY),
    ),
    FailureKind.CUT_OFF: Advice(
        "Ended without a finish reason, possibly cut off", "What arrived is kept. Retry to ask again."
    ),
    FailureKind.EMPTY: Advice(
        "Empty response", "The answer is complete and holds nothing. Retry, or change the prompt."
    ),
    FailureKind.TOO_LARGE: Advice(
        "The answer is larger than the set cap",
        "Raise the cap in the gateway's settings if it is meant to be.",
        (GATEWAY,),
    ),
    FailureKind.INTERNAL: Advice("The application made a mistake", "What arrived is kept. Please report it."),
}


def limit_words(dimension: str | None) -> str:
    """What a rate-limit dimension counts: ``RPM (requests per minute)``; empty for none."""
    if not dimension:
        return ""
    what = {"R": "requests", "T": "tokens", "I": "images"}.get(dimension[:1], "")
    per = {"M": "minute", "D": "day"}.get(dimension[-1:], "")
    return f"{dimension} ({what} per {per})" if what and per else dimension


def advise(failure: Failure, *, streamed: bool = True) -> Advice:
    """The advice for a failure. ``streamed`` says whether streaming was on already, which needs no advice then."""
    advice = _STATUS.get(failure.status or 0) if failure.kind is FailureKind.HTTP else None
    if advice is None:
        advice = _KIND.get(failure.kind) or Advice(
            f"The gateway answered with status {failure.status}", "Its own words are below."
        )
    if streamed and STREAM_ON in advice.actions:
        actions = tuple(action for action in advice.actions if action != STREAM_ON)
        return Advice(advice.title, advice.remedy, actions)
    return advice
