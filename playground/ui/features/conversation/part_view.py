"""Interface of the widgets that show the parts of a turn, and the state of a card that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeAlias, TypeVar

from playground.domain.accumulator import GrowingPart
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.fold import Fold
from playground.ui.features.conversation.rows import Row, Shown, text_mode
from playground.ui.features.conversation.text_view import TextView
from playground.ui.widgets.card_frame import CardFrame

P = TypeVar("P")

#: A text that can be searched, with the fold around it.
Searched: TypeAlias = tuple[TextView, Fold | None]


@dataclass(slots=True)
class PartContext:
    """The state of a card that its part views share: the row, the tools, the zoom, and whether texts are shown raw.

    `judged` is called when the verdict on an answer changed, `edit_call` opens the editor of a whole call.
    """

    frame: CardFrame
    commands: TurnCommands
    row: Row
    tools: tuple[ToolDefinition, ...]
    zoom: float
    judged: Callable[[], None]
    edit_call: Callable[[str], None]
    raw: bool = False

    @property
    def turn(self) -> Turn:
        """The turn shown."""
        return self.row.turn

    def turn_id(self) -> str:
        """Return the id of the turn shown."""
        return self.row.id

    def tool(self, name: str) -> ToolDefinition | None:
        """Return the tool of this name, by which calls are judged."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def mode(self, part: Shown) -> str:
        """Return how a text is drawn; see `text_mode`."""
        return "raw" if self.raw else text_mode(self.turn, part)


class PartView(Generic[P]):
    """A widget that shows a part of one kind. It comes after the widget's class among the bases."""

    is_edited_in_place: ClassVar[bool] = False  # the editor of the turn's text replaces it
    context: PartContext

    @classmethod
    def make(cls, context: PartContext, mode: str) -> PartView[P]:
        """Return an empty widget; `mode` is that of its text."""
        raise NotImplementedError

    def accepts(self, part: P) -> bool:
        """Return whether the widget may come to show this part, with what a person did to it."""
        return True

    def show_part(self, part: P) -> None:
        """Show a part that was received whole."""

    def draw_growing_part(self, part: GrowingPart, seconds: str | None) -> None:
        """Draw what was received of a part; `seconds` is set for the last one."""

    @property
    def busy(self) -> bool:
        """Return whether text that is typed or selected would be lost with the widget."""
        return False

    def texts(self) -> Sequence[Searched]:
        """Return the texts that can be searched, in the order of `finding.part_texts`."""
        return ()
