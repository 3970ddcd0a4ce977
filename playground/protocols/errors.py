"""Reads what went wrong out of any error body, whoever wrote it.

The gateway's own words are kept as they are; only where it said nothing is there a sentence of ours. Never raises.
The shapes: ``{code, message, data}`` (specification, section 7.2), ``{error: {…}}`` and its kin, lists, HTML, text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from playground.domain.errors import Failure, FailureKind
from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject

EXCERPT: Final = 64 * 1024
_PAGE: Final = 16 * 1024  # how much of a page is searched for its title
_LOOKED_AT: Final = 16 * 1024  # how much of a message is searched for a limit
_MESSAGE_KEYS: Final = (
    "message", "msg", "error_message", "error_msg", "errorMessage", "status_msg", "detail", "details",
    "error_description", "description", "title", "reason",
)  # fmt: skip
#: Members of these names are only sent with an error.
_ERROR_KEYS: Final = ("error_message", "error_msg", "errorMessage", "error_description", "detail")
#: Codes in words that report no error.
_FINE: Final = frozenset({"ok", "success", "200", "201", "202"})
_FAILING: Final = re.compile(
    r"error|\berr\b|fail|fatal|exception|invalid|denied|refused|unauthori|exhaust|abort", re.IGNORECASE
)
_TITLE: Final = re.compile(r"<(title|h1|h2)\b[^>]*>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
_HIDDEN: Final = re.compile(r"<(script|style)\b.*?(</\1\s*>|\Z)|<!--.*?(-->|\Z)", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"<[^<>]*>")
_DIMENSION: Final = re.compile(r"(?<![A-Za-z])(RPM|RPD|TPM|TPD|IPM|IPD)(?![A-Za-z])")
_SPELLED: Final = re.compile(r"\b(request|token|image)s?[ -](?:per|/)[ -](min(?:ute)?|day)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ErrorFields:
    """What an error object says; ``code`` as it came (number or text), the rest as text, empty where absent."""

    message: str = ""
    code: JSON = None
    type: str = ""
    param: str = ""
    request_id: str = ""
    status: int | None = None


def read_error(
    body: bytes | JSON, status: int | None = None, kind: FailureKind | None = None, text: str | None = None
) -> Failure:
    """The failure that a body reports.

    ``body`` is the body's bytes, its text, or a JSON value already parsed (then ``text`` may give its source for the
    excerpt). ``status`` is the HTTP status where there was one. ``kind`` defaults to HTTP with a status and to STREAM
    without.
    """
    if isinstance(body, bytes | bytearray):
        body = bytes(body[: 4 * EXCERPT]).decode("utf-8", "replace").removeprefix("\ufeff")
    if isinstance(body, str):
        text = body if text is None else text
        fields = _from_text(body)
    else:
        text = foreign.write(body) if text is None else text
        fields = error_fields(body)
    found = status if status is not None else fields.status
    message = fields.message or _fallback(found, bool(text.strip()))
    return Failure(
        kind=kind or (FailureKind.HTTP if status is not None else FailureKind.STREAM),
        message=message,
        status=found,
        code=foreign.text_of(fields.code) or None,
        type=fields.type or None,
        param=fields.param or None,
        request_id=fields.request_id or None,
        body=foreign.whole(text[:EXCERPT]),
        dimension=rate_limit_dimension(message),
    )


def looks_like_error(value: JSONObject) -> bool:
    """Whether an object without an answer in it reports an error."""
    if value.get("error") or value.get("errors") or value.get("object") == "error" or value.get("type") == "error":
        return True
    if _failed_base(value) is not None:
        return True
    return any(isinstance(value.get(key), str | list) and value[key] for key in _MESSAGE_KEYS)


def is_certain_error(value: JSONObject) -> bool:
    """Return whether an object that looks like an error can be nothing else.

    A message alone, or one beside a status such as “processing”, may as well report progress.
    """
    if value.get("error") or value.get("errors") or value.get("object") == "error" or value.get("type") == "error":
        return True
    if _failed_base(value) is not None or _status(value) is not None or value.get("success") is False:
        return True
    words = [value.get(name) for name in ("status", "type", "code", "level", "state", "event")]
    if any(isinstance(word, str) and _FAILING.search(word) for word in words):
        return True
    code = value.get("code", value.get("error_code"))
    if code not in (None, "", 0, "0") and not (isinstance(code, int) and 100 <= code < 300):
        return not isinstance(code, str) or code.lower() not in _FINE
    return any(value.get(name) for name in _ERROR_KEYS)


def error_fields(value: JSON) -> ErrorFields:
    """The fields of an error in a JSON value of any shape."""
    for _ in range(3):  # a list of errors, a list in a list: the first one speaks
        if isinstance(value, list) and value:
            value = value[0]
    if isinstance(value, str):
        return ErrorFields(message=foreign.whole(value))
    if not isinstance(value, dict):
        return ErrorFields()
    inner: JSON = value.get("error") or value.get("errors") or _failed_base(value)
    if isinstance(inner, list) and inner:
        inner = inner[0]
    if isinstance(inner, str) and not _message(value):
        return _fields({**value, "message": inner}, value)
    if not isinstance(inner, dict) and isinstance(value.get("detail"), dict):
        inner = value["detail"]
        if isinstance(inner.get("error"), dict):
            inner = inner["error"]
    for _ in range(2):  # what stands behind a relay's own error, with another one in it
        deeper = (inner.get("upstream_error") or inner.get("error")) if isinstance(inner, dict) else None
        if isinstance(inner, dict) and isinstance(deeper, dict) and not _message(inner):
            inner = deeper
    return _fields(inner, value) if isinstance(inner, dict) else _fields(value, value)


def rate_limit_dimension(message: str) -> str | None:
    """The limit that a message names: RPM, RPD, TPM, TPD, IPM or IPD (specification, section 8); else None."""
    found = _DIMENSION.search(message, 0, _LOOKED_AT)
    if found:
        return found.group(1)
    spelled = _SPELLED.search(message, 0, _LOOKED_AT)
    if spelled:
        return f"{spelled.group(1)[0]}P{spelled.group(2)[0]}".upper()
    return None


def _fields(inner: JSONObject, outer: JSONObject) -> ErrorFields:
    code = _first(inner, outer, "code", "error_code", "status_code")
    kind = inner.get("type") or (outer.get("type") if outer.get("type") != "error" else "")
    return ErrorFields(
        message=_message(inner) or _message(outer),
        code=code,
        type=foreign.text_of(kind) or _named_status(inner),
        param=foreign.text_of(inner.get("param")),
        request_id=foreign.text_of(_first(inner, outer, "request_id", "requestId")),
        status=_status(inner) or _status(outer),
    )


def _first(inner: JSONObject, outer: JSONObject, *names: str) -> JSON:
    for source in (inner, outer):
        for name in names:
            if source.get(name) is not None:
                return source[name]
    return None


def _status(value: JSONObject) -> int | None:
    for name in ("status_code", "status", "http_status", "http_code", "code"):
        found = value.get(name)
        if isinstance(found, str) and len(found) == 3 and found.isascii() and found.isdigit():
            found = int(found)
        if isinstance(found, int) and 400 <= found <= 599:
            return found
    return None


def _named_status(value: JSONObject) -> str:
    """A status in words (``INVALID_ARGUMENT``), which stands for a type at some vendors."""
    status = value.get("status")
    return foreign.whole(status) if isinstance(status, str) and not status.isdigit() else ""


def _failed_base(value: JSONObject) -> JSONObject | None:
    """``base_resp`` of vendors that report errors beside an empty answer; None when it reports success."""
    base = value.get("base_resp")
    return base if isinstance(base, dict) and base.get("status_code") not in (None, 0, "0") else None


def _message(value: JSONObject, deep: int = 1) -> str:
    for key in _MESSAGE_KEYS:
        found = value.get(key)
        if isinstance(found, str) and found.strip():
            return foreign.whole(found)
        if isinstance(found, dict) and (isinstance(found.get("message"), str) and found["message"].strip()):
            return foreign.whole(found["message"])
        if isinstance(found, dict) and deep and (inner := _message({"detail": found.get("detail")}, deep - 1)):
            return inner
        if isinstance(found, list):
            lines = [line for line in map(_complaint, found) if line]
            if lines:
                return "; ".join(lines)
    return ""


def _complaint(item: JSON) -> str:
    """One entry of a list of validation errors: where and what."""
    if isinstance(item, str):
        return foreign.whole(item)
    if not isinstance(item, dict):
        return ""
    message = foreign.text_of(item.get("msg") or item.get("message"))
    place = item.get("loc")
    where = ".".join(map(foreign.text_of, place)) if isinstance(place, list) else ""
    return f"{where}: {message}" if where and message else message


def _from_text(text: str) -> ErrorFields:
    stripped = text.strip()
    if stripped[:1] in ("{", "[", '"'):
        try:
            return error_fields(foreign.parse(stripped))
        except ValueError:
            pass
    if stripped[:1] == "<":
        return ErrorFields(message=_html_message(stripped[:_PAGE]))
    return ErrorFields(message=foreign.whole(stripped[:2000]))


def _html_message(page: str) -> str:
    titles: list[str] = []
    for match in _TITLE.finditer(page):
        words = _words(match.group(2))
        if words and words not in titles:
            titles.append(words)
    return foreign.whole(" – ".join(titles[:2]) or _words(_HIDDEN.sub(" ", page))[:300])


def _words(markup: str) -> str:
    import html  # late: the names of two thousand letters

    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def _fallback(status: int | None, has_body: bool) -> str:
    if status is None:
        return "the gateway reported an error and did not say which" if has_body else "the error body is empty"
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    return f"HTTP {status}{phrase}" + ("" if has_body else ", with an empty body")
