"""The window's actions: connects the regions to the workspace and to each other.

Holds no state of its own; every value shown is read from the session or the gateways.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QObject, QSettings, Signal

from playground.engine.advice.parts import Action as Advised
from playground.engine.compare.differences import last_request
from playground.engine.files.presets import PresetStore
from playground.engine.gateways.reach import reach_of
from playground.engine.library.workspace import Workspace
from playground.engine.session.changes import (
    Change,
    DebugChanged,
    DraftChanged,
    ExchangeChanged,
    PathChanged,
    RunState,
    RunStateChanged,
    SettingsChanged,
    TitleChanged,
    TurnChanged,
)
from playground.engine.session.session import Session
from playground.engine.session.settings import ExperimentSettings, changed_names
from playground.ui.features import extra_fields, output, parameters, tools
from playground.ui.features.action import key_text
from playground.ui.features.conversation import STOP
from playground.ui.features.host import Host
from playground.ui.features.inspector.inspector import DRAW_EVERY_MS
from playground.ui.shell.actions import ACTIONS, ENTER, OWN, REDO, THEMES, UNDO
from playground.ui.shell.features import Features, connect_actions
from playground.ui.shell.main_window import MainWindow
from playground.ui.widgets import dialogs
from playground.ui.widgets.highlight import load_colours
from playground.ui.widgets.kept_number import number
from playground.ui.widgets.loop import Throttle, spawn
from playground.ui.widgets.palette import Entry, Names, Palette
from playground.ui.widgets.plain_text import shown_name
from playground.ui.widgets.theme import Theme

EDITS = (PathChanged, TurnChanged, RunStateChanged, SettingsChanged, TitleChanged, DebugChanged)
_MOST = 3  # parameters named one by one
RECENT_COMMANDS, MOST_RECENT = "palette/recent", 8
_NAMES = {
    "profile_id": "the gateway",
    "protocol": "the protocol",
    "model": "the model",
    "tools": "tools",
    "extra_body": "the extra body",
    "extra_headers": "the extra headers",
    "reasoning_return": "how reasoning is sent back",
    "variables": "variables",
    "title": "the title",
    "debugging": "the rules for tool calls",
}
#: Parameters that mean the same; the one that is set is shown.
ALIKE = {"max_tokens": ("max_completion_tokens", "max_tokens", "max_output_tokens")}
PAGES = {"parameters": parameters.PAGE, "tools": tools.PAGE, "output": output.PAGE, "raw": parameters.PAGE}


def setting_names(before: ExperimentSettings, after: ExperimentSettings) -> list[str]:
    """Return the names of changed settings, and those of a few parameters."""
    fields = [name.partition(".") for name in changed_names(before, after)]
    names = [words for field, words in _NAMES.items() if any(field == changed for changed, _, _ in fields)]
    parameters = [name.replace("_", " ") for field, _, name in fields if field == "parameters"]
    return names + (parameters if len(parameters) <= _MOST else ["parameters"])


class WindowActions(QObject):
    """The actions of one window. ``prompts`` are prompts for the demo gateway: text, effect and group."""

    quit_asked = Signal()

    def __init__(
        self,
        window: MainWindow,
        workspace: Workspace,
        theme: Theme,
        settings: QSettings,
        *,
        prompts: Sequence[tuple[str, str, str]],
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
        self._colours = False  # whether those for code are loaded
        host = Host(
            window=window,
            workspace=workspace,
            settings=settings,
            pane=window.pane,
            inspector=window.inspector,
            add_banner=window.add_banner,
            show_list=window.left_dock.show,
            show_page=self._show_page,
            show_side=self._show_side,
            exchange=self._shown_exchange,
            show_exchange=self._bring_exchange,
            show_session=self._workspace_changed,
        )
        self.features = Features(host, window, window.panels, presets or self._usual_presets)
        self._gateways, self._wire = self.features.gateways, self.features.wire
        self.features.storage.changed.connect(self._redraw_exchange)
        self._gateways.changed.connect(self._settings_changed)
        self._gateways.priced.connect(self._priced)
        self._gateways.facts_changed.connect(self._show_facts)
        self.features.help.link_asked.connect(self._help_link_clicked)
        window.pane.advice_asked.connect(self._take_advice)
        self._arriving = Throttle(self._redraw_exchange, self, interval=DRAW_EVERY_MS)
        self._stop_later = Throttle(self._stop_changed, self)  # of thousands of turns it takes a while to see
        connect_actions(window, OWN, self)
        self._connect_regions()
        workspace.subscribe(self._list_changed)
        workspace.subscribe(self._show_undo)
        theme.changed.connect(self._mark_theme)
        self._mark_theme()
        self._set_enter(bool(settings.value("enter_runs", False, type=bool)))
        window.pane.view.set_zoom(number(settings, "zoom", 1.0, 0.5, 4.0))
        self._show_session()

    def _connect_regions(self) -> None:
        window = self._window
        window.pane.deferred.loading = self._not_known
        window.pane.cost.added_up.connect(self._show_usage)
        window.bar.gateway_chosen.connect(self._gateways.choose)
        window.bar.gateways_asked.connect(self._gateways.open_settings)
        window.bar.connect_asked.connect(self._gateways.connect_new)
        window.bar.test_asked.connect(self._gateways.test_connection)
        window.bar.model_chosen.connect(self._choose_model)
        window.bar.models_asked.connect(self._gateways.load_models)
        window.bar.code_asked.connect(self.features.code.open_code)
        window.composer.variable_action.triggered.connect(self.features.variables.bar.open)
        window.pane.exchange_asked.connect(self._show_exchange)
        window.pane.link_asked.connect(self._link_clicked)
        window.pane.welcome.connect_asked.connect(self._gateways.connect_new)
        window.pane.welcome.paste_asked.connect(self.features.code.open_import)
        window.pane.welcome.prompts_asked.connect(self.show_prompts)

    # Following the workspace and its session

    @property
    def session(self) -> Session:
        """The experiment looked at."""
        return self._workspace.current

    def start(self) -> None:
        """Ask the gateway in use for its models. Called once the event loop runs."""
        self.features.storage.start()
        self._gateways.follow()
        self.features.help.updates.start()

    def _list_changed(self) -> None:
        if not self._workspace.stand_in:  # what a person began, or was welcomed to, is not taken from view again
            self._window.pane.welcome_page.set_opening(False)
        if self._seen is not self.session:
            self._workspace_changed()

    def _not_known(self) -> Callable[[], Awaitable[None]] | None:
        """Return what to wait for before a run is refused; None if everything is loaded."""
        if self._workspace.opening:
            return self._workspace.ready
        return self._gateways.listed if self._gateways.listing and not self.session.settings.model else None

    def _workspace_changed(self) -> None:
        self._show_session()
        if not self.features.cassettes.replays(self.session):
            self._gateways.follow()

    def _show_session(self) -> None:
        session = self.session
        self._unsubscribe()
        self._unsubscribe = session.subscribe(self._changed, *EDITS, ExchangeChanged, DraftChanged)
        self._seen = session
        self._window.pane.set_session(session.main)
        self.features.session_shown()
        self._exchange = last_request(session)
        self._settings_changed()
        self._redraw_exchange()
        self._run_changed()

    def _changed(self, change: Change) -> None:
        if isinstance(change, EDITS):
            self._show_undo()
        match change:
            case SettingsChanged():
                self._settings_changed()
            case PathChanged():
                self.features.code.next.poke()
                self._stop_later.poke()
            case DraftChanged():
                self.features.code.next.poke()
            case DebugChanged():
                self._stop_changed()
            case ExchangeChanged(exchange_id):
                self._exchange = exchange_id
                self._arriving.poke()
            case RunStateChanged(state):
                self._run_changed()
                if state is RunState.IDLE:
                    self._note_reach()
                    self._arriving.poke()  # a run that sent nothing changes no exchange
                elif not self._colours:
                    self._colours = True
                    spawn(asyncio.to_thread(load_colours), name="load colours")  # while the answer is waited for
            case _:
                pass

    def _settings_changed(self) -> None:
        session, window, gateways = self.session, self._window, self._workspace.gateways
        profile = session.profile or gateways.get(session.settings.profile_id)  # a cassette brings its own
        names = {p.id: p.name for p in (*gateways.profiles, profile)}
        window.bar.show_gateways(list(names.items()), profile.id)
        window.bar.show_state(self._gateways.state(profile.id))
        self.features.settings_changed()
        self._show_undo()
        window.pane.welcome.describe(profile.name, demo=profile.demo)
        where = "on this computer, simulated" if profile.demo else profile.base_url or "replayed"
        window.status.show_gateway(
            f"{shown_name(profile.name)} · {shown_name(where)}", self._gateways.state(profile.id)
        )

    def _run_changed(self) -> None:
        self._stop_changed()
        self._window.pane.cost.count()
        self._show_usage()
        self._window.status.show_limits(self.session.limits)

    def _show_usage(self) -> None:
        session = self.session
        last = next((turn for turn in reversed(session.transcript.path) if turn.outcome is not None), None)
        pane = self._window.pane
        outcome = last.outcome if last is not None else None
        usage, choices = (outcome.usage, outcome.choices) if outcome is not None else (None, 1)
        cost = pane.cost_words(last.id) if last is not None else ""
        context = None
        if outcome is not None:
            context = session.facts_asked(outcome.asked).context
        self._window.status.show_usage(usage, cost, pane.cost.words, choices=choices, context=context)

    def _stop_changed(self) -> None:
        """There is something to stop: a run, or a loop that is paused."""
        debugger, mode = self.session.debugger, self._window.pane.mode
        if mode is not None:
            self._window.action(STOP.id).setEnabled(mode.under_way)
            return
        under_way = self.session.state is not RunState.IDLE
        waits = debugger.paused and bool(debugger.waiting)
        self._window.action(STOP.id).setEnabled(under_way or (waits and not debugger.stopped))

    def _note_reach(self) -> None:
        """Note how the gateway answered the run that just ended; a run stopped before an answer is ignored."""
        last = next((turn.outcome for turn in reversed(self.session.transcript.path) if turn.outcome is not None), None)
        if last is None:
            return
        self._gateways.note_use(last.asked.profile_id, last.asked.model)
        answered = last.timing is not None and last.timing.headers is not None
        if last.failure is not None or answered:
            self._gateways.note(
                last.asked.profile_id or self.session.settings.profile_id, reach_of(last.failure, answered=answered)
            )

    def _priced(self) -> None:
        self._window.pane.refresh()
        self._run_changed()

    def _show_facts(self) -> None:
        """Show new facts of the models."""
        self._priced()
        self.features.parameters.show_session()
        self.features.tools.show_session()
        self.features.output.show_session()
        self.features.code.next.poke()

    def _shown_exchange(self) -> str:
        return self._exchange

    def _redraw_exchange(self, *, chosen: bool = False) -> None:
        self.features.storage.bring_back(self._exchange)
        self._wire.show(self.session.exchanges.get(self._exchange), chosen=chosen)

    def _bring_exchange(self, exchange_id: str) -> None:
        self._exchange = exchange_id
        self._redraw_exchange(chosen=True)

    def _show_exchange(self, exchange_id: str) -> None:
        self._bring_exchange(exchange_id)
        self._show_page("Response")

    def _show_page(self, title: str) -> None:
        self._window.bottom_dock.show()
        self._window.inspector.show_tab(title)

    # Choosing

    def _usual_presets(self) -> PresetStore:
        return PresetStore(secrets=self._workspace.gateways.keys.known_secrets)

    def _choose_model(self, model: str) -> None:
        self._workspace.keep_current()
        self.session.change(model=model)

    # What can be asked of the window itself

    def ask_to_quit(self) -> None:
        """Ask to end the application."""
        self.quit_asked.emit()

    def undo(self) -> None:
        """Undo the last edit, or the deletion of an experiment if that came later."""
        deleted, session = self._workspace.deleted_last, self.session
        if deleted is not None and deleted > session.history.moment:
            self.features.experiments.undelete()
        else:
            self._travel(session.undo, self._window.pane.undo, "Undone")

    def redo(self) -> None:
        """Redo the edit that was undone last."""
        self._travel(self.session.redo, self._window.pane.redo, "Redone")

    def _travel(self, step: Callable[[], bool], refuse: Callable[[], None], word: str) -> None:
        """Undo or redo. Where that is impossible, ``refuse`` says why."""
        session, notice = self.session, self._window.pane.notice
        turns, settings = session.transcript, session.settings
        if not step():
            refuse()
            return
        notice.hide()
        if session.settings != settings:
            self.features.output.show_session(reset=True)
            self.features.extra_fields.show_session(reset=True)
            names = setting_names(settings, session.settings)
            if names and session.transcript is turns:
                listed = ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
                notice.say(f"{word}: {listed}.", stays=False)

    def _show_undo(self) -> None:
        history = self.session.history
        self._window.action(UNDO.id).setEnabled(history.can_undo or self._workspace.deleted_last is not None)
        self._window.action(REDO.id).setEnabled(history.can_redo)

    def _take_advice(self, action: Advised) -> None:
        """Do what the button of an error card offers."""
        gateways = self._gateways
        match action.name:
            case "gateway":
                gateways.open_settings()
            case "key":
                gateways.enter_key()
            case "header":
                gateways.add_header(action.value)
            case "timeout":
                gateways.raise_timeouts()
            case "model":
                gateways.choose_model()
            case "protocol":
                self.features.protocols.choose(action.value)
            case "ask over":
                last = self.session.transcript.path[-1].id
                self.features.protocols.choose(action.value, lambda: self._window.pane.regenerate(last))
            case "keep offer" if action.offer is not None:
                spawn(gateways.keep_rules(action.value, action.offer.rules), name="keep rules")
            case "parameters" | "tools" | "output" | "raw":
                self._show_field(action.name, action.value)
            case _:
                pass

    def _show_field(self, place: str, about: str) -> None:
        """Show the page of ``place`` in the side panel, and the field that an error is about."""
        panels = self._window.panels
        self._show_side(PAGES[place])
        if place == "raw" or about == "reasoning_return":
            panels.parameters.show_section(extra_fields.TITLE, panels.extra_fields.field_for(about))
        elif place == "parameters" and about:
            panels.parameters.show_row(*ALIKE.get(about, (about,)))

    def reset_layout(self) -> None:
        """Put every region where it belongs."""
        self._window.reset_layout()

    def _show_side(self, page: str) -> None:
        self._window.right_dock.show()
        self._window.side.show_page(page)

    def step_zoom(self, step: int) -> None:
        """Larger text, smaller text, or for 0 that of the beginning."""
        view = self._window.pane.view
        view.step_zoom(step) if step else view.set_zoom(1.0)
        self._settings.setValue("zoom", view.zoom)

    def choose_theme(self, choice: str) -> None:
        """Use these colours, now and later."""
        self._settings.setValue("theme", choice)
        self._theme.choose(choice)

    def _mark_theme(self) -> None:
        for choice, action in THEMES.items():
            self._window.action(action.id).setChecked(self._theme.choice == choice)

    def toggle_enter(self) -> None:
        """Enter runs, or makes a new line."""
        self._set_enter(self._window.action(ENTER.id).isChecked())

    def _set_enter(self, enter_runs: bool) -> None:
        self._settings.setValue("enter_runs", enter_runs)
        self._window.action(ENTER.id).setChecked(enter_runs)
        self._window.pane.composer.set_enter_runs(enter_runs)

    def open_palette(self) -> None:
        """Open the list of every action on offer, every model and every gateway; those used last come first."""
        listed = self._gateways.picker.listed
        models = Names(listed.all, listed.folded, "model", self._choose_model)
        entries: list[Entry | Names] = [*self._commands(), models, *self.features.palette_entries()]
        recent = [name for name in str(self._settings.value(RECENT_COMMANDS, "")).splitlines() if name][:MOST_RECENT]
        palette = Palette(entries, "Type a command, a model or a gateway", self._window, recent)
        palette.chosen.connect(partial(self._remember_command, recent))
        palette.open_over()

    def _remember_command(self, recent: Sequence[str], name: str) -> None:
        names = [name, *(text for text in recent if text != name)]
        self._settings.setValue(RECENT_COMMANDS, "\n".join(names[:MOST_RECENT]))

    def _commands(self) -> Iterator[Entry]:
        for row in sorted(ACTIONS, key=lambda row: "/" in row.menu):  # submenus after the menus
            action = self._window.action(row.id)
            if action.isEnabled():
                yield Entry(row.text, "", action.trigger, keys=key_text(row), synonyms=row.synonyms)

    def show_prompts(self) -> None:
        """Offer prompts with a special effect on the demo gateway; the chosen one is written."""
        entries = [
            Entry(f"{text} — {effect}", group, partial(self._write, text)) for text, effect, group in self._prompts
        ]
        Palette(entries, "Demo prompts", self._window).open_over()

    def _write(self, text: str) -> None:
        composer = self._window.pane.composer
        composer.set_text(f"{composer.text} {text}".strip())
        composer.setFocus()

    def _link_clicked(self, address: str) -> None:
        spawn(dialogs.open_link(self._window, address), name="open link")

    def _help_link_clicked(self, address: str) -> None:
        spawn(dialogs.open_link(self._window, address, "It is not part of this application."), name="open link")


def _nothing() -> None:
    return
