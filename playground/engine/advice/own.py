"""What helps where our own messages say why a request could not be made, or a way not be gone."""

from __future__ import annotations

from typing import Final

from playground.domain.errors import FailureKind
from playground.engine.advice.parts import GATEWAY, KEY, RAW, RETRY, Advice
from playground.engine.advice.table import Known

_BEFORE: Final = frozenset({FailureKind.INPUT})
_WAY: Final = frozenset({FailureKind.NAME, FailureKind.REFUSED, FailureKind.TIMEOUT_CONNECT, FailureKind.CONNECTION})
_TLS: Final = frozenset({FailureKind.TLS})
_READ: Final = frozenset({FailureKind.DECODE, FailureKind.CUT_OFF})
_SETTINGS: Final = (GATEWAY, RETRY)

OWN: Final[tuple[Known, ...]] = (
    Known(
        Advice("key", "The key cannot be sent", "Enter it again.", (KEY, RETRY), "Check PLAYGROUND_API_KEY."),
        r"^the key holds ",
        kinds=_BEFORE,
    ),
    Known(
        Advice(
            "address",
            "The gateway's address cannot be used",
            "Correct it in the gateway's settings.",
            _SETTINGS,
            "Correct --base-url.",
        ),
        r"\bbase url\b",
        kinds=_BEFORE,
    ),
    Known(
        Advice(
            "ca file",
            "The certificate file cannot be used",
            "Choose another one, or none.",
            _SETTINGS,
            "Name another one with --ca FILE.",
        ),
        r"^the ca file ",
        kinds=_BEFORE,
    ),
    Known(
        Advice(
            "own proxy",
            "The proxy cannot be used",
            "Correct it in the gateway's settings.",
            _SETTINGS,
            "Correct --proxy.",
        ),
        r"^the proxy given for this gateway ",
        kinds=_BEFORE,
    ),
    Known(
        Advice(
            "proxy",
            "The proxy cannot be used",
            "The environment names it. Correct that, and start again.",
            command="Correct it where it stands: with --proxy, or in the environment.",
        ),
        r"^the proxy ",
        kinds=_BEFORE,
    ),
    Known(
        Advice(
            "own header",
            "A header cannot be sent",
            "Correct it where it stands: under Raw, or in the gateway's settings.",
            (RAW._replace(value="headers"), GATEWAY, RETRY),
            "Correct it where it stands: with --header, or in the file.",
        ),
        r"^the (?:value of the )?header ",
        kinds=_BEFORE,
    ),
    Known(
        Advice(
            "own proxy password",
            "The proxy wants a user name and a password",
            "The gateway's settings keep neither. Empty the proxy's field there, and name the proxy with both in the "
            "environment (HTTPS_PROXY, ALL_PROXY) before the application starts.",
            _SETTINGS,
            "Put them into the address given with --proxy.",
        ),
        r"^the proxy .{0,300}\(given for this gateway\) wants a user name and a password\b",
        kinds=_WAY,
    ),
    Known(
        Advice(
            "proxy password",
            "The proxy wants a user name and a password",
            "Put them there, then retry.",
            command="Put them into the proxy's address, with --proxy or in the environment.",
        ),
        r"^the proxy .{0,300} wants a user name and a password\b",
        kinds=_WAY,
    ),
    Known(
        Advice(
            "proxy login",
            "The proxy refuses the user name and the password",
            "They stand in its address, in the environment or after --proxy. Correct them there, and start again.",
            command="Correct them in the proxy's address, with --proxy or in the environment.",
        ),
        r"^the proxy .{0,300} (?:does not let in|wants another way to sign in)\b",
        kinds=_WAY,
    ),
    Known(
        Advice(
            "no socks",
            "The proxy does not speak SOCKS 5",
            "Check the port and the beginning of its address: http:// for a proxy of HTTP.",
        ),
        r"^the proxy .{0,300} is no socks 5 proxy\b",
        kinds=_WAY,
    ),
    Known(
        Advice(
            "proxy way", "The proxy does not lead to the gateway", "Check the base URL, and ask who runs the proxy."
        ),
        r"^the proxy .{0,300} does not lead to ",
        kinds=_WAY,
    ),
    Known(
        Advice("no proxy", "The proxy cannot be reached", "Check the proxy's address, and that it is running."),
        r"^(?:the name of|nothing answers at|no connection to .{0,300} through|the connection to) the proxy ",
        kinds=_WAY,
    ),
    Known(
        Advice(
            "plain http",
            "The gateway does not speak TLS",
            "One without encryption has an address that begins with http://. Otherwise check the port.",
            _SETTINGS,
            "One without encryption has a --base-url that begins with http://. Otherwise check the port.",
        ),
        r"\bdoes not speak tls\b",
        kinds=_TLS,
    ),
    Known(
        Advice(
            "certificate time",
            "The certificate is not valid now",
            "Check the clock of this computer. If it is right, the gateway's operators have to renew the certificate.",
            (RETRY, GATEWAY),
        ),
        r"\bcomputer's clock says\b",
        kinds=_TLS,
    ),
    Known(
        Advice(
            "certificate name",
            "The certificate is for another name",
            "Check the host in the base URL.",
            _SETTINGS,
        ),
        r"\bissued for another name\b",
        kinds=_TLS,
    ),
    Known(
        Advice(
            "certificate",
            "The certificate is not trusted",
            "Where it comes from a private authority, name that authority's file in the gateway's settings.",
            _SETTINGS,
            "Where it comes from a private authority, name that authority's file with --ca FILE.",
        ),
        r"\bcannot be trusted\b",
        kinds=_TLS,
    ),
    Known(
        Advice(
            "malformed",
            "The answer is malformed",
            "That is for the gateway's operators; its bytes stand under Response. Retry to ask again.",
            command="That is for the gateway's operators; --record keeps its bytes.",
        ),
        r"^the body cannot be read as json\b",
        kinds=_READ,
    ),
    Known(
        Advice("broken off", "The answer was cut off", "Retry to ask again."),
        r"^the body is json that breaks off\b",
        kinds=_READ,
    ),
    Known(
        Advice(
            "compressed",
            "The answer is packed in a way that cannot be undone",
            "That is for the gateway's operators, or for whoever runs what stands before it. Retry to ask again.",
        ),
        r"^the answer (?:is compressed as|says it is compressed)\b",
        kinds=_READ,
    ),
    Known(
        Advice(
            "answer headers",
            "The answer's headers are too large",
            "The gateway, or what stands before it, adds far too much to them. That is for its operators.",
            (RETRY, GATEWAY),
        ),
        r"^the headers of the answer ",
        kinds=frozenset({FailureKind.TOO_LARGE}),
    ),
)
