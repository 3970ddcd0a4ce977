"""Edits of sessions in tests, and a session without a gateway."""

from __future__ import annotations

from playground.domain.errors import RunRefusedError
from playground.engine.session.edits import with_text
from playground.engine.session.session import Session
from playground.gateway.client import GatewayClient


async def no_gateway(profile_id: str) -> GatewayClient:
    raise RunRefusedError(f"no run is made here, at {profile_id}")


def edit_in_place(session: Session, turn_id: str, text: str) -> None:
    """Replace the text of a turn without a branch, as an edit below which turns remain."""
    session.turns.rewrite(session.transcript.replace(with_text(session.transcript.turns[turn_id], text)))
