"""Page objects: one class for each part of the window that flows use, and the only place that knows how to find it.

A page finds its widgets by accessible name, object name or visible text, never by a class of ``playground.ui``.
"""
