"""Completes experiments that earlier versions wrote, from files and from the store."""

from __future__ import annotations

from playground.domain.parameters import Parameters
from playground.domain.transcript import Outcome, Transcript, Turn
from playground.jsonkit.foreign import amount_of
from playground.jsonkit.merge import merged
from playground.jsonkit.values import JSONObject


def with_missing_facts(transcript: Transcript, profile_id: str) -> Transcript:
    """Return the transcript with facts that older versions did not store in outcomes.

    The number of choices of each request, the cost reported by the gateway, and the gateway of the request, which is
    that of the experiment.
    """
    received = [(turn, turn.outcome) for turn in transcript.turns.values() if turn.outcome is not None]
    choices: dict[str, set[int]] = {}  # by exchange; edits may have copied a turn
    for turn, outcome in received:
        if outcome.exchange is not None and turn.parts:
            choices.setdefault(outcome.exchange, set()).add(outcome.choice)
    changed: dict[str, Turn] = {}
    for turn, outcome in received:
        if update := _missing_facts(outcome, len(choices.get(outcome.exchange or "", ())), profile_id):
            changed[turn.id] = turn.model_copy(update={"outcome": outcome.model_copy(update=update)})
    return Transcript({**transcript.turns, **changed}, transcript.head) if changed else transcript


def _missing_facts(outcome: Outcome, count: int, profile_id: str) -> dict[str, object]:
    update: dict[str, object] = {}
    choices = max(count, outcome.choice + 1, outcome.choices, 1)
    if choices != outcome.choices:
        update["choices"] = choices
    usage = outcome.usage
    if usage is None:
        return update
    if usage.cost is None and (cost := amount_of((usage.raw or {}).get("cost"))) is not None:
        update["usage"] = usage.model_copy(update={"cost": cost})
    if not outcome.asked.profile_id and profile_id:
        update["asked"] = outcome.asked.model_copy(update={"profile_id": profile_id})
    return update


def merged_parameters(parameters: Parameters, extra_body: JSONObject) -> Parameters:
    """Return the parameters that were sent with an extra body of an older version, which replaced whole objects.

    It is merged into them now: parameters that it hid are set back to their defaults.
    """
    enabled = {hint.needs: True for _, hint in type(parameters).hints() if hint.needs}
    wire, result = parameters.to_wire(enabled), parameters
    objects = {name: value for name, value in extra_body.items() if isinstance(value, dict)}
    hidden = [name for name, value in objects.items() if merged(wire.get(name), value) != value]
    for name in type(parameters).model_fields if hidden else ():
        without = parameters.with_value(name, None).to_wire(enabled)
        if any(without.get(member) != wire[member] for member in hidden):
            result = result.with_value(name, None)
    extra = {name: value for name, value in (result.model_extra or {}).items() if name not in hidden}
    if extra == (result.model_extra or {}):
        return result
    fields = {name: getattr(result, name) for name in type(result).model_fields}
    return type(result).model_construct(**fields, **extra).set_by_hand(result.by_hand)
