"""How the parts of a turn are drawn: a ``PartView`` for each kind, found in a table by the part or by its widget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, ClassVar, Final, Generic, TypeAlias, TypeVar

from PySide6.QtWidgets import QWidget

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
from playground.ui.features.conversation.reasoning_view import ReasoningView
from playground.ui.features.conversation.rows import Row
from playground.ui.features.conversation.shown_parts import REDACTED, Shown, is_judged, text_mode
from playground.ui.features.conversation.text_view import TextView
from playground.ui.features.conversation.verdict_view import AnswerCheckView
from playground.ui.widgets import figures

BESIDE_TEXT = 32  # pixels of a card's width that its text does not have
LARGE_FRAGMENT = 4_000  # characters of a fragment that is appended by itself

V = TypeVar("V", bound=QWidget)
P = TypeVar("P")

#: What may be folded, and its text not read yet.
Folded: TypeAlias = ReasoningView | MembersFold
#: A text that can be searched, and the fold that it stands in.
Searched: TypeAlias = tuple[TextView, Folded | None]


class TurnImages(ImageStrip):
    """Images that stand next to one another in a turn."""

    def __init__(self, commands: TurnCommands) -> None:
        super().__init__(large=True, fixed=commands.read_only)
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
        self._commands.set_image(self._turn_id, self._start + at, image)

    def _removed(self, at: int) -> None:
        self._commands.set_image(self._turn_id, self._start + at, None)

    def _opened(self, at: int) -> None:
        self._commands.open_image(self.images[at])

    def _shrink_asked(self, at: int) -> None:
        self._commands.shrink_image(self._turn_id, self._start + at)


@dataclass(slots=True)
class Drawing:
    """What the parts of one card are drawn with. ``zoom`` is the size of their texts.

    ``exact``: texts are shown as they came. ``patient``: nothing was done to the views by hand, and long texts are
    begun only. ``judged`` is called when it is known what is thought of an answer.
    """

    frame: CardFrame
    commands: TurnCommands
    row: Row
    tools: tuple[ToolDefinition, ...]
    zoom: float
    judged: Callable[[], None]
    edit_call: Callable[[str], None]
    patient: bool
    exact: bool = False

    @property
    def turn(self) -> Turn:
        """The turn shown."""
        return self.row.turn

    def turn_id(self) -> str:
        """Its id."""
        return self.row.id

    def tool(self, name: str) -> ToolDefinition | None:
        """The tool of that name that calls are judged by."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def mode(self, part: Shown) -> str:
        """How a text is drawn; see ``text_mode``."""
        return "raw" if self.exact else text_mode(self.turn, part)


class PartView(Generic[V, P]):
    """Draws a part of one kind, ``P``, in a widget of one kind, ``V``. Where it says nothing, nothing is to be done."""

    widget: ClassVar[type[QWidget]] = QWidget
    in_place: ClassVar[bool] = False  # the editor of the turn's text stands in its place

    def make(self, drawing: Drawing, mode: str) -> V:
        """A widget with nothing in it yet; ``mode`` is that of its text."""
        raise NotImplementedError

    def fits(self, view: QWidget, part: P, drawing: Drawing) -> bool:
        """Whether a view of another part may show this one, and what was done to it by hand stays right."""
        return isinstance(view, self.widget)

    def show(self, view: V, part: P, drawing: Drawing) -> None:
        """Show a part that is whole."""

    def draw_growing_part(self, view: V, part: GrowingPart, drawing: Drawing, seconds: str | None) -> None:
        """Draw what has arrived for a part; ``seconds`` is how long it took if it is the last one."""

    def busy(self, view: V) -> bool:
        """Whether something typed or selected in it would be lost with it."""
        return False

    def reusable(self, view: V) -> bool:
        """Whether nothing in it is bound to its turn."""
        return False

    def renew(self, view: V) -> None:
        """Be as new, for the part of another turn."""

    def set_zoom(self, view: V, zoom: float) -> None:
        """Another text size."""

    def set_exact(self, view: V, part: Shown, drawing: Drawing) -> None:
        """Show the text as it came, or no longer."""

    def texts(self, view: V) -> Iterable[Searched]:
        """The texts in it."""
        return ()


