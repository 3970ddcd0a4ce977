"""Judges of gateway checks: one function per question, from an answer to a verdict with a sentence.

The checks are about the gateway, not the model: if a wrong answer may be the model's fault, the verdict is UNTOLD.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from playground.domain.durations import duration_words
from playground.domain.errors import REFUSALS, Failure, FailureGroup, FailureKind
from playground.domain.output import check_answer
from playground.domain.request import Request
from playground.domain.transcript import Outcome, Turn
from playground.engine.advice import advise, message_or_title
from playground.engine.advice.by_kind import is_about_key, is_missing_path
from playground.engine.gateway_check.report import Verdict
from playground.engine.gateway_check.requests import COLOUR, NO_MODEL, SHORT, STOP, TOOL
from playground.engine.inspect.lint import Finding
from playground.gateway.limits import RateLimits
from playground.gateway.tape import Exchange
from playground.jsonkit.reading import parse_json
from playground.jsonkit.texts import cut
from playground.jsonkit.validation import check_value
from playground.protocols.protocol import Protocol, format_in

_MAX_WORDS: Final = 300  # characters of a gateway's words in a sentence
_MAX_QUOTE: Final = 60  # characters of an answer in a sentence
_MAX_TEXT: Final = 100_000  # characters of an answer that are read

_COLOUR: Final = re.compile(rf"\b{COLOUR}\b", re.IGNORECASE)


class Assessment(NamedTuple):
    """A verdict and a sentence with its reason."""

    verdict: Verdict
    words: str


@dataclass(frozen=True)
class CheckAnswer:
    """The answer to one request. ``turns`` are its choices, at least one; ``findings`` are the lint's.

    ``outcome`` holds the metrics of the whole answer, and the end of the first choice.
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
        """The reason why the answer is not complete; None if it is."""
        return self.outcome.failure

    @property
    def is_cut(self) -> bool:
        """Return whether the token limit ended the answer."""
        return self.outcome.finish_reason == self.protocol.expected.cut

    def has(self, *codes: str) -> bool:
        """Return whether the lint has a finding with one of these codes."""
        return any(finding.code in codes for finding in self.findings)

    @property
    def text(self) -> str:
        """The beginning of the first choice's content."""
        return self.turn.text[:_MAX_TEXT]


Judge: TypeAlias = Callable[[CheckAnswer], Assessment]


def works(words: str) -> Assessment:
    """Return the verdict WORKS."""
    return Assessment(Verdict.WORKS, words)


def untold(words: str) -> Assessment:
    """Return the verdict UNTOLD."""
    return Assessment(Verdict.UNTOLD, words)


def quoted(text: str, most: int = _MAX_QUOTE) -> str:
    """Return the beginning of a text, on one line and in quotation marks."""
    return f"“{cut(' '.join(text[: 4 * most].split()), most)}”"


def failure_line(failure: Failure) -> str:
    """Return a failure on one line: its status and the gateway's own words."""
    status = f"HTTP {failure.status}: " if failure.status else ""
    words = message_or_title(failure, advise(failure))
    return status + cut(" ".join(words[: 4 * _MAX_WORDS].split()), _MAX_WORDS)


#: Meanings of a refusal with any status: some gateways report all refusals as errors of their own.
_REFUSAL_MEANINGS: Final = frozenset(
    {"parameter", "images", "tools", "output format", "tool schema", "reasoning", "turns"}
)


