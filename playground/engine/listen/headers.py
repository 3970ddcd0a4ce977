"""Rules for the headers that a proxy passes on, and for the secrets in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_plus

from playground.gateway.body_decoding import ACCEPTED, Inflater
from playground.gateway.redact import MASK, is_secret_header
from playground.gateway.tape import Headers

#: Headers about one connection (RFC 9110, section 7.6.1); those that ``Connection`` names are added to them.
_HOP_BY_HOP: Final = frozenset(
    {
        *("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
        *("proxy-authorization", "proxy-authenticate"),
    }
)
#: Headers of a request that are written for each connection, or answered by this server.
_OWN: Final = frozenset({"host", "content-length", "expect"})
#: Headers in which programs send the key of a gateway.
_KEYS: Final = frozenset({"authorization", "x-api-key", "api-key", "x-goog-api-key"})
_MOST_INFLATED: Final = 256 * 1024 * 1024  # bytes of a decoded body


def headers_for_gateway(headers: Headers) -> tuple[Headers, str]:
    """Return the headers of a request to pass on, in order, and a note on a changed Accept-Encoding.

    Only encodings that can be decoded here are requested of the gateway; without one, none at all.
    """
    passed: list[tuple[str, str]] = []
    note = ""
    dropped = _named_by_connection(headers)
    offers = [value for name, value in headers if name.lower() == "accept-encoding"]
    for name, value in headers:
        if name.lower() not in dropped and name.lower() not in _OWN and name.lower() != "accept-encoding":
            passed.append((name, value))
    offered = ", ".join(offers)
    accepted = _decodable(offered) if offers else "identity"
    if offers and accepted != offered:
        note = f"Accept-Encoding was changed from “{offered[:100]}” to “{accepted}”, which can be decoded here."
    passed.append(("accept-encoding", accepted))
    return tuple(passed), note


def headers_for_program(headers: Headers) -> Headers:
    """Return the headers of an answer to pass on, in order: all but those about the connection to the gateway."""
    dropped = _named_by_connection(headers)
    return tuple(pair for pair in headers if pair[0].lower() not in dropped)


def without(headers: Headers, *names: str) -> Headers:
    """Return the headers but those of these names, in lower case."""
    return tuple(pair for pair in headers if pair[0].lower() not in names)


def without_keys(headers: Headers) -> Headers:
    """Return the headers but those that carry a key of the program."""
    return without(headers, *_KEYS)


def query_without_keys(query: str) -> str:
    """Return a query but its members that carry a key."""
    return "&".join(member for member in query.split("&") if not is_secret_header(_member_name(member)))


def header(headers: Headers, name: str) -> str:
    """Return the first value of a header, by its name in lower case; empty without one."""
    return next((value for key, value in headers if key.lower() == name), "")


def all_values(headers: Headers, name: str) -> list[str]:
    """Return all values of a header, by its name in lower case."""
    return [value for key, value in headers if key.lower() == name]


def secrets_in(headers: Headers, query: str) -> Iterator[str]:
    """Yield the secrets of one request: keys, cookies, addresses of people, as plain text, which must not be shown."""
    for name, value in headers:
        if is_secret_header(name):
            scheme, space, rest = value.strip().partition(" ")
            yield rest.strip() if space and scheme.isalpha() else value.strip()
            if "cookie" in name.lower():
                yield from (cookie.partition("=")[2].strip() for cookie in value.split(";"))
        elif is_personal(name):
            yield value.strip()
    for member in query.split("&"):
        if is_secret_header(_member_name(member)):
            value = member.partition("=")[2]
            yield from (value, unquote_plus(value))


def is_personal(name: str) -> bool:
    """Return whether a header of this name has the e-mail address of a person."""
    return "email" in name.lower().replace("-", "").replace("_", "")


def masked_personal(headers: Headers) -> Headers:
    """Return the headers with e-mail addresses masked, also short ones."""
    return tuple((name, MASK if is_personal(name) else value) for name, value in headers)


def masked_query(query: str) -> str:
    """Return a query whose members with names of secrets are masked, also short ones."""
    members = query.split("&")
    return "&".join(
        f"{member.partition('=')[0]}={MASK}" if is_secret_header(_member_name(member)) and "=" in member else member
        for member in members
    )


def decoded_body(headers: Headers, body: bytes) -> bytes | None:
    """Return a body without compression; None for an unknown encoding, damaged data, or a body that is too large."""
    try:
        inflater = Inflater(", ".join(all_values(headers, "content-encoding")))
        decoded = bytearray()
        for piece in inflater.inflate(body):
            decoded += piece
            if len(decoded) > _MOST_INFLATED:
                return None
    except ValueError:
        return None
    return bytes(decoded) + inflater.rest()


def _member_name(member: str) -> str:
    return unquote_plus(member.partition("=")[0])


def _named_by_connection(headers: Headers) -> frozenset[str]:
    """Return the names, in lower case, of all headers about one connection."""
    named = (name.strip().lower() for value in all_values(headers, "connection") for name in value.split(","))
    return _HOP_BY_HOP | frozenset(named)


def _decodable(offered: str) -> str:
    """Return the part of an Accept-Encoding that can be decoded here, with its weights; "identity" without any."""
    decodable = [name.strip() for name in ACCEPTED.split(",")]
    offers = [offer.strip() for offer in offered.split(",")]
    chosen = [offer for offer in offers if offer.partition(";")[0].strip().lower() in (*decodable, "identity")]
    return ", ".join(chosen) or "identity"
