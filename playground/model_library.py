"""The library of our models (pydantic) as a process of ours loads it: nothing else has a look at them.

Must run before a model is made, and in a process that is ours alone.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any, Final

_LOADER: Final = "pydantic.plugin._loader"


class _NoPlugins(ModuleType):
    """Gives none. Should another pydantic ask it for more than that, it has its own module."""

    get_plugins = tuple

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(_LOADER, None)
        return getattr(import_module(_LOADER), name)


def settle() -> None:
    """Have it look for no plugins in all that is installed: 20 ms of each start, and half a MiB.

    Its own switch for that is looked at when what searches is loaded already, and our programs would inherit it.
    """
    sys.modules.setdefault(_LOADER, _NoPlugins(_LOADER))