def judge_failure(failure: Failure, *, feature: str = "") -> Assessment:
    """Return the verdict of a failure; ``feature`` is the id of a check that is about a single feature."""
    if failure.group is FailureGroup.EMPTY:
        return untold("The answer is complete and has nothing in it.")
    if failure.kind is FailureKind.INPUT:
        return Assessment(Verdict.SKIPPED, f"Nothing was sent: {failure_line(failure)}")
    if failure.group is FailureGroup.UNREADABLE or failure.kind is FailureKind.STREAM:
        return Assessment(Verdict.WRONG, failure_line(failure))
    advice = advise(failure)
    if failure.kind is FailureKind.HTTP and failure.status == 500 and advice.meaning in _REFUSAL_MEANINGS:
        return Assessment(Verdict.REFUSED, failure_line(failure))
    if failure.group not in REFUSALS:
        return Assessment(Verdict.UNSUPPORTED if failure.status == 501 else Verdict.FAILED, failure_line(failure))
    if failure.group is FailureGroup.LIMIT:
        return Assessment(Verdict.FAILED, f"No request is taken now: {failure_line(failure)}")
    is_missing = is_missing_path(failure, advice) and (
        advice.meaning == "no endpoint" or "model" not in failure.message.lower()
    )
    if is_missing and not feature and not is_about_key(failure, advice):
        return Assessment(Verdict.UNSUPPORTED, f"There is no such endpoint ({failure_line(failure)}).")
    return Assessment(Verdict.REFUSED, failure_line(failure))


def judge_answer(judge: Judge, answer: CheckAnswer, *, feature: str) -> Assessment:
    """Return the judgement of ``judge`` on an answer, or that of its failure."""
    failure = answer.failure
    if failure is not None and not (failure.kind is FailureKind.EMPTY and answer.is_cut):
        return judge_failure(failure, feature=feature)
    return judge(answer)


# ---- an answer -------------------------------------------------------------------------------------------------------


def short_answer(answer: CheckAnswer) -> Assessment:
    """Judge an answer that is not streamed."""
    if answer.exchange.content_type and "event-stream" in answer.exchange.content_type:
        return Assessment(Verdict.WRONG, "A stream was received although none was requested.")
    if answer.outcome.holes:
        return _data_lost(answer)
    return works(f"{_answer(answer)} in {duration_words(answer.exchange.ended or 0.0)}.")


def streamed(answer: CheckAnswer) -> Assessment:
    """Judge a streamed answer, up to its end."""
    if answer.has("json_body", "not_streamed"):
        return Assessment(Verdict.UNSUPPORTED, "The answer was received as a whole although a stream was requested.")
    if answer.has("no_finish_reason", "cut_off"):
        return Assessment(
            Verdict.WRONG, f"The stream ends with neither a finish reason nor an end: {quoted(answer.text)}."
        )
    if answer.outcome.holes:
        return _data_lost(answer)
    timing, reads = answer.outcome.timing, len(answer.exchange.reads)
    first = timing.first_token if timing is not None else None
    when = f"First token after {duration_words(first)}, " if first is not None else ""
    end = f"ended with {quoted(answer.outcome.finish_reason)}" if answer.outcome.finish_reason else "without a reason"
    return works(f"{when}{_answer(answer, upper=not when)} in {reads} {'read' if reads == 1 else 'reads'}, {end}.")


def _data_lost(answer: CheckAnswer) -> Assessment:
    """Return the verdict of an answer that could be read only in part."""
    notes = [note for code, note in answer.outcome.deviations if code in answer.outcome.holes]
    return Assessment(
        Verdict.WRONG, f"Part of the answer could not be read: {'; '.join(notes[:2]) or quoted(answer.text)}."
    )


def _answer(answer: CheckAnswer, *, upper: bool = True) -> str:
    words = quoted(answer.text) if answer.text.strip() else "an answer without text"
    return words[:1].upper() + words[1:] if upper else words


def counted(answer: CheckAnswer) -> Assessment:
    """Judge token counts."""
    usage = answer.outcome.usage
    if usage is None or (usage.prompt is None and usage.completion is None):
        return Assessment(Verdict.UNSUPPORTED, "No token counts answer.")
    if usage.prompt is None or usage.completion is None:
        return Assessment(Verdict.WRONG, "Only one of the two token counts answer.")
    return works(f"{usage.prompt} tokens in, {usage.completion} out.")


def accepted(answer: CheckAnswer) -> Assessment:
    """Judge a field or role without a trace in the answer."""
    return works("Taken, and answered; whether it was followed is the model's matter.")


# ---- what is set -----------------------------------------------------------------------------------------------------


