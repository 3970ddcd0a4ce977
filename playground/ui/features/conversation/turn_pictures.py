"""Images for a turn that is there already: chosen, pasted onto its card or dropped on it, one edit for all of them.

A user turn takes them, and the result of a tool. What is no image is named, and the others are taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData

from playground.domain.parts import Image
from playground.domain.transcript import Role, Turn
from playground.engine.files.images import ImageError, cut_off_words
from playground.engine.requests.protocol_info import pictures_in_results
from playground.engine.session.session import Session
from playground.ui.features.conversation.image_intake import FILTER, notice_words
from playground.ui.features.conversation.image_sizes import ImageSizes
from playground.ui.widgets.dialogs import ask_several
from playground.ui.widgets.loop import spawn

if TYPE_CHECKING:
    from playground.ui.features.conversation.commands import TurnCommands
    from playground.ui.features.conversation.images import Source
    from playground.ui.features.conversation.transcript_pane import TranscriptPane

AS_LINES = "Over this protocol a result is text: a line stands for each image of it."


def takes_images(turn: Turn) -> bool:
    """Whether there is a place for images in a turn."""
    return turn.role is Role.USER or (turn.role is Role.TOOL and bool(turn.results))


class TurnPictures:
    """Adds images to turns of a pane; `sizes` offers smaller copies of large ones."""

    def __init__(self, pane: TranscriptPane, commands: TurnCommands, sizes: ImageSizes) -> None:
        self._pane = pane
        self._commands = commands
        self._sizes = sizes
        self._folder = ""

    def take(self, turn_id: str, mime: QMimeData, *, now: bool = True) -> bool:
        """Put the images of a paste or drop into a turn; without ``now`` it is only said whether that would be."""
        from playground.ui.features.conversation.images import offers_images, sources_of

        turn = self._pane.session.transcript.turns.get(turn_id)
        if self._commands.read_only or turn is None or not takes_images(turn) or not offers_images(mime):
            return False
        if not now:
            return True
        sources = sources_of(mime)
        if sources:
            self._begin(turn_id, sources)
        return bool(sources)

    def choose(self, turn_id: str) -> None:
        """Ask for files, and put them into a turn."""
        spawn(self._choose(turn_id), name="choose images for a turn")

    async def _choose(self, turn_id: str) -> None:
        if paths := await ask_several(self._pane.window(), "Add images to the turn", self._folder, FILTER):
            self._folder = str(paths[0].parent)
            self._begin(turn_id, list(paths))

    def _begin(self, turn_id: str, sources: Sequence[Source]) -> None:
        spawn(self._read(self._pane.session, turn_id, sources), name="read images for a turn")

    async def _read(self, session: Session, turn_id: str, sources: Sequence[Source]) -> None:
        from playground.ui.features.conversation.images import read_source

        images: list[Image] = []
        problems: list[str] = []
        warnings: list[str] = []
        for source in sources:
            try:
                images.append(await asyncio.to_thread(read_source, source))
                warnings.append(await asyncio.to_thread(cut_off_words, images[-1]))
            except ImageError as error:
                problems.append(str(error))
        turn = session.transcript.turns.get(turn_id)
        if session is not self._pane.session or turn is None or not takes_images(turn):
            self._pane.notice.say("Nothing was added: the turn is not there any more.", stays=False)
            return
        said = notice_words(problems, warnings)
        if images:
            made: list[str] = []
            many = f"{len(images)} images added." if len(images) > 1 else "Image added."
            if turn.role is Role.TOOL and not pictures_in_results(session.settings.protocol):
                many = f"{many} {AS_LINES}"
            add = partial(session.turns.add_images, turn_id, images)
            self._commands.edit(turn_id, lambda: made.append(add()), many)
            if made:
                self._sizes.consider(images, partial(self._swap, session, made[0]), said)
        elif said:
            self._pane.notice.say(said)

    def _swap(self, session: Session, turn_id: str, swaps: Mapping[str, Image]) -> int:
        """Put other images into a turn."""
        turn = session.transcript.turns.get(turn_id)
        there = [image.url for image in turn.images] if turn is not None else []
        there += [image.url for result in turn.results for image in result.images] if turn is not None else []
        count = sum(url in swaps for url in there)
        if count and session is self._pane.session:
            self._commands.edit(turn_id, partial(session.turns.swap_images, turn_id, swaps))
            return count
        return 0
