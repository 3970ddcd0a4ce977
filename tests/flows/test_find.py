"""Search in the conversation with the keyboard: typed, gone through, while a message streams, and closed again."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTextEdit

from playground.demo.server import DemoConfig
from playground.domain.parts import Reasoning, Text
from playground.domain.transcript import Ending, Outcome, Role, Transcript, make_turn
from tests.benchmarks.experiment import long_transcript
from tests.flows.conftest import Person, flow
from tests.flows.pages import finder
from tests.flows.pages.finder import Finder
from tests.flows.test_wire import use

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier

current, open_bar, says = finder.current, finder.open_bar, finder.says  # imported by other flows by these names


@flow()
async def test_text_is_found_at_both_ends_of_a_long_conversation(person: Person) -> None:
    bar = Finder(person)
    await person.key(Qt.Key.Key_F, CONTROL)
    await person.conversation.notice.wait_for_text("No messages to search")
    assert not bar.is_open

    transcript = long_transcript(1_000)
    questions = [turn.text.partition(":")[0] + ":" for turn in transcript.path if turn.role is Role.USER]
    await person.do(lambda: person.session.turns.rewrite(transcript))
    await person.until(lambda: person.conversation.messages.messages, "messages")
    await bar.open()
    for question in (questions[3], questions[-2]):
        await person.key(Qt.Key.Key_A, CONTROL)
        await person.keys(question)
        await bar.wait_for_text("1 of 1")
        await bar.wait_for_match(question)
    await bar.close()
    assert not bar.match


@flow()
async def test_each_match_is_reached_with_the_keyboard(person: Person) -> None:
    bar = Finder(person)
    done = Outcome(ending=Ending.COMPLETE, finish_reason="stop")
    parts = (Reasoning(text="The needle is here."), Text(text="A **nee**dle, and more."))
    thought = make_turn(Role.ASSISTANT).model_copy(update={"parts": parts, "outcome": done})
    filler = [make_turn(Role.USER, "nothing to see\n" * 30) for _ in range(20)]
    link = make_turn(Role.ASSISTANT, "[nothing](http://needle.example)").model_copy(update={"outcome": done})
    turns = [make_turn(Role.USER, "Needle and NEEDLE"), *filler[:10], thought, link, *filler[10:]]
    await person.do(lambda: person.session.turns.rewrite(Transcript().append(*turns)))
    await person.type_into(person.message, "kept")
    field = await bar.open()
    await person.keys("needle")
    await bar.wait_for_text("1 of 5")
    assert field.hasFocus()
    # The address of the link is not drawn: the end of its words is marked instead.
    for number, match in ((2, "NEEDLE"), (3, "needle"), (4, "needle"), (5, "g"), (1, "Needle")):
        await person.key(Qt.Key.Key_Return)
        await bar.wait_for_text(f"{number} of 5")
        await bar.wait_for_match(match)
    await person.key(Qt.Key.Key_F3, SHIFT)
    await bar.wait_for_text("5 of 5")
    await person.key(Qt.Key.Key_G, CONTROL | SHIFT)
    await bar.wait_for_text("4 of 5")
    await person.key(Qt.Key.Key_G, CONTROL | SHIFT)
    await bar.wait_for_text("3 of 5")
    card = await person.conversation.messages.wait_for_message(thought)
    assert card.has_button("Reasoning, shown"), "reasoning is unfolded for its match"
    await person.press("Match upper and lower case")
    await bar.wait_for_text("1 of 3")
    await person.press("Whole words only")
    await person.type_into(field, "need")
    await bar.wait_for_text("No results")
    await bar.close()
    await person.until(person.message.hasFocus, "the focus in the message again")
    assert person.message.toPlainText() == "kept"


@flow(DemoConfig(tokens_per_second=100, time_to_first_token=0.01))
async def test_streaming_message_is_searched_as_it_grows(person: Person) -> None:
    bar = Finder(person)
    await use(person, "demo-chat")  # no reasoning, which would be folded when the run is stopped early
    await person.run("Hello there !long")
    await person.until(lambda: person.session.growing, "the message")
    await bar.open()
    await person.keys("the")
    await person.until(lambda: bar.total > 3, "matches in the text so far")
    before = bar.total
    await person.until(lambda: bar.total > before + 3, "more matches")
    await bar.close()  # the key closes the bar and does not stop the run
    assert person.session.active_run is not None
    person.session.stop()
    await person.idle(turns=2)
    await bar.open()
    await person.until(lambda: " of " in bar.text and not bar.text.endswith("…"), "all matches")
    # which match is in front depends on how far the message had come when it was stopped
    await person.until(lambda: bar.match.lower() == "the", "a match in view")
    views = person.conversation.message(-1).find(QTextEdit)
    texts = [person.path[0].text, *(view.toPlainText() for view in views)]
    assert bar.total == sum(text.lower().count("the") for text in texts)
