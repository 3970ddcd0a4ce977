"""One thing that a switch to another protocol leaves behind or changes, in words."""

from __future__ import annotations

from dataclasses import dataclass

from playground.protocols.conversion import CHANGED as CHANGED
from playground.protocols.conversion import DOUBTFUL as DOUBTFUL
from playground.protocols.conversion import LOST as LOST


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that the other protocol does not carry as it stands. ``kind`` is LOST, CHANGED or DOUBTFUL."""

    kind: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def listed(names: list[str]) -> str:
    """Names as a person lists them; there must be one."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
