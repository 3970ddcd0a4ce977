"""The window: shows what the engine holds and hands back what a person did.

Qt objects hold no truth here: models translate changes, panels edit a value and give back a new value.
This is the only package besides ``playground.app`` that imports PySide6.
"""
