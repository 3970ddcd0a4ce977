"""Signing in at a server (OAuth) in the person's browser, which comes back to a loopback address of this process.

The library does the protocol. What it is given is kept by the window, in the keyring; nothing here writes a file.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeVar
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from pydantic import AnyUrl, BaseModel, ValidationError

from playground.domain.tool_servers import SIGN_IN_SECRETS
from playground.jsonkit.values import JSONObject
from playground.tool_host.owner import Owner

M = TypeVar("M", bound=BaseModel)

_PATH: Final = "/callback"
_LINE: Final = 16_384  # bytes of a request that are read
_PATIENCE: Final = 10.0  # seconds in which a browser has to say what it wants
_PAGE: Final = "The sign-in is finished. This window can be closed; go back to Gateway Playground."
_REFUSED: Final = "The sign-in was refused. This window can be closed; go back to Gateway Playground."


class Kept:
    """What was given at the last sign-in, and the address it was asked for under."""

    def __init__(self, connection: Owner) -> None:
        self._connection = connection
        self._value: JSONObject = {}
        with suppress(ValueError, RecursionError):
            value = json.loads(connection.signed_in or "{}")
            self._value = value if isinstance(value, dict) else {}
        self._hide()
        self._context: OAuthContext | None = None

    def serve(self, context: OAuthContext) -> None:
        """Have the library know what it does not ask for: when the token runs out, and where a new one is had."""
        self._context = context
        expires = self._value.get("expires")
        context.token_expiry_time = expires if isinstance(expires, int | float) else None
        context.oauth_metadata = _read(OAuthMetadata, self._value.get("metadata"))

    @property
    def port(self) -> int:
        """The port of the address that the browser came back to; 0 for none."""
        port = self._value.get("port")
        return port if isinstance(port, int) and 0 < port < 1 << 16 else 0

    def use(self, port: int) -> None:
        """The browser comes back to this port: what was given for another one is of no use but its token."""
        if port != self.port:
            self._value = {"port": port}

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens, if there are any."""
        return _read(OAuthToken, self._value.get("tokens"))

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep these from now on."""
        self._value["expires"] = time.time() + tokens.expires_in if tokens.expires_in else None
        found = self._context.oauth_metadata if self._context is not None else None
        self._value["metadata"] = found.model_dump(mode="json", exclude_none=True) if found is not None else None
        self._keep("tokens", tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """As whom this application is registered."""
        return _read(OAuthClientInformationFull, self._value.get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep this from now on."""
        self._keep("client", client_info.model_dump(mode="json", exclude_none=True))

    def _keep(self, name: str, value: JSONObject) -> None:
        self._value[name] = value
        self._hide()
        self._connection.keep(json.dumps(self._value))

    def _hide(self) -> None:
        known = [value for part in ("tokens", "client") for value in (self._value.get(part) or {}).items()]
        self._connection.mask.add(value for name, value in known if name in SIGN_IN_SECRETS and isinstance(value, str))


def _read(kind: type[M], value: object) -> M | None:
    try:
        return kind.model_validate(value) if value is not None else None
    except ValidationError:
        return None


@asynccontextmanager
async def sign_in(connection: Owner) -> AsyncIterator[OAuthClientProvider]:
    """What puts the token into requests, and gets one where it has to."""
    kept = Kept(connection)
    came: asyncio.Queue[AuthorizationCodeResult] = asyncio.Queue(1)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, ValueError):
            line = await asyncio.wait_for(reader.readline(), _PATIENCE)
            words = line[:_LINE].decode("ascii", "replace").split(" ")
            address = urlsplit(words[1]) if len(words) > 1 else urlsplit("")
            given = {name: values[0] for name, values in parse_qs(address.query).items()}
            wanted = words[0] == "GET" and address.path == _PATH and "state" in given
            if wanted and not came.full():
                result = AuthorizationCodeResult(code=given.get("code", ""), state=given["state"], iss=given.get("iss"))
                came.put_nowait(result)
            page = (_PAGE if "code" in given else _REFUSED) if wanted else "There is nothing here."
            head = f"HTTP/1.1 {'200 OK' if wanted else '404 Not Found'}\r\nContent-Type: text/plain; charset=utf-8"
            writer.write(f"{head}\r\nContent-Length: {len(page)}\r\nConnection: close\r\n\r\n{page}".encode())
            await writer.drain()
        writer.close()

    async def listen(port: int) -> asyncio.Server:
        return await asyncio.start_server(answer, "127.0.0.1", port, limit=_LINE)

    try:
        server = await listen(kept.port)
    except OSError:  # somebody else has that port now
        server = await listen(0)
    port = server.sockets[0].getsockname()[1]
    kept.use(port)

    async def show(url: str) -> None:
        while not came.empty():
            came.get_nowait()
        connection.browse(url)

    async def wait() -> AuthorizationCodeResult:
        try:
            return await came.get()
        finally:
            connection.signing = False

    metadata = OAuthClientMetadata(
        redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}{_PATH}")],
        client_name="Gateway Playground",
        token_endpoint_auth_method="none",
    )
    async with server:
        provider = OAuthClientProvider(connection.server.url, metadata, kept, show, wait)
        kept.serve(provider.context)
        yield provider
