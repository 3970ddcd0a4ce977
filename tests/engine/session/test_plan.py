"""The plan of an evaluation as a setting: undone, saved in the file, written by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.domain.checks import UnknownCheck
from playground.domain.checks.asked import Judge
from playground.domain.checks.json_answers import FitsSchema
from playground.domain.checks.texts import Contains
from playground.domain.transcript import Role, make_turn
from playground.engine.files.experiment_file import ExperimentFileError, read, write
from playground.engine.session.plan import Budget, Case, Keep, Order, Plan
from playground.engine.session.settings import changed_names
from playground.engine.session.snapshot import restore, snapshot
from playground.engine.session.variants import Variant
from tests.engine.session.test_session import make_session
from tests.engine.session.test_variants import fits_schema
from tests.support.each_case import each_case

PLAN = Plan(
    cases=(
        Case(id="a", name="Lisbon", values={"city": "Lisbon"}, expected="21°\nor so"),
        Case(id="b", turns=(make_turn(Role.USER, "And {{city}}?"),), checks=(Contains(text="{{expected}}"),)),
    ),
    variants=(Variant(id="v", name="warm").model_copy(),),
    checks=(
        Judge(rubric="No figure\nthat no tool gave.", model="demo-reasoner"),
        FitsSchema(json_schema={"type": "object"}),
    ),
    repeats=5,
    order=Order.SHUFFLED,
    budget=Budget(requests=90, money=0.5),
    streamed=False,
    keep=Keep.ALL,
)


def test_plan_is_a_setting_that_undo_takes_back_and_the_file_keeps() -> None:
    session, again = make_session(), make_session()
    session.change(evaluation=PLAN)
    more = session.settings.changed(evaluation=PLAN.model_copy(update={"repeats": 6}))
    assert changed_names(session.settings, more) == ["evaluation.repeats"]
    data = write(snapshot(session))
    assert json.loads(data)["evaluation"]["checks"][0]["rubric"] == ["No figure", "that no tool gave."]
    fits_schema().validate(json.loads(data))
    restore(read(data), again)
    assert again.settings.evaluation == PLAN
    assert session.undo()
    assert session.settings.evaluation is None
    assert b'"evaluation"' not in write(snapshot(session))


def by_hand(**plan: Any) -> bytes:
    return json.dumps({"experiment": 1, "id": "e", "evaluation": plan}).encode()


def test_plan_written_by_hand_gets_ids_and_keeps_unknown_checks() -> None:
    dialogue = [("user", "Hi"), ("assistant", "Yes?"), ("user", "Bye")]
    opened = read(
        by_hand(
            cases=[
                {"turns": ["What is {{city}} like?", "And in winter?"], "values": {"city": "Oslo"}},
                {"turns": [{"role": role, "content": content} for role, content in dialogue]},
            ],
            checks=[{"kind": "contains", "text": ["a", "b"]}, {"kind": "sentiment", "tone": "glad"}],
        )
    )
    plan = opened.evaluation
    assert plan is not None
    first, second = plan.cases
    assert [turn.text for turn in first.turns] == ["What is {{city}} like?", "And in winter?"]
    assert [turn.role for turn in second.turns] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert len({first.id, second.id, *(turn.id for turn in first.turns)}) == 4
    assert plan.checks[0] == Contains(text="a\nb")
    assert isinstance(plan.checks[1], UnknownCheck)
    assert json.loads(write(opened))["evaluation"]["checks"][1] == {"kind": "sentiment", "tone": "glad"}


@each_case(
    ("plan", "words"),
    [
        ({"repeats": 0}, "evaluation"),
        ({"checks": [{"text": "x"}]}, "kind"),
        ({"cases": [{"id": "a"}, {"id": "a"}]}, "case 2 needs a unique id"),
        ({"variants": [{"id": ""}]}, "variant 1 needs a unique id"),
        ({"variants": [{"id": "v", "differences": {"extra_headers": {"authorization": "x"}}}]}, "variant 1"),
        ({"checks": [{"kind": "latency", "seconds": -1}]}, "evaluation"),
        ({"order": "by_chance"}, "order"),
    ],
)
def test_invalid_plan_is_refused_with_its_place(plan: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentFileError, match=words):
        read(by_hand(**plan))
