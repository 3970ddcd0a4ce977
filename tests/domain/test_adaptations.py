"""Rules for what a gateway does not take, on bodies."""

from __future__ import annotations

from typing import Any

import pytest

from playground.domain.adaptations import Adaptation, AdaptationKind, adapted, effective, with_rule
from playground.domain.request import Request
from playground.jsonkit.values import JSON, JSONObject

BODY: JSONObject = {
    "model": "m",
    "messages": [{"role": "developer", "content": "a"}, {"role": "user", "content": "b"}],
    "max_tokens": 5,
    "stream_options": {"include_usage": True},
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": True}},
    "tool_choice": "required",
}


def rule(kind: AdaptationKind, field: str, to: JSON = None, **more: Any) -> Adaptation:
    return Adaptation(kind=kind, field=field, to=to, protocol=more.pop("protocol", "chat"), **more)


OMIT, RENAME, REPLACE, ROLE = AdaptationKind


@pytest.mark.parametrize(
    ("adaptation", "changed"),
    [
        (rule(OMIT, "stream_options"), {name: value for name, value in BODY.items() if name != "stream_options"}),
        (
            rule(OMIT, "response_format.json_schema.strict"),
            {**BODY, "response_format": {"type": "json_schema", "json_schema": {"name": "n"}}},
        ),
        (
            rule(RENAME, "max_tokens", "max_completion_tokens"),
            {**{name: value for name, value in BODY.items() if name != "max_tokens"}, "max_completion_tokens": 5},
        ),
        (rule(REPLACE, "tool_choice", "auto"), {**BODY, "tool_choice": "auto"}),
        (
            rule(ROLE, "developer", "system"),
            {**BODY, "messages": [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]},
        ),
    ],
)
def test_rule_changes_what_it_is_about_and_nothing_else(adaptation: Adaptation, changed: JSONObject) -> None:
    before = repr(BODY)
    assert adapted(BODY, [adaptation]) == changed
    assert effective(BODY, [adaptation]) == (adaptation,)
    assert repr(BODY) == before


@pytest.mark.parametrize(
    "adaptation",
    [
        rule(OMIT, "seed"), rule(OMIT, "model.name"), rule(OMIT, "response_format.nothing.there"),
        rule(REPLACE, "tool_choice", "required"), rule(REPLACE, "seed", 1), rule(ROLE, "tool", "user"),
    ],
)  # fmt: skip
def test_rule_about_what_is_not_there_changes_nothing(adaptation: Adaptation) -> None:
    assert adapted(BODY, [adaptation]) is BODY
    assert effective(BODY, [adaptation]) == ()


def test_name_that_is_set_already_is_not_written_over() -> None:
    both = {"max_tokens": 5, "max_completion_tokens": 7}
    assert adapted(both, [rule(RENAME, "max_tokens", "max_completion_tokens")]) == {"max_completion_tokens": 7}


def test_replacement_of_another_type_counts() -> None:
    assert adapted({"n": True}, [rule(REPLACE, "n", 1)]) == {"n": 1}
    assert effective({"n": True}, [rule(REPLACE, "n", 1)])


def test_request_is_written_by_the_rules_for_its_protocol_and_model_and_the_extra_bodies_win() -> None:
    from playground.protocols.protocol import get_protocol

    rules = (
        rule(OMIT, "stream_options"),
        rule(OMIT, "stream", model="another"),
        rule(OMIT, "temperature", on=False),
        rule(OMIT, "model", protocol="messages"),
        rule(OMIT, "seed"),
    )
    kind = get_protocol("chat").parameters_type
    parameters = kind.model_validate({"stream": True, "include_usage": True, "temperature": 1.0, "seed": 3})
    request = Request(protocol="chat", model="m", parameters=parameters, adaptations=rules, extra_body={"seed": 4})
    body = get_protocol("chat").encode(request)
    assert "stream_options" not in body
    assert body["stream"] is True
    assert body["temperature"] == 1.0
    assert body["model"] == "m"
    assert body["seed"] == 4
    assert "seed" not in get_protocol("chat").encode(request, extras=False)


def test_new_rule_replaces_the_one_of_its_field() -> None:
    first, second = rule(OMIT, "max_tokens"), rule(OMIT, "seed")
    again = rule(RENAME, "max_tokens", "max_completion_tokens")
    assert with_rule((first, second), again) == (second, again)
    assert with_rule((first,), rule(OMIT, "max_tokens", model="m"))[0] is first
