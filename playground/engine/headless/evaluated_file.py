"""The file of `playground eval`: the selected part of its evaluation, and the file of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from playground.engine.evaluation.answers import SUFFIX
from playground.engine.evaluation.resolved import EvalVariant, ResolvedEvaluation
from playground.engine.files.experiment_file import SUFFIX as EXPERIMENT
from playground.engine.headless.command import Command, restore_experiment
from playground.engine.headless.gateway import Gateway
from playground.engine.headless.tool_servers import ServerOptions
from playground.engine.requests.request_file import STDIN, BadInputError, read_value
from playground.engine.session.plan import Case
from playground.engine.session.session import Session
from playground.jsonkit.values import JSONObject


@dataclass(frozen=True)
class EvaluationOptions(ServerOptions):
    """Options of the command line; None leaves the plan as it is.

    `only` are names or letters of variants, `cases` glob patterns of names. `go_on` asks for missing answers, `fresh`
    deletes the saved ones. `outputs` are files by the names of `FORMATS`. `fail_under` is a rate from 0 to 1. `dask` is
    the address of a cluster's scheduler, empty without a cluster.
    """

    repeats: int | None = None
    at_once: int | None = None
    seed: int | None = None
    only: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    requests: int | None = None
    tokens: int | None = None
    money: float | None = None
    record_calls: bool | None = None
    go_on: bool = False
    fresh: bool = False
    answers: Path | None = None
    outputs: dict[str, Path] = field(default_factory=dict)
    fail_under: float | None = None
    dask: str = ""


async def resolved_of(path: Path, command: Command, options: EvaluationOptions) -> tuple[ResolvedEvaluation, Session]:
    """Return the part of a file's evaluation that the options select, and its session. Raises BadInputError."""
    value = read_value(path, pipes=True)
    if not isinstance(value, dict) or "experiment" not in value:
        raise BadInputError("the file must be a saved experiment (“experiment” is missing)")
    session = evaluated_session(value, command.session(), command.gateway, options)
    await command.start_servers([session])
    resolved = ResolvedEvaluation(session)
    return resolved.narrowed(_chosen_cases(resolved, options.cases), _chosen_columns(resolved, options.only)), session


def evaluated_session(value: JSONObject, session: Session, gateway: Gateway, options: EvaluationOptions) -> Session:
    """Load a saved experiment into a session, its plan changed as the options say. Raises BadInputError."""
    restore_experiment(value, session)
    if not session.settings.model and gateway.profile.default_model:
        session.change(model=gateway.profile.default_model)
    plan = session.settings.evaluation
    if plan is None:
        raise BadInputError("the experiment has no evaluation: there is no “evaluation” in the file")
    changes = {
        "repeats": options.repeats,
        "at_once": options.at_once,
        "seed": options.seed,
        "record": options.record_calls,
    }
    budget = {"requests": options.requests, "tokens": options.tokens, "money": options.money}
    update = {name: amount for name, amount in changes.items() if amount is not None}
    bounds = plan.budget.model_copy(update={name: amount for name, amount in budget.items() if amount is not None})
    session.change(evaluation=plan.model_copy(update={**update, "budget": bounds}))
    return session


def _chosen_columns(resolved: ResolvedEvaluation, names: Sequence[str]) -> Sequence[EvalVariant]:
    if not names:
        return resolved.columns
    chosen: list[EvalVariant] = []
    for name in names:
        folded = name.strip().casefold()
        matches = [
            column
            for column in resolved.columns
            if column.variant is not None and column.variant.name.casefold() == folded
        ] or [column for column in resolved.columns if column.letter.casefold() == folded]
        if len(matches) != 1:
            problem = f"{len(matches)} variants are called" if matches else "there is no variant"
            raise BadInputError(
                f"{problem} “{name}”; there is {', '.join(column.title for column in resolved.columns)}"
            )
        chosen += matches
    return [column for column in resolved.columns if column in chosen]


def _chosen_cases(resolved: ResolvedEvaluation, patterns: Sequence[str]) -> Sequence[Case]:
    if not patterns:
        return resolved.cases
    folded = [pattern.casefold() for pattern in patterns]
    chosen = [
        case
        for case in resolved.cases
        for names in [[name.casefold() for name in (case.name, case.id, resolved.title(case))]]
        if any(fnmatchcase(name, pattern) for pattern in folded for name in names)
    ]
    if not chosen:
        raise BadInputError(f"no case is called {' or '.join(f'“{pattern}”' for pattern in patterns)}")
    return chosen


def answers_path(path: Path, options: EvaluationOptions) -> Path:
    """Return the file of the answers. Raises BadInputError for standard input without --answers."""
    if options.answers is not None:
        return options.answers
    if path == STDIN:
        raise BadInputError("an evaluation from standard input needs a file for its answers: name one with --answers")
    name = path.name.removesuffix(EXPERIMENT) if path.name.endswith(EXPERIMENT) else path.stem
    return path.with_name(f"{name}{SUFFIX}")
