"""Find what an error body says: its message, code, type, parameter, request id and status, in any shape.

Documented members count first: ``{code, message, data}`` (specification, section 7.2), ``{error: {…}}`` and its kin.
Without them a member with a name like a message counts, at any depth. JSON inside a text, an event stream and a web
page are read too. Nothing here raises, and every search is bounded.
"""

from __future__ import annotations

import html
import json
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from playground.jsonkit import foreign
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.sse import SSEParser

_LONGEST_TEXT: Final = 2000  # characters of a plain text that count as its message
_PAGE: Final = 16 * 1024  # characters of a web page that are searched
_NESTED_TEXT: Final = 64 * 1024  # characters of a text that is tried as JSON
_MOST_TEXTS: Final = 4  # texts that are read as JSON inside each other
_MOST_OBJECTS: Final = 6  # objects around an error
_MOST_VALUES: Final = 2000  # values that are searched for a message

#: Names are compared in lower case, without ``_`` and ``-``.
_MESSAGE: Final = (
    "message", "msg", "errormessage", "errormsg", "statusmsg", "detail", "details",
    "errordescription", "description", "title", "reason", "faultstring",
)  # fmt: skip
_LIKE_A_MESSAGE: Final = (
    *_MESSAGE, "statusmessage", "originalmessage", "errortext", "explanation", "exception", "cause", "error", "errors",
    "errormessages", "messages", "reasons",
)  # fmt: skip
_WRAPPERS: Final = ("error", "errors", "fault")
_INNER_WRAPPERS: Final = ("upstreamerror", "error", "errors", "detail", "exception", "response", "body")
_CODE: Final = ("code", "errorcode", "statuscode")
_STATUS: Final = ("statuscode", "status", "httpstatus", "httpcode", "httpstatuscode", "code")
#: Members that are only sent with an error.
_ONLY_OF_ERRORS: Final = ("errormessage", "errormsg", "errordescription", "faultstring", "detail")
#: Codes in words that report no error.
_FINE: Final = frozenset({"ok", "success", "200", "201", "202"})
_FAILING: Final = re.compile(
    r"error|\berr\b|fail|fatal|exception|invalid|denied|refused|unauthori|exhaust|abort", re.IGNORECASE
)
_SLUG: Final = re.compile(r"[A-Za-z][\w.-]{1,80}")

