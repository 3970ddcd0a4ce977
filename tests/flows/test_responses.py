"""The Responses API in the real window: calls, hosted items, state on the server, and the way there from a refusal."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton, QWidget

from playground.domain.parts import Unknown
from playground.domain.transcript import Role, make_turn
from tests.engine.debugging import WEATHER
from tests.flows.conftest import Person, flow
from tests.flows.pages.conversation import wait_for_dialog
from tests.flows.test_error_cards import fail


async def use_responses(person: Person, model: str = "demo-responses", **parameters: object) -> None:
    """Send requests over the Responses API to a model of the demo gateway."""
    person.session.change(protocol="responses")
    await person.use_model(model)
    values = person.session.settings.current
    for name, value in parameters.items():
        values = values.with_value(name, value)
    person.session.set_parameters(values)


@flow()
async def test_call_and_its_reasoning_go_back_item_by_item(person: Person) -> None:
    await use_responses(person, reasoning_summary="auto")
    person.session.change(tools=(WEATHER,))
    await person.run("The weather in Oslo")
    (card,) = await person.conversation.wait_for_calls()
    await card.send_result("4 degrees")
    await person.idle()
    assert person.path[-1].text
    items = person.body()["input"]
    kinds = [item.get("type", item.get("role")) for item in items]
    assert kinds[0] == "user"
    assert kinds[-2:] == ["function_call", "function_call_output"]
    assert "reasoning" in kinds
    (reasoning,) = [item for item in items if item.get("type") == "reasoning"]
    assert reasoning["encrypted_content"]
    assert items[-1]["call_id"] == items[-2]["call_id"]
    assert items[-1]["output"] == "4 degrees"
    assert person.body()["store"] is False


@flow()
async def test_refusal_of_tools_with_reasoning_leads_to_the_responses_api(person: Person) -> None:
    person.session.turns.add_turn(make_turn(Role.SYSTEM, "Be brief."))
    person.session.change(tools=(WEATHER,))
    await person.use_model("demo-responses")
    person.session.set_parameters(person.session.settings.current.with_value("reasoning_effort", "low"))
    await fail(person, "The weather in Oslo")
    await person.seen(QPushButton, "Ask over Responses")
    (card,) = person.conversation.message(-1).errors
    assert "The gateway takes this request over the Responses API" in card.text
    assert card.buttons[0] == "Ask over Responses"
    await person.press("Ask over Responses")
    switch = await person.seen(QPushButton, "Switch to Responses API")
    losses = person.get(QWidget, "Not carried over")
    assert any("instructions" in label.text() for label in losses.findChildren(QLabel))
    switch.click()
    await person.conversation.wait_for_calls()
    body = person.body()
    assert person.session.settings.protocol == "responses"
    assert body["instructions"] == "Be brief."
    assert body["reasoning"] == {"effort": "low"}
    assert body["tools"][0]["name"] == "get_weather"


@flow()
async def test_forgotten_response_is_replaced_by_the_whole_conversation(person: Person) -> None:
    await use_responses(person, "demo-chat", previous_response_id="latest")
    await person.run("First")
    await person.idle()
    assert "previous_response_id" not in person.body()
    await person.run("Second")
    await person.idle()
    first_id = person.path[1].outcome.response_id  # type: ignore[union-attr]
    assert person.body()["previous_response_id"] == first_id
    assert len(person.body()["input"]) == 1

    person.session.set_parameters(person.session.settings.current.with_value("store", False))
    await person.run("Third")
    await person.idle()
    card = await fail(person, "Fourth")
    assert "The gateway does not have the earlier conversation" in card.text
    await card.press("Send whole conversation")
    await person.until(lambda: person.path[-1].text, "an answer")
    await person.idle()
    assert "previous_response_id" not in person.body()
    assert len(person.body()["input"]) == 7


@flow()
async def test_hosted_items_are_lines_of_their_kind(person: Person) -> None:
    await use_responses(person)
    person.session.change(extra_body={"tools": [{"type": "web_search"}]})
    await person.run("What is the highest mountain of Norway?")
    await person.idle()
    message = await person.conversation.wait_for_message(-1)
    heads = [button.text() for button in message.find(QPushButton)]
    assert any(text.startswith("Web search · completed") for text in heads)
    kinds = [part.value["type"] for part in person.path[-1].parts if part.kind == "unknown"]
    await person.run("Thanks")
    await person.idle()
    assert [item["type"] for item in person.body()["input"] if item.get("type") == "web_search_call"] == kinds


@flow()
async def test_generated_image_is_shown_in_its_card_and_opens_large(person: Person) -> None:
    await use_responses(person)
    person.session.change(extra_body={"tools": [{"type": "image_generation"}]})
    await person.run("Draw a chart")
    await person.idle()
    message = await person.conversation.wait_for_message(-1)
    picture = await message.wait_for(QAbstractButton, "Generated image")
    assert (picture.width(), picture.height()) == (120, 80)
    await person.click(picture)
    dialog = await wait_for_dialog(person, "PNG image")
    await person.until(dialog.get(QPushButton, "Copy image").isEnabled, "the image in the dialog")
    await dialog.press("Close")


@flow()
async def test_generated_image_that_is_damaged_is_reported_and_sent_back(person: Person) -> None:
    damaged = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "iVBORw0KGgo\x00 <b>"}
    turn = make_turn(Role.ASSISTANT, "", Unknown(value=damaged))
    await use_responses(person)
    await person.do(lambda: person.session.turns.add_turn(turn))
    message = await person.conversation.wait_for_message(-1)
    picture = await message.wait_for(QAbstractButton, "Generated image")
    assert picture.toolTip()
    await person.run("Thanks")
    await person.idle()
    assert person.body()["input"][0] == damaged
