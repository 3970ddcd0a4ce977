"""Digests of requests: the values of earlier versions stay valid, and every setting that is sent is part of them."""

from __future__ import annotations

from typing import Any

from playground.domain.checks.texts import Contains
from playground.domain.debugging import Answer, AnswerRow, Debugging, Policy, ToolRule
from playground.domain.parts import Image, ToolCall, ToolResult
from playground.domain.request import ReasoningReturn, Request, SendReasoning
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, Turn, make_turn
from playground.engine.evaluation.migrations import tool_offer
from playground.engine.evaluation.resolved import (
    NOT_SENT,
    SENT_OF_TURN,
    ResolvedEvaluation,
    case_digest,
    check_key,
    variant_digest,
)
from playground.engine.gateways.gateways import DEMO_ID, Gateways
from playground.engine.session.plan import Case
from playground.engine.session.session import Experiment, Session
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.variants import Variant
from playground.protocols.protocol import parameters_of
from tests.engine.debugging import WEATHER, always
from tests.engine.evaluation.evaluations import plan, planned, variant
from tests.engine.session.test_session import make_session

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
LOCAL = ToolDefinition(name="get_weather", description="Weather", parameters=SCHEMA)
REMOTE = ToolDefinition(name="search", server="files", remote="files.search")
CUSTOM = ToolDefinition(name="shell", custom={"format": {"type": "text"}})
RULES = Debugging(
    default=ToolRule(policy=Policy.TABLE, rows=(AnswerRow(answer=Answer(text="21")),)),
    rules={"search": ToolRule(policy=Policy.SERVER, before=True)},
)


def full_session() -> Session:
    """An experiment in which every kind of setting is used."""
    session = make_session()
    session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief, {{tone}}."))
    session.change(
        model="m",
        variables={"tone": "kind", "unused": "x"},
        parameters={"chat": parameters_of("chat", {"temperature": 0.5, "stream": True, "stop": ["é\ud800"]})},
        tools=(LOCAL, REMOTE, CUSTOM, LOCAL.model_copy(update={"name": "off", "enabled": False})),
        debugging=RULES,
        extra_body={"safety": {"level": 1}},
        extra_headers={"X-Team": "a"},
        reasoning_return=ReasoningReturn(when=SendReasoning.ALWAYS, field="reasoning"),
    )
    picture = Image(url="data:image/png;base64,iVBORw0KGgo=")
    call = ToolCall(id="1", name="get_weather", arguments="{}")
    cases = (
        Case(id="a", values={"city": "Oslo"}, expected="cold"),
        Case(id="twin", values={"city": "Oslo"}),
        Case(id="b", turns=(make_turn(Role.USER, "Look {{tone}}", picture),), values={"tone": "calm"}),
        Case(
            id="c",
            turns=(
                make_turn(Role.USER, "One"),
                make_turn(Role.ASSISTANT, "", call),
                make_turn(Role.TOOL, "", ToolResult(call_id="1", text="21")),
                make_turn(Role.USER, "Two"),
            ),
            whole=True,
        ),
    )
    stern = variant("B", model="n", parameters={"chat": {"temperature": 1, "top_p": 0.25}})
    variants = (
        stern.model_copy(update={"system": "Be stern."}),
        variant("C", tools=[]),
        variant("D", protocol="messages"),
    )
    return planned(session, cases=cases, variants=variants, checks=(Contains(text="{{city}}"),))


def digests(session: Session) -> list[str]:
    return [job.digest for job in ResolvedEvaluation(session).jobs]


#: Digests that earlier versions have saved: cases a, twin, b and c, each in variants A to D.
GOLDEN = [
    *("fc4c7bb5538ef1a208fdf094a4469914", "84e81e3a3fdfed5b5ea274131c08658c"),
    *("614e84b0978a5a255b27b16958e5bf59", "73b6695c2f0fd7977cd019229d265af2"),
    *("be6d3c5390f43a01feba466360362ad1", "dcca30722ac2dda6d0cc0fafb288b7c1"),
    *("e0f6d320f913b9af41f837104f794b17", "1f2397f69c05e52fe090230f6c329811"),
    *("ec08a437b110824ee0ad54a355645b0c", "1b33c44b2f270519b7902f32f186e1a6"),
    *("f86b50da7b0b7d1f421f7fb9d04e1720", "1be3b0671ceb6c36ff5b7933b9cd4a90"),
    *("a138df80af43e897599e3f42ee6085ec", "2d06a84ab7da50012336357e997eff10"),
    *("5372002afcf8caa2d7adbf235fc43b65", "36082c78f03e7314b0ad58b81cafd416"),
]
GOLDEN_PLAIN = [
    *("1350a89f7e5c23d0dc6f7431e2631fa7", "b7b613c50716cc7699f026e27e4ed18d", "d24e83f039a7eabd1793bc25b696c3e3"),
]


