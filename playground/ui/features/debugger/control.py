"""Rules, and answers to compare, in the window: what is set goes to the current session, and their windows open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QWidget

from playground.domain.debugging import Debugging
from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.engine.session.changes import Change, DebugChanged
from playground.engine.session.session import Session
from playground.ui.features.conversation.going import go_to, show_branch
from playground.ui.features.debugger.call_list import CallList
from playground.ui.features.debugger.default_rule import DefaultRuleFields
from playground.ui.features.debugger.sequence import SequencePage
from playground.ui.features.host import Control, Host
from playground.ui.features.inspector.inspector import Place
from playground.ui.widgets.session_window import SessionWindow

if TYPE_CHECKING:
    from playground.engine.inspect.calls import CallEntry
    from playground.engine.tool_servers.tape import ServerTape
    from playground.ui.features.debugger.rule_summary import RuleSummary


class RunPages(Control):
    """``show_session`` brings the pages up to the session looked at."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.calls = CallList(self._workspace.gateways.keys.known)
        self.calls.card_asked.connect(self._go_to_entry)
        self.sequence = SequencePage(self._tape)
        self.sequence.card_asked.connect(self._go_to_call)
        host.inspector.add_page(Place.CALLS, self.calls)
        host.inspector.add_page(Place.SEQUENCE, self.sequence)

    def show_session(self) -> None:
        """Show the current session in both pages."""
        self.calls.show_session(self._session)
        self.sequence.show_session(self._session)

    def _tape(self) -> ServerTape | None:
        """What was said with tool servers; none are made for it."""
        return self._workspace.tool_servers.tape if "tool_servers" in self._workspace.__dict__ else None

    def open_calls(self) -> None:
        """Bring the list of calls forward."""
        self._host.show_page(Place.CALLS)

    def open_sequence(self) -> None:
        """Bring the picture of the loop forward."""
        self._host.show_page(Place.SEQUENCE)

    # Going to a card

    def _go_to_entry(self, entry: CallEntry) -> None:
        if not entry.on_path:
            show_branch(self._host.pane, entry.result_turn_id or entry.turn_id)
        self._go_to_call(entry.turn_id, entry.call.id)

    def _go_to_call(self, turn_id: str, call_id: str) -> None:
        self._host.inspector.restore()
        go_to(self._host.pane, turn_id, call_id)


class DebugControl(Control):
    """``show_session`` brings the fields and the open windows up to the session looked at.

    ``default_rule`` is what is set for all tools, ``show_lanes`` shows the lanes.
    """

    def __init__(self, host: Host, default_rule: DefaultRuleFields, show_lanes: Callable[[], None]) -> None:
        super().__init__(host)
        self._show_lanes = show_lanes
        self._followed: Session | None = None
        self._cancel: Callable[[], None] | None = None
        self._default_rule = default_rule
        self._of_tool: RuleSummary | None = None
        self.pages = RunPages(host)
        default_rule.changed.connect(self._edited)
        default_rule.rules_asked.connect(self.open_rules)
        host.pane.calls.rules_asked.connect(self.open_rules)
        host.pane.calls.answers_asked.connect(self._ask_answers)

    def show_session(self) -> None:
        """Show the rules of the session looked at, and follow it."""
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

    def show_rules_in(self, of_tool: RuleSummary) -> None:
        """Tell the rule of one tool there, too."""
        self._of_tool = of_tool
        of_tool.asked.connect(self.open_rules)
        of_tool.show_debugging(self._session.debugger.debugging)

    def _show_rules(self) -> None:
        debugging = self._session.debugger.debugging
        self._default_rule.show_value(debugging)
        if self._of_tool is not None:
            self._of_tool.show_debugging(debugging)

    def tools_edited(self, before: Sequence[ToolDefinition], after: Sequence[ToolDefinition]) -> None:
        """A tool that got another name takes its rule along."""
        renamed = renamed_rules(self._session.debugger.debugging, before, after)
        self._session.change(debugging=renamed)

    def open_rules(self, name: str = "") -> None:
        """The rules, on that tool or the default."""
        from playground.ui.features.debugger.rules_dialog import RulesDialog

        dialog = RulesDialog.shown_for(self._session, self._host.window)
        dialog.known_secrets = self._workspace.gateways.keys.known
        dialog.open_on(name)

    def record(self) -> None:
        """Put what servers answered in this conversation into the tables of their tools, and answer from those."""
        count = self._session.debugger.record(replay=True)
        if not count:
            self._say("No tool server has answered a call of this conversation yet.", stays=False)
            return
        words = (
            f"Recorded {count:,} answer{'s' * (count != 1)}: the same calls are answered from the tables from now on."
        )
        self._say(f"{words} Undo takes that back.", stays=False)

    def compare_answers(self) -> None:
        """Several answers for the call that has the focus, else the first that waits, else the last there is."""
        call = self._call_meant()
        if call is None:
            self._say("There is no tool call yet whose answers could be compared.", stays=False)
            return
        self._ask_answers(self._session, *call)

    def _ask_answers(self, session: Session, turn_id: str, call_id: str) -> None:
        from playground.ui.features.debugger.answers_dialog import AnswersDialog

        dialog = AnswersDialog(session, turn_id, call_id, self._host.window)
        dialog.started.connect(self._show_lanes)
        dialog.open()

    def _call_meant(self) -> tuple[str, str] | None:
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
    """The id of the call whose card a widget belongs to; empty where it belongs to none."""
    while widget is not None:
        call = getattr(widget, "call", None)
        if isinstance(call, ToolCall):
            return call.id
        widget = widget.parentWidget()
    return ""


def renamed_rules(debugging: Debugging, before: Sequence[ToolDefinition], after: Sequence[ToolDefinition]) -> Debugging:
    """The rules with those of renamed tools under their new names, where these are free and the old ones used no more.

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
