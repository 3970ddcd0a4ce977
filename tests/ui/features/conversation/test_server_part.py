"""The card of a call to a tool server: progress, structured content and links."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from playground.domain.parts import ToolCall
from playground.domain.served import answer_of
from playground.domain.tool_servers import Block, LinkBlock, ServerAnswer, TextBlock
from playground.domain.tools import ToolDefinition
from playground.engine.session.tool_calls import Ticket
from playground.jsonkit.values import JSON, JSONObject
from playground.ui.features.conversation.calls.call_card import CallCard
from playground.ui.features.conversation.calls.call_commands import CallState, ServerSide
from playground.ui.features.conversation.calls.result_field import ResultField
from playground.ui.features.conversation.calls.served_view import MISFITS, UNKNOWN, LinkRow, ServedView
from playground.ui.features.conversation.transcript_pane import TranscriptPane

SCHEMA: JSONObject = {"type": "object", "properties": {"temp": {"type": "number"}}, "required": ["temp"]}
TOOL = ToolDefinition(name="get_weather", parameters={"type": "object"}, server="weather", output=SCHEMA)
CALL = ToolCall(id="call_1", name="get_weather", arguments='{"city":"Oslo"}')


def make_answer(*blocks: Block, structured: JSON = None, is_error: bool = False) -> ServerAnswer:
    return ServerAnswer(
        server="weather",
        tool="get_weather",
        blocks=blocks,
        structured=structured,
        is_error=is_error,
        seconds=1.2,
    )


def show_waiting_call(card: CallCard, state: CallState) -> ResultField:
    card.show_state(state)
    card.show_call(CALL, TOOL, None, waiting=True)
    assert card.field is not None
    return card.field


def show_served_call(card: CallCard, state: CallState) -> ServedView:
    """The card of a call that waits with what a server answered for its draft."""
    show_waiting_call(card, state)
    assert card.server is not None
    return card.server.served


def make_state(answered: ServerAnswer) -> CallState:
    reply = answer_of(answered)
    return CallState(server=ServerSide("weather"), served=answered, draft=reply.text, images=reply.images)


def test_progress_of_a_server_call_is_shown_and_can_be_cancelled(qtbot: QtBot, card: CallCard) -> None:
    ticket = Ticket()
    field = show_waiting_call(card, CallState(server=ServerSide("weather", ticket=ticket)))
    assert field.server_button.isHidden()
    assert card.server is not None
    view = card.server.progress
    assert view.isVisible()
    assert view.words.text().startswith("Calling weather… ")
    assert view.bar.maximum() == 0  # busy: it does not say how much there is
    assert "Calling server" in card.accessibleName()
    ticket.done, ticket.total, ticket.words = 3.0, 12.0, "fetching\u202e"
    ticket.log.extend(f"line {number}" for number in range(500))
    qtbot.waitUntil(lambda: "3 of 12" in view.words.text())
    assert view.bar.value() * 4 == view.bar.maximum()
    assert view.message.text() == "fetching‹U+202E›"
    assert view.log.text().split("\n") == ["line 496", "line 497", "line 498", "line 499"]
    assert view.cancel_button.isVisible()
    card.show_state(CallState(server=ServerSide("weather")))
    assert view.isHidden()
    assert field.server_button.isVisible()


def test_structured_content_shows_its_verdict_and_problems(card: CallCard) -> None:
    misfit = make_answer(structured={"temp": "warm"}).model_copy(update={"problems": ("temp: not a number\u202e",)})
    view = show_served_call(card, make_state(misfit)).structured
    assert (view.verdict.text(), view.problems.text()) == (MISFITS, "temp: not a number‹U+202E›")
    view.head.click()
    assert view.text_view.toPlainText() == '{\n  "temp": "warm"\n}'

    missing = make_answer(TextBlock(text="a")).model_copy(update={"problems": ("It came without it.",)})
    view = show_served_call(card, make_state(missing)).structured
    assert (view.problems.isVisible(), view.head.isEnabled()) == (True, False)

    rows: list[JSON] = [{"row": number} for number in range(20_000)]
    view = show_served_call(card, make_state(make_answer(TextBlock(text="many"), structured=rows))).structured
    assert view.take.isHidden()
    view.head.click()
    assert len(view.text_view.source) < 50_000

    card.show_state(CallState(server=ServerSide("weather"), served=make_answer(structured=[1]), draft="[1]"))
    card.show_call(CALL, TOOL.model_copy(update={"output": None}), None, waiting=True)
    assert view.verdict.text() == UNKNOWN


def test_links_of_an_answer_are_opened_only_on_request(qtbot: QtBot, card: CallCard, pane: TranscriptPane) -> None:
    page = LinkBlock(uri="https://x.test/a?b=<i>", name="<b>page</b>", description="hi")
    file = LinkBlock(uri="file:///etc/passwd", name="f")
    view = show_served_call(card, make_state(make_answer(TextBlock(text="see"), page, file)))
    first, second = view.findChildren(LinkRow)
    assert first.words.text() == "Link: <b>page</b> · https://x.test/a?b=<i>"
    assert first.words.textFormat() is Qt.TextFormat.PlainText
    assert not first.open.isHidden()
    assert second.open.isHidden()
    with qtbot.waitSignal(pane.link_asked) as emitted:
        first.open.click()
    assert emitted.args == ["https://x.test/a?b=<i>"]


def test_only_ten_of_many_links_are_listed(card: CallCard) -> None:
    view = show_served_call(
        card, make_state(make_answer(*[LinkBlock(uri=f"demo://{number}") for number in range(5_000)]))
    )
    assert len(view.findChildren(LinkRow)) == 10
    assert len(view.fate.text()) < 5_000