def test_digests_of_an_earlier_version_are_unchanged() -> None:
    assert digests(full_session()) == GOLDEN
    assert digests(planned(make_session())) == GOLDEN_PLAIN
    assert check_key(Contains(text="é", weight=2.0)) == "8a5d3dda1b4395e19213fc4b7b73bf4c"
    assert check_key(Contains(text="é", ignore_case=True, negated=True)) == "47ac0513bcfa36c21ca6475f9da610e7"


def test_digest_with_tool_rules_of_an_earlier_version_is_unchanged(gateways: Gateways) -> None:
    session = Experiment(gateways.client, profile_id=DEMO_ID, model="demo-tools").main
    rules = always(Policy.TABLE).with_rule("get_weather", ToolRule(policy=Policy.FIXED))
    session.change(tools=(WEATHER,), debugging=rules, evaluation=plan())
    assert digests(session)[0] == "73130e8e970d685fc0cfc0bb583d98a2"


#: Another value of each setting. A new setting needs one here, or a reason to be in ``NOT_SENT``.
OTHER_VALUES: dict[str, Any] = {
    "profile_id": "other",
    "protocol": "messages",
    "model": "other",
    "parameters": {"chat": parameters_of("chat", {"temperature": 0.75})},
    "tools": (REMOTE,),
    "debugging": RULES.with_row("get_weather", AnswerRow(answer=Answer(text="22"))),
    "extra_body": {"a": 1},
    "extra_headers": {"X-Other": "b"},
    "reasoning_return": None,
    "title": "Other",
    "unsent": {"tools": "{"},
    "variants": (Variant(name="other"),),
    "evaluation": None,
    "variables": {"tone": "rude"},
}


def test_digest_depends_on_every_setting_that_is_sent() -> None:
    settings = full_session().settings
    turns = (make_turn(Role.USER, "Hello {{tone}}"),)
    assert OTHER_VALUES.keys() == ExperimentSettings.model_fields.keys()
    for name, value in OTHER_VALUES.items():
        changed = settings.model_copy(update={name: value})
        assert getattr(settings, name) != value
        same = variant_digest(changed, turns) == variant_digest(settings, turns)
        assert same is (name in NOT_SENT), name
    case = Case(id="a")
    assert case_digest(case, ["tone"], {"tone": "kind"}) != case_digest(case, ["tone"], {"tone": "rude"})


def test_digest_depends_on_a_new_setting_once_it_is_set() -> None:
    class NewerSettings(ExperimentSettings):
        service_level: str = ""

    fields = dict(full_session().settings)
    unset, fast = NewerSettings(**fields), NewerSettings(**fields, service_level="fast")
    assert variant_digest(unset, ()) == variant_digest(full_session().settings, ())
    assert variant_digest(fast, ()) != variant_digest(unset, ())


def test_fields_of_requests_turns_and_tools_are_all_accounted_for() -> None:
    by_gateway = {"adaptations", "once", "inherited_body"}
    by_settings = OTHER_VALUES.keys() - NOT_SENT - {"profile_id", "debugging"}
    assert Request.model_fields.keys() == {"turns"} | by_gateway | by_settings
    assert Turn.model_fields.keys() == {*SENT_OF_TURN, "id", "parent", "outcome"}
    tool = ToolDefinition(name="a", description="b", parameters={}, strict=True, custom={})
    not_sent = {"enabled", "source", "text", "group", "server", "remote", "output", "hints"}
    assert ToolDefinition.model_fields.keys() == not_sent | {"name", "description", "parameters", "strict", "custom"}
    assert tool_offer(tool) == ["a", "b", {}, True, {}]
