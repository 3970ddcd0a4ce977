"""Answers of very many parts: a page of them is shown, and every part can be reached and found."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from playground.domain.transcript import Transcript
from playground.engine.files.lexers import lexer_for
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.shown_parts import PAGE
from playground.ui.features.conversation.turn_card import TurnCard
from tests.flows.conftest import Person, Stage
from tests.flows.test_error_cards import at
from tests.flows.test_find import current, open_bar, says
from tests.hostile.drawn import calls, in_turn
from tests.support.fault_server import FaultServer, head, pause, send, sse, text_chunk


async def asked(person: Person, server: FaultServer, answer: bytes) -> TurnCard:
    """Ask once, and wait until the card of the answer has all it shows."""
    server.play(send(head()), send(answer))
    await person.run("Go")
    await person.until(lambda: person.path and person.path[-1].outcome is not None, "an end")
    await person.idle()
    card = person.card(-1)
    await person.until(lambda: card.whole, "its views")
    return card


def test_colours_are_loaded_while_the_first_answer_is_waited_for(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as server:
            await at(person, server)
            lexer_for.cache_clear()
            server.play(send(head()), pause(), send(sse(text_chunk("Now."), text_chunk("", "stop"), "[DONE]")))
            await person.run("Go")
            await person.until(lambda: lexer_for.cache_info().currsize, "colours")
            assert not person.path[-1].text
            server.go_on()
            await person.idle()

    stage.play(scene)


def test_a_turn_of_very_many_parts_is_leafed_through(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as server:
            await at(person, server)
            card = await asked(person, server, in_turn(500, 2))
            assert len(card.turn.parts) == 500
            assert len(card.body) <= PAGE
            assert card.parts.shown[-1] is card.turn.parts[-1]  # what came last is in view
            await person.press("The first parts of this turn", card)
            await person.until(lambda: card.whole, "the first page")
            assert list(card.parts.shown) == list(card.turn.parts[:PAGE])
            await person.press("The parts behind these", card)
            await person.until(lambda: card.whole, "the second page")
            assert list(card.parts.shown) == list(card.turn.parts[PAGE : 2 * PAGE])
            assert not person.find(QPushButton, "The first parts of this turn", card)[0].isHidden()
            field = await open_bar(person)
            await person.type_into(field, "word 402")
            await says(person, "1 of 1")
            await person.until(lambda: current(person) == "word 402", "the place in view")
            await person.type_into(field, "word 1")
            await says(person, "1 of 111")
            await person.until(lambda: current(person) == "word 1", "the first one in view")
            await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
            await says(person, "111 of 111")

    stage.play(scene)


def test_a_call_far_behind_is_gone_to(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        with FaultServer() as server:
            await at(person, server)
            card = await asked(person, server, calls(60))
            session = person.session
            assert isinstance(session.transcript, Transcript)
            found = card.turn_to_call("call_45")
            assert isinstance(found, CallCard)
            assert found.call.id == "call_45"
            for number in range(30):
                session.debugger.send(card.turn.id, f"call_{number}", "sunny")
            person.pane._focus_waiting_call()
            await person.until(
                lambda: any(one.call.id == "call_30" and one.field and one.field.isVisible() for one in card.calls),
                "the first call that waits",
            )

    stage.play(scene)


def test_what_stands_in_a_card_keeps_its_height_while_the_rest_of_it_is_made(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.run("!fast Hello")
        await person.idle(turns=2)
        card = person.card(1)
        await person.until(lambda: card.whole, "all of the answer")

        def look() -> None:
            before = [edge for head in card.heads() for edge in head]
            for view in card.parts.views:
                view.hide()
            card.leave_room(True)
            card.resize(card.width(), card.height() + 400)  # the room that all of it will need
            layout = card.layout()
            assert layout is not None
            layout.activate()
            assert [edge for head in card.heads() for edge in head] == before

        await person.do(look)

    stage.play(scene)
