"""A secret becomes known: what is in memory and on the disk from before is freed of it, wherever nobody typed it.

Turns stay in memory as they are, since they are what goes out; of their outcomes, exchanges and titles everything goes.
In the store the secret is taken out of turns, too, as it is whenever one is written.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from pydantic import ValidationError

from playground.domain.transcript import Outcome
from playground.engine.changes import SettingsChanged, TitleChanged, TurnChanged
from playground.engine.session import Session
from playground.engine.tape_secrets import cleaned
from playground.gateway.redact import Redactor

if TYPE_CHECKING:
    from playground.engine.workspace import Workspace


async def clean(workspace: Workspace) -> int:
    """Free everything of what is known to be secret by now. Returns how many rows of the store had it.

    Raises StoreError where the store cannot be cleaned now.
    """
    for session in tuple(workspace.sessions):
        await clean_session(session, workspace.gateways.keys.redactor)
    if workspace.store is None:
        return 0
    rows = await workspace.store.clean()
    if rows:
        await workspace.list_again()
    return rows


async def clean_session(session: Session, redactor: Redactor) -> None:
    """Free an open experiment's exchanges, and what is known of its answers, of the secrets."""
    for exchange in tuple(session.exchanges.values()):
        if exchange.ended is not None:
            found = await asyncio.to_thread(cleaned, exchange, redactor)
            if found is not None and session.exchanges.get(exchange.id) is exchange:
                session.exchange_changed(found)
    changed_at = session.changed_at
    for turn in tuple(session.transcript.turns.values()):
        outcome = _cleaned(turn.outcome, redactor) if turn.outcome is not None else None
        if outcome is not None and session.transcript.turns.get(turn.id) is turn:
            session.transcript = session.transcript.replace(turn.model_copy(update={"outcome": outcome}))
            session.tell(TurnChanged(turn.id))
    for change in (TitleChanged(), SettingsChanged()):
        session.tell(change)  # both are shown without the secrets of the moment
    session.changed_at = changed_at


def _cleaned(outcome: Outcome, redactor: Redactor) -> Outcome | None:
    """What is known of an answer without the secrets; None where it has none."""
    text = outcome.model_dump_json()
    clean_text = redactor.text(text)
    if clean_text == text:
        return None
    try:
        return Outcome.model_validate(json.loads(clean_text))
    except (ValueError, ValidationError):  # the secret is a word that it is made of
        return None
