"""Names in a gateway's message: headers that it asks for, the field of the body that it is about, and its panel.

Messages are foreign text. The names taken from them are short and well-formed, and are only shown, or typed into a
field for a person to review.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from playground.domain.errors import Failure
from playground.protocols import MESSAGES

#: Headers that carry a key, or that no person sets.
_RESERVED_HEADERS: Final = frozenset(
    {
        "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "www-authenticate", "content-type",
        "content-length", "content-encoding", "transfer-encoding", "user-agent", "accept-encoding", "set-cookie",
    }
)  # fmt: skip
_MAX_HEADERS: Final = 3

_HEADER: Final = r"[A-Za-z][A-Za-z0-9]{0,40}(?:-[A-Za-z0-9]{1,40}){1,8}"
#: A name that looks like a header's and not like a word with a hyphen: x-…, Title-Case, quoted, or beside “header”.
_NAME: Final = re.compile(
    r"(?<![\w-])(?:"
    r"(?P<x>[xX](?:-[A-Za-z0-9]{1,40}){1,8})"
    r"|(?P<title>[A-Z][A-Za-z0-9]{0,40}(?:-[A-Z][A-Za-z0-9]{0,40}){1,8})"
    rf"|(?<=[\"'`“‘])(?P<quoted>{_HEADER})(?=[\"'`”’])"
    rf"|(?P<before>{_HEADER})(?=:?\s+(?:request |http )?header\b)"
    rf"|(?<=header )(?P<after>{_HEADER})|(?<=headers )(?P<several>{_HEADER})"
    rf"|(?<=header: )(?P<colon>{_HEADER})|(?<=headers: )(?P<listed>{_HEADER})"
    r")(?![\w-])"
)
_NO_HEADER: Final = re.compile(r"(?:non|cross|same|pre|self|well)-|rate-limit$", re.IGNORECASE)
_NAMES_HEADERS: Final = re.compile(r"\bheaders?\b", re.IGNORECASE)
_SAYS_MISSING: Final = re.compile(
    r"\b(?:requires?|required|missing|needs?|needed|expected|absent|no|provide|include|specify|supply|add|set)\b"
    r"|\bmust (?:be|have|contain|send)\b|\bnot (?:sent|provided|found|present|given|specified)\b",
    re.IGNORECASE,
)
_SAYS_INVALID: Final = re.compile(
    r"\b(?:invalid|malformed|wrong|too (?:long|large|big|many)|not allowed)\b", re.IGNORECASE
)

_FIELD: Final = r"(?P<name>[A-Za-z_][\w.\[\]-]{0,80})"
_OPEN: Final = r"[\"'`(\[]*"
_MARK: Final = r"[\"'`]"
#: The ways in which messages name a field; the first match counts.
_FIELDS: Final = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        rf"\bunsupported (?:parameter|value|argument)s?:? {_OPEN}{_FIELD}",
        rf"\bunrecognized request arguments? supplied: {_OPEN}{_FIELD}",
        rf"\b(?:unrecognized|unknown) (?:parameter|argument|field|name|key)s?:? {_OPEN}{_FIELD}",
        rf"\b(?:unexpected|extra) (?:parameter|keyword argument|field|property)s?:? {_OPEN}{_FIELD}",
        rf"\bdoes not support (?:the )?(?:parameter|argument)s?:? {_OPEN}{_FIELD}",
        rf"\bproperty {_MARK}{_FIELD}{_MARK} is (?:unsupported|not)\b",
        rf"\bextra inputs are not permitted, field: {_MARK}{_FIELD}",
        rf"(?:^|[;\s]){_FIELD}: (?:extra inputs are not permitted|input should|field required|value error|range:)",
        rf"\binvalid (?:value|type)(?: for)?:? {_OPEN}{_FIELD}\b",
        rf"\binvalid {_MARK}{_FIELD}{_MARK}",
        rf"(?:^|[\s(]){_MARK}{_FIELD}{_MARK} (?:is (?:not|un)|does not|must|may only|should|has to|cannot|and {_MARK})",
        rf"^{_FIELD} (?:is not (?:supported|allowed|permitted)|is too (?:large|small)|must be|may only be|should be)",
    )
)
_IN_BODY: Final = re.compile(r"^(?:body|request|params?)\.(?=\w)")
_PLAIN: Final = re.compile(rf"^{_FIELD}$")
#: Quoted words in messages that are kinds of values, not fields.
_NO_FIELD: Final = frozenset(
    {"none", "null", "json", "string", "object", "array", "value", "input", "body", "request", "error"}
)

_PLACES: Final = {
    "model": "model",
    MESSAGES: "turns",
    "message": "turns",
    "contents": "turns",
    "system": "turns",
    "tools": "tools",
    "functions": "tools",
    "response_format": "output",
    "output_format": "output",
}


def header_names(message: str) -> tuple[str, ...]:
    """Return the headers that a message says are missing, the likeliest first.

    ``Either x-portkey-config or x-portkey-provider header is required`` gives the provider's first. Headers that carry
    a key are left out, and so are those that were sent with a wrong value.
    """
    if not _NAMES_HEADERS.search(message) or not _SAYS_MISSING.search(message) or _SAYS_INVALID.search(message):
        return ()
    candidates = [match[0] for match in _NAME.finditer(message[:4000]) if not _NO_HEADER.match(match[0])]
    names = {name.lower(): name for name in candidates if name.lower() not in _RESERVED_HEADERS}
    return tuple(reversed(names.values()))[:_MAX_HEADERS]


def parameter_named(failure: Failure) -> str:
    """Return the body field that a refusal is about, such as ``messages[1].content``; empty for none."""
    name = failure.param or ""
    if not _PLAIN.match(name) or name.lower() in _NO_FIELD:
        matches = (pattern.search(failure.message[:4000]) for pattern in _FIELDS)
        name = next((match["name"] for match in matches if match and match["name"].lower() not in _NO_FIELD), "")
    return _IN_BODY.sub("", name).rstrip(".-[]" if "[" not in name else ".-")


def place_of(name: str) -> str:
    """Return the panel where a field of the body is set: "turns", "model", "tools", "output", "parameters" or "raw"."""
    root, *rest = re.split(r"[.\[]", name)
    if root == "output_config" and rest[:1] == ["format"]:
        return "output"
    return _PLACES.get(root) or ("parameters" if root in _parameters() else "raw")


@cache
def _parameters() -> frozenset[str]:
    """Return the top-level names of the parameters of all protocols in a body."""
    from playground.protocols import PROTOCOLS
    from playground.protocols.protocol import get_protocol

    kinds = [get_protocol(name).parameters_type for name in PROTOCOLS]
    return frozenset(path[0] for kind in kinds for path in kind.places().values())
