"""The domain model: frozen values, independent of any wire format and of any window.

Nothing in this package reads a socket, a file or a clock.
"""
