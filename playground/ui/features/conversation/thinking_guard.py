"""Warnings about edits that invalidate signed thinking, with the possible remedies. Nothing is dropped unasked."""

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
    """Check edits of one session at a time and warns in a notice bar."""

    def __init__(self, notice: NoticeBar) -> None:
        self._notice = notice
        self._accepted: set[tuple[str, ...]] = set()  # turns for which "Keep as is" was chosen

    def edit(self, session: Session, change: Callable[[], object]) -> bool:
        """Execute `change`. Return whether it invalidated signed thinking; then a warning is shown."""
        before = session.transcript
        change()
        invalid = thinking.invalidated(before, session.transcript) if session.transcript is not before else ()
        if invalid:
            self._warn(session, before, invalid, "This edit changed messages before")
        return bool(invalid)

    def tools_changed(self, session: Session) -> None:
        """Warn that signed thinking belongs to the tools that were on offer before."""
        invalid = thinking.signed_turns(session.transcript)
        if invalid and invalid not in self._accepted:
            self._warn(session, session.transcript, invalid, "The tools were different for")

    def _warn(self, session: Session, before: Transcript, invalid: tuple[str, ...], reason: str) -> None:
        numbers = [str(number) for number, turn in enumerate(session.transcript.path, 1) if turn.id in invalid]
        place = f"of message{'s' * (len(numbers) > 1)} {listed(numbers)}" if numbers else "on another branch"
        act = partial(self._act, session, session.transcript)
        self._notice.offer(
            f"{reason} the signed thinking {place}. A gateway may reject it.",
            ("Drop thinking", partial(act, partial(session.turns.drop_thinking, invalid))),
            ("Branch", partial(act, partial(session.turns.branch, before, invalid))),
            ("Keep as is", partial(self._accepted.add, invalid)),
        )

    def _act(self, session: Session, edited: Transcript, act: Callable[[], None]) -> None:
        if session.state is not RunState.IDLE:
            self._notice.say("A run is active. Stop it first, or undo the edit later (Ctrl+Z).")
        elif session.transcript is not edited:
            self._notice.say("The conversation has changed. Nothing was done.")
        else:
            act()
