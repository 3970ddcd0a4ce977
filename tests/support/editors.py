"""Edits of sessions in tests, and a session without a gateway."""

from __future__ import annotations

from playground.domain.errors import RunRefusedError
from playground.domain.parts import ToolCall
from playground.engine.session import edits
from playground.engine.session.session import Session
from playground.gateway.client import GatewayClient


async def no_gateway(profile_id: str) -> GatewayClient:
    raise RunRefusedError(f"no run is made here, at {profile_id}")


def edit_in_place(session: Session, turn_id: str, text: str) -> None:
    """Replace the text of a turn without a branch, as an edit below which turns remain."""
    session.turns.rewrite(session.transcript.replace(edits.with_text(session.transcript.turns[turn_id], text)))


def edit_text(session: Session, turn_id: str, text: str) -> str:
    """Replace the text of a turn, of a tool turn its result. Returns the id of the edited turn."""
    return session.turns.replace_turn(edits.with_text(session.transcript.turns[turn_id], text))


def edit_call(session: Session, turn_id: str, call_id: str, arguments: str) -> str:
    """Replace the raw arguments of a call; on a branch it waits for a new result. Returns the id of the turn."""
    turn = edits.with_arguments(session.transcript.turns[turn_id], call_id, arguments)
    return session.turns.apply(edits.replace_turn(session.transcript, turn, call_id)).turn_id


def replace_call(session: Session, turn_id: str, call_id: str, call: ToolCall) -> tuple[str, str]:
    """Replace a call; its results follow it. Returns the ids of turn and call."""
    edit = edits.replace_call(session.transcript, turn_id, call_id, call)
    return session.turns.apply(edit).turn_id, edit.new_call
