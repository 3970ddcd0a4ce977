"""The debugger in the window: the default rule, dialogs, and the pages about a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QApplication, QWidget

from playground.domain.debugging import Debugging
from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.engine.inspect.calls import CallEntry
from playground.engine.session.changes import Change, DebugChanged
from playground.engine.session.session import Session
from playground.engine.tool_servers.tape import ServerTape
from playground.jsonkit.texts import quantity
from playground.ui.features.debugger.answers_dialog import AnswersDialog
from playground.ui.features.debugger.call_list import CallList
from playground.ui.features.debugger.rules_dialog import RulesDialog
from playground.ui.features.debugger.sequence import SequencePage
from playground.ui.features.host import Control, Host
from playground.ui.features.inspector.inspector import Place
from playground.ui.widgets.list_detail import remember_size
from playground.ui.widgets.session_window import SessionWindow


class RunPages(Control):
    """The pages of the inspector about the calls and the sequence of a run."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.calls = CallList(self._workspace.gateways.keys.known_secrets)
        self.calls.card_asked.connect(self._go_to_entry)
        self.calls.events_asked.connect(host.pane.commands.frames_asked)
        self.sequence = SequencePage(self._tape)
        self.sequence.card_asked.connect(self._go_to_call)
        host.inspector.add_page(Place.CALLS, self.calls)
        host.inspector.add_page(Place.SEQUENCE, self.sequence)

    def show_session(self) -> None:
        """Show the current session in both pages."""
        self.calls.show_session(self._session)
        self.sequence.show_session(self._session)

    def _tape(self) -> ServerTape | None:
        """Return the messages with tool servers; None while there are none."""
        return self._workspace.tool_servers.tape if "tool_servers" in self._workspace.__dict__ else None

    def open_calls(self) -> None:
        """Show the list of calls."""
        self._host.show_page(Place.CALLS)

    def open_sequence(self) -> None:
        """Show the sequence."""
        self._host.show_page(Place.SEQUENCE)

    def _go_to_entry(self, entry: CallEntry) -> None:
        if not entry.on_path:
            self._host.pane.show_branch(entry.result_turn_id or entry.turn_id)
        self._go_to_call(entry.turn_id, entry.call.id)

    def _go_to_call(self, turn_id: str, call_id: str) -> None:
        self._host.inspector.restore()
        self._host.pane.show_turn(turn_id, call_id)


class RulesView(Protocol):
    """A view of the rules: ``changed`` carries edited rules, ``rules_asked`` the tool whose rule is to be opened."""

    changed: SignalInstance
    rules_asked: SignalInstance

    def show_debugging(self, debugging: Debugging, /) -> None: ...


class DebugControl(Control):
    """Connects the rules of the current session with the dialogs and views; `show_lanes` opens Compare."""

    def __init__(self, host: Host, show_lanes: Callable[[], None]) -> None:
        super().__init__(host)
        self._show_lanes = show_lanes
        self._followed: Session | None = None
        self._cancel: Callable[[], None] | None = None
        self._views: list[RulesView] = []
        self.pages = RunPages(host)
        host.pane.calls.rules_asked.connect(self.open_rules)
        host.pane.calls.answers_asked.connect(self._ask_answers)

    def show_session(self) -> None:
        """Show the rules of the current session, and follow it."""
        session = self._session
        if session is not self._followed:
            if self._cancel is not None:
                self._cancel()
            self._followed = session
            self._cancel = session.subscribe(self._changed, DebugChanged)
            for dialog in self._host.window.findChildren(SessionWindow):
                dialog.set_session(session)
        self._show_rules()
        self.pages.show_session()

    def add_view(self, view: RulesView) -> None:
        """Show the rules in a view, and apply what is edited there."""
        self._views.append(view)
        view.changed.connect(self._edited)
        view.rules_asked.connect(self.open_rules)
        view.show_debugging(self._session.debugger.debugging)

    def _show_rules(self) -> None:
        for view in self._views:
            view.show_debugging(self._session.debugger.debugging)

    def tools_edited(self, before: Sequence[ToolDefinition], after: Sequence[ToolDefinition]) -> None:
        """Move the rules of renamed tools to their new names."""
        renamed = renamed_rules(self._session.debugger.debugging, before, after)
        self._session.change(debugging=renamed)

    def open_rules(self, name: str = "") -> None:
        """Open the rule of a tool, or the default."""
        dialog = RulesDialog.shown_for(self._session, self._host.window)
        remember_size(dialog, self._settings)
        dialog.known_secrets = self._workspace.gateways.keys.known_secrets
        dialog.open_on(name)

    def record(self) -> None:
        """Put the answers of servers in this conversation into mock tables, and answer from these."""
        count = self._session.debugger.record(replay=True)
        if not count:
            self._say("No tool server answered a call yet.", stays=False)
            return
        answers = quantity(count, "answer")
        self._say(f"Recorded {answers}. Mock tables now answer the same calls.", stays=False)

    def compare_answers(self) -> None:
        """Compare answers to the focused call, else the first pending one, else the last one."""
        call = self._target_call()
        if call is None:
            self._say("No tool call yet.", stays=False)
            return
        self._ask_answers(self._session, *call)

    def _ask_answers(self, session: Session, turn_id: str, call_id: str) -> None:
        dialog = AnswersDialog(session, turn_id, call_id, self._host.window)
        dialog.started.connect(self._show_lanes)
        dialog.open()

    def _target_call(self) -> tuple[str, str] | None:
        calls = [(turn.id, call.id) for turn in self._session.transcript.path for call in turn.calls]
        focused = self._host.pane.view.focused_turn(), focused_call(QApplication.focusWidget())
        if focused in calls:
            return focused[0], focused[1]
        waiting = [(turn_id, call.id) for turn_id, call in self._session.debugger.waiting]
        return next(iter([*waiting, *reversed(calls)]), None)

    def _edited(self, debugging: Debugging) -> None:
        self._session.change(debugging=debugging)

    def _changed(self, _change: Change) -> None:
        self._show_rules()


def focused_call(widget: QWidget | None) -> str:
    """Return the id of the call whose card contains a widget; empty for none."""
    while widget is not None:
        call = getattr(widget, "call", None)
        if isinstance(call, ToolCall):
            return call.id
        widget = widget.parentWidget()
    return ""


def renamed_rules(debugging: Debugging, before: Sequence[ToolDefinition], after: Sequence[ToolDefinition]) -> Debugging:
    """Return the rules with those of renamed tools under their new names, if these are free and the old ones unused.

    One tool may be renamed at a time, or all of a server's by its prefix.
    """
    pairs = [(old, new) for old, new in zip(before, after, strict=False) if old.name != new.name]
    if len(before) != len(after) or not pairs:
        return debugging
    if len(pairs) > 1 and any(not old.server or old.name_there != new.name_there for old, new in pairs):
        return debugging
    used = {tool.name for tool in after}
    for old, new in pairs:
        rule = debugging.rules.get(old.name)
        if rule is not None and new.name and new.name not in debugging.rules and old.name not in used:
            debugging = debugging.with_rule(old.name, None).with_rule(new.name, rule)
    return debugging
