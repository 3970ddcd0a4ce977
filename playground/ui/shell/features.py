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
    raw,
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
from playground.ui.features.debugger.default_rule import DefaultRuleFields
from playground.ui.features.evaluate.control import Around as EvaluateAround
from playground.ui.features.evaluate.control import EvaluateControl
from playground.ui.features.experiments.control import ExperimentsControl
from playground.ui.features.experiments.panel import ExperimentsPanel
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
from playground.ui.features.presets.control import PresetControl
from playground.ui.features.presets.preset_bar import PresetBar
from playground.ui.features.protocols.control import ProtocolControl
from playground.ui.features.raw.control import RawControl
from playground.ui.features.raw.panel import RawPanel
from playground.ui.features.raw.reasoning_control import ReasoningControl
from playground.ui.features.raw.reasoning_return import ReasoningReturnFields
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
    """What stands in the window for features to work with."""

    bar: ToolBar
    side: SidePanel
    left: Region
    drops: DropTarget

    def action(self, action_id: str, /) -> QAction: ...

    page_shown: SignalInstance

    def show_page(self, page: str, bar: QWidget | None = None) -> None: ...


class Panel(NamedTuple, Generic[W]):
    """A panel of a feature. ``make`` puts it into its place: under the tab ``page`` of the side panel if it has one."""

    make: Callable[[Panels], W]
    page: str = ""


class Panels:
    """The panels of one window, made in the order of the rows. A panel may use those made before it."""

    def __init__(self, regions: Regions, workspace: Workspace) -> None:
        self.regions = regions
        self.workspace = workspace
        self._made: dict[Panel[Any], object] = {}
        for feature in FEATURES:
            for panel in feature.panels:
                self._made[panel] = panel.make(self)

    def of(self, panel: Panel[W]) -> W:
        """The panel itself."""
        return cast("W", self._made[panel])


def _nothing(_control: object) -> None:
    return


def _no_entries(_control: object) -> Sequence[Entry]:
    return ()


class Feature(NamedTuple, Generic[C]):
    """``shown``: another session is looked at. ``changed``: so it is, or something is set differently.

    ``entries`` are in the command palette beside the actions.
    """

    make: Callable[[Features], C]
    actions: tuple[Action[C], ...] = ()
    shown: Callable[[C], object] = _nothing
    changed: Callable[[C], object] = _nothing
    entries: Callable[[C], Sequence[Entry]] = _no_entries
    panels: tuple[Panel[Any], ...] = ()


class Features:
    """The controls of one window, made in the order of the rows. A control may use those made before it."""

    def __init__(self, host: Host, panels: Panels, preset_store: Callable[[], PresetStore]) -> None:
        self.host = host
        self.regions = panels.regions
        self.panel = panels.of
        self.preset_store = preset_store
        self._made: dict[Feature[Any], object] = {}
        for feature in FEATURES:
            self._made[feature] = feature.make(self)

    def of(self, feature: Feature[C]) -> C:
        """The control of a feature."""
        return cast("C", self._made[feature])


# What stands in the window


def _preset_bar(of: Panels) -> PresetBar:
    made = PresetBar()
    of.regions.side.fill(parameters.PAGE, stacked(made, of.of(PARAMETER_PANEL), inside=of.regions.side.pages))
    return made


def _experiments_panel(of: Panels) -> ExperimentsPanel:
    made = ExperimentsPanel(of.regions.left)
    made.set_opening(not of.workspace.listed)
    of.regions.left.fill(made)
    return made


def _default_rule(of: Panels) -> DefaultRuleFields:
    among = of.of(PARAMETER_PANEL)
    made = DefaultRuleFields(among)
    among.add_extra("Tools", "On a tool call", made.policy)
    among.add_extra("Tools", "Rules by tool", made.rules)
    among.add_extra("Tools", "Step limit", made.limit)
    return made


def _tools_panel(of: Panels) -> ToolsPanel:
    made = ToolsPanel(of.regions.side.pages)
    of.regions.side.fill(tools.PAGE, made)
    return made


def _output_panel(of: Panels) -> OutputPanel:
    made = OutputPanel(of.regions.side.pages)
    of.regions.side.fill(output.PAGE, made)
    return made


def _raw_panel(of: Panels) -> RawPanel:
    made = RawPanel(of.regions.side.pages)
    of.regions.side.fill(raw.PAGE, made)
    return made


def _reasoning_return(of: Panels) -> ReasoningReturnFields:
    among = of.of(PARAMETER_PANEL)
    made = ReasoningReturnFields(among)
    among.add_extra("Reasoning", "Send reasoning back", made.when)
    among.add_extra("Reasoning", "Under the name", made.field)
    return made


