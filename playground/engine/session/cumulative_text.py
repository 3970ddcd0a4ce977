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
GONE: Final = "The recorded bytes of this turn are no longer kept, so it cannot be read again. Ask again instead."
EDITED: Final = "The turn was edited, so its text is not read again. Undo the edit first."


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
    received, shortened = _texts(events, choice), _texts(without_repeats(events), choice)
    if received != [part.text for part in turn.parts if isinstance(part, Text | Reasoning)]:
        raise ValueError(EDITED)
    texts = iter(shortened)
    parts: list[Part] = [
        part.model_copy(update={"text": next(texts, "")}) if isinstance(part, Text | Reasoning) else part
        for part in turn.parts
    ]
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
