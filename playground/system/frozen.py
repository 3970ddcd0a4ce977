"""Restore the environment that a frozen application changed for its start, for the programs it starts in turn.

A browser opened from a link must load the system's libraries and plugins. The application's own are found by then: the
dynamic loader reads its variable once, at the start, and Qt knows its folder from the library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping

#: Set to the application's own folders by the packager's start-up code.
BORROWED = ("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH")
ORIGINAL = "_ORIG"  # what the packager adds to the name of the variable that keeps the user's value
OF_THE_PACKAGER = "_PYI_"


def give_back(environment: MutableMapping[str, str] = os.environ) -> None:
    """Restore the user's environment, if this is a frozen application; otherwise do nothing."""
    if not getattr(sys, "frozen", False):
        return
    for name in BORROWED:
        environment.pop(name, None)
        original = environment.pop(name + ORIGINAL, None)
        if original:
            environment[name] = original
    for name in [name for name in environment if name.startswith(OF_THE_PACKAGER)]:
        del environment[name]
