"""Parameters taken from one protocol's fields to another's: what means the same moves along with the person."""

from __future__ import annotations

from playground.domain.parameters import Parameters, Shared
from playground.jsonkit.values import JSON, same


def convert_parameters(source: Parameters, target: Parameters) -> Parameters:
    """``target`` with every value that means the same in ``source``.

    A value that ``target`` spells in its own way stays as it spells it, and one that ``source`` has no word for is left
    alone, so that switching there and back restores both. A value set back to default is default on the other side
    too. What has no counterpart stays remembered on its own side.
    """
    for old, new in counterparts(source, target):
        value, kept = getattr(source, old.name), getattr(target, new.name)
        if respelled(kept, new, old) != value:
            target = target.with_value(new.name, respelled(value, old, new), by_hand=not source.is_ours(old.name))
    return target


def counterparts(source: Parameters, target: Parameters) -> list[tuple[Shared, Shared]]:
    """The fields that mean the same here and there."""
    if type(source) is type(target):
        return [(Shared(name), Shared(name)) for name in type(source).model_fields]
    here, there = source.shared(), target.shared()
    return [(here[meaning], there[meaning]) for meaning in here if meaning in there]


def respelled(value: JSON, old: Shared, new: Shared) -> JSON:
    """A value of one field as the other spells it; None where it has no word for it."""
    meant = old.read(value) if value is not None else None
    return new.write(meant) if meant is not None else None


def left_behind(value: JSON, old: Shared, new: Shared) -> list[str]:
    """The keys inside a value that do not go along: what is missing, or different, when it comes back from there."""
    names: list[str] = []
    pairs = [(value, respelled(respelled(value, old, new), new, old))]
    for here, back in pairs:
        if isinstance(here, dict) and isinstance(back, dict):
            for name, inner in here.items():
                if isinstance(inner, dict) and isinstance(back.get(name), dict):
                    pairs.append((inner, back[name]))
                elif not same(inner, back.get(name)):
                    names.append(name)
    return names
