"""Makes answers on a worker, as one process does: with a client of its own, on a loop of its own, in a thread.

It takes errands from the post at the scheduler as they come, brings what came of each as it ends, and ends when the run
is over, or when nobody answers it any more.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from playground.engine.evaluation.answers import pack
from playground.engine.evaluation.judging import Judgement
from playground.engine.evaluation.metrics import AnswerMetrics
from playground.engine.evaluation.provider import AnswerResult, LocalAnswerProvider
from playground.engine.evaluation.resolved import Job, ResolvedEvaluation
from playground.engine.gateways.credentials import consent_needed
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret, clean_key, key_from_environment
from playground.engine.headless.cluster.leases import LeasedLimiter, Report
from playground.engine.headless.cluster.order import Errand, Order, Result, brought_from, versions
from playground.engine.headless.collecting import seldom_collected
from playground.engine.headless.evaluated_file import EvaluationOptions, session_of
from playground.engine.headless.gateway import Gateway
from playground.engine.requests.request_file import BadInputError
from playground.gateway.redact import Redactor
from playground.jsonkit.texts import cut

_GATHER: Final = 0.003  # seconds in which results come together
_LONGEST: Final = 500  # characters of what went wrong

#: Asks the post: its method, and what it takes. Raises OSError where nobody answers.
Call = Callable[..., Awaitable[Any]]


class _OverError(Exception):
    """The run is over."""


class _Ended(NamedTuple):
    number: int
    found: AnswerResult
    spent: list[AnswerMetrics | Judgement]


class Hand:
    """``worker`` is the address of the worker that it is on."""

    def __init__(self, order: Order, worker: str, call: Call) -> None:
        self._order, self._worker, self._call = order, worker, call
        self._ended: deque[_Ended | tuple[int, str]] = deque()
        self._arrived = asyncio.Event()
        self._redactor: Redactor = redactor_of(())

    async def work(self) -> None:
        """Take part until the run is over. Raises OSError where nobody answers any more."""
        with _certificates(self._order) as authorities:
            try:
                gateway = gateway_of(self._order, authorities)
                resolved = ResolvedEvaluation(session_of(json.loads(self._order.content), gateway, EvaluationOptions()))
            except BadInputError as error:
                await self._call("refuse", run=self._order.run, worker=self._worker, words=str(error))
                return
            self._redactor = redactor_of(gateway.secrets)
            try:
                with seldom_collected():
                    await self._take_part(gateway, resolved)
            except* _OverError:
                pass
            finally:
                await gateway.aclose()

    async def _take_part(self, gateway: Gateway, resolved: ResolvedEvaluation) -> None:
        client = await gateway.connect(gateway.profile.id)
        client.limiter = limiter = LeasedLimiter(self._lease)
        maker = LocalAnswerProvider(resolved)
        cases = dict(enumerate(resolved.cases, 1))
        columns = {column.letter: column for column in resolved.columns}
        async with asyncio.TaskGroup() as group:
            group.create_task(limiter.renew())
            group.create_task(self._bring())
            while True:
                for number, found in await self._ask("take"):
                    errand = Errand(*found)
                    job = Job(cases[errand.case], columns[errand.column], errand.repeat, errand.digest)
                    group.create_task(self._make(maker, number, job, errand))

    async def _make(self, maker: LocalAnswerProvider, number: int, job: Job, errand: Errand) -> None:
        spent: list[AnswerMetrics | Judgement] = []
        try:
            if errand.kept is None:
                found = await maker.answered(job, spent.append)
            else:
                found = await maker.judged(brought_from(errand.kept), job, spent.append)
        except Exception as error:  # noqa: BLE001 - whatever it is, the command is told: it ends the run there
            self._ended.append((number, f"{type(error).__name__}: {error}"))
        else:
            self._ended.append(_Ended(number, found, spent))
        self._arrived.set()

    async def _bring(self) -> None:
        while True:
            await self._arrived.wait()
            await asyncio.sleep(_GATHER)
            self._arrived.clear()
            lot = list(self._ended)
            self._ended.clear()
            results = await asyncio.to_thread(lambda: [self._result(one) for one in lot])  # noqa: B023 - awaited here
            await self._ask("bring", results=results)

    def _result(self, one: _Ended | tuple[int, str]) -> tuple[int, Result]:
        if isinstance(one, _Ended):
            return one.number, Result.of(pack(one.found, self._redactor), one.spent)
        number, words = one
        return number, Result(problem=cut(self._redactor.text(words), _LONGEST))

    async def _lease(self, report: Report) -> tuple[int, float]:
        may, none_for = await self._ask("lease", gateway=self._order.limited_as, report=report)
        return may, none_for

    async def _ask(self, method: str, **fields: Any) -> Any:
        """What the post answers. Raises _OverError where the run is over."""
        answer = await self._call(method, run=self._order.run, worker=self._worker, **fields)
        if answer is None:
            raise _OverError
        return answer


def gateway_of(order: Order, authorities: Path | None) -> Gateway:
    """The gateway of an order, with the key of this environment. Raises BadInputError for an order that this process
    cannot take part in, and where the key is not to be sent.
    """
    if (here := versions()) != order.versions:
        raise BadInputError(f"it has {here.words}, where the command is it is {order.versions.words}")
    key = None
    if order.variable:
        found = key_from_environment(order.variable)
        if found is None:
            raise BadInputError(f"the environment variable {order.variable} is not set there")
        key = Secret(clean_key(found.get_secret_value()).key)
    profile = Profile.model_validate_json(order.profile)
    update = {"key_origin": profile.origin if key is not None else "", "key_variable": ""}
    profile = profile.model_copy(update={**update, "ca_file": str(authorities) if authorities is not None else None})
    consent = consent_needed(profile)
    if consent is not None and not order.allow_http:
        raise BadInputError(f"{consent.words} --allow-http says yes to that")
    return Gateway(profile, key, {}, (), order.proxy or profile.proxy)


@contextmanager
def _certificates(order: Order) -> Iterator[Path | None]:
    """A file with the certificates that came with the order, for as long as it is worked on."""
    if order.authorities is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="playground-") as folder:
        path = Path(folder) / "authorities.pem"
        path.write_bytes(order.authorities)
        yield path
