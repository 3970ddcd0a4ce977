"""The file that is evaluated without a window: what of it is asked, where its answers go, and what is said besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from playground.engine.evaluation.answers import SUFFIX
from playground.engine.evaluation.inquiry import Column, Inquiry
from playground.engine.files.experiment_file import SUFFIX as EXPERIMENT
from playground.engine.files.experiment_file import ExperimentFileError, read_content
from playground.engine.headless.gateway import Gateway
from playground.engine.headless.tool_servers import CommandServers, ServerOptions
from playground.engine.requests.request_file import STDIN, BadInputError, read_value
from playground.engine.session.plan import Case
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import restore
from playground.engine.session.tool_calls import ToolCaller
from playground.jsonkit.values import JSONObject


@dataclass(frozen=True)
class EvaluationOptions(ServerOptions):
    """What the command line says besides the file; None: as the plan has it.

    ``only`` are names or letters of variants, ``cases`` patterns of names (``*`` stands for anything). ``go_on`` asks
    for what is missing of answers that are kept, ``fresh`` lets them go. ``outputs`` are files by the names of
    ``FORMATS``. ``fail_under`` is a rate from 0 to 1. ``dask`` is the address of a cluster's scheduler, empty where
    this process asks.
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


async def inquiry_of(
    path: Path, gateway: Gateway, options: EvaluationOptions, servers: CommandServers | None
) -> tuple[Inquiry, Session]:
    """What the file asks, as far as the options want it, and its experiment. Raises BadInputError."""
    value = read_value(path, pipes=True)
    if not isinstance(value, dict) or "experiment" not in value:
        raise BadInputError("the file must be a saved experiment (“experiment” is missing)")
    session = session_of(value, gateway, options, (lambda: servers.serving) if servers is not None else None)
    if servers is not None:
        await servers.open([session])
    inquiry = Inquiry(session)
    return inquiry.narrowed(_chosen_cases(inquiry, options.cases), _chosen_columns(inquiry, options.only)), session


def session_of(
    value: JSONObject, gateway: Gateway, options: EvaluationOptions, serving: Callable[[], ToolCaller] | None = None
) -> Session:
    """The experiment of a file with its plan as the options have it. Raises BadInputError."""
    session = Experiment(
        gateway.connect,
        profile_id=gateway.profile.id,
        profile_of=lambda _profile_id: gateway.profile,
        serving=serving,
    ).main
    try:
        restore(read_content(value), session)
    except (ExperimentFileError, ValueError) as error:
        raise BadInputError(str(error)) from None
    if not session.settings.model and gateway.profile.default_model:
        session.change(model=gateway.profile.default_model)
    plan = session.settings.evaluation
    if plan is None:
        raise BadInputError("the experiment has no evaluation: there is no “evaluation” in the file")
    wanted = {
        "repeats": options.repeats,
        "at_once": options.at_once,
        "seed": options.seed,
        "record": options.record_calls,
    }
    budget = {"requests": options.requests, "tokens": options.tokens, "money": options.money}
    update = {name: amount for name, amount in wanted.items() if amount is not None}
    bounds = plan.budget.model_copy(update={name: amount for name, amount in budget.items() if amount is not None})
    session.change(evaluation=plan.model_copy(update={**update, "budget": bounds}))
    return session


def _chosen_columns(inquiry: Inquiry, names: Sequence[str]) -> Sequence[Column]:
    if not names:
        return inquiry.columns
    out = []
    for name in names:
        wanted = name.strip().casefold()
        named = [one for one in inquiry.columns if one.variant is not None and one.variant.name.casefold() == wanted]
        found = named or [one for one in inquiry.columns if one.letter.casefold() == wanted]
        if len(found) != 1:
            what = f"{len(found)} variants are called" if found else "there is no variant"
            raise BadInputError(f"{what} “{name}”; there is {', '.join(one.title for one in inquiry.columns)}")
        out += found
    return [one for one in inquiry.columns if one in out]


def _chosen_cases(inquiry: Inquiry, patterns: Sequence[str]) -> Sequence[Case]:
    if not patterns:
        return inquiry.cases
    folded = [pattern.casefold() for pattern in patterns]
    found = [
        case
        for case in inquiry.cases
        if any(
            fnmatchcase(name.casefold(), one) for one in folded for name in (case.name, case.id, inquiry.title(case))
        )
    ]
    if not found:
        raise BadInputError(f"no case is called {' or '.join(f'“{pattern}”' for pattern in patterns)}")
    return found


def answers_path(path: Path, options: EvaluationOptions) -> Path:
    """Where the answers are kept. Raises BadInputError for a file that has no place."""
    if options.answers is not None:
        return options.answers
    if path == STDIN:
        raise BadInputError("answers of what is read from standard input need a file: name one with --answers")
    name = path.name.removesuffix(EXPERIMENT) if path.name.endswith(EXPERIMENT) else path.stem
    return path.with_name(f"{name}{SUFFIX}")


def check_places(path: Path, options: EvaluationOptions) -> None:
    """Raises BadInputError where an export cannot be written: better before the requests than after them."""
    for place in options.outputs.values():
        if place.is_dir():
            raise BadInputError(f"{place} is a folder; name a file")
        if not place.parent.is_dir():
            raise BadInputError(f"{place} cannot be written: there is no folder {place.parent}")
        if place.exists() and path.exists() and place.samefile(path):
            raise BadInputError(f"{place} is the file that is run")


def elsewhere(inquiry: Inquiry, asked: str) -> list[str]:
    """That a variant is of another gateway than the one that is ``asked``."""
    return [
        f"{one.title} is set for the gateway “{one.variant.gateway}”; here, the one of the command line is asked."
        for one in inquiry.columns
        if one.variant is not None and one.variant.gateway not in ("", asked)
    ]
