"""Advice on a failure: its meaning and the remedy, in words for people (specification, sections 5 and 7).

The gateway's own message is shown with the advice, never replaced. The advice depends on the exact cause where it is
known, else on the message (``gateway_messages``), else on kind and status (``by_kind``).
"""

from __future__ import annotations

from dataclasses import replace

from playground.domain.adaptations import AdaptationKind
from playground.domain.errors import Failure, FailureKind, Sent
from playground.engine.advice.parts import ASK_OVER, KEY, STREAM_ON, Advice, Offer, at_a_prompt, of_offer

_PARTLY_SAVED = "The received part is saved."
#: Failures that may come after part of an answer.
_BREAKS = frozenset(
    {
        FailureKind.CONNECTION,
        FailureKind.TIMEOUT_IDLE,
        FailureKind.TIMEOUT_TOTAL,
        FailureKind.STREAM,
        FailureKind.DECODE,
        FailureKind.CUT_OFF,
        FailureKind.TOO_LARGE,
        FailureKind.INTERNAL,
    }
)
#: Statuses that many gateways give a request without a key.
_KEYLESS = frozenset({403, 500})
_NO_KEY_SET = "No key is set: many gateways answer like this without one."
_NO_KEY_GIVEN = "No key was given (PLAYGROUND_API_KEY): many gateways answer like this without one."
#: The meaning of a status that blames the gateway; some give it to a request that they could not read.
_GATEWAY_ERROR = "500"
#: Meanings whose title and remedy an offer replaces.
_PLAIN_REFUSALS = frozenset({"400", "404", "422", "parameter", _GATEWAY_ERROR})
_OTHERWISE = "It can be sent differently, once or always. Your settings do not change."
_WITHOUT_IT = "The request can be sent without it, once or always. Your parameters do not change."


def advise(failure: Failure, *, streamed: bool | None = None, arrived: bool = False) -> Advice:
    """Return the advice for a failure.

    ``arrived``: part of an answer was received. ``streamed``: streaming was on, for a failure without that fact;
    streaming is only advised where it was off.
    """
    from playground.engine.advice.by_kind import cause_advice, general_advice
    from playground.engine.advice.gateway_messages import message_advice
    from playground.engine.advice.refused_fields import offers

    sent = failure.sent or Sent(endpoint="")
    advice = cause_advice(failure) or message_advice(failure) or general_advice(failure)
    streamed = sent.streamed if sent.streamed is not None else streamed
    remedy, command, actions = advice.remedy, at_a_prompt(advice), advice.actions
    if advice.streaming and streamed is False:
        remedy, command = f"{remedy} {advice.streaming}", f"{command} {advice.streaming}"
        actions = (*actions[:1], STREAM_ON, *actions[1:])
    offered = () if arrived else offers(failure)
    if offered and advice.meaning == _GATEWAY_ERROR:
        advice, command = replace(advice, meaning="parameter"), ""
    if advice.meaning == str(failure.status) and failure.status in _KEYLESS and sent.keyed is False:
        remedy, command = f"{_NO_KEY_SET} {remedy}", f"{_NO_KEY_GIVEN} {command}"
        actions = (KEY, *actions)
    if offered:
        if advice.meaning in _PLAIN_REFUSALS:
            advice = replace(advice, title=_refused_title(offered[0]))
            remedy = _WITHOUT_IT if offered[0].rules[0].kind is AdaptationKind.OMIT else _OTHERWISE
        first = 1 if actions[:1] and actions[0].name == ASK_OVER else 0
        actions = (*actions[:first], *(action for offer in offered for action in of_offer(offer)), *actions[first:])
        command = f"{command} Send it so with {offered[0].command}.".lstrip()
    if arrived and failure.kind in _BREAKS:
        remedy, command = f"{_PARTLY_SAVED} {remedy}", f"{_PARTLY_SAVED} {command}"
    return replace(advice, remedy=remedy, command=command, actions=actions)


def _refused_title(offer: Offer) -> str:
    rule = offer.rules[0]
    what = f"the role “{rule.field}”" if rule.kind is AdaptationKind.ROLE else f"“{rule.field}”"
    return f"The gateway does not take {what}{' as it was sent' if rule.kind is AdaptationKind.REPLACE else ''}"


def headline(failure: Failure, advice: Advice, form: str = " · {}") -> str:
    """Return the title, with the status in that ``form`` if the title does not name it."""
    status = str(failure.status or "")
    return advice.title + (form.format(status) if status and status not in advice.title else "")


def own_words(failure: Failure, advice: Advice) -> str:
    """Return the message without a beginning that repeats the title or the status; empty if nothing else is left."""
    words = failure.message.strip()
    for repeated in (advice.title, f"HTTP {failure.status}"):
        if words[: len(repeated)].lower() == repeated.lower():
            words = words[len(repeated) :].lstrip(" :,.–—-")
            words = words[:1].upper() + words[1:]
    return words


def message_or_title(failure: Failure, advice: Advice) -> str:
    """Return the gateway's own words, or the title of the advice if it sent none."""
    return own_words(failure, advice) or advice.title


def limit_words(dimension: str | None) -> str:
    """Return a rate-limit dimension with its meaning: ``RPM (requests per minute)``; empty for none."""
    if not dimension:
        return ""
    what = {"R": "requests", "T": "tokens", "I": "images"}.get(dimension[:1], "")
    per = {"M": "minute", "D": "day"}.get(dimension[-1:], "")
    return f"{dimension} ({what} per {per})" if what and per else dimension
