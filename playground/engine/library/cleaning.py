"""A secret becomes known: what is in memory and on the disk from before is freed of it, wherever nobody typed it.

Turns stay in memory as they are, since they are what goes out; of their outcomes, exchanges and titles everything goes.
In the store the secret is taken out of turns, too, as it is whenever one is written.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from playground.domain.encoding import encode
from playground.domain.transcript import Outcome, Transcript
from playground.domain.values import Value
from playground.engine.gateways.tape_secrets import cleaned
from playground.engine.session.changes import SettingsChanged, TitleChanged, TurnChanged
from playground.engine.session.session import Session
from playground.gateway.redact import Redactor

if TYPE_CHECKING:
    from playground.engine.library.workspace import Workspace


class Cleaned(NamedTuple):
    """How many rows of the store had a secret, and whether open turns have it still."""

    rows: int
    in_turns: bool


async def clean(workspace: Workspace) -> Cleaned:
    """Free everything of what is known to be secret by now. Raises StoreError where the store cannot be cleaned now."""
    redactor = workspace.gateways.keys.redactor
    in_turns = False
    for session in tuple(workspace.sessions):
        await clean_session(session, redactor)
        in_turns = in_turns or await asyncio.to_thread(_says, session.transcript, redactor)
    rows = await workspace.store.clean() if workspace.store is not None else 0
    if rows:
        await workspace.list_again()
    return Cleaned(rows, in_turns)


def _says(transcript: Transcript, redactor: Redactor) -> bool:
    """Whether a secret stands in a turn."""
    texts = (_text(turn.model_copy(update={"outcome": None})) for turn in transcript.turns.values())
    return any(redactor.text(text) != text for text in texts)


def _text(value: Value) -> str:
    try:
        return json.dumps(encode(value), ensure_ascii=False)
    except RecursionError:  # nested so deeply that nobody can write it either
        return ""


async def clean_session(session: Session, redactor: Redactor) -> None:
    """Free an open experiment's exchanges, and what is known of its answers, of the secrets."""
    for exchange in tuple(session.exchanges.values()):
        if exchange.ended is not None:
            found = await asyncio.to_thread(cleaned, exchange, redactor)
            if found is not None and session.exchanges.get(exchange.id) is exchange:
                session.experiment.exchange_changed(found)
    changed_at = session.experiment.changed_at
    for turn in tuple(session.transcript.turns.values()):
        outcome = _cleaned(turn.outcome, redactor) if turn.outcome is not None else None
        if outcome is not None and session.transcript.turns.get(turn.id) is turn:
            session.history.transcript = session.transcript.replace(turn.model_copy(update={"outcome": outcome}))
            session.observers.tell(TurnChanged(turn.id))
    for change in (TitleChanged(), SettingsChanged()):
        session.observers.tell(change)  # both are shown without the secrets of the moment
    session.experiment.changed_at = changed_at


def _cleaned(outcome: Outcome, redactor: Redactor) -> Outcome | None:
    """What is known of an answer without the secrets; None where it has none."""
    text = _text(outcome)
    clean_text = redactor.text(text)
    if clean_text == text:
        return None
    try:
        return Outcome.model_validate(json.loads(clean_text))
    except (ValueError, ValidationError, RecursionError):  # the secret is a word that it is made of
        return None
