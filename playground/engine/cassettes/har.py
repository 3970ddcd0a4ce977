"""Exchanges as an HTTP archive (HAR 1.2) for browsers and proxies, without secrets.

The format has one time for a whole body; the additional member ``_reads`` has the time of each read.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

from playground import __version__
from playground.engine.cassettes.cassette import CassetteError
from playground.engine.gateways.redaction import redacted_reads, redactor_of
from playground.engine.gateways.secrets import Secret
from playground.gateway.redact import Redactor
from playground.gateway.tape import Exchange, Headers
from playground.jsonkit.values import JSONObject


def write(exchanges: Iterable[Exchange], secrets: Iterable[Secret] = ()) -> bytes:
    """Return the archive, without the secrets of this process.

    Raises CassetteError for an exchange whose bodies are no longer in memory, and without any exchange.
    """
    redactor = redactor_of(secrets)
    entries = [_entry(exchange, redactor) for exchange in exchanges]
    if not entries:
        raise CassetteError("There is no exchange to export. Run the conversation first.")
    log = {"version": "1.2", "creator": {"name": "Gateway Playground", "version": __version__}, "entries": entries}
    text = json.dumps({"log": log}, ensure_ascii=False, indent=1)
    return redactor.text(text).encode("utf-8", "backslashreplace")


def _entry(exchange: Exchange, redactor: Redactor) -> JSONObject:
    if exchange.dropped:
        raise CassetteError("The bodies of an exchange were removed to save memory, so it cannot be exported any more.")
    reads = list(redacted_reads(exchange, redactor))
    entry: JSONObject = {
        "startedDateTime": datetime.fromtimestamp(exchange.started_at, UTC).isoformat(timespec="milliseconds"),
        "time": _milliseconds(exchange.ended or 0.0),
        "request": _request(exchange, redactor),
        "response": _response(exchange, b"".join(read.data for read in reads), redactor),
        "cache": {},
        "timings": _timings(exchange),
        "_reads": [[_milliseconds(read.time), len(read.data)] for read in reads],
    }
    if exchange.failure is not None:
        entry["comment"] = redactor.text(exchange.failure.message)
    return entry


def _request(exchange: Exchange, redactor: Redactor) -> JSONObject:
    url = redactor.text(exchange.url)
    body = redactor.data(exchange.request_body)
    request: JSONObject = {
        "method": exchange.method,
        "url": url,
        "httpVersion": exchange.http_version or "HTTP/1.1",
        "cookies": [],
        "headers": _headers(redactor.headers(exchange.request_headers)),
        "queryString": [{"name": name, "value": value} for name, value in parse_qsl(urlsplit(url).query, True)],
        "headersSize": -1,
        "bodySize": len(body),
    }
    if body:
        kind = next((value for name, value in exchange.request_headers if name.lower() == "content-type"), "")
        request["postData"] = {"mimeType": kind, "text": body.decode("utf-8", "replace")}
    return request


def _response(exchange: Exchange, body: bytes, redactor: Redactor) -> JSONObject:
    content: JSONObject = {"size": len(body), "mimeType": exchange.content_type or ""}
    try:
        content["text"] = body.decode()
    except UnicodeDecodeError:
        content |= {"text": base64.b64encode(body).decode(), "encoding": "base64"}
    return {
        "status": exchange.status or 0,
        "statusText": redactor.text(exchange.reason),
        "httpVersion": exchange.http_version or "HTTP/1.1",
        "cookies": [],
        "headers": _headers(redactor.headers(exchange.response_headers)),
        "content": content,
        "redirectURL": redactor.text(exchange.response_header("location") or ""),
        "headersSize": -1,
        "bodySize": exchange.wire_bytes,
    }


def _timings(exchange: Exchange) -> JSONObject:
    """Return the phases in milliseconds; -1 for those that did not take place or were not measured."""
    connected, ended = exchange.connected, exchange.ended or 0.0
    sent = exchange.sent if exchange.sent is not None else connected or 0.0
    answered = exchange.answered if exchange.answered is not None else ended
    return {
        "blocked": -1,
        "dns": -1,
        "connect": -1 if connected is None else _milliseconds(connected),
        "ssl": -1,
        "send": _milliseconds(sent - (connected or 0.0)),
        "wait": _milliseconds(answered - sent),
        "receive": _milliseconds(ended - answered),
    }


def _headers(pairs: Headers) -> list[JSONObject]:
    return [{"name": name, "value": value} for name, value in pairs]


def _milliseconds(seconds: float) -> float:
    return round(max(seconds, 0.0) * 1000, 3)
