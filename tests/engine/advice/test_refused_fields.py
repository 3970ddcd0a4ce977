"""Offers for refusals of a field, message by message, and when nothing is.

Each line of ``refused.jsonl`` says who sends such a body, what had been sent, and what helps: the options of the
command line of each offer. ``how`` says where the words are from: "read" in a public issue, "altered" from one (another
field or role is named), "remembered" without one at hand, or "made up" in a shape that libraries have.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from playground.domain.errors import Failure, FailureKind, Sent
from playground.engine.advice import advise
from playground.engine.advice.parts import KEEP_OFFER, TRY_OFFER, at_a_prompt
from playground.engine.advice.refused_fields import MAX_OFFERS, offers
from playground.protocols.errors import read_error
from tests.engine.advice.test_messages import REFUSALS, SOUNDS_ALIKE
from tests.support.each_case import each_case

CASES = [
    json.loads(line) for line in (Path(__file__).parent / "refused.jsonl").read_text(encoding="utf-8").splitlines()
]
#: What a request has that sets everything.
FULL: dict[str, Any] = {
    "temperature": 0.2,
    "top_p": 0.9,
    "max_tokens": 5,
    "seed": 1,
    "n": 2,
    "stop": None,
    "stream": True,
    "stream_options": None,
    "tool_choice": "required",
    "parallel_tool_calls": True,
    "reasoning_effort": "low",
    "response_format": None,
    "response_format.json_schema": None,
    "user": "me",
}


def refused(
    status: int | None, body: Any, fields: dict[str, Any], roles: tuple[str, ...] = (), protocol: str = "chat"
) -> Failure:
    text = body if isinstance(body, str) else json.dumps(body)
    sent = Sent(endpoint=protocol, keyed=True, streamed=True, model="m", fields=fields, roles=roles)
    return read_error(text.encode(), status).model_copy(update={"sent": sent})


@each_case("case", CASES)
def test_what_is_offered(case: dict[str, Any]) -> None:
    failure = refused(case["status"], case["body"], case["fields"], tuple(case["roles"]), case["protocol"])
    results = [offer.command for offer in offers(failure)]
    assert results == case["offers"], failure.message


@each_case("case", [case for case in CASES if case["offers"]])
def test_nothing_is_offered_that_was_not_sent(case: dict[str, Any]) -> None:
    assert not offers(refused(case["status"], case["body"], {"metadata": None}, (), case["protocol"]))
    assert not offers(refused(429, case["body"], case["fields"], tuple(case["roles"]), case["protocol"]))
    complete = refused(case["status"], case["body"], case["fields"], tuple(case["roles"]), case["protocol"])
    assert not offers(complete.model_copy(update={"sent": None}))
    assert not offers(complete.model_copy(update={"sent": Sent(endpoint="models", fields=case["fields"])}))
    assert not offers(complete.model_copy(update={"kind": FailureKind.DECODE}))


#: Other troubles of which a message speaks, where taking a field out would not help.
OTHERS = [
    line for line in (*REFUSALS, *SOUNDS_ALIKE) if line[0] not in ("parameter", "tools", "output format", "turns")
]


@each_case(("meaning", "status", "body"), OTHERS)
def test_other_troubles_get_no_offers(meaning: str, status: int | None, body: Any) -> None:
    assert not offers(refused(status, body, FULL, ("system", "developer")))


def test_the_advice_begins_with_the_offers() -> None:
    body = {"error": {"message": "Unknown parameter: 'stream_options'.", "param": "stream_options"}}
    advice = advise(refused(400, body, {"stream_options": None}))
    assert [action.name for action in advice.actions[:3]] == [TRY_OFFER, KEEP_OFFER, KEEP_OFFER]
    assert [action.value for action in advice.actions[1:3]] == ["", "m"]
    assert advice.actions[0].label == "Leave out “stream_options” and retry"
    assert advice.title == "The gateway does not take “stream_options”"
    assert "--without stream_options" in at_a_prompt(advice)
    offer = advice.actions[1].offer
    assert offer is not None
    assert offer.kept_for == ""
    limit = {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    first = offers(refused(400, limit, {"max_tokens": 5}))[0]
    assert first.kept_for == "m"
    saved = first.with_saved_rules("m", "said", "2026-11-23").rules[0]
    assert (saved.model, saved.why, saved.learnt, saved.to) == ("m", "said", "2026-11-23", "max_completion_tokens")
    partly = advise(refused(400, body, {"stream_options": None}), arrived=True)
    assert TRY_OFFER not in [action.name for action in partly.actions]


@each_case(
    "message",
    [
        "unsupported " + "a" * 1_000_000,
        "unsupported " + "'" * 1_000_000,
        "unsupported: " + "[" * 500_000 + "]" * 500_000,
        "extra inputs are not permitted; " * 30_000,
        "unknown parameter: " + "_" * 100_000,
        "use " * 300_000 + "instead",
        "not supported: " + ", ".join(f"field_{number}" for number in range(10_000)),
        "role unsupported, " + "one of " * 100_000,
        "unsupported \u202estream_options <img src=x>" * 20_000,
    ],
)
def test_a_hostile_message_costs_nothing(message: str) -> None:
    fields: dict[str, Any] = {f"field_{number}": None for number in range(200)} | FULL
    failure = refused(400, {"error": {"message": message, "param": message}}, fields, ("system", "developer"))
    offers(failure)  # what is compiled once is
    began = time.thread_time()
    result = offers(failure)
    assert time.thread_time() - began < 0.25  # of this thread alone: another's work is no fault
    assert len(result) <= MAX_OFFERS
    for offer in result:
        assert all(len(option) < 200 and option.isprintable() for option in (offer.once, offer.command))


def test_a_name_that_a_message_makes_up_is_no_target() -> None:
    body = {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'authorization' instead."}}
    commands = [offer.command for offer in offers(refused(400, body, {"max_tokens": 5}))]
    assert commands == ["--rename max_tokens=max_completion_tokens", "--without max_tokens"]
    body = {"error": {"message": "Unsupported parameter: 'seed'. Use 'evil' instead."}}
    assert [offer.command for offer in offers(refused(400, body, {"seed": 5}))] == ["--without seed"]


def test_an_error_of_its_own_that_names_a_field_is_a_refusal() -> None:
    case = next(case for case in CASES if case["source"].startswith("llama-cpp-python") and case["fields"])
    failure = refused(case["status"], case["body"], case["fields"])
    advice = advise(failure)
    assert advice.title == "The gateway does not take “response_format” as it was sent"
    assert advice.meaning == "parameter"
    notices = f"{advice.remedy} {at_a_prompt(advice)}"
    assert "operators" not in notices
    assert "Run it again in a moment" not in notices
    nothing_of_it = refused(case["status"], case["body"], {"metadata": None})
    assert advise(nothing_of_it).title == "Internal error of the gateway"
