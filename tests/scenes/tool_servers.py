"""Scenes of tool servers' tools in the panel: groups with a dot, a definition that is read, what changed."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit

from playground.domain.tool_servers import Hints, ServerTool, ToolServer
from playground.domain.tools import ToolDefinition
from playground.engine.tool_servers.tools import by_name, definition_of, sent_names
from playground.jsonkit.values import JSONObject
from playground.ui.features.tools.standings import Seen, Standings
from tests.scenes.registry import scene
from tests.scenes.stage import Stage
from tests.scenes.tools import SAMPLE, offer

FILES = ToolServer(id="files", name="files")
LONG = ToolServer(id="long", name="The issue tracker of a company with a rather long name")
PATH: JSONObject = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "Below one of the folders it may see"}},
    "required": ["path"],
}
LISTED = (
    ServerTool(name="read_file", description="Reads a file as text.", parameters=PATH, hints=Hints(read_only=True)),
    ServerTool(
        name="search.files",
        title="Search",
        description="Finds files by what is in them.",
        parameters={
            "type": "object",
            "properties": {
                "words": {"type": "string", "description": "All of them have to be there"},
                "most": {"type": "integer", "default": 20},
            },
        },
        hints=Hints(read_only=True, idempotent=True, open_world=False),
    ),
    ServerTool(name="write_file", description="Writes a file.", parameters=PATH, hints=Hints(destructive=True)),
    ServerTool(name="get_weather", description="What the sky is like above a file's server.", parameters=PATH),
)
ISSUES = (
    ServerTool(name="list_issues", description="Issues, newest first.", parameters=PATH, hints=Hints(read_only=True)),
    ServerTool(name="close_issue", description="Closes an issue for good.", hints=Hints(destructive=True)),
)


def definitions(
    server: ToolServer, *tools: ServerTool, own: tuple[ToolDefinition, ...] = ()
) -> tuple[ToolDefinition, ...]:
    """A server's tools in an experiment."""
    names = sent_names(server, [tool.name for tool in tools], [tool.name for tool in own])
    return tuple(definition_of(server, tool, names[tool.name]) for tool in tools)


async def show(stage: Stage, *servers: Seen) -> None:
    """Show servers in the panel, after it was shown that there are none."""
    await stage.until(lambda: stage.app.actions.features.tools.servers.standings.counts != {}, "what is so")
    await stage.settle()
    standings = Standings()
    standings.put(servers)
    tools = stage.window.panels.tools
    standings.sweep(tools.tools)
    tools.show_standings(standings)


def seen(server: ToolServer, *listed: ServerTool, state: str = "ready", problem: str = "") -> Seen:
    """A server whose tools were accepted as they are in these scenes."""
    accepted = by_name((*LISTED, *ISSUES))
    return Seen(server.name, server.id, state, problem, by_name(listed), accepted, tool_count=len(listed))


@scene()
async def server_tools_groups(stage: Stage) -> None:
    """Two servers, one of which failed, beside a tool of one's own; a name that is sent as another."""
    offer(stage, SAMPLE, *definitions(FILES, *LISTED, own=(SAMPLE,)), *definitions(LONG, *ISSUES))
    await show(
        stage,
        seen(FILES, *LISTED),
        seen(LONG, *ISSUES, state="failed", problem="It ended with code 1: no such module “issues”."),
    )
    stage.window.panels.tools.select(2)
    await stage.settle()


@scene()
async def servers_dialog(stage: Stage) -> None:
    """The settings of tool servers, one of them changed and not saved."""
    book = stage.app.workspace.tool_servers.book
    book.add(ToolServer(id="files", name="Files", command="npx", arguments=("-y", "@example/files", "/srv")))
    stage.act("tools.servers")
    dialog = await stage.dialog("Tool servers")
    stage.select("Tool servers", "Files", dialog)
    stage.find(QLineEdit, "Command", dialog).setText("bunx")
