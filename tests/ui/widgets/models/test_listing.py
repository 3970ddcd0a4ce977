"""Finding and ordering models."""

from __future__ import annotations

from random import Random

from playground.domain.model_facts import ModelFacts
from playground.domain.prices import Price
from playground.engine.gateways.model_catalog import Model, ModelCatalog
from playground.ui.widgets.models.fact_words import rounded
from playground.ui.widgets.models.listing import SHOWN, Listing, MatchingModels, Order
from tests.support.each_case import each_case

MANY = 10_000


def search(listing: Listing, text: str = "", order: Order = Order.LISTED) -> MatchingModels:
    return listing.look_for(text, order)


def ids(result: MatchingModels) -> list[str]:
    return [line.model.id for line in result.lines if line.model is not None]


def make_models() -> tuple[Model, ...]:
    random = Random(20)
    facts = [
        ModelFacts(
            context=random.choice((None, random.randrange(10**6))),
            price=random.choice((None, Price(input=random.random(), output=random.random()))),
            created=random.choice((None, random.random() * 1e9)),
            mode="embedding" if number % 97 == 0 else "",
        )
        for number in range(3_001)
    ]
    numbers = random.sample(range(10**7), MANY)
    return tuple(
        Model(f"vendor/model-{n}", f"Model {n}", facts=facts[index % 3_001]) for index, n in enumerate(numbers)
    )


KEYS = {
    Order.NAME: lambda model: model.id,
    Order.CONTEXT: lambda model: -(model.facts.context if model.facts.context is not None else float("-inf")),
    Order.PRICE: lambda model: float("inf") if (p := model.facts.price) is None else p.input + p.output,
    Order.NEWEST: lambda model: -(model.facts.created if model.facts.created is not None else float("-inf")),
}


def test_models_are_ordered_and_searched() -> None:
    models = make_models()
    listing = Listing(ModelCatalog(models, "gateway"))
    usual = [model for model in models if not model.facts.mode]
    for order in Order:
        result = search(listing, "", order)
        expected = sorted(usual, key=KEYS[order]) if order in KEYS else usual
        assert ids(result)[:SHOWN] == [model.id for model in expected[:SHOWN]]
        assert search(listing, "MODEL-77", order).count == sum("model-77" in model.id for model in models)


def test_title_of_a_megabyte_is_searched_at_its_beginning() -> None:
    models = tuple(Model(f"m{number}", "a" * 1_000_000 + "b") for number in range(3))
    listing = Listing(ModelCatalog(models))
    assert search(listing, "aaaa").count == 3
    assert search(listing, "ab").count == 0
    assert sum(map(len, listing.folded)) < 10_000


def test_words_are_found_in_any_order_and_script() -> None:
    models = (Model("openai/gpt-4o-mini"), Model("نموذج-عربي"), Model("STRASSE-1", "Straße"))
    listing = Listing(ModelCatalog(models))
    assert ids(search(listing, "mini gpt")) == ["openai/gpt-4o-mini"]
    assert ids(search(listing, "عربي")) == ["نموذج-عربي"]
    assert ids(search(listing, "straße")) == ["STRASSE-1"]
    assert ids(search(listing, "nothing like it")) == []


@each_case(
    ("count", "words"), [(0, "0"), (999, "999"), (8_192, "8.19k"), (999_999, "1M"), (1_048_576, "1.05M"), (10**9, "1G")]
)
def test_limit_is_rounded_to_three_digits(count: int, words: str) -> None:
    assert rounded(count) == words
