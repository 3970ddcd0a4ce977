"""The features of the window: a row each. A new one is a folder and a row here.

Read on the way to the first paint, for the actions in the rows; what works is loaded when a row is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Protocol, TypeVar, cast

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
from playground.ui.features.action import MENUS, Action
from playground.ui.shell import centre
from playground.ui.shell.actions import OWN
from playground.ui.shell.regions import stacked

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QWidget

    from playground.engine.files.presets import PresetStore
    from playground.engine.library.workspace import Workspace
    from playground.engine.session.session import Session
    from playground.ui.features.cassettes.control import CassetteControl
    from playground.ui.features.code.control import CodeControl
    from playground.ui.features.compare.control import CompareControl
    from playground.ui.features.conversation.pane import ConversationPane
    from playground.ui.features.debugger.control import DebugControl
    from playground.ui.features.debugger.default_rule import DefaultRuleFields
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
    from playground.ui.features.tree.control import TreeControl
    from playground.ui.features.variables.control import VariablesControl
    from playground.ui.features.wire.control import WireControl
    from playground.ui.shell.regions import Region
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
    """What a feature has in the window. ``make`` puts it where it belongs, under the tab ``page`` of the side panel if
    it has one.

    It is there from the beginning, or, if it is ``late``, from when it is first asked for or its tab looked at.
    """

    make: Callable[[Panels], W]
    page: str = ""
    late: bool = False


class Panels:
    """Those of one window. A panel may use what was made before it. ``came`` is called with one that came late."""

    def __init__(self, regions: Regions, workspace: Workspace) -> None:
        self.regions = regions
        self.workspace = workspace
        self.came: Callable[[Panel[Any]], object] = _nothing
        self._made: dict[Panel[Any], object] = {}

    def make_all(self) -> Iterator[None]:
        """Make them in the order of the rows, with pauses in which the window can do other things."""
        side = self.regions.side
        side.blank_shown.connect(self._fill)
        for feature in FEATURES:
            for panel in feature.panels:
                if not panel.late or panel.page == side.front:
                    self.of(panel)
                    yield

    def of(self, panel: Panel[W]) -> W:
        """The panel itself."""
        if panel not in self._made:
            self._made[panel] = panel.make(self)
            if panel.late:
                self.came(panel)
        return cast("W", self._made[panel])

    def has(self, panel: Panel[Any]) -> bool:
        """Whether it has been made."""
        return panel in self._made

    def _fill(self, page: str) -> None:
        for feature in FEATURES:
            for panel in feature.panels:
                if panel.page == page:
                    self.of(panel)


def _nothing(_control: object) -> None:
    return


def _no_entries(_control: object) -> Sequence[Entry]:
    return ()


def _never(_session: Session) -> bool:
    return False


class Feature(NamedTuple, Generic[C]):
    """``shown``: another session is looked at. ``changed``: so it is, or something is set differently.

    ``entries`` are in the command palette beside the actions. One with a late panel is made with that; or soon, for
    an experiment that ``wants`` it: what it does there is done whether or not somebody looks.
    """

    make: Callable[[Features], C]
    actions: tuple[Action[C], ...] = ()
    shown: Callable[[C], object] = _nothing
    changed: Callable[[C], object] = _nothing
    entries: Callable[[C], Sequence[Entry]] = _no_entries
    panels: tuple[Panel[Any], ...] = ()
    wants: Callable[[Session], bool] = _never


class Features:
    """Those of one window, made in the order of the rows, but for late ones. A row may use what was made before it."""

    def __init__(self, host: Host, panels: Panels, preset_store: Callable[[], PresetStore]) -> None:
        self.host = host
        self.regions = panels.regions
        self.panel = panels.of
        self.preset_store = preset_store
        self._made: dict[Feature[Any], object] = {}
        for feature in FEATURES:
            if all(map(panels.has, feature.panels)):
                self._made[feature] = feature.make(self)
        panels.came = self._came

    def _came(self, panel: Panel[Any]) -> None:
        feature = next(feature for feature in FEATURES if panel in feature.panels)
        self._made[feature] = made = feature.make(self)
        feature.changed(made)

    def of(self, feature: Feature[C]) -> C:
        """What controls it."""
        if feature not in self._made:
            for panel in feature.panels:
                self.panel(panel)
        return cast("C", self._made[feature])

    def at_work(self, *among: Feature[Any]) -> Iterator[tuple[Feature[Any], Any]]:
        """Those of them that there are, and what controls each."""
        for feature in among:
            if feature in self._made:
                yield feature, self.of(feature)

    def make_wanted(self) -> Iterator[None]:
        """Make those that the experiment looked at wants, a step each."""
        for feature in FEATURES:
            if feature not in self._made and feature.wants(self.host.session):
                self.of(feature)
                yield


# What stands in the window


def _parameter_panel(of: Panels) -> ParameterPanel:
    from playground.ui.features.parameters.panel import ParameterPanel

    return ParameterPanel(of.regions.side, kind=type(of.workspace.current.settings.current), without=("Output",))


def _preset_bar(of: Panels) -> PresetBar:
    from playground.ui.features.presets.preset_bar import PresetBar

    made = PresetBar()
    of.regions.side.fill(parameters.PAGE, stacked(made, of.of(PARAMETER_PANEL), inside=of.regions.side.pages))
    return made


def _experiments_panel(of: Panels) -> ExperimentsPanel:
    from playground.ui.features.experiments.panel import ExperimentsPanel

    made = ExperimentsPanel(of.regions.left)
    made.set_opening(not of.workspace.listed)
    of.regions.left.fill(made)
    return made


def _default_rule(of: Panels) -> DefaultRuleFields:
    from playground.ui.features.debugger.default_rule import DefaultRuleFields

    among = of.of(PARAMETER_PANEL)
    made = DefaultRuleFields(among)
    among.add_extra("Tools", "On a tool call", made.policy)
    among.add_extra("Tools", "Rules by tool", made.rules)
    among.add_extra("Tools", "Step limit", made.limit)
    return made


def _tools_panel(of: Panels) -> ToolsPanel:
    from playground.ui.features.tools.panel import ToolsPanel

    made = ToolsPanel(of.regions.side.pages)
    of.regions.side.fill(tools.PAGE, made)
    return made


def _output_panel(of: Panels) -> OutputPanel:
    from playground.ui.features.output.panel import OutputPanel

    made = OutputPanel(of.regions.side.pages)
    of.regions.side.fill(output.PAGE, made)
    return made


def _raw_panel(of: Panels) -> RawPanel:
    from playground.ui.features.raw.panel import RawPanel

    made = RawPanel(of.regions.side.pages)
    of.regions.side.fill(raw.PAGE, made)
    return made


def _reasoning_return(of: Panels) -> ReasoningReturnFields:
    from playground.ui.features.raw.reasoning_return import ReasoningReturnFields

    among = of.of(PARAMETER_PANEL)
    made = ReasoningReturnFields(among)
    among.add_extra("Reasoning", "Send reasoning back", made.when)
    among.add_extra("Reasoning", "Under the name", made.field)
    return made


PARAMETER_PANEL: Final = Panel(_parameter_panel)
PRESET_BAR: Final = Panel(_preset_bar, parameters.PAGE)
EXPERIMENTS_PANEL: Final = Panel(_experiments_panel)
DEFAULT_RULE: Final = Panel(_default_rule)
TOOLS_PANEL: Final = Panel(_tools_panel, tools.PAGE, late=True)
OUTPUT_PANEL: Final = Panel(_output_panel, output.PAGE, late=True)
RAW_PANEL: Final = Panel(_raw_panel, raw.PAGE, late=True)
REASONING_RETURN: Final = Panel(_reasoning_return)


# What controls it


def _gateways(of: Features) -> GatewayControl:
    from playground.ui.features.gateways.control import GatewayControl

    return GatewayControl(of.host, of.regions.bar.model)


def _gateway_check(of: Features) -> CheckControl:
    from playground.ui.features.gateway_check.control import CheckControl

    made = CheckControl(of.host, of.of(GATEWAYS).keep_rules)
    of.of(GATEWAYS).check_asked.connect(made.open_for)
    of.regions.bar.check_asked.connect(made.open_current)
    return made


def _tool_servers(of: Features) -> ToolServersControl:
    from playground.ui.features.tool_servers.control import ToolServersControl

    return ToolServersControl(of.host)


def _output(of: Features) -> OutputControl:
    from playground.ui.features.output.control import OutputControl

    return OutputControl(of.host.workspace, of.panel(OUTPUT_PANEL), partial(of.host.show_side, output.PAGE))


def _raw(of: Features) -> RawControl:
    from playground.ui.features.raw.control import RawControl

    show, show_count = partial(of.host.show_side, raw.PAGE), partial(of.regions.side.set_count, raw.PAGE)
    of.panel(RAW_PANEL).settings_asked.connect(of.of(GATEWAYS).open_settings)
    return RawControl(of.host.workspace, of.panel(RAW_PANEL), show, show_count)


def _reasoning(of: Features) -> ReasoningControl:
    from playground.ui.features.raw.reasoning_control import ReasoningControl

    return ReasoningControl(of.host.workspace, of.panel(REASONING_RETURN))


def _parameters(of: Features) -> ParametersControl:
    from playground.ui.features.parameters.control import ParametersControl

    return ParametersControl(of.host.workspace, of.panel(PARAMETER_PANEL), partial(of.host.show_side, parameters.PAGE))


def _offered(of: Features) -> OfferedControl:
    from playground.ui.features.offered.control import OfferedControl

    return OfferedControl(of.host)


def _server_asks(of: Features) -> AsksControl:
    from playground.ui.features.server_asks.control import AsksControl

    return AsksControl(of.host)


def _server_tape(of: Features) -> TapeControl:
    from playground.ui.features.server_tape.control import TapeControl

    return TapeControl(of.host)


def _tools(of: Features) -> ToolsControl:
    from playground.ui.features.tools.control import ToolsControl
    from playground.ui.features.tools.server_tools import ServerWays

    show, show_count = partial(of.host.show_side, tools.PAGE), partial(of.regions.side.set_count, tools.PAGE)
    servers = of.of(TOOL_SERVERS)
    ways = ServerWays(servers.start, servers.open_servers, servers.open_server)
    of.of(DEBUGGER).show_rules_in(of.panel(TOOLS_PANEL).editor.rule)
    return ToolsControl(of.host, of.panel(TOOLS_PANEL), show, of.of(DEBUGGER).tools_edited, show_count, ways)


def _code(of: Features) -> CodeControl:
    from playground.ui.features.code.control import CodeControl

    gateways = of.of(GATEWAYS)
    return CodeControl(of.host, gateways.set_up_imported, gateways.store_imported, gateways.show_rules)


def _debugger(of: Features) -> DebugControl:
    from playground.ui.features.debugger.control import DebugControl

    show_lanes = partial(of.of(COMPARE).show, True)
    return DebugControl(of.host, of.panel(DEFAULT_RULE), show_lanes)


def _wire(of: Features) -> WireControl:
    from playground.ui.features.wire.control import WireControl

    return WireControl(of.host)


def _cassettes(of: Features) -> CassetteControl:
    from playground.ui.features.cassettes.control import CassetteControl

    return CassetteControl(of.host)


def _files(of: Features) -> FileControl:
    from playground.ui.features.files.control import FileControl

    made = FileControl(of.host, of.regions.drops, of.of(CASSETTES).open_file)
    of.regions.action(files.RECENT.id).setMenu(made.recent.menu)
    return made


def _presets(of: Features) -> PresetControl:
    from playground.ui.features.presets.control import PresetControl

    return PresetControl(of.host, of.panel(PRESET_BAR), of.preset_store)


def _variables(of: Features) -> VariablesControl:
    from playground.ui.features.variables.control import VariablesControl

    return VariablesControl(of.host)


def _experiments(of: Features) -> ExperimentsControl:
    from playground.ui.features.experiments.control import ExperimentsControl

    return ExperimentsControl(of.host, of.panel(EXPERIMENTS_PANEL))


def _tree(of: Features) -> TreeControl:
    from playground.ui.features.tree.control import TreeControl

    return TreeControl(of.host)


def _storage(of: Features) -> StorageControl:
    from playground.ui.features.storage.control import StorageControl

    return StorageControl(of.host)


def _first_start(of: Features) -> FirstStartControl:
    from playground.ui.features.first_start.control import FirstStartControl

    evaluation = of.of(EVALUATE)
    return FirstStartControl(of.host, of.of(WIRE).open_timeline, evaluation.show, evaluation.run)


def _help(of: Features) -> HelpControl:
    from playground.ui.features.help.control import HelpControl

    return HelpControl(of.host, ACTIONS)


def _protocols(of: Features) -> ProtocolControl:
    from playground.ui.features.protocols.control import ProtocolControl

    made = ProtocolControl(of.host, of.regions.bar.show_protocol, of.of(GATEWAYS).protocol_switched)
    of.regions.bar.protocol_chosen.connect(made.choose)
    return made


def _compare(of: Features) -> CompareControl:
    from playground.ui.features.compare.control import Around, CompareControl

    bar, gateways, presets = of.regions.bar, of.of(GATEWAYS), of.of(PRESETS)
    around = Around(
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
    from playground.ui.features.evaluate.control import Around, EvaluateControl

    lanes, gateways, presets = of.of(COMPARE), of.of(GATEWAYS), of.of(PRESETS)
    around = Around(
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


def _conversation(of: Features) -> ConversationPane:
    return of.host.pane


GATEWAYS: Final = Feature(
    _gateways, gateways.ACTIONS, changed=lambda it: it.show_models(), entries=lambda it: it.entries()
)
GATEWAY_CHECK: Final = Feature(_gateway_check, gateway_check.ACTIONS)
TOOL_SERVERS: Final = Feature(_tool_servers, tool_servers.ACTIONS)
CONVERSATION: Final = Feature(_conversation, conversation.ACTIONS)
COMPARE: Final = Feature(_compare, compare.ACTIONS, shown=lambda it: it.show_session())
EVALUATE: Final = Feature(_evaluate, evaluate.ACTIONS, shown=lambda it: it.show_session())
OUTPUT: Final = Feature(_output, output.ACTIONS, changed=lambda it: it.show_session(), panels=(OUTPUT_PANEL,))
RAW: Final = Feature(
    _raw,
    raw.ACTIONS,
    changed=lambda it: it.show_session(),
    panels=(RAW_PANEL,),
    wants=lambda session: bool(session.settings.extra_body or session.settings.extra_headers),
)
REASONING: Final = Feature(_reasoning, changed=lambda it: it.show_session(), panels=(REASONING_RETURN,))
PARAMETERS: Final = Feature(
    _parameters, parameters.ACTIONS, changed=lambda it: it.show_session(), panels=(PARAMETER_PANEL,)
)
OFFERED: Final = Feature(_offered, offered.ACTIONS, entries=lambda it: it.entries())
SERVER_ASKS: Final = Feature(_server_asks, server_asks.ACTIONS)
SERVER_TAPE: Final = Feature(_server_tape, server_tape.ACTIONS)
TOOLS: Final = Feature(
    _tools,
    tools.ACTIONS,
    changed=lambda it: it.show_session(),
    panels=(TOOLS_PANEL,),
    wants=lambda session: bool(session.settings.tools),
)
CODE: Final = Feature(_code, code.ACTIONS, changed=lambda it: it.show_session())
DEBUGGER: Final = Feature(_debugger, debugger.ACTIONS, changed=lambda it: it.show_session(), panels=(DEFAULT_RULE,))
WIRE: Final = Feature(_wire, wire.ACTIONS)
CASSETTES: Final = Feature(_cassettes, cassettes.ACTIONS, changed=lambda it: it.show_session())
FILES: Final = Feature(_files, files.ACTIONS)
PRESETS: Final = Feature(_presets, presets.ACTIONS, entries=lambda it: it.entries(), panels=(PRESET_BAR,))
VARIABLES: Final = Feature(_variables, variables.ACTIONS, changed=lambda it: it.show_session())
EXPERIMENTS: Final = Feature(_experiments, experiments.ACTIONS, panels=(EXPERIMENTS_PANEL,))
TREE: Final = Feature(_tree, tree.ACTIONS, shown=lambda it: it.show_session())
STORAGE: Final = Feature(_storage, storage.ACTIONS, shown=lambda it: it.corrupt_rows.show_session())
FIRST_START: Final = Feature(_first_start, first_start.ACTIONS, shown=lambda it: it.show_session())
HELP: Final = Feature(_help, help.ACTIONS)
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

#: The tabs of the side panel.
PAGES: Final = tuple(panel.page for feature in FEATURES for panel in feature.panels if panel.page)


def _place(action: Action[Any]) -> tuple[int, int]:
    return MENUS.index(action.menu), action.at


#: All there are, as they stand in the menus.
ACTIONS: Final[tuple[Action[Any], ...]] = tuple(
    sorted((*OWN, *(action for feature in FEATURES for action in feature.actions)), key=_place)
)