class _Words(PartView[TextView, Text | Refusal | ToolResult | Unknown]):
    widget = TextView
    in_place = True

    def make(self, drawing: Drawing, mode: str) -> TextView:
        view = TextView(mode=mode, zoom=drawing.zoom)
        view.setAccessibleName("Text of the turn")
        view.link_clicked.connect(drawing.commands.open_link)
        view.height_changed.connect(drawing.frame.height_changed)
        if (width := drawing.frame.width() - BESIDE_TEXT) > BESIDE_TEXT:
            view.resize(width, view.height())
            view.setLineWrapColumnOrWidth(width)
        return view

    def fits(self, view: QWidget, part: Text | Refusal | ToolResult | Unknown, drawing: Drawing) -> bool:
        return isinstance(view, TextView) and not isinstance(part, Unknown) and view.mode == drawing.mode(part)

    def show(self, view: TextView, part: Text | Refusal | ToolResult | Unknown, drawing: Drawing) -> None:
        if isinstance(part, Unknown):
            view.set_text("\n".join(unknown_lines(part)))
        else:
            view.set_text(part.text)

    def draw_growing_part(self, view: TextView, part: GrowingPart, drawing: Drawing, seconds: str | None) -> None:
        drawn = int(view.property("drawn") or 0)
        if fragments := part.fragments[drawn:]:
            # Large fragments are shared with the answer: joined, they would be a second copy of all of it.
            for text in fragments if len(fragments[0]) > LARGE_FRAGMENT else ["".join(fragments)]:
                view.append(text)
            view.setProperty("drawn", len(part.fragments))

    def busy(self, view: TextView) -> bool:
        return view.textCursor().hasSelection()

    def reusable(self, view: TextView) -> bool:
        return True

    def renew(self, view: TextView) -> None:
        view.setProperty("drawn", 0)

    def set_zoom(self, view: TextView, zoom: float) -> None:
        view.set_zoom(zoom)

    def set_exact(self, view: TextView, part: Shown, drawing: Drawing) -> None:
        if isinstance(part, Text | Refusal):
            view.set_mode(drawing.mode(part))

    def texts(self, view: TextView) -> Iterable[Searched]:
        return ((view, None),)


class _Answer(PartView[AnswerCheckView, Text]):
    widget = AnswerCheckView
    in_place = True

    def make(self, drawing: Drawing, mode: str) -> AnswerCheckView:
        view = AnswerCheckView(zoom=drawing.zoom)
        view.set_exact(drawing.exact)
        view.height_changed.connect(drawing.frame.height_changed)
        view.judged.connect(drawing.judged)
        return view

    def show(self, view: AnswerCheckView, part: Text, drawing: Drawing) -> None:
        outcome = drawing.turn.outcome
        view.show_answer(part.text, outcome.response_format if outcome else None)

    def busy(self, view: AnswerCheckView) -> bool:
        return view.view.textCursor().hasSelection()

    def set_zoom(self, view: AnswerCheckView, zoom: float) -> None:
        view.set_zoom(zoom)

    def set_exact(self, view: AnswerCheckView, part: Shown, drawing: Drawing) -> None:
        view.set_exact(drawing.exact)

    def texts(self, view: AnswerCheckView) -> Iterable[Searched]:
        return ((view.view, None),)


class _Thinking(PartView[ReasoningView, Reasoning]):
    widget = ReasoningView

    def make(self, drawing: Drawing, mode: str) -> ReasoningView:
        view = ReasoningView(zoom=drawing.zoom)
        view.height_changed.connect(drawing.frame.height_changed)
        view.text_view.link_clicked.connect(drawing.commands.open_link)
        return view

    def show(self, view: ReasoningView, part: Reasoning, drawing: Drawing) -> None:
        view.set_text(part.text or REDACTED, figures.reasoning_line(drawing.turn, part))

    def draw_growing_part(self, view: ReasoningView, part: GrowingPart, drawing: Drawing, seconds: str | None) -> None:
        view.draw_growing_thinking(part.fragments, seconds)

    def reusable(self, view: ReasoningView) -> bool:
        return True

    def renew(self, view: ReasoningView) -> None:
        view.fold_as_new()

    def set_zoom(self, view: ReasoningView, zoom: float) -> None:
        view.text_view.set_zoom(zoom)

    def texts(self, view: ReasoningView) -> Iterable[Searched]:
        return ((view.text_view, view),)


