"""Scenes of the dialog for tool servers: set up, confirmed, running, failed; imported; and what long names do to it."""

from __future__ import annotations

import sys

from playground.domain.tool_servers import ToolServer, Via
from playground.engine.tool_servers.events import State
from playground.ui.shell.features import TOOL_SERVERS
from playground.ui.widgets.loop import spawn
from tests.scenes.registry import scene
from tests.scenes.stage import Stage

FAILING = "import sys; print('Error: the token was refused', file=sys.stderr); sys.exit(3)"
PASTED = """{
  // from the project's page
  "inputs": [
    {"type": "promptString", "id": "tracker-token", "description": "Token of the tracker", "password": true}
  ],
  "servers": {
    "tracker": {
      "type": "http",
      "url": "https://tracker.example/mcp",
      "headers": {"Authorization": "Bearer ${input:tracker-token}", "X-Project": "playground"}
    },
    "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${workspaceFolder}"]},
    "search": {
      "command": "uvx",
      "args": ["web-search"],
      "env": {"SEARCH_API_KEY": "sk-example-0123456789", "REGION": "eu"},
      "autoApprove": ["search"]
    },
    "broken": {"args": ["x"]}
  }
}"""


def several(stage: Stage) -> None:
    """Servers of each kind in the book."""
    book = stage.app.workspace.tool_servers.book
    files = ("-y", "@modelcontextprotocol/server-filesystem", "/srv/me/Documents")
    book.add(ToolServer(id="files", name="files", command="npx", arguments=files, roots=("/srv/me/Documents",)))
    book.add(
        ToolServer(
            id="tracker",
            name="tracker",
            via=Via.HTTP,
            url="https://tracker.example/mcp",
            headers={"X-Project": "playground"},
            secret_headers=("Authorization",),
        )
    )
    book.add(ToolServer(id="failing", name="search", command=sys.executable, arguments=("-c", FAILING)))
    failing = book.get("failing")
    if failing is not None:
        book.confirm(failing)


async def run_demo(stage: Stage) -> None:
    """Start the application's own server."""
    servers = stage.app.workspace.tool_servers
    spawn(servers.start("demo"), name="start")
    await stage.until(lambda: servers.live("demo").state is State.READY and bool(servers.live("demo").tools), "tools")


@scene()
async def servers_running(stage: Stage) -> None:
    """The application's own server runs: what it offers."""
    several(stage)
    dialog = stage.app.actions.of(TOOL_SERVERS).open_servers("demo")
    await run_demo(stage)
    dialog.which.buttons[1].click()
    await stage.settle()


@scene()
async def servers_import(stage: Stage) -> None:
    """Four servers in VS Code's form: inputs asked for, a secret recognised, one that cannot be imported."""
    dialog = stage.app.actions.of(TOOL_SERVERS).import_servers()
    dialog.set_text(PASTED)
    await stage.until(lambda: dialog.preview.topLevelItemCount() == 4, "the preview")
    dialog.text.verticalScrollBar().setValue(0)
    await stage.settle()
