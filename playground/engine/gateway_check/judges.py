"""What an answer tells of the protocol, a judge for each question. What a model is good for is nobody's business here:
where a wrong answer may be the model's doing, it is said that the question could not be told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from playground.domain.durations import duration_words
from playground.domain.errors import Failure, FailureKind
from playground.domain.output import check_answer
from playground.domain.request import Request
from playground.domain.transcript import Outcome, Turn
from playground.engine.advice import advise, own_words
from playground.engine.advice.by_kind import KEY_MEANINGS, NO_PATH
from playground.engine.gateway_check.report import Verdict
from playground.engine.gateway_check.setting import COLOUR, NO_MODEL, SHORT, STOP, TOOL
from playground.engine.inspect.lint import Finding
from playground.gateway.limits import RateLimits
from playground.gateway.tape import Exchange
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import cut
from playground.jsonkit.validation import check_value
from playground.protocols.protocol import Protocol, format_in

MOST_WORDS: Final = 300  # characters of a gateway's words in a sentence
_GIST: Final = 60  # characters of an answer in it
_TOO_LONG: Final = 100_000  # characters of an answer that are looked at

_COLOUR: Final = re.compile(rf"\b{COLOUR}\b", re.IGNORECASE)

#: Failures after which it is known that the answer was no good, not that there was none.
_ODD: Final = frozenset(
    {
        FailureKind.STREAM,
        FailureKind.DECODE,
        FailureKind.OTHER_PROTOCOL,
        FailureKind.CUT_OFF,
        FailureKind.NO_BODY,
        FailureKind.TOO_LARGE,
        FailureKind.NOT_HTTP,
    }
)


class Found(NamedTuple):
    """A verdict and a sentence that says why."""

    verdict: Verdict
    words: str


@dataclass(frozen=True)
class Came:
    """What came of one request. ``turns`` are the choices, at least one; ``findings`` is what the lint says.

    ``outcome`` is what is known of the answer as a whole, with the first choice's end.
    """

    protocol: Protocol
    request: Request
    turns: tuple[Turn, ...]
    outcome: Outcome
    exchange: Exchange
    findings: tuple[Finding, ...] = ()
    limits: RateLimits = field(default_factory=RateLimits)

    @property
    def turn(self) -> Turn:
        """The first choice."""
        return self.turns[0]

    @property
    def failure(self) -> Failure | None:
        """Why there is no whole answer."""
        return self.outcome.failure

    @property
    def cut(self) -> bool:
        """Whether the limit of tokens ended it."""
        return self.outcome.finish_reason == self.protocol.expected.cut

    def has(self, *codes: str) -> bool:
        """Whether the lint or the decoder noted one of these."""
        return any(finding.code in codes for finding in self.findings)

    @property
    def text(self) -> str:
        """The first choice's content, as much of it as is looked at."""
        return self.turn.text[:_TOO_LONG]


Judge: TypeAlias = Callable[[Came], Found]


def works(words: str) -> Found:
    return Found(Verdict.WORKS, words)


def untold(words: str) -> Found:
    return Found(Verdict.UNTOLD, words)


def quoted(text: str, most: int = _GIST) -> str:
    """The beginning of what was said, in one line and in quotation marks."""
    return f"“{cut(' '.join(text[: 4 * most].split()), most)}”"


def said(failure: Failure) -> str:
    """A failure in a line: its status, and the gateway's own words."""
    advice = advise(failure)
    status = f"HTTP {failure.status}: " if failure.status else ""
    words = own_words(failure, advice) or advice.title
    return status + cut(" ".join(words[: 4 * MOST_WORDS].split()), MOST_WORDS)


#: Meanings of a refusal, whatever the status: some gateways call all that they cannot take an error of their own.
_REFUSED: Final = frozenset({"parameter", "images", "tools", "output format", "tool schema", "reasoning", "turns"})


