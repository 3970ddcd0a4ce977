"""Variables in what a person writes: which braces are one, what goes in, and what stays as it is."""

from __future__ import annotations

from playground.domain.parts import Image, Reasoning, Text, ToolResult
from playground.domain.transcript import Role, Transcript, make_turn
from playground.domain.variables import (
    as_written,
    mentions,
    names_in,
    resolve,
    resolve_turns,
    unresolved,
)
from tests.support.each_case import each_case

VALUES = {"city": "Oslo", "x-1": "one", "город": "Пермь", "nested": "{{city}}", "empty": ""}


@each_case(
    ("text", "sent"),
    [
        ("Weather in {{city}}?", "Weather in Oslo?"),
        ("{{ city }}{{\tcity}}", "OsloOslo"),
        ("{{x-1}} {{город}}", "one Пермь"),
        ("[{{empty}}]", "[]"),
        ("{{nested}}", "{{city}}"),
        ("{{unknown}} {{ unknown }}", "{{unknown}} {{ unknown }}"),
        (r"\{{city}}", "{{city}}"),
        (r"\{{ city }}", "{{ city }}"),
        (r"\\{{city}}", r"\Oslo"),
        (r"\\\{{city}}", r"\\Oslo"),
        (r"{\{{city}}", "{{{city}}"),
        (r"\\{{unknown}}", r"\{{unknown}}"),
    ],
)
def test_variables_are_replaced(text: str, sent: str) -> None:
    assert resolve(text, VALUES) == sent


@each_case(
    "text",
    [
        "{{{city}}}",
        "{{{{city}}}}",
        "{{ user.city }}",
        "{{#each city}}{{/each}}",
        '{{"city": 1}}',
        "{{1}} {{}} {{ }} {{-city}}",
        "{{city\n}}",
        "{ {city} }",
        "{{ city name }}",
        "{% if city %}",
        r"\frac{a}{b} \{ \\{",
        "{{" + "a" * 65 + "}}",
    ],
)
def test_other_braces_are_text(text: str) -> None:
    values = {**VALUES, "a" * 65: "!", "": "!", "1": "!"}
    assert mentions(text) == []
    assert resolve(text, values) == text


def test_variable_can_be_sent_as_it_is_written() -> None:
    values = {"city": as_written("city")}
    assert resolve("{{ city }} {{city}}", values) == "{{ city }} {{city}}"
    assert unresolved((make_turn(Role.USER, "{{city}}"),), values) == ()


def test_mentions_have_their_place() -> None:
    text = r"a {{city}} \{{city}} {{ b }}"
    result = mentions(text)
    assert [(text[m.start : m.end], m.name, m.escaped) for m in result] == [
        ("{{city}}", "city", False),
        (r"\{{city}}", "city", True),
        ("{{ b }}", "b", False),
    ]


def test_variables_in_answers_stay() -> None:
    result = ToolResult(call_id="1", text="{{city}}", by="you")
    picture = Image(url="https://example.org/{{city}}.png")
    turns = Transcript().append(
        make_turn(Role.SYSTEM, "Be {{mood}}."),
        make_turn(Role.USER, "{{city}}", picture, Text(text="{{mood}}, {{last}}")),
        make_turn(Role.ASSISTANT, "{{answer}}", Reasoning(text="{{thought}}")),
        make_turn(Role.TOOL, "", result),
        make_turn(Role.USER, "plain"),
    )
    assert names_in(turns.path) == ("mood", "city", "last")
    assert unresolved(turns.path, {"city": ""}) == ("mood", "last")
    sent = resolve_turns(turns.path, {"mood": "kind", "city": "Oslo"})
    assert [turn.text for turn in sent[:3]] == ["Be kind.", "Oslokind, {{last}}", "{{answer}}"]
    assert sent[1].images == (picture,)
    assert sent[3].results == (result.model_copy(update={"text": "Oslo"}),)
    assert [turn.id for turn in sent] == [turn.id for turn in turns.path]
    assert sent[4] is turns.path[4]
    assert sent[2] is turns.path[2]


@each_case("piece", ["{{ ", "\\", "{{a", "{", "{{\t{{ \\"])
def test_long_text_of_half_variables_stays(piece: str) -> None:
    text = piece * (200_000 // len(piece)) + "{{"
    assert resolve(text, VALUES) == text
