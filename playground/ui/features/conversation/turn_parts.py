"""The parts of a turn in its card: a widget for each kind, found in a table, and the page of parts in view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, Final, TypeAlias

from PySide6.QtWidgets import QVBoxLayout, QWidget

from playground.domain.accumulator import GrowingPart
from playground.domain.parts import Image, Refusal, Text, ToolResult, Unknown
from playground.domain.transcript import Turn
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.calls.call_text import unknown_lines
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.folded_parts import HostedFold, MembersFold, ReasoningView
from playground.ui.features.conversation.image_view import ImageStrip
from playground.ui.features.conversation.part_view import PartContext, PartView, Searched
from playground.ui.features.conversation.rows import PAGE, Shown, is_judged
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.verdict_view import AnswerCheckView
from playground.ui.widgets.parts_row import PartsRow

SIDES = 32  # pixels of a card's width beside its text
LARGE_FRAGMENT = 4_000  # characters of a fragment that is appended by itself
OVERLAP: Final = 10  # parts that stay in view when the next page begins while parts are received

#: A part that is shown as text.
TextualPart: TypeAlias = Text | Refusal | ToolResult | Unknown


class TextPart(TextView, PartView[TextualPart]):
    """The text of a turn."""

    is_edited_in_place = True
    _drawn = 0  # fragments that are drawn

    @classmethod
    def make(cls, context: PartContext, mode: str) -> TextPart:
        view = cls(mode=mode, zoom=context.zoom)
        view.setAccessibleName("Text of the message")
        view.link_clicked.connect(context.commands.link_asked)
        view.height_changed.connect(context.frame.height_changed)
        if (width := context.frame.width() - SIDES) > SIDES:
            view.resize(width, view.height())
            view.setLineWrapColumnOrWidth(width)
        return view

    def accepts(self, part: TextualPart) -> bool:
        return not isinstance(part, Unknown) and self.mode == self.context.mode(part)

    def show_part(self, part: TextualPart) -> None:
        self.set_text("\n".join(unknown_lines(part)) if isinstance(part, Unknown) else part.text)

    def draw_growing_part(self, part: GrowingPart, seconds: str | None) -> None:
        if fragments := part.fragments[self._drawn :]:
            # Large fragments are shared with the answer; joining them would copy all of it.
            for text in fragments if len(fragments[0]) > LARGE_FRAGMENT else ["".join(fragments)]:
                self.append(text)
            self._drawn = len(part.fragments)

    @property
    def busy(self) -> bool:
        return self.textCursor().hasSelection()

    def texts(self) -> Sequence[Searched]:
        return ((self, None),)


class TurnImages(ImageStrip, PartView[Image]):
    """Images that follow one another in a turn."""

    def __init__(self, commands: TurnCommands) -> None:
        super().__init__(large=True, fixed=commands.read_only)
        self._commands = commands
        self._turn_id = ""
        self._start = 0
        self.detail_chosen.connect(self._set_detail)
        self.removed.connect(lambda index: commands.set_image(self._turn_id, self._start + index, None))
        self.opened.connect(lambda index: commands.open_image(self.images[index]))
        self.shrink_asked.connect(lambda index: commands.shrink_image(self._turn_id, self._start + index))
        self.link_asked.connect(commands.link_asked)

    @classmethod
    def make(cls, context: PartContext, mode: str) -> TurnImages:
        return cls(context.commands)

    def show_part(self, part: Image) -> None:
        """Show an image and those that follow it directly."""
        turn: Turn = self.context.turn
        position = next(number for number, candidate in enumerate(turn.parts) if candidate is part)
        run = takewhile(lambda part: isinstance(part, Image), turn.parts[position:])
        self._turn_id = turn.id
        self._start = sum(isinstance(part, Image) for part in turn.parts[:position])
        self.show_images(tuple(part for part in run if isinstance(part, Image)))

    def _set_detail(self, index: int, detail: str | None) -> None:
        image = self.images[index].model_copy(update={"detail": detail})
        self._commands.set_image(self._turn_id, self._start + index, image)


#: Widgets by the kind of the part; all other kinds are texts. A new kind is a class and a line here.
_BY_KIND: Final[dict[str, type[PartView[Any]]]] = {
    "tool_call": CallCard,
    "reasoning": ReasoningView,
    "image": TurnImages,
    "unknown_members": MembersFold,
    "hosted": HostedFold,
}


class TurnParts:
    """The parts of one card: `views` are the widgets in view from top to bottom.

    At most `PAGE` parts are in view; `row` below them leads to the others. `first` is the number of the first part in
    view, and `before` counts the parts before it by kind while parts are received.
    """

    def __init__(self, body: QVBoxLayout, row: PartsRow, context: PartContext) -> None:
        self._body = body
        self._row = row
        self._context = context
        self._parts: Sequence[Shown] = ()
        self.views: list[QWidget] = []
        self.first = 0
        self.before: Counter[str] = Counter()

    @property
    def parts_in_view(self) -> Sequence[Shown]:
        """The parts in view, in the order of `views`."""
        return self._parts[self.first : self.first + len(self.views)]

    @property
    def calls(self) -> list[CallCard]:
        """The cards of the calls in view."""
        return [view for view in self.views if isinstance(view, CallCard)]

    @property
    def busy(self) -> bool:
        """Return whether text that is typed or selected would be lost with the widgets."""
        return any(view.busy for view in self.part_views)

    @property
    def part_views(self) -> list[PartView[Any]]:
        """The widgets of parts in view; a placeholder is none."""
        return [view for view in self.views if isinstance(view, PartView)]

    def show(self, parts: Sequence[Shown], *, received: bool) -> None:
        """Show the parts of a turn; `received` says that they were in view while they arrived, the last ones first."""
        self._parts = parts
        self._show_page(len(parts) - OVERLAP if received and len(parts) > self.first + PAGE else self.first)

    def turn_to(self, number: int) -> bool:
        """Show the page with the part of this number. Return whether another page is in view now."""
        if self.first <= number < self.first + PAGE:
            return False
        self._show_page(number - number % PAGE)
        return True

    def step(self, direction: str) -> None:
        """Show another page: "before", "after", "first" or "last"."""
        pages = {"first": 0, "before": self.first - PAGE, "after": self.first + PAGE}
        self._show_page(pages.get(direction, len(self._parts) - PAGE))

    def _show_page(self, first: int) -> None:
        self.first = max(min(first, len(self._parts) - 1), 0)
        old, self.views = self.views, []
        for part in self._parts[self.first : self.first + PAGE]:
            is_answer = isinstance(part, Text) and is_judged(self._context.turn)
            kind: type[PartView[Any]] = AnswerCheckView if is_answer else _BY_KIND.get(part.kind, TextPart)
            same = next((view for view in old if isinstance(view, kind) and view.accepts(part)), None)
            if same is not None:
                old.remove(same)
                self._append(same)
            view: PartView[Any] = same or self._make(kind, self._context.mode(part))
            view.show_part(part)
        _delete(old)
        self._row.say(self.first, self.first + PAGE, len(self._parts))

    def draw_growing_parts(self, parts: Sequence[GrowingPart], seconds: str, *, is_json: bool) -> None:
        """Draw the last page of what was received so far."""
        if len(parts) > self.first + PAGE:
            first = len(parts) - OVERLAP
            _delete(self.views[: first - self.first])
            self.views = self.views[first - self.first :]
            self.before.update(part.kind for part in parts[self.first : first])
            self.first = first
        for part in parts[self.first + len(self.views) :]:
            raw = part.kind == "unknown" or self._context.raw or is_json
            self._make(_BY_KIND.get(part.kind, TextPart), "raw" if raw else "markdown")
            self.views[-1].show()  # at once: the card makes room for it before Qt would show it
        self._row.say(self.first, len(parts), len(parts), growing=True)
        last = len(parts) - 1
        for number, view in enumerate(self.part_views, self.first):
            if number <= last:
                view.draw_growing_part(parts[number], seconds if number == last else None)

    def show_placeholder(self, view: QWidget) -> None:
        """Show only this widget, in place of parts."""
        self.clear()
        self._append(view)

    def clear(self) -> None:
        """Remove all parts."""
        _delete(self.views)
        self.views, self._parts, self.first = [], (), 0
        self.before.clear()
        self._row.say(0, 0, 0)

    def set_raw(self, raw: bool) -> None:
        """Show texts exactly as they were received, or drawn."""
        self._context.raw = raw
        if self._parts:
            self._show_page(self.first)

    def _make(self, kind: type[PartView[Any]], mode: str) -> Any:
        view: Any = kind.make(self._context, mode)  # a widget, too
        view.context = self._context
        self._append(view)
        return view

    def _append(self, view: QWidget) -> None:
        if self._body.indexOf(view) != len(self.views):
            self._body.insertWidget(len(self.views), view)
        self.views.append(view)


def _delete(views: Iterable[QWidget]) -> None:
    for view in views:
        view.hide()
        view.deleteLater()
