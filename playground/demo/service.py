"""Handles a request from the key to the answer; ``routes`` maps paths to these methods.

One ``Service`` is one running gateway: its rate limit, its prompt cache, the refusals it still owes and the requests it
received. It is used from the server's event loop alone.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from playground.demo import chat_request, messages_request, page, problems, request_body
from playground.demo.chat import ChatRendering
from playground.demo.cheats import Refusal
from playground.demo.delivery import STOPPED, Delivery, Pace, Running, pace_for
from playground.demo.dice import throw
from playground.demo.generation import GenerationRequest
from playground.demo.limits import RateLimit
from playground.demo.messages import MessagesRendering
from playground.demo.models import MODELS
from playground.demo.plan import make_plans
from playground.demo.problems import ApiError
from playground.demo.rendering import Answer, Renderer, to_json
from playground.demo.request_model import find_model
from playground.demo.responses.endpoints import ResponsesEndpoints
from playground.demo.responses.errors import context_too_long
from playground.demo.steps import steps
from playground.demo.tokens import PrefixCache

MOST_BYTES = 32 * 1024 * 1024
_MOST_KEPT = 100  # requests
_MOST_KEPT_BYTES = 64 * 1024 * 1024
_MAX_REFUSAL_COUNTS = 1000

_REFUSALS = {
    400: (problems.TOO_LONG, "Context length exceeded: the conversation does not fit into the model's window."),
    401: (problems.EXPIRED, "The token has expired; get a new one and try again."),
    402: (problems.NO_BALANCE, "Insufficient account balance: please top up the account."),
    403: (problems.NOT_VERIFIED, "This model requires identity verification of the account."),
    404: (problems.NO_MODEL, "The model is not available to this account; it needs special access."),
    429: (problems.TOO_MANY, "Rate limit exceeded: RPM. Too many requests in this minute."),
    500: (problems.BROKEN, "Unknown server error."),
    503: (problems.OVERLOADED, "The service is temporarily unavailable under high load; retry later."),
    504: (problems.TIMED_OUT, "The model did not answer in time; retry, or stream the answer."),
}


@dataclass(frozen=True)
class ReceivedRequest:
    """One request as it arrived. Headers and body are left out of its repr: they hold keys and private text."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)

    def header(self, name: str) -> str | None:
        """The first header of that name, in any case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class Service:
    """The state and the work of one gateway."""

    def __init__(self, key: str | None, pace: Pace, limit: RateLimit) -> None:
        self._key = key
        self._pace = pace
        self._limit = limit
        self._cache = PrefixCache()
        self._refusal_counts: OrderedDict[str, int] = OrderedDict()  # prompts refused a few times, and how often so far
        self._kept_bytes = 0
        self.responses = ResponsesEndpoints()
        self.received: deque[ReceivedRequest] = deque()
        self.running = Running()

    def limit_headers(self) -> dict[str, str]:
        """Return the current rate-limit headers."""
        return self._limit.headers()

    async def receive(self, request: Request) -> bytes:
        """The body of the request, which is remembered. Raises ApiError 413 above 32 MiB."""
        parts: list[bytes] = []
        size = 0
        async for part in request.stream():
            size += len(part)
            if size <= MOST_BYTES:
                parts.append(part)
            elif size > 4 * MOST_BYTES:  # read on a little, so that the answer is not lost in a reset
                break
        body = b"".join(parts)
        query = f"?{request.url.query}" if request.url.query else ""
        self._remember(ReceivedRequest(request.method, request.url.path + query, tuple(request.headers.items()), body))
        if size > MOST_BYTES:
            raise ApiError(413, problems.TOO_LARGE, f"The body is larger than {MOST_BYTES // 2**20} MiB.")
        return body

    def admit(self, request: Request, other_header: bool = False) -> None:
        """Check the key and count the request. Raises ApiError 401 or 429."""
        self._authenticate(request, other_header)
        self._limit.take()

    def models(self) -> dict[str, object]:
        """The model list."""
        entries = [model.entry() for model in MODELS]
        ends = {"has_more": False, "first_id": MODELS[0].id, "last_id": MODELS[-1].id}
        return {"object": "list", "data": entries, **ends}

    def model(self, model_id: str) -> dict[str, object]:
        """One entry of the model list. Raises ApiError 404."""
        return find_model(model_id).entry()

    def count_tokens(self, body: bytes) -> dict[str, object]:
        """The tokens of a request of the native messages protocol, all of its prompt: no answer is made."""
        request = messages_request.read(request_body.parse(body), to_count=True)
        return {"input_tokens": request.prompt_tokens()}

    def chat(self, body: bytes) -> Response:
        """The answer to a chat-completions request."""
        fields = request_body.parse(body)
        request = chat_request.read(fields)
        request_body.refuse_fields(fields, request.directives.refused)
        return self._answer(request, ChatRendering)

    def messages(self, body: bytes) -> Response:
        """The answer to a request of the native messages protocol."""
        fields = request_body.parse(body)
        request = messages_request.read(fields)
        request_body.refuse_fields(fields, request.directives.refused)
        return self._answer(request, MessagesRendering)

    def create_response(self, body: bytes) -> Response:
        """The answer to a request of the Responses protocol."""
        fields = request_body.parse(body)
        request, renderer = self.responses.read(fields)
        request_body.refuse_fields(fields, request.directives.refused)
        return self._answer(request, renderer)

    def _remember(self, received: ReceivedRequest) -> None:
        self.received.append(received)
        self._kept_bytes += len(received.body)
        while len(self.received) > _MOST_KEPT or (self._kept_bytes > _MOST_KEPT_BYTES and len(self.received) > 1):
            self._kept_bytes -= len(self.received.popleft().body)

    def _authenticate(self, request: Request, other_header: bool) -> None:
        authorization = request.headers.get("authorization")
        key = request.headers.get("x-api-key", "") if other_header else ""
        if authorization is not None:
            scheme, _, key = authorization.partition(" ")
            if scheme.lower() != "bearer":
                raise ApiError(401, problems.NO_KEY, "The Authorization header must read: Bearer <API_KEY>.")
        elif not key:
            hint = " (x-api-key is not read here)" if request.headers.get("x-api-key") else ""
            raise ApiError(401, problems.NO_KEY, f"No key: send the header Authorization: Bearer <API_KEY>{hint}.")
        if not key.strip():
            raise ApiError(401, problems.NO_KEY, "The key is empty: send the header Authorization: Bearer <API_KEY>.")
        if self._key is not None and not hmac.compare_digest(key.encode(), self._key.encode()):
            raise ApiError(
                401,
                problems.WRONG_KEY,
                "The key is not valid. Check it for spaces and line breaks, and that this service issued it.",
            )

    def _answer(self, request: GenerationRequest, renderer: Renderer) -> Response:
        directives = request.directives
        if directives.refusal is not None:
            self._refuse(request, directives.refusal)
        if directives.has("html"):
            return HTMLResponse(page.proxy_error(), 502)
        if directives.has("redirect"):
            path = "chat/completions" if request.protocol == "chat" else request.protocol
            elsewhere = {"Location": f"https://gateway.example/v1/{path}"}
            raise ApiError(307, problems.BAD_GATEWAY, "The service has moved to another host.", elsewhere)
        if directives.has("failed") and not request.stream and request.protocol == "responses":
            return self._deliver(request, renderer)
        if directives.has("error", "nested", "failed") and not request.stream:
            raise ApiError(503, problems.OVERLOADED, STOPPED)
        window = request.model.context_window
        if request.prompt_tokens(most=window + 1) > window:
            newest = request.without_oldest(window)
            if request.truncates and any(turn.role == "user" for turn in newest.turns):
                return self._deliver(newest, renderer)
            if request.protocol == "responses":
                raise context_too_long()
            raise ApiError(
                400,
                problems.TOO_LONG,
                f"Context length exceeded: {request.model.id} takes {window} tokens, and the messages have more. "
                "Shorten the conversation or choose another model.",
            )
        return self._deliver(request, renderer)

    def _refuse(self, request: GenerationRequest, refusal: Refusal) -> None:
        """Raise the refusal on demand, unless this prompt has been refused as often as demanded."""
        if refusal.times is not None:
            turns = "\x1f".join(f"{turn.role}:{turn.text}" for turn in request.turns)
            prompt = hashlib.sha256(f"{request.model.id}\x1f{turns}".encode("utf-8", "surrogatepass")).hexdigest()
            refused = self._refusal_counts.pop(prompt, 0)
            if refused >= refusal.times:
                return
            self._refusal_counts[prompt] = refused + 1
            while len(self._refusal_counts) > _MAX_REFUSAL_COUNTS:
                self._refusal_counts.popitem(last=False)
        code, message = _REFUSALS[refusal.status]
        headers = {}
        if refusal.retry_after is not None:
            headers["Retry-After"] = f"{refusal.retry_after:g}"
        raise ApiError(refusal.status, code, f"{message} (Simulated, as asked.)", headers)

    def _deliver(self, request: GenerationRequest, renderer: Renderer) -> Response:
        cached = min(self._cache.tokens_seen(request.model.id, request.transcript()), request.prompt_tokens())
        plans = make_plans(request)
        dice = throw(request.seed, request.fingerprint, "delivery")
        return Delivery(
            renderer(Answer(request, plans, dice.hex(24), int(time.time()), cached)),
            steps(plans, request.directives),
            pace_for(request.directives, self._pace),
            dice,
            self.running,
            streamed=request.stream,
            complete=not request.directives.has("nodone"),
            streams=len(plans),
        )


def error_response(error: ApiError) -> Response:
    """The error as a response in the service's error body."""
    return Response(to_json(error.body()), error.status, error.headers, "application/json")
