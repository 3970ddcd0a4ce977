"""Commands import pydantic without its search for plugins among all installed packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOURCE = """
import sys
from playground import cli
assert "pydantic" not in sys.modules
try:
    cli.main(["--version"])
except SystemExit:
    pass
from pydantic.plugin import _loader
from playground.domain.transcript import Role, make_turn
print(make_turn(Role.USER, "Hello").text, "importlib.metadata" in sys.modules)
print(_loader.get_plugins(), _loader.PYDANTIC_ENTRY_POINT_GROUP)
"""


def test_models_are_made_without_a_search_for_plugins() -> None:
    folder = Path(__file__).parents[1]
    ended = subprocess.run([sys.executable, "-c", SOURCE], cwd=folder, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[1:] == ["Hello False", "() pydantic"]
