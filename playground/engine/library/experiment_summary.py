"""An experiment as a line of the list, without its turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from playground.domain.transcript import Turn
from playground.engine.session.titles import Preview, plain_preview, summary_of, title_of

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
    at: float


def has_error(turn: Turn) -> bool:
    """Whether a gateway or the way to it failed in this turn."""
    return turn.outcome is not None and turn.outcome.failure is not None


def has_tools(turn: Turn) -> bool:
    """Whether a tool is called or answered in this turn."""
    return any(part.kind in ("tool_call", "tool_result") for part in turn.parts)


def summarize(session: Session) -> ExperimentSummary:
    """The line of an open experiment, as it is now."""
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


def summarize_snapshot(found: Snapshot, front: Preview = plain_preview) -> ExperimentSummary:
    """The line of an experiment as it is kept; its title is cut by ``front``."""
    transcript = found.transcript
    return ExperimentSummary(
        id=found.id,
        title=title_of(transcript, found.title, front),
        summary=summary_of(transcript, found.model),
        model=found.model,
        protocol=found.protocol,
        pinned=found.pinned,
        archived=found.archived,
        created_at=found.created_at,
        changed_at=found.changed_at,
        has_error=any(map(has_error, found.turns)),
        has_tools=bool(found.tools) or any(map(has_tools, found.turns)),
    )
