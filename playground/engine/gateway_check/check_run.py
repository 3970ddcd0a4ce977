"""Makes gateway checks one after the other and reports each line at once; a stopped run keeps its finished lines.

Nothing is raised for the gateway's behaviour. Requests are sent by the same executor as all others, so waits that a
gateway asks for are respected. The client has smaller limits than that of runs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from playground import __version__
from playground.domain.adaptations import Adaptation, AdaptationKind, with_rule
from playground.domain.durations import span
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, new_id
from playground.engine.advice.refused_fields import offers
from playground.engine.gateway_check import judges
from playground.engine.gateway_check.checks import BY_ID, CHECKS, Check, CheckCost, Key, Method, check_cost, keys
from playground.engine.gateway_check.judges import Assessment, CheckAnswer
from playground.engine.gateway_check.report import Departure, Line, Report, Verdict
from playground.engine.gateway_check.requests import CheckContext, Target
from playground.engine.gateways.secrets import Secret
from playground.engine.inspect.frames import FrameIndex
from playground.engine.inspect.lint import Finding, findings
from playground.engine.session.request_executor import RequestExecutor
from playground.gateway.connection import MEBIBYTE, Connection
from playground.gateway.limits import read_limits
from playground.gateway.prepared_request import redactor_for
from playground.jsonkit.texts import cut, listed
from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.gateway.client import GatewayClient
    from playground.gateway.models import ModelList
    from playground.gateway.tape import Exchange

_LOG = logging.getLogger(__name__)

_MAX_ANSWER_BYTES: Final = 4 * MEBIBYTE  # checks ask for a few words
_MAX_ANSWER_SECONDS: Final = 180.0
_MAX_RETRIES: Final = 2  # after a transient failure
_MAX_SAVED_BYTES: Final = 8 * MEBIBYTE  # of all bodies that are saved with a report
_MAX_DEVIATIONS: Final = 20  # of a line
_MAX_REPAIRS: Final = 3  # refused fields of one request that are adapted, one after the other
_MAX_REASON: Final = 200  # characters of the reason of a rule
_MAX_NOTE: Final = 300  # characters of a deviation's note
_MAX_CHOICES: Final = 8
_NOT_FINE: Final = frozenset(verdict for verdict in Verdict if not verdict.fine)
_WRONG_KEY: Final = "playground-check-a-key-that-nobody-has"
#: Deviations that count for nothing: an alias or a router answers under another name.
_IGNORED_DEVIATIONS: Final = frozenset({"model_other"})
#: The prefix of deviations that checks of their own are about.
_USAGE_CODES: Final = "usage"
#: The check that represents a protocol under which the model is not served.
_FIRST: Final = next(check for check in CHECKS if check.essential)


class CheckStarted(NamedTuple):
    """A check begins."""

    key: Key


class WaitChanged(NamedTuple):
    """The run waits before it asks again, for the reason in ``words``; empty when it goes on."""

    words: str


class LineAdded(NamedTuple):
    """A check has its result."""

    line: Line


CheckEvent: TypeAlias = CheckStarted | WaitChanged | LineAdded


def contexts_of(target: Target, protocols: Collection[str] = ()) -> tuple[CheckContext, ...]:
    """Return a context for each of the protocols, by default for all."""
    return tuple(CheckContext(target, get_protocol(name)) for name in PROTOCOLS if not protocols or name in protocols)


def keys_of(target: Target, protocols: Collection[str] = ()) -> tuple[Key, ...]:
    """Return all possible checks of ``target``, in the order in which they are made."""
    return tuple(keys(contexts_of(target, protocols)))


def costs_of(target: Target, selected: Collection[Key]) -> dict[Key, CheckCost]:
    """Return the maximum cost of each check."""
    contexts = {context.protocol.name: context for context in contexts_of(target)}
    return {key: check_cost(key, contexts.get(key[1]), target.price) for key in selected}


@dataclass
class _Attempt:
    """The state of one check: the answer that counts, its judgement, and the ids of all exchanges."""

    answer: CheckAnswer
    judgement: Assessment = field(default_factory=lambda: judges.untold(""))
    exchanges: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.exchanges.append(self.answer.exchange.id)


class CheckRun:
    """One series over ``target``: the ``selected`` checks, in the order of the table; ``notify`` receives the events.

    Protocols under which the model list does not offer the model are skipped, except those in ``forced``. ``report``
    holds the results so far, ``exchanges`` the traffic, oldest first.
    """

    def __init__(
        self,
        target: Target,
        selected: Collection[Key],
        notify: Callable[[CheckEvent], None],
        forced: Collection[str] = (),
    ) -> None:
        self.target = target
        self.exchanges: list[Exchange] = []
        self._selected = frozenset(selected)
        self._notify = notify
        self._forced = frozenset(forced)
        self._contexts = {context.protocol.name: context for context in contexts_of(target)}
        self._answers: dict[Key, CheckAnswer] = {}
        self._all_answers: list[CheckAnswer] = []
        self._reported: dict[tuple[str, bool], set[str]] = {}  # deviations by protocol and streaming
        self._rules: tuple[Adaptation, ...] = ()
        self._saved_bytes = 0
        self._report = Report(
            app=f"gateway-playground/{__version__}",
            gateway=target.gateway,
            profile_id=target.profile_id,
            base_url=target.connection.base_url,
            model=target.model,
            price=target.price,
            begun=time.time(),
        )

    @property
    def report(self) -> Report:
        """The results so far."""
        return self._report.model_copy(update={"learnt": self._rules})

    async def perform(self) -> Report:
        """Make all checks and return the report. Call it once. When cancelled, ``report`` is marked as stopped."""
        from playground.gateway.client import GatewayClient

        stopped = True
        try:
            async with GatewayClient(_limited(self.target.connection)) as client:
                for key in keys(tuple(self._contexts.values())):
                    if key in self._selected and (self._is_served(key[1]) or BY_ID[key[0]] is _FIRST):
                        self._notify(CheckStarted(key))
                        line = await self._line(key, client)
                        self._report = self._report.model_copy(update={"lines": (*self._report.lines, line)})
                        self._notify(LineAdded(line))
            stopped = False
        finally:
            self._report = self._report.model_copy(update={"ended": time.time(), "stopped": stopped})
        return self.report

    # ---- one line ----------------------------------------------------------------------------------------------------

    async def _line(self, key: Key, client: GatewayClient) -> Line:
        check, protocol = BY_ID[key[0]], key[1]
        if check.method is Method.LIST:
            return await self._list_line(check, client)
        if check.judge_all is not None:
            answers = [answer for answer in self._all_answers if answer.exchange.status is not None]
            return _bare_line(key, check.judge_all(answers) if answers else _skipped("No answer was received."))
        if reason := self._skip_reason(check, protocol):
            return _bare_line(key, _skipped(reason))
        context = self._context(protocol)
        if check.method is Method.KEY:
            return await self._wrong_key_line(check, context)
        request = check.request(context) if check.request is not None else None
        if request is not None:
            return await self._request_line(check, context, request, client)
        answer = self._answers.get((check.source, protocol))
        if answer is None:
            return _bare_line(key, _skipped(f"“{BY_ID[check.source].title}” was not requested."))
        return self._answer_line(check, answer, await self._judge(check, answer), is_reused=True)

    def _skip_reason(self, check: Check, protocol: str) -> str:
        """Return why a check is skipped; empty if it is made."""
        if not self._is_served(protocol):
            return f"The gateway lists this model under other endpoints than that of {PROTOCOLS[protocol]}."
        lines = [line for name in check.needs if (line := self._report.line(name, protocol)) is not None]
        if not lines or any(line.verdict.fine for line in lines):
            return ""
        titles = listed([f"“{line.title}”" for line in lines], "nor")
        return f"Neither {titles} works." if len(lines) > 1 else f"{titles} does not work."

    def _is_served(self, protocol: str) -> bool:
        """Return whether the model list allows requests over that protocol."""
        served = self.target.served
        return not protocol or served is None or protocol in served or protocol in self._forced

    def _context(self, protocol: str) -> CheckContext:
        """Return the context with the results so far: streamed if only that works, with the learnt rules."""
        short, stream = self._report.line("whole", protocol), self._report.line("stream", protocol)
        only_streams = short is not None and not short.verdict.fine and stream is not None and stream.verdict.fine
        ids = ("tool", "tool_stream", "tool_required", "tool_named")
        turns = (self._answers[key, protocol].turn for key in ids if (key, protocol) in self._answers)
        called = next((turn for turn in turns if turn.calls and not turn.truncated), None)
        return replace(self._contexts[protocol], streamed=only_streams, called=called, learnt=self._rules)

    async def _request_line(self, check: Check, context: CheckContext, request: Request, client: GatewayClient) -> Line:
        """Send the request, then adapted ones, the fallback, or the rule, as far as the answers call for them."""
        attempt = _Attempt(await self._send(request, client))
        attempt.judgement = await self._judge(check, attempt.answer)
        await self._repair(check, context, attempt, client)
        if attempt.judgement.verdict is Verdict.REFUSED and check.fallback is not None:
            fallback = check.fallback(context)
            if fallback is not None:
                await self._retry(check, attempt, fallback, client, unless=frozenset({Verdict.REFUSED}))
        if attempt.judgement.verdict is Verdict.UNSUPPORTED and check.rule is not None:
            rule, reason = check.rule(context), attempt.judgement.words
            if rule is not None and await self._retry(
                check, attempt, _adapted(request, (rule,)), client, unless=_NOT_FINE
            ):
                self._learn((rule,), reason)
        self._answers[check.id, context.protocol.name] = attempt.answer
        return self._answer_line(check, attempt.answer, attempt.judgement, exchanges=tuple(attempt.exchanges))

    async def _retry(
        self, check: Check, attempt: _Attempt, request: Request, client: GatewayClient, unless: frozenset[Verdict]
    ) -> bool:
        """Send another request; adopt its answer and return True if its verdict is none of ``unless``."""
        answer = await self._send(request, client)
        attempt.exchanges.append(answer.exchange.id)
        judgement = await self._judge(check, answer)
        if judgement.verdict in unless:
            return False
        attempt.answer, attempt.judgement = answer, judgement
        return True

    async def _repair(self, check: Check, context: CheckContext, attempt: _Attempt, client: GatewayClient) -> None:
        """Omit or adapt the fields that a refusal names, and learn the rules that help.

        If the refused field is the subject of the check, the verdict stays REFUSED, and the rule is learnt only if the
        application sends the field by itself.
        """
        for _ in range(_MAX_REPAIRS):
            failure = attempt.answer.failure
            offered = offers(failure) if failure is not None and attempt.judgement.verdict is Verdict.REFUSED else ()
            if not offered:
                return
            rules = tuple(rule.model_copy(update={"model": offered[0].kept_for}) for rule in offered[0].rules)
            before = attempt.judgement
            answer = await self._send(_adapted(attempt.answer.request, rules), client)
            attempt.exchanges.append(answer.exchange.id)
            judgement = await self._judge(check, answer)
            if _is_subject(context, attempt.answer.request, rules):
                if answer.failure is None:
                    words = " and ".join(map(_without, rules))
                    attempt.judgement = Assessment(Verdict.REFUSED, f"{before.words} Without {words} it is answered.")
                    if all(_is_automatic(context, rule) for rule in rules):
                        self._learn(rules, before.words)
                return
            attempt.answer, attempt.judgement = answer, judgement
            if answer.failure is None:
                self._learn(rules, before.words)

    def _learn(self, rules: Iterable[Adaptation], reason: str) -> None:
        day = datetime.now(UTC).astimezone().strftime("%Y-%m-%d")
        for rule in rules:
            learnt = rule.model_copy(update={"why": cut(reason, _MAX_REASON), "learnt": day})
            self._rules = with_rule(self._rules, learnt)

    async def _judge(self, check: Check, answer: CheckAnswer) -> Assessment:
        """Judge an answer in a thread, for it may be megabytes long."""
        try:
            if check.judge in (judges.unknown_model, judges.wrong_key):  # these expect a failure
                return await asyncio.to_thread(check.judge, answer)
            feature = "" if check.essential else check.id
            return await asyncio.to_thread(judges.judge_answer, check.judge, answer, feature=feature)
        except Exception as error:  # noqa: BLE001 - an error in one judge must not lose the other lines
            _LOG.exception("the judge of %s failed", check.id)
            return judges.untold(f"An error of this application prevented a verdict ({type(error).__name__}).")

    def _answer_line(
        self,
        check: Check,
        answer: CheckAnswer,
        judgement: Assessment,
        *,
        exchanges: tuple[str, ...] = (),
        is_reused: bool = False,
    ) -> Line:
        """Return the line of an answer. A deviation affects the verdict of the first line that has it.

        ``is_reused``: another line has reported the answer's deviations already.
        """
        about_usage = check.judge is judges.counted
        deviations = [item for item in answer.findings if item.code.startswith(_USAGE_CODES) == about_usage]
        if is_reused and not about_usage:
            deviations = []
        reported = self._reported.setdefault((answer.request.protocol, answer.outcome.streamed), set())
        new = {item.code for item in deviations} - reported - _IGNORED_DEVIATIONS
        reported.update(item.code for item in deviations)
        verdict = Verdict.DEVIATES if judgement.verdict is Verdict.WORKS and new else judgement.verdict
        timing, usage = answer.outcome.timing, answer.outcome.usage
        body = answer.protocol.encode(answer.request.model_copy(update={"adaptations": ()}), extras=False)
        return Line(
            check=check.id,
            title=check.title,
            protocol=answer.request.protocol,
            verdict=verdict,
            words=judgement.words,
            deviations=tuple(map(_departure, deviations[:_MAX_DEVIATIONS])),
            without=tuple(map(_without, answer.request.adaptations_of(body))),
            seconds=answer.exchange.ended,
            first=timing.first_token if timing is not None and answer.outcome.streamed else None,
            prompt=usage.prompt if usage is not None else None,
            completion=usage.completion if usage is not None else None,
            exchanges=exchanges or (answer.exchange.id,),
        )

    # ---- requests ----------------------------------------------------------------------------------------------------

    async def _send(self, request: Request, client: GatewayClient) -> CheckAnswer:
        target = self.target
        recipient = Asked(profile_id=target.profile_id, model=request.model, price=target.price)

        def report_wait() -> None:
            words = ""
            if (wait := executor.retry_wait) is not None:
                seconds = span(round(wait.remaining, 1))
                words = f"{judges.failure_line(wait.failure)} Asking again in {seconds}."
            self._notify(WaitChanged(words))

        executor = RequestExecutor(request, recipient, on_wait=report_wait)
        try:
            await executor.execute(client)
        finally:
            if executor.exchange is not None:
                self._save_exchange(executor.exchange)
        exchange, received = executor.exchange, executor.received
        if exchange is None:
            raise RuntimeError("nothing was sent")
        outcome = received.outcome(Ending.COMPLETE, received.answer.failure, exchange)
        indexes = sorted(received.answer.choices)[:_MAX_CHOICES] or [0]
        turns = tuple(received.turn(new_id(), index, outcome) for index in indexes)
        answer = CheckAnswer(
            get_protocol(request.protocol),
            request,
            turns,
            turns[0].outcome or outcome,
            exchange,
            await asyncio.to_thread(_lint_findings, exchange),
            read_limits(exchange.response_headers, exchange.started_at),
        )
        self._all_answers.append(answer)
        return answer

    def _save_exchange(self, exchange: Exchange) -> None:
        """Save an exchange with the report, up to the limit of bytes."""
        size = exchange.size + len(exchange.request_body)
        if self._saved_bytes + size > _MAX_SAVED_BYTES:
            self._report = self._report.model_copy(update={"unkept": (*self._report.unkept, exchange.id)})
            return
        self._saved_bytes += size
        self.exchanges.append(exchange)

    async def _list_line(self, check: Check, client: GatewayClient) -> Line:
        listing = await client.list_models(next(iter(self._contexts), DEFAULT))
        for exchange in listing.exchanges:
            self._save_exchange(exchange)
        model = self.target.model
        is_listed = await asyncio.to_thread(listing.__contains__, model)  # the list may be long
        if self.target.served is None and is_listed:
            served = {name: listing.serves(model, name) for name in PROTOCOLS}
            if any(answer is not None for answer in served.values()):
                names = frozenset(name for name, answer in served.items() if answer)
                self.target = replace(self.target, served=names)
        judgement = _judge_list(listing, is_listed=is_listed)
        return Line(
            check=check.id,
            title=check.title,
            verdict=judgement.verdict,
            words=judgement.words,
            seconds=listing.seconds,
            exchanges=tuple(exchange.id for exchange in listing.exchanges[:1]),
        )

    async def _wrong_key_line(self, check: Check, context: CheckContext) -> Line:
        from playground.gateway.client import GatewayClient

        key, connection = (check.id, context.protocol.name), self.target.connection
        if not connection.clean_key:
            return _bare_line(key, _skipped("No key is set, so there is none to be wrong."))
        if connection.secret_headers:
            words = "The gateway has secret headers besides the key, which would let it in."
            return _bare_line(key, _skipped(words))
        request = check.request(context) if check.request is not None else None
        if request is None:
            return _bare_line(key, _skipped("There is nothing to send."))
        wrong = _limited(connection).model_copy(update={"key": Secret(_WRONG_KEY), "retries": 0})
        async with GatewayClient(wrong) as client:
            client.redactor = redactor_for(connection)  # the gateway has seen the real key, and may quote it
            answer = await self._send(request, client)
        return self._answer_line(check, answer, await self._judge(check, answer))


def _bare_line(key: Key, judgement: Assessment) -> Line:
    """Return the line of a check without an answer of its own."""
    return Line(
        check=key[0], title=BY_ID[key[0]].title, protocol=key[1], verdict=judgement.verdict, words=judgement.words
    )


def _skipped(words: str) -> Assessment:
    return Assessment(Verdict.SKIPPED, words)


def _judge_list(listing: ModelList, *, is_listed: bool) -> Assessment:
    count = len(listing.models)
    models = f"{count} {'model' if count == 1 else 'models'}"
    if listing.failure is not None and count:
        words = f"It breaks off after {count} models: {judges.failure_line(listing.failure)}"
        return Assessment(Verdict.WRONG, words)
    if listing.failure is not None:
        return judges.judge_failure(listing.failure)
    if not count:
        return judges.untold("The list is there, and is empty.")
    return judges.works(f"{models}, this one among them." if is_listed else f"{models}; this one is not among them.")


def _adapted(request: Request, rules: Iterable[Adaptation]) -> Request:
    return request.model_copy(update={"adaptations": (*request.adaptations, *rules)})


def _is_subject(context: CheckContext, request: Request, rules: Iterable[Adaptation]) -> bool:
    """Return whether rules are about a field or role that a request for a short answer does not have."""
    encode, plain = context.protocol.encode, _FIRST.request(context) if _FIRST.request is not None else None
    usual = set(encode(plain)) if plain is not None else set()
    usual |= {"stream"} if context.streamed else set()
    roles = {turn.role.value for turn in plain.turns} if plain is not None else set()
    own = set(encode(request.model_copy(update={"adaptations": ()}))) - usual
    return any(
        rule.field not in roles
        if rule.kind is AdaptationKind.ROLE
        else rule.kind is not AdaptationKind.RENAME and rule.field.partition(".")[0] in own
        for rule in rules
    )


def _is_automatic(context: CheckContext, rule: Adaptation) -> bool:
    """Return whether a rule is about a role, or a field that the application sends by itself."""
    hints = context.fields.hints()
    automatic = {(hint.path or name).partition(".")[0] for name, hint in hints if hint.ours is not None}
    return rule.kind is AdaptationKind.ROLE or rule.field.partition(".")[0] in automatic


def _limited(connection: Connection) -> Connection:
    """Return the connection with limits for small answers."""
    total = min(connection.timeouts.total or _MAX_ANSWER_SECONDS, _MAX_ANSWER_SECONDS)
    return connection.model_copy(
        update={
            "retries": min(connection.retries, _MAX_RETRIES),
            "max_event_bytes": min(connection.max_event_bytes, _MAX_ANSWER_BYTES),
            "max_body_bytes": min(connection.max_body_bytes, _MAX_ANSWER_BYTES),
            "timeouts": connection.timeouts.model_copy(update={"total": total}),
        }
    )


def _lint_findings(exchange: Exchange) -> tuple[Finding, ...]:
    index = FrameIndex(exchange)
    index.extend()
    return findings(index)


def _departure(finding: Finding) -> Departure:
    return Departure(code=finding.code, note=cut(finding.note, _MAX_NOTE), section=finding.section)


def _without(rule: Adaptation) -> str:
    """Return a rule in words that continue a sentence after "without"."""
    if rule.kind is AdaptationKind.OMIT:
        return rule.field
    kind = "the role " if rule.kind is AdaptationKind.ROLE else ""
    return f"{kind}{rule.field} (sent as {cut(str(rule.to), 40)})"
