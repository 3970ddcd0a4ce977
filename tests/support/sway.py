"""The screen of the compositor sway, and commands to it, through ``swaymsg``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any


def compositor(*command: str) -> Any:
    """Return the answer of ``swaymsg``. Raises CalledProcessError with its words where it refuses."""
    done = subprocess.run(["swaymsg", "-r", *command], capture_output=True, text=True, check=True, timeout=20)
    return json.loads(done.stdout)


def windows() -> list[dict[str, Any]]:
    """The windows on the screen, as the compositor has them: ``get_tree`` of sway-ipc(7)."""
    return list(_below(compositor("-t", "get_tree")))


def _below(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if node.get("pid"):
        yield node
    for child in (*node["nodes"], *node["floating_nodes"]):
        yield from _below(child)
