"""Variables in the window: shows those of the current experiment and asks for missing values before a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from playground.domain.roles import Role
from playground.domain.transcript import Turn, make_turn
from playground.domain.variables import as_written, mentions, names_in, resolve, unresolved
from playground.engine.session.changes import Change, DraftChanged, PathChanged, SettingsChanged, TurnChanged
from playground.engine.session.next_request import without_value
from playground.engine.session.session import Session
from playground.ui.features.host import Control, Host
from playground.ui.features.variables.variables_bar import VariablesBar
from playground.ui.widgets.loop import Throttle

FOLDED = "variables/folded"  # among the settings
LATER_MS = 60


class VariablesControl(Control):
    """Follows the current experiment."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._followed: Session | None = None
        self._unsubscribe: Callable[[], None] | None = None
        self._values: dict[str, str] = {}
        self.bar = VariablesBar()
        self.bar.set_folded(bool(host.settings.value(FOLDED, False, type=bool)))
        host.pane.add_bar(self.bar)
        self._soon = Throttle(self._show, self, interval=LATER_MS)
        self.bar.edited.connect(self._edited)
        self.bar.removed.connect(self._removed)
        self.bar.as_written.connect(self._send_as_written)
        self.bar.folded.connect(self._remember)
        self.bar.escaped.connect(host.pane.composer.setFocus)
        self.bar.run_asked.connect(host.pane.run)
        host.pane.refused.connect(self._refused)

    def show_session(self) -> None:
        """Follow the current experiment."""
        session = self._workspace.current
        if session is not self._followed:
            if self._unsubscribe is not None:
                self._unsubscribe()
            self._followed = session
            self._unsubscribe = session.subscribe(
                self._changed, PathChanged, TurnChanged, SettingsChanged, DraftChanged
            )
            self._values = session.settings.variables
            self.bar.forget_asking()
            self._show()

    def _changed(self, _change: Change) -> None:
        self._soon.poke()

    @property
    def _current(self) -> Session:
        return self._workspace.current

    def _draft(self) -> Turn | None:
        """The message being written, where variables in it count."""
        draft = self._current.draft
        if draft.role is Role.ASSISTANT or not draft.text.strip():
            return None
        return make_turn(Role.USER, draft.text)

    def _show(self) -> None:
        session, draft = self._current, self._draft()
        names = names_in(session.transcript.path)
        used = tuple(dict.fromkeys((*names, *(names_in((draft,)) if draft is not None else ()))))
        text = draft.text if draft is not None else ""
        preview = resolve(text, session.settings.variables) if mentions(text) else ""
        self.bar.show_variables(used, session.settings.variables, preview)
        if session.settings.variables is not self._values:
            self._values = session.settings.variables
            self._host.pane.refresh()  # turns show how they are sent

    # Doing

    def _edited(self, name: str, value: str) -> None:
        session = self._current
        session.change(variables={**session.settings.variables, name: value})

    def _removed(self, name: str) -> None:
        session = self._current
        value = session.settings.variables.get(name)
        if value is None:
            return
        session.change(variables={key: text for key, text in session.settings.variables.items() if key != name})
        if value:
            back = partial(self._give_back, session, name, value)
            self._say(f"The value of {as_written(name)} was removed.", "Undo", back, stays=False)

    def _give_back(self, session: Session, name: str, value: str) -> None:
        session.change(variables={**session.settings.variables, name: value})

    def _send_as_written(self, names: tuple[str, ...]) -> None:
        self._current.send_as_written(names)

    def _remember(self, folded: bool) -> None:
        self._settings.setValue(FOLDED, folded)

    # A run that was refused

    def _refused(self, reason: str, turn_id: str) -> None:
        """If only values are missing, offer to fill them in or to send the braces."""
        session, draft = self._current, self._draft()
        turn = session.transcript.turns.get(turn_id)
        turns = session.transcript.lineage(turn.parent) if turn is not None else session.transcript.path
        if turn is None and draft is not None:
            turns = (*turns, draft)
        missing = unresolved(turns, session.settings.variables)
        if not missing or reason != without_value(missing):
            return
        self._show()
        self._host.notice.offer(
            reason,
            ("Fill in", partial(self.bar.go_to, missing[0])),
            ("Send as written", partial(self._go_on, session, missing, turn_id)),
        )

    def _go_on(self, session: Session, names: tuple[str, ...], turn_id: str) -> None:
        session.send_as_written(names)
        if session is not self._current:
            return
        if turn_id:
            self._host.pane.regenerate(turn_id)
        else:
            self._host.pane.run()
