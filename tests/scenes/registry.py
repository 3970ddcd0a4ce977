"""The list of scenes, which register themselves when their modules are imported."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playground.demo.server import DemoConfig
from tests.scenes.stage import Stage

Play = Callable[[Stage], Awaitable[None]]

BOTH = "1440x900", "1024x700"
WIDE = ("1440x900",)
MODULES = (
    "scenes",
    "features",
    "refusals",
    "trouble",
    "request",
    "tools",
    "tool_servers",
    "server_settings",
    "debugger_cards",
    "hand_made",
    "large",
    "debugger_rules",
    "debugger_seeing",
    "code",
    "wire",
    "server_asks",
    "compare",
    "evaluate",
    "listen",
    "store",
    "files",
    "gateway_check",
    "first_start",
    "models",
    "told",
)


@dataclass(frozen=True, slots=True)
class Scene:
    """A named state of the window, the demo gateway it is played with, and the window sizes worth looking at."""

    name: str
    play: Play
    demo: DemoConfig
    sizes: tuple[str, ...]


SCENES: dict[str, Scene] = {}


def scene(*, tokens_per_second: float = 0, sizes: tuple[str, ...] = BOTH) -> Callable[[Play], Play]:
    """Register a scene; the demo gateway answers at once unless a scene is about something under way."""

    def register(play: Play) -> Play:
        name = getattr(play, "__name__", "").replace("_", "-")
        if name in SCENES:
            raise ValueError(f"two scenes are called {name}")
        SCENES[name] = Scene(name, play, DemoConfig(tokens_per_second=tokens_per_second, time_to_first_token=0), sizes)
        return play

    return register


def all_scenes() -> dict[str, Scene]:
    """Return every scene by its name."""
    for module in MODULES:
        importlib.import_module(f"tests.scenes.{module}")
    return SCENES
