"""A tool server over Streamable HTTP with an authorisation server of its own, written from the specifications alone.

``RemoteToolServer`` serves both on one loopback port: discovery, registration, consent without a person, tokens with
proof keys and refresh. What is asked of its tools goes wrong in the way that the tool is called. It notes what it saw.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import secrets
import socket
import threading
import time
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

NEWEST = "2026-07-28"  # the version of the protocol without a handshake
HUGE = 40_000_000  # characters of an answer that is too long


class RemoteToolServer:
    """``key`` is what a client has to send as ``X-Key``; ``oauth`` that it has to sign in.

    ``stateless``: no handshake, each request has to name its client, and the tool "say" asks back first.
    """

    def __init__(self, *, oauth: bool = False, key: str = "", stateless: bool = False) -> None:
        self.oauth, self.key, self.stateless = oauth, key, stateless
        self.registered: list[dict[str, Any]] = []
        self.authorised = 0
        self.refreshed = 0
        self.tokens: set[str] = set()
        self.refresh_tokens: set[str] = set()
        self.headers: list[dict[str, str]] = []  # of requests to the tools
        self.lifetime = 3_600
        self._codes: dict[str, tuple[str, str]] = {}
        routes = [
            Route("/.well-known/oauth-protected-resource/mcp", self._resource),
            Route("/.well-known/oauth-authorization-server", self._metadata),
            Route("/register", self._register, methods=["POST"]),
            Route("/authorize", self._authorise),
            Route("/token", self._token, methods=["POST"]),
            Route("/mcp", self._mcp, methods=["POST"]),
        ]
        config = uvicorn.Config(Starlette(routes=routes), log_config=None, lifespan="off", ws="none")
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.url = f"{self.base}/mcp"
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    def __enter__(self) -> RemoteToolServer:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()
        self._socket.close()

    # The authorisation server

    async def _resource(self, request: Request) -> Response:
        return JSONResponse({"resource": self.url, "authorization_servers": [self.base]})

    async def _metadata(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.base,
                "authorization_endpoint": f"{self.base}/authorize",
                "token_endpoint": f"{self.base}/token",
                "registration_endpoint": f"{self.base}/register",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            }
        )

    async def _register(self, request: Request) -> Response:
        client = {**await request.json(), "client_id": f"client-{len(self.registered)}"}
        self.registered.append(client)
        return JSONResponse(client, status_code=201)

    async def _authorise(self, request: Request) -> Response:
        question = request.query_params
        client = next((it for it in self.registered if it["client_id"] == question.get("client_id")), None)
        if client is None or question["redirect_uri"] not in client["redirect_uris"]:
            return JSONResponse({"error": "invalid_request"}, status_code=400)
        self.authorised += 1
        code = secrets.token_urlsafe(24)
        self._codes[code] = question["code_challenge"], question["redirect_uri"]
        return RedirectResponse(f"{question['redirect_uri']}?{urlencode({'code': code, 'state': question['state']})}")

    async def _token(self, request: Request) -> Response:
        question = dict(await request.form())
        if question.get("grant_type") == "refresh_token":
            if question.get("refresh_token") not in self.refresh_tokens:
                return JSONResponse({"error": "invalid_grant"}, status_code=400)
            self.refreshed += 1
        else:
            challenge, where = self._codes.pop(str(question.get("code")), ("", ""))
            digest = hashlib.sha256(str(question.get("code_verifier")).encode()).digest()
            proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if proof != challenge or question.get("redirect_uri") != where:
                return JSONResponse({"error": "invalid_grant"}, status_code=400)
        token, refresh = f"canary-token-{secrets.token_hex(12)}", f"canary-refresh-{secrets.token_hex(12)}"
        self.tokens.add(token)
        self.refresh_tokens.add(refresh)
        values = {"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime, "refresh_token": refresh}
        return JSONResponse(values)

    # The tools

    async def _mcp(self, request: Request) -> Response:
        self.headers.append(dict(request.headers))
        if self.oauth and request.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            where = f'Bearer resource_metadata="{self.base}/.well-known/oauth-protected-resource/mcp"'
            return JSONResponse({"error": "invalid_token"}, 401, {"WWW-Authenticate": where})
        if self.key and request.headers.get("x-key") != self.key:
            return JSONResponse({"error": "who are you?"}, status_code=403)
        message = await request.json()
        if "id" not in message:
            return Response(status_code=202)
        method, params = message["method"], message.get("params", {})
        head = {"jsonrpc": "2.0", "id": message["id"]}
        if self.stateless and (refused := self._refused(request, method, params)):
            return JSONResponse({**head, "error": refused}, status_code=400)
        if method == "server/discover":
            result: Any = {
                "resultType": "complete", "supportedVersions": [NEWEST], "capabilities": {"tools": {}}, "ttlMs": 0,
                "cacheScope": "private",
            }  # fmt: skip
        elif method == "initialize":
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "remote", "version": "1"},
            }
        elif method == "tools/list":
            schema = {"type": "object", "properties": {"text": {"type": "string"}}}
            result = {"tools": [{"name": name, "inputSchema": schema} for name in ("say", "huge", "packed")]}
        elif self.stateless and "inputResponses" not in params:
            question = {"type": "object", "properties": {"name": {"type": "string"}}}
            body = {"message": "Who?", "requestedSchema": question, "mode": "form"}
            expected = {"who": {"method": "elicitation/create", "params": body}}
            result = {"resultType": "input_required", "inputRequests": expected, "requestState": "half way"}
        elif self.stateless:
            name = params["inputResponses"]["who"]["content"]["name"]
            text = f"{params['requestState']}: {name}, {request.headers['mcp-name']}"
            result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
        else:
            return self._called(params, head)
        return JSONResponse({**head, "result": result})

    def _refused(self, request: Request, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        message = params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
        if method == "initialize" or message != NEWEST:
            data = {"supported": [NEWEST], "requested": message or ""}
            return {"code": -32022, "message": "Unsupported protocol version", "data": data}
        if request.headers.get("mcp-method") != method or request.headers.get("mcp-protocol-version") != NEWEST:
            return {"code": -32600, "message": "The head says something else"}
        return None

    def _called(self, params: dict[str, Any], head: dict[str, Any]) -> Response:
        name, arguments = params["name"], params.get("arguments", {})
        text = "x" * HUGE if name in ("huge", "packed") else str(arguments.get("text", ""))
        result = {"content": [{"type": "text", "text": text}]}
        body = json.dumps({**head, "result": result}).encode()
        if name == "packed":
            packed = gzip.compress(body, 1)
            return Response(packed, media_type="application/json", headers={"Content-Encoding": "gzip"})
        if arguments.get("events"):
            return Response(b"event: message\r\ndata: " + body + b"\r\n\r\n", media_type="text/event-stream")
        return Response(body, media_type="application/json")
