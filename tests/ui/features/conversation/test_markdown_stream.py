"""The Markdown parser for growing text: equal results in any pieces."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from playground.ui.features.conversation.markdown import Line, Style
from playground.ui.features.conversation.markdown_stream import MarkdownStream
from tests.support.each_case import each_case


def draw_lines(text: str, cuts: Sequence[int] = ()) -> list[Line]:
    """The lines after feeding ``text`` cut at ``cuts``; what a feed calls unchanged is checked to be so."""
    stream, texts, index = MarkdownStream(), list[Line](), 0
    for end in [*sorted(cuts), len(text)]:
        first = stream.append_markdown(text[index:end])
        index = end
        assert stream.lines[:first] == texts[:first]
        texts = list(stream.lines)
    return texts


def brief(text: str) -> list[tuple[str, str]]:
    return [(line.kind, line.text) for line in draw_lines(text)]


HAND_PICKED = {
    "nested lists": "- a\n  - b\n    - c\n- d\n\n1. one\n   - two\n2. three\n",
    "fence in a list": "1. run\n   ```bash\n   npm i\n   ```\n   then\n2. done\n",
    "fence on the marker's line": "- ```py\n  x = 1\n  ```\n- next\n",
    "tilde fence": "~~~py\n```\nx\n~~~\nafter",
    "longer fence": "````md\n```py\nx\n```\n````\nafter",
    "unclosed fence": "text\n```python\ndef f():\n    pass",
    "fence that ends the text": "```\ncode\n```",
    "escaped pipes": "| a | b |\n|---|:-:|\n| 1 \\| 2 | 3 |\n| x | y |\n\nafter",
    "table behind a paragraph": "words\na | b\n--|--\n1 | 2\nafter **it**",
    "setext": "Title\n=====\nSecond\n-----\ntext",
    "quotes with code": "> said\n> ```py\n> x = 1\n> ```\n> more\n\nout",
    "quotes in quotes": "> a\n> > b\n> c\nlazy\n\nnot",
    "rules": "a\n\n---\n\n***\n- b\n\n___\nc",
    "carriage returns": "a\r\nb\r\n\r\n- c\rd\r\n```\r\nx\r\n\r\ny\r\n```\r\n",
    "odd characters": "nul \0 sep \u2028 par \u2029 bidi \u202e\u2066 lone \ud800 \udfff end",
    "code with odd characters": "```\n\0\u2028\u202e\ud800\n```",
    "one, one, one": "1. a\n1. b\n1. c\n\n   more\n1. d\n",
    "links and addresses": "see https://a.b/c?d=e, [x](http://y.z (t) and https://q.r...end &amp; \\( &copy",
    "a dash that is a list": "words\n- item\n- other\n+ \n-",
    "long line": "words and more words " * 300 + "\n\nshort\n> " + "quoted words " * 400 + "\nmore",
    "long line without a space": "x" * 7_000 + "\ny\n- " + "z" * 5_000,
    "long code line": "```js\n" + "abc " * 1_500 + "\nshort\n" + "y" * 4_500 + "\n```\n",
    "long item": "1. intro\n"
    + "".join(f"   - point {n} with a few words behind it\n" for n in range(120))
    + "2. end\n",
    "long table": "| a | b |\n|--|--|\n" + "".join(f"| {n} | cell |\n" for n in range(70)) + "\nend",
}


@each_case("text", HAND_PICKED.values())
def test_text_in_pieces_gives_the_same_lines(text: str) -> None:
    complete = draw_lines(text)
    if len(text) < 400:
        assert draw_lines(text, range(1, len(text))) == complete
    for step in (64,) if len(text) > 3_000 else (7,):
        assert draw_lines(text, range(step, len(text), step)) == complete


_PIECES = st.sampled_from(
    [
        *("- item", "1. one", "1. two", "3) three", "  - nested", "   in item", "    deep", "+ ", "-", "1.", "* a"),
        *("```py", "```", "~~~", "~~~~", "````", "   ```js", "- ```sh", "x = 1  # c", '"""doc', "\ttab"),
        *("> quote", "> > two", "> - item", "> ```", ">", "| a | b |", "|---|:-:|", "| 1 | 2\\|3 |", "a | b", "--|--"),
        *("Title", "=====", "-----", "--", "***", "# Head", "## H *x*", "", "", "", "<b>html</b>", "![i](http://x/y)"),
        *("*em* **bold** `c` and more words", "https://ex.com/a.b, so", "[a](http://x.y (z)", "&amp; &copy", "\\( esc"),
        *("[ref]: http://a.b", "word\u2028sep", "\u202eevil", "\ud800", "\0", "**", "_", "`", "[", "](", ")", ";", " "),
        *("long words " * 190, "y" * 2_100, "- " * 12, "Αβγ, 漢字 かな", "plain words that go on"),
    ]
)
_ENDS = st.sampled_from(["\n", "\n", "\n", "\n\n", "\r\n", "\r", " ", ""])


