"""The images of a turn, and what a person does to them as commands on that turn."""

from __future__ import annotations

from itertools import takewhile

from playground.domain.parts import Image
from playground.domain.transcript import Turn
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.image_view import ImageStrip


class TurnImages(ImageStrip):
    """Images that stand next to one another in a turn."""

    def __init__(self, commands: TurnCommands) -> None:
        super().__init__(large=True)
        self._commands = commands
        self._turn_id = ""
        self._start = 0
        self.detail_chosen.connect(self._detail_chosen)
        self.removed.connect(self._removed)
        self.opened.connect(self._opened)
        self.shrink_asked.connect(self._shrink_asked)
        self.link_asked.connect(commands.open_link)

    def show_run(self, turn: Turn, first: Image) -> None:
        """Show ``first`` and the images that follow it directly."""
        at = next(number for number, part in enumerate(turn.parts) if part is first)
        run = takewhile(lambda part: isinstance(part, Image), turn.parts[at:])
        self._turn_id = turn.id
        self._start = sum(isinstance(part, Image) for part in turn.parts[:at])
        self.show_images(tuple(part for part in run if isinstance(part, Image)))

    def _detail_chosen(self, at: int, detail: str | None) -> None:
        image = self.images[at].model_copy(update={"detail": detail})
        self._commands.edits.image(self._turn_id, self._start + at, image)

    def _removed(self, at: int) -> None:
        self._commands.edits.image(self._turn_id, self._start + at, None)

    def _opened(self, at: int) -> None:
        self._commands.open_image(self.images[at])

    def _shrink_asked(self, at: int) -> None:
        self._commands.shrink_image(self._turn_id, self._start + at)
