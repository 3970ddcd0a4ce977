"""Experiments with an evaluation, on the demo gateway over a real socket."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playground.domain.checks.texts import Contains
from playground.domain.transcript import Role, make_turn
from playground.engine.evaluation.answers import AnswerStore
from playground.engine.evaluation.provider import Answer
from playground.engine.evaluation.resolved import ResolvedEvaluation
from playground.engine.evaluation.runner import Runner
from playground.engine.session.plan import Case, Plan
from playground.engine.session.session import Session
from playground.engine.session.variants import Variant

CITIES = ("Lisbon", "Oslo", "Rome", "Bergen", "Qwxz", "Paris")


def variant(name: str, **differences: Any) -> Variant:
    return Variant.model_validate({"id": name, "name": name, "differences": differences})


def cases(count: int = 3) -> tuple[Case, ...]:
    return tuple(
        Case(id=f"c{number}", values={"city": f"{CITIES[number % 6]}{number // 6 or ''}"}) for number in range(count)
    )


def plan(**fields: Any) -> Plan:
    return Plan(**{"cases": cases(), "checks": (Contains(text="{{city}}"),), "streamed": False, **fields})


def planned(session: Session, text: str = "What is {{city}} like? !fast", **fields: Any) -> Session:
    """The session with a question and a plan."""
    if not any(turn.role is Role.USER for turn in session.transcript.path):
        session.turns.add_turn(make_turn(Role.USER, text))
    session.change(evaluation=plan(**fields))
    return session


class Evaluations:
    """Runners over a store of answers."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "answers.sqlite"
        self.store = AnswerStore(self.path)
        self.answers_added: list[Answer] = []

    def runner(self, session: Session) -> Runner:
        return Runner(ResolvedEvaluation(session), self.store, on_saved=self._hear)

    def _hear(self, answers: Sequence[Answer]) -> None:
        self.answers_added += answers

    async def run(self, session: Session) -> Runner:
        runner = self.runner(session)
        await runner.run()
        return runner

    async def load(self, session: Session) -> Runner:
        runner = self.runner(session)
        await runner.load()
        return runner
