"""Requests in pasted text: a curl command, an HTTP archive, fetch(), HTTP, or a JSON body of any protocol.

Members without a field go into the extra body and headers; notes name everything that is left out. Secrets are
separated, and no note, error or repr shows one. Nothing is executed, opened or sent.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlsplit

from playground.domain.request import Request
from playground.engine.gateways.secrets import Secret, looks_secret, secret_in
from playground.engine.requests.curl import Command, is_curl, placeholder, read_command
from playground.engine.requests.message_shapes import read_record, wrapped
from playground.engine.requests.request_file import BadInputError, read_request
from playground.engine.requests.shell_words import Expansions
from playground.gateway.address import repair
from playground.gateway.connection import Auth
from playground.gateway.prepared_request import header_problem
from playground.gateway.redact import MASK
from playground.jsonkit.foreign import text_of
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.protocol import (
    body_of_answer,
    conversation_in,
    get_protocol,
    protocol_at,
    protocol_of,
    with_messages,
)
from playground.protocols.reading import MessageError
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
    bodies = [(request, _posted_text(request)) for request in requests]
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


def _posted_text(request: JSONObject) -> str:
    data = request.get("postData")
    text = text_of(data.get("text")) if isinstance(data, dict) else ""
    if text and isinstance(data, dict) and data.get("encoding") == "base64":
        try:
            return base64.b64decode(text).decode("utf-8", "replace")
        except (ValueError, binascii.Error):
            return ""
    return text


def _holds_messages(text: str) -> bool:
    try:
        body = parse_json(text)
    except ValueError:
        return False
    return isinstance(body, dict) and bool(conversation_in(body))


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


class ImportRefusedError(ValueError):
    """A text cannot be imported; the error gives the reason and a remedy, and shows no secret.

    ``message`` is the number of the invalid message, counted from 1; 0: no message is invalid.
    """

    def __init__(self, words: str, message: int = 0) -> None:
        self.message = message
        super().__init__(words)


@dataclass(frozen=True)
class Imported:
    """An imported request.

    ``source`` is the kind of text. ``base_url`` is empty if the text has no address. ``auth`` is the header that had
    the key. ``notes`` are sentences on guesses and on members left out.
    """

    request: Request
    base_url: str = ""
    key: Secret | None = None
    auth: Auth | None = None
    secret_headers: dict[str, Secret] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    source: str = "a JSON body"


def is_command(text: str) -> bool:
    """Return whether a text is a command or HTTP, rather than JSON."""
    return not _is_body(text) and (is_curl(text) or _copied(text) is not None)


def _is_body(text: str) -> bool:
    """Return whether a text begins like JSON, and not like the prompt ``[user@host folder]$``."""
    return text.startswith(("{", "[")) and not re.match(r"\[[\w.-]+@[^\]\n]{0,200}\][$#%>][ \t]", text)


def _copied(text: str) -> tuple[Command, str] | None:
    """Return a request copied from a program and the kind of text; None for other texts."""
    if (command := read_fetch(text)) is not None:
        return command, "a browser's fetch()"
    if (command := read_http(text)) is not None:
        return command, "the text of HTTP"
    return None


def unfenced(text: str) -> str:
    """Return the content of a text that is a single Markdown code fence; other texts unchanged."""
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text[text.index("\n") + 1 : -3].strip()
    return text


def read(text: str) -> Imported:
    """Return the request in a text. Raises ImportRefusedError."""
    plain = unfenced(text.strip().lstrip("\ufeff").strip())
    if not plain:
        raise ImportRefusedError("There is nothing to import. Paste a curl command or the JSON body of a request.")
    try:
        if _is_body(plain):
            value = _json(plain)
            return _from_command(read_archive(value), "an HTTP archive") if is_archive(value) else _from_body(value)
        if (copied := _copied(plain)) is not None:
            return _from_command(*copied)
        if is_curl(plain):
            return _from_command(read_command(plain), "a curl command")
    except ImportRefusedError:
        raise
    except ValueError as error:
        raise ImportRefusedError(_sentence(str(error))) from None
    why = name_program(plain) or "This is neither a curl command nor JSON. Paste one of the two."
    raise ImportRefusedError(why)


# ---- bodies ----------------------------------------------------------------------------------------------------------


def _json(text: str) -> JSONObject:
    """Return the body in a text; a list is read as its messages. Raises ImportRefusedError."""
    try:
        value: JSON = parse_json(text)
    except ValueError as error:
        raise ImportRefusedError(f"The body is not JSON: {error}.") from None
    if isinstance(value, list):
        value = with_messages(value)
    if not isinstance(value, dict):
        raise ImportRefusedError("The body must be a JSON object with “model” and “messages”.")
    return value


def read_body(body: JSONObject, prefer: str = DEFAULT) -> Imported:
    """Return the request in a body of any protocol; without a sign of one, that of ``prefer``.

    Raises ImportRefusedError.
    """
    if "playground" in body:  # the application's own file, pasted
        try:
            return Imported(read_request(body))
        except BadInputError as error:
            raise ImportRefusedError(_sentence(str(error))) from None
    protocol, is_sure = protocol_of(body)
    member = conversation_in(body)
    candidates = [name for name in (prefer, *PROTOCOLS) if get_protocol(name).conversation[-1] == member] or [prefer]
    request, notes = _request(protocol if is_sure else candidates[0], body)
    return Imported(request, notes=tuple(notes))


def _from_body(body: JSONObject) -> Imported:
    if not conversation_in(body) and (name := wrapped(body)) is not None and conversation_in(body[name]):
        imported = _from_body(body[name])
        others = ", ".join(f"“{member}”" for member in body if member != name)
        note = f"The request is “{name}” of a batch; left out: {others or 'none'}."
        return replace(imported, notes=(*imported.notes, note))
    if (answer := body_of_answer(body)) is not None:
        note = "A response was read: the request that sends it back."
        imported = read_body(answer)
        return replace(imported, notes=(note, *imported.notes))
    imported = read_body(body)
    if "playground" in body or protocol_of(body)[1]:
        return imported
    return replace(imported, notes=(_guess(imported.request.protocol), *imported.notes))


def _guess(protocol: str) -> str:
    return f"Read as {get_protocol(protocol).title}: nothing in it belongs to one protocol alone."


def _request(protocol: str, body: JSONObject) -> tuple[Request, list[str]]:
    if get_protocol(protocol).conversation[-1] not in body:
        foreign = next((name for name in ("input", "prompt", "contents") if name in body), "")
        about = f" It has “{foreign}”, which belongs to a protocol that is not spoken here." if foreign else ""
        if read_record(body) is not None:
            about += " “Import messages” reads its conversation."
        raise ImportRefusedError(f"The body has no “messages”.{about}")
    try:
        request, read_notes = get_protocol(protocol).read_body(body)
    except ValueError as error:
        number = error.number if isinstance(error, MessageError) else 0
        raise ImportRefusedError(_sentence(str(error)), number) from None
    notes = list(read_notes)
    if not request.model:
        notes.append(NO_MODEL)
    if secret := [name for name, value in request.extra_body.items() if secret_in({name: value})]:
        plain = {name: value for name, value in request.extra_body.items() if name not in secret}
        request = request.model_copy(update={"extra_body": plain})
        names = ", ".join(f"“{name}”" for name in secret)
        notes.append(f"{names} in the body looks like a key and was left out. Keys belong into the gateway's settings.")
    elif request.extra_body:
        notes.append(f"Kept in the extra body: {', '.join(request.extra_body)}.")
    return request, notes


NO_MODEL: Final = "No model is named; choose one."


# ---- commands --------------------------------------------------------------------------------------------------------

#: Headers that the application sets itself, or that describe the browser.
_DROPPED: Final = re.compile(
    r"(?:accept(?:-.*)?|connection|content-length|content-type|host|origin|referer|cookie|priority|te|dnt|cache-control"
    r"|pragma|transfer-encoding|expect|sec-.*|x-stainless-.*)",
    re.IGNORECASE,
)
_VARIABLE: Final = re.compile(r"\$(?:\w+|\{\w+\}|env:\w+)|%\w+%")
_PLACEHOLDER: Final = re.compile(
    r"<.*>|\[.*\]|\{.*\}|(?:sk-)?[x*•]{3,}|.*\.{3}|.*…|your[-_ ].*"
    r"|(?:my[-_ ])?(?:api[-_ ]?)?(?:key|token)(?:[-_ ]here)?",
    re.IGNORECASE,
)


def _from_command(command: Command, source: str) -> Imported:
    if command.body is None:
        raise ImportRefusedError("The command sends no body. Copy it with its data (-d or --data-raw).")
    notes: list[str] = []
    base_url, endpoint, basic = _address(command, notes)
    body = _body_of(command)
    secrets = _Secrets(command.expansions, notes)
    extra, by_header = _read_headers(command, basic, secrets, notes)
    protocol, is_sure = protocol_of(body)
    if endpoint:
        protocol = endpoint
    elif not is_sure and by_header:
        protocol = by_header
    elif not is_sure:
        notes.append(_guess(protocol))
    request, more = _request(protocol, body)
    in_model = [name for name in command.body_expansions if placeholder(name) in request.model]
    if in_model:
        request = request.model_copy(update={"model": ""})
        notes.append(f"The model is {listed(in_model)}, which only the shell knows. Choose one.")
    notes += (
        f"{name} in the body is known to the shell alone: {placeholder(name)} is in its place. Write its value there."
        for name in command.body_expansions
        if name not in in_model
    )
    return Imported(
        request=request.model_copy(update={"extra_headers": extra}),
        base_url=base_url,
        key=secrets.key,
        auth=secrets.auth,
        secret_headers=secrets.headers,
        notes=(*notes, *more, *command.notes),
        source=source,
    )


def _body_of(command: Command) -> JSONObject:
    """Return the body of a command. Raises ImportRefusedError."""
    text = command.body or ""
    try:
        return _json(text)
    except ImportRefusedError as error:
        if '\\"' in text:
            return _json(text.replace('\\"', '"'))  # Windows PowerShell wants quotation marks escaped a second time
        if command.body_expansions:
            names = listed(list(command.body_expansions))
            raise ImportRefusedError(
                f"{error} {names} in it is known to the shell alone. Write its value in its place."
            ) from None
        raise


def _read_headers(command: Command, basic: str, secrets: _Secrets, notes: list[str]) -> tuple[dict[str, str], str]:
    """Return the extra headers, and the protocol that a header belongs to. Secrets are added to ``secrets``."""
    extra: dict[str, str] = {}
    dropped: list[str] = []
    protocols = [get_protocol(name) for name in PROTOCOLS]
    ours = {name: value for protocol in protocols for name, value in protocol.key_headers.items()}
    by_header = ""
    for name, value in ([("Authorization", basic)] if basic else []) + command.headers:
        by_header = by_header or next((it.name for it in protocols if name.lower() in it.marks.headers), "")
        in_value = command.expansions.names_in(value)
        if in_name := command.expansions.names_in(name):
            notes.append(f"A header whose name is {listed(in_name)} was left out: only the shell knows it.")
        elif _DROPPED.fullmatch(name) or value == ours.get(name.lower()):
            if name.lower() == "content-type" and "json" not in value.lower():
                notes.append("The Content-Type was left out: requests go out as application/json.")
            elif name.lower() not in ("content-type", *ours):
                dropped.append(name)
        elif looks_secret(name, value):
            secrets.add(name, value)
        elif in_value:
            notes.append(f"The header {name} is {listed(in_value)}, which only the shell knows. It was left out.")
        elif problem := header_problem(name, value):
            notes.append(f"{problem} It was left out.")
        else:
            _add_header(extra, name, value)
    if dropped:
        notes.append(f"Headers left out, because they are set here or belong to a browser: {', '.join(dropped)}.")
    return extra, by_header


def _add_header(headers: dict[str, str], name: str, value: str) -> None:
    """Add a header; values of one name are joined by commas (RFC 9110, section 5.3)."""
    key = next((earlier for earlier in headers if earlier.lower() == name.lower()), name)
    headers[key] = f"{headers[key]}, {value}" if key in headers else value


class _Secrets:
    """Collects the key and other secret headers, without placeholders and shell expansions."""

    def __init__(self, expansions: Expansions, notes: list[str]) -> None:
        self._expansions = expansions
        self.key: Secret | None = None
        self.auth: Auth | None = None
        self.headers: dict[str, Secret] = {}
        self._notes = notes

    def add(self, name: str, value: str) -> None:
        lowered = name.lower()
        scheme, _, token = value.partition(" ")
        if lowered == "authorization" and scheme.lower() == "bearer":
            self._key(Auth.BEARER, token.strip(), name)
        elif lowered == "x-api-key":
            self._key(Auth.X_API_KEY, value, name)
        elif not self._is_blank(token.strip() or value, name):
            self.headers[name] = Secret(value)

    def _key(self, auth: Auth, value: str, name: str) -> None:
        self.auth = auth if self.auth in (None, auth) else Auth.BOTH
        if self._is_blank(value, "key"):
            return
        if self.key is not None and self.key.get_secret_value() != value:
            self.headers[name] = Secret(value if auth is Auth.X_API_KEY else f"Bearer {value}")
            self._notes.append(f"Two different keys were found; the one under {name} is kept as a header.")
            self.auth = Auth.X_API_KEY if auth is Auth.BEARER else Auth.BEARER
            return
        self.key = Secret(value)

    def _is_blank(self, value: str, name: str) -> bool:
        what = "The key" if name == "key" else f"The value of {name}"
        unknown = self._expansions.names_in(value) or ([value] if _VARIABLE.fullmatch(value) else [])
        if unknown:
            self._notes.append(f"{what} is {listed(unknown)}, which only the shell knows. Enter it yourself.")
        elif not value or MASK in value or _PLACEHOLDER.fullmatch(value):
            self._notes.append(f"{what} is a stand-in. Enter it yourself.")
        else:
            return False
        return True


def _address(command: Command, notes: list[str]) -> tuple[str, str, str]:
    """Return the base URL, the protocol of the endpoint, and an Authorization header for a user and password."""
    url = command.url
    if not url:
        notes.append("The command names no address.")
        return "", "", ""
    basic = ""
    path = re.split(r"[?#]", url)[0].rstrip("/")
    endpoint = protocol_at(path)
    address = url.split("?")[0]
    variable = _VARIABLE.search(address)
    if names := command.expansions.names_in(address) or ([variable[0]] if variable else []):
        notes.append(f"The address is in {listed(names)}, which only the shell knows. Enter it yourself.")
        return "", endpoint, ""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        if "@" in parts.netloc:
            user = parts.netloc.rpartition("@")[0].encode("utf-8", "replace")
            basic = f"Basic {base64.b64encode(user).decode()}"
            url = url.replace(f"{parts.netloc.rpartition('@')[0]}@", "", 1)
        base, repairs = repair(url)
    except ValueError as error:
        notes.append(f"The address was left out. {_sentence(str(error))}")
        return "", endpoint, basic
    if any("“?”" in words for words in repairs):
        notes.append("The part of the address from “?” on was left out.")
    last = urlsplit(base).path.rpartition("/")[2]
    if not endpoint and not re.fullmatch(r"v\d\w*|", last) and not any("removed /" in words for words in repairs):
        notes.append(f"The address ends in “/{last}”, which is no endpoint known here; it was taken for the base URL.")
    return base, endpoint, basic


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
