"""The sample “Real tools” as a new user meets it: opened, run, and answered by a real server.

The server is the demo's, a process of its own, started by what is pressed and by nothing before.
"""

from __future__ import annotations

import json

from PySide6.QtWidgets import QPushButton

from playground.engine.tool_servers.events import State
from tests.flows.conftest import Person, flow
from tests.flows.pages.conversation import CallCard


@flow()
async def test_sample_real_tools_is_answered_by_real_server(person: Person) -> None:
    await person.click(await person.seen(QPushButton, "Open the sample Real tools", person.pane.welcome))
    await person.until(lambda: len(person.path) == 2, "the sample")
    servers = person.app.workspace.tool_servers
    assert servers.live("demo").state is State.STOPPED, "nothing runs before it is asked for"
    await person.press("Run", person.pane.notice)
    await person.until(lambda: [call.name for _, call in person.session.debugger.waiting] == ["roll_dice"], "a call")
    assert servers.live("demo").state is State.READY

    def open_calls() -> list[CallCard]:
        return [card for card in CallCard.find_all(person) if card.has_button("Ask the server")]

    await person.until(open_calls, "the card of the call")
    (card,) = open_calls()
    await card.press("Ask the server")
    await person.until(lambda: "rolled" in card.result_text, "the server's answer")
    await card.press("Send result")
    await person.until(lambda: "roll_dice" in person.path[-1].text, "the answer")
    await person.idle()
    results = [result for turn in person.path for result in turn.results]
    clock, rolled = (json.loads(result.text) for result in results)
    assert clock["zone"]
    assert sum(rolled["rolled"]) == rolled["sum"]
    assert all(result.served is not None and result.served.server == "Demo tools" for result in results)
    assert servers.tape.entries
