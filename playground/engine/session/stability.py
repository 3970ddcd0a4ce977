"""The same step asked many times: which calls come, how often they fit, how long it takes. Counts only, no judge.

The transcript is not touched, and nothing asked here is kept on its tape. What came stays when it is stopped.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from playground.domain.accumulator import Accumulator
from playground.domain.debugging import signature
from playground.domain.errors import Failure, FailureKind, RunRefusedError
from playground.domain.parts import Text, ToolCall
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.tools import ToolDefinition
from playground.domain.usage import Usage
from playground.domain.values import Value
from playground.engine.io.spreadsheet import csv_text
from playground.engine.session.asking import Asking
from playground.engine.session.editors import HEAD
from playground.engine.session.turn_edits import standing
from playground.engine.session.verdicts import VerdictCode, verdict_on
from playground.jsonkit.values import JSON
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.engine.session.session import Session
    from playground.gateway.client import GatewayClient

MOST_SAMPLES = 20
NO_CALL = "(no call)"
FAILED = "(failed)"

_COLUMNS = (
    "variant",
    "number",
    "calls",
    "calls_fitting",
    "calls_count",
    "seconds",
    "first_content_s",
    "prompt_tokens",
    "completion_tokens",
    "choices",
    "finish_reason",
    "failure",
    "text",
)


class Variant(Value):
    """What is different about a set of samples; None: as the request has it."""

    name: str = "As set"
    tools: tuple[ToolDefinition, ...] | None = None
    tool_choice: JSON = None

    def applied(self, request: Request) -> Request:
        """The request with this variant's tools and choice. Raises ValueError for a choice that cannot be sent."""
        if self.tools is not None:
            request = request.model_copy(update={"tools": self.tools})
        if self.tool_choice is not None:
            parameters = request.parameters.with_value("tool_choice", self.tool_choice)
            request = request.model_copy(update={"parameters": parameters})
        return request


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer. ``seconds`` to its end, ``first_content`` to its first text or call; ``fits`` goes with ``calls``.

    Of several ``choices`` to one request it is the first; ``usage`` is the request's, so of all of them together.
    """

    number: int
    calls: tuple[ToolCall, ...]
    fits: tuple[bool, ...]
    text: str
    seconds: float
    first_content: float | None
    usage: Usage | None
    finish_reason: str | None
    failure: Failure | None
    choices: int = 1

    @property
    def label(self) -> str:
        """Which tools with which arguments, whatever their order; or that there was none."""
        if self.calls:
            return " + ".join(sorted(signature(call) for call in self.calls))
        return FAILED if self.failure is not None else NO_CALL


@dataclass
class VariantResult:
    """The samples of one variant, in the order in which they ended."""

    variant: Variant
    samples: list[Sample] = field(default_factory=list)

    def answers(self) -> list[tuple[str, int]]:
        """How often each combination of calls came, most frequent first."""
        return Counter(sample.label for sample in self.samples).most_common()

    def calls(self) -> list[tuple[str, int]]:
        """How often each single call came, most frequent first."""
        return Counter(signature(call) for sample in self.samples for call in sample.calls).most_common()

    @property
    def fitting(self) -> tuple[int, int]:
        """How many calls fit the schema of their tool, of how many."""
        fits = [fit for sample in self.samples for fit in sample.fits]
        return sum(fits), len(fits)

    def seconds(self, share: float) -> float | None:
        """The time within which that share (0 to 1) of the answers was whole; failed ones do not count."""
        return quantile([sample.seconds for sample in self.samples if sample.failure is None], share)

    def first_content(self, share: float) -> float | None:
        """The time within which that share (0 to 1) of the answers had begun."""
        return quantile([s.first_content for s in self.samples if s.first_content is not None], share)

    @property
    def tokens(self) -> tuple[int, int]:
        """Prompt and completion tokens of all requests, as far as they were reported, whatever choices they had."""
        usages = [sample.usage for sample in self.samples if sample.usage is not None]
        return sum(usage.prompt or 0 for usage in usages), sum(usage.completion or 0 for usage in usages)

    def failures(self) -> list[tuple[str, int]]:
        """How often each failure came, in the gateway's words."""
        return Counter(_words(sample.failure) for sample in self.samples if sample.failure is not None).most_common()


class Stability:
    """The samples of one or two variants as they come. ``stop`` ends it; what came stays."""

    def __init__(self, variants: Sequence[Variant], count: int) -> None:
        self.results = tuple(VariantResult(variant) for variant in variants)
        self.total = len(variants) * count
        self.stopped = False
        self.running = False
        self._task: asyncio.Task[object] | None = None

    @property
    def done(self) -> int:
        """Samples that have ended."""
        return sum(len(result.samples) for result in self.results)

    def stop(self) -> None:
        """Ask for no more, and end what is under way."""
        if self.running and not self.stopped:
            self.stopped = True
            if self._task is not None:
                self._task.cancel()

    async def perform(self, jobs: Sequence[Coroutine[None, None, None]]) -> None:
        """Do all of it at once; stopped, it returns all the same."""
        self._task, self.running = asyncio.current_task(), True
        try:
            async with asyncio.TaskGroup() as group:
                for job in jobs:
                    group.create_task(job)
        except asyncio.CancelledError:
            if not self.stopped:
                self.stopped = True
                raise
            if self._task is not None:
                self._task.uncancel()
        finally:
            self.running = False