class _Call(PartView[CallCard, ToolCall]):
    widget = CallCard

    def make(self, drawing: Drawing, mode: str) -> CallCard:
        card = CallCard(drawing.commands, drawing.turn_id)
        card.height_changed.connect(drawing.frame.height_changed)
        card.edit_asked.connect(drawing.edit_call)
        return card

    def fits(self, view: QWidget, part: ToolCall, drawing: Drawing) -> bool:
        return isinstance(view, CallCard) and (view.call.id == part.id or (drawing.patient and view.reusable))

    def show(self, view: CallCard, part: ToolCall, drawing: Drawing) -> None:
        turn = drawing.turn
        view.show_state(drawing.commands.calls.state(turn.id, part.id))
        answer = drawing.row.answers.get(part.id)
        view.show_call(part, drawing.tool(part.name), answer, waiting=not turn.truncated, cut=turn.truncated)

    def draw_growing_part(self, view: CallCard, part: GrowingPart, drawing: Drawing, seconds: str | None) -> None:
        if isinstance(part, GrowingCall):
            tool = drawing.tool(part.name)
            view.draw_growing_call(part.id, part.name, part.fragments, tool, free_text=part.free_text)
        if seconds is None:
            view.settle()

    def reusable(self, view: CallCard) -> bool:
        return view.reusable

    def busy(self, view: CallCard) -> bool:
        return view.edited

    def texts(self, view: CallCard) -> Iterable[Searched]:
        return (*((text, None) for text in view.texts), *((fold.text_view, fold) for fold in view.folds))


class _Images(PartView[TurnImages, Image]):
    widget = TurnImages

    def make(self, drawing: Drawing, mode: str) -> TurnImages:
        return TurnImages(drawing.commands)

    def show(self, view: TurnImages, part: Image, drawing: Drawing) -> None:
        view.show_run(drawing.turn, part)


class _Members(PartView[MembersFold, Beside]):
    widget = MembersFold

    def make(self, drawing: Drawing, mode: str) -> MembersFold:
        fold = MembersFold(zoom=drawing.zoom)
        fold.height_changed.connect(drawing.frame.height_changed)
        return fold

    def show(self, view: MembersFold, part: Beside, drawing: Drawing) -> None:
        view.show_members(part)

    def set_zoom(self, view: MembersFold, zoom: float) -> None:
        view.text_view.set_zoom(zoom)

    def texts(self, view: MembersFold) -> Iterable[Searched]:
        return ((view.text_view, view),)


_WORDS, _ANSWER, _NONE = _Words(), _Answer(), PartView[QWidget, Any]()

#: By the kind of a part; all others are words. A new kind is a class above and a line here.
_BY_KIND: Final[dict[str, PartView[Any, Any]]] = {
    "tool_call": _Call(),
    "reasoning": _Thinking(),
    "image": _Images(),
    "beside": _Members(),
}
_BY_WIDGET: Final[dict[type[QWidget], PartView[Any, Any]]] = {
    one.widget: one for one in (*_BY_KIND.values(), _WORDS, _ANSWER)
}


def drawn_by(view: QWidget) -> PartView[Any, Any]:
    """What draws in that widget; for a word in the place of parts something that does nothing."""
    return _BY_WIDGET.get(type(view), _NONE)


def view_for(part: Shown, old: Iterable[QWidget], drawing: Drawing) -> QWidget:
    """One of the old widgets that may show the part, or a new one."""
    judged = isinstance(part, Text) and is_judged(drawing.turn)
    draws: PartView[Any, Any] = _ANSWER if judged else _BY_KIND.get(part.kind, _WORDS)
    made: QWidget = next((view for view in old if draws.fits(view, part, drawing)), None) or draws.make(
        drawing, drawing.mode(part)
    )
    return made


def growing_view(part: GrowingPart, drawing: Drawing, *, is_json: bool) -> QWidget:
    """A widget for a part that is being received."""
    raw = part.kind == "unknown" or drawing.exact or is_json
    made: QWidget = _BY_KIND.get(part.kind, _WORDS).make(drawing, "raw" if raw else "markdown")
    return made


def calls_in(views: Iterable[QWidget]) -> list[CallCard]:
    """The cards of calls among them."""
    return [view for view in views if isinstance(view, CallCard)]
