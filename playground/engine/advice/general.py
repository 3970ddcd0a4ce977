"""Advice by the kind of a failure, and by the status of a refusal: what holds whatever the gateway said."""

from __future__ import annotations

from typing import Final

from playground.domain.errors import Failure, FailureKind, Sent
from playground.engine.advice.parts import (
    GATEWAY,
    KEY,
    MODEL,
    PARAMETERS,
    RETRY,
    TIMEOUT,
    TURNS,
    Action,
    Advice,
    other_protocols,
)
from playground.protocols import DEFAULT, PROTOCOLS

_AGAIN: Final = "Retry to ask again."
_OVERLOADED: Final = "The gateway is overloaded"
_STREAMING_HELPS: Final = "Streaming makes this less likely."

#: Meanings that are about the key.
OF_THE_KEY: Final = frozenset({"key missing", "key refused", "key header"})

#: Statuses that say there is no such path, or not for this method.
NO_PATH: Final = frozenset({404, 405, 501})


def _http(
    status: int,
    title: str,
    remedy: str,
    actions: tuple[Action, ...] = (RETRY,),
    *,
    command: str = "",
    streaming: str = "",
) -> Advice:
    return Advice(str(status), title, remedy, actions, command, streaming)


_REFUSED: Final = (
    "The gateway did not accept the request",
    "What it says stands above. It judges the parameters, the model and the messages.",
    (PARAMETERS, MODEL, RETRY),
)

_STATUS: Final = {
    400: _http(400, *_REFUSED),
    402: _http(402, "The account's balance is used up", "Add funds in the service's dashboard, then retry."),
    403: _http(
        403,
        "The key may not do this",
        "Most often the model asks for identity verification of the account. Verify it in the dashboard, "
        "or choose another model.",
        (MODEL, RETRY),
    ),
    404: _http(
        404,
        "There is no such model or address",
        "Choose a model the gateway lists. If every model fails, check the base URL: it ends in the version segment, "
        "such as /v1, once. The test in the gateway's settings finds what answers.",
        (MODEL, GATEWAY),
        command="Choose a model the gateway lists. If every model fails, check --base-url: it ends in the version "
        "segment, such as /v1, once.",
    ),
    407: _http(
        407,
        "The proxy on the way wants a user name and a password",
        "They go into the proxy's address: http://name:password@host.",
        command="They go into the proxy's address, with --proxy or in the environment: http://name:password@host.",
    ),
    408: _http(408, "The gateway gave up waiting", "Retry in a moment."),
    413: _http(413, "The request is too large", "Take out images or earlier turns, then run again.", (TURNS, RETRY)),
    422: _http(422, *_REFUSED),
    429: _http(429, "A limit was reached", "Wait until the window resets, then retry."),
    500: _http(
        500, "The gateway had an error of its own", "Retry in a moment; if it stays, it is for the gateway's operators."
    ),
    502: _http(502, "A proxy got no proper answer from the gateway", "Retry in a moment."),
    503: _http(503, _OVERLOADED, "Retry later.", streaming=_STREAMING_HELPS),
    504: _http(
        504,
        "The gateway took too long",
        "Retry later; a longer time-out helps as well.",
        (RETRY, TIMEOUT),
        command="Run it again later; waiting longer, with --timeout first=SECONDS, helps as well.",
        streaming="Streaming avoids it.",
    ),
    529: _http(529, _OVERLOADED, "Retry later."),
}