def step_request(session: Session, turn_id: str = "") -> Request:
    """The request a run would send now, or the one that would be sent again for a turn. Raises RunRefusedError.

    What stands in open editors on the way there is kept first, as before a run.
    """
    at = session.transcript.turns[turn_id].parent if turn_id else HEAD
    if reason := session.next_request.refusal(at=at):
        raise RunRefusedError(reason)
    copies = session.editors.keep_open(at)
    at = standing(session.transcript, copies, at)
    return session.next_request.build(at=at)


async def sample(
    session: Session,
    request: Request,
    variants: Sequence[Variant] = (Variant(),),
    *,
    count: int = 5,
    parallel: int = 2,
    progress: Callable[[Stability], None] = lambda _stability: None,
) -> Stability:
    """Ask each variant of ``request`` ``count`` times (1 to 20), at most ``parallel`` at once.

    ``progress`` is told at the start and after every answer; the value it gets can stop the work. A failed answer is a
    sample too, after the tries the gateway's settings allow. Raises RunRefusedError when nothing could be asked, and
    ValueError for numbers out of range.
    """
    if not 1 <= count <= MOST_SAMPLES or not 1 <= parallel <= MOST_SAMPLES:
        raise ValueError(f"samples and how many at once go from 1 to {MOST_SAMPLES}")
    try:
        requests = [variant.applied(request) for variant in variants]
        for asked in requests:
            get_protocol(asked.protocol).encode(asked)
    except ValueError as error:
        raise RunRefusedError(f"The request cannot be written: {error}") from None
    stability = Stability(variants, count)
    client = await session.experiment.connect(session.settings.profile_id)
    free = asyncio.Semaphore(parallel)

    async def one(result: VariantResult, asked: Request, number: int) -> None:
        async with free:
            result.samples.append(await _ask(client, asked, number))
        progress(stability)

    # One of each variant in turn, so that a slow hour of the gateway's does not fall on one of them alone.
    pairs = list(zip(stability.results, requests, strict=True))
    jobs = [(result, asked, number) for number in range(count) for result, asked in pairs]
    progress(stability)
    await stability.perform([one(*job) for job in jobs])
    progress(stability)
    return stability


async def _ask(client: GatewayClient, request: Request, number: int) -> Sample:
    asking = Asking(request, Asked(model=request.model))
    await asking.ask(client)
    answer = asking.received.answer
    timing = asking.received.timing(asking.exchange) if asking.exchange is not None else None
    choice = answer.choice(0)
    parts = choice.freeze()
    calls = tuple(part for part in parts if isinstance(part, ToolCall))
    return Sample(
        number=number + 1,
        calls=calls,
        fits=tuple([(await verdict_on(call, request.tools)).code is VerdictCode.FITS for call in calls]),
        text="".join(part.text for part in parts if isinstance(part, Text)),
        seconds=(timing.end if timing is not None else None) or 0.0,
        first_content=timing.first_content if timing is not None else None,
        usage=answer.usage,
        finish_reason=choice.finish_reason,
        failure=answer.failure or _hole(answer),
        choices=answer.answered,
    )


def _hole(answer: Accumulator) -> Failure | None:
    """A sample of which part could not be read says nothing for certain: it counts as failed.

    What could not be read differs from one to the next and is left out, so that they are counted together.
    """
    failure = Failure(kind=FailureKind.DECODE, message="Part of the answer could not be read.")
    return failure if answer.holes else None


def quantile(values: Sequence[float], share: float) -> float | None:
    """The value below or at which that share (0 to 1) of them lies, between two neighbours in proportion."""
    if not values:
        return None
    ordered = sorted(values)
    place = min(max(share, 0.0), 1.0) * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def stability_csv(stability: Stability) -> str:
    """All samples as CSV, a line each."""
    rows = [
        (
            result.variant.name,
            sample.number,
            sample.label,
            sum(sample.fits),
            len(sample.fits),
            sample.seconds,
            sample.first_content,
            sample.usage.prompt if sample.usage else None,
            sample.usage.completion if sample.usage else None,
            sample.choices,
            sample.finish_reason,
            _words(sample.failure) if sample.failure else None,
            sample.text,
        )
        for result in stability.results
        for sample in sorted(result.samples, key=lambda one: one.number)
    ]
    return csv_text(_COLUMNS, rows)


def _words(failure: Failure) -> str:
    status = f"{failure.status}: " if failure.status and failure.kind is FailureKind.HTTP else ""
    return f"{status}{failure.message}"
