"""Experiments and evaluation cases made of recorded exchanges."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from playground.domain.variables import as_written, names_in
from playground.engine.session.plan import MOST_CASES, Case, Plan

if TYPE_CHECKING:
    from playground.engine.library.workspace import Workspace
    from playground.engine.session.session import Exchange, Session

MOST_TITLE: Final = 60  # characters


class NotUnderstoodError(ValueError):
    """An exchange has no request that can be an experiment."""


async def open_as_experiment(
    workspace: Workspace, profile_id: str, exchange: Exchange, *, with_answer: bool = True
) -> Session:
    """Add an experiment with the messages and settings of an exchange. Raises NotUnderstoodError."""
    session = await experiment_of(workspace, profile_id, [exchange], with_answer=with_answer)
    workspace.add_experiment(session)
    return session


async def experiment_of(
    workspace: Workspace, profile_id: str, exchanges: Sequence[Exchange], *, with_answer: bool = True
) -> Session:
    """Return a new experiment on a gateway, which is in no list yet. Raises NotUnderstoodError."""
    from playground.engine.cassettes.replay import load_exchanges, request_of

    request = await asyncio.to_thread(request_of, exchanges[-1])
    if request is None:
        raise NotUnderstoodError
    session = workspace.blank(profile_id)
    if with_answer:
        load_exchanges(session, exchanges)
    else:
        session.load(request)
        session.change(reasoning_return=request.reasoning_return)
    # Text that looks like a variable was sent literally, so its value is itself.
    variables = {name: as_written(name) for name in names_in(request.turns)}
    if variables:
        session.change(variables=variables)
    return session


async def cases_of(workspace: Workspace, profile_id: str, exchanges: Sequence[Exchange]) -> list[Case]:
    """Return a case for each exchange that has a question: its messages, with the answer as the expected one."""
    from playground.engine.evaluation.variants import case_of

    cases: list[Case] = []
    for exchange in exchanges:
        try:
            session = await experiment_of(workspace, profile_id, [exchange])
            cases.append(case_of(session, session.transcript.path[-1].id))
        except (ValueError, KeyError, IndexError):
            continue
    return cases


def add_cases(session: Session, cases: Sequence[Case]) -> int:
    """Add cases to the evaluation of an experiment, as far as there is room. Return how many were added."""
    main = session.main
    plan = main.settings.evaluation or Plan()
    room = max(MOST_CASES - len(plan.cases), 0)
    main.change(evaluation=plan.model_copy(update={"cases": (*plan.cases, *cases[:room])}))
    return min(room, len(cases))
