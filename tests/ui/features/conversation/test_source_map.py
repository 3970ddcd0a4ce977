"""The map from drawn characters to the source."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from playground.ui.features.conversation.calls.call_text import shown_arguments
from playground.ui.features.conversation.markdown import Line
from playground.ui.features.conversation.markdown_stream import MarkdownStream, exact_lines
from playground.ui.features.conversation.source_map import SourceMap, Stretch
from tests.support.each_case import each_case

SOURCE = """# Weather in two **cities**

I'll *look* both up. Here is a [link](https://example.com/a(b)) and `code`, then more.
Second line of it \\* literal & &amp; entity.

- first item with **bold words** inside
- second item
  - nested one
1. alpha
2. beta with 2 apples

> A quote of *someone*
> over two lines

```python
# a comment
def f(x):
    return x - 1

print("- not an item")
```

| City | Temp |
|------|-----:|
| Lisbon | 21 |
| Oslo | **4** |

![picture](http://x.y/z.png) after it.

Setext heading
==============

Ende mit Umlaut äöü 🎉 and emoji, https://bare.example.org/path too.
"""


def draw_lines(source: str, mode: str = "markdown") -> list[Line]:
    if mode != "markdown":
        return exact_lines(source, mode)
    stream = MarkdownStream()
    stream.append_markdown(source)
    return stream.lines


def make_map(source: str, lines: list[Line]) -> SourceMap:
    source_map = SourceMap()
    source_map.follow(0, source, lines)
    return source_map


def cells(line: Line) -> list[str]:
    if line.kind != "table":
        return [line.text]
    return ["".join(span.text for span in cell) for row in line.rows for cell in row]


def text_of(lines: list[Line], stretches: list[Stretch]) -> str:
    return "".join(cells(lines[s.line])[s.cell][s.start : s.end] for s in stretches)


@each_case("mode, ending", [("markdown", "\n"), ("plain", "\n"), ("raw", "\r\n")])
def test_drawn_characters_are_mapped_to_the_source(mode: str, ending: str) -> None:
    source = SOURCE.replace("\n", ending)
    lines = draw_lines(source, mode)
    result = make_map(source, lines)
    for number, line in enumerate(lines):
        for cell, text in enumerate(cells(line)):
            for index, character in enumerate(text):
                span = result.source_of((number, cell, index), (number, cell, index + 1))
                assert span is not None, (text, index)
                assert source[span[0]] == character.replace("\u2028", "\n"), (text, index)


def test_markdown_marks_are_not_drawn() -> None:
    lines = draw_lines(SOURCE)
    result = make_map(SOURCE, lines)
    for mark in ("**", "](https://example.com/a(b))", "```python", "|------|-----:|", "=============="):
        index = SOURCE.index(mark)
        assert result.drawn(index, index + len(mark)) == [], mark


def test_formatted_arguments_are_mapped() -> None:
    arguments = '{"city":"São Paulo","days":[1,2],"note":"a \\"b\\" c"}'
    lines = shown_arguments(arguments, [])
    result = make_map(arguments, lines)
    for words in ('"city"', "São Paulo", "[1,2]", 'a \\"b\\" c', "}"):
        index = arguments.rindex(words)
        displayed = text_of(lines, result.drawn(index, index + len(words)))
        assert "".join(displayed.split()) == "".join(words.split())


@settings(max_examples=100)
@given(st.text(alphabet="ab1 *_`#->|[](){}\\\n!&;~\t0.", max_size=120), st.integers(1, 40))
def test_any_growing_text_is_mapped_in_order(source: str, step: int) -> None:
    stream, source_map = MarkdownStream(), SourceMap()
    for end in range(step, len(source) + step, step):
        first = stream.append_markdown(source[end - step : end])
        source_map.follow(first, source[:end], stream.lines)
    before = -1
    for number, line in enumerate(stream.lines):
        for cell, text in enumerate(cells(line)):
            for index, character in enumerate(text):
                span = source_map.source_of((number, cell, index), (number, cell, index + 1))
                if span is not None:
                    assert span[0] > before
                    before = span[0]
                    assert character in (source[span[0]], "\u2028") or source[span[0]] == "&"
