"""What the window's actions do: connects the regions to the workspace and to each other.

Holds no truth; every value shown is read from the session or the gateways.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING
from typing import Protocol as Interface

from PySide6.QtCore import QObject, QSettings, Signal

from playground.domain.parameters import Parameters
from playground.domain.tools import ToolDefinition
from playground.engine.gateways.reach import reach_of
from playground.engine.library.workspace import Workspace
from playground.engine.requests.field_flags import field_flags
from playground.engine.requests.spoken import TITLES
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    DraftChanged,
    ExchangeChanged,
    PathChanged,
    RunState,
    RunStateChanged,
    SettingsChanged,
)
from playground.engine.session.session import Session
from playground.ui.features.code.code_control import CodeControl
from playground.ui.features.code.request_control import RequestControl
from playground.ui.features.debugger.debug_control import DebugControl
from playground.ui.features.debugger.seeing_control import SeeingControl
from playground.ui.features.extras_control import ExtrasControl
from playground.ui.features.first_start.first_start_control import FirstStartControl
from playground.ui.features.gateways.control import GatewayControl
from playground.ui.features.gateways.protocol_switch import ProtocolSwitch
from playground.ui.features.help.help_control import HelpControl
from playground.ui.features.inspector.inspector import DRAW_EVERY_MS
from playground.ui.features.wire.control import WireControl
from playground.ui.shell.actions import ACTIONS, key_text
from playground.ui.shell.advice_control import AdviceControl
from playground.ui.shell.keeping_control import KeepingControl
from playground.ui.shell.library_control import LibraryControl
from playground.ui.shell.main_window import MainWindow
from playground.ui.widgets import dialogs
from playground.ui.widgets.kept_number import number
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.palette import Entry, Names, Palette
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from playground.engine.files.presets import PresetStore


class Prompt(Interface):
    """A prompt to try: what to type and what happens. Given by whoever starts the demo gateway."""

    @property
    def typed(self) -> str: ...

    @property
    def happens(self) -> str: ...

    @property
    def group(self) -> str: ...


class WindowActions(QObject):
    """One for each window."""

    quit_asked = Signal()

    def __init__(
        self,
        window: MainWindow,
        workspace: Workspace,
        theme: Theme,
        settings: QSettings,
        *,
        prompts: Sequence[Prompt],
        presets: Callable[[], PresetStore] | None = None,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self._theme = theme
        self._settings = settings
        self._prompts = prompts
        self._exchange = ""
        self._unsubscribe: Callable[[], None] = _nothing
        self._gateways = GatewayControl(window, workspace)
        self._extras = ExtrasControl(window, workspace)
        self._code = CodeControl(window, workspace, self._gateways, settings)
        self._debug = DebugControl(window, workspace)
        self._seeing = SeeingControl(window, workspace)
        self.wire = WireControl(window, workspace, self._bring_exchange)
        self.keeping = KeepingControl(window, workspace, settings, self.wire.cassettes, presets)
        self.library = LibraryControl(window, workspace, settings, self._seeing.go_to, self._extras.show_anew)
        self.library.storage.changed.connect(self._redraw_exchange)
        window.raw.settings_asked.connect(self._gateways.open_settings)
        self._gateways.changed.connect(self._settings_changed)
        self._gateways.priced.connect(self._priced)
        self.first_start = FirstStartControl(
            window, workspace, settings, shown=self._workspace_changed, open_frames=self.wire.open_timeline
        )
        self.help = HelpControl(window, settings)
        self.help.link_asked.connect(self._help_link_clicked)
        self._advice = AdviceControl(window, self._gateways, self._choose_protocol)
        self._protocols = ProtocolSwitch()
        self._protocols.switched.connect(self._gateways.protocol_switched)
        window.pane.add_bar(self._protocols)
        self._preview = RequestControl(window, workspace, self._code.open_code, self._shown_exchange)
        self._arriving = Throttle(self._redraw_exchange, self, interval=DRAW_EVERY_MS)
        self.handlers = self._make_handlers()
        for action_id, handler in self.handlers.items():
            window.action(action_id).triggered.connect(partial(_call, handler))
        self._connect_regions()
        workspace.subscribe(self._list_changed)
        theme.changed.connect(self._mark_theme)
        self._mark_theme()
        self._set_enter(bool(settings.value("enter_runs", False, type=bool)))
        window.pane.view.set_zoom(number(settings, "zoom", 1.0, 0.5, 4.0))
        self._show_session()

    def _make_handlers(self) -> dict[str, Callable[[], None]]:
        window, pane = self._window, self._window.pane
        return {
            "experiment.prompts": self.show_prompts,
            "experiment.import": self._code.open_import,
            "window.quit": self.quit_asked.emit,
            "edit.find": pane.look_for,
            "edit.find-next": partial(pane.look_for, 1),
            "edit.find-previous": partial(pane.look_for, -1),
            "edit.compose": pane.composer.setFocus,
            "turn.edit": pane.edit_focused,
            "turn.edit-run": pane.edits.run_open,
            "turn.add-call": pane.hand.write_call,
            "turn.choose-call": pane.hand.choose_call,
            "turn.before": partial(pane.view.step_turn, -1),
            "turn.after": partial(pane.view.step_turn, 1),
            "turn.regenerate": pane.regenerate_focused,
            "run.run": pane.run,
            "run.stop": pane.stop,
            "run.model": window.bar.model.setFocus,
            "run.protocol": self.switch_protocol,
            "edit.image": pane.intake.choose_files,
            "edit.image-clipboard": pane.intake.paste,
            "edit.image-address": pane.intake.ask_address,
            "run.models": partial(self._gateways.load_models, refresh=True),
            "run.price": self._gateways.open_price,
            "debug.rules": self._debug.open_rules,
            "debug.fork": self._debug.open_fork,
            "debug.forks": self._debug.open_forks,
            "debug.repeat": self._seeing.repeat,
            "run.code": self._code.open_code,
            "gateway.connect": self._gateways.connect_new,
            "gateway.settings": self._gateways.open_settings,
            "view.palette": self.open_palette,
            "view.experiments": _nothing,  # the dock itself follows this action
            "view.inspector": _nothing,
            "view.calls": self._seeing.open_calls,
            "view.sequence": self._seeing.open_sequence,
            "cassette.open": self.wire.cassettes.open,
            "cassette.save": self.wire.save_exchange,
            "cassette.save-all": self.wire.cassettes.save_all,
            "cassette.export": self.wire.cassettes.export,
            "wire.timeline": self.wire.open_timeline,
            "wire.frames": self.wire.show_selection,
            "wire.lint": self.wire.open_lint,
            "wire.diff": self.wire.open_diff,
            "wire.compare": self.wire.compare,
            "view.parameters": partial(self._show_side, "Parameters"),
            "view.tools": partial(self._show_side, "Tools"),
            "view.output": partial(self._show_side, "Output"),
            "view.raw": partial(self._show_side, "Raw"),
            "view.reset": window.reset_layout,
            "view.larger": partial(self._step_zoom, 1),
            "view.smaller": partial(self._step_zoom, -1),
            "view.normal": partial(self._step_zoom, 0),
            "theme.system": partial(self._choose_theme, "system"),
            "theme.light": partial(self._choose_theme, "light"),
            "theme.dark": partial(self._choose_theme, "dark"),
            "settings.enter": self._toggle_enter,
            "help.keys": self.show_keys,
            **self.first_start.handlers(),
            **self.help.handlers(),
            **self.keeping.handlers,
            **self.library.handlers,
        }

    def _connect_regions(self) -> None:
        window = self._window
        window.pane.late.not_known = self._not_known
        window.pane.attend()
        window.bar.gateway_chosen.connect(self._gateways.choose)
        window.bar.gateways_asked.connect(self._gateways.open_settings)
        window.bar.connect_asked.connect(self._gateways.connect_new)
        window.bar.protocol_chosen.connect(self._choose_protocol)
        window.bar.model_chosen.connect(self._choose_model)
        window.bar.models_asked.connect(self._gateways.load_models)
        window.bar.compare_asked.connect(self.wire.compare)
        window.bar.code_asked.connect(self._code.open_code)
        window.composer.variables_asked.connect(window.action("view.variables").trigger)
        window.parameters.changed.connect(self._parameters_edited)
        window.tools.changed.connect(self._tools_edited)
        window.pane.exchange_asked.connect(self._show_exchange)
        window.pane.link_asked.connect(self._link_clicked)
        window.pane.welcome.connect_asked.connect(self._gateways.connect_new)
        window.pane.welcome.prompts_asked.connect(self.show_prompts)

    # Following the workspace and its session

    @property
    def session(self) -> Session:
        """The experiment looked at."""
        return self._workspace.current

    def start(self) -> None:
        """Ask the gateway in use for its models. Called once the event loop runs."""
        self.library.start()
        self._gateways.load_models()
        self.help.updates.start()

    def _list_changed(self) -> None:
        if not self._workspace.stand_in:  # what a person began, or was welcomed to, is not taken from view again
            self._window.pane.welcome_page.set_opening(False)
        if self._window.pane.session is not self.session:
            self._workspace_changed()

    def _not_known(self) -> Callable[[], Awaitable[None]] | None:
        """What is still on its way and may make a run possible that would be refused now."""
        if self._workspace.opening:
            return self._workspace.ready
        return self._gateways.listed if self._gateways.listing and not self.session.settings.model else None

    def _workspace_changed(self) -> None:
        self._show_session()
        if not self.wire.cassettes.replays(self.session):
            self._gateways.load_models()

    def _show_session(self) -> None:
        session = self.session
        self._unsubscribe()
        self._unsubscribe = session.subscribe(
            self._changed, SettingsChanged, PathChanged, ExchangeChanged, RunStateChanged, DraftChanged, DebugChanged
        )
        self._window.pane.set_session(session)
        self.first_start.show_session(session)
        self.library.show_session()
        self._protocols.follow(session)
        exchanges = list(session.exchanges)
        self._exchange = exchanges[-1] if exchanges else ""
        self._settings_changed()
        self._redraw_exchange()
        self._run_changed()

    def _changed(self, change: Change) -> None:
        match change:
            case SettingsChanged():
                self._settings_changed()
            case PathChanged():
                self._preview.poke()
                self._stop_changed()
            case DraftChanged():
                self._preview.poke()
            case DebugChanged():
                self._stop_changed()
            case ExchangeChanged(exchange_id):
                self._exchange = exchange_id
                self._arriving.poke()
            case RunStateChanged(state):
                self._run_changed()
                if state is RunState.IDLE:
                    self._note_reach()
            case _:
                pass

    def _settings_changed(self) -> None:
        session, window, gateways = self.session, self._window, self._workspace.gateways
        profile = session.profile or gateways.get(session.settings.profile_id)  # a cassette brings its own
        names = {p.id: p.name for p in (*gateways.profiles, profile)}
        window.bar.show_gateways(list(names.items()), profile.id)
        window.bar.show_state(self._gateways.state(profile.id))
        window.bar.show_protocol(session.settings.protocol)
        self._gateways.show_models()
        window.parameters.set_value(session.settings.current, field_flags(session))
        window.parameters.set_tool_names([tool.name for tool in session.settings.tools if tool.sendable])
        window.tools.set_tools(session.settings.tools)
        self._extras.show_session()
        self._debug.show_session()
        self._seeing.show_session()
        self.wire.show_session()
        self._code.show_session()
        self.keeping.show_session()
        window.side.set_count("Tools", len(session.settings.tools))
        window.pane.welcome.describe(profile.name, demo=profile.demo)
        where = "on this computer, simulated" if profile.demo else profile.base_url or "replayed"
        window.status.show_gateway(
            f"{shown_name(profile.name)} · {shown_name(where)}", self._gateways.state(profile.id)
        )
        self._preview.poke()

    def _run_changed(self) -> None:
        session = self.session
        self._stop_changed()
        last = next((turn for turn in reversed(session.transcript.path) if turn.outcome is not None), None)
        pane = self._window.pane
        outcome = last.outcome if last is not None else None
        usage, choices = (outcome.usage, outcome.choices) if outcome is not None else (None, 1)
        cost = pane.cost_words(last.id) if last is not None else ""
        self._window.status.show_usage(usage, cost, pane.total_cost(), choices=choices)
        self._window.status.show_limits(session.experiment.limits)

    def _stop_changed(self) -> None:
        """There is something to stop: a run, or a loop that is paused."""
        debugger = self.session.debugger
        under_way = self.session.state is not RunState.IDLE
        self._window.action("run.stop").setEnabled(under_way or (debugger.paused and not debugger.stopped))

    def _note_reach(self) -> None:
        """What the run that just ended tells of its gateway; one that was stopped before an answer tells nothing."""
        last = next((turn.outcome for turn in reversed(self.session.transcript.path) if turn.outcome is not None), None)
        if last is None:
            return
        answered = last.timing is not None and last.timing.headers is not None
        if last.failure is not None or answered:
            self._gateways.note(
                last.asked.profile_id or self.session.settings.profile_id, reach_of(last.failure, answered=answered)
            )

    def _priced(self) -> None:
        self._window.pane.refresh()
        self._run_changed()

    def _shown_exchange(self) -> str:
        return self._exchange

    def _redraw_exchange(self) -> None:
        self.library.storage.bring_back(self._exchange)
        exchange = self.session.exchanges.get(self._exchange)
        self._window.inspector.set_exchange(self.wire.view_of(exchange))

    def _bring_exchange(self, exchange_id: str) -> None:
        self._exchange = exchange_id
        self._redraw_exchange()

    def _show_exchange(self, exchange_id: str) -> None:
        self._bring_exchange(exchange_id)
        self._window.bottom_dock.show()
        self._window.inspector.show_tab("Response")

    # Choosing

    def _choose_protocol(self, name: str) -> None:
        self._workspace.keep_current()
        self._protocols.choose(self.session, name)
        self._window.bar.show_protocol(self.session.settings.protocol)

    def switch_protocol(self) -> None:
        """Speak the next protocol, after asking when it cannot carry everything."""
        names = list(TITLES)
        self._choose_protocol(names[(names.index(self.session.settings.protocol) + 1) % len(names)])

    def _choose_model(self, model: str) -> None:
        self._workspace.keep_current()
        self.session.change(model=model)

    def _parameters_edited(self, parameters: Parameters) -> None:
        self.session.set_parameters(parameters)

    def _tools_edited(self, tools: tuple[ToolDefinition, ...]) -> None:
        before = [tool.offer for tool in self.session.settings.tools if tool.sendable]
        self._debug.tools_edited(self.session.settings.tools, tools)
        self.session.change(tools=tools)
        if [tool.offer for tool in tools if tool.sendable] != before:
            self._window.pane.tools_changed()

    # Window

    def _show_side(self, page: str) -> None:
        self._window.right_dock.show()
        self._window.side.show_page(page)

    def _step_zoom(self, step: int) -> None:
        view = self._window.pane.view
        view.step_zoom(step) if step else view.set_zoom(1.0)
        self._settings.setValue("zoom", view.zoom)

    def _choose_theme(self, choice: str) -> None:
        self._settings.setValue("theme", choice)
        self._theme.choose(choice)

    def _mark_theme(self) -> None:
        for choice in ("system", "light", "dark"):
            self._window.action(f"theme.{choice}").setChecked(self._theme.choice == choice)

    def _toggle_enter(self) -> None:
        self._set_enter(self._window.action("settings.enter").isChecked())

    def _set_enter(self, enter_runs: bool) -> None:
        self._settings.setValue("enter_runs", enter_runs)
        self._window.action("settings.enter").setChecked(enter_runs)
        self._window.pane.composer.set_enter_runs(enter_runs)

    def open_palette(self) -> None:
        """Every action, every model, every gateway by name."""
        listed = self._window.bar.model.listed
        models = Names(listed.all, listed.folded, "model", self._choose_model)
        beside = (*self._gateways.entries(), *self.keeping.presets.entries())
        entries: list[Entry | Names] = [*self._actions(), models, *beside]
        Palette(entries, "Type a command, a model or a gateway", self._window).open_over()

    def _actions(self) -> list[Entry]:
        return [Entry(spec.text, key_text(spec), self._window.action(spec.id).trigger) for spec in ACTIONS]

    def show_prompts(self) -> None:
        """Prompts that make the demo gateway do something particular; choosing one writes it."""
        entries = [
            Entry(f"{prompt.typed} — {prompt.happens}", prompt.group, partial(self._write, prompt.typed))
            for prompt in self._prompts
        ]
        Palette(entries, "Prompts to try on the demo gateway", self._window).open_over()

    def _write(self, text: str) -> None:
        composer = self._window.pane.composer
        composer.set_text(f"{composer.text} {text}".strip())
        composer.setFocus()

    def _link_clicked(self, address: str) -> None:
        spawn(dialogs.open_link(self._window, address), name="open link")

    def _help_link_clicked(self, address: str) -> None:
        spawn(dialogs.open_link(self._window, address, "It is not part of this application."), name="open link")

    def show_keys(self) -> None:
        """All shortcuts in one list."""
        entries = [*filter(lambda entry: entry.side, self._actions()), Entry("Text size", "Ctrl+wheel", _nothing)]
        Palette(entries, "Keys: type to search, Enter to do", self._window).open_over()


def _call(handler: Callable[[], None], _checked: bool = False) -> None:
    handler()


def _nothing() -> None:
    return
