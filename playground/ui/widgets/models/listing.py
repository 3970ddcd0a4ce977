"""The models of one list: searched, put in an order, spelled for a field of one line. No Qt here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playground.engine.gateways.model_catalog import Model, ModelCatalog

SHOWN: Final = 1_000  # models of a list that are listed at once
LONGEST: Final = 1_000  # characters of an id that stands in a field as it is
UNUSUAL: Final = 500  # models not for conversation that are listed in any case
_ENDS: Final = 100
_UNKNOWN: Final = float("inf")


class Order(StrEnum):
    """By what models are listed."""

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
    """By what every list of models is ordered: chosen once for all of them. ``keep`` is told a new choice."""

    def __init__(self) -> None:
        self.order = Order.LISTED
        self.keep: Callable[[Order], None] | None = None

    def restore(self, order: str, keep: Callable[[Order], None]) -> None:
        """The order chosen earlier, and whom to tell of another one."""
        self.order, self.keep = Order(order) if order in ORDERS else Order.LISTED, keep

    def choose(self, order: Order) -> None:
        """From now on by this."""
        self.order = order
        if self.keep is not None:
            self.keep(order)


SORTING: Final = Sorting()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a list: a model, or without one ``words`` between them.

    ``note`` is what there is to say of the model besides what its list says. ``heading`` begins a section.
    """

    model: Model | None = None
    words: str = ""
    note: str = ""
    heading: bool = False


@dataclass
class Found:
    """The result of a search: the lines to show, and how many models match."""

    lines: list[Line] = field(default_factory=list)
    count: int = 0


class Listing:
    """The models of an ``ModelCatalog``."""

    def __init__(self, catalog: ModelCatalog | None = None) -> None:
        self._catalog = catalog
        self.models: tuple[Model, ...] = catalog.models if catalog is not None else ()
        self._folded: list[str] = []
        self._orders: dict[Order, list[int]] = {}
        self._odd: dict[str, str] = {}  # by how it is spelled here

    @property
    def catalog(self) -> ModelCatalog:
        """Whose models they are, and how they are marked; another one may come in its place, with the same models."""
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

    @property
    def folded(self) -> list[str]:
        """What each model is found by, without its case: its id and its title, as far as they are searched."""
        if len(self._folded) < len(self.models):
            for model in self.models[len(self._folded) :]:
                text = f"{model.id[:LONGEST]}\n{model.title[:LONGEST]}" if model.title else model.id[:LONGEST]
                self._folded.append(text.casefold())
        return self._folded

    def _ordered(self, order: Order) -> list[int]:
        """The places of all models in that order."""
        if order not in self._orders:
            places = list(range(len(self.models)))
            if order is not Order.LISTED:
                key = _KEYS[order]
                places.sort(key=lambda at: key(self.models[at]))
            self._orders[order] = places
        return self._orders[order]

    def look_for(self, text: str, order: Order, typed: bool = False) -> Found:
        """Find the models that have all words of ``text`` in their id or title.

        The model of exactly that id stands first, those that are for no conversation last. Without ``text`` the
        favourites and those used last stand before all. ``typed``: an id that is in no list has a line, too.
        """
        words, wanted = text.casefold().split(), self.meant(text)
        folded = self.folded if words else []
        exact = self._by_id.get(wanted) if words else None
        usual: list[Model] = [exact] if exact is not None else []
        others: list[Model] = []
        count = len(usual)
        for place in self._ordered(order):
            if words and not all(word in folded[place] for word in words):
                continue
            model = self.models[place]
            if model is exact:
                continue
            count += 1
            kept = others if model.facts.mode else usual
            if len(kept) < SHOWN:
                kept.append(model)
        found = Found(self._lines(usual, others, count, sections=not words), count)
        if typed and words and wanted not in self._by_id:
            found.lines.append(Line(_unlisted(wanted), note="as typed; in no list"))
        return found

    def _lines(self, usual: list[Model], others: list[Model], count: int, *, sections: bool) -> list[Line]:
        before: list[Line] = []
        if sections:
            parts = (("Recent", self.catalog.recent), ("Favourites", self.catalog.favourites))
            for title, ids in parts:
                if ids:
                    before += [Line(words=title, heading=True), *map(self._marked, ids[:SHOWN])]
        lines = [Line(model) for model in usual]
        if lines and (before or others):
            lines.insert(0, Line(words="All" if before else "Models", heading=True))
        if others:
            room = max(SHOWN - len(usual), UNUSUAL)
            lines += [Line(words="Not for conversation, by the list", heading=True), *map(Line, others[:room])]
        listed = sum(line.model is not None for line in lines)
        if count > listed:
            lines.append(Line(words=f"… {count - listed:,} more: type to find"))
        return before + lines

    def _marked(self, model_id: str) -> Line:
        model = self._by_id.get(model_id)
        note = "not in the list" if model is None and self.models else ""
        return Line(model or _unlisted(model_id), note=note)

    def spelled(self, model: str) -> str:
        """As it stands in a field: whole, or, of one that is too long to be edited, both ends and its length."""
        if len(model) <= LONGEST and model == model.strip():
            return model
        spelled, number = model, 1
        while len(model) > LONGEST and (number == 1 or self._odd.get(spelled, model) != model):
            which = f", no. {number}" if number > 1 else ""
            spelled = f"{model[:_ENDS]}… ‹{len(model):,} characters{which}› …{model[-_ENDS:]}"
            number += 1
        self._odd[spelled] = model
        return spelled

    def meant(self, text: str) -> str:
        """The id that text in a field stands for: what somebody typed, but for what ``spelled`` gave."""
        return self._odd.get(text, text.strip())


def _unlisted(model_id: str) -> Model:
    from playground.engine.gateways.model_catalog import Model

    return Model(model_id)


def _name(model: Model) -> str:
    return model.id[:LONGEST].casefold()


def _price(model: Model) -> float:
    price = model.facts.price
    return _UNKNOWN if price is None or not price.is_set else (price.input or 0.0) + (price.output or 0.0)


_KEYS: Final[dict[Order, Callable[[Model], float | str]]] = {
    Order.NAME: _name,
    Order.CONTEXT: lambda model: _UNKNOWN if model.facts.context is None else -model.facts.context,
    Order.PRICE: _price,
    Order.NEWEST: lambda model: _UNKNOWN if model.facts.created is None else -model.facts.created,
}
