"""Questions of a server to the person: each waits until the window answers, or its call is over."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import uuid4

import mcp_types as types
from pydantic import ValidationError

from playground.domain.tool_servers import Elicitation, Request, Sampling
from playground.jsonkit.values import JSON, JSONObject
from playground.tool_host import reading
from playground.tool_host.limits import LONGEST_DEFINITION, MOST_ASKS
from playground.tool_host.report import ServerReport
from playground.tool_host.tap import current_ticket

_NO_ANSWER: Final = "There is no answer"
_CALL_OVER: Final = "The call of this request has ended"
_SAMPLING_FIELDS: Final = frozenset(
    {"messages", "systemPrompt", "maxTokens", "temperature", "stopSequences", "modelPreferences", "tools", "_meta"}
)
_REFUSED_BY_USER: Final = -1  # the specification's code of an error for a person who declined


class PendingQuestions:
    """The open questions of one server."""

    def __init__(self, report: ServerReport) -> None:
        self._report = report
        self._open: dict[str, tuple[str, asyncio.Future[JSONObject]]] = {}  # ticket and answer by question id

    def delay(self, ticket: str) -> bool:
        """Return whether an open question delays the call with this ticket; with no ticket, any question does."""
        return any(not ticket or asked_for in ("", ticket) for asked_for, _ in self._open.values())

    def end_call(self, ticket: str) -> None:
        """Withdraw the questions of a call that is over."""
        for asked_for, future in self._open.values():
            if asked_for == ticket and not future.done():
                future.set_result({"error": _CALL_OVER})

    def answer(self, question_id: str, answer: JSONObject) -> None:
        """Answer a question; nothing happens if it is not open."""
        _, future = self._open.get(question_id, ("", None))
        if future is not None and not future.done():
            future.set_result(answer)

    async def elicit(self, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
        """Ask the person to fill in a form, or to open a page."""
        raw = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        form = reading.members(raw.get("requestedSchema"))
        if len(reading.encoded(form) or "") > LONGEST_DEFINITION:
            return types.ErrorData(code=types.INVALID_PARAMS, message="The form is too large")
        question = Elicitation(
            id=uuid4().hex,
            server=self._report.server.name,
            message=reading.text(raw.get("message")),
            form=form,
            url=reading.name(raw.get("url")),
        )
        answer = await self._ask(question)
        if "error" in answer:
            return _refusal(answer)
        action = answer.get("action")
        if action == "accept":
            return types.ElicitResult(action="accept", content=answer.get("content") if form else None)
        return types.ElicitResult(action="decline" if action == "decline" else "cancel")

    async def sample(
        self, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData:
        """Ask the person to let a model answer."""
        raw = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        question = read_sampling(raw, self._report.server.name)
        answer = await self._ask(question)
        if "error" in answer:
            return _refusal(answer)
        try:
            if question.tools:
                return types.CreateMessageResultWithTools.model_validate(answer)
            return types.CreateMessageResult.model_validate(answer)
        except ValidationError:
            return types.ErrorData(code=types.INTERNAL_ERROR, message="What was answered does not fit the protocol")

    async def _ask(self, question: Request) -> JSONObject:
        if len(self._open) >= MOST_ASKS:
            return {"error": f"{MOST_ASKS} others wait for an answer"}
        with self._published(question) as future:
            return await future

    @contextmanager
    def _published(self, question: Request) -> Iterator[asyncio.Future[JSONObject]]:
        future: asyncio.Future[JSONObject] = asyncio.get_running_loop().create_future()
        self._open[question.id] = current_ticket() or self._report.tap.only_ticket, future
        self._report.send({"is": "ask", "ask": question.model_dump(mode="json")})
        try:
            yield future
        finally:
            del self._open[question.id]
            self._report.send({"is": "answered", "ask": question.id})


def read_sampling(raw: JSONObject, server: str) -> Sampling:
    """Return a server's request for an answer of a model as a value."""
    budget = reading.Budget()
    preferences = reading.members(raw.get("modelPreferences"))
    hints = [reading.name(reading.members(hint).get("name")) for hint in reading.entries(preferences.get("hints"))]
    temperature, max_tokens = raw.get("temperature"), raw.get("maxTokens")
    rest = {key: value for key, value in raw.items() if key not in _SAMPLING_FIELDS}
    rest |= {key: value for key, value in preferences.items() if key != "hints"}
    return Sampling(
        id=uuid4().hex,
        server=server,
        messages=tuple(reading.message(message, budget) for message in reading.entries(raw.get("messages"))[:1_000]),
        system=reading.text(raw.get("systemPrompt"), 200_000),
        max_tokens=max_tokens if isinstance(max_tokens, int) and max_tokens >= 0 else 0,
        temperature=float(temperature) if isinstance(temperature, int | float) else None,
        stop=tuple(reading.name(sequence) for sequence in reading.entries(raw.get("stopSequences"))[:100]),
        models=tuple(hint for hint in hints[:50] if hint),
        tools=tuple(filter(None, map(reading.tool, reading.entries(raw.get("tools"))[:1_000]))),
        rest=rest if len(reading.encoded(rest) or "x" * LONGEST_DEFINITION) < LONGEST_DEFINITION else {},
    )


def _refusal(answer: dict[str, JSON]) -> types.ErrorData:
    return types.ErrorData(code=_REFUSED_BY_USER, message=str(answer.get("error") or _NO_ANSWER))
