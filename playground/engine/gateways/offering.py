"""The models of one gateway to choose from: what its list tells, which ones a person marked, and which were used last.

A value without Qt or sockets. Everything the list tells is the gateway's word: foreign text, to be shown as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.gateway.models import Model as Model
from playground.gateway.redact import Redactor
from playground.jsonkit.layout import indented_front

MOST_RECENT: Final = 8  # models that are remembered as used
_MARGIN: Final = 2_000  # characters behind what is shown, so that a secret at its end is known


@dataclass(frozen=True)
class Offering:
    """``models`` in the order of the list of ``gateway`` (its name); ``favourites`` and ``recent`` are ids.

    ``star`` marks a model as a favourite, or no longer, and ``note_use`` that it was chosen; each writes a small file
    and raises ProfileError. None where nothing can be kept. ``known`` gives the secrets that are taken out of what is
    shown of the list.
    """

    models: tuple[Model, ...] = ()
    gateway: str = ""
    favourites: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()
    star: Callable[[str, bool], None] | None = None
    note_use: Callable[[str], None] | None = None
    known: Callable[[], Iterable[Secret]] = tuple

    def same(self, other: Offering) -> bool:
        """Whether it is the same list with the same marks."""
        ours, theirs = self.favourites, other.favourites
        marks = ours == theirs and self.recent == other.recent and (self.star is None) == (other.star is None)
        return self.models is other.models and self.gateway == other.gateway and marks

    def shown(self, text: str, most: int) -> str:
        """A text of the list, or as much of it as ``most`` characters, without secrets."""
        return self._redactor.text(text) if len(text) <= most else f"{self._redactor.front(text, most)}…"

    @cached_property
    def _redactor(self) -> Redactor:
        """Made once: it asks by itself for secrets that come later."""
        return redactor_of(self.known())

    def as_listed(self, model: Model, most: int) -> str:
        """The entry of a model as the list has it, as JSON of about ``most`` characters, without secrets."""
        return self.shown(indented_front(model.raw, most + _MARGIN), most)


def used(recent: Iterable[str], model: str) -> tuple[str, ...]:
    """The models used last when that one was used now, newest first."""
    return (model, *(one for one in recent if one != model))[:MOST_RECENT]


def marked(favourites: Iterable[str], model: str, on: bool) -> tuple[str, ...]:
    """The favourites with or without that model, in the order they were marked."""
    others = tuple(one for one in favourites if one != model)
    return (*others, model) if on else others
