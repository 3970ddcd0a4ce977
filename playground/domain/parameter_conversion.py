"""Conversion of parameters between protocols when a person switches."""

from __future__ import annotations

from playground.domain.parameters import Parameters, Shared
from playground.jsonkit.values import JSON, same


def convert_parameters(source: Parameters, target: Parameters) -> Parameters:
    """Return ``target`` with the values of equivalent fields of ``source``.

    A value of ``target`` that is equivalent already keeps its spelling, and one that ``source`` cannot express stays,
    so that switching there and back restores both. A field at default is at default in both. Fields without a
    counterpart do not change.
    """
    for old, new in counterparts(source, target):
        value, current = getattr(source, old.name), getattr(target, new.name)
        if respelled(current, new, old) != value:
            target = target.with_value(new.name, respelled(value, old, new), by_hand=not source.is_ours(old.name))
    return target


def counterparts(source: Parameters, target: Parameters) -> list[tuple[Shared, Shared]]:
    """Return the pairs of equivalent fields."""
    if type(source) is type(target):
        return [(Shared(name), Shared(name)) for name in type(source).model_fields]
    source_fields, target_fields = source.shared(), target.shared()
    return [(source_fields[key], target_fields[key]) for key in source_fields if key in target_fields]


def respelled(value: JSON, old: Shared, new: Shared) -> JSON:
    """Convert a value of one field to the spelling of another; None if that has none for it."""
    neutral = old.read(value) if value is not None else None
    return new.write(neutral) if neutral is not None else None


def left_behind(value: JSON, old: Shared, new: Shared) -> list[str]:
    """Return the keys inside a value that get lost, because they are missing or different after conversion and back."""
    names: list[str] = []
    pairs = [(value, respelled(respelled(value, old, new), new, old))]
    for before, back in pairs:
        if isinstance(before, dict) and isinstance(back, dict):
            for name, inner in before.items():
                if isinstance(inner, dict) and isinstance(back.get(name), dict):
                    pairs.append((inner, back[name]))
                elif not same(inner, back.get(name)):
                    names.append(name)
    return names