PARAMETER_PANEL: Final = Panel(
    lambda of: ParameterPanel(of.regions.side, kind=type(of.workspace.current.settings.current), without=("Output",))
)
PRESET_BAR: Final = Panel(_preset_bar, parameters.PAGE)
EXPERIMENTS_PANEL: Final = Panel(_experiments_panel)
DEFAULT_RULE: Final = Panel(_default_rule)
TOOLS_PANEL: Final = Panel(_tools_panel, tools.PAGE)
OUTPUT_PANEL: Final = Panel(_output_panel, output.PAGE)
RAW_PANEL: Final = Panel(_raw_panel, raw.PAGE)
REASONING_RETURN: Final = Panel(_reasoning_return)


# What controls it


def _gateway_check(of: Features) -> CheckControl:
    made = CheckControl(of.host, of.of(GATEWAYS).keep_rules)
    of.of(GATEWAYS).check_asked.connect(made.open_for)
    of.regions.bar.check_asked.connect(made.open_current)
    return made


def _raw(of: Features) -> RawControl:
    show, show_count = partial(of.host.show_side, raw.PAGE), partial(of.regions.side.set_count, raw.PAGE)
    of.panel(RAW_PANEL).settings_asked.connect(of.of(GATEWAYS).open_settings)
    return RawControl(of.host.workspace, of.panel(RAW_PANEL), show, show_count)


def _tools(of: Features) -> ToolsControl:
    show, show_count = partial(of.host.show_side, tools.PAGE), partial(of.regions.side.set_count, tools.PAGE)
    servers = of.of(TOOL_SERVERS)
    ways = ServerWays(servers.start, servers.open_servers, servers.open_server)
    of.of(DEBUGGER).show_rules_in(of.panel(TOOLS_PANEL).editor.rule)
    return ToolsControl(of.host, of.panel(TOOLS_PANEL), show, of.of(DEBUGGER).tools_edited, show_count, ways)


def _code(of: Features) -> CodeControl:
    gateways = of.of(GATEWAYS)
    return CodeControl(of.host, gateways.set_up_imported, gateways.store_imported, gateways.show_rules)


def _debugger(of: Features) -> DebugControl:
    show_lanes = partial(of.of(COMPARE).show, True)
    return DebugControl(of.host, of.panel(DEFAULT_RULE), show_lanes)


def _files(of: Features) -> FileControl:
    made = FileControl(of.host, of.regions.drops, of.of(CASSETTES).open_file)
    of.regions.action(files.RECENT.id).setMenu(made.recent.menu)
    return made


def _first_start(of: Features) -> FirstStartControl:
    evaluation = of.of(EVALUATE)
    return FirstStartControl(of.host, of.of(WIRE).open_timeline, evaluation.show, evaluation.run)


def _protocols(of: Features) -> ProtocolControl:
    made = ProtocolControl(of.host, of.regions.bar.show_protocol, of.of(GATEWAYS).protocol_switched)
    of.regions.bar.protocol_chosen.connect(made.choose)
    return made


def _compare(of: Features) -> CompareControl:
    bar, gateways, presets = of.regions.bar, of.of(GATEWAYS), of.of(PRESETS)
    around = CompareAround(
        show=_shown_as(of, compare.TITLE),
        pick_with=gateways.pick_with,
        load_models=gateways.load_models,
        menus=(bar.gateways, bar.protocols),
        presets=lambda: presets.store.presets,
        save_preset=presets.save,
        show_settings=partial(of.host.show_side, parameters.PAGE),
    )
    return CompareControl(of.host, around)


def _shown_as(of: Features, page: str) -> Callable[[QWidget | None], None]:
    """Shows that page with a bar of its own, or without one the conversation."""
    return lambda bar: of.regions.show_page(page if bar is not None else centre.CONVERSATION, bar)


def _evaluate(of: Features) -> EvaluateControl:
    lanes, gateways, presets = of.of(COMPARE), of.of(GATEWAYS), of.of(PRESETS)
    around = EvaluateAround(
        show=_shown_as(of, evaluate.TITLE),
        leave_lanes=lanes.leave,
        show_lanes=partial(lanes.show, True),
        load_models=gateways.load_models,
        presets=lambda: presets.store.presets,
        stoppable=of.regions.action(conversation.STOP.id).setEnabled,
        keep_rules=gateways.keep_rules,
    )
    made = EvaluateControl(of.host, around)
    of.regions.page_shown.connect(lambda page: made.leave() if page != evaluate.TITLE else None)

    def choose(index: int) -> None:
        page = centre.PAGES[index]
        if page == compare.TITLE:
            lanes.show(True)
        elif page == evaluate.TITLE:
            made.show(True)
        else:
            made.show(False)
            lanes.show(False)

    of.regions.bar.page_chosen.connect(choose)
    return made


