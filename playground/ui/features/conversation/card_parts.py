"""The parts of one card: at most so many are seen at once, made a few at a time; the others are leafed through.

A turn may have thousands of parts, and the view of a call takes as long to make as a frame, and as long again to fill.
Each step does what there is time for; whoever shows the card asks for the next one as long as it is not ``whole``.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtWidgets import QVBoxLayout, QWidget

from playground.domain.accumulator import GrowingPart
from playground.ui.features.conversation.parts_row import PartsRow
from playground.ui.features.conversation.shown_parts import PAGE, Shown

KEPT: Final = 10  # of them that stay in view when one more comes
#: Seconds a step may begin to make or fill views in; one is made or filled in any case, and both where parts were seen.
STEP_S: Final = 0.006


class CardParts:
    """``views`` are the widgets from top to bottom, ``shown`` the parts they show once the turn is whole.

    ``make`` gives a widget that has nothing in it yet, or one of those given; ``fill`` puts a part into it. Where
    nothing was seen and it is ``unseen`` until then, the first part waits for ``go_on``, too.
    """

    def __init__(
        self,
        body: QVBoxLayout,
        row: PartsRow,
        make: Callable[[Shown, list[QWidget]], QWidget],
        fill: Callable[[QWidget, Shown], None],
        *,
        unseen: bool = False,
    ) -> None:
        self._body = body
        self.row = row
        self._make = make
        self._fill = fill
        self._unseen = unseen
        self.views: list[QWidget] = []
        self._old: list[QWidget] = []  # of what was shown before: the next ones to be made may be these
        self._next: tuple[Shown, QWidget] | None = None  # made for that part, and not filled yet
        self._stays = False  # these show what they will show again: nothing flickers, and no focus is lost
        self._wanted: Sequence[Shown] = ()
        self.first = 0  # the number of the first part that is seen
        self.before: Counter[str] = Counter()  # how many parts of each kind came before it, while parts come

    @property
    def shown(self) -> Sequence[Shown]:
        """The parts that have a view, in the same order."""
        return self._wanted[self.first : self.first + len(self.views)]

    @property
    def whole(self) -> bool:
        """Whether every part that is to be seen has its view."""
        return len(self.views) >= min(len(self._wanted) - self.first, PAGE)

    def show(self, parts: Sequence[Shown], *, anew: bool, came: bool) -> None:
        """Show these; ``anew``: from the first on, whatever was seen before; ``came``: somebody watched them come."""
        self._wanted = parts
        first = len(parts) - KEPT if came and len(parts) > self.first + PAGE else self.first
        self._turn(0 if anew else first, stays=not anew and first == self.first)

    def turn_to(self, at: int) -> None:
        """Show the page with the part of that number."""
        self._turn(at - at % PAGE)

    def step(self, where: str) -> None:
        """Show another page: "before", "after", "first" or "last"."""
        first = {
            "first": 0,
            "before": self.first - PAGE,
            "after": self.first + PAGE,
        }.get(where, len(self._wanted) - PAGE)
        self._turn(first)

    def _turn(self, first: int, *, stays: bool = False) -> None:
        self._stays = stays
        if not stays:
            self._forget_next()
        self.first = max(min(first, len(self._wanted) - 1), 0)
        self._old += self.views
        self.views = []
        # Who has many waits a frame for one more.
        self._go_on(make=not self._first_waits and (not stays or len(self._old) < KEPT))
        self.row.say(self.first, self.first + PAGE, len(self._wanted))

    @property
    def _first_waits(self) -> bool:
        return self._unseen and not self.views and not self._old

    def go_on(self) -> None:
        """Make some more views, or fill the one that is made."""
        self._go_on(make=True)

    def _go_on(self, *, make: bool) -> None:
        end = time.perf_counter() + STEP_S
        while not self.whole:
            part = self._wanted[self.first + len(self.views)]
            if self._next is not None and self._next[0] is part:
                (_, view), self._next = self._next, None
            elif not make and not self._old:
                break
            else:
                view = self._make(part, self._old)
                if view in self._old:
                    self._old.remove(view)
                elif (self.views or self._first_waits) and time.perf_counter() >= end:
                    self._forget_next()
                    self._next = part, view
                    break
            self._fill(view, part)
            self._put(view)
            if time.perf_counter() >= end:
                break
        if not self._stays:
            for view in self._old:
                view.hide()
        if self.whole:
            self._forget_next()
            self._drop(self._old)
            self._old = []

    def put_alone(self, view: QWidget) -> None:
        """Nothing but this is seen: a word in the place of parts."""
        self.clear()
        self._put(view)

    def clear(self) -> None:
        """There are no parts any more."""
        self._drop([*self.views, *self._old])
        self._forget_next()
        self.views, self._old, self._wanted, self.first = [], [], (), 0
        self.before.clear()
        self.row.say(0, 0, 0)

    # What is being received

    def add_views(self, parts: Sequence[GrowingPart], make: Callable[[GrowingPart], QWidget]) -> bool:
        """Make views for what has come, the last parts of it. Returns whether there are more to make."""
        end = time.perf_counter() + STEP_S
        if len(parts) > self.first + PAGE:
            first = len(parts) - KEPT
            gone, self.views = self.views[: first - self.first], self.views[first - self.first :]
            self._drop(gone)
            self.before.update(part.kind for part in parts[self.first : first])
            self.first = first
        while self.first + len(self.views) < len(parts):
            self._put(make(parts[self.first + len(self.views)]))
            self.views[
                -1
            ].show()  # Qt would do that a turn of the loop later, and the card has no room for it till then
            if time.perf_counter() >= end:
                break
        self.row.say(self.first, len(parts), len(parts), growing=True)
        return self.first + len(self.views) < len(parts)

    def _put(self, view: QWidget) -> None:
        if self._body.indexOf(view) != len(self.views):
            self._body.insertWidget(len(self.views), view)
        self.views.append(view)

    def _forget_next(self) -> None:
        if self._next is not None:
            self._next[1].deleteLater()
            self._next = None

    def _drop(self, views: Sequence[QWidget]) -> None:
        for view in views:
            view.hide()
            view.deleteLater()
