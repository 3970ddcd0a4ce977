"""The cost of an experiment: every request once, at the price of its time, whatever is chosen afterwards."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel

from playground.domain.prices import Price
from playground.engine.gateways.gateways import DEMO_ID
from playground.engine.gateways.profiles import Profile
from tests.flows.conftest import Person, flow
from tests.flows.pages.gateways import PriceWindow


@flow()
async def test_answers_keep_their_price_until_it_is_corrected(person: Person) -> None:
    gateways, session, pane = person.app.gateways, person.session, person.pane
    gateways.set_price(DEMO_ID, "demo-chat", Price(output=1_000_000))  # one for each token
    session.set_parameters(session.settings.current.with_value("n", 3))
    await person.use_model("demo-chat")
    await person.run("Say it in one line. !long=40")
    await person.idle(turns=2)
    outcome = person.path[-1].outcome
    assert outcome is not None
    assert outcome.usage is not None
    spent = f"${outcome.usage.completion:,.2f}"
    await person.until(lambda: pane.cost.words == spent, "three choices are one request")
    labels = person.app.window.status.findChildren(QLabel)
    await person.until(
        lambda: any("all 3 choices:" in label.text() and spent in label.text() for label in labels), "the status"
    )

    await person.use_model("demo-reasoner")
    assert (pane.cost_words(person.path[-1].id), pane.cost.words) == (spent, spent)
    second = gateways.store.add_profile(Profile(name="Other", base_url=person.server.base_url))
    session.change(profile_id=second.id)
    assert (pane.cost_words(person.path[-1].id), pane.cost.words) == (spent, spent)

    session.change(profile_id=DEMO_ID)
    session.set_parameters(session.settings.current.with_value("n", None))
    await person.run("And this? !long=10")
    await person.idle(turns=4)
    assert pane.cost_words(person.path[-1].id) == "", "that model costs nothing, by the gateway's list"
    await person.until(lambda: pane.cost.words == spent)
    gateways.set_price(DEMO_ID, "demo-reasoner", Price(output=0.5, currency="€"))
    pane.cost.count()
    await person.until(lambda: pane.cost.words.startswith(f"{spent} + "), "the price of an answer that had none")

    # A corrected price is applied to earlier answers
    await person.trigger("experiment.new")
    await person.until(lambda: not person.path, "another experiment")
    await person.use_model("demo-chat")
    person.app.gateways.set_price(DEMO_ID, "demo-chat", Price(output=1_000_000))
    await person.run("Say it in one line. !long=40")
    await person.idle(turns=2)
    await person.until(lambda: person.pane.cost.words)
    before = person.pane.cost.words
    prices = await PriceWindow.opened(person, "run.price")
    await prices.enter("Output", "100000")
    await prices.press("Also update 1 earlier answer")
    await prices.press("Save")
    await person.until(lambda: person.pane.cost.words != before)
    assert float(person.pane.cost.words[1:].replace(",", "")) * 10 == float(before[1:].replace(",", ""))