_KIND: Final = {
    FailureKind.INPUT: Advice(
        "input",
        "The request could not be made",
        "Mend what the message names, then run again.",
        (RETRY, GATEWAY),
    ),
    FailureKind.NO_KEY: Advice(
        "no key",
        "The key is not here, so nothing was sent",
        "Enter it again, or set the variable that it is read from; without a system keyring a key lasts until the "
        "application ends.",
        (KEY, RETRY),
        command="Put it into PLAYGROUND_API_KEY.",
    ),
    FailureKind.CONSENT: Advice(
        "consent",
        "The key is held back until you agree, so nothing was sent",
        "Answer in the gateway's settings, then run again.",
        (GATEWAY, RETRY),
        command="Add --allow-http if you agree.",
    ),
    FailureKind.NAME: Advice(
        "name",
        "The gateway cannot be found",
        "Check the base URL for a slip, and the network.",
        (GATEWAY, RETRY),
    ),
    FailureKind.REFUSED: Advice(
        "refused",
        "No connection",
        "Check the port and that the gateway is running.",
        (RETRY, GATEWAY),
        command="Check the port in --base-url, and that the gateway is running.",
    ),
    FailureKind.TLS: Advice(
        "tls",
        "No secure connection could be made",
        "Check the address, and the clock of this computer.",
        (GATEWAY, RETRY),
        command="Check --base-url, and the clock of this computer.",
    ),
    FailureKind.CONNECTION: Advice("connection", "The connection failed", _AGAIN),
    FailureKind.NOT_HTTP: Advice(
        "not http",
        "The answer is not proper HTTP",
        "Check scheme, host and port of the base URL: another program may listen there.",
        (GATEWAY, RETRY),
    ),
    FailureKind.TIMEOUT_CONNECT: Advice(
        "connect",
        "No connection in time",
        "Check the address and the network.",
        (RETRY, GATEWAY, TIMEOUT),
        command="Check --base-url and the network, or wait longer with --timeout connect=SECONDS.",
    ),
    FailureKind.TIMEOUT_FIRST: Advice(
        "first content",
        "Connected, but no content in time",
        "Models that reason can take long: raise the time-out.",
        (TIMEOUT, RETRY),
        command="Models that reason can take long: wait longer with --timeout first=SECONDS.",
        streaming="Streaming brings the first content sooner.",
    ),
    FailureKind.TIMEOUT_IDLE: Advice(
        "idle",
        "Content stopped coming",
        "Retry, or allow longer pauses between pieces of content.",
        (RETRY, TIMEOUT),
        command="Ask again, or allow longer pauses with --timeout idle=SECONDS.",
    ),
    FailureKind.TIMEOUT_TOTAL: Advice(
        "total",
        "The time set for the whole answer is over",
        "Raise the time-out, or ask for less.",
        (TIMEOUT, RETRY),
        command="Wait longer with --timeout total=SECONDS, or ask for less.",
    ),
    FailureKind.REDIRECT: Advice(
        "redirect",
        "The gateway sends us elsewhere",
        "Redirects are not followed, because the key would go along. Set the new address if you trust it.",
        (GATEWAY,),
        command="Redirects are not followed, because the key would go along. Give the new address with --base-url if "
        "you trust it.",
    ),
    FailureKind.STREAM: Advice("stream", "The gateway reported an error while answering", _AGAIN),
    FailureKind.DECODE: Advice(
        "decode",
        "The answer is not what the protocol says",
        "Check that the base URL is the gateway's and that the protocol is the right one.",
        (GATEWAY, RETRY),
        command="Check that --base-url is the gateway's and that the file's “protocol” is the right one.",
    ),
    FailureKind.NO_BODY: Advice(
        "no body",
        "The answer has no body",
        "Retry. If it stays so, something between here and the gateway may swallow what it sends.",
        (RETRY, GATEWAY),
    ),
    FailureKind.CUT_OFF: Advice("cut off", "Ended without a finish reason, possibly cut off", _AGAIN),
    FailureKind.EMPTY: Advice("empty", "Empty response", "Retry, or change the prompt."),
    FailureKind.TOO_LARGE: Advice(
        "too large",
        "The answer is larger than the set cap",
        "Raise the cap in the gateway's settings if it is meant to be.",
        (GATEWAY, RETRY),
        command="Raise it with --max-event MIB or --max-body MIB if it is meant to be.",
    ),
    FailureKind.INTERNAL: Advice("internal", "The application made a mistake", "Please report it."),
}


_EMPTY_STREAM: Final = Advice(
    "empty",
    "Empty response",
    "Retry, change the prompt, or switch “Stream” off under Parameters: some gateways lose an answer in the stream.",
    (RETRY, PARAMETERS._replace(value="stream")),
    command="Run it again, change the prompt, or set “stream” to false under “parameters” in the file: some gateways "
    "lose an answer in the stream.",
)


def general(failure: Failure) -> Advice:
    """Advice by kind and status alone."""
    status, sent = failure.status or 0, failure.sent or Sent(endpoint="")
    if failure.kind is FailureKind.EMPTY and sent.streamed:
        return _EMPTY_STREAM
    if failure.kind is FailureKind.OTHER_PROTOCOL:
        return other_protocol(sent.endpoint)
    if failure.kind is not FailureKind.HTTP:
        return _KIND[failure.kind]
    if status == 401:
        return no_key_given() if sent.keyed is False else key_refused()
    if status in (405, 501):
        return no_endpoint(sent.endpoint)
    if 520 <= status <= 526:  # a well-known proxy's own
        return _STATUS[502]
    return _STATUS.get(status) or Advice(
        "status",
        f"The gateway answered with status {status}" if status else "The gateway answered with an error",
        "What it says stands above, if it said anything.",
    )


def other_protocol(endpoint: str) -> Advice:
    """What came is an answer, of the protocol that was not asked."""
    others = other_protocols(endpoint)
    named = " or ".join(f"“{action.value}”" for action in others)
    return Advice(
        "other protocol",
        "The answer is of the other protocol",
        "Switch to it and run again. If both are answered like this, the base URL may lead to one endpoint alone.",
        (*others, GATEWAY, RETRY),
        command=f"Set “protocol” to {named} in the file." if others else "Set “protocol” in the file to the other one.",
    )


def key_refused() -> Advice:
    """The key that went along was not accepted (specification, section 5)."""
    causes = (
        "spaces or line breaks in the key, a key that was revoked or never set, an expired token, or a key from "
        "another service."
    )
    return Advice(
        "key refused",
        "The key was not accepted",
        f"Usual causes: {causes}",
        (KEY, RETRY),
        command=f"It is read from PLAYGROUND_API_KEY; --key-style says which header carries it. Usual causes: {causes}",
    )


def no_key_given() -> Advice:
    """No key went along, and one is wanted."""
    return Advice(
        "key missing",
        "The gateway wants a key",
        "No key is set. Enter the one that this gateway issued.",
        (KEY, RETRY),
        command="No key was given. Put the one that this gateway issued into PLAYGROUND_API_KEY.",
    )


def no_endpoint(endpoint: str) -> Advice:
    """The address has no such path."""
    what = PROTOCOLS.get(endpoint, "The model list" if endpoint == "models" else "")
    title = f"{what} cannot be found at this address" if what else "There is no such address"
    rest = "it ends in the version segment, such as /v1, once."
    others = other_protocols(endpoint)
    if others and endpoint != DEFAULT:
        rest += f" Many gateways speak {PROTOCOLS[DEFAULT]} alone."
    return Advice(
        "no endpoint",
        title,
        f"Check the base URL: {rest} The test in the gateway's settings finds what answers.",
        (GATEWAY, *others, RETRY),
        command=f"Check --base-url: {rest}",
    )
