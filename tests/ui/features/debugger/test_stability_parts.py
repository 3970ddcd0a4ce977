"""The parts of the window that repeats a step: what is different, figures in words, bars, the editor of variant B."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from playground.domain.errors import Failure, FailureKind
from playground.domain.parts import ToolCall
from playground.domain.tools import ToolDefinition
from playground.domain.usage import Usage
from playground.engine.files.tool_import import export_tools
from playground.engine.session.session import Session
from playground.engine.session.stability import FAILED, NO_CALL, Sample, Variant, VariantResult
from playground.ui.features.debugger.call_words import seconds_words
from playground.ui.features.debugger.stability_window import Histogram
from playground.ui.features.debugger.stability_words import bars, brief, figures
from playground.ui.features.debugger.variant_editor import VariantEditor, differences, read_choice, read_tools
from tests.ui.features.debugger.seen import WEATHER, session

OTHER = ToolDefinition(name="get_time", description="The time")


def sample(number: int, *cities: str, fits: bool = True, failure: Failure | None = None) -> Sample:
    calls = tuple(ToolCall(id=f"{city}{number}", name="f", arguments=json.dumps({"city": city})) for city in cities)
    usage = None if failure else Usage(prompt=100, completion=20)
    return Sample(number, calls, (fits,) * len(calls), "", 0.1 * number, 0.01, usage, "stop", failure)


# What is different


def test_what_is_different_is_named() -> None:
    schema = {**(WEATHER.parameters or {}), "required": []}
    edited = WEATHER.model_copy(update={"description": "x", "parameters": schema, "strict": True})
    assert differences((WEATHER, OTHER), (WEATHER, OTHER)) == []
    assert differences((WEATHER, OTHER), (OTHER, WEATHER)) == ["the order is another one"]
    assert differences((WEATHER,), (OTHER,)) == ["get_weather is not on offer", "get_time is new"]
    assert differences((WEATHER,), (edited,)) == ["get_weather: description, schema (required), strict"]
    turned = WEATHER.model_copy(update={"parameters": dict(reversed((WEATHER.parameters or {}).items()))})
    assert differences((WEATHER,), (turned,)) == ["get_weather: schema (all of it, in another order)"]
    off = OTHER.model_copy(update={"enabled": False})
    assert differences((WEATHER, off), (WEATHER,)) == [], "a tool that is off was not on offer before"


@pytest.mark.parametrize("protocol", ["chat", "messages"])
def test_tools_come_out_of_the_text_they_went_into(protocol: str) -> None:
    tools = (WEATHER, OTHER.model_copy(update={"parameters": {"type": "object"}}))
    assert differences(tools, read_tools(export_tools(tools, protocol))) == []
    assert read_tools("[]") == ()
    for text, words in (
        ("[", "Expecting"),
        ("3", "no tool definitions"),
        ('[{"type": "function"}]', "“name” is missing"),
    ):
        with pytest.raises(ValueError, match=words):
            read_tools(text)


def test_a_tool_choice_is_spelled_as_the_protocol_wants_it() -> None:
    found: Session = session()
    kind = type(found.settings.current)
    assert read_choice(" ", kind, ()) is None
    assert read_choice("required", kind, {"get_weather"}) == "required"
    assert read_choice("f", kind, {"f"}) == {"type": "function", "function": {"name": "f"}}
    assert read_choice('{"type": "x"}', kind, ()) == {"type": "x"}
    with pytest.raises(ValueError, match="Expecting"):
        read_choice("{", kind, ())


# Figures


def test_figures_say_what_was_counted() -> None:
    result = VariantResult(Variant(), [sample(1, "a"), sample(2, "a", fits=False), sample(3)])
    words = {name: said.replace("\u00a0", " ") for name, said in figures(result)}
    assert words == {
        "Answers": "3",
        "Fit the schema": "1 of 2 calls · 50 %",
        "Whole answer": "median 200 ms · 90 % within 280 ms · longest 300 ms",
        "First content": "median 10 ms · 90 % within 10 ms · longest 10 ms",
        "Tokens": "300 in · 60 out",
        "Failures": "none",
    }
    failure = Failure(kind=FailureKind.HTTP, status=429, message="Slow down")
    failed = dict(figures(VariantResult(Variant(), [sample(1, failure=failure)])))
    assert failed["Failures"] == "1 × 429: Slow down"
    assert failed["Whole answer"] == "–"
    assert failed["Tokens"] == "not reported"
    assert failed["Fit the schema"] == "no calls"


def test_figures_say_that_of_several_choices_one_is_looked_at() -> None:
    several = VariantResult(Variant(), [replace(sample(1, "a"), choices=3), sample(2, "a")])
    said = dict(figures(several))
    assert said["Choices"] == "the first of 3 is looked at; tokens are of all"
    assert said["Tokens"] == "200 in · 40 out"


def test_both_variants_have_the_same_bars_in_the_same_order() -> None:
    failure = Failure(kind=FailureKind.HTTP, status=500, message="x")
    first = VariantResult(Variant(name="A"), [sample(1, "b", "a"), sample(2, "a", "b"), sample(3)])
    second = VariantResult(Variant(name="B"), [sample(1), sample(2), sample(3, failure=failure)])
    a, b = ('f({"city": "a"})', 'f({"city": "b"})')
    assert bars((first, second), single=False) == [
        [((NO_CALL,), 1), ((a, b), 2), ((FAILED,), 0)],
        [((NO_CALL,), 2), ((a, b), 0), ((FAILED,), 1)],
    ]
    assert bars((first, second), single=True) == [[((a,), 2), ((b,), 2)], [((a,), 0), ((b,), 0)]]


def test_a_call_is_written_shortly_and_anything_else_as_it_is() -> None:
    assert brief('f({"city": "Oslo", "n": [1]})') == 'f(city: "Oslo", n: [1])'
    for odd in ("f({bad)", "f([1])", "(no call)", "f"):
        assert brief(odd) == odd


def test_times_are_said_as_people_say_them() -> None:
    said = [seconds_words(value) for value in (None, 0, 0.0843, 0.9996, 1.2, 9.996, 59.94, 185.4, 7260)]
    assert said == ["", "0 ms", "84 ms", "1.00 s", "1.20 s", "10.0 s", "59.9 s", "3 min 05 s", "2 h 01 min"]


def test_a_histogram_is_there_in_words_and_copied(qtbot: QtBot) -> None:
    histogram = Histogram("How often each came")
    qtbot.addWidget(histogram)
    histogram.set_bars([(("f({})", "g({})"), 3), ((NO_CALL,), 1), ((FAILED,), 0)], 4)
    words = "3 (75\u00a0%): f({}) + g({})\n1 (25\u00a0%): (no call)\n0 (0\u00a0%): (failed)"
    assert histogram.accessibleDescription() == words
    height = histogram.sizeHint().height()
    histogram.resize(300, height)
    histogram.show()
    QTest.keyClick(histogram, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == words
    histogram.set_bars([((f"f({number})",), 1) for number in range(30)], 30)
    assert histogram.sizeHint().height() > 3 * height
    histogram.hide()


# Variant B


@pytest.fixture
def editor(qtbot: QtBot) -> VariantEditor:
    editor = VariantEditor()
    qtbot.addWidget(editor)
    found = session()
    found.change(tools=(WEATHER, OTHER.model_copy(update={"enabled": False})))
    editor.start(found.settings.tools, found.settings.current, "chat")
    return editor


def test_variant_b_begins_as_what_is_sent(editor: VariantEditor) -> None:
    variant = editor.variant()
    assert [tool.name for tool in variant.tools or ()] == ["get_weather"]
    assert variant.tool_choice is None
    assert editor.said.text() == "Nothing is different yet."
    assert editor.choice.choices() == ("auto", "none", "required", "get_weather")


def test_what_a_protocol_adds_in_writing_is_no_difference(editor: VariantEditor) -> None:
    found = session()
    editor.field.set_text("")
    editor.start((OTHER,), found.settings.current, "messages")
    assert "input_schema" in editor.field.text
    assert editor.said.text() == "Nothing is different yet."


def test_tools_that_break_the_rules_are_copied_and_refused_when_they_are_to_go_out(editor: VariantEditor) -> None:
    found = session()
    editor.field.set_text("")
    editor.start((OTHER.model_copy(update={"name": ""}),), found.settings.current, "chat")
    assert '"name": ""' in editor.field.text
    with pytest.raises(ValueError, match="“name” is missing"):
        editor.variant()


def test_what_is_typed_is_named_and_stays(editor: VariantEditor) -> None:
    editor.field.replace_text(editor.field.text.replace("The weather now", "Weather"))
    editor.choice.setEditText("required")
    editor.check()
    assert editor.said.text() == "Different in B:\n• get_weather: description\n• tool choice: default → required"
    variant = editor.variant()
    assert (variant.tools or ())[0].description == "Weather"
    assert variant.tool_choice == "required"
    found = session()
    editor.start(found.settings.tools, found.settings.current, "chat")
    assert "Weather" in editor.field.text, "the experiment changed, what was typed stays"
    editor.again.click()
    assert editor.said.text() == "Nothing is different yet."


def test_what_cannot_be_read_is_refused_in_words(editor: VariantEditor) -> None:
    editor.field.replace_text('[{"name": 3}]')
    editor.check()
    assert editor.said.text() == "The tools cannot be read yet."
    assert editor.field.lines
    with pytest.raises(ValueError, match=r"The tools of variant B cannot be read: .*“name” is missing"):
        editor.variant()
    editor.field.replace_text("[]")
    editor.choice.setEditText("{")
    with pytest.raises(ValueError, match="The tool choice of variant B cannot be read"):
        editor.variant()
    editor.choice.setEditText("")
    assert editor.variant().tools == ()
