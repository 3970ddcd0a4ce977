"""What things are: frozen values, independent of any wire format and of any window.

Nothing here reads a socket, a file or a clock; only the standard library and pydantic are imported.
"""
