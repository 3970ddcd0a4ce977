"""Says so when an edit makes signed thinking invalid, and offers what can be done about it. Drops nothing by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from playground.domain.transcript import Transcript
from playground.engine.session import thinking
from playground.engine.session.changes import RunState
from playground.engine.session.session import Session
from playground.jsonkit.texts import listed
from playground.ui.widgets.notice_bar import NoticeBar


class ThinkingGuard:
    """Watches edits of one session at a time and speaks through ``notice``."""

    def __init__(self, notice: NoticeBar) -> None:
        self._notice = notice
        self._kept: set[tuple[str, ...]] = set()  # what was answered with "Keep as is" after other tools

    def edit(self, session: Session, change: Callable[[], object]) -> bool:
        """Make ``change``. Returns whether it made signed thinking stale, in which case that is being said."""
        before = session.transcript
        change()
        stale = thinking.invalidated(before, session.transcript) if session.transcript is not before else ()
        if stale:
            self._warn(session, before, stale, "This edit changed what stands before")
        return bool(stale)

    def tools_changed(self, session: Session) -> None:
        """The tools on offer are different: all signed thinking is bound to the former ones."""
        stale = thinking.signed_turns(session.transcript)
        if stale and stale not in self._kept:
            self._warn(session, session.transcript, stale, "Other tools were on offer before")

    def _warn(self, session: Session, before: Transcript, stale: tuple[str, ...], why: str) -> None:
        places = [str(number) for number, turn in enumerate(session.transcript.path, 1) if turn.id in stale]
        if not places:
            where = "signed thinking on another branch"
        else:
            where = f"the signed thinking of turn{'s' * (len(places) > 1)} {listed(places)}"
        edited = session.transcript
        act = partial(self._act, session, edited)
        self._notice.offer(
            f"{why} {where}: sent back as it is, a gateway may refuse it.",
            ("Drop that thinking", partial(act, partial(session.turns.drop_thinking, stale))),
            ("Branch", partial(act, partial(session.turns.branch, before, stale))),
            ("Keep as is", partial(self._kept.add, stale)),
        )

    def _act(self, session: Session, edited: Transcript, act: Callable[[], None]) -> None:
        if session.state is not RunState.IDLE:
            self._notice.say("A run is under way. Stop it first, or undo the edit afterwards (Ctrl+Z).")
        elif session.transcript is not edited:
            self._notice.say("The conversation has changed since; nothing was done.")
        else:
            act()
