"""Experiments of an earlier version: missing fields are filled in when they are opened."""

from __future__ import annotations

import json
from typing import Any

from playground.domain.prices import Asked
from playground.domain.transcript import one_per_request
from playground.engine.gateways.gateways import Gateways
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import decode, encode_experiment, restore, snapshot


def answer(key: str, exchange: str | None = "e1", *, choice: int = 0, parent: str = "q", **more: Any) -> dict[str, Any]:
    usage = {"prompt": 5, "completion": 30}
    outcome = {"ending": "complete", "model": "m", "usage": usage, "exchange": exchange, "choice": choice, **more}
    parts = [{"kind": "text", "text": key}]
    return {"id": key, "role": "assistant", "parent": parent, "parts": parts, "outcome": outcome}


def opened(gateways: Gateways, *turns: dict[str, Any], **fields: Any) -> Session:
    question = {"id": "q", "role": "user", "parts": [{"kind": "text", "text": "?"}]}
    session = Experiment(gateways.client, profile_of=gateways.get, profile_id="").main
    restore(decode({"id": "old", "head": "q", "turns": [question, *turns], **fields}), session)
    return session


def choices(session: Session) -> dict[str, int]:
    return {turn.id: turn.outcome.choices for turn in session.transcript.turns.values() if turn.outcome is not None}


async def test_turns_of_one_request_get_the_number_of_its_choices(gateways: Gateways) -> None:
    copied = answer("copy", "e2")  # an edit by hand may have put a received turn on another branch as well
    session = opened(gateways, answer("a"), answer("b", choice=1), answer("c", choice=2), answer("other", "e2"), copied)
    assert choices(session) == {"a": 3, "b": 3, "c": 3, "other": 1, "copy": 1}
    assert len(list(one_per_request(session.transcript.turns.values()))) == 2
    assert choices(opened(gateways, answer("b", choice=1))) == {"b": 2}, "its siblings were deleted"
    assert choices(opened(gateways, answer("a", None, choice=-7))) == {"a": 1}


async def test_turns_get_the_gateway_of_their_experiment(gateways: Gateways) -> None:
    usage = {"prompt": 5, "completion": 30, "raw": {"cost": 0.5}}
    session = opened(gateways, answer("a"), answer("b", "e2", usage=usage), profile_id="demo")
    session.change(profile_id="another")
    (question, first, second) = session.transcript.turns.values()
    assert question.outcome is None
    assert first.outcome is not None
    assert second.outcome is not None
    assert first.outcome.asked == second.outcome.asked == Asked(profile_id="demo")
    assert second.outcome.usage is not None
    assert second.outcome.usage.cost == 0.5, "the gateway said so then"


async def test_parameters_an_earlier_version_began_with_are_defaults(gateways: Gateways) -> None:
    session = opened(gateways, parameters={"chat": {"stream": True, "include_usage": True, "seed": 7}})
    assert [session.settings.current.is_ours(name) for name in ("stream", "include_usage", "seed")] == [
        True,
        True,
        False,
    ]
    off = opened(gateways, parameters={"chat": {"stream": False, "include_usage": True}})
    assert off.settings.current.to_wire() == {"stream": False}
    left_out = opened(gateways, parameters={"chat": {"include_usage": True}})
    assert left_out.settings.current.to_wire() == {}, "what was left out stays left out"


async def test_extra_body_that_replaced_an_object_sends_the_same(gateways: Gateways) -> None:
    fields = {
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "effort": "high",
        "user_id": "u",
        "max_tokens": 99,
        "disable_parallel_tool_use": True,
    }
    extra = {
        "thinking": {"type": "disabled"},
        "output_config": {"x": 1},
        "metadata": None,
        "tool_choice": {"type": "tool", "name": "f"},
        "vendor": {"a": {"b": 1}},
    }
    session = opened(gateways, protocol="messages", parameters={"messages": fields}, extra_body=extra)
    body = session.next_request.body()
    assert {name: body[name] for name in extra} == extra
    assert body["max_tokens"] == 99
    merging = opened(gateways, protocol="messages", parameters={"messages": fields}, extra_body=extra, merges=True)
    assert merging.next_request.body()["thinking"] == {"type": "disabled", "budget_tokens": 2048}
    assert merging.next_request.body()["output_config"] == {"effort": "high", "x": 1}
    again = opened(gateways, **json.loads(json.dumps(encode_experiment(snapshot(session)))))
    assert again.next_request.body() == body, "what was opened and kept is of today"
    session.set_parameters(session.settings.current.with_value("effort", "low"))
    reopened = opened(gateways, **json.loads(json.dumps(encode_experiment(snapshot(session)))))
    assert reopened.next_request.body()["output_config"] == {"effort": "low", "x": 1}


async def test_extra_body_over_fields_of_chat_sends_the_same(gateways: Gateways) -> None:
    fields: dict[str, Any] = {"response_format": {"type": "json_object"}}
    session = opened(gateways, parameters={"chat": fields}, extra_body={"response_format": {"type": "text", "x": 1}})
    assert session.next_request.body()["response_format"] == {"type": "text", "x": 1}
    assert session.settings.current.to_wire() == fields
    fields = {"stream": True, "include_usage": True, "stream_options": {"a": 1}, "provider": {"order": ["x"]}, "n": 2}
    extra = {"stream_options": {"b": 2}, "provider": {"only": ["y"]}}
    session = opened(gateways, parameters={"chat": fields}, extra_body=extra)
    body = session.next_request.body()
    assert {name: body[name] for name in (*extra, "stream", "n")} == {**extra, "stream": True, "n": 2}
    assert session.settings.current.is_ours("stream")
