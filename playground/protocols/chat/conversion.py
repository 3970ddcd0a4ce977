"""Changes to a turn that chat completions sends in another form or place."""

from __future__ import annotations

from collections.abc import Iterator

from playground.domain.parts import Text, ToolCall, ToolResult
from playground.domain.transcript import Role, Turn
from playground.protocols import MESSAGES
from playground.protocols.conversion import CHANGED, Told, TurnContext, is_behind


def changes(placed: TurnContext) -> Iterator[Told]:
    """Yield the changes: an answer's text is joined and sent first, and so are results."""
    turn = placed.turn
    texts = [part.text for part in turn.parts if isinstance(part, Text) and part.text]
    if turn.role is Role.ASSISTANT and _interleaved(turn):
        yield CHANGED, "its text is joined and its calls follow; their order is not sent"
    elif turn.role is Role.ASSISTANT and len(texts) > 1 and isinstance(placed.says(turn)[MESSAGES][0]["content"], str):
        yield CHANGED, "its texts are joined into one"
    if turn.refusal:
        yield CHANGED, "its refusal is sent as one, apart from the text"
    if turn.role is not Role.ASSISTANT and is_behind(turn, ToolResult):
        yield CHANGED, "its results go before what else it holds"
    if any(result.images for result in turn.results):
        yield CHANGED, "a line is sent in the place of each picture of its results"


def _interleaved(turn: Turn) -> bool:
    """Return whether text follows a call: the chat protocol has all text first."""
    called = False
    for part in turn.parts:
        if isinstance(part, ToolCall):
            called = True
        elif called and isinstance(part, Text) and part.text:
            return True
    return False
