"""The protocols, as the window offers them: it reaches them only through the engine."""

from __future__ import annotations

from typing import Final

from playground.protocols import PROTOCOLS
from playground.protocols.protocol import parameters_of as parameters_of

#: Their titles by their names.
TITLES: Final = PROTOCOLS