_TITLE: Final = re.compile(r"<(title|h1|h2|pre)\b[^>]*>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
_XML_MESSAGE: Final = re.compile(r"<(?:\w+:)?(message|faultstring)>([^<]+)</", re.IGNORECASE)
_HIDDEN: Final = re.compile(r"<(script|style)\b.*?(</\1\s*>|\Z)|<!--.*?(-->|\Z)", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"<[^<>]*>")
_FRAMED: Final = re.compile(r"^(?:data|event):", re.MULTILINE)
_BROKEN_MESSAGE: Final = re.compile(r'"(?:message|msg|detail)"\s*:\s*("(?:[^"\\]|\\.)+)', re.IGNORECASE)
_NAMED_CODE: Final = re.compile(r"""['"](code|type)['"]\s*:\s*['"]([A-Za-z][\w.-]{1,80})['"]""")


@dataclass(frozen=True, slots=True)
class ErrorFields:
    """The members of an error; ``code`` as it came (number or text), the others as text, empty where absent."""

    message: str = ""
    code: JSON = None
    type: str = ""
    param: str = ""
    request_id: str = ""
    status: int | None = None


def text_fields(text: str, depth: int = 0) -> ErrorFields:
    """Return the fields of an error in a body's text: JSON, an event stream, JSON lines, a web page or plain words."""
    text = text.strip()
    if text[:1] in ("{", "[", '"'):
        value = _parsed(text)
        if value is not None:
            return error_fields(value, depth)
    if text[:1] == "<":
        return ErrorFields(message=_page_message(text[:_PAGE]))
    if _FRAMED.search(text, 0, _NESTED_TEXT) is not None or text[:1] == "{":
        fields = _first_of_lines(text[:_NESTED_TEXT], depth)
        if fields.message:
            return fields
    broken = _BROKEN_MESSAGE.search(text, 0, _NESTED_TEXT) if text[:1] in ("{", "[") else None
    if broken is not None and isinstance(message := _parsed(f'{broken[1]}"'), str):
        return ErrorFields(message=message)
    return _with_prefix(text, depth) or _with_named_code(ErrorFields(message=foreign.whole(text[:_LONGEST_TEXT])))


def error_fields(value: JSON, depth: int = 0) -> ErrorFields:
    """Return the fields of an error in a JSON value of any shape; ``depth`` counts the texts around it."""
    for _ in range(3):  # of a list of errors the first counts
        if isinstance(value, list) and value:
            value = value[0]
    if isinstance(value, str):
        nested = _nested(value, depth)
        return error_fields(nested, depth + 1) if nested is not None else _of_message(foreign.whole(value), depth)
    if not isinstance(value, dict):
        return ErrorFields()
    chain = _chain(value, depth)
    message = next((text for inner in chain if (text := _message(inner))), "")
    message = message or next((text for inner in chain if (text := _error_text(inner))), "")
    fields = _of_message(message or _message_at_any_depth(value, depth), depth)
    upstream, provider = _upstream(chain, depth)
    behind = f"{provider}: {upstream.message}" if provider and upstream.message else upstream.message
    lines = [line for line in (behind, *_further_lines(chain, depth)) if line not in fields.message]
    params = (foreign.text_of(inner.get("param")) for inner in chain)
    return ErrorFields(
        message="\n".join(filter(None, (fields.message, *dict.fromkeys(lines)))),
        code=_code(chain, fields),
        type=_type(chain) or fields.type or upstream.type,
        param=next((text for text in params if text), "") or fields.param or upstream.param,
        request_id=next((text for inner in chain if (text := foreign.text_of(_get(inner, "requestid")))), ""),
        status=next((status for inner in chain if (status := _status(inner)) is not None), fields.status),
    )


def looks_like_error(value: JSONObject) -> bool:
    """Return whether an object without an answer in it reports an error."""
    if value.get("object") == "error" or value.get("type") == "error" or _failed_base(value) is not None:
        return True
    for name, item in value.items():
        plain = _plain(name)
        if (plain in _WRAPPERS and item) or (plain in _MESSAGE and isinstance(item, str | list) and item):
            return True
    return False


def is_certain_error(value: JSONObject) -> bool:
    """Return whether an object that looks like an error can be nothing else.

    A message alone, or one beside a status such as “processing”, may as well report progress.
    """
    if value.get("object") == "error" or value.get("type") == "error" or value.get("success") is False:
        return True
    if _failed_base(value) is not None or _status(value) is not None or _get(value, *_WRAPPERS):
        return True
    words = [value.get(name) for name in ("status", "type", "code", "level", "state", "event")]
    if any(isinstance(word, str) and _FAILING.search(word) for word in words):
        return True
    code = _get(value, "code", "errorcode")
    if code not in (None, "", 0, "0") and not (isinstance(code, int) and 100 <= code < 300):
        return not isinstance(code, str) or code.lower() not in _FINE
    return bool(_get(value, *_ONLY_OF_ERRORS))


# ---- objects ---------------------------------------------------------------------------------------------------------


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _get(value: JSONObject, *names: str) -> JSON:
    """Return the first member with one of these plain names that is not null."""
    if not value:
        return None
    members = {_plain(name): item for name, item in reversed(value.items()) if item is not None}
    return next((members[name] for name in names if name in members), None)


def _chain(value: JSONObject, depth: int) -> list[JSONObject]:
    """Return the objects that describe the error, the innermost first, ``value`` last."""
    chain = [value]
    while len(chain) < _MOST_OBJECTS and (inner := _inner(chain[0], depth, outermost=len(chain) == 1)) is not None:
        chain.insert(0, inner)
    return chain


def _inner(value: JSONObject, depth: int, *, outermost: bool) -> JSONObject | None:
    """Return the object inside ``value`` that says more of the error; None where there is none.

    An object inside an error that has a message of its own is a detail of it, not the error.
    """
    names: tuple[str, ...] = _WRAPPERS if outermost else ()
    message = _message(value)
    if not message:
        names = (*names, *_INNER_WRAPPERS)
    for name in names:
        if (inner := _object_in(_get(value, name), depth)) is not None:
            return inner
    nested = _nested(message, depth)
    if isinstance(nested, dict):
        return nested
    if not outermost:
        return None
    return _failed_base(value) or _object_in(value.get("detail"), depth)


def _object_in(value: JSON, depth: int) -> JSONObject | None:
    """Return the object that ``value`` is, begins with as a list, or holds as text; None for any other."""
    if isinstance(value, str):
        value = _nested(value, depth)
    if isinstance(value, list) and value and not (isinstance(value[0], dict) and "loc" in value[0]):
        value = value[0]
    return value if isinstance(value, dict) else None


def _message(value: JSONObject, deep: int = 2) -> str:
    """Return what the documented members for a message say."""
    members = {_plain(name): item for name, item in reversed(value.items())}
    for name in _MESSAGE:
        item = members.get(name)
        if isinstance(item, str) and item.strip():
            return foreign.whole(item)
        if isinstance(item, dict) and deep and (text := _message(item, deep - 1) or _error_text(item)):
            return text
        if isinstance(item, list) and (lines := [line for line in map(_complaint, item[:50]) if line]):
            return "; ".join(lines)
    return ""


def _error_text(value: JSONObject) -> str:
    """Return the text of a member ``error`` or ``errors`` that is no object."""
    for name in _WRAPPERS:
        item = _get(value, name)
        if isinstance(item, str) and item.strip():
            return foreign.whole(item)
        if isinstance(item, list) and (lines := [line for line in map(_complaint, item[:50]) if line]):
            return "; ".join(lines)
        if text := _errors_by_field(item):
            return text
    return ""


def _errors_by_field(errors: JSON) -> str:
    """Return the complaints of an object such as ``{"model": ["is unknown"]}``; empty for any other value."""
    if not isinstance(errors, dict) or not errors or not all(isinstance(texts, list) for texts in errors.values()):
        return ""
    pairs = [(name, texts) for name, texts in list(errors.items())[:50] if isinstance(texts, list)]
    return foreign.whole("; ".join(f"{name}: {text}" for name, texts in pairs for text in map(_complaint, texts[:9])))


def _complaint(item: JSON) -> str:
    """One entry of a list of validation errors: the place and the complaint."""
    if isinstance(item, str):
        return foreign.whole(item)
    if not isinstance(item, dict):
        return ""
    message = foreign.text_of(_get(item, "msg", "message"))
    place = item.get("loc")
    where = ".".join(map(foreign.text_of, place)) if isinstance(place, list) else ""
    return f"{where}: {message}" if where and message else message


def _message_at_any_depth(value: JSONObject, depth: int) -> str:
    """Return the text of the first member with a name like a message, the outer ones first."""
    waiting: deque[JSON] = deque([value])
    for _ in range(_MOST_VALUES):
        if not waiting:
            break
        item = waiting.popleft()
        if isinstance(item, list):
            waiting.extend(item[:_MOST_VALUES])
        elif isinstance(item, dict):
            if text := _message(item) or _message_like(item):
                return text
            waiting.extend(_nested(inner, depth) if isinstance(inner, str) else inner for inner in item.values())
    return ""


def _message_like(value: JSONObject) -> str:
    for name in _LIKE_A_MESSAGE:
        item = _get(value, name)
        texts = item[:50] if isinstance(item, list) else [item]
        if lines := [foreign.whole(text) for text in texts if isinstance(text, str) and text.strip()]:
            return "; ".join(lines)
    return ""


def _upstream(chain: list[JSONObject], depth: int) -> tuple[ErrorFields, str]:
    """Return the error of the provider behind a gateway, as OpenRouter passes it on, and the provider's name."""
    for value in chain:
        metadata = value.get("metadata")
        raw = metadata.get("raw") if isinstance(metadata, dict) else None
        if isinstance(metadata, dict) and raw and depth < _MOST_TEXTS:
            fields = text_fields(raw, depth + 1) if isinstance(raw, str) else error_fields(raw, depth + 1)
            if not fields.message:
                fields = replace(fields, message=foreign.whole(foreign.write(raw)[:_LONGEST_TEXT]))
            return fields, foreign.text_of(metadata.get("provider_name"))
    return ErrorFields(), ""


def _further_lines(chain: list[JSONObject], depth: int) -> Iterator[str]:
    """Yield what else a gateway says beside its message: complaints, reasons and the failed text."""
    for value in chain:
        yield _errors_by_field(value.get("errors"))
        metadata = value.get("metadata")
        reasons = metadata.get("reasons") if isinstance(metadata, dict) else None
        if isinstance(reasons, list) and reasons:
            yield f"Reasons: {', '.join(map(foreign.text_of, reasons[:20]))}"
        if isinstance(failed := value.get("failed_generation"), str) and failed:
            yield f"failed_generation: {foreign.whole(failed[:_LONGEST_TEXT])}"
        if isinstance(original := _get(value, "originalmessage"), str) and original:
            yield error_fields(original, depth + 1).message if depth < _MOST_TEXTS else foreign.whole(original)
        inner = _get(value, "innererror")
        if isinstance(inner, dict):
            yield _message(inner)
            yield filter_words(_get(inner, "contentfilterresult", "contentfilterresults"))
        details = value.get("details")
        for detail in details[:20] if isinstance(details, list) else ():
            violations = detail.get("fieldViolations") if isinstance(detail, dict) else None
            for item in violations[:20] if isinstance(violations, list) else ():
                if isinstance(item, dict) and (text := foreign.text_of(item.get("description"))):
                    field = foreign.text_of(item.get("field"))
                    yield f"{field}: {text}" if field else text


def _code(chain: list[JSONObject], fields: ErrorFields) -> JSON:
    for value in chain:
        if (code := _get(value, *_CODE)) is not None:
            return code
    for value in chain:
        slug = value.get("error")
        if isinstance(slug, str) and slug not in fields.message and _SLUG.fullmatch(slug):
            return slug
    return fields.code


def _type(chain: list[JSONObject]) -> str:
    inside = [item for item in chain[-1].values() if isinstance(item, dict) and "__type" in item][:1]
    for value in (*chain, *inside):
        kind = foreign.text_of(value.get("type"))
        kind = foreign.text_of(_get(value, "errortype")) if kind in ("", "error") else kind
        if kind:
            return kind
        if name := foreign.text_of(value.get("__type")):
            return name.rpartition("#")[2]
    status = next((text for value in chain if isinstance(text := value.get("status"), str)), "")
    return "" if status.isdigit() or not _SLUG.fullmatch(status) or status == "error" else foreign.whole(status)


def _status(value: JSONObject) -> int | None:
    for name in _STATUS:
        status = _get(value, name)
        if isinstance(status, str) and len(status) == 3 and status.isascii() and status.isdigit():
            status = int(status)
        if isinstance(status, int) and 400 <= status <= 599:
            return status
    return None


def _failed_base(value: JSONObject) -> JSONObject | None:
    """Return ``base_resp``, in which some vendors report errors; None where it reports success."""
    base = value.get("base_resp")
    return base if isinstance(base, dict) and base.get("status_code") not in (None, 0, "0") else None


# ---- texts -----------------------------------------------------------------------------------------------------------


def _parsed(text: str) -> JSON:
    try:
        return foreign.parse(text)
    except ValueError:
        return None


def _nested(text: str, depth: int) -> JSONObject | list[JSON] | None:
    """Return the object or list that a text holds as JSON; None for any other text."""
    if depth >= _MOST_TEXTS or len(text) > _NESTED_TEXT or text.lstrip()[:1] not in ("{", "["):
        return None
    value = _parsed(text)
    return value if isinstance(value, dict | list) else None


def _of_message(message: str, depth: int) -> ErrorFields:
    """Return the fields of a message; an error in JSON at its end is read."""
    return _with_prefix(message, depth) or _with_named_code(ErrorFields(message=message))


def _with_prefix(text: str, depth: int) -> ErrorFields | None:
    """Return the fields of an error that follows other words as JSON; None where there is none."""
    start = text.find("{", 0, _LONGEST_TEXT)
    if start <= 0 or depth >= _MOST_TEXTS or len(text) > _NESTED_TEXT or not text.rstrip().endswith(("}", "}'", '}"')):
        return None
    prefix = text[:start].rstrip()
    value = _nested(text[start:].rstrip().rstrip("'\""), depth)
    if not isinstance(value, dict):
        try:  # written with \n and \" as a part of a quoted text
            value = _nested(json.loads(f'"{text[start:].rstrip().rstrip(chr(39))}"'), depth)
        except ValueError:
            return None
    is_error = isinstance(value, dict) and (
        any(_plain(name) in _WRAPPERS for name in value) or {"code", "type", "status"} & value.keys()
    )
    fields = error_fields(value, depth + 1) if is_error else ErrorFields()
    prefix = foreign.whole(prefix.rstrip("b'\"").rstrip() if prefix.endswith(("b'", "'", '"')) else prefix)
    return replace(fields, message=f"{prefix} {fields.message}".strip()) if fields.message else None


def _with_named_code(fields: ErrorFields) -> ErrorFields:
    """Add the code and the type that a message quotes as ``'code': 'x'``."""
    named: dict[str, str] = dict(reversed(_NAMED_CODE.findall(fields.message[:_LONGEST_TEXT])))
    return replace(fields, code=named.get("code"), type=named.get("type", "")) if named else fields


def _first_of_lines(text: str, depth: int) -> ErrorFields:
    """Return the first error among the events of a stream, or among lines of JSON."""
    if _FRAMED.search(text) is None:
        texts = [line for line in text.split("\n") if line.strip()]  # JSON may have U+2028 in a text
    else:
        parser = SSEParser()
        frames = [*parser.parse_bytes(f"{text}\n\n".encode("utf-8", "replace")), *parser.close()]
        texts = [frame.data for frame in frames if frame.kind != "comment" and frame.data.strip()]
    if depth >= 2:
        return ErrorFields()
    errors = (text_fields(text, depth + 1) for text in texts[:50])
    return next((fields for fields in errors if fields.message not in ("", "[DONE]", "DONE")), ErrorFields())


def _page_message(page: str) -> str:
    if (xml := _XML_MESSAGE.search(page)) is not None:
        return foreign.whole(_words(xml[2]))
    titles: list[str] = []
    for match in _TITLE.finditer(page):
        words = _words(match.group(2))
        if words and words not in titles:
            titles.append(words)
    return foreign.whole(" – ".join(titles[:2]) or _words(_HIDDEN.sub(" ", page))[:300])


def _words(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def filter_words(results: JSON) -> str:
    """Return "Filtered: violence (medium), jailbreak" for results by category; empty where none was filtered.

    ``results`` is an object such as ``{"violence": {"filtered": true, "severity": "medium"}}``, or a list of objects
    that hold one (``prompt_filter_results``).
    """
    if isinstance(results, list):
        texts = [
            filter_words(item.get("content_filter_results", item)) for item in results[:20] if isinstance(item, dict)
        ]
        return next((text for text in texts if text), "")
    if not isinstance(results, dict):
        return ""
    names = []
    for name, result in list(results.items())[:50]:
        if isinstance(result, dict) and result.get("filtered") is True:
            severity = foreign.text_of(result.get("severity"))
            names.append(foreign.whole(name[:80]) + (f" ({severity[:40]})" if severity else ""))
    return f"Filtered: {', '.join(names)}" if names else ""
