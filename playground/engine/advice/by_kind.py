"""Advice by the cause, the kind and the status of a failure, independent of the gateway's message."""

from __future__ import annotations

from typing import Final

from playground.domain.errors import Failure, FailureCause, FailureGroup, FailureKind, Sent
from playground.engine.advice.parts import (
    GATEWAY,
    KEY,
    MODEL,
    PARAMETERS,
    RAW,
    RETRY,
    TIMEOUT,
    TURNS,
    Action,
    Advice,
    other_protocols,
)
from playground.protocols import DEFAULT, PROTOCOLS

_AGAIN: Final = "Retry to send it again."
_SETTINGS: Final = (GATEWAY, RETRY)
_OVERLOADED: Final = "The gateway is overloaded"
_STREAMING_HELPS: Final = "Streaming makes this less likely."

#: Meanings that are about the key.
KEY_MEANINGS: Final = frozenset({"key missing", "key refused", "key header"})

#: Statuses of a missing path, or one that is not for this method.
NO_PATH: Final = frozenset({404, 405, 501})


def is_about_key(failure: Failure, advice: Advice) -> bool:
    """Return whether the gateway refuses the key, or wants one."""
    return advice.meaning in KEY_MEANINGS or failure.group is FailureGroup.AUTHENTICATION


def is_missing_path(failure: Failure, advice: Advice) -> bool:
    """Return whether the gateway has no such path."""
    return advice.meaning == "no endpoint" or (failure.kind is FailureKind.HTTP and failure.status in NO_PATH)


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
    "Its message is above. It is about the parameters, the model or the messages.",
    (PARAMETERS, MODEL, RETRY),
)

