"""What the command line says of a headless run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from playground.domain.request import ReasoningReturn
from playground.engine.gateways.profiles import Auth
from playground.engine.gateways.secrets import Secret


@dataclass(frozen=True)
class RunOptions:
    """What the command line says besides the file; what is None is as a new gateway in the window has it.

    ``key`` is as it was given. ``headers`` are (name, value) pairs; those that carry a secret are told by name and
    value. ``proxy`` may hold a password. ``timeouts`` are seconds by the names of ``Timeouts``, None for no limit.
    ``max_event`` and ``max_body`` are in MiB. ``reasoning`` overrides what the file says. ``answers`` is a table
    (``playground.engine.files.answer_table``), ``max_steps`` the requests at most; ``record`` is where a cassette is
    written.
    """

    base_url: str
    key: Secret | None = None
    headers: tuple[tuple[str, str], ...] = ()
    key_style: Auth | None = None
    reasoning: ReasoningReturn | None = None
    timeouts: Mapping[str, float | None] = field(default_factory=dict)
    retries: int | None = None
    max_event: int | None = None
    max_body: int | None = None
    ca: Path | None = None
    proxy: str = field(default="", repr=False)
    allow_http: bool = False
    answers: Path | None = None
    max_steps: int | None = None
    record: Path | None = None
    as_json: bool = False

    @property
    def loops(self) -> bool:
        """Whether calls are answered."""
        return self.answers is not None or self.max_steps is not None
