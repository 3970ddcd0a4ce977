"""The paths of the gateway, and what all its answers share: error bodies and rate-limit headers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from playground.demo import page
from playground.demo.problems import (
    BROKEN,
    NO_PATH,
    NO_UPGRADE,
    NOT_JSON,
    OTHER_HOST,
    OTHER_TYPE,
    WRONG_METHOD,
    ApiError,
)
from playground.demo.rendering import to_json
from playground.demo.request_body import parse, quoted
from playground.demo.service import Service, error_response
from playground.system.loopback import no_json, wrong_host

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_ENDPOINTS = ("/models", "/chat/completions", "/messages", "/responses")
_LISTED = (
    "GET /v1/models, GET /v1/models/{id}, POST /v1/chat/completions, POST /v1/messages, "
    "POST /v1/messages/count_tokens, POST /v1/responses, GET and DELETE /v1/responses/{id}, "
    "GET /v1/responses/{id}/input_items, POST /v1/responses/input_tokens, POST /v1/responses/compact"
)
Handler = Callable[[Request, bytes], Response]


def build(service: Service, hosts: frozenset[str] = frozenset()) -> Starlette:
    """The application of one gateway. ``hosts`` are names it answers to beside those of loopback."""

    def models(request: Request, body: bytes) -> Response:
        _allow(request, "GET")
        service.admit(request, other_header=True)
        return Response(to_json(service.models()), media_type="application/json")

    def model(request: Request, body: bytes) -> Response:
        if _repeats_an_endpoint(request.url.path):  # the base address ended in /models
            return unknown(request, body)
        _allow(request, "GET")
        service.admit(request, other_header=True)
        return Response(to_json(service.model(request.path_params["id"])), media_type="application/json")

    def count_tokens(request: Request, body: bytes) -> Response:
        _allow(request, "POST")
        service.admit(request, other_header=True)
        _want_json(request)
        return Response(to_json(service.count_tokens(body)), media_type="application/json")

    def chat(request: Request, body: bytes) -> Response:
        _allow(request, "POST")
        service.admit(request)
        _want_json(request)
        return service.chat(body)

    def messages(request: Request, body: bytes) -> Response:
        _allow(request, "POST")
        service.admit(request, other_header=True)
        _want_json(request)
        return service.messages(body)

    def responses(request: Request, body: bytes) -> Response:
        if request.method == "GET" and request.headers.get("upgrade", "").lower() == "websocket":
            message = "WebSocket connections are not supported here; send POST requests to this address."
            raise ApiError(426, NO_UPGRADE, message, {"Connection": "Upgrade", "Upgrade": "HTTP/1.1"})
        _allow(request, "POST")
        service.admit(request)
        _want_json(request)
        return service.create_response(body)

    def stored_response(request: Request, body: bytes) -> Response:
        if _repeats_an_endpoint(request.url.path):
            return unknown(request, body)
        _allow(request, "GET", "DELETE")
        service.admit(request)
        response_id = request.path_params["id"]
        act = service.responses.delete if request.method == "DELETE" else service.responses.get
        return Response(to_json(act(response_id)), media_type="application/json")

    def input_items(request: Request, body: bytes) -> Response:
        _allow(request, "GET")
        service.admit(request)
        listed = service.responses.input_items(request.path_params["id"], request.query_params)
        return Response(to_json(listed), media_type="application/json")

    def cancel(request: Request, body: bytes) -> Response:
        _allow(request, "POST")
        service.admit(request)
        return Response(to_json(service.responses.cancel(request.path_params["id"])), media_type="application/json")

    def response_tokens(request: Request, body: bytes) -> Response:
        _allow(request, "POST")
        service.admit(request)
        _want_json(request)
        return Response(to_json(service.responses.count_tokens(parse(body))), media_type="application/json")

    def compact(request: Request, body: bytes) -> Response:
        _allow(request, "POST")
        service.admit(request)
        _want_json(request)
        return Response(to_json(service.responses.compact(parse(body))), media_type="application/json")

    def root(request: Request, body: bytes) -> Response:
        _allow(request, "GET")
        return HTMLResponse(page.render(_base(request)), headers=page.HEADERS)

    def unknown(request: Request, body: bytes) -> Response:
        raise ApiError(404, NO_PATH, _no_such_path(request))

    table: list[tuple[str, Handler]] = [
        ("/v1/models", models),
        ("/v1/models/{id:path}", model),
        ("/v1/chat/completions", chat),
        ("/v1/messages", messages),
        ("/v1/messages/count_tokens", count_tokens),
        ("/v1/responses", responses),
        ("/v1/responses/input_tokens", response_tokens),
        ("/v1/responses/compact", compact),
        ("/v1/responses/{id}/input_items", input_items),
        ("/v1/responses/{id}/cancel", cancel),
        ("/v1/responses/{id:path}", stored_response),
        ("/", root),
        ("/{path:path}", unknown),
    ]
    return Starlette(
        routes=[Route(path, _framed(service, hosts, handler), methods=_METHODS) for path, handler in table],
        exception_handlers={HTTPException: _odd_method},
    )


def _odd_method(request: Request, error: Exception) -> Response:
    """A method that no route takes, such as TRACE."""
    return error_response(ApiError(405, WRONG_METHOD, f"The method {quoted(request.method)} is not allowed here."))


def _framed(service: Service, hosts: frozenset[str], handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            body = await service.receive(request)
            if refused := wrong_host(request.headers.getlist("host"), hosts, "demo"):
                raise ApiError(421, OTHER_HOST, refused)
            response = handler(request, body)
        except ApiError as error:
            response = error_response(error)
        except RecursionError:
            response = error_response(ApiError(400, NOT_JSON, "The JSON body is nested too deeply."))
        except ClientDisconnect:
            return Response(status_code=400)  # the client has disconnected
        except Exception as error:  # noqa: BLE001 - a fault of the gateway must still be answered in its error body
            message = f"The demo gateway failed: {type(error).__name__}. This is a defect in it."
            response = error_response(ApiError(500, BROKEN, message))
        if request.scope["path"].startswith("/v1"):
            response.headers.update(service.limit_headers())
        return response

    return endpoint


def _allow(request: Request, *methods: str) -> None:
    allowed = ("GET", "HEAD", *methods[1:]) if methods[0] == "GET" else methods
    if request.method not in allowed:
        message = f"{request.method} is not allowed for {quoted(request.url.path)}; use {' or '.join(methods)}."
        raise ApiError(405, WRONG_METHOD, message, {"Allow": ", ".join(allowed)})


def _want_json(request: Request) -> None:
    if refused := no_json(request.headers.getlist("content-type")):
        raise ApiError(415, OTHER_TYPE, refused)


def _base(request: Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc}/v1"


def _repeats_an_endpoint(path: str) -> bool:
    """Return whether an endpoint follows another one, which was part of the base address."""
    rest = next((path.partition(endpoint)[2] for endpoint in _ENDPOINTS if f"{endpoint}/" in path), "")
    return any(f"{rest}/".startswith(f"{name}/") for name in ("/v1", *_ENDPOINTS))


def _no_such_path(request: Request) -> str:
    """Return the mistake in the path: usually a base address with too much or too little in it."""
    path = "/" + "/".join(part for part in request.url.path.split("/") if part)
    title = f"There is no path {quoted(request.url.path)}."
    base = f"Set the base address once, as {_base(request)}, and let the client add the endpoint."
    if "/v1/v1" in path:
        return f"{title} It repeats /v1. {base}"
    if _repeats_an_endpoint(path):
        return f"{title} The base address seems to hold an endpoint path. {base}"
    if any(f"{path}/".startswith(f"{endpoint}/") for endpoint in _ENDPOINTS):
        return f"{title} /v1 is missing. {base}"
    return f"{title} Endpoints: {_LISTED}."
