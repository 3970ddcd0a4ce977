"""The parts of a turn in its card: a `PartView` for each kind, found in a table, and the page of parts in view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, ClassVar, Final, Generic, TypeAlias, TypeVar

from PySide6.QtWidgets import QVBoxLayout, QWidget

from playground.domain.accumulator import GrowingCall, GrowingPart
from playground.domain.parts import Image, Reasoning, Refusal, Text, ToolCall, ToolResult, Unknown
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Turn
from playground.engine.inspect.unknown_members import Beside
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.calls.call_text import unknown_lines
from playground.ui.features.conversation.card_frame import CardFrame
from playground.ui.features.conversation.commands import TurnCommands
from playground.ui.features.conversation.image_view import ImageStrip
from playground.ui.features.conversation.members_fold import MembersFold
from playground.ui.features.conversation.parts_row import PartsRow
from playground.ui.features.conversation.reasoning_view import ReasoningView
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.shown_parts import PAGE, REDACTED, Shown, is_judged, text_mode
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.verdict_view import AnswerCheckView
from playground.ui.widgets import figures

SIDES = 32  # pixels of a card's width beside its text
LARGE_FRAGMENT = 4_000  # characters of a fragment that is appended by itself
OVERLAP: Final = 10  # parts that stay in view when the next page begins while parts are received

V = TypeVar("V", bound=QWidget)
P = TypeVar("P")

#: A view that may be folded, with a text that it has not read yet.
Folded: TypeAlias = ReasoningView | MembersFold
#: A text that can be searched, with the fold around it.
Searched: TypeAlias = tuple[TextView, Folded | None]


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


class PartView(Generic[V, P]):
    """Draw a part of one kind, `P`, in a widget of one kind, `V`."""

    widget: ClassVar[type[QWidget]] = QWidget
    is_edited_in_place: ClassVar[bool] = False  # the editor of the turn's text replaces it

    def make(self, context: PartContext, mode: str) -> V:
        """Return an empty widget; `mode` is that of its text."""
        raise NotImplementedError

    def fits(self, view: QWidget, part: P, context: PartContext) -> bool:
        """Return whether the widget of another part may show this one, with what a person did to it."""
        return isinstance(view, self.widget)

    def show(self, view: V, part: P, context: PartContext) -> None:
        """Show a part that was received whole."""

    def draw_growing_part(self, view: V, part: GrowingPart, context: PartContext, seconds: str | None) -> None:
        """Draw what was received of a part; `seconds` is set for the last one."""

    def busy(self, view: V) -> bool:
        """Return whether text that is typed or selected would be lost with the widget."""
        return False

    def set_zoom(self, view: V, zoom: float) -> None:
        """Change the text size."""

    def set_raw(self, view: V, part: Shown, context: PartContext) -> None:
        """Follow `context.raw`."""

    def texts(self, view: V) -> Iterable[Searched]:
        """Return the texts that can be searched."""
        return ()


class _TextPart(PartView[TextView, Text | Refusal | ToolResult | Unknown]):
    widget = TextView
    is_edited_in_place = True

    def make(self, context: PartContext, mode: str) -> TextView:
        view = TextView(mode=mode, zoom=context.zoom)
        view.setAccessibleName("Text of the turn")
        view.link_clicked.connect(context.commands.open_link)
        view.height_changed.connect(context.frame.height_changed)
        if (width := context.frame.width() - SIDES) > SIDES:
            view.resize(width, view.height())
            view.setLineWrapColumnOrWidth(width)
        return view

    def fits(self, view: QWidget, part: Text | Refusal | ToolResult | Unknown, context: PartContext) -> bool:
        return isinstance(view, TextView) and not isinstance(part, Unknown) and view.mode == context.mode(part)

    def show(self, view: TextView, part: Text | Refusal | ToolResult | Unknown, context: PartContext) -> None:
        view.set_text("\n".join(unknown_lines(part)) if isinstance(part, Unknown) else part.text)

    def draw_growing_part(self, view: TextView, part: GrowingPart, context: PartContext, seconds: str | None) -> None:
        drawn = int(view.property("drawn") or 0)
        if fragments := part.fragments[drawn:]:
            # Large fragments are shared with the answer; joining them would copy all of it.
            for text in fragments if len(fragments[0]) > LARGE_FRAGMENT else ["".join(fragments)]:
                view.append(text)
            view.setProperty("drawn", len(part.fragments))

    def busy(self, view: TextView) -> bool:
        return view.textCursor().hasSelection()

    def set_zoom(self, view: TextView, zoom: float) -> None:
        view.set_zoom(zoom)

    def set_raw(self, view: TextView, part: Shown, context: PartContext) -> None:
        if isinstance(part, Text | Refusal):
            view.set_mode(context.mode(part))

    def texts(self, view: TextView) -> Iterable[Searched]:
        return ((view, None),)


class _JudgedAnswer(PartView[AnswerCheckView, Text]):
    widget = AnswerCheckView
    is_edited_in_place = True

    def make(self, context: PartContext, mode: str) -> AnswerCheckView:
        view = AnswerCheckView(zoom=context.zoom)
        view.set_exact(context.raw)
        view.height_changed.connect(context.frame.height_changed)
        view.judged.connect(context.judged)
        return view

    def show(self, view: AnswerCheckView, part: Text, context: PartContext) -> None:
        outcome = context.turn.outcome
        view.show_answer(part.text, outcome.response_format if outcome else None)

    def busy(self, view: AnswerCheckView) -> bool:
        return view.view.textCursor().hasSelection()

    def set_zoom(self, view: AnswerCheckView, zoom: float) -> None:
        view.set_zoom(zoom)

    def set_raw(self, view: AnswerCheckView, part: Shown, context: PartContext) -> None:
        view.set_exact(context.raw)

    def texts(self, view: AnswerCheckView) -> Iterable[Searched]:
        return ((view.view, None),)


class _ReasoningPart(PartView[ReasoningView, Reasoning]):
    widget = ReasoningView

    def make(self, context: PartContext, mode: str) -> ReasoningView:
        view = ReasoningView(zoom=context.zoom)
        view.height_changed.connect(context.frame.height_changed)
        view.text_view.link_clicked.connect(context.commands.open_link)
        return view

    def show(self, view: ReasoningView, part: Reasoning, context: PartContext) -> None:
        view.set_text(part.text or REDACTED, figures.reasoning_line(context.turn, part))

    def draw_growing_part(
        self, view: ReasoningView, part: GrowingPart, context: PartContext, seconds: str | None
    ) -> None:
        view.draw_growing_thinking(part.fragments, seconds)

    def set_zoom(self, view: ReasoningView, zoom: float) -> None:
        view.text_view.set_zoom(zoom)

    def texts(self, view: ReasoningView) -> Iterable[Searched]:
        return ((view.text_view, view),)


class _CallPart(PartView[CallCard, ToolCall]):
    widget = CallCard

    def make(self, context: PartContext, mode: str) -> CallCard:
        card = CallCard(context.commands, context.turn_id)
        card.height_changed.connect(context.frame.height_changed)
        card.edit_asked.connect(context.edit_call)
        return card

    def fits(self, view: QWidget, part: ToolCall, context: PartContext) -> bool:
        return isinstance(view, CallCard) and view.call.id == part.id

    def show(self, view: CallCard, part: ToolCall, context: PartContext) -> None:
        turn = context.turn
        view.show_state(context.commands.calls.state(turn.id, part.id))
        answer = context.row.answers.get(part.id)
        view.show_call(part, context.tool(part.name), answer, waiting=not turn.truncated, cut=turn.truncated)

    def draw_growing_part(self, view: CallCard, part: GrowingPart, context: PartContext, seconds: str | None) -> None:
        if isinstance(part, GrowingCall):
            tool = context.tool(part.name)
            view.draw_growing_call(part.id, part.name, part.fragments, tool, free_text=part.free_text)
        if seconds is None:
            view.settle()

    def busy(self, view: CallCard) -> bool:
        return view.edited

    def texts(self, view: CallCard) -> Iterable[Searched]:
        return (*((text, None) for text in view.texts), *((fold.text_view, fold) for fold in view.folds))


class TurnImages(ImageStrip):
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
        self.link_asked.connect(commands.open_link)

    def show_run(self, turn: Turn, first: Image) -> None:
        """Show `first` and the images that follow it directly."""
        position = next(number for number, part in enumerate(turn.parts) if part is first)
        run = takewhile(lambda part: isinstance(part, Image), turn.parts[position:])
        self._turn_id = turn.id
        self._start = sum(isinstance(part, Image) for part in turn.parts[:position])
        self.show_images(tuple(part for part in run if isinstance(part, Image)))

    def _set_detail(self, index: int, detail: str | None) -> None:
        image = self.images[index].model_copy(update={"detail": detail})
        self._commands.set_image(self._turn_id, self._start + index, image)


class _ImagesPart(PartView[TurnImages, Image]):
    widget = TurnImages

    def make(self, context: PartContext, mode: str) -> TurnImages:
        return TurnImages(context.commands)

    def show(self, view: TurnImages, part: Image, context: PartContext) -> None:
        view.show_run(context.turn, part)


class _UnknownMembers(PartView[MembersFold, Beside]):
    widget = MembersFold

    def make(self, context: PartContext, mode: str) -> MembersFold:
        fold = MembersFold(zoom=context.zoom)
        fold.height_changed.connect(context.frame.height_changed)
        return fold

    def show(self, view: MembersFold, part: Beside, context: PartContext) -> None:
        view.show_members(part)

    def set_zoom(self, view: MembersFold, zoom: float) -> None:
        view.text_view.set_zoom(zoom)

    def texts(self, view: MembersFold) -> Iterable[Searched]:
        return ((view.text_view, view),)


_TEXT, _JUDGED, _PLACEHOLDER = _TextPart(), _JudgedAnswer(), PartView[QWidget, Any]()

#: Part views by the kind of the part; all other kinds are texts. A new kind is a class above and a line here.
_BY_KIND: Final[dict[str, PartView[Any, Any]]] = {
    "tool_call": _CallPart(),
    "reasoning": _ReasoningPart(),
    "image": _ImagesPart(),
    "beside": _UnknownMembers(),
}
_BY_WIDGET: Final[dict[type[QWidget], PartView[Any, Any]]] = {
    part_view.widget: part_view for part_view in (*_BY_KIND.values(), _TEXT, _JUDGED)
}


def part_view_of(view: QWidget) -> PartView[Any, Any]:
    """Return what draws in a widget; for a placeholder something that does nothing."""
    return _BY_WIDGET.get(type(view), _PLACEHOLDER)


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
        return any(part_view_of(view).busy(view) for view in self.views)

    def texts(self) -> list[Searched]:
        """Return the texts in view that can be searched."""
        return [text for view in self.views for text in part_view_of(view).texts(view)]

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
            part_view: PartView[Any, Any] = _JUDGED if is_answer else _BY_KIND.get(part.kind, _TEXT)
            view = next((view for view in old if part_view.fits(view, part, self._context)), None)
            if view is not None:
                old.remove(view)
            else:
                view = part_view.make(self._context, self._context.mode(part))
            part_view.show(view, part, self._context)
            self._append(view)
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
            view: QWidget = _BY_KIND.get(part.kind, _TEXT).make(self._context, "raw" if raw else "markdown")
            self._append(view)
            view.show()  # at once: the card makes room for it before Qt would show it
        self._row.say(self.first, len(parts), len(parts), growing=True)
        last = len(parts) - 1
        for number, view in enumerate(self.views, self.first):
            if number <= last:
                part_view_of(view).draw_growing_part(
                    view, parts[number], self._context, seconds if number == last else None
                )

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

    def set_zoom(self, zoom: float) -> None:
        """Change the text size."""
        self._context.zoom = zoom
        for view in self.views:
            part_view_of(view).set_zoom(view, zoom)

    def set_raw(self, raw: bool) -> None:
        """Show texts exactly as they were received, or drawn."""
        self._context.raw = raw
        for view, part in zip(self.views, self.parts_in_view, strict=False):
            part_view_of(view).set_raw(view, part, self._context)

    def _append(self, view: QWidget) -> None:
        if self._body.indexOf(view) != len(self.views):
            self._body.insertWidget(len(self.views), view)
        self.views.append(view)


def _delete(views: Iterable[QWidget]) -> None:
    for view in views:
        view.hide()
        view.deleteLater()