_STATUS: Final = {
    400: _http(400, *_REFUSED),
    402: _http(402, "The account's balance is used up", "Add funds in the service's dashboard, then retry."),
    403: _http(
        403,
        "The key may not do this",
        "Most often the model requires identity verification of the account. Verify it in the dashboard, "
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
        "The proxy on the way requires a user name and a password",
        "They go into the proxy's address: http://name:password@host.",
        command="They go into the proxy's address, with --proxy or in the environment: http://name:password@host.",
    ),
    408: _http(408, "The gateway gave up waiting", "Retry in a moment."),
    413: _http(413, "The request is too large", "Take out images or earlier messages, then run again.", (TURNS, RETRY)),
    422: _http(422, *_REFUSED),
    429: _http(429, "A limit was reached", "Wait until the window resets, then retry."),
    500: _http(
        500, "Internal error of the gateway", "Retry in a moment; if it stays, it is for the gateway's operators."
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

#: What helps where this application knows the exact cause.
CAUSE_ADVICE: Final = {
    FailureCause.KEY: Advice(
        "key", "The key cannot be sent", "Enter it again.", (KEY, RETRY), "Check PLAYGROUND_API_KEY."
    ),
    FailureCause.ADDRESS: Advice(
        "address",
        "The gateway's address cannot be used",
        "Correct it in the gateway's settings.",
        _SETTINGS,
        "Correct --base-url.",
    ),
    FailureCause.CA_FILE: Advice(
        "ca file",
        "The certificate file cannot be used",
        "Choose another one, or none.",
        _SETTINGS,
        "Name another one with --ca FILE.",
    ),
    FailureCause.OWN_PROXY: Advice(
        "own proxy",
        "The proxy cannot be used",
        "Correct it in the gateway's settings.",
        _SETTINGS,
        "Correct --proxy.",
    ),
    FailureCause.PROXY: Advice(
        "proxy",
        "The proxy cannot be used",
        "The environment names it. Correct that, and start again.",
        command="Correct it where it is set: with --proxy, or in the environment.",
    ),
    FailureCause.HEADER: Advice(
        "own header",
        "A header cannot be sent",
        "Correct it where it is set: under Raw, or in the gateway's settings.",
        (RAW._replace(value="headers"), GATEWAY, RETRY),
        "Correct it where it is set: with --header, or in the file.",
    ),
    FailureCause.OWN_PROXY_PASSWORD: Advice(
        "own proxy password",
        "The proxy requires a user name and a password",
        "The gateway's settings store neither. Clear the proxy's field there, and name the proxy with both in the "
        "environment (HTTPS_PROXY, ALL_PROXY) before the application starts.",
        _SETTINGS,
        "Put them into the address given with --proxy.",
    ),
    FailureCause.PROXY_PASSWORD: Advice(
        "proxy password",
        "The proxy requires a user name and a password",
        "Put them there, then retry.",
        command="Put them into the proxy's address, with --proxy or in the environment.",
    ),
    FailureCause.PROXY_LOGIN: Advice(
        "proxy login",
        "The proxy refuses the user name and the password",
        "They are in its address, in the environment or after --proxy. Correct them there, and start again.",
        command="Correct them in the proxy's address, with --proxy or in the environment.",
    ),
    FailureCause.NOT_SOCKS: Advice(
        "no socks",
        "The proxy does not speak SOCKS 5",
        "Check the port and the beginning of its address: http:// for a proxy of HTTP.",
    ),
    FailureCause.PROXY_ROUTE: Advice(
        "proxy way",
        "The proxy does not lead to the gateway",
        "Check the base URL, and contact the operators of the proxy.",
    ),
    FailureCause.PROXY_UNREACHABLE: Advice(
        "no proxy", "The proxy cannot be reached", "Check the proxy's address, and that it is running."
    ),
    FailureCause.NO_TLS: Advice(
        "plain http",
        "The gateway does not speak TLS",
        "One without encryption has an address that begins with http://. Otherwise check the port.",
        _SETTINGS,
        "One without encryption has a --base-url that begins with http://. Otherwise check the port.",
    ),
    FailureCause.CERTIFICATE_TIME: Advice(
        "certificate time",
        "The certificate is not valid now",
        "Check the clock of this computer. If it is right, the gateway's operators have to renew the certificate.",
        (RETRY, GATEWAY),
    ),
    FailureCause.CERTIFICATE_NAME: Advice(
        "certificate name",
        "The certificate is for another name",
        "Check the host in the base URL.",
        _SETTINGS,
    ),
    FailureCause.CERTIFICATE: Advice(
        "certificate",
        "The certificate is not trusted",
        "If a private authority issued it, name that authority's file in the gateway's settings.",
        _SETTINGS,
        "If a private authority issued it, name that authority's file with --ca FILE.",
    ),
    FailureCause.MALFORMED: Advice(
        "malformed",
        "The answer is malformed",
        "Contact the gateway's operators; the bytes are under Response. Retry to send it again.",
        command="Contact the gateway's operators; --record saves the bytes.",
    ),
    FailureCause.BROKEN_OFF: Advice("broken off", "The answer was cut off", "Retry to send it again."),
    FailureCause.COMPRESSED: Advice(
        "compressed",
        "The answer is packed in a way that cannot be undone",
        "Contact the gateway's operators, or those of the server in front of it. Retry to send it again.",
    ),
    FailureCause.ANSWER_HEADERS: Advice(
        "answer headers",
        "The answer's headers are too large",
        "The gateway, or a server before it, adds far too much to them. That is for its operators.",
        (RETRY, GATEWAY),
    ),
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
        "Key missing; nothing sent",
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
        streaming="With streaming the first content arrives sooner.",
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
        "Raise the time-out, or request less.",
        (TIMEOUT, RETRY),
        command="Wait longer with --timeout total=SECONDS, or request less.",
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
        "Retry. If it persists, something on the way to the gateway may drop its data.",
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


def cause_advice(failure: Failure) -> Advice | None:
    """Return the advice for the exact cause of a failure; None if the cause is unknown."""
    return CAUSE_ADVICE.get(failure.cause) if failure.cause is not None else None


def general_advice(failure: Failure) -> Advice:
    """Return the advice for the kind and status of a failure."""
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
        "Its message is above, if it sent one.",
    )


def other_protocol(endpoint: str) -> Advice:
    """Return the advice for an answer in the other protocol."""
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
    """Return the advice for a key that was not accepted (specification, section 5)."""
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
    """Return the advice for a request without a key to a gateway that wants one."""
    return Advice(
        "key missing",
        "The gateway requires a key",
        "No key is set. Enter the one that this gateway issued.",
        (KEY, RETRY),
        command="No key was given. Put the one that this gateway issued into PLAYGROUND_API_KEY.",
    )


def no_endpoint(endpoint: str) -> Advice:
    """Return the advice for an address without such a path."""
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
