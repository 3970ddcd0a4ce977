"""What stands in the composer."""

from __future__ import annotations

from playground.domain.parts import Image, ToolCall
from playground.domain.roles import Role
from playground.domain.values import LongText, Value


class Draft(Value):
    """What stands in the composer. “answers” is the id of the call that a tool turn is to answer; “calls” go with an
    assistant turn, and may lack their names and ids.
    """

    text: LongText = ""
    role: Role = Role.USER
    images: tuple[Image, ...] = ()
    answers: str = ""
    calls: tuple[ToolCall, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing would be lost with it."""
        return not (self.text or self.images or self.answers or self.calls)
