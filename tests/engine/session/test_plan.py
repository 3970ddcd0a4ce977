"""The plan of an evaluation is one of the settings of an experiment: undone, kept, in the file, written by hand."""

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
from playground.engine.session.session import Session
from playground.engine.session.settings import different
from playground.engine.session.snapshot import restore, snapshot
from playground.engine.session.variants import Variant
from tests.engine.session.test_session import make_session
from tests.engine.session.test_variants import fits_schema


@pytest.fixture
def session() -> Session:
    return make_session()


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


def test_it_is_set_and_taken_back_like_any_other_setting(session: Session) -> None:
    session.change(evaluation=PLAN)
    assert session.settings.evaluation == PLAN
    assert session.undo()
    assert session.settings.evaluation is None


def test_what_is_set_in_it_is_known_by_its_name(session: Session) -> None:
    session.change(evaluation=PLAN)
    more = session.settings.changed(evaluation=PLAN.model_copy(update={"repeats": 6}))
    assert different(session.settings, more) == ["evaluation.repeats"]


def test_it_goes_through_the_file(session: Session) -> None:
    session.change(evaluation=PLAN)
    data = write(snapshot(session))
    assert json.loads(data)["evaluation"]["checks"][0]["rubric"] == ["No figure", "that no tool gave."]
    fits_schema().validate(json.loads(data))
    again = make_session()
    restore(read(data), again)
    assert again.settings.evaluation == PLAN
    assert b'"evaluation"' not in write(snapshot(make_session()))


def by_hand(**plan: Any) -> bytes:
    return json.dumps({"experiment": 1, "id": "e", "evaluation": plan}).encode()


def test_a_person_writes_one() -> None:
    found = read(
        by_hand(
            cases=[
                {"turns": ["What is {{city}} like?", "And in winter?"], "values": {"city": "Oslo"}},
                {
                    "turns": [
                        {"role": "user", "content": "Hi"},
                        {"role": "assistant", "content": "Yes?"},
                        {"role": "user", "content": "Bye"},
                    ]
                },
            ],
            checks=[{"kind": "contains", "text": ["a", "b"]}, {"kind": "sentiment", "tone": "glad"}],
        )
    ).evaluation
    assert found is not None
    first, second = found.cases
    assert [turn.text for turn in first.turns] == ["What is {{city}} like?", "And in winter?"]
    assert [turn.role for turn in second.turns] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert len({first.id, second.id, *(turn.id for turn in first.turns)}) == 4
    assert found.checks[0] == Contains(text="a\nb")
    assert isinstance(found.checks[1], UnknownCheck)


def test_what_a_newer_version_checks_is_written_as_it_came() -> None:
    again = json.loads(write(read(by_hand(checks=[{"kind": "sentiment", "tone": "glad"}]))))
    assert again["evaluation"]["checks"] == [{"kind": "sentiment", "tone": "glad"}]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"repeats": 0}, "evaluation"),
        ({"checks": [{"text": "x"}]}, "kind"),
        ({"cases": [{"id": "a"}, {"id": "a"}]}, "case 2 needs an id of its own"),
        ({"variants": [{"id": ""}]}, "variant 1 needs an id"),
        (
            {"variants": [{"id": "v", "differences": {"extra_headers": {"authorization": "x"}}}]},
            "evaluation: variant 1",
        ),
        ({"checks": [{"kind": "latency", "seconds": -1}]}, "evaluation"),
        ({"order": "by_chance"}, "order"),
    ],
)
def test_what_is_wrong_in_one_is_said_with_its_place(plan: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentFileError, match=words):
        read(by_hand(**plan))
