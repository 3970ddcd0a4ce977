"""Variants from lanes, presets, ranges of parameters and lists of models; cases from turns of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Final

from playground.domain.parameters import Hint
from playground.domain.transcript import Role, Transcript, new_id
from playground.domain.variables import as_written, names_in
from playground.engine.compare.lanes import Lanes
from playground.engine.evaluation.resolved import EvalVariant
from playground.engine.files.presets import Preset, preset_for_lane
from playground.engine.session.branching import leading_instructions, system_text
from playground.engine.session.plan import Case, Plan
from playground.engine.session.session import Session
from playground.engine.session.settings import ExperimentSettings
from playground.engine.session.variants import RequestSettings, Variant
from playground.jsonkit.values import JSON, is_number

if TYPE_CHECKING:
    from playground.engine.evaluation.answers import SavedAnswer

# ---- cases from turns ------------------------------------------------------------------------------------------------


def case_of(session: Session, turn_id: str) -> Case:
    """Return the turns down to a turn as a case; an answer there is the expected one, and not part of the turns.

    Edits in open editors are included. Leading system turns are not: they belong to the variants. Raises KeyError for
    an unknown turn, and ValueError if there is no user turn.
    """
    turn = session.transcript.turns[turn_id]
    answer = turn if turn.role is Role.ASSISTANT else None
    transcript, tip = session.editors.preview(turn.parent if answer is not None else turn_id)
    path = transcript.lineage(tip) if tip is not None else ()
    turns = tuple(turn for turn in path[leading_instructions(path) :] if not turn.is_empty)
    if not any(turn.role is Role.USER for turn in turns):
        raise ValueError("There is no question above this message, so it is no case.")
    has_adjacent_users = any(first.role is Role.USER and second.role is Role.USER for first, second in pairwise(turns))
    is_single_request = has_adjacent_users or turns[-1].role is not Role.USER
    return Case(turns=turns, whole=is_single_request, expected=answer.text if answer is not None else "")


def step_plan(session: Session, turn_id: str, repeats: int = 5) -> Plan:
    """Return a plan that repeats the request of a turn, with the checks and variants of the current plan.

    Raises KeyError and ValueError as ``case_of`` does.
    """
    plan = session.main.settings.evaluation or Plan()
    case = case_of(session, turn_id).model_copy(update={"name": "This step", "expected": ""})
    return plan.model_copy(update={"cases": (case,), "repeats": repeats})


def begin_with_answer(session: Session, column: EvalVariant, saved_answer: SavedAnswer, title: str = "") -> None:
    """Fill a new session with an answer: its turns, and the settings of its variant.

    Variables were filled in when it was requested, so text that looks like one is kept as it is written.
    """
    settings = column.settings.model_copy(
        update={"title": title, "variables": {name: as_written(name) for name in names_in(saved_answer.turns)}}
    )
    session.history.reset(Transcript().append(*saved_answer.turns), settings.with_parameters(settings.current))
    for exchange in saved_answer.exchanges:
        session.exchanges.keep(exchange)


def step_of(session: Session, focused: str = "") -> str:
    """Return the id of the turn whose request a person means; empty in an empty conversation.

    It is the focused answer, else the last answer if it ends the path or its calls wait, else the last turn.
    """
    transcript = session.transcript
    if focused in transcript.turns and transcript.turns[focused].role is Role.ASSISTANT:
        return focused
    received = [turn.id for turn in transcript.path if turn.role is Role.ASSISTANT]
    if received and (transcript.path[-1].id == received[-1] or transcript.unanswered()):
        return received[-1]
    return transcript.path[-1].id if transcript.path else ""


MOST_VARIANTS: Final = 100  # of one sweep
_DIGITS: Final = 10  # decimal places that a step is rounded to


class SweepError(ValueError):
    """A sweep cannot be made. The text gives the reason for people."""


@dataclass(frozen=True)
class ParameterRange:
    """A parameter of the current protocol and its values in a sweep."""

    parameter: str
    values: tuple[JSON, ...]


def steps(low: float, high: float, step: float) -> tuple[float, ...]:
    """Return the values from ``low`` to ``high``, including ``high`` if the steps reach it. Raises SweepError."""
    if step <= 0 or high < low:
        raise SweepError("A sweep goes up: from the lower value to the higher one, in steps above 0.")
    count = int((high - low) / step + 1e-9) + 1
    if count > MOST_VARIANTS:
        raise SweepError(f"{count:,} steps are too many: a sweep has {MOST_VARIANTS} at most.")
    values = (round(low + step * number, _DIGITS) for number in range(count))
    return tuple(int(value) if float(value).is_integer() and float(step).is_integer() else value for value in values)


def sweepable(settings: RequestSettings) -> list[tuple[str, Hint]]:
    """Return the parameters of the current protocol that a sweep can vary: numbers and choices."""
    kinds = ("number", "integer", "choice")
    return [
        (name, hint) for name, hint in type(settings.current).hints() if hint.editor in kinds and not hint.deprecated
    ]


def over_parameters(base: ExperimentSettings, ranges: Sequence[ParameterRange]) -> tuple[Variant, ...]:
    """Return a variant for each value of one parameter, or each pair of values of two. Raises SweepError."""
    if not 1 <= len(ranges) <= 2:
        raise SweepError("A sweep goes over one parameter, or over two.")
    hints = dict(sweepable(base))
    names = [swept.parameter for swept in ranges]
    for swept in ranges:
        if swept.parameter not in hints:
            raise SweepError(f"“{swept.parameter}” is no parameter that a range can be laid over.")
        if not swept.values:
            raise SweepError(f"There is no value for {hints[swept.parameter].label} yet.")
    if len(set(names)) < len(names):
        raise SweepError("The two parameters of a sweep must be different ones.")
    combinations = list(product(*(dict.fromkeys(swept.values) for swept in ranges)))
    _check_count(len(combinations))
    variants = []
    for values in combinations:
        parameters = base.current
        for name, value in zip(names, values, strict=True):
            parameters = parameters.with_value(name, value)
        words = ", ".join(
            f"{hints[name].label.lower()} {f'{value:g}' if is_number(value) else value}"
            for name, value in zip(names, values, strict=True)
        )
        variants.append(Variant(name=words).with_settings(base, base.with_parameters(parameters)))
    return tuple(variants)


def over_models(base: ExperimentSettings, models: Iterable[str]) -> tuple[Variant, ...]:
    """Return a variant for each model. Raises SweepError."""
    names = list(dict.fromkeys(model.strip() for model in models if model.strip()))
    if not names:
        raise SweepError("There is no model in the list yet.")
    _check_count(len(names))
    return tuple(Variant(name=name).with_settings(base, base.changed(model=name)) for name in names)


def _check_count(count: int) -> None:
    if count > MOST_VARIANTS:
        raise SweepError(f"{count:,} variants are too many: a sweep has {MOST_VARIANTS} at most.")


def axes(columns: Sequence[EvalVariant]) -> dict[str, list[JSON]]:
    """Return the axes of a plot of a sweep: parameters with the value of each variant.

    Only parameters that are a number in all variants and differ count; empty if there are more than two.
    """
    settings = [column.settings.current.set_fields for column in columns]
    values = {name: [fields.get(name) for fields in settings] for fields in settings for name in fields}
    numbers = {name: row for name, row in values.items() if all(map(is_number, row)) and len(set(row)) > 1}
    return numbers if len(numbers) <= 2 else {}


def variant_of_lane(lane: Session) -> Variant:
    """Return a lane of Compare as a variant: its own settings and system turn."""
    variant = Lanes(lane).variant(lane) or Variant()
    return variant.model_copy(update={"id": new_id(), "system": _own_system(lane.main, lane.transcript)})


def variant_of_preset(session: Session, preset: Preset) -> Variant:
    """Return a preset as a variant with its name. Raises PresetError."""
    main = session.main
    transcript, settings = preset_for_lane(main, preset)
    return Variant(name=preset.name, system=_own_system(main, transcript)).with_settings(main.settings, settings)


def copied_variant(variant: Variant) -> Variant:
    """Return a copy of a variant with another id."""
    name = f"{variant.name} copy" if variant.name else ""
    return variant.model_copy(update={"id": new_id(), "name": name})


def _own_system(main: Session, transcript: Transcript) -> str | None:
    """Return the text of the system turn if it differs from that of the conversation."""
    text = system_text(transcript)
    return text if text != system_text(main.transcript) else None
