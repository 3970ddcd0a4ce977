"""The window: shows what the engine holds and hands back what a person did.

Qt objects hold no truth here: models translate changes, panels edit a value and give back a new value.
This is the only package besides ``playground.app`` that imports PySide6.
"""

import builtins

import PySide6.QtCore  # noqa: F401 - it puts an __import__ of its own in Python's place

# PySide reads the source of all that is imported from now on, to see who may want its ``__feature__`` module, and keeps
# it: 23 MB, and a tenth of the start. Nobody here wants that; Python's own __import__ comes back.
builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
