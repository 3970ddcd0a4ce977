"""Finding in the conversation, at the keyboard: typed, gone through, while a turn streams, and left again."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from playground.demo.server import DemoConfig
from playground.domain.parts import Reasoning, Text
from playground.domain.transcript import Ending, Outcome, Role, Transcript, make_turn
from playground.ui.features.conversation.reasoning_view import ReasoningView
from playground.ui.features.conversation.text_view import TextView
from tests.benchmarks.experiment import long_transcript
from tests.flows.conftest import Person, Stage
from tests.flows.test_wire import use

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
FIND = "Find in the conversation"


async def open_bar(person: Person) -> QLineEdit:
    await person.key(Qt.Key.Key_F, CONTROL)
    field = await person.seen(QLineEdit, FIND)
    await person.until(field.hasFocus, "the focus in the field")
    return field


def show(person: Person, transcript: Transcript) -> None:
    person.session.turns.add_turn(make_turn(Role.USER, "x"))
    person.session.history.transcript = transcript
    person.pane._show_rows()


async def says(person: Person, words: str) -> None:
    bar = person.pane.finder.bar
    await person.until(lambda: bar.says == words, f"“{words}”, it says “{bar.says}”")


def current(person: Person) -> str:
    """The words that are highlighted more than the others, and in view."""
    view = person.pane.view
    for card in view.cards.values():
        rect = card.finds.rect()
        if rect is None:
            continue
        for text in card.findChildren(TextView):
            if text.found.current is not None and 0 <= text.found.current < len(text.found.places):
                begin, end = text.found.places[text.found.current]
                top = card.y() + rect.top()
                assert 0 <= top <= view.viewport().height() - rect.height(), "it is in view"
                assert text.isVisible()
                return text.toPlainText()[begin:end]
    return ""


def test_words_are_found_across_ten_thousand_turns(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        transcript = long_transcript(10_000)
        asked = [turn.text.partition(":")[0] + ":" for turn in transcript.path if turn.role is Role.USER]
        show(person, transcript)
        await person.until(lambda: person.pane.view.cards, "the cards")
        await open_bar(person)
        first, last = asked[3], asked[-2]
        await person.keys(first)
        await says(person, "1 of 1")
        await person.until(lambda: current(person) == first, "the place in view")
        await person.key(Qt.Key.Key_A, CONTROL)
        await person.keys(last)
        await says(person, "1 of 1")
        await person.until(lambda: current(person) == last, "the other place in view")
        await person.key(Qt.Key.Key_Escape)
        await person.until(lambda: not person.pane.finder.is_open, "the bar to close")
        assert all(
            not text.found.places for card in person.pane.view.cards.values() for text in card.findChildren(TextView)
        )

    stage.play(scene)


def test_every_place_can_be_gone_to_with_the_keyboard(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        done = Outcome(ending=Ending.COMPLETE, finish_reason="stop")
        thought = make_turn(Role.ASSISTANT).model_copy(
            update={
                "parts": (Reasoning(text="The needle is here."), Text(text="A **nee**dle, and more.")),
                "outcome": done,
            }
        )
        filler = [make_turn(Role.USER, "nothing to see\n" * 30) for _ in range(20)]
        link = make_turn(Role.ASSISTANT, "[nothing](http://needle.example)").model_copy(update={"outcome": done})
        turns = [make_turn(Role.USER, "Needle and NEEDLE"), *filler[:10], thought, link, *filler[10:]]
        show(person, Transcript().append(*turns))
        await person.type_into(person.message, "kept")
        await open_bar(person)
        await person.keys("needle")
        await says(person, "1 of 4")
        assert (await person.seen(QLineEdit, FIND)).hasFocus()
        seen = []
        for number in (2, 3, 4, 1):
            await person.key(Qt.Key.Key_Return)
            await says(person, f"{number} of 4")
            await person.until(lambda: current(person), "a place in view")
            seen.append(current(person))
        assert seen == ["NEEDLE", "needle", "needle", "Needle"]
        await person.key(Qt.Key.Key_F3, SHIFT)
        await says(person, "4 of 4")
        await person.key(Qt.Key.Key_G, CONTROL | SHIFT)
        await says(person, "3 of 4")
        card = person.pane.view.cards[thought.id]
        (reasoning,) = card.findChildren(ReasoningView)
        assert reasoning.is_open, "reasoning is unfolded for what is in it"
        await person.press("Match upper and lower case")
        await says(person, "1 of 2")
        await person.press("Whole words only")
        await person.type_into(await person.seen(QLineEdit, FIND), "need")
        await says(person, "No results")
        await person.key(Qt.Key.Key_Escape)
        await person.until(person.message.hasFocus, "the focus where it was")
        assert person.message.toPlainText() == "kept"

    stage.play(scene)


def test_a_turn_that_streams_is_searched_as_it_grows(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await use(person, "demo-chat")  # no reasoning, which would be folded when the run is stopped early
        await person.run("Hello there !long")
        await person.until(lambda: person.session.growing, "the turn")
        await open_bar(person)
        await person.keys("the")
        finder = person.pane.finder
        await person.until(lambda: finder._search.total > 3, "places in what has arrived")
        before = finder._search.total
        await person.until(lambda: finder._search.total > before + 3, "more places")
        await person.key(Qt.Key.Key_Escape)  # means the bar, not the run
        await person.until(lambda: not finder.is_open, "the bar to close")
        assert person.session.active_run is not None
        person.session.stop()
        await person.idle(turns=2)
        await open_bar(person)
        await person.until(lambda: finder._search.done and " of " in finder.bar.says, "all places")
        # which one that is depends on how far the turn had come, and scrolled its question away, when it was stopped
        await person.until(lambda: current(person).lower() == "the", "the first one in view")
        shown = sum(text.toPlainText().lower().count("the") for text in person.card(-1).findChildren(TextView))
        shown += person.path[0].text.lower().count("the")
        assert finder._search.total == shown

    stage.play(scene, DemoConfig(tokens_per_second=400, time_to_first_token=0.01))


def test_without_turns_there_is_nothing_to_find(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        await person.key(Qt.Key.Key_F, CONTROL)
        await person.until(lambda: "no turns to search" in person.pane.notice.words, "the notice")
        assert not person.pane.finder.is_open

    stage.play(scene)
