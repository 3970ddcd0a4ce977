"""Experiments for tests of the list."""

from __future__ import annotations

import time

from playground.engine.library.experiment_summary import ExperimentSummary

NOON = time.mktime((2026, 11, 21, 12, 0, 0, 0, 0, -1))
DAY = 86_400.0


def entry(key: str, title: str = "", *, ago: float = 0.0, **more: object) -> ExperimentSummary:
    """An experiment made ``ago`` days before noon."""
    values: dict[str, object] = {
        "id": key,
        "title": title or f"Title of {key}",
        "summary": "demo-chat · 2 messages",
        "model": "demo-chat",
        "protocol": "chat",
        "pinned": False,
        "archived": False,
        "created_at": NOON - ago * DAY,
        "changed_at": NOON,
        "has_error": False,
        "has_tools": False,
    }
    return ExperimentSummary(**{**values, **more})  # type: ignore[arg-type]  # mixed on purpose
