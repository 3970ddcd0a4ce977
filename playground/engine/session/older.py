"""What an experiment kept by an earlier version leaves unsaid, filled in where it is opened; nothing is guessed."""

from __future__ import annotations

from playground.domain.parameters import Parameters
from playground.domain.transcript import Outcome, Transcript, Turn
from playground.jsonkit.foreign import amount_of
from playground.jsonkit.merge import merged
from playground.jsonkit.values import JSONObject


def mended(transcript: Transcript, profile_id: str) -> Transcript:
    """The same conversation with what its turns can be told.

    How many choices the request of each had, what its gateway said it cost, and that it was asked on the gateway that
    the experiment stands on now, which may be another one later.
    """
    received = [(turn, turn.outcome) for turn in transcript.turns.values() if turn.outcome is not None]
    brought: dict[str, set[int]] = {}  # the choices there are of each exchange; edits may have copied a turn
    for turn, outcome in received:
        if outcome.exchange is not None and turn.parts:
            brought.setdefault(outcome.exchange, set()).add(outcome.choice)
    changed: dict[str, Turn] = {}
    for turn, outcome in received:
        if new := _told(outcome, len(brought.get(outcome.exchange or "", ())), profile_id):
            changed[turn.id] = turn.model_copy(update={"outcome": outcome.model_copy(update=new)})
    return Transcript({**transcript.turns, **changed}, transcript.head) if changed else transcript


def _told(outcome: Outcome, brought: int, profile_id: str) -> dict[str, object]:
    """The fields of an outcome that are to be others."""
    new: dict[str, object] = {}
    choices = max(brought, outcome.choice + 1, outcome.choices, 1)
    if choices != outcome.choices:
        new["choices"] = choices
    usage = outcome.usage
    if usage is None:
        return new
    if usage.cost is None and (cost := amount_of((usage.raw or {}).get("cost"))) is not None:
        new["usage"] = usage.model_copy(update={"cost": cost})
    if not outcome.asked.profile_id and profile_id:
        new["asked"] = outcome.asked.model_copy(update={"profile_id": profile_id})
    return new


def as_it_was_sent(parameters: Parameters, extra_body: JSONObject) -> Parameters:
    """The parameters that went out beside an extra body which replaced whole objects.

    Now it is merged into them: what it hid and what would be sent again is set back to default.
    """
    on = {hint.needs: True for _, hint in type(parameters).hints() if hint.needs}  # hidden is hidden, sent or not
    wire, kept = parameters.to_wire(on), parameters
    replaced = {name: value for name, value in extra_body.items() if isinstance(value, dict)}
    hidden = [name for name, value in replaced.items() if merged(wire.get(name), value) != value]
    for name in type(parameters).model_fields if hidden else ():
        without = parameters.with_value(name, None).to_wire(on)
        if any(without.get(member) != wire[member] for member in hidden):
            kept = kept.with_value(name, None)
    others = {name: value for name, value in (kept.model_extra or {}).items() if name not in hidden}
    if others == (kept.model_extra or {}):
        return kept
    fields = {name: getattr(kept, name) for name in type(kept).model_fields}
    return type(kept).model_construct(**fields, **others).set_by_hand(kept.by_hand)
