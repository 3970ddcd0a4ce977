"""What servers ask of the person: each waits until the window has an answer, or nobody wants one any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import uuid4

import mcp_types as types
from pydantic import ValidationError

from playground.domain.tool_servers import Elicitation, Request, Sampling
from playground.jsonkit.values import JSON, JSONObject
from playground.tool_host import reading
from playground.tool_host.limits import LONGEST_DEFINITION, MOST_ASKS
from playground.tool_host.outlet import Outlet
from playground.tool_host.tap import TICKET

_GONE: Final = "Nobody is there to answer"
_OVER: Final = "The call that this was asked for is over"
_KNOWN: Final = frozenset(
    {"messages", "systemPrompt", "maxTokens", "temperature", "stopSequences", "modelPreferences", "tools", "_meta"}
)


class Asks:
    """Those of one server. ``only`` gives the call that is under way, if it is one."""

    def __init__(self, server_id: str, server: str, outlet: Outlet, only: Callable[[], str]) -> None:
        self._server_id, self._server, self._outlet, self._only = server_id, server, outlet, only
        self._open: dict[str, tuple[str, asyncio.Future[JSONObject]]] = {}

    def hold(self, ticket: str) -> bool:
        """Whether a person is being asked something now that a call, or what is no call, may wait for."""
        return any(not ticket or of in ("", ticket) for of, _ in self._open.values())

    def end_of(self, ticket: str) -> None:
        """A call is over: what was asked for it is not asked any more."""
        for of, future in self._open.values():
            if of == ticket and not future.done():
                future.set_result({"error": _OVER})

    def answer(self, ask_id: str, given: JSONObject) -> None:
        """A person has answered."""
        found = self._open.get(ask_id)
        if found is not None and not found[1].done():
            found[1].set_result(given)

    async def elicit(self, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
        """Ask the person to fill in a form, or to go to a page."""
        raw = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        form = reading.members(raw.get("requestedSchema"))
        if len(reading.spelled(form) or "") > LONGEST_DEFINITION:
            return types.ErrorData(code=types.INVALID_PARAMS, message="The form is too large")
        ask = Elicitation(
            id=uuid4().hex,
            server=self._server,
            message=reading.words(raw.get("message")),
            form=form,
            url=reading.name(raw.get("url")),
        )
        given = await self._ask(ask)
        if "error" in given:
            return _refused(given)
        action = given.get("action")
        if action == "accept":
            return types.ElicitResult(action="accept", content=given.get("content") if form else None)
        return types.ElicitResult(action="decline" if action == "decline" else "cancel")

    async def sample(
        self, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData:
        """Ask the person to have a model answer."""
        raw = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        ask = sampling_of(raw, self._server)
        given = await self._ask(ask)
        if "error" in given:
            return _refused(given)
        try:
            if ask.tools:
                return types.CreateMessageResultWithTools.model_validate(given)
            return types.CreateMessageResult.model_validate(given)
        except ValidationError:
            return types.ErrorData(code=types.INTERNAL_ERROR, message="What was answered does not fit the protocol")

    async def _ask(self, ask: Request) -> JSONObject:
        if len(self._open) >= MOST_ASKS:
            return {"error": f"{MOST_ASKS} others wait for an answer"}
        with self._waits(ask) as future:
            return await future

    @contextmanager
    def _waits(self, ask: Request) -> Iterator[asyncio.Future[JSONObject]]:
        future: asyncio.Future[JSONObject] = asyncio.get_running_loop().create_future()
        self._open[ask.id] = TICKET.get() or self._only(), future
        self._outlet.say({"is": "ask", "server": self._server_id, "ask": ask.model_dump(mode="json")})
        try:
            yield future
        finally:
            del self._open[ask.id]
            self._outlet.say({"is": "answered", "server": self._server_id, "ask": ask.id})


def sampling_of(raw: JSONObject, server: str) -> Sampling:
    """What a server wants a model to be asked, as a value."""
    room = reading.Room()
    preferences = reading.members(raw.get("modelPreferences"))
    hints = [reading.name(reading.members(hint).get("name")) for hint in reading.entries(preferences.get("hints"))]
    temperature, most = raw.get("temperature"), raw.get("maxTokens")
    rest = {key: value for key, value in raw.items() if key not in _KNOWN}
    rest |= {key: value for key, value in preferences.items() if key != "hints"}
    return Sampling(
        id=uuid4().hex,
        server=server,
        messages=tuple(reading.message(one, room) for one in reading.entries(raw.get("messages"))[:1_000]),
        system=reading.words(raw.get("systemPrompt"), 200_000),
        max_tokens=most if isinstance(most, int) and most >= 0 else 0,
        temperature=float(temperature) if isinstance(temperature, int | float) else None,
        stop=tuple(reading.name(one) for one in reading.entries(raw.get("stopSequences"))[:100]),
        models=tuple(hint for hint in hints[:50] if hint),
        tools=tuple(filter(None, map(reading.tool, reading.entries(raw.get("tools"))[:1_000]))),
        rest=rest if len(reading.spelled(rest) or "x" * LONGEST_DEFINITION) < LONGEST_DEFINITION else {},
    )


def _refused(given: dict[str, JSON]) -> types.ErrorData:
    # -1 is what the specification has for a person who said no.
    return types.ErrorData(code=-1, message=str(given.get("error") or _GONE))
