"""pydantic looks for no plugins in a process of ours, and has its own module where it asks for anything else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SETTLED = """
import sys
from playground import model_library
model_library.settle()
"""


def run(source: str) -> subprocess.CompletedProcess[str]:
    folder = Path(__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-c", SETTLED + source], cwd=folder, capture_output=True, text=True, check=True
    )


def test_models_are_made_without_a_search_for_plugins() -> None:
    source = """
from playground.domain.transcript import Role, make_turn
print(make_turn(Role.USER, "Hello").text, "importlib.metadata" in sys.modules)
"""
    assert run(source).stdout == "Hello False\n"


def test_the_library_finds_what_it_calls_there() -> None:
    """And nothing but what is made for it: of the module itself it has all."""
    source = """
from pydantic.plugin import _loader
print(_loader.get_plugins(), _loader.PYDANTIC_ENTRY_POINT_GROUP, type(sys.modules[_loader.__name__]).__name__)
"""
    assert run(source).stdout == "() pydantic module\n"


def test_the_command_settles_it() -> None:
    source = """
from playground import cli
sys.modules.pop("pydantic.plugin._loader")
assert "pydantic" not in sys.modules
try:
    cli.main(["--version"])
except SystemExit:
    pass
print("pydantic.plugin._loader" in sys.modules)
"""
    assert run(source).stdout.splitlines()[-1] == "True"
