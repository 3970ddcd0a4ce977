"""What a failure means and what to do about it, in words for people (specification, sections 5 and 7).

The gateway's own message is never replaced: it stands beside these words. What it says is looked at first
(``playground.engine.advice.known``), then the status and the kind of failure
(``playground.engine.advice.general``).
"""

from __future__ import annotations

from dataclasses import replace

from playground.domain.adaptations import AdaptationKind
from playground.domain.errors import Failure, FailureKind, Sent
from playground.engine.advice.parts import KEY, STREAM_ON, Advice, Offer, at_a_prompt, of_offer

KEPT = "What arrived is kept."
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
#: Statuses that many gateways give a request without a key, and what that is worth saying.
_KEYLESS = frozenset({403, 500})
_NO_KEY_SET = "No key is set: many gateways answer like this without one."
_NO_KEY_GIVEN = "No key was given (PLAYGROUND_API_KEY): many gateways answer like this without one."
#: What a status says that blames the gateway; some give it to a request that they could not read.
_OWN_ERROR = "500"
#: Meanings that an offer says more about.
_PLAIN_REFUSALS = frozenset({"400", "404", "422", "parameter", _OWN_ERROR})
_OTHERWISE = "It can be sent otherwise, this time or always. What is set here stays as it is."
_WITHOUT_IT = "The request can be sent without it, this time or always. What is set under Parameters stays as it is."


def advise(failure: Failure, *, streamed: bool | None = None, arrived: bool = False) -> Advice:
    """The advice for a failure, true for what is known of it.

    ``arrived`` says whether anything of the answer did. ``streamed`` says whether streaming was on, for a failure that
    does not know it itself; streaming is only advised where it was off.
    """
    from playground.engine.advice.general import general
    from playground.engine.advice.known import recognise
    from playground.engine.advice.refused_fields import offers

    sent = failure.sent or Sent(endpoint="")
    advice = recognise(failure) or general(failure)
    streamed = sent.streamed if sent.streamed is not None else streamed
    remedy, command, actions = advice.remedy, at_a_prompt(advice), advice.actions
    if advice.streaming and streamed is False:
        remedy, command = f"{remedy} {advice.streaming}", f"{command} {advice.streaming}"
        actions = (*actions[:1], STREAM_ON, *actions[1:])
    offered = () if arrived else offers(failure)
    if offered and advice.meaning == _OWN_ERROR:
        advice, command = replace(advice, meaning="parameter"), ""
    if advice.meaning == str(failure.status) and failure.status in _KEYLESS and sent.keyed is False:
        remedy, command = f"{_NO_KEY_SET} {remedy}", f"{_NO_KEY_GIVEN} {command}"
        actions = (KEY, *actions)
    if offered:
        if advice.meaning in _PLAIN_REFUSALS:
            advice = replace(advice, title=_refused_title(offered[0]))
            remedy = _WITHOUT_IT if offered[0].rules[0].kind is AdaptationKind.OMIT else _OTHERWISE
        actions = (*(action for offer in offered for action in of_offer(offer)), *actions)
        command = f"{command} Send it so with {offered[0].command}.".lstrip()
    if arrived and failure.kind in _BREAKS:
        remedy, command = f"{KEPT} {remedy}", f"{KEPT} {command}"
    return replace(advice, remedy=remedy, command=command, actions=actions)


def _refused_title(offer: Offer) -> str:
    rule = offer.rules[0]
    what = f"the role “{rule.field}”" if rule.kind is AdaptationKind.ROLE else f"“{rule.field}”"
    return f"The gateway does not take {what}{' as it was sent' if rule.kind is AdaptationKind.REPLACE else ''}"


def headline(failure: Failure, advice: Advice, form: str = " · {}") -> str:
    """The title with the status in that ``form``, once."""
    status = str(failure.status or "")
    return advice.title + (form.format(status) if status and status not in advice.title else "")


def own_words(failure: Failure, advice: Advice) -> str:
    """What the failure says besides the title: its message without a beginning that repeats it; empty for nothing."""
    words = failure.message.strip()
    for said in (advice.title, f"HTTP {failure.status}"):
        if words[: len(said)].lower() == said.lower():
            words = words[len(said) :].lstrip(" :,.–—-")
            words = words[:1].upper() + words[1:]
    return words


def limit_words(dimension: str | None) -> str:
    """What a rate-limit dimension counts: ``RPM (requests per minute)``; empty for none."""
    if not dimension:
        return ""
    what = {"R": "requests", "T": "tokens", "I": "images"}.get(dimension[:1], "")
    per = {"M": "minute", "D": "day"}.get(dimension[-1:], "")
    return f"{dimension} ({what} per {per})" if what and per else dimension
