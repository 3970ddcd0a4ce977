"""Makes the checks, one after the other, and tells of each line as it comes. What is there when it is stopped stays.

Nothing is raised for what a gateway does. Requests are sent as all others are (``session.request_executor``): waits
that a gateway asks for are kept to, and said. Its client is its own, with smaller limits than runs have.
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
from playground.domain.errors import Failure
from playground.domain.prices import Asked
from playground.domain.request import Request
from playground.domain.transcript import Ending, new_id
from playground.engine.advice.refused_fields import offers
from playground.engine.gateway_check import judges
from playground.engine.gateway_check.estimate import Estimate, estimate
from playground.engine.gateway_check.judges import Came, Found
from playground.engine.gateway_check.report import Departure, Line, Report, Verdict
from playground.engine.gateway_check.series import BY_ID, CHECKS, Check, How, Key, keys
from playground.engine.gateway_check.setting import Setting, Target
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
    from playground.gateway.tape import Exchange

_LOG = logging.getLogger(__name__)

LARGEST: Final = 4 * MEBIBYTE  # of one answer: all that is asked for is a few words
LONGEST: Final = 180.0  # seconds that one answer may take
_TRIES: Final = 2  # after a failure that may pass
_KEPT_BYTES: Final = 8 * MEBIBYTE  # of all bodies that are kept with a report
_MOST_DEVIATIONS: Final = 20  # of a line
_MOST_MENDS: Final = 3  # fields that are left out of one request, one refusal each
_MOST_WHY: Final = 200  # characters of what a gateway said
_NOT_FINE: Final = frozenset(verdict for verdict in Verdict if not verdict.fine)
_MOST_NOTE: Final = 300  # characters of one
_WRONG_KEY: Final = "playground-check-a-key-that-nobody-has"
#: Deviations that say nothing against a gateway: an alias or a router answers under another name.
_USUAL: Final = frozenset({"model_other"})
#: Codes that lines of their own are about.
_COUNTS: Final = "usage"
#: The one that stands for all over a protocol under which the model is not served.
_FIRST: Final = next(check for check in CHECKS if check.essential)


class Begun(NamedTuple):
    """A check is being made."""

    key: Key


class Waits(NamedTuple):
    """It waits before it asks again, and why; empty when it goes on."""

    words: str


class Made(NamedTuple):
    """A line is there."""

    line: Line


Told: TypeAlias = Begun | Waits | Made


def settings_of(target: Target, protocols: Collection[str] = ()) -> tuple[Setting, ...]:
    """How to ask over each protocol; empty: over all there are."""
    return tuple(Setting(target, get_protocol(name)) for name in PROTOCOLS if not protocols or name in protocols)


def keys_of(target: Target, protocols: Collection[str] = ()) -> tuple[Key, ...]:
    """All that can be checked of ``target``, in the order in which it is asked."""
    return tuple(keys(settings_of(target, protocols)))


def estimates_of(target: Target, wanted: Collection[Key]) -> dict[Key, Estimate]:
    """What each check costs at most."""
    over = {setting.protocol.name: setting for setting in settings_of(target)}
    return {key: estimate(key, over.get(key[1]), target.price) for key in wanted}


@dataclass
class _Tried:
    """What a check has come to so far: the answer that counts, its verdict, and all exchanges."""

    came: Came
    found: Found = field(default_factory=lambda: judges.untold(""))
    used: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.used.append(self.came.exchange.id)


class CheckRun:
    """One series over ``target``: the checks ``wanted``, in the order of the table. ``tell`` is told what happens.

    A protocol under which the list says that the model is not served is left out, but for those in ``insisted``.
    ``report`` is what came so far, ``exchanges`` what went over the wire for it, oldest first.
    """

    def __init__(
        self,
        target: Target,
        wanted: Collection[Key],
        tell: Callable[[Told], None],
        insisted: Collection[str] = (),
    ) -> None:
        self.target = target
        self.exchanges: list[Exchange] = []
        self._wanted = frozenset(wanted)
        self._tell = tell
        self._insisted = frozenset(insisted)
        self._settings = {setting.protocol.name: setting for setting in settings_of(target)}
        self._came: dict[Key, Came] = {}
        self._all_came: list[Came] = []
        self._told_of: dict[tuple[str, bool], set[str]] = {}  # codes by protocol and whether it was streamed
        self._learnt: tuple[Adaptation, ...] = ()
        self._kept_bytes = 0
        self._report = Report(
            app=f"gateway-playground/{__version__}",
            gateway=target.gateway,
            profile_id=target.profile_id,
            base_url=target.made.base_url,
            model=target.model,
            price=target.price,
            begun=time.time(),
        )

    @property
    def report(self) -> Report:
        """What came so far."""
        return self._report.model_copy(update={"learnt": self._learnt})

    async def perform(self) -> Report:
        """Make all of them; awaited once. Cancelled, it closes the way and passes that on; ``report`` says so then."""
        from playground.gateway.client import GatewayClient

        try:
            async with GatewayClient(_bounded(self.target.made)) as client:
                for key in keys(self._settings.values()):
                    if key in self._wanted and (self._is_served(key[1]) or BY_ID[key[0]] is _FIRST):
                        self._tell(Begun(key))
                        self._put(await self._line(key, client))
        except asyncio.CancelledError:
            self._end(stopped=True)
            raise
        self._end(stopped=False)
        return self.report

    def _end(self, *, stopped: bool) -> None:
        self._report = self._report.model_copy(update={"ended": time.time(), "stopped": stopped})

    def _put(self, line: Line) -> None:
        self._report = self._report.model_copy(update={"lines": (*self._report.lines, line)})
        self._tell(Made(line))

    # ---- one line ----------------------------------------------------------------------------------------------------

    async def _line(self, key: Key, client: GatewayClient) -> Line:
        check, protocol = BY_ID[key[0]], key[1]
        if check.how is How.LIST:
            return await self._list(check, client)
        if check.look is not None:
            answers = [came for came in self._all_came if came.exchange.status is not None]
            found = check.look(answers) if answers else _skipped("No answer came.")
            return Line(check=check.id, title=check.title, verdict=found.verdict, words=found.words)
        if why := self._hindrance(check, protocol):
            return self._no_line(key, _skipped(why))
        setting = self._setting(protocol)
        if check.how is How.KEY:
            return await self._with_wrong_key(check, setting)
        request = check.ask(setting) if check.ask is not None else None
        if request is None:
            came = self._came.get((check.of, protocol))
            if came is None:
                return self._no_line(key, _skipped(f"“{BY_ID[check.of].title}” was not asked for."))
            return self._told(check, came, await self._judge(check, came), counts=True)
        return await self._asked(check, setting, request, client)

    def _no_line(self, key: Key, found: Found) -> Line:
        return Line(check=key[0], title=BY_ID[key[0]].title, protocol=key[1], verdict=found.verdict, words=found.words)

    def _hindrance(self, check: Check, protocol: str) -> str:
        """Why nothing is asked; empty where it is."""
        if not self._is_served(protocol):
            return f"The gateway lists this model under other endpoints than that of {PROTOCOLS[protocol]}."
        made = [line for name in check.needs if (line := self._report.line(name, protocol)) is not None]
        if not made or any(line.verdict.fine for line in made):
            return ""
        them = listed([f"“{line.title}”" for line in made], "nor")
        return f"{'Neither ' if len(made) > 1 else ''}{them} {'works' if len(made) > 1 else 'does not work'}."

    def _is_served(self, protocol: str) -> bool:
        """Whether it is worth asking over that protocol, as far as the list tells."""
        served = self.target.served
        return not protocol or served is None or protocol in served or protocol in self._insisted

    def _setting(self, protocol: str) -> Setting:
        """How to ask now: as a stream where only that works, with what was learnt so far."""
        whole, stream = self._report.line("whole", protocol), self._report.line("stream", protocol)
        only_streams = whole is not None and not whole.verdict.fine and stream is not None and stream.verdict.fine
        ids = ("tool", "tool_stream", "tool_required", "tool_named")
        turns = (self._came[key, protocol].turn for key in ids if (key, protocol) in self._came)
        called = next((turn for turn in turns if turn.calls and not turn.truncated), None)
        return replace(self._settings[protocol], streamed=only_streams, called=called, learnt=self._learnt)

    async def _asked(self, check: Check, setting: Setting, request: Request, client: GatewayClient) -> Line:
        """Ask, and where that is refused in a way that can be mended, or in another one, once more."""
        tried = _Tried(await self._ask(request, client))
        tried.found = await self._judge(check, tried.came)
        await self._mend(check, setting, tried, client)
        if tried.found.verdict is Verdict.REFUSED and check.instead is not None:
            other = check.instead(setting)
            if other is not None:
                await self._try(check, tried, other, client, unless=frozenset({Verdict.REFUSED}))
        if tried.found.verdict is Verdict.UNSUPPORTED and check.rule is not None:
            rule, why = check.rule(setting), tried.found.words
            if rule is not None and await self._try(check, tried, _with(request, (rule,)), client, unless=_NOT_FINE):
                self._learn((rule,), why)
        self._came[check.id, setting.protocol.name] = tried.came
        return self._told(check, tried.came, tried.found, used=tuple(tried.used))

    async def _try(
        self, check: Check, tried: _Tried, request: Request, client: GatewayClient, unless: frozenset[Verdict]
    ) -> bool:
        """Ask in another way. It takes the place of what came before, and True is returned, ``unless`` that comes."""
        came = await self._ask(request, client)
        tried.used.append(came.exchange.id)
        found = await self._judge(check, came)
        if found.verdict in unless:
            return False
        tried.came, tried.found = came, found
        return True

    async def _mend(self, check: Check, setting: Setting, tried: _Tried, client: GatewayClient) -> None:
        """Leave out what is named by a refusal, or send it otherwise. What is mended so is learnt, unless it is what
        the check is about: then it stays refused, and is learnt only where the program sends it by itself.
        """
        for _ in range(_MOST_MENDS):
            failure = tried.came.failure
            offered = offers(failure) if failure is not None and tried.found.verdict is Verdict.REFUSED else ()
            if not offered:
                return
            offer = offered[0]
            rules = tuple(rule.model_copy(update={"model": offer.kept_for}) for rule in offer.rules)
            before, request = tried.found, _with(tried.came.request, rules)
            came = await self._ask(request, client)
            tried.used.append(came.exchange.id)
            found = await self._judge(check, came)
            if _is_subject(setting, tried.came.request, rules):
                if came.failure is None:
                    deed = " and ".join(map(_without, rules))
                    tried.found = Found(Verdict.REFUSED, f"{before.words} Without {deed} it is answered.")
                    if all(_is_ours(setting, rule) for rule in rules):
                        self._learn(rules, before.words)
                return
            tried.came, tried.found = came, found
            if came.failure is None:
                self._learn(rules, before.words)

    def _learn(self, rules: Iterable[Adaptation], why: str) -> None:
        day = datetime.now(UTC).astimezone().strftime("%Y-%m-%d")
        for rule in rules:
            kept = rule.model_copy(update={"why": cut(why, _MOST_WHY), "learnt": day})
            self._learnt = with_rule(self._learnt, kept)

    async def _judge(self, check: Check, came: Came) -> Found:
        """On a thread: an answer may be megabytes long."""
        by_error = check.judge in (judges.unknown_model, judges.wrong_key)
        of = "" if check.essential else check.id
        try:
            if by_error:
                return await asyncio.to_thread(check.judge, came)
            return await asyncio.to_thread(judges.judged, check.judge, came, of=of)
        except Exception as error:  # noqa: BLE001 - one line that cannot be judged must not cost the others
            _LOG.exception("the judge of %s failed", check.id)
            return judges.untold(f"A mistake of this application kept it from being judged ({type(error).__name__}).")

    def _told(
        self, check: Check, came: Came, found: Found, *, used: tuple[str, ...] = (), counts: bool = False
    ) -> Line:
        """The line. A deviation counts where it is seen first: what every answer has is told of once."""
        about_counts = check.judge is judges.counted
        seen = [one for one in came.findings if one.code.startswith(_COUNTS) == about_counts]
        if counts:  # the answer was told of already
            seen = [one for one in seen if about_counts]
        known = self._told_of.setdefault((came.request.protocol, came.outcome.streamed), set())
        new = [one for one in seen if one.code not in known and one.code not in _USUAL]
        known.update(one.code for one in seen)
        verdict = Verdict.DEVIATES if found.verdict is Verdict.WORKS and new else found.verdict
        timing, usage = came.outcome.timing, came.outcome.usage
        body = came.protocol.encode(came.request.model_copy(update={"adaptations": ()}), extras=False)
        without = [_without(rule) for rule in came.request.adaptations_of(body)]
        return Line(
            check=check.id,
            title=check.title,
            protocol=came.request.protocol,
            verdict=verdict,
            words=found.words,
            deviations=tuple(map(_departure, seen[:_MOST_DEVIATIONS])),
            without=tuple(without),
            seconds=came.exchange.ended,
            first=timing.first_token if timing is not None and came.outcome.streamed else None,
            prompt=usage.prompt if usage is not None else None,
            completion=usage.completion if usage is not None else None,
            exchanges=used or (came.exchange.id,),
        )

    # ---- asking ------------------------------------------------------------------------------------------------------

    async def _ask(self, request: Request, client: GatewayClient) -> Came:
        target = self.target
        asked = Asked(profile_id=target.profile_id, model=request.model, price=target.price)

        def waits() -> None:
            wait = executor.retry_wait
            words = f"{judges.said(wait.failure)} Asking again in {span(round(wait.remaining, 1))}." if wait else ""
            self._tell(Waits(words))

        executor = RequestExecutor(request, asked, on_wait=waits)
        try:
            await executor.execute(client)
        except asyncio.CancelledError:
            if executor.exchange is not None:
                self._keep(executor.exchange)
            raise
        exchange, received = executor.exchange, executor.received
        if exchange is None:
            raise RuntimeError("nothing was asked")
        self._keep(exchange)
        failure: Failure | None = received.answer.failure
        outcome = received.outcome(Ending.COMPLETE, failure, exchange)
        indexes = sorted(received.answer.choices)[:8] or [0]
        turns = tuple(received.turn(new_id(), index, outcome) for index in indexes)
        found = await asyncio.to_thread(_looked_through, exchange)
        limits = read_limits(exchange.response_headers, exchange.started_at)
        first = turns[0].outcome or outcome
        came = Came(get_protocol(request.protocol), request, turns, first, exchange, found, limits)
        self._all_came.append(came)
        return came

    def _keep(self, exchange: Exchange) -> None:
        """Keep it with the report, as long as there is room."""
        size = exchange.size + len(exchange.request_body)
        if self._kept_bytes + size > _KEPT_BYTES:
            self._report = self._report.model_copy(update={"unkept": (*self._report.unkept, exchange.id)})
            return
        self._kept_bytes += size
        self.exchanges.append(exchange)

    async def _list(self, check: Check, client: GatewayClient) -> Line:
        protocol = next(iter(self._settings), DEFAULT)
        listing = await client.list_models(protocol)
        for exchange in listing.exchanges:
            self._keep(exchange)
        model, count = self.target.model, len(listing.models)
        await asyncio.to_thread(listing.__contains__, model)  # it may be long, and is looked through once
        if self.target.served is None and model in listing:
            named = {name for name in PROTOCOLS if listing.serves(model, name)}
            told = any(listing.serves(model, name) is not None for name in PROTOCOLS)
            self.target = replace(self.target, served=frozenset(named) if told else None)
        if listing.failure is not None:
            found = judges.of_failure(listing.failure)
            if count:
                found = Found(Verdict.WRONG, f"It breaks off after {count} models: {judges.said(listing.failure)}")
        elif not count:
            found = judges.untold("The list is there, and is empty.")
        elif model in listing:
            found = judges.works(f"{count} {'model' if count == 1 else 'models'}, this one among them.")
        else:
            found = judges.works(f"{count} {'model' if count == 1 else 'models'}; this one is not among them.")
        return Line(
            check=check.id,
            title=check.title,
            verdict=found.verdict,
            words=found.words,
            seconds=listing.seconds,
            exchanges=tuple(exchange.id for exchange in listing.exchanges[:1]),
        )

    async def _with_wrong_key(self, check: Check, setting: Setting) -> Line:
        from playground.gateway.client import GatewayClient

        key, made = (check.id, setting.protocol.name), self.target.made
        if not made.clean_key:
            return self._no_line(key, _skipped("No key is set, so there is none to be wrong."))
        if made.secret_headers:
            return self._no_line(
                key, _skipped("The gateway has secret headers besides the key, which would let it in.")
            )
        request = check.ask(setting) if check.ask is not None else None
        if request is None:
            return self._no_line(key, _skipped("There is nothing to ask."))
        wrong = _bounded(made).model_copy(update={"key": Secret(_WRONG_KEY), "retries": 0})
        async with GatewayClient(wrong) as client:
            client.redactor = redactor_for(made)  # a gateway may say the right one, which it was sent before
            came = await self._ask(request, client)
        return self._told(check, came, await self._judge(check, came))


def _skipped(words: str) -> Found:
    return Found(Verdict.SKIPPED, words)


def _with(request: Request, rules: Iterable[Adaptation]) -> Request:
    return request.model_copy(update={"adaptations": (*request.adaptations, *rules)})


def _is_subject(setting: Setting, request: Request, rules: Iterable[Adaptation]) -> bool:
    """Whether rules are about what makes ``request`` another one than that for a short answer."""
    encode, plain = setting.protocol.encode, _FIRST.ask(setting) if _FIRST.ask is not None else None
    usual = set(encode(plain)) if plain is not None else set()
    usual |= {"stream"} if setting.streamed else set()
    roles = {turn.role.value for turn in plain.turns} if plain is not None else set()
    own = set(encode(request.model_copy(update={"adaptations": ()}))) - usual
    return any(
        rule.field not in roles
        if rule.kind is AdaptationKind.ROLE
        else rule.kind is not AdaptationKind.RENAME and rule.field.partition(".")[0] in own
        for rule in rules
    )


def _is_ours(setting: Setting, rule: Adaptation) -> bool:
    """Whether it is about something that goes out without anybody having set it, or loses nothing."""
    ours = {(hint.path or name).partition(".")[0] for name, hint in setting.fields.hints() if hint.ours is not None}
    return rule.kind is AdaptationKind.ROLE or rule.field.partition(".")[0] in ours


def _bounded(made: Connection) -> Connection:
    """The connection with limits that fit small answers."""
    total = min(made.timeouts.total or LONGEST, LONGEST)
    return made.model_copy(
        update={
            "retries": min(made.retries, _TRIES),
            "max_event_bytes": min(made.max_event_bytes, LARGEST),
            "max_body_bytes": min(made.max_body_bytes, LARGEST),
            "timeouts": made.timeouts.model_copy(update={"total": total}),
        }
    )


def _looked_through(exchange: Exchange) -> tuple[Finding, ...]:
    """What the lint says of an exchange."""
    index = FrameIndex(exchange)
    index.extend()
    return findings(index)


def _departure(finding: Finding) -> Departure:
    return Departure(code=finding.code, note=cut(finding.note, _MOST_NOTE), section=finding.section)


def _without(rule: Adaptation) -> str:
    """What a rule did, in words that go on from "without"."""
    if rule.kind is AdaptationKind.OMIT:
        return rule.field
    kind = "the role " if rule.kind is AdaptationKind.ROLE else ""
    return f"{kind}{rule.field} (sent as {cut(str(rule.to), 40)})"
