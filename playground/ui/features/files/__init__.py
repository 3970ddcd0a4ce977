"""Experiments, messages and exports in files: opened, saved, imported, dropped onto the window, and remembered."""
