"""Preferences as annotated models: each field is a row of a form and a key of the window's settings."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError
from PySide6.QtCore import QSettings

from playground.domain.hints import hints_of

M = TypeVar("M", bound=BaseModel)


def read_preferences(model: type[M], settings: QSettings) -> M:
    """Return the stored preferences. The default replaces a value that the model refuses.

    The key of a field is the ``path`` of its hint, or else its name.
    """
    value = model()
    for name, hint in hints_of(model).items():
        stored = settings.value(hint.path or name)
        if stored is not None:
            try:
                value = value.model_copy(update={name: getattr(model.model_validate({name: stored}), name)})
            except ValidationError:
                continue
    return value


def write_preferences(value: BaseModel, settings: QSettings) -> None:
    """Store preferences."""
    for name, hint in hints_of(type(value)).items():
        settings.setValue(hint.path or name, getattr(value, name))
