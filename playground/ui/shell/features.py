"""The features of the window: a row each. A new feature is a folder and a row here, and its actions in ``actions``.

Imported after the first paint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar, cast

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
    offered,
    output,
    parameters,
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
from playground.ui.features.debugger.default_rule import ResponseDefaults
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
from playground.ui.features.offered.control import OfferedControl
from playground.ui.features.output.control import OutputControl
from playground.ui.features.output.panel import OutputPanel
from playground.ui.features.parameters.control import ParametersControl
from playground.ui.features.parameters.panel import ParameterPanel
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
from playground.ui.shell.regions import Region, stacked
from playground.ui.shell.tool_bar import ToolBar
from playground.ui.widgets.palette import Entry
from playground.ui.widgets.side_panel import SidePanel

C = TypeVar("C")
W = TypeVar("W")


class Regions(Protocol):
    """The parts of the window that features work with."""

    bar: ToolBar
    side: SidePanel
    left: Region
    drops: DropTarget

    def action(self, action_id: str, /) -> QAction: ...

    page_shown: SignalInstance

    def show_page(self, page: str, bar: QWidget | None = None) -> None: ...


class Panel(NamedTuple, Generic[W]):
    """A panel of a feature. ``make`` creates it and adds it to the window; ``page`` is its tab in the side panel."""

    make: Callable[[Panels], W]
    page: str = ""


class Panels:
    """The panels of one window, created in the order of the rows. A panel may use earlier ones."""

    def __init__(self, regions: Regions, workspace: Workspace) -> None:
        self.regions = regions
        self.workspace = workspace
        self._created: dict[Panel[Any], object] = {}
        for feature in FEATURES:
            for panel in feature.panels:
                self._created[panel] = panel.make(self)

    def of(self, panel: Panel[W]) -> W:
        """Return the widget of ``panel``."""
        return cast("W", self._created[panel])


def _nothing(_control: object) -> None:
    return


def _no_entries(_control: object) -> Sequence[Entry]:
    return ()


class Feature(NamedTuple, Generic[C]):
    """``shown`` is called when another session is shown, ``changed`` then and when a setting changes.

    ``entries`` are in the command palette with the actions.
    """

    make: Callable[[Features], C]
    actions: tuple[Action[C], ...] = ()
    shown: Callable[[C], object] = _nothing
    changed: Callable[[C], object] = _nothing
    entries: Callable[[C], Sequence[Entry]] = _no_entries
    panels: tuple[Panel[Any], ...] = ()


class Features:
    """The controls of one window, created in the order of the rows. A control may use earlier ones."""

    def __init__(self, host: Host, panels: Panels, preset_store: Callable[[], PresetStore]) -> None:
        self.host = host
        self.regions = panels.regions
        self.panel = panels.of
        self.preset_store = preset_store
        self._created: dict[Feature[Any], object] = {}
        for feature in FEATURES:
            self._created[feature] = feature.make(self)

    def of(self, feature: Feature[C]) -> C:
        """Return the control of ``feature``."""
        return cast("C", self._created[feature])


# Panels


def _preset_bar(panels: Panels) -> PresetBar:
    panel = PresetBar()
    panels.regions.side.fill(
        parameters.PAGE, stacked(panel, panels.of(PARAMETER_PANEL), inside=panels.regions.side.pages)
    )
    return panel


def _experiments_panel(panels: Panels) -> ExperimentsPanel:
    panel = ExperimentsPanel(panels.regions.left)
    panel.set_opening(not panels.workspace.listed)
    panels.regions.left.fill(panel)
    return panel


def _responses(panels: Panels) -> ResponseDefaults:
    panel = ResponseDefaults()
    panels.of(TOOLS_PANEL).add_below(panel)
    return panel


def _tools_panel(panels: Panels) -> ToolsPanel:
    panel = ToolsPanel(panels.regions.side.pages)
    panels.regions.side.fill(tools.PAGE, panel)
    return panel


def _output_panel(panels: Panels) -> OutputPanel:
    panel = OutputPanel(panels.regions.side.pages)
    panels.regions.side.fill(output.PAGE, panel)
    return panel


def _extra_fields_panel(panels: Panels) -> ExtraFieldsPanel:
    panel = ExtraFieldsPanel()
    panels.of(PARAMETER_PANEL).add_section(extra_fields.TITLE, panel)
    return panel


PARAMETER_PANEL: Final = Panel(
    lambda panels: ParameterPanel(
        panels.regions.side, kind=type(panels.workspace.current.settings.current), without=("Output",)
    )
)
PRESET_BAR: Final = Panel(_preset_bar, parameters.PAGE)
EXPERIMENTS_PANEL: Final = Panel(_experiments_panel)
RESPONSES: Final = Panel(_responses)
TOOLS_PANEL: Final = Panel(_tools_panel, tools.PAGE)
OUTPUT_PANEL: Final = Panel(_output_panel, output.PAGE)
EXTRA_FIELDS_PANEL: Final = Panel(_extra_fields_panel)


# Controls


def _gateway_check(features: Features) -> CheckControl:
    control = CheckControl(features.host, features.of(GATEWAYS).keep_rules)
    features.of(GATEWAYS).check_asked.connect(control.open_for)
    features.regions.bar.check_asked.connect(control.open_current)
    return control


def _extra_fields(features: Features) -> ExtraFieldsControl:
    panel, form = features.panel(EXTRA_FIELDS_PANEL), features.panel(PARAMETER_PANEL)
    panel.settings_asked.connect(features.of(GATEWAYS).open_settings)

    def show() -> None:
        features.host.show_side(parameters.PAGE)
        form.show_section(extra_fields.TITLE, panel.body.editor)

    return ExtraFieldsControl(features.host.workspace, panel, show, form.section(extra_fields.TITLE).set_count)


def _tools(features: Features) -> ToolsControl:
    show, show_count = (
        partial(features.host.show_side, tools.PAGE),
        partial(features.regions.side.set_count, tools.PAGE),
    )
    servers = features.of(TOOL_SERVERS)
    ways = ServerWays(servers.start, servers.open_servers, servers.open_server)
    features.of(DEBUGGER).show_rules_in(features.panel(TOOLS_PANEL).editor.rule)
    return ToolsControl(
        features.host, features.panel(TOOLS_PANEL), show, features.of(DEBUGGER).tools_edited, show_count, ways
    )


def _code(features: Features) -> CodeControl:
    gateways = features.of(GATEWAYS)
    return CodeControl(features.host, gateways.set_up_imported, gateways.store_imported, gateways.show_rules)


def _debugger(features: Features) -> DebugControl:
    show_lanes = partial(features.of(COMPARE).show, True)
    return DebugControl(features.host, features.panel(RESPONSES), show_lanes)


def _files(features: Features) -> FileControl:
    control = FileControl(features.host, features.regions.drops, features.of(CASSETTES).open_file)
    features.regions.action(files.RECENT.id).setMenu(control.recent.menu)
    return control


def _first_start(features: Features) -> FirstStartControl:
    evaluation = features.of(EVALUATE)
    return FirstStartControl(features.host, features.of(WIRE).open_timeline, evaluation.show, evaluation.run)


def _protocols(features: Features) -> ProtocolControl:
    control = ProtocolControl(
        features.host, features.regions.bar.show_protocol, features.of(GATEWAYS).protocol_switched
    )
    features.regions.bar.protocol_chosen.connect(control.choose)
    return control


def _compare(features: Features) -> CompareControl:
    bar, gateways, presets = features.regions.bar, features.of(GATEWAYS), features.of(PRESETS)
    around = CompareAround(
        show=_page_switch(features, compare.TITLE),
        pick_with=gateways.pick_with,
        load_models=gateways.load_models,
        menus=(bar.gateways, bar.protocols),
        presets=lambda: presets.store.presets,
        save_preset=presets.save,
        show_settings=partial(features.host.show_side, parameters.PAGE),
    )
    return CompareControl(features.host, around)


def _page_switch(features: Features, page: str) -> Callable[[QWidget | None], None]:
    """Return a function that shows ``page`` with a given bar, or the conversation without one."""
    return lambda bar: features.regions.show_page(page if bar is not None else centre.CONVERSATION, bar)


def _evaluate(features: Features) -> EvaluateControl:
    lanes, gateways, presets = features.of(COMPARE), features.of(GATEWAYS), features.of(PRESETS)
    around = EvaluateAround(
        show=_page_switch(features, evaluate.TITLE),
        leave_lanes=lanes.leave,
        show_lanes=partial(lanes.show, True),
        load_models=gateways.load_models,
        presets=lambda: presets.store.presets,
        stoppable=features.regions.action(conversation.STOP.id).setEnabled,
        keep_rules=gateways.keep_rules,
    )
    control = EvaluateControl(features.host, around)
    features.regions.page_shown.connect(lambda page: control.leave() if page != evaluate.TITLE else None)

    def choose(index: int) -> None:
        page = centre.PAGES[index]
        if page == compare.TITLE:
            lanes.show(True)
        elif page == evaluate.TITLE:
            control.show(True)
        else:
            control.show(False)
            lanes.show(False)

    features.regions.bar.page_chosen.connect(choose)
    return control


GATEWAYS: Final = Feature(
    lambda features: GatewayControl(features.host, features.regions.bar.model),
    gateways.ACTIONS,
    changed=lambda it: it.show_models(),
    entries=lambda it: it.entries(),
)
GATEWAY_CHECK: Final = Feature(_gateway_check, gateway_check.ACTIONS)
TOOL_SERVERS: Final = Feature(lambda features: ToolServersControl(features.host), tool_servers.ACTIONS)
CONVERSATION: Final = Feature(lambda features: features.host.pane, conversation.ACTIONS)
COMPARE: Final = Feature(_compare, compare.ACTIONS, shown=lambda it: it.show_session())
EVALUATE: Final = Feature(_evaluate, evaluate.ACTIONS, shown=lambda it: it.show_session())
OUTPUT: Final = Feature(
    lambda features: OutputControl(
        features.host.workspace, features.panel(OUTPUT_PANEL), partial(features.host.show_side, output.PAGE)
    ),
    output.ACTIONS,
    changed=lambda it: it.show_session(),
    panels=(OUTPUT_PANEL,),
)
EXTRA_FIELDS: Final = Feature(
    _extra_fields,
    extra_fields.ACTIONS,
    changed=lambda it: it.show_session(),
    panels=(EXTRA_FIELDS_PANEL,),
)
PARAMETERS: Final = Feature(
    lambda features: ParametersControl(
        features.host, features.panel(PARAMETER_PANEL), partial(features.host.show_side, parameters.PAGE)
    ),
    parameters.ACTIONS,
    changed=lambda it: it.show_session(),
    panels=(PARAMETER_PANEL,),
)
OFFERED: Final = Feature(
    lambda features: OfferedControl(features.host), offered.ACTIONS, entries=lambda it: it.entries()
)
SERVER_ASKS: Final = Feature(lambda features: AsksControl(features.host), server_asks.ACTIONS)
SERVER_TAPE: Final = Feature(lambda features: TapeControl(features.host), server_tape.ACTIONS)
TOOLS: Final = Feature(
    _tools,
    tools.ACTIONS,
    changed=lambda it: it.show_session(),
    panels=(TOOLS_PANEL, RESPONSES),
)
CODE: Final = Feature(_code, code.ACTIONS, changed=lambda it: it.show_session())
DEBUGGER: Final = Feature(_debugger, debugger.ACTIONS, changed=lambda it: it.show_session())
WIRE: Final = Feature(lambda features: WireControl(features.host), wire.ACTIONS)
CASSETTES: Final = Feature(
    lambda features: CassetteControl(features.host), cassettes.ACTIONS, changed=lambda it: it.show_session()
)
FILES: Final = Feature(_files, files.ACTIONS)
PRESETS: Final = Feature(
    lambda features: PresetControl(features.host, features.panel(PRESET_BAR), features.preset_store),
    presets.ACTIONS,
    entries=lambda it: it.entries(),
    panels=(PRESET_BAR,),
)
VARIABLES: Final = Feature(
    lambda features: VariablesControl(features.host), variables.ACTIONS, changed=lambda it: it.show_session()
)
EXPERIMENTS: Final = Feature(
    lambda features: ExperimentsControl(features.host, features.panel(EXPERIMENTS_PANEL)),
    experiments.ACTIONS,
    panels=(EXPERIMENTS_PANEL,),
)
TREE: Final = Feature(lambda features: TreeControl(features.host), tree.ACTIONS, shown=lambda it: it.show_session())
STORAGE: Final = Feature(
    lambda features: StorageControl(features.host), storage.ACTIONS, shown=lambda it: it.corrupt_rows.show_session()
)
FIRST_START: Final = Feature(_first_start, first_start.ACTIONS, shown=lambda it: it.show_session())
HELP: Final = Feature(lambda features: HelpControl(features.host, ACTIONS), help.ACTIONS)
PROTOCOLS: Final = Feature(
    _protocols,
    protocols.ACTIONS,
    shown=lambda it: it.follow_session(),
    changed=lambda it: it.show_session(),
)

#: The later the row, the higher its bar above the message field, and the further right its page of the inspector.
FEATURES: Final[tuple[Feature[Any], ...]] = (
    GATEWAYS,
    GATEWAY_CHECK,
    TOOL_SERVERS,
    CONVERSATION,
    PARAMETERS,
    PRESETS,
    COMPARE,
    EVALUATE,
    EXPERIMENTS,
    CODE,
    DEBUGGER,
    SERVER_ASKS,
    SERVER_TAPE,
    OFFERED,
    TOOLS,
    OUTPUT,
    EXTRA_FIELDS,
    WIRE,
    CASSETTES,
    FILES,
    VARIABLES,
    TREE,
    STORAGE,
    FIRST_START,
    HELP,
    PROTOCOLS,
)
