"""An experiment as a line of the list, without its turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from playground.domain.transcript import Turn
from playground.engine.session.experiment import Preview, plain_preview, summary_of, title_of

if TYPE_CHECKING:
    from playground.engine.session.session import Session
    from playground.engine.session.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ExperimentSummary:
    """One experiment of the list. Times are Unix times in seconds; ``summary`` is one line of state."""

    id: str
    title: str
    summary: str
    model: str
    protocol: str
    pinned: bool
    archived: bool
    created_at: float
    changed_at: float
    has_error: bool
    has_tools: bool


@dataclass(frozen=True, slots=True)
class Deleted:
    """An experiment in the trash, and when it was deleted: a Unix time in seconds."""

    experiment: ExperimentSummary
    time: float


def has_error(turn: Turn) -> bool:
    """Return whether a gateway, or the connection to it, failed in this turn."""
    return turn.outcome is not None and turn.outcome.failure is not None


def has_tools(turn: Turn) -> bool:
    """Return whether a tool is called or answered in this turn."""
    return any(part.kind in ("tool_call", "tool_result") for part in turn.parts)


def summarize(session: Session) -> ExperimentSummary:
    """Return the summary of an open experiment."""
    turns = session.transcript.turns.values()
    return ExperimentSummary(
        id=session.id,
        title=session.title,
        summary=session.summary,
        model=session.settings.model,
        protocol=session.settings.protocol,
        pinned=session.experiment.pinned,
        archived=session.experiment.archived,
        created_at=session.experiment.created_at,
        changed_at=session.experiment.changed_at,
        has_error=any(map(has_error, turns)),
        has_tools=bool(session.settings.tools) or any(map(has_tools, turns)),
    )


def summarize_snapshot(snapshot: Snapshot, front: Preview = plain_preview) -> ExperimentSummary:
    """Return the summary of a stored experiment; ``front`` shortens its title."""
    transcript = snapshot.transcript
    return ExperimentSummary(
        id=snapshot.id,
        title=title_of(transcript, snapshot.title, front),
        summary=summary_of(transcript, snapshot.model),
        model=snapshot.model,
        protocol=snapshot.protocol,
        pinned=snapshot.pinned,
        archived=snapshot.archived,
        created_at=snapshot.created_at,
        changed_at=snapshot.changed_at,
        has_error=any(map(has_error, snapshot.turns)),
        has_tools=bool(snapshot.tools) or any(map(has_tools, snapshot.turns)),
    )
