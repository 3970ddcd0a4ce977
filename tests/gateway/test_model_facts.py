"""Facts read from entries of model lists, in the shapes that gateways send, and in malformed ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playground.domain.model_facts import NOTHING_TOLD, ModelFacts, agreed, joined
from playground.domain.prices import Price
from playground.gateway.model_facts import facts_of
from playground.gateway.models import ModelList, read_models
from playground.jsonkit import foreign
from tests.support.each_case import each_case

#: Entries with their source, the number of tokens that the service prices (0: not documented), and their facts.
ENTRIES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("model_entries.json").read_text("utf-8"))


@each_case("case", ENTRIES)
def test_facts_of_each_services_entries_are_read(case: dict[str, Any]) -> None:
    facts = case["facts"]
    if "price" in facts:
        facts = {**facts, "price": Price(told=True, **facts["price"])}
    assert facts_of(case["entry"], case.get("tokens", 0)) == ModelFacts.model_validate(facts)


@each_case(
    "value",
    [
        "1e400", "-1", "NaN", "Infinity", "-5.5", "true", "null", "[]", "{}", '"many"', '""', '"-1"', "1.5", "0",
        "9" * 400, '"' + "9" * 5000 + '"', '"1e400"', '"nan"', '"inf"', "[" * 90 + "]" * 90, '{"supported": {"a": 1}}',
    ],
)  # fmt: skip
def test_malformed_facts_are_ignored(value: str) -> None:
    names = ("context_length", "max_tokens", "created", "created_at", "description", "pricing",
             "providers", "architecture", "model_info", "capabilities", "supported_parameters", "meta", "limits",
             "top_provider", "tags", "mode", "type")  # fmt: skip
    text = "{" + ",".join(f'"{name}": {value}' for name in names) + "}"
    result = facts_of(foreign.parse(text), 1_000_000)
    assert (result.context, result.output, result.price, result.inputs, result.mode) == (None, None, None, None, "")
    amounts = facts_of(foreign.parse(f'{{"pricing": {{"prompt": {value}, "completion": {value}}}}}'))
    assert amounts.price is None or value == "0"


@each_case("entry", ["text", None, 7, [], [1], {}, {"id": "m"}, {"id": "m", "object": "model"}])
def test_bare_name_has_no_facts(entry: Any) -> None:
    result = facts_of(entry)
    assert not result.is_known
    assert result is NOTHING_TOLD
    assert result.takes("image") is None


def test_price_too_high_for_a_token_is_ignored() -> None:
    """A price for a million tokens in the place of the price for one is not shown as thousands of dollars."""
    assert facts_of({"pricing": {"prompt": 0.15, "completion": 0.6}}).price is None
    assert facts_of({"pricing": {"prompt": "0.0006"}}).price == Price(input=600, told=True)


def test_list_of_input_kinds_excludes_the_others() -> None:
    listed = facts_of({"input_modalities": ["text", "image", "smell"]})
    assert [listed.takes(kind) for kind in ("text", "image", "audio")] == [True, True, False]
    flagged = facts_of({"supports_vision": False})
    assert [flagged.takes(kind) for kind in ("text", "image", "audio")] == [True, False, None]


def test_texts_are_cut() -> None:
    result = facts_of(
        {"description": "a" * 10**6, "owned_by": "b" * 10**6, "supported_parameters": ["c" * 10**6] + ["d"] * 10**6}
    )
    assert len(result.about) == 2000
    assert len(result.owner) == 100
    assert result.parameters == frozenset({"d"})


def test_joined_facts_prefer_the_later_source() -> None:
    listed, requests = ModelFacts(owner="library", context=1), ModelFacts(context=4096, tools=False)
    assert joined(listed, requests) == ModelFacts(owner="library", context=4096, tools=False)
    assert joined(listed, NOTHING_TOLD) is listed
    assert joined(NOTHING_TOLD, requests) is requests


def test_facts_of_several_providers_count_where_they_agree() -> None:
    first, second = ModelFacts(context=1, tools=True), ModelFacts(context=2, tools=True, owner="a")
    assert agreed([first, second]) == ModelFacts(tools=True, owner="a")
    assert agreed([first, second, ModelFacts(context=1)]).context is None
    assert agreed([]) is NOTHING_TOLD


def test_model_list_gives_the_facts_of_a_model() -> None:
    model_list = ModelList(tuple(read_models({"data": [{"id": "m", "context_length": 8}, "bare"]}) or ()))
    assert model_list.facts("m").context == 8
    assert model_list.facts("bare") is model_list.facts("not there") is NOTHING_TOLD