def of_failure(failure: Failure, *, of: str = "") -> Found:
    """What a failure says of what was asked; ``of`` is the feature in question, where it is a particular one."""
    if failure.kind is FailureKind.EMPTY:
        return untold("The answer is complete and has nothing in it.")
    if failure.kind is FailureKind.INPUT:
        return Found(Verdict.SKIPPED, f"Nothing was sent: {said(failure)}")
    if failure.kind in _ODD:
        return Found(Verdict.WRONG, said(failure))
    meaning = advise(failure).meaning
    if failure.kind is FailureKind.HTTP and failure.status == 500 and meaning in _REFUSED:
        return Found(Verdict.REFUSED, said(failure))
    if failure.kind is not FailureKind.HTTP or failure.status is None or failure.status >= 500:
        return Found(Verdict.UNSUPPORTED if failure.status == 501 else Verdict.FAILED, said(failure))
    if failure.status == 429:
        return Found(Verdict.FAILED, f"No request is taken now: {said(failure)}")
    if meaning in KEY_MEANINGS or failure.status in (401, 402, 403):
        return Found(Verdict.REFUSED, said(failure))
    if not of and (meaning == "no endpoint" or (failure.status in NO_PATH and "model" not in failure.message.lower())):
        return Found(Verdict.UNSUPPORTED, f"There is no such endpoint ({said(failure)}).")
    return Found(Verdict.REFUSED, said(failure))


def judged(judge: Judge, came: Came, *, of: str) -> Found:
    """What ``judge`` says, where there is an answer at all."""
    failure = came.failure
    if failure is not None and not (failure.kind is FailureKind.EMPTY and came.cut):
        return of_failure(failure, of=of)
    return judge(came)


# ---- an answer -------------------------------------------------------------------------------------------------------


def short_answer(came: Came) -> Found:
    """An answer that is not streamed."""
    if came.exchange.content_type and "event-stream" in came.exchange.content_type:
        return Found(Verdict.WRONG, "A stream came though none was asked for.")
    if came.outcome.holes:
        return _with_holes(came)
    return works(f"{_answer(came)} in {duration_words(came.exchange.ended or 0.0)}.")


def streamed(came: Came) -> Found:
    """An answer in pieces, to its end."""
    if came.has("json_body", "not_streamed"):
        return Found(Verdict.UNSUPPORTED, "The answer came as a whole though a stream was asked for.")
    if came.has("no_finish_reason", "cut_off"):
        return Found(Verdict.WRONG, f"The stream ends with neither a finish reason nor an end: {quoted(came.text)}.")
    if came.outcome.holes:
        return _with_holes(came)
    timing, reads = came.outcome.timing, len(came.exchange.reads)
    first = timing.first_token if timing is not None else None
    when = f"First token after {duration_words(first)}, " if first is not None else ""
    end = f"ended with {quoted(came.outcome.finish_reason)}" if came.outcome.finish_reason else "without a reason"
    return works(f"{when}{_answer(came, upper=not when)} in {reads} {'read' if reads == 1 else 'reads'}, {end}.")


def _with_holes(came: Came) -> Found:
    """An answer of which something could not be read."""
    notes = [note for code, note in came.outcome.deviations if code in came.outcome.holes]
    return Found(Verdict.WRONG, f"Part of the answer could not be read: {'; '.join(notes[:2]) or quoted(came.text)}.")


def _answer(came: Came, *, upper: bool = True) -> str:
    said_there = quoted(came.text) if came.text.strip() else "an answer without text"
    return said_there[:1].upper() + said_there[1:] if upper else said_there


def counted(came: Came) -> Found:
    """Token counts."""
    usage = came.outcome.usage
    if usage is None or (usage.prompt is None and usage.completion is None):
        return Found(Verdict.UNSUPPORTED, "No token counts came.")
    if usage.prompt is None or usage.completion is None:
        return Found(Verdict.WRONG, "Only one of the two token counts came.")
    return works(f"{usage.prompt} tokens in, {usage.completion} out.")


def accepted(came: Came) -> Found:
    """A field or role that leaves no trace in the answer."""
    return works("Taken, and answered; whether it was followed is the model's matter.")


