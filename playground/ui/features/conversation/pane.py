"""The conversation: a session's turns above, the composer below."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from playground.domain.costs import PriceLookup
from playground.domain.errors import RunRefusedError
from playground.domain.tokens import estimate_tokens
from playground.domain.tools import Sizes, ToolDefinition, sizes_of
from playground.domain.transcript import Role, Turn
from playground.engine.requests.capability_warnings import NO_LIMITS, ContextLimits, context_limits, image_warning
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    PathChanged,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TurnChanged,
)
from playground.engine.session.drafts import Draft, turn_of_draft
from playground.engine.session.session import Session
from playground.ui.features.conversation.composer import Composer
from playground.ui.features.conversation.image_intake import ImageIntake
from playground.ui.features.conversation.measures import BELOW
from playground.ui.features.conversation.pending_calls import pending_calls
from playground.ui.features.conversation.spent import Spent
from playground.ui.features.conversation.transcript_pane import TranscriptPane
from playground.ui.features.conversation.welcome import WelcomePage
from playground.ui.widgets.loop import Throttle, spawn

if TYPE_CHECKING:
    from playground.engine.compare.lanes import Lanes

#: What is still on its way and may make a run possible that would be refused now; None where nothing is.
NotKnown = Callable[[], Callable[[], Awaitable[None]] | None]

COUNT_MS = 200  # between two countings while somebody types
FEW = 200  # new tools above which all are measured in a thread


class TokenCount:
    """Shows the token count in the composer, soon after ``poke``. Turns and tools are counted once."""

    def __init__(self, pane: ConversationPane, parent: QObject) -> None:
        self._pane = pane
        self._tools: Sizes = {}
        self._measuring = False
        throttle = Throttle(self._count, parent, interval=COUNT_MS)
        self.poke = throttle.poke

    def _count(self) -> None:
        composer, panes = self._pane.composer, self._pane.asked
        tools = self._offered()
        if sum(id(tool) not in self._tools for tool in tools) > FEW:
            if not self._measuring:
                self._measuring = True
                spawn(self._measure_tools(tools), name="count the tokens of tools")
            return
        for pane in panes:
            pane.rows.weigh()
        self._tools = sizes_of(tools, self._tools)
        draft = composer.draft
        calls = draft.calls if draft.role is Role.ASSISTANT else ()
        written = estimate_tokens(draft.text)
        written += sum(estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in calls)
        offered = [sum(self._tools[id(tool)][1] for tool in _sendable(pane)) for pane in panes]
        estimates = [pane.rows.tokens + size + written for pane, size in zip(panes, offered, strict=True)]
        images = max((pane.rows.images for pane in panes), default=0)
        room = self._room(panes)
        tight = room.problem(estimates[0]) if estimates else ""
        about = tight or room.words
        composer.set_tokens(estimates, images + len(composer.attached), room.context, about, tight=bool(tight))
        composer.show_told(self._images_told(panes))

    def _room(self, panes: Sequence[TranscriptPane]) -> ContextLimits:
        """That of the one model that is asked."""
        if len(panes) != 1:
            return NO_LIMITS
        session = panes[0].session
        return context_limits(session.facts(session.settings.model), session.settings.current)

    def _images_told(self, panes: Sequence[TranscriptPane]) -> str:
        """What is said of images where one that is asked is not said to take any."""
        attached = len(self._pane.composer.attached)
        sessions = [(pane.session, pane.rows.images + attached) for pane in panes]
        told = (image_warning(one.facts(one.settings.model), images) for one, images in sessions)
        return next(filter(None, told), "")

    def _offered(self) -> tuple[ToolDefinition, ...]:
        """The tools of all that are asked; most are the same ones in each."""
        found = {id(tool): tool for pane in self._pane.asked for tool in pane.session.settings.tools}
        return tuple(found.values())

    async def _measure_tools(self, tools: tuple[ToolDefinition, ...]) -> None:
        try:
            self._tools = await asyncio.to_thread(sizes_of, tools, self._tools)
        finally:
            self._measuring = False
        self.poke()


def _sendable(pane: TranscriptPane) -> Iterator[ToolDefinition]:
    return (tool for tool in pane.session.settings.tools if tool.sendable)


class LateRun:
    """``run`` begins it. ``not_known`` is given by whoever knows of more than one experiment."""

    def __init__(self, composer: Composer, run: Callable[[], None]) -> None:
        self._composer = composer
        self._run = run
        self.not_known: NotKnown = _nothing

    def put_off(self, still_meant: Callable[[], bool]) -> bool:
        """Have the run wait, if there is something to wait for. Then it begins where it is ``still_meant``."""
        known = self.not_known()
        if known is not None and not self._composer.busy:
            self._composer.set_starting(True)
            spawn(self._begin(known, still_meant), name="run when all is known")
        return known is not None

    async def _begin(self, known: Callable[[], Awaitable[None]], still_meant: Callable[[], bool]) -> None:
        try:
            await known()
        finally:
            self._composer.set_starting(False)
        if still_meant():
            self._run()


def _nothing() -> None:
    return None


class Columns(Protocol):
    """Several lanes of an experiment, side by side in place of the conversation alone."""

    @property
    def lanes(self) -> Lanes: ...

    @property
    def front(self) -> TranscriptPane: ...

    @property
    def ticked(self) -> Sequence[TranscriptPane]: ...


class Instead(Protocol):
    """What is run in place of the conversation while it is shown."""

    @property
    def under_way(self) -> bool: ...

    def run(self) -> None: ...

    def stop(self) -> None: ...

    def look_for(self) -> None: ...


class ConversationPane(TranscriptPane):
    """The conversation of one session at a time, and the message field below it.

    While there are ``columns`` a message goes to their lanes, and what is done by keys is done in the one in front.
    """

    def __init__(self, session: Session, entered: PriceLookup) -> None:
        self.welcome_page = WelcomePage()
        self.welcome = self.welcome_page.welcome
        self.composer: Composer = Composer()
        self.columns: Columns | None = None
        self.instead: Instead | None = None
        super().__init__(session, entered, self.welcome_page, self.composer)
        self.setObjectName("conversation")
        self.composer.edited.connect(self._draft_edited)
        self.composer.images.opened.connect(self._open_attached)
        self.composer.images.link_asked.connect(self.commands.open_link)
        self.intake: ImageIntake = ImageIntake(self.composer, self.notice, self, self.sizes)
        self._count = TokenCount(self, self)
        self._pending = Throttle(self._show_pending, self, interval=30)
        self.spent = Spent(self, entered, self)
        self.late = LateRun(self.composer, self.run)
        self.calls.bar.set_own_continue(False)
        self.begin()
        self.composer.run_asked.connect(self.run)
        self.composer.stop_asked.connect(self._stop_pressed)
        self.composer.add_asked.connect(self.add_draft)
        self.intake.attend()

    def refresh(self) -> None:
        super().refresh()
        self._count.poke()

    def _show_session(self) -> None:
        session = self._session
        self.composer.set_calls(self.commands.answerable_calls, session.settings.tools)
        self.composer.set_draft(session.draft)
        self.intake.show_session(session)
        self.show_lanes()
        super()._show_session()

    @property
    def front(self) -> TranscriptPane:
        """Where keys are meant for turns: this, or the lane that has the focus."""
        return self.columns.front if self.columns is not None else self

    @property
    def asked(self) -> Sequence[TranscriptPane]:
        """Where what is written goes."""
        return self.columns.ticked if self.columns is not None else (self,)

    def seat(self, frame: QWidget | None, columns: Columns | None = None, instead: Instead | None = None) -> None:
        """Put a frame where the turns stand; None: as it was before. In ``columns`` the turns are in it.

        ``instead`` is run and stopped in place of the conversation, and no message is written meanwhile.
        """
        least = self.seen.minimumHeight()  # of whatever stands there; what is within a frame has no least of its own
        self.seen.setMinimumHeight(0)
        self._whole.removeWidget(self.seen)
        if frame is not None:
            self.turns.setVisible(frame.isAncestorOf(self.turns))  # another frame may have hidden them
        self.instead = instead
        self._show_below(instead is None)
        self.seen = frame or self.turns
        self.seen.setMinimumHeight(least)
        self._whole.insertWidget(1, self.seen, 1)
        self.seen.show()
        self.notice.float_over(self.seen)
        if frame is None:
            self._column.insertWidget(self._column.indexOf(self.composer), self.calls.bar)
        self.columns = columns
        self.calls.bar.set_own_continue(columns is not None)
        self.show_lanes()

    def _show_below(self, on: bool) -> None:
        """Show or hide the message field and its bars."""
        below = self._column.parentWidget()
        if below is not None:
            below.setVisible(on)
        self._below.setContentsMargins(*(BELOW if on else (0, 0, 0, 0)))

    def show_lanes(self) -> None:
        """The lanes that a message goes to are others, or run otherwise."""
        lanes = self.columns.lanes if self.columns is not None else None
        if lanes is None:
            self.composer.set_lanes(None)
        else:
            ticked = lanes.ticked
            self.composer.set_lanes([lanes.letter(lane) for lane in ticked], all_of_them=len(ticked) == len(lanes.all))
        self._count.poke()
        states = [lane.state for lane in lanes.all] if lanes is not None else [self._session.state]
        self.composer.set_state(next((state for state in states if state is not RunState.IDLE), RunState.IDLE))
        self._show_pending()

    def estimate(self) -> None:
        """Say anew how much would go out: that is told from the turns as they were drawn last."""
        self._count.poke()

    # Doing

    def run(self) -> None:
        """Add what is written as a turn, if anything is, and run."""
        if self.instead is not None:
            self.instead.run()
            return
        session = self._session
        if self._waits_for_calls and (pending := pending_calls(session)) is not None:
            self._show_pending()
            if pending.ready:
                self.calls.bar.go_on()
            else:
                self._focus_waiting_call()
            return
        if self._unfinished():
            return
        turn = turn_of_draft(self.composer.draft, session.transcript)
        if self.columns is not None:
            self._run_lanes(self.columns.lanes, turn)
            return
        reason = session.next_request.refusal(*([turn] if turn else []))
        began = turn is not None or bool(session.transcript.turns)
        if reason and self.late.put_off(lambda: self._session is session or not began):
            return
        if reason:
            self.say_refused(reason, turn)
            return
        session.editors.keep_open()
        if turn is not None:
            self._take(turn)
        self._run_as_it_stands()

    @property
    def _waits_for_calls(self) -> bool:
        """Return whether tool calls go first: not with several lanes, nor if the message is the result of a call."""
        return self.columns is None and self.composer.role is not Role.TOOL

    def _show_pending(self) -> None:
        """Let the composer's main button continue while calls are pending."""
        self.composer.set_pending_calls(pending_calls(self._session) if self._waits_for_calls else None)

    def _run_lanes(self, lanes: Lanes, turn: Turn | None) -> None:
        refused = lanes.refusals(lanes.ticked, *([turn] if turn is not None else []))
        ready = [lane for lane in lanes.ticked if lanes.letter(lane) not in refused]
        if not ready:
            self.say_refused(next(iter(refused.values()), "No lane is ticked: tick those that are to be asked."), turn)
            return
        if turn is not None:
            lanes.write(turn, ready)
            self._clear_draft(turn)
        self.notice.hide()
        if refused:
            self.notice.say(" ".join(f"{letter} was not asked: {reason}" for letter, reason in refused.items()))

        async def go() -> None:
            try:
                await lanes.run(ready)
            except RunRefusedError as error:
                self.say_refused(str(error))

        spawn(go(), name="run lanes")

    def stop(self) -> None:
        """Stop what is under way in the lane in front, or here."""
        if self.instead is not None:
            self.instead.stop()
        else:
            self.front.calls.stop()

    def look_for(self, step: int = 0) -> None:
        if self.instead is not None:
            self.instead.look_for()
        else:
            super().look_for(step)

    def _stop_pressed(self) -> None:
        """The button below all lanes stops all of them."""
        if self.columns is not None:
            self.columns.lanes.stop()
        else:
            self.stop()

    def add_draft(self) -> None:
        """Add what is written as a turn and do not run."""
        turn = None if self._unfinished() else turn_of_draft(self.composer.draft, self._session.transcript)
        if turn is not None:
            self._take(turn)
            self.view.jump_to_latest()
        self.composer.setFocus()

    def _unfinished(self) -> bool:
        """Whether what is written cannot become a turn yet; then it is being said why."""
        if self.intake.busy:
            self.notice.say("An image is still being read. Try again in a moment.", stays=False)
            return True
        try:
            turn_of_draft(self.composer.draft, self._session.transcript)
        except ValueError as error:
            self.notice.say(str(error))
            return True
        return False

    def _take(self, turn: Turn) -> None:
        self._session.turns.add_written(turn)
        self._clear_draft(turn)

    def _clear_draft(self, turn: Turn) -> None:
        calls = self.composer.draft.calls if turn.role is not Role.ASSISTANT else ()  # written for another turn
        self.composer.set_draft(Draft(calls=calls))
        self._draft_edited()

    def choose_written_call(self) -> bool:
        if self.composer.role is not Role.TOOL:
            return False
        self.composer.choose_call()
        return True

    def _all_answered(self) -> None:
        self.composer.setFocus()
        super()._all_answered()

    def edit_by_hand(self, work: Callable[[], object]) -> None:
        super().edit_by_hand(work)
        self.composer.set_draft(self._session.draft)

    def _open_attached(self, at: int) -> None:
        self.commands.open_image(self.composer.attached[at])

    # Following the session

    def _changed(self, change: Change) -> None:
        super()._changed(change)
        match change:
            case TurnChanged(turn_id) if self._is_elsewhere(turn_id):
                pass
            case PathChanged() | TurnChanged():
                self.composer.set_calls(self.commands.answerable_calls, self._session.settings.tools)
                self._show_pending()
            case RunStateChanged():
                self.show_lanes()
            case DebugChanged():
                self._pending.poke()
            case SettingsChanged():
                self.composer.set_calls(self.commands.answerable_calls, self._session.settings.tools)
                self._show_pending()
                self._count.poke()
            case _:
                pass

    def _draft_edited(self) -> None:
        self._session.with_draft(self.composer.draft)
        self._show_pending()
        self._count.poke()
