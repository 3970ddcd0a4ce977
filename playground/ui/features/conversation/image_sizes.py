"""Large images are offered smaller, with what that saves, once they are attached; nothing waits for the answer.

How small they can be is worked out in a thread, for all that came together. What was chosen can be kept for all that
come later. Where an image stands, and how it is taken back, is known by whoever asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, QSettings

from playground.domain.parts import Image
from playground.engine.files.images import SHRINK_SIDE, ImageError, facts, is_large, size_words
from playground.ui.features.conversation.image_view import figures
from playground.ui.widgets.loop import spawn
from playground.ui.widgets.notice_bar import Choice, NoticeBar

KEY: Final = "images/large"
ASK, SMALLER, AS_THEY_ARE = "ask", "smaller", "as-they-are"
#: What can be kept, as it is offered.
CHOICES: Final = (
    (ASK, "Ask about large images"),
    (SMALLER, "Make large images smaller"),
    (AS_THEY_ARE, "Send large images as they are"),
)
PATIENCE_S = 0.3  # after which it is said that there is work under way

#: Puts images in the places of others, which are named by their URLs; gives how many were still there.
Swap = Callable[[Mapping[str, Image]], int]


class ImageSizes(QObject):
    """Says what it has to say in ``notice``."""

    def __init__(self, notice: NoticeBar, parent: QObject) -> None:
        super().__init__(parent)
        self._notice = notice
        self._settings: QSettings | None = None
        self._kept = ASK
        self._work: asyncio.Task[None] | None = None

    def keep_in(self, settings: QSettings) -> None:
        """Keep what is chosen for good there."""
        self._settings = settings
        known = [name for name, _ in CHOICES]
        found = str(settings.value(KEY, ASK))
        self._kept = found if found in known else ASK

    @property
    def choice(self) -> str:
        """What is done with large images: one of ``CHOICES``."""
        return self._kept

    def choose(self, choice: str) -> None:
        """Do that with all that come from now on."""
        self._kept = choice
        if self._settings is not None:
            self._settings.setValue(KEY, choice)

    def consider(self, images: Sequence[Image], swap: Swap, problems: str = "") -> None:
        """Offer those that are large smaller; ``problems`` are said in any case."""
        large = [image for image in images if is_large(facts(image))] if self._kept != AS_THEY_ARE else []
        if problems:
            self._notice.say(problems)
        if large:
            self._work = spawn(self._consider(large, swap, problems), name="look at large images")

    async def _consider(self, large: list[Image], swap: Swap, problems: str) -> None:
        work = spawn(_made_smaller(large), name="make images smaller")
        done, _ = await asyncio.wait({work}, timeout=PATIENCE_S)
        if not done:
            many = f"{len(large)} large images" if len(large) > 1 else "a large image"
            words = " ".join(filter(None, (problems, f"Working out how small {many} can be…")))
            leave = "Leave it as it is" if len(large) == 1 else "Leave them as they are"
            self._notice.offer(words, (leave, partial(_cancel, work)))
        try:
            smaller, refusals = await work
        except asyncio.CancelledError:
            if work.cancelled():  # left as they are
                return
            work.cancel()
            raise
        if self._kept == SMALLER:  # nobody is asked, so that what stays large is named
            problems = " ".join(filter(None, (problems, *refusals[:3])))
        if not smaller:
            if self._kept == SMALLER and problems:
                self._notice.say(problems)
            elif not done:
                self._notice.hide()
            return
        if self._kept == SMALLER:
            self._do(large, smaller, swap, problems)
        else:
            one = sum(image.url in smaller for image in large) == 1
            words = " ".join(filter(None, (problems, offer_words(large, smaller))))
            self._notice.offer(
                words,
                ("Make it smaller" if one else "Make them smaller", partial(self._do, large, smaller, swap)),
                ("Send it as it is" if one else "Send them as they are", self._leave),
            )

    def _do(self, large: list[Image], smaller: dict[str, Image], swap: Swap, problems: str = "") -> None:
        if not swap(smaller):
            self._notice.say("Nothing was made smaller: the images are not there any more.", stays=False)
            return
        made = [image for image in large if image.url in smaller]
        were = {smaller[image.url].url: image for image in made}
        saved = sum(facts(image).size - facts(smaller[image.url]).size for image in made)
        words = f"Made smaller, {size_words(saved)} saved. What it was is not kept: Undo brings it back."
        always: list[Choice] = [("Always do so", partial(self.choose, SMALLER))] if self._kept != SMALLER else []
        words = " ".join(filter(None, (problems, words)))
        self._notice.offer(words, ("Undo", partial(self._take_back, swap, were)), *always)

    def _take_back(self, swap: Swap, were: dict[str, Image]) -> None:
        if not swap(were):
            self._notice.say("The smaller images are not there any more.", stays=False)

    def _leave(self) -> None:
        self._notice.say("Large images stay as they are.", "Never ask", partial(self.choose, AS_THEY_ARE), stays=False)


def offer_words(large: Sequence[Image], smaller: Mapping[str, Image]) -> str:
    """What is there, what it could be, and what that saves."""
    were = [facts(image) for image in large if image.url in smaller]
    now = [facts(smaller[image.url]) for image in large if image.url in smaller]
    before, after = sum(one.size for one in were), sum(one.size for one in now)
    saves = f"saves {size_words(before - after)}"
    if len(were) == 1:
        return f"{figures(were[0])}. Send it as {figures(now[0])} ({saves})?"
    most = f"at most {SHRINK_SIDE:,} pixels a side, {size_words(after)} together"
    return f"{len(were)} large images, {size_words(before)}. Send them {most} ({saves})?"


def _cancel(work: asyncio.Task[tuple[dict[str, Image], list[str]]]) -> None:
    work.cancel()


async def _made_smaller(large: Sequence[Image]) -> tuple[dict[str, Image], list[str]]:
    """Return the smaller copies by the URLs of their originals, and why other images stay as they are."""
    from playground.ui.features.conversation.images import shrunk

    copies: dict[str, Image] = {}
    refusals: list[str] = []
    for image in {image.url: image for image in large}.values():
        try:
            copies[image.url] = await asyncio.to_thread(shrunk, image)
        except ImageError as error:
            refusals.append(str(error))
    return copies, refusals
