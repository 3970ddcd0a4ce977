"""Presets in the window: used, saved and looked after."""
