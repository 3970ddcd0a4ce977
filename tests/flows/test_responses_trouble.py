"""Troubles of the Responses API in the real window, and their remedies."""

from __future__ import annotations

from tests.flows.conftest import Person, flow
from tests.flows.test_error_cards import fail
from tests.flows.test_responses import use_responses


@flow()
async def test_reasoning_of_another_model_is_dropped_by_one_click(person: Person) -> None:
    await use_responses(person, reasoning_summary="auto")
    await person.run("What is tea?")
    await person.idle()
    await person.use_model("demo-reasoner")
    card = await fail(person, "And coffee?")
    assert "The gateway cannot use the earlier reasoning" in card.text
    await card.press("Remove earlier reasoning")
    await person.until(lambda: person.path[-1].text, "an answer")
    await person.idle()
    _, answer, _ = person.body()["input"]
    assert answer["role"] == "assistant"
    assert "id" not in answer
