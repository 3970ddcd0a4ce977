"""Changes to a turn that native messages send in another form or place."""

from __future__ import annotations

from collections.abc import Iterator

from playground.domain.parts import Image, Reasoning, Refusal, ToolCall, ToolResult
from playground.domain.transcript import Role, Turn
from playground.protocols.conversion import CHANGED, DOUBTFUL, SYSTEM, Told, TurnContext, is_behind, is_object, side_of


def changes(placed: TurnContext) -> Iterator[Told]:
    """Yield the changes: system prompt to the top, neighbours of one side merged, results and thinking first."""
    yield from _place(placed)
    yield from _form(placed.turn)


def _place(placed: TurnContext) -> Iterator[Told]:
    turn, before = placed.turn, placed.before
    if turn.role in SYSTEM:
        if before is not None:
            yield CHANGED, "stands in the middle; it goes into the system prompt at the top"
        elif placed.prompt:
            yield CHANGED, "joins the turn before it in one system prompt"
        if turn.role is Role.DEVELOPER:
            yield CHANGED, "there is no developer role; it is sent as system"
        if turn.images:
            yield DOUBTFUL, "its image goes into the system prompt, which takes text only"
    elif before is not None and side_of(turn) is side_of(before) and not placed.answers:
        yield CHANGED, f"joins the turn before it in one {side_of(turn).value} message"


def _form(turn: Turn) -> Iterator[Told]:
    for part in turn.parts:
        if isinstance(part, Refusal):
            yield CHANGED, "its refusal is sent as ordinary text"
        elif isinstance(part, Image) and part.url[:5].lower() == "data:" and ";base64," not in part.url[:200].lower():
            yield DOUBTFUL, "its image is a data URL without base64, sent as an address"
        elif isinstance(part, ToolCall) and part.free_text:
            yield CHANGED, f"the text of its call of {part.name} ({part.id}) is sent as “input” of a JSON object"
        elif isinstance(part, ToolCall) and not is_object(part.arguments):
            what = f"the arguments of {part.name} ({part.id}) are not a JSON object: nothing can be sent until they are"
            yield DOUBTFUL, what
        elif isinstance(part, ToolResult) and part.images and not part.is_error:
            yield CHANGED, "the pictures of its result are sent with it"
    if is_behind(turn, ToolResult):
        yield DOUBTFUL, "its result stands behind what else it holds; results belong first"
    if (
        turn.outcome is None
        and is_behind(turn, Reasoning)
        and any(isinstance(part, Reasoning) and _is_signed(part) for part in turn.parts)
    ):
        yield CHANGED, "its thinking goes to the front"


def _is_signed(part: Reasoning) -> bool:
    return part.signature is not None or part.redacted is not None
