"""Where a run stands. Apart from the changes, because the composer asks before anything else is loaded."""

from __future__ import annotations

from enum import StrEnum


class RunState(StrEnum):
    """Where a run stands."""

    IDLE = "idle"
    WAITING = "waiting"  # the request is on its way, nothing has come back
    STREAMING = "streaming"
    RETRYING = "retrying"  # a try failed before any content came; the next one is waited for
    ANSWERING = "answering"  # the answer to a call is delayed, or never comes
