"""Read a received turn again as cumulative text: its deltas each began with all that came before them.

The bytes on the tape are decoded once more; they stay as they are, and so does all of the turn but its texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from playground.domain.accumulator import Accumulator
from playground.domain.events import Event
from playground.domain.parts import Part, Reasoning, Text
from playground.domain.transcript import Turn
from playground.protocols.cumulative import CUMULATIVE, without_repeats
from playground.protocols.protocol import get_protocol

if TYPE_CHECKING:
    from playground.gateway.tape import Exchange

#: The deviation of a turn that was read so.
READ_SO: Final = "cumulative_text_read"
_NOTE: Final = (
    "each delta began with all that came before it; the text is read without the repeats (undo to see it as it came)"
)
GONE: Final = "What came over the wire is no longer kept, so the turn cannot be read again."
EDITED: Final = "The turn was edited since it came, so its text is not read again."


def is_cumulative(turn: Turn) -> bool:
    """Return whether a turn came in cumulative deltas and shows their repeats."""
    return turn.outcome is not None and any(code == CUMULATIVE for code, _ in turn.outcome.deviations)


def read_as_cumulative(turn: Turn, exchange: Exchange | None) -> Turn:
    """Return the turn with the text and reasoning of its exchange without their repeats.

    Raises ValueError, with a sentence for people, where that cannot be done.
    """
    if turn.outcome is None or exchange is None or exchange.dropped or not exchange.reads:
        raise ValueError(GONE)
    decoder = get_protocol(exchange.protocol).decoder(exchange.content_type)
    events = [*decoder.decode_bytes(exchange.body), *decoder.close(delimited=exchange.delimited)]
    choice = turn.outcome.choice
    came, read = _texts(events, choice), _texts(without_repeats(events), choice)
    parts: list[Part] = []
    remaining = list(zip(came, read, strict=True)) if len(came) == len(read) else []
    for part in turn.parts:
        if isinstance(part, Text | Reasoning):
            found = remaining.pop(0) if remaining else None
            if found is None or found[0] != part.text:
                raise ValueError(EDITED)
            parts.append(part.model_copy(update={"text": found[1]}))
        else:
            parts.append(part)
    deviations = tuple(
        (READ_SO, _NOTE) if code == CUMULATIVE else (code, note) for code, note in turn.outcome.deviations
    )
    outcome = turn.outcome.model_copy(update={"deviations": deviations})
    return turn.model_copy(update={"parts": tuple(parts), "outcome": outcome})


def _texts(events: Sequence[Event], choice: int) -> list[str]:
    """Return the texts and the reasoning of one completion, in order."""
    answer = Accumulator()
    answer.add_events(events)
    parts = answer.choice(choice).freeze()
    return [part.text for part in parts if isinstance(part, Text | Reasoning)]