def limited(answer: CheckAnswer) -> Assessment:
    """Judge the token limit and its finish reason."""
    usage, reason = answer.outcome.usage, quoted(answer.outcome.finish_reason or "no reason")
    written = usage.completion if usage is not None else None
    if answer.is_cut:
        count = f" after {written} tokens" if written is not None else ""
        return works(f"The answer ends at the limit of {SHORT} tokens{count}, with {reason}.")
    if written is not None and written > SHORT:
        return Assessment(Verdict.UNSUPPORTED, f"{written} tokens were received; the limit was {SHORT}.")
    if (size := len(answer.turn.text)) > 16 * SHORT:
        return Assessment(Verdict.UNSUPPORTED, f"{size} characters were received; the limit was {SHORT} tokens.")
    return untold(f"The answer ended before the limit of {SHORT} tokens, with {reason}.")


def stopped(answer: CheckAnswer) -> Assessment:
    """Judge a stop sequence, which ends the answer and is not in it."""
    if STOP in answer.text:
        return Assessment(Verdict.UNSUPPORTED, f"The text goes on past “{STOP}”: {quoted(answer.text)}.")
    if answer.is_cut:
        return untold("The answer reached its limit before a stop sequence.")
    return works(f"The answer stops before “{STOP}”: {quoted(answer.text)}, with {quoted(_reason(answer))}.")


def _reason(answer: CheckAnswer) -> str:
    return answer.outcome.finish_reason or "no reason"


def several(answer: CheckAnswer) -> Assessment:
    """Judge two answers to one request."""
    count = len(answer.turns)
    if count == 1:
        return Assessment(Verdict.UNSUPPORTED, "One answer was received, two were requested.")
    if count != 2:
        return Assessment(Verdict.WRONG, f"{count} answers were received, two were requested.")
    ends = [turn.outcome.finish_reason if turn.outcome is not None else None for turn in answer.turns]
    if None in ends:
        return Assessment(
            Verdict.WRONG, f"Two answers were received; number {ends.index(None) + 1} has no finish reason."
        )
    return works("Two answers were received.")


# ---- tools -----------------------------------------------------------------------------------------------------------


def called(answer: CheckAnswer) -> Assessment:
    """Judge a call of the offered tool by the model's own choice."""
    return _called(answer) or untold(f"The model answered in words: {quoted(answer.text)}.")


def called_by_force(answer: CheckAnswer) -> Assessment:
    """Judge a demanded call."""
    return _called(answer) or untold(
        f"It answered in words although a call was demanded, by gateway or model: {quoted(answer.text)}."
    )


def _called(answer: CheckAnswer) -> Assessment | None:
    calls = answer.turn.calls
    if not calls:
        if answer.is_cut:
            return untold("The answer reached its limit before a call.")
        if TOOL.name in answer.text and "{" in answer.text:
            return Assessment(
                Verdict.UNSUPPORTED, f"The call was received as text, not as a call: {quoted(answer.text)}."
            )
        return None
    call = calls[0]
    if call.name != TOOL.name:
        return Assessment(Verdict.WRONG, f"A tool was called that is not on offer: {quoted(call.name)}.")
    if answer.is_cut:
        return untold("The answer reached its limit within the call.")
    try:
        value = parse_json(call.arguments or "{}")
    except (ValueError, RecursionError):
        return Assessment(Verdict.WRONG, f"The arguments of the call are not JSON: {quoted(call.arguments)}.")
    problems = check_value(value, TOOL.parameters or {})
    more = f"; they do not fit its schema ({problems[0].message})" if problems else ""
    return works(f"{TOOL.name} was called with {quoted(call.arguments)}{more}.")


def answered_from_result(answer: CheckAnswer) -> Assessment:
    """Judge an answer to a tool's result."""
    if answer.turn.calls and not answer.text.strip():
        return works("The result was taken; the model calls the tool again.")
    return works(f"The result was taken, and answered: {quoted(answer.text)}.")


# ---- the form of the answer ------------------------------------------------------------------------------------------