@settings(max_examples=100)
@given(
    st.lists(st.tuples(_PIECES, _ENDS), max_size=16).map(lambda pairs: "".join(a + b for a, b in pairs)),
    st.lists(st.floats(0, 1), max_size=20),
)
@example("```js\r\n> a\n", [0.55, 0.55])  # between two halves of a line end comes an empty piece
def test_any_text_in_any_pieces_gives_the_same_lines(text: str, cuts: list[float]) -> None:
    assert draw_lines(text, [round(share * len(text)) for share in cuts]) == draw_lines(text)


# What is drawn


def test_items_keep_their_numbers_levels_and_marks() -> None:
    lines = draw_lines("1. a\n1. b\n   - c\n     1. d\n1. e\n\ntext\n\n7. f\n8. g\n")
    assert [(line.marker, line.level) for line in lines] == [
        ("1.", 1),
        ("2.", 1),
        ("•", 2),
        ("1.", 3),
        ("3.", 1),
        ("", 0),
        ("7.", 1),
        ("8.", 1),
    ]


def test_closing_fence_is_not_drawn() -> None:
    for text in ("```\ncode\n", "```\ncode\n`", "```\ncode\n```", "```\ncode\n```\n"):
        assert brief(text) == [("code", "code")]
    assert brief("```\n") == [("code", "")]
    assert brief("````\n```\n````") == [("code", "```")]
    assert brief("~~~\n```\n~~~~~\nafter") == [("code", "```"), ("paragraph", "after")]


def test_tables_keep_cells_and_alignment() -> None:
    (table,) = draw_lines("| a | b |\n|---|:-:|\n| 1 \\| 2 | **x** |\n\n")
    assert (table.kind, table.header, table.aligns) == ("table", True, ("", "center"))
    assert [["".join(span.text for span in cell) for cell in row] for row in table.rows] == [["a", "b"], ["1 | 2", "x"]]


def test_cut_lines_join_to_the_exact_text() -> None:
    for text in ("some words " * 1_000, "x" * 9_000, "é漢 " * 3_000):
        lines = draw_lines(text)
        assert [line.joins for line in lines] == [False, *[True] * (len(lines) - 1)]
        assert "".join(line.text for line in lines).rstrip() == text.rstrip()
    (first, *rest) = draw_lines("- " + "some words " * 500)
    assert (first.marker, first.level) == ("•", 1)
    assert {(line.kind, line.level, line.marker, line.joins) for line in rest} == {("item", 1, "", True)}
    quoted = draw_lines("> " + "some words " * 500)
    assert {line.quote for line in quoted} == {1}


@each_case("address", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "//host/x", "x"])
def test_only_safe_addresses_become_links(address: str) -> None:
    (line,) = draw_lines(f"[words]({address}) ![picture]({address})")
    assert all(span.href == "" and not span.style & Style.LINK for span in line.spans)
    (line,) = draw_lines("[a](http://a.b) [c](https://c.d) [e](mailto:e@f.g) HTTPS://x.y https://h.i/j).")
    assert [span.href for span in line.spans if span.href] == [
        "http://a.b",
        "https://c.d",
        "mailto:e@f.g",
        "https://h.i/j",
    ]


# Hostile input: no crash, nothing lost


HOSTILE = {
    "brackets": "[" * 10_000,
    "quotes": ">" * 30_000,
    "spaced quotes": "> " * 20_000,
    "a list 1,500 deep": "".join("  " * n + "- a\n" for n in range(300))
    + "".join("  " * 300 + "- b\n" for _ in range(1_200)),
    "markers on one line": "- " * 8_000,
    "delimiters": "**a **" * 4_000,
    "backslashes": "\\" * 20_000,
    "pictures": "![" * 3_000,
    "blank lines": "\n" * 30_000,
    "pipes": "|" * 20_000,
    "a wide table": "|a|\n|-|\n|" + "x" * 20_000,
}


@each_case("text", HOSTILE.values())
def test_hostile_text_is_drawn_with_nothing_lost(text: str) -> None:
    lines = draw_lines(text)
    displayed = sum(
        len(line.text) + sum(len(s.text) for row in line.rows for cell in row for s in cell) for line in lines
    )
    marks = sum(text.count(mark) for mark in "*> \n-\\|") if text.strip() else len(text)
    assert displayed >= (len(text) - marks) * 0.99
