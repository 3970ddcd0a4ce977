"""The models of one list: search, sort order, and ids shortened for a line field. No Qt here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playground.engine.gateways.model_catalog import Model, ModelCatalog

SHOWN: Final = 1_000  # models listed at once
LONGEST: Final = 1_000  # characters of an id that a field shows in full
UNUSUAL: Final = 500  # models not for conversation that are always listed
_END_LENGTH: Final = 100
_LAST: Final = float("inf")


class Order(StrEnum):
    """Sort order of a list of models."""

    LISTED = "listed"
    NAME = "name"
    CONTEXT = "context"
    PRICE = "price"
    NEWEST = "newest"


ORDERS: Final = {
    Order.LISTED: "As the gateway lists them",
    Order.NAME: "Name",
    Order.CONTEXT: "Largest context first",
    Order.PRICE: "Lowest price first",
    Order.NEWEST: "Newest first",
}


class Sorting:
    """Sort order that all lists of models share; ``keep`` is called with each new choice."""

    def __init__(self) -> None:
        self.order = Order.LISTED
        self.keep: Callable[[Order], None] | None = None

    def restore(self, order: str, keep: Callable[[Order], None]) -> None:
        """Restore the saved order, and set the callback that saves a new one."""
        self.order, self.keep = Order(order) if order in ORDERS else Order.LISTED, keep

    def choose(self, order: Order) -> None:
        """Choose and save the order."""
        self.order = order
        if self.keep is not None:
            self.keep(order)


SORTING: Final = Sorting()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a list: a model, or text in ``words``.

    ``note`` is a remark on the model besides its facts. ``heading`` begins a section.
    """

    model: Model | None = None
    words: str = ""
    note: str = ""
    heading: bool = False


@dataclass
class MatchingModels:
    """The result of a search: the lines to show, and how many models match."""

    lines: list[Line] = field(default_factory=list)
    count: int = 0


class Listing:
    """The searchable models of a ``ModelCatalog``."""

    def __init__(self, catalog: ModelCatalog | None = None) -> None:
        self._catalog = catalog
        self.models: tuple[Model, ...] = catalog.models if catalog is not None else ()
        self._orders: dict[Order, list[int]] = {}
        self._ids_by_spelling: dict[str, str] = {}  # of ids that ``spelled`` changed

    @property
    def catalog(self) -> ModelCatalog:
        """The catalog with models and marks; it may be replaced by one with the same models and other marks."""
        if self._catalog is None:
            from playground.engine.gateways.model_catalog import ModelCatalog

            self._catalog = ModelCatalog()
        return self._catalog

    @catalog.setter
    def catalog(self, catalog: ModelCatalog) -> None:
        self._catalog = catalog

    @cached_property
    def all(self) -> tuple[str, ...]:
        """The ids, in the order of the list."""
        return tuple(model.id for model in self.models)

    @cached_property
    def _by_id(self) -> dict[str, Model]:
        return {model.id: model for model in self.models}

    def __contains__(self, model_id: str) -> bool:
        return model_id in self._by_id

    @cached_property
    def folded(self) -> list[str]:
        """The search text of each model: id and title, cut and case-folded."""
        return [f"{model.id[:LONGEST]}\n{model.title[:LONGEST]}".casefold() for model in self.models]

    def _ordered(self, order: Order) -> list[int]:
        """Return the indices of all models in that order."""
        if order not in self._orders:
            places = list(range(len(self.models)))
            if order is not Order.LISTED:
                key = _KEYS[order]
                places.sort(key=lambda place: key(self.models[place]))
            self._orders[order] = places
        return self._orders[order]

    def look_for(self, text: str, order: Order, typed: bool = False) -> MatchingModels:
        """Find the models that have all words of ``text`` in their id or title.

        A model with exactly that id comes first, models not for conversation come last. Without ``text``, recent and
        favourite models come before all others. With ``typed``, an id that is in no list has a line, too.
        """
        words, typed_id = text.casefold().split(), self.meant(text)
        folded = self.folded if words else []
        exact = self._by_id.get(typed_id) if words else None
        usual: list[Model] = [exact] if exact is not None else []
        unusual: list[Model] = []
        count = len(usual)
        for place in self._ordered(order):
            if words and not all(word in folded[place] for word in words):
                continue
            model = self.models[place]
            if model is exact:
                continue
            count += 1
            group = unusual if model.facts.mode else usual
            if len(group) < SHOWN:
                group.append(model)
        result = MatchingModels(self._lines(usual, unusual, count, sections=not words), count)
        if typed and words and typed_id not in self._by_id:
            result.lines.append(Line(_unlisted_model(typed_id), note="as typed; in no list"))
        return result

    def _lines(self, usual: list[Model], unusual: list[Model], count: int, *, sections: bool) -> list[Line]:
        marked_lines: list[Line] = []
        if sections:
            parts = (("Recent", self.catalog.recent), ("Favourites", self.catalog.favourites))
            for title, ids in parts:
                if ids:
                    marked_lines += [Line(words=title, heading=True), *map(self._line_of, ids[:SHOWN])]
        lines = [Line(model) for model in usual]
        if lines and (marked_lines or unusual):
            lines.insert(0, Line(words="All" if marked_lines else "Models", heading=True))
        if unusual:
            room = max(SHOWN - len(usual), UNUSUAL)
            lines += [Line(words="Not for conversation, by the list", heading=True), *map(Line, unusual[:room])]
        listed = sum(line.model is not None for line in lines)
        if count > listed:
            lines.append(Line(words=f"… {count - listed:,} more: type to find"))
        return marked_lines + lines

    def _line_of(self, model_id: str) -> Line:
        model = self._by_id.get(model_id)
        note = "not in the list" if model is None and self.models else ""
        return Line(model or _unlisted_model(model_id), note=note)

    def spelled(self, model: str) -> str:
        """Return the text of an id for a field: the id, or both ends and the length if it is too long to edit."""
        if len(model) <= LONGEST and model == model.strip():
            return model
        spelling, number = model, 1
        while len(model) > LONGEST and (number == 1 or self._ids_by_spelling.get(spelling, model) != model):
            suffix = f", no. {number}" if number > 1 else ""
            spelling = f"{model[:_END_LENGTH]}… ‹{len(model):,} characters{suffix}› …{model[-_END_LENGTH:]}"
            number += 1
        self._ids_by_spelling[spelling] = model
        return spelling

    def meant(self, text: str) -> str:
        """Return the id that the text of a field means: the one that ``spelled`` shortened, else the typed text."""
        return self._ids_by_spelling.get(text, text.strip())


def _unlisted_model(model_id: str) -> Model:
    from playground.engine.gateways.model_catalog import Model

    return Model(model_id)


def _folded_id(model: Model) -> str:
    return model.id[:LONGEST].casefold()


def _total_price(model: Model) -> float:
    price = model.facts.price
    return _LAST if price is None or not price.is_set else (price.input or 0.0) + (price.output or 0.0)


_KEYS: Final[dict[Order, Callable[[Model], float | str]]] = {
    Order.NAME: _folded_id,
    Order.CONTEXT: lambda model: _LAST if model.facts.context is None else -model.facts.context,
    Order.PRICE: _total_price,
    Order.NEWEST: lambda model: _LAST if model.facts.created is None else -model.facts.created,
}
