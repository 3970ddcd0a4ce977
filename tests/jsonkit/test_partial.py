from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.jsonkit.tree import Node, PartialJson
from playground.jsonkit.values import same
from tests.jsonkit.texts import read_partial, texts
from tests.support.each_case import each_case


def facts(reader: PartialJson) -> list[Any]:
    """Everything that can be seen of a reader."""
    nodes = [(n.path, n.kind, n.key, n.start, n.end, n.complete, n.value, n.preview, n.problem) for n in reader.nodes]
    return [nodes, reader.problems, reader.value(), reader.complete, reader.sound, reader.length, reader.finished]


def in_pieces(text: str, sizes: list[int]) -> PartialJson:
    reader = PartialJson()
    index = number = 0
    while index < len(text):
        size = sizes[number % len(sizes)]
        reader.read_fragment(text[index : index + size])
        index, number = index + size, number + 1
    reader.finish()
    return reader


@given(texts(), st.lists(st.integers(1, 7), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_whole_text_gives_its_value_however_it_is_cut(pair: tuple[str, Any], sizes: list[int]) -> None:
    text, value = pair
    complete = read_partial(text)
    assert complete.sound
    assert complete.complete
    assert complete.problems == []
    assert same(complete.value(), value)
    assert facts(in_pieces(text, sizes)) == facts(complete)
    for node in complete.nodes:
        assert node.complete
        assert same(json.loads(text[node.start : node.end]), _value(node))


def _value(node: Node) -> Any:
    if node.kind == "object":
        return {child.key: _value(child) for child in node.children}
    return [_value(child) for child in node.children] if node.kind == "array" else node.value


@given(texts(), st.data())
@settings(max_examples=50, deadline=None)
def test_changed_text_is_sound_exactly_when_it_is_json(pair: tuple[str, Any], data: st.DataObject) -> None:
    text, _ = pair
    index = data.draw(st.integers(0, len(text) - 1))
    odd = data.draw(st.sampled_from(["", '"', "{", "}", "[", "]", ",", ":", "\\", "\n", "N", "-", "1", "\\u12", "tru"]))
    changed = text[:index] + odd + text[index + data.draw(st.integers(0, 1)) :]
    reader = read_partial(changed)
    try:
        json.loads(changed, parse_constant=lambda word: json.loads("x" + word))
        assert reader.sound
        assert reader.complete
    except ValueError:
        assert not (reader.sound and reader.complete), changed
    assert facts(in_pieces(changed, [1])) == facts(reader)
    assert all(0 <= problem.offset <= len(changed) for problem in reader.problems)


@given(texts(), st.data())
@settings(max_examples=40, deadline=None)
def test_partial_value_only_grows(pair: tuple[str, Any], data: st.DataObject) -> None:
    text, _ = pair
    cut = data.draw(st.integers(0, len(text)))
    reader = PartialJson()
    reader.read_fragment(text[:cut])
    before = [(n.path, n.start) for n in reader.nodes]
    closed = [(n.number, n.value) for n in reader.nodes if n.complete]
    opened = {n.number for n in reader.open}
    assert all(n.complete is (n.number not in opened) for n in reader.nodes)
    reader.value()
    reader.read_fragment(text[cut:])
    reader.finish()
    assert [(n.path, n.start) for n in reader.nodes][: len(before)] == before
    assert [(number, reader.nodes[number].value) for number, _ in closed] == closed


@each_case(
    ("text", "problems", "value"),
    [
        ('{"a": "x\ny"}', [(8, "a line break or control")], {"a": "x\ny"}),
        ('{"a": "x\\qy"}', [(8, "this escape does not exist")], {"a": "x\\qy"}),
        ('{"a": True, "b": None, "c": NaN}', [(6, "it is written true"), (17, "it is written null"), (28, "“NaN”")],
         {"a": True, "b": None, "c": None}),
        ('{"a": 1,}', [(7, "a comma too many")], {"a": 1}),
        ("[1, 2, ]", [(5, "a comma too many")], [1, 2]),
        ('{"a": 1 "b": 2}', [(8, "a comma is missing")], {"a": 1, "b": 2}),
        ('["a" "b"]', [(5, "a comma is missing")], ["a", "b"]),
        ('{"a": "say "hi""}', [(12, "a comma is missing")], {"a": "say "}),
        ('{"a": [1}', [(8, "“]” is missing")], {"a": [1]}),
        ('{"a" 1}', [(5, "a colon is missing")], {}),
        ("{a: 1}", [(1, "a name in double quotes")], {}),
        ('{"a": }', [(6, "the value of this name is missing")], {}),
        ('{"a": 01, "b": 1}', [(6, "“01” is not JSON")], {"a": None, "b": 1}),
        ('{"a": 1} and {', [(9, "there is more text after the end")], {"a": 1}),
        ('{"a": 1, "a": 2}', [(9, "“a” is there twice")], {"a": 2}),
        ("```json", [(0, "a value is missing here")], {}),
        ("]", [(0, "a value is missing here")], {}),
    ],
)  # fmt: skip
def test_each_fault_is_told_at_its_place(text: str, problems: list[tuple[int, str]], value: Any) -> None:
    reader = read_partial(text)
    assert [problem.offset for problem in reader.problems] == [offset for offset, _ in problems]
    for problem, (_, words) in zip(reader.problems, problems, strict=True):
        assert words in problem.message
    assert reader.value() == value


def test_cut_text_has_partial_values_and_open_nodes() -> None:
    reader = read_partial('{"city": "Os', ended=False)
    assert reader.value() == {"city": "Os"}
    assert [node.key for node in reader.open] == [None, "city"]
    assert reader.nodes[1].preview == "Os"
    assert not reader.nodes[1].complete
    reader.read_fragment("lo\\u00")
    assert reader.value() == {"city": "Oslo"}
    reader.read_fragment('e9", "n": 12')
    assert reader.value() == {"city": "Osloé", "n": None}
    assert reader.nodes[2].preview == "12"
    reader.finish()
    assert not reader.nodes[2].complete  # there may have been more digits
    assert reader.sound
    assert not reader.complete
    assert read_partial("12").complete
    assert read_partial('{"a": "\\\\u').nodes[1].preview == "\\u"  # a backslash and a u, no escape
    assert read_partial('{"a": "x\\ud83d').nodes[1].preview == "x"
    assert read_partial("").value() == {}


def test_rows_stay_short() -> None:
    reader = read_partial(json.dumps({"a": "line\n" * 5000, "b": [1], "c": {}}))
    a, b, c = reader.nodes[1:3] + reader.nodes[4:]
    assert a.preview.startswith("line line")
    assert len(a.preview) <= 200
    assert (b.preview, c.preview) == ("1 item", "0 members")
    growing = read_partial('{"a": "' + "é\\n" * 5000, ended=False)
    assert growing.nodes[1].preview.startswith("é é")
    assert len(growing.nodes[1].preview) <= 200


@each_case(
    "text",
    [
        "[" * 10_000, '{"a":' * 10_000, "[" * 10_000 + "]" * 10_000, "9" * 5000, "-" * 5000, '"' + "\\" * 9_999,
        "{" + '"a":1,' * 5000, '"\\ud800', '{"\\udfff": "\ud800"}', "\x00" * 1000, ',' * 1000,
        '"\\u', "1e999999", '[' + '\n"' * 999,
    ],
)  # fmt: skip
def test_hostile_text_never_raises(text: str) -> None:
    reader = in_pieces(text, [997])
    reader.finish()
    reader.value()
    assert len(reader.problems) <= 100
    assert all(len(node.preview) <= 200 for node in reader.nodes[-3:])
    assert reader.nodes == [] or isinstance(reader.nodes[-1].path, tuple)
