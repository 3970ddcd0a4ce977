"""A cassette as an experiment: its conversation rebuilt from exchanges, and runs against a replay server on loopback.

Runs use the same client as with any gateway. No key and no other network is used.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from playground.domain.errors import GUESSES
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, Transcript, Turn, new_id
from playground.engine.cassettes.cassette import Cassette
from playground.engine.cassettes.server import PlaybackClock, ReplayServer
from playground.engine.gateways.profiles import Profile, Timeouts, connection
from playground.engine.session.changes import PathChanged, SettingsChanged
from playground.engine.session.request_executor import ReceivedAnswer
from playground.engine.session.session import Experiment, Session
from playground.gateway.tape import Exchange
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.gateways.gateways import Gateways
    from playground.gateway.client import GatewayClient


def body_of(exchange: Exchange) -> JSONObject | None:
    """Return the request body if it is a JSON object, or None."""
    try:
        body = parse_json(exchange.request_body.decode("utf-8", "replace"))
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def request_of(exchange: Exchange) -> Request | None:
    """Return the recorded request, or None if it cannot be parsed."""
    body = body_of(exchange)
    if body is None or not exchange.protocol:
        return None
    try:
        return get_protocol(exchange.protocol).read_body(body)[0]
    except (ValueError, RecursionError):
        return None


def transcript_of(exchanges: Iterable[Exchange]) -> Transcript:
    """Return all turns, with the head at the last answer."""
    transcript = Transcript()
    for exchange in exchanges:
        request = request_of(exchange)
        if request is None:
            continue
        parent: str | None = None
        for turn in request.turns:
            transcript, parent = _find_or_add(transcript, parent, turn)
        transcript = transcript.truncate_after(parent).append_alternatives(answers_of(exchange))
    return transcript


def answers_of(exchange: Exchange) -> tuple[Turn, ...]:
    """Return the turns of an answer, one for each choice; one with the failure if there is none."""
    sent = body_of(exchange) or {}
    model = sent.get("model")
    received = ReceivedAnswer(Asked(model=model if isinstance(model, str) else ""), exchange.protocol, sent)
    answer = received.answer
    if exchange.protocol and (exchange.status or 0) < 300:
        last = exchange.reads[-1].time if exchange.reads else None  # events of the end came with the last read
        for read, events in exchange.replay(get_protocol(exchange.protocol).decoder(exchange.content_type)):
            received.add_events(events, read.time if read.data else last)
    failure = exchange.failure
    if failure is None and answer.failure is not None and (exchange.complete or answer.failure.kind not in GUESSES):
        failure = answer.failure
    outcome = received.outcome(Ending.COMPLETE if exchange.complete else Ending.STOPPED, failure, exchange)
    return tuple(received.turn(new_id(), index, outcome) for index in sorted(answer.choices) or [0])


def load_exchanges(session: Session, exchanges: Sequence[Exchange], title: str = "") -> None:
    """Fill a new experiment with exchanges: their turns, and the settings of the last request that can be parsed."""
    requests = (request_of(exchange) for exchange in reversed(exchanges))
    request = next((request for request in requests if request is not None), None)
    if request is not None:
        session.load(request, title)
        session.change(reasoning_return=request.reasoning_return)
    else:
        session.change(title=title)
    session.history.transcript = transcript_of(exchanges)
    for exchange in exchanges:
        session.exchanges.keep(exchange)
    session.observers.tell(PathChanged())
    session.observers.tell(SettingsChanged())


def _find_or_add(transcript: Transcript, parent: str | None, turn: Turn) -> tuple[Transcript, str]:
    """Return the transcript and the newest equal turn below ``parent``, which is added if there is none."""
    key = _turn_key(turn)
    for child in reversed(transcript.children(parent)):
        if _turn_key(transcript.turns[child]) == key:
            return transcript, child
    return transcript.truncate_after(parent).append(turn), turn.id


def _turn_key(turn: Turn) -> str:
    """Return a text that is equal for equal turns, without reasoning and the layout of arguments."""
    calls = [(call.id, call.name, _value(call.arguments)) for call in turn.calls]
    results = [(result.call_id, result.text) for result in turn.results]
    unknown = [part.value for part in turn.parts if part.kind == "unknown"]
    images = [image.url for image in turn.images]
    return json.dumps([turn.role.value, turn.text, turn.refusal, calls, results, images, unknown], sort_keys=True)


def _value(arguments: str) -> JSON:
    try:
        return parse_json(arguments) if arguments.strip() else {}
    except ValueError:
        return arguments


#: Without limits, because a person may step through an answer frame by frame.
_NO_TIMEOUTS = Timeouts(first=None, idle=None, settle=None, total=None)


class CassettePlayer:
    """Replays ``cassette`` at the pace of ``clock``, which may be changed during an answer. Close it with ``aclose``.

    ``profile`` is its gateway profile; the address is set by the first run.
    """

    def __init__(self, cassette: Cassette) -> None:
        self.cassette = cassette
        self.clock = PlaybackClock()
        name = f"Cassette: {cassette.title}" if cassette.title else "Cassette"
        self.profile = Profile(name=name, timeouts=_NO_TIMEOUTS, retries=0)
        self._server = ReplayServer(cassette, self.clock)
        self._client: GatewayClient | None = None
        self._starting = asyncio.Lock()

    async def client(self) -> GatewayClient:
        """Return the client of the replay server, which the first call starts. Raises OSError if it cannot start."""
        from playground.gateway.client import GatewayClient

        async with self._starting:
            if self._client is None:
                url = await self._server.start()
                self.profile = self.profile.model_copy(update={"base_url": url})
                self._client = GatewayClient(connection(self.profile))
        return self._client

    def session(self, gateways: Gateways | None = None) -> Session:
        """Return a new experiment with the cassette's content. After a change of gateway it runs on ``gateways``."""
        session = Experiment(
            self._connect(gateways.client if gateways is not None else None),
            profile_id=self.profile.id,
            profile_of=self._profile_of(gateways),
        ).main
        load_exchanges(session, self.cassette.exchanges, self.cassette.title)
        return session

    async def aclose(self) -> None:
        """Close the server and its client."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
        await self._server.aclose()

    def _connect(
        self, others: Callable[[str], Awaitable[GatewayClient]] | None
    ) -> Callable[[str], Awaitable[GatewayClient]]:
        async def connect(profile_id: str) -> GatewayClient:
            if others is None or profile_id == self.profile.id:
                return await self.client()
            return await others(profile_id)

        return connect

    def _profile_of(self, gateways: Gateways | None) -> Callable[[str], Profile]:
        def profile_of(profile_id: str) -> Profile:
            if gateways is None or profile_id == self.profile.id:
                return self.profile
            return gateways.get(profile_id)

        return profile_of