GATEWAYS: Final = Feature(
    lambda of: GatewayControl(of.host, of.regions.bar.model),
    gateways.ACTIONS,
    changed=lambda it: it.show_models(),
    entries=lambda it: it.entries(),
)
GATEWAY_CHECK: Final = Feature(_gateway_check, gateway_check.ACTIONS)
TOOL_SERVERS: Final = Feature(lambda of: ToolServersControl(of.host), tool_servers.ACTIONS)
CONVERSATION: Final = Feature(lambda of: of.host.pane, conversation.ACTIONS)
COMPARE: Final = Feature(_compare, compare.ACTIONS, shown=lambda it: it.show_session())
EVALUATE: Final = Feature(_evaluate, evaluate.ACTIONS, shown=lambda it: it.show_session())
OUTPUT: Final = Feature(
    lambda of: OutputControl(of.host.workspace, of.panel(OUTPUT_PANEL), partial(of.host.show_side, output.PAGE)),
    output.ACTIONS,
    changed=lambda it: it.show_session(),
    panels=(OUTPUT_PANEL,),
)
RAW: Final = Feature(
    _raw,
    raw.ACTIONS,
    changed=lambda it: it.show_session(),
    panels=(RAW_PANEL,),
)
REASONING: Final = Feature(
    lambda of: ReasoningControl(of.host.workspace, of.panel(REASONING_RETURN)),
    changed=lambda it: it.show_session(),
    panels=(REASONING_RETURN,),
)
PARAMETERS: Final = Feature(
    lambda of: ParametersControl(
        of.host.workspace, of.panel(PARAMETER_PANEL), partial(of.host.show_side, parameters.PAGE)
    ),
    parameters.ACTIONS,
    changed=lambda it: it.show_session(),
    panels=(PARAMETER_PANEL,),
)
OFFERED: Final = Feature(lambda of: OfferedControl(of.host), offered.ACTIONS, entries=lambda it: it.entries())
SERVER_ASKS: Final = Feature(lambda of: AsksControl(of.host), server_asks.ACTIONS)
SERVER_TAPE: Final = Feature(lambda of: TapeControl(of.host), server_tape.ACTIONS)
TOOLS: Final = Feature(
    _tools,
    tools.ACTIONS,
    changed=lambda it: it.show_session(),
    panels=(TOOLS_PANEL,),
)
CODE: Final = Feature(_code, code.ACTIONS, changed=lambda it: it.show_session())
DEBUGGER: Final = Feature(_debugger, debugger.ACTIONS, changed=lambda it: it.show_session(), panels=(DEFAULT_RULE,))
WIRE: Final = Feature(lambda of: WireControl(of.host), wire.ACTIONS)
CASSETTES: Final = Feature(lambda of: CassetteControl(of.host), cassettes.ACTIONS, changed=lambda it: it.show_session())
FILES: Final = Feature(_files, files.ACTIONS)
PRESETS: Final = Feature(
    lambda of: PresetControl(of.host, of.panel(PRESET_BAR), of.preset_store),
    presets.ACTIONS,
    entries=lambda it: it.entries(),
    panels=(PRESET_BAR,),
)
VARIABLES: Final = Feature(
    lambda of: VariablesControl(of.host), variables.ACTIONS, changed=lambda it: it.show_session()
)
EXPERIMENTS: Final = Feature(
    lambda of: ExperimentsControl(of.host, of.panel(EXPERIMENTS_PANEL)),
    experiments.ACTIONS,
    panels=(EXPERIMENTS_PANEL,),
)
TREE: Final = Feature(lambda of: TreeControl(of.host), tree.ACTIONS, shown=lambda it: it.show_session())
STORAGE: Final = Feature(lambda of: StorageControl(of.host), storage.ACTIONS, shown=lambda it: it.unread.show_session())
FIRST_START: Final = Feature(_first_start, first_start.ACTIONS, shown=lambda it: it.show_session())
HELP: Final = Feature(lambda of: HelpControl(of.host, ACTIONS), help.ACTIONS)
PROTOCOLS: Final = Feature(
    _protocols,
    protocols.ACTIONS,
    shown=lambda it: it.follow_session(),
    changed=lambda it: it.show_session(),
)

#: Bars above the message field stand the higher, pages of the inspector and tabs of the side panel the further right,
#: the later their row.
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
    RAW,
    REASONING,
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
