"""Scenes of the dialog for tool servers: set up, confirmed, running, failed; imported; and what long names do to it."""

from __future__ import annotations

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
