"""Requests copied from other programs: an HTTP archive, fetch(), the text of HTTP. Nothing is executed.

``name_program`` names kinds of text that cannot be read, and an alternative.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Final
from urllib.parse import urlsplit

from playground.engine.requests.curl import Command
from playground.jsonkit.foreign import text_of
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import MESSAGES
from playground.system.loopback import is_loopback_name

_FETCH: Final = re.compile(r'\s*(?:\w+\s+\w+\s*=\s*)?(?:await\s+)?fetch\(\s*(?P<url>"(?:[^"\\]|\\.)*")\s*,\s*(?=\{)')
_HTTP: Final = re.compile(r"(?P<method>POST|PUT|PATCH)[ \t]+(?P<url>\S+)(?:[ \t]+HTTP/[0-9.]+)?[ \t]*(?:\n|\Z)")
_HEADER: Final = re.compile(r"(?P<name>[\w!#$%&'*+.^`|~-]+):[ \t]*(?P<value>.*)")
_BROWSER: Final = "In a browser's network list, choose “Copy as cURL”."
#: Patterns of other kinds of text, and what to paste instead.
_PROGRAMS: Final = (
    (r"(?im)^\W*(?:\$\w+\s*=\s*)?(?:Invoke-RestMethod|Invoke-WebRequest|irm|iwr)\b", f"This is PowerShell. {_BROWSER}"),
    (r"(?m)^\s*\$\w+\s*=\s*(?:@\{|New-Object)", f"This is PowerShell. {_BROWSER}"),
    (
        r"(?m)^\W*(?:https?|xhs?)[ \t]+(?:-|POST\b|PUT\b|:|[\w.-]+[:/])",
        "This is an HTTPie command. Run it with --offline, and paste the HTTP text that it prints.",
    ),
    (r"(?m)^\W*wget\b", "This is a wget command. Write it for curl, or paste the JSON of its body."),
    (
        r"(?m)^\s*(?:import|from)[ \t]+\w[\w. ]*$|\b(?:requests|httpx)\.\w+\(|\bclient\.(?:chat|messages|responses)\.",
        "This is Python, which is not run. Paste the JSON that it sends, or a curl command.",
    ),
    (
        r"(?m)^\s*(?:import\b.*['\"];?$|(?:const|let|var)\b|await\b|fetch\(|axios\b|\$\.ajax)",
        f"This is JavaScript, which is not run. {_BROWSER}",
    ),
    (r"(?m)^GET[ \t]+\S+", "This is a GET request, which sends no body. Paste the request that sends the messages."),
)


def name_program(text: str) -> str:
    """Return a sentence on the kind of a text and what to paste instead; empty for unknown kinds."""
    return next((words for pattern, words in _PROGRAMS if re.search(pattern, text[:20_000])), "")


def is_archive(value: JSON) -> bool:
    """Return whether a value is an HTTP archive (HAR), or one of its entries."""
    if not isinstance(value, dict):
        return False
    log = value.get("log")
    return (isinstance(log, dict) and isinstance(log.get("entries"), list)) or _is_entry(value)


def _is_entry(value: JSON) -> bool:
    request = value.get("request") if isinstance(value, dict) else None
    return isinstance(request, dict) and "url" in request and "method" in request


def read_archive(value: JSONObject) -> Command:
    """Return the last request to a model in an HTTP archive. Raises ValueError if there is none."""
    entries = [value] if _is_entry(value) else value["log"]["entries"]
    requests = [entry["request"] for entry in entries if _is_entry(entry)]
    bodies = [(request, _body_of(request)) for request in requests]
    matches = [(request, body) for request, body in bodies if _holds_messages(body)]
    if not matches:
        raise ValueError(
            f"This HTTP archive has {len(requests):,} requests, and none of them sends “messages” as JSON. Record the "
            "page again while a message is sent, and save it with its content."
        )
    request, body = matches[-1]
    listed = request.get("headers")
    headers = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    pairs = [(text_of(item.get("name")), text_of(item.get("value"))) for item in headers]
    command = Command(text_of(request["url"]), text_of(request["method"]).upper(), body=body)
    command.headers = [(name, content) for name, content in pairs if name and not name.startswith(":")]
    if len(matches) > 1:
        command.notes.append(f"The archive has {len(matches):,} requests with messages; the last one was read.")
    return command


def _body_of(request: JSONObject) -> str:
    data = request.get("postData")
    text = text_of(data.get("text")) if isinstance(data, dict) else ""
    if text and isinstance(data, dict) and data.get("encoding") == "base64":
        try:
            return base64.b64decode(text).decode("utf-8", "replace")
        except (ValueError, binascii.Error):
            return ""
    return text


def _holds_messages(text: str) -> bool:
    if f'"{MESSAGES}"' not in text:
        return False
    try:
        body = parse_json(text)
    except ValueError:
        return False
    return isinstance(body, dict) and MESSAGES in body


def read_fetch(text: str) -> Command | None:
    """Return the request of a ``fetch()`` copied from a browser; None for other texts and for code with variables."""
    opening = _FETCH.match(text)
    if opening is None:
        return None
    try:
        options = json.JSONDecoder().raw_decode(text, opening.end())[0]
        url = json.loads(opening["url"])
    except (ValueError, RecursionError):
        return None
    headers = options.get("headers")
    body = options.get("body")
    command = Command(url, text_of(options.get("method")).upper(), body=body if isinstance(body, str) else None)
    command.headers = [(name, text_of(value)) for name, value in headers.items()] if isinstance(headers, dict) else []
    return command


def read_http(text: str) -> Command | None:
    """Return the request in the text of HTTP or of a REST client's file; None for other texts."""
    lines = "\n".join(line for line in text.replace("\r\n", "\n").split("\n") if not line.startswith("###"))
    first = _HTTP.match(lines.lstrip())
    if first is None:
        return None
    head, _, body = lines.lstrip()[first.end() :].partition("\n\n")
    if head.lstrip().startswith(("{", "[")):
        head, body = "", head
    command = Command(first["url"], first["method"], body=body.strip() or None)
    command.headers = [
        (header["name"], header["value"].strip()) for header in map(_HEADER.match, head.split("\n")) if header
    ]
    if "://" not in command.url:
        host = next((value for name, value in command.headers if name.lower() == "host"), "")
        local = bool(host) and is_loopback_name(urlsplit(f"//{host}").hostname or "")
        command.url = f"http{'' if local else 's'}://{host}{command.url}" if host else ""
    return command
