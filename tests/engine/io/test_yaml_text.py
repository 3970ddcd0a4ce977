"""Reading YAML as JSON: values, line numbers and refused texts."""

from __future__ import annotations

from typing import Any

import pytest

from playground.engine.io.yaml_text import YamlError, read_yaml
from tests.support.each_case import each_case


@each_case(
    ("text", "value"),
    [
        ("a: no\nb: 1:30\nc: 2024-01-01\nd: 012", {"a": "no", "b": "1:30", "c": "2024-01-01", "d": 12}),
        ("[yes, on, y, true, False, null, ~, '']", ["yes", "on", "y", True, False, None, None, ""]),
        ("[1, -2, 0x1f, 0o17, 1.5, .5, 1e3, +7, 1_000]", [1, -2, 31, 15, 1.5, 0.5, 1000.0, 7, "1_000"]),
        ("a: '1'\nb: |\n  two\n  lines\n", {"a": "1", "b": "two\nlines\n"}),
        ('{"json": ["is", {"yaml": 1}]}', {"json": ["is", {"yaml": 1}]}),
        ("base: &b {x: 1, y: 2}\none:\n  <<: *b\n  y: 3", {"base": {"x": 1, "y": 2}, "one": {"x": 1, "y": 3}}),
        ("one:\n  y: 3\n  <<: {x: 1, y: 2}", {"one": {"x": 1, "y": 3}}),
        ("'<<': 1", {"<<": 1}),
        ("1: a\ntrue: b", {"1": "a", "true": "b"}),
        ("", None),
        ("- &a [1]\n- *a", [[1], [1]]),
    ],
)
def test_read_yaml_text_gives_json_value(text: str, value: Any) -> None:
    assert read_yaml(text).value == value


@each_case(
    ("text", "words"),
    [
        ("a: [1, 2", "line 2"),
        ("a: 1\n b: 2", "line 2"),
        ("a: 1\na: 2", "line 2: “a” is there twice"),
        ("a: &x [*x]", "refers to itself"),
        ("!!python/object/apply:os.system ['true']", "tag"),
        ("a: !env KEY", "tag"),
        ("? [1, 2]\n: 3", "a name must be a text"),
        ("[" * 201 + "]" * 201, "nested too deeply"),
        ("[" * 1_000_000, "line 1: "),  # refused by the parser or by the reader, whichever has the lower limit
        ("- " * 10_000, "nested too deeply"),
        ("a: 1\n---\nb: 2", "line 2"),
        ("a: 1e999", "too large"),
        ("a: \x00", "position 3"),
    ],
)
def test_read_yaml_unusable_text_raises_with_reason(text: str, words: str) -> None:
    with pytest.raises(YamlError, match=words):
        read_yaml(text)


def test_read_yaml_entity_expansion_is_refused() -> None:
    lines = ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(YamlError, match="more than"):
        read_yaml("\n".join(lines))


def test_line_of_path_is_where_value_begins() -> None:
    text = read_yaml("# cases\ntests:\n  - a: 1\n\n  - b: 2\n    c: [x,\n      y]\n")
    assert [text.line(path) for path in ((), ("tests", 0), ("tests", 1), ("tests", 1, "c", 1))] == [2, 3, 5, 7]
