"""The window with tool servers of others: what the reference server offers besides tools, and one that floods."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from time import thread_time

import pytest
from PySide6.QtCore import Qt, QTimer

from playground.domain.tool_servers import ToolServer
from playground.engine.session.serving import ServingError, Ticket
from playground.engine.tool_servers.live import State
from playground.ui.features.offered.dialog import OfferedDialog
from playground.ui.features.offered.offers import PROMPTS, RESOURCES, Offer
from playground.ui.features.server_tape.model import DATA
from playground.ui.features.server_tape.page import TapePage
from playground.ui.shell.features import OFFERED, SERVER_TAPE
from tests.flows.conftest import Person, Stage
from tests.support import tool_servers
from tests.support.required_tools import NODE_PACKAGES, requires


async def ready(person: Person, server: ToolServer) -> str:
    """A server that was confirmed, and runs; its id."""
    servers = person.app.workspace.tool_servers
    kept = servers.book.add(server)
    servers.book.confirm(kept)
    await servers.start(kept.id)
    return kept.id


async def opened(person: Person, action: str) -> OfferedDialog:
    await person.do(person.app.window.action(action).trigger)
    dialog = person.app.actions.of(OFFERED).dialog
    assert dialog is not None
    await person.until(lambda: bool(dialog.model.offers), "what it offers")
    return dialog


async def choose(person: Person, dialog: OfferedDialog, kind: int, offer: Offer) -> None:
    await person.do(partial(dialog.choose, kind, offer.key))
    assert dialog.offer is not None
    assert dialog.offer.key == offer.key


@requires(NODE_PACKAGES)
def test_prompts_and_resources_of_the_reference_server(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person, tool_servers.everything())
        dialog = await opened(person, "servers.prompts")
        prompts = {offer.value.name: offer for offer in dialog.model.offers}
        for name, offer in prompts.items():
            await choose(person, dialog, PROMPTS, offer)
            for argument, field in dialog.form.fields.items():
                await person.do(partial(field.textEdited.emit, ""))
                if field.argument.required:
                    await person.do(partial(field.setText, _value(argument)))
            await person.do(dialog.ask)
            await person.until(lambda: dialog.text.isVisible() or dialog.problem.isVisible(), f"messages of {name}")
            assert dialog.problem.text() == "", name
            assert dialog.write_button.isEnabled(), name
        completed = next(offer for offer in prompts.values() if "complet" in offer.value.name)
        await choose(person, dialog, PROMPTS, completed)
        first = next(iter(dialog.form.fields.values()))
        await person.do(partial(first.typed.emit, first.argument.name, ""))
        await person.until(lambda: bool(first.proposed), "what the server proposes")
        second = list(dialog.form.fields.values())[1]
        await person.do(partial(first.setText, first.proposed[0]))
        await person.do(partial(second.typed.emit, second.argument.name, ""))
        await person.until(lambda: bool(second.proposed), "what it proposes with the first one known")

        await person.do(partial(dialog.show_kind, RESOURCES))
        await person.until(lambda: any(offer.template for offer in dialog.model.offers), "its resources")
        for offer in [offer for offer in dialog.model.offers if offer.template]:
            await choose(person, dialog, RESOURCES, offer)
            for field in dialog.form.fields.values():
                await person.do(partial(field.setText, "1"))
            await person.do(dialog.ask)
            await person.until(lambda: bool(dialog.outcome.text()) and dialog.ask_button.isEnabled(), "a resource")
            assert "{" not in dialog.address.text()
            assert dialog.problem.text() == "", offer.key
        await person.do(dialog.reject)

    stage.play(scene)


def test_a_flood_with_the_page_open_holds_nobody_up(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await ready(person, tool_servers.hostile("flood"))
        await person.do(person.app.window.action("view.servers").trigger)
        page = person.app.actions.of(SERVER_TAPE).page
        assert isinstance(page, TapePage)
        await person.until(lambda: page.model.rowCount() > 500, "much on the page")
        ticks: list[float] = []
        beat = QTimer()
        beat.timeout.connect(lambda: ticks.append(thread_time()))
        beat.start(0)
        rows = page.model.rowCount()
        await person.until(lambda: page.model.rowCount() > rows + 3_000, "much more on the page")
        beat.stop()
        gaps = sorted(later - earlier for earlier, later in pairwise(ticks))
        assert gaps[int(len(gaps) * 0.99)] < 0.016
        assert gaps[-1] < 0.1
        assert page.table.at_end
        live = person.app.workspace.tool_servers.live("hostile")
        assert live.state is State.READY
        kept = next(found for entry in page.model.rows if (found := re.search(r"flood \d+ ", entry.frame.text)))
        await person.do(partial(page.finder.setText, kept[0].upper()))
        await person.until(lambda: page.model.rowCount() == 1, f"the one with {kept[0]!r}")

    stage.play(scene)


def test_one_that_dies_says_so_and_odd_names_are_marks(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        server_id = await ready(person, tool_servers.hostile("bidi"))
        servers = person.app.workspace.tool_servers
        with pytest.raises(ServingError, match="exit code 7"):
            await servers.call(server_id, "die", {}, Ticket())
        await person.do(person.app.window.action("view.servers").trigger)
        page = person.app.actions.of(SERVER_TAPE).page
        assert isinstance(page, TapePage)
        await person.until(
            lambda: any(entry.frame.notice and entry.frame.error for entry in page.model.rows), "its end"
        )
        model = page.model
        row = next(at for at, entry in enumerate(model.rows) if entry.frame.notice and entry.frame.error)
        assert "exit code 7" in str(model.data(model.index(row, DATA)))
        said = [
            str(model.data(model.index(at, column), role))
            for at in range(model.rowCount())
            for column in range(model.columnCount())
            for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
        ]
        assert not set("\u202e\u2066\u200b\x1b\x00\x9b") & set("".join(said))
        await person.do(partial(page.table.selectRow, row))
        assert page.detail.text.text().startswith("The server ended by itself")
        assert page.partner.isHidden()

    stage.play(scene)


def _value(argument: str) -> str:
    """What the reference server takes for its arguments."""
    return {"resourceType": "Text", "resourceId": "1", "department": "Engineering"}.get(argument, "Paris")