# ---- what is set -----------------------------------------------------------------------------------------------------


def limited(came: Came) -> Found:
    """The most tokens, and a finish reason that says so."""
    usage, reason = came.outcome.usage, quoted(came.outcome.finish_reason or "no reason")
    written = usage.completion if usage is not None else None
    if came.cut:
        count = f" after {written} tokens" if written is not None else ""
        return works(f"The answer ends at the limit of {SHORT} tokens{count}, with {reason}.")
    if written is not None and written > SHORT:
        return Found(Verdict.UNSUPPORTED, f"{written} tokens came where {SHORT} were the limit.")
    if (size := len(came.turn.text)) > 16 * SHORT:
        return Found(Verdict.UNSUPPORTED, f"{size} characters came where {SHORT} tokens were the limit.")
    return untold(f"The answer ended before the limit of {SHORT} tokens, with {reason}.")


def stopped(came: Came) -> Found:
    """A stop sequence, which ends the answer and is not in it."""
    if STOP in came.text:
        return Found(Verdict.UNSUPPORTED, f"The text goes on past “{STOP}”: {quoted(came.text)}.")
    if came.cut:
        return untold("The answer reached its limit before a stop sequence came up.")
    return works(f"The answer stops before “{STOP}”: {quoted(came.text)}, with {quoted(_reason(came))}.")


def _reason(came: Came) -> str:
    return came.outcome.finish_reason or "no reason"


def several(came: Came) -> Found:
    """Two answers to one request."""
    count = len(came.turns)
    if count == 1:
        return Found(Verdict.UNSUPPORTED, "One answer came where two were asked for.")
    if count != 2:
        return Found(Verdict.WRONG, f"{count} answers came where two were asked for.")
    ends = [turn.outcome.finish_reason if turn.outcome is not None else None for turn in came.turns]
    if None in ends:
        return Found(Verdict.WRONG, f"Two answers came; number {ends.index(None) + 1} has no finish reason.")
    return works("Two answers came.")


# ---- tools -----------------------------------------------------------------------------------------------------------


def called(came: Came) -> Found:
    """A call of the tool on offer, made by the model's own choice."""
    return _called(came) or untold(f"The model answered in words: {quoted(came.text)}.")


def called_by_force(came: Came) -> Found:
    """A call that was demanded."""
    return _called(came) or untold(
        f"It answered in words although a call was demanded, by gateway or model: {quoted(came.text)}."
    )


def _called(came: Came) -> Found | None:
    calls = came.turn.calls
    if not calls:
        if came.cut:
            return untold("The answer reached its limit before a call came.")
        if TOOL.name in came.text and "{" in came.text:
            return Found(Verdict.UNSUPPORTED, f"The call came as text and not as a call: {quoted(came.text)}.")
        return None
    call = calls[0]
    if call.name != TOOL.name:
        return Found(Verdict.WRONG, f"A tool was called that is not on offer: {quoted(call.name)}.")
    if came.cut:
        return untold("The answer reached its limit within the call.")
    try:
        value = parse_json(call.arguments or "{}")
    except (ValueError, RecursionError):
        return Found(Verdict.WRONG, f"The arguments of the call are not JSON: {quoted(call.arguments)}.")
    problems = check_value(value, TOOL.parameters or {})
    more = f"; they do not fit its schema ({problems[0].message})" if problems else ""
    return works(f"{TOOL.name} was called with {quoted(call.arguments)}{more}.")


def answered_from_result(came: Came) -> Found:
    """An answer after a tool's result."""
    if came.turn.calls and not came.text.strip():
        return works("The result was taken; the model calls the tool again.")
    return works(f"The result was taken, and answered: {quoted(came.text)}.")


# ---- the form of the answer ------------------------------------------------------------------------------------------


