"""The panels and controls of all features of one window. A new feature is a folder, its actions in ``actions``, and a
control made here.

Imported after the first paint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol, TypeVar

from PySide6.QtCore import SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from playground.engine.files.presets import PresetStore
from playground.engine.library.workspace import Workspace
from playground.ui.features import (
    cassettes,
    code,
    compare,
    conversation,
    debugger,
    evaluate,
    experiments,
    extra_fields,
    files,
    first_start,
    gateway_check,
    gateways,
    help,
    listen,
    offered,
    output,
    parameters,
    preferences,
    presets,
    protocols,
    server_asks,
    server_tape,
    storage,
    tool_servers,
    tools,
    tree,
    variables,
    wire,
)
from playground.ui.features.action import Action
from playground.ui.features.cassettes.control import CassetteControl
from playground.ui.features.code.control import CodeControl
from playground.ui.features.compare.control import Around as CompareAround
from playground.ui.features.compare.control import CompareControl
from playground.ui.features.debugger.control import DebugControl
from playground.ui.features.debugger.result_rules import ResultDefaults
from playground.ui.features.evaluate.control import Around as EvaluateAround
from playground.ui.features.evaluate.control import EvaluateControl
from playground.ui.features.experiments.control import ExperimentsControl
from playground.ui.features.experiments.panel import ExperimentsPanel
from playground.ui.features.extra_fields.control import ExtraFieldsControl
from playground.ui.features.extra_fields.panel import ExtraFieldsPanel
from playground.ui.features.files.control import FileControl
from playground.ui.features.files.drop_place import DropTarget
from playground.ui.features.first_start.control import FirstStartControl
from playground.ui.features.gateway_check.control import CheckControl
from playground.ui.features.gateways.control import GatewayControl
from playground.ui.features.help.control import HelpControl
from playground.ui.features.host import Host
from playground.ui.features.listen.control import Around as ListenAround
from playground.ui.features.listen.control import ListenControl
from playground.ui.features.offered.control import OfferedControl
from playground.ui.features.output.control import OutputControl
from playground.ui.features.output.panel import OutputPanel
from playground.ui.features.parameters.control import ParametersControl
from playground.ui.features.parameters.panel import ParameterPanel
from playground.ui.features.preferences.control import PreferencesControl
from playground.ui.features.preferences.pages import GeneralPage, ShortcutsPage, ToolServersPage
from playground.ui.features.presets.bar import PresetBar
from playground.ui.features.presets.control import PresetControl
from playground.ui.features.protocols.control import ProtocolControl
from playground.ui.features.server_asks.control import AsksControl
from playground.ui.features.server_tape.control import TapeControl
from playground.ui.features.storage.control import StorageControl
from playground.ui.features.tool_servers.control import ToolServersControl
from playground.ui.features.tools.control import ToolsControl
from playground.ui.features.tools.panel import ToolsPanel
from playground.ui.features.tools.server_tools import ServerWays
from playground.ui.features.tree.control import TreeControl
from playground.ui.features.variables.control import VariablesControl
from playground.ui.features.wire.control import WireControl
from playground.ui.shell import centre
from playground.ui.shell.actions import ACTIONS
from playground.ui.shell.docks import stacked
from playground.ui.shell.tool_bar import ToolBar
from playground.ui.widgets.palette import Entry
from playground.ui.widgets.side_panel import SidePanel

C = TypeVar("C")


class Regions(Protocol):
    """The parts of the window that features work with."""

    bar: ToolBar
    side: SidePanel
    drops: DropTarget
    page_shown: SignalInstance

    def show_listening(self, words: str) -> None: ...

    def action(self, action_id: str, /) -> QAction: ...

    def show_page(self, page: str, bar: QWidget | None = None) -> None: ...


class Panels:
    """The panels at the sides of one window."""

    def __init__(self, regions: Regions, workspace: Workspace, experiments_panel: ExperimentsPanel) -> None:
        side = regions.side
        self.experiments = experiments_panel
        form = ParameterPanel(side, kind=type(workspace.current.settings.current), without=("Output",))
        self.parameters = form
        self.presets = PresetBar()
        side.fill(parameters.PAGE, stacked(self.presets, form, inside=side.pages))
        self.extra_fields = ExtraFieldsPanel()
        form.add_section(extra_fields.TITLE, self.extra_fields)
        self.tools = ToolsPanel(side.pages)
        self.result_defaults = ResultDefaults()
        self.tools.add_below(self.result_defaults)
        side.fill(tools.PAGE, self.tools)
        self.output = OutputPanel(side.pages)
        side.fill(output.PAGE, self.output)


class Features:
    """The controls of one window, in the order in which they need each other.

    The later a control is made, the higher its bar above the message field, and the further right its page of the
    inspector.
    """

    def __init__(self, host: Host, regions: Regions, panels: Panels, load_presets: Callable[[], PresetStore]) -> None:
        self._regions = regions
        workspace, bar, side = host.workspace, regions.bar, regions.side
        show_side, connect = host.show_side, self._connect

        self.gateways = GatewayControl(host, bar.model)
        connect(gateways.ACTIONS, self.gateways)
        self.gateway_check = CheckControl(host, self.gateways.keep_rules)
        self.gateways.check_asked.connect(self.gateway_check.open_for)
        bar.check_asked.connect(self.gateway_check.open_current)
        connect(gateway_check.ACTIONS, self.gateway_check)
        self.tool_servers = ToolServersControl(host)
        connect(tool_servers.ACTIONS, self.tool_servers)
        connect(conversation.ACTIONS, host.pane)
        self.parameters = ParametersControl(host, panels.parameters, partial(show_side, parameters.PAGE))
        connect(parameters.ACTIONS, self.parameters)
        self.presets = PresetControl(host, panels.presets, load_presets)
        connect(presets.ACTIONS, self.presets)
        self.compare = self._make_compare(host)
        connect(compare.ACTIONS, self.compare)
        self.evaluate = self._make_evaluate(host)
        connect(evaluate.ACTIONS, self.evaluate)
        self.listen = self._make_listen(host)
        connect(listen.ACTIONS, self.listen)
        bar.page_chosen.connect(self._show_page)
        self.experiments = ExperimentsControl(host, panels.experiments)
        connect(experiments.ACTIONS, self.experiments)
        self.code = CodeControl(
            host, self.gateways.set_up_imported, self.gateways.store_imported, self.gateways.show_rules
        )
        connect(code.ACTIONS, self.code)
        self.debugger = DebugControl(host, partial(self.compare.show, True))
        for view in (panels.result_defaults, panels.tools.result_rules):
            self.debugger.add_view(view)
        connect(debugger.ACTIONS, self.debugger)
        self.server_asks = AsksControl(host)
        connect(server_asks.ACTIONS, self.server_asks)
        self.server_tape = TapeControl(host)
        connect(server_tape.ACTIONS, self.server_tape)
        self.offered = OfferedControl(host)
        connect(offered.ACTIONS, self.offered)
        self.tools = ToolsControl(
            host,
            panels.tools,
            partial(show_side, tools.PAGE),
            self.debugger.tools_edited,
            partial(side.set_count, tools.PAGE),
            ServerWays(self.tool_servers.start, self.tool_servers.open_servers, self.tool_servers.open_server),
        )
        connect(tools.ACTIONS, self.tools)
        self.output = OutputControl(workspace, panels.output, partial(show_side, output.PAGE))
        connect(output.ACTIONS, self.output)
        self.extra_fields = ExtraFieldsControl(
            workspace,
            panels.extra_fields,
            partial(self._show_extra_fields, host, panels),
            panels.parameters.section(extra_fields.TITLE).set_count,
        )
        panels.extra_fields.settings_asked.connect(self.gateways.open_settings)
        connect(extra_fields.ACTIONS, self.extra_fields)
        self.wire = WireControl(host)
        connect(wire.ACTIONS, self.wire)
        self.cassettes = CassetteControl(host)
        connect(cassettes.ACTIONS, self.cassettes)
        self.files = FileControl(host, regions.drops, self.cassettes.open_file)
        regions.action(files.RECENT.id).setMenu(self.files.recent.menu)
        connect(files.ACTIONS, self.files)
        self.variables = VariablesControl(host)
        connect(variables.ACTIONS, self.variables)
        self.tree = TreeControl(host)
        connect(tree.ACTIONS, self.tree)
        self.storage = StorageControl(host)
        connect(storage.ACTIONS, self.storage)
        self.first_start = FirstStartControl(host, self.wire.open_timeline, self.evaluate.show, self.evaluate.run)
        connect(first_start.ACTIONS, self.first_start)
        self.help = HelpControl(host)
        connect(help.ACTIONS, self.help)
        self.preferences = PreferencesControl(
            host,
            {
                preferences.GENERAL: partial(GeneralPage, regions.action, lambda: host.pane.view.zoom),
                preferences.STORAGE: self.storage.make_page,
                preferences.SERVERS: partial(ToolServersPage, regions.action),
                preferences.SHORTCUTS: partial(ShortcutsPage, ACTIONS),
                preferences.UPDATES: self.help.updates.make_page,
            },
        )
        self.storage.page_asked.connect(partial(self.preferences.open, preferences.STORAGE))
        connect(preferences.ACTIONS, self.preferences)
        self.protocols = ProtocolControl(host, bar.show_protocol, self.gateways.protocol_switched)
        bar.protocol_chosen.connect(self.protocols.choose)
        connect(protocols.ACTIONS, self.protocols)

    def _connect(self, actions: Iterable[Action[C]], control: C) -> None:
        connect_actions(self._regions, actions, control)

    def session_shown(self) -> None:
        """Show another experiment."""
        self.compare.show_session()
        self.evaluate.show_session()
        self.listen.show_session()
        self.tree.show_session()
        self.storage.show_session()
        self.first_start.show_session()
        self.protocols.follow_session()

    def settings_changed(self) -> None:
        """Show the settings of the current experiment."""
        self.gateways.show_models()
        for control in (self.parameters, self.code, self.debugger, self.tools, self.output, self.extra_fields):
            control.show_session()
        self.cassettes.show_session()
        self.variables.show_session()
        self.protocols.show_session()

    def palette_entries(self) -> list[Entry]:
        """Entries of the command palette beside the actions."""
        return [*self.gateways.entries(), *self.protocols.entries(), *self.presets.entries(), *self.offered.entries()]

    def _show_extra_fields(self, host: Host, panels: Panels) -> None:
        host.show_side(parameters.PAGE)
        panels.parameters.show_section(extra_fields.TITLE, panels.extra_fields.body.editor)

    def _make_compare(self, host: Host) -> CompareControl:
        bar = self._regions.bar
        around = CompareAround(
            show=partial(self._show_bar, compare.TITLE),
            name_lane=partial(self._name_lane, host),
            pick_with=self.gateways.pick_with,
            load_models=self.gateways.load_models,
            menus=(bar.gateways, bar.protocols),
            presets=lambda: self.presets.store.presets,
            save_preset=self.presets.save,
            show_settings=partial(host.show_side, parameters.PAGE),
        )
        return CompareControl(host, around)

    def _name_lane(self, host: Host, lane: str) -> None:
        self._regions.side.show_lane(lane)
        host.inspector.show_lane(lane)

    def _make_evaluate(self, host: Host) -> EvaluateControl:
        around = EvaluateAround(
            show=partial(self._show_bar, evaluate.TITLE),
            leave_lanes=self.compare.leave,
            show_lanes=partial(self.compare.show, True),
            open_sample=lambda: self._regions.action("sample.evaluation").trigger(),
            presets=lambda: self.presets.store.presets,
            stoppable=self._regions.action(conversation.STOP.id).setEnabled,
            keep_rules=self.gateways.keep_rules,
        )
        control = EvaluateControl(host, around)
        self._regions.page_shown.connect(lambda page: control.leave() if page != evaluate.TITLE else None)
        return control

    def _make_listen(self, host: Host) -> ListenControl:
        around = ListenAround(
            show=partial(self._show_bar, listen.TITLE),
            leave_others=self._leave_pages,
            show_state=self._regions.show_listening,
            show_cases=self.evaluate.show_cases,
            edit_request=partial(host.show_page, "Request/Next"),
        )
        control = ListenControl(host, around)
        self._regions.page_shown.connect(lambda page: control.leave() if page != listen.TITLE else None)
        return control

    def _leave_pages(self) -> None:
        """Leave Compare and Evaluate without showing the conversation."""
        self.compare.leave()
        self.evaluate.leave()

    def _show_bar(self, page: str, bar: QWidget | None) -> None:
        """Show ``page`` with ``bar`` in the tool bar, or the conversation without one."""
        self._regions.show_page(page if bar is not None else centre.CONVERSATION, bar)

    def _show_page(self, index: int) -> None:
        page = centre.PAGES[index]
        if page == compare.TITLE:
            self.compare.show(True)
        elif page == evaluate.TITLE:
            self.evaluate.show(True)
        elif page == listen.TITLE:
            self.listen.show(True)
        else:
            self.listen.show(False)
            self.evaluate.show(False)
            self.compare.show(False)


def connect_actions(regions: Regions, actions: Iterable[Action[C]], control: C) -> None:
    """Have the actions of a menu do what they do to ``control``."""
    for action in actions:
        if action.trigger is not None:
            regions.action(action.id).triggered.connect(partial(_call, action.trigger, control))


def _call(trigger: Callable[[C], object], control: C, _checked: bool = False) -> None:
    trigger(control)
