"""Sign-in at a server (OAuth) in the person's browser, which is redirected to a loopback address of this process.

The library implements the protocol. The window stores the tokens in the keyring; nothing here writes a file.
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
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from pydantic import AnyUrl, BaseModel, ValidationError

from playground.domain.tool_servers import SIGN_IN_SECRETS
from playground.jsonkit.values import JSONObject
from playground.tool_host.report import ServerReport

M = TypeVar("M", bound=BaseModel)

_PATH: Final = "/callback"
_LONGEST_LINE: Final = 16_384  # bytes of the request line
_READ: Final = 10.0  # seconds to receive the request line
_PAGE: Final = "The sign-in is finished. This window can be closed; go back to Gateway Playground."
_REFUSED_PAGE: Final = "The sign-in was refused. This window can be closed; go back to Gateway Playground."


class SavedSignIn:
    """The tokens and the registration of the last sign-in, with the port they were requested for.

    It is the library's token storage. Set ``provider`` before the first request.
    """

    def __init__(self, report: ServerReport) -> None:
        self._report = report
        self._value: JSONObject = {}
        with suppress(ValueError, RecursionError):
            value = json.loads(report.saved_sign_in or "{}")
            self._value = value if isinstance(value, dict) else {}
        self._mask_secrets()
        self._provider: OAuthClientProvider | None = None

    def attach(self, provider: OAuthClientProvider) -> None:
        """Restore what the library does not load from its storage: the expiry of the token, and where to renew it."""
        # The attribute `context` is public and the only access to both: `TokenStorage` has no method for them.
        self._provider = provider
        expires = self._value.get("expires")
        provider.context.token_expiry_time = expires if isinstance(expires, int | float) else None
        provider.context.oauth_metadata = _read(OAuthMetadata, self._value.get("metadata"))

    @property
    def port(self) -> int:
        """The port that the browser was redirected to; 0 for none."""
        port = self._value.get("port")
        return port if isinstance(port, int) and 0 < port < 1 << 16 else 0

    def use_port(self, port: int) -> None:
        """Redirect the browser to this port. A registration for another port is of no use and dropped."""
        if port != self.port:
            self._value = {"port": port}

    async def get_tokens(self) -> OAuthToken | None:
        """Return the saved tokens."""
        return _read(OAuthToken, self._value.get("tokens"))

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Save tokens."""
        self._value["expires"] = time.time() + tokens.expires_in if tokens.expires_in else None
        metadata = self._provider.context.oauth_metadata if self._provider is not None else None
        self._value["metadata"] = metadata.model_dump(mode="json", exclude_none=True) if metadata is not None else None
        self._save("tokens", tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the saved registration of this application."""
        return _read(OAuthClientInformationFull, self._value.get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Save a registration."""
        self._save("client", client_info)

    def _save(self, name: str, value: BaseModel) -> None:
        self._value[name] = value.model_dump(mode="json", exclude_none=True)
        self._mask_secrets()
        self._report.save_sign_in(json.dumps(self._value))

    def _mask_secrets(self) -> None:
        fields = [field for part in ("tokens", "client") for field in (self._value.get(part) or {}).items()]
        self._report.mask.add(value for name, value in fields if name in SIGN_IN_SECRETS and isinstance(value, str))


def _read(kind: type[M], value: object) -> M | None:
    try:
        return kind.model_validate(value) if value is not None else None
    except ValidationError:
        return None


class _RedirectListener:
    """Receives the browser's redirects, and answers each with a page."""

    def __init__(self) -> None:
        self._results: asyncio.Queue[AuthorizationCodeResult] = asyncio.Queue(1)

    async def listen(self, port: int) -> asyncio.Server:
        """Listen on this port, or on a free one if it is in use."""
        try:
            return await asyncio.start_server(self._serve, "127.0.0.1", port, limit=_LONGEST_LINE)
        except OSError:
            return await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_LONGEST_LINE)

    def clear(self) -> None:
        """Forget earlier redirects."""
        while not self._results.empty():
            self._results.get_nowait()

    async def result(self) -> AuthorizationCodeResult:
        """Return the parameters of the next redirect."""
        return await self._results.get()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, ValueError):
            line = await asyncio.wait_for(reader.readline(), _READ)
            words = line[:_LONGEST_LINE].decode("ascii", "replace").split(" ")
            url = urlsplit(words[1]) if len(words) > 1 else urlsplit("")
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            is_redirect = words[0] == "GET" and url.path == _PATH and "state" in query
            if is_redirect and not self._results.full():
                result = AuthorizationCodeResult(code=query.get("code", ""), state=query["state"], iss=query.get("iss"))
                self._results.put_nowait(result)
            page = (_PAGE if "code" in query else _REFUSED_PAGE) if is_redirect else "There is nothing here."
            head = f"HTTP/1.1 {'200 OK' if is_redirect else '404 Not Found'}\r\nContent-Type: text/plain; charset=utf-8"
            writer.write(f"{head}\r\nContent-Length: {len(page)}\r\nConnection: close\r\n\r\n{page}".encode())
            await writer.drain()
        writer.close()


@asynccontextmanager
async def sign_in(report: ServerReport) -> AsyncIterator[OAuthClientProvider]:
    """Yield the authentication of requests, which adds the token and requests one where necessary."""
    saved, listener = SavedSignIn(report), _RedirectListener()
    server = await listener.listen(saved.port)
    port = server.sockets[0].getsockname()[1]
    saved.use_port(port)

    async def open_page(url: str) -> None:
        listener.clear()
        report.open_browser(url)

    async def wait_for_redirect() -> AuthorizationCodeResult:
        try:
            return await listener.result()
        finally:
            report.is_signing_in = False

    metadata = OAuthClientMetadata(
        redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}{_PATH}")],
        client_name="Gateway Playground",
        token_endpoint_auth_method="none",
    )
    async with server:
        provider = OAuthClientProvider(report.server.url, metadata, saved, open_page, wait_for_redirect)
        saved.attach(provider)
        yield provider