def in_form(came: Came) -> Found:
    """JSON, or JSON that fits a schema, as the request asked."""
    body = came.protocol.encode(came.request)
    wanted = format_in(came.protocol.name, body)
    if wanted is None:
        return Found(Verdict.UNSUPPORTED, "The format could not be asked for.")
    problems = check_answer(came.text, wanted)
    if not problems:
        return works(f"{_answer(came)} is what was asked for.")
    if came.cut:
        return untold("The answer reached its limit before the JSON was whole.")
    return Found(Verdict.UNSUPPORTED, f"The answer does not keep to it ({problems[0].message}): {quoted(came.text)}.")


def saw(came: Came) -> Found:
    """A picture that was looked at."""
    if _COLOUR.search(came.text):
        return works(f"It was seen: {quoted(came.text)}.")
    return untold(f"It was taken; the answer does not name its colour: {quoted(came.text)}.")


def thought(came: Came) -> Found:
    """Reasoning that comes apart from the answer."""
    usage = came.outcome.usage
    if came.turn.reasoning.strip():
        if came.has("inline_think"):
            return works(f"Reasoning came, inside the text: {quoted(came.turn.reasoning)}.")
        return works(f"Reasoning came apart from the answer: {quoted(came.turn.reasoning)}.")
    if any(part.kind == "reasoning" for part in came.turn.parts):
        return works("Reasoning came, and is hidden.")
    if usage is not None and usage.reasoning:
        return works(f"{usage.reasoning} tokens of reasoning were counted; none of it is shown.")
    return untold("The effort was taken; no reasoning came, which a model that does not think does as well.")


# ---- errors ----------------------------------------------------------------------------------------------------------


def unknown_model(came: Came) -> Found:
    """An error that says that there is no such model."""
    failure = came.failure
    if failure is None:
        return Found(Verdict.UNSUPPORTED, f"{NO_MODEL} is answered all the same, by {quoted(came.outcome.model)}.")
    if failure.kind is not FailureKind.HTTP or failure.status is None or failure.status >= 500:
        return _no_clear_error(came)
    if "model" not in f"{failure.message} {failure.code} {failure.type} {failure.param}".lower():
        return Found(Verdict.DEVIATES, f"The error does not speak of the model: {said(failure)}")
    return works(said(failure))


def wrong_key(came: Came) -> Found:
    """An error that says that the key is not let in."""
    failure = came.failure
    if failure is None:
        return Found(Verdict.UNSUPPORTED, "A wrong key is let in: keys are not looked at here.")
    if failure.status == 401:
        return works(said(failure))
    if failure.kind is FailureKind.HTTP and failure.status is not None and failure.status < 500:
        return Found(Verdict.DEVIATES, f"Refused, though not with 401: {said(failure)}")
    return _no_clear_error(came)


def _no_clear_error(came: Came) -> Found:
    """What a failure says that is no refusal."""
    failure = came.failure
    if failure is None or came.exchange.status is None:
        return of_failure(failure) if failure is not None else untold("No error came.")
    return Found(Verdict.WRONG, f"No clear error: {said(failure)}")


# ---- noted beside ----------------------------------------------------------------------------------------------------


def limits_told(all_that_came: Sequence[Came]) -> Found:
    """Headers that tell how many requests are left."""
    last = next((came.limits for came in reversed(all_that_came) if came.limits), None)
    if last is None:
        return Found(Verdict.UNSUPPORTED, "No answer had headers on limits.")
    words = []
    for window in last.windows[:4]:
        limit, left, _ = window.raw
        name = f"{window.dimension}: " if window.dimension else ""
        words.append(f"{cut(name, 40)}{cut(left, 20) or '?'} of {cut(limit, 20) or '?'} left")
    return works(f"{'; '.join(words)}.")


_IDS: Final = ("x-request-id", "request-id")


def ids_told(all_that_came: Sequence[Came]) -> Found:
    """A header that names the request, to ask the gateway's people about."""
    for came in all_that_came:
        for name in _IDS:
            if value := came.exchange.response_header(name):
                return works(f"{name}: {quoted(value)}")
    return Found(Verdict.UNSUPPORTED, "No answer had a header that names the request.")
