"""Who is told of what happens in a session: synchronously, in order, each of the kinds of change it named."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeAlias

from playground.engine.session.changes import Change

Observer: TypeAlias = Callable[[Change], None]


class Observers:
    """Those who are told."""

    def __init__(self) -> None:
        self._all: list[tuple[Observer, tuple[type[Change], ...]]] = []
        self._by_kind: dict[type[Change], tuple[Observer, ...]] = {}  # found out when first needed

    def subscribe(self, callback: Observer, *kinds: type[Change]) -> Callable[[], None]:
        """Tell ``callback`` of every change of these kinds from now on; of every change where none is named.

        Two kinds come with every token: who names others costs nothing then. Returns a function that ends it.
        """
        observer = (callback, kinds)
        self._all.append(observer)
        self._by_kind.clear()

        def cancel() -> None:
            with contextlib.suppress(ValueError):
                self._all.remove(observer)
            self._by_kind.clear()

        return cancel

    def tell(self, change: Change) -> None:
        """Pass a change on."""
        kind = type(change)
        callbacks = self._by_kind.get(kind)
        if callbacks is None:
            callbacks = tuple(callback for callback, kinds in self._all if not kinds or kind in kinds)
            self._by_kind[kind] = callbacks
        for callback in callbacks:
            callback(change)