def in_form(answer: CheckAnswer) -> Assessment:
    """Judge an answer in the requested format: JSON, or JSON that fits a schema."""
    body = answer.protocol.encode(answer.request)
    output = format_in(answer.protocol.name, body)
    if output is None:
        return Assessment(Verdict.UNSUPPORTED, "The format could not be requested.")
    problems = check_answer(answer.text, output)
    if not problems:
        return works(f"{_answer(answer)} is what was asked for.")
    if answer.is_cut:
        return untold("The answer reached its limit before the JSON was whole.")
    return Assessment(
        Verdict.UNSUPPORTED, f"The answer does not match it ({problems[0].message}): {quoted(answer.text)}."
    )


def saw(answer: CheckAnswer) -> Assessment:
    """Judge an answer about a picture."""
    if _COLOUR.search(answer.text):
        return works(f"It was seen: {quoted(answer.text)}.")
    return untold(f"It was taken; the answer does not name its colour: {quoted(answer.text)}.")


def thought(answer: CheckAnswer) -> Assessment:
    """Judge reasoning that is separate from the answer."""
    usage = answer.outcome.usage
    if answer.turn.reasoning.strip():
        if answer.has("inline_think"):
            return works(f"Reasoning was received inside the text: {quoted(answer.turn.reasoning)}.")
        return works(f"Reasoning was received apart from the answer: {quoted(answer.turn.reasoning)}.")
    if any(part.kind == "reasoning" for part in answer.turn.parts):
        return works("Hidden reasoning was received.")
    if usage is not None and usage.reasoning:
        return works(f"{usage.reasoning} tokens of reasoning were counted; none of it is shown.")
    return untold("The effort was accepted and no reasoning was received; a model without reasoning does the same.")


# ---- errors ----------------------------------------------------------------------------------------------------------


def unknown_model(answer: CheckAnswer) -> Assessment:
    """Judge the error for an unknown model."""
    failure = answer.failure
    if failure is None:
        return Assessment(Verdict.UNSUPPORTED, f"{NO_MODEL} is answered, by {quoted(answer.outcome.model)}.")
    if failure.group not in REFUSALS:
        return _no_clear_error(answer)
    if "model" not in f"{failure.message} {failure.code} {failure.type} {failure.param}".lower():
        return Assessment(Verdict.DEVIATES, f"The error does not speak of the model: {failure_line(failure)}")
    return works(failure_line(failure))


def wrong_key(answer: CheckAnswer) -> Assessment:
    """Judge the error for a wrong key."""
    failure = answer.failure
    if failure is None:
        return Assessment(Verdict.UNSUPPORTED, "A wrong key is accepted: this gateway does not check keys.")
    if failure.status == 401:
        return works(failure_line(failure))
    if failure.group in REFUSALS:
        return Assessment(Verdict.DEVIATES, f"Refused, though not with 401: {failure_line(failure)}")
    return _no_clear_error(answer)


def _no_clear_error(answer: CheckAnswer) -> Assessment:
    """Return the verdict of a failure that is no refusal."""
    failure = answer.failure
    if failure is None or answer.exchange.status is None:
        return judge_failure(failure) if failure is not None else untold("No error answer.")
    return Assessment(Verdict.WRONG, f"No clear error: {failure_line(failure)}")


# ---- all answers ----------------------------------------------------------------------------------------------------


def rate_limit_headers(answers: Sequence[CheckAnswer]) -> Assessment:
    """Judge the headers about remaining requests."""
    last = next((answer.limits for answer in reversed(answers) if answer.limits), None)
    if last is None:
        return Assessment(Verdict.UNSUPPORTED, "No answer had headers on limits.")
    words = []
    for window in last.windows[:4]:
        limit, remaining, _ = window.raw
        name = f"{window.dimension}: " if window.dimension else ""
        words.append(f"{cut(name, 40)}{cut(remaining, 20) or '?'} of {cut(limit, 20) or '?'} left")
    return works(f"{'; '.join(words)}.")


_IDS: Final = ("x-request-id", "request-id")


def request_id_headers(answers: Sequence[CheckAnswer]) -> Assessment:
    """Judge the header with the request's id, for questions to the gateway's operators."""
    for answer in answers:
        for name in _IDS:
            if value := answer.exchange.response_header(name):
                return works(f"{name}: {quoted(value)}")
    return Assessment(Verdict.UNSUPPORTED, "No answer had a header that names the request.")
