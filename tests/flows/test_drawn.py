"""Answers of very many parts: a page of them is shown, and every part can be reached and found."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from tests.flows.conftest import Person, flow
from tests.flows.pages.conversation import MessageCard
from tests.flows.test_error_cards import use_server
from tests.flows.test_find import current, open_bar, says
from tests.hostile.drawn import calls, in_turn
from tests.support.fault_server import FaultServer, head, send


async def receive(person: Person, server: FaultServer, answer: bytes) -> MessageCard:
    """Run, and wait until the message of the answer is in view."""
    server.play(send(head()), send(answer))
    await person.run("Go")
    await person.until(lambda: person.path and person.path[-1].outcome is not None, "the end of the answer")
    await person.idle()
    return await person.conversation.wait_for_message(-1)


async def wait_for_parts(person: Person, message: MessageCard, first: int, last: int, total: int) -> None:
    """Wait until a page of parts is shown, and nothing else. The texts are "word 0", "word 2" and so on."""
    line = f"parts {first} to {last} of {total}"

    def shows(number: int) -> bool:
        return f"word {number}" in (text.strip() for text in message.text.split("\n"))

    await person.until(lambda: line in message.texts and shows(first - 1) and shows(last - 2), line)
    assert not shows(first - 3)
    assert not shows(last)


@flow()
async def test_message_of_very_many_parts_is_shown_page_by_page(person: Person) -> None:
    with FaultServer() as server:
        await use_server(person, server)
        message = await receive(person, server, in_turn(500, 2))
        assert len(person.path[-1].parts) == 500
        await wait_for_parts(person, message, 491, 500, 500)  # the newest are in view
        await message.press("The first parts")
        await wait_for_parts(person, message, 1, 20, 500)
        await message.press("The parts after these")
        await wait_for_parts(person, message, 21, 40, 500)
        await message.wait_for(QPushButton, "The first parts")
        field = await open_bar(person)
        await person.type_into(field, "word 402")
        await says(person, "1 of 1")
        await person.until(lambda: current(person) == "word 402", "the match in view")
        await person.type_into(field, "word 1")
        await says(person, "1 of 111")
        await person.until(lambda: current(person) == "word 1", "the first match in view")
        await person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        await says(person, "111 of 111")

        # Run with open calls leads to the first one, on a later page
        await person.trigger("experiment.new")
        message = await receive(person, server, calls(60))
        for number in range(30):
            person.session.debugger.send(person.path[1].id, f"call_{number}", "sunny")
        await person.trigger("run.run")

        def open_calls() -> list[str]:
            return [call.call_id for call in message.calls if call.waiting]

        await person.until(lambda: open_calls()[:1] == ["call_30"], "the first open call")
