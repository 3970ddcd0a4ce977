"""Scenes of the dialog for tool servers: set up, confirmed, running, failed; imported; and what long names do to it."""

from __future__ import annotations

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from playground.domain.tool_servers import ToolServer, Via
from tests.scenes.registry import scene
from tests.scenes.stage import Stage

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


@scene()
async def servers_import(stage: Stage) -> None:
    """Four servers in VS Code's form: inputs asked for, a secret recognised, one that cannot be imported."""
    dialog = stage.app.actions.features.tool_servers.import_servers()
    dialog.set_text(PASTED)
    await stage.until(lambda: dialog.preview.topLevelItemCount() == 4, "the preview")
    dialog.text.verticalScrollBar().setValue(0)
    await stage.settle()


@scene()
async def servers_form(stage: Stage) -> None:
    """A server with long values, secrets, and a whole command line in the field of the command."""
    server = ToolServer(
        id="files",
        name="Files of a project with a name that is longer than the list is wide",
        command="npx -y @modelcontextprotocol/server-filesystem /srv/" + "deeply/nested/" * 12,
        environment={"LOG_LEVEL": "debug", "A_VERY_LONG_NAME_OF_A_VARIABLE": "value " * 30},
        secret_environment=("API_KEY",),
        folder="/srv/" + "folder/" * 20,
        roots=("/srv/first", "/srv/" + "second/" * 20),
        trusted=True,
    )
    stage.app.actions.features.tool_servers.servers.book.add(server)
    stage.app.actions.features.tool_servers.open_servers("files")
    await stage.dialog("Tool servers")
    await stage.settle()


@scene()
async def servers_form_problems(stage: Stage) -> None:
    """A remote server whose address is missing and whose time-out is no number, at the end of the form."""
    server = ToolServer(id="remote", name="Remote", via=Via.HTTP, url="x", oauth=True, prefix="remote")
    stage.app.actions.features.tool_servers.servers.book.add(server)
    stage.app.actions.features.tool_servers.open_servers("remote")
    dialog = await stage.dialog("Tool servers")
    stage.find(QLineEdit, "Address", dialog).clear()
    field = stage.find(QLineEdit, "Time-out", dialog)
    field.setText("")
    await stage.person.do(lambda: QTest.keyClicks(field, "soon"))
    await stage.settle()
