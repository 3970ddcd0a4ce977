"""Refuses requests whose end can be read in two ways, and closes their connection (RFC 9112, section 6.3).

A proxy that reads such a request in the other way takes its end for the next request: request smuggling.
"""

from __future__ import annotations

from typing import Any, Final

from playground.demo.problems import INVALID, ApiError
from playground.demo.rendering import to_json
from playground.system.loopback import ambiguous_length

_TYPE: Final = (b"content-type", b"application/json")
_CLOSE: Final = (b"connection", b"close")


class RefusesAmbiguousLength:
    """An ASGI application that answers such requests with 400, and leaves all others to ``application``."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        names = [name.decode("latin-1") for name, _ in scope.get("headers", ())]
        refused = ambiguous_length(names, scope.get("http_version", "1.1")) if scope["type"] == "http" else ""
        if not refused:
            await self._application(scope, receive, send)
            return
        data = to_json(ApiError(400, INVALID, refused).body())
        headers = [_TYPE, _CLOSE, (b"content-length", str(len(data)).encode())]
        await send({"type": "http.response.start", "status": 400, "headers": headers})
        await send({"type": "http.response.body", "body": data})
