"""Comparison of two exchanges: requests, answers and figures."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.engine.inspect.compare import (
    MOST_TEXT,
    MOST_TOKENS,
    Metric,
    Piece,
    Sent,
    Side,
    TooLargeError,
    compare,
    diff_json,
    diff_sent,
    diff_words,
    request_of,
    sent,
)
from tests.engine.exchanges import exchange, indexed
from tests.protocols.streams import DONE, call_chunk, chunk, fragment
from tests.support.each_case import each_case


def test_changed_added_and_removed_members_are_listed() -> None:
    before = {"model": "a", "n": 1, "stop": ["x"], "messages": [{"role": "user", "content": "one"}]}
    after = {"model": "b", "n": 1.0, "messages": [{"role": "user", "content": "two"}], "seed": 1}
    results = [(item.path, item.kind, item.before, item.after) for item in diff_json(before, after)]
    assert results == [
        ("model", Side.CHANGED, "a", "b"),
        ("n", Side.CHANGED, 1, 1.0),
        ("messages[0].content", Side.CHANGED, "one", "two"),
        ("seed", Side.ADDED, None, 1),
        ("stop", Side.REMOVED, ["x"], None),
    ]


def test_inserted_message_is_one_difference() -> None:
    item, two, new = ({"role": "user", "content": text} for text in ("one", "two", "new"))
    result = diff_json({"messages": [item, two]}, {"messages": [item, new, two, new]})
    assert [(each.path, each.kind) for each in result] == [("messages[1]", Side.ADDED), ("messages[3]", Side.ADDED)]
    result = diff_json([item, new, two], [item, two])
    assert [(each.path, each.kind, each.before) for each in result] == [("[1]", Side.REMOVED, new)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60)
@given(JSON, JSON, st.text("ab \n."), st.text("ab \n."))
def test_only_equal_values_have_no_differences_and_pieces_join_to_both_texts(
    first: object, second: object, before: str, after: str
) -> None:
    assert diff_json(first, first) == ()
    equal = json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert bool(diff_json(first, second)) is not equal
    check_pieces(before, after)


def test_texts_are_compared_by_words() -> None:
    pieces = diff_words("The quick brown fox.", "The slow brown fox!")
    assert [(piece.kind, piece.text) for piece in pieces] == [
        (Side.SAME, "The "),
        (Side.REMOVED, "quick "),
        (Side.ADDED, "slow "),
        (Side.SAME, "brown fox"),
        (Side.REMOVED, "."),
        (Side.ADDED, "!"),
    ]


def check_pieces(before: str, after: str) -> tuple[Piece, ...]:
    """Return the pieces of both texts, which join to each of them."""
    pieces = diff_words(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind is not Side.ADDED) == before
    assert "".join(piece.text for piece in pieces if piece.kind is not Side.REMOVED) == after
    return pieces


def test_long_texts_are_compared_in_short_time() -> None:
    before = "".join(f"line {number}\n\nof some and some\n\n" for number in range(2_000))
    begun = time.process_time()
    pieces = check_pieces(before, before.replace("line 1000\n", "line 1000 in\n"))
    assert sum(len(piece.text) for piece in pieces if piece.kind is Side.ADDED) < 200
    pieces = check_pieces(before, before.replace("some\n", "such\n"))
    assert sum(piece.kind is Side.ADDED for piece in pieces) == 2_000, "each line by itself"
    check_pieces("." * 2000, ";." * 1000)
    check_pieces("some words that are said " * 250, "other words that were said " * 250)
    assert time.process_time() - begun < 15  # quadratic time would be minutes


def test_very_many_items_in_another_order_are_compared_in_short_time() -> None:
    begun = time.process_time()
    assert diff_json(list(range(10_000)), list(range(10_000, 0, -1)))
    assert diff_json([f"p{n}" for n in range(10_000)], [f"q{n}" for n in range(10_000)])
    assert time.process_time() - begun < 15  # quadratic time would be minutes


def test_change_of_one_item_of_many_is_one_difference() -> None:
    before = [{"name": f"p{n}"} for n in range(4_000)]
    after = [*before[:900], {"name": "new"}, *before[900:]]
    assert [(item.path, item.kind) for item in diff_json(before, after)] == [("[900]", Side.ADDED)]
    after = [*before[:900], {"name": "other"}, *before[901:]]
    assert [(item.path, item.kind) for item in diff_json(before, after)] == [("[900].name", Side.CHANGED)]


def test_address_and_headers_are_compared_with_the_body() -> None:
    item = Sent("http://a.example/v1/messages", (("Content-Length", "3"), ("X-Tag", "a")), '{"n": 1}')
    two = Sent("http://b.example/v1/messages", (("content-length", "9"), ("x-tag", "b"), ("Beta", "c")), '{"n": 2}')
    results = [(item.path, item.kind) for item in diff_sent(item, two)]
    assert results == [
        ("URL", Side.CHANGED),
        ("header x-tag", Side.CHANGED),
        ("header beta", Side.ADDED),
        ("n", Side.CHANGED),
    ]
    assert [each.path for each in diff_sent(item, two._replace(url="", headers=()))] == ["n"], "what is not known"


def test_request_of_too_many_values_is_not_compared_and_a_long_text_is() -> None:
    many = Sent("", (), f"[{','.join('1' * (MOST_TOKENS // 2 + 1))}]")
    with pytest.raises(TooLargeError, match="not compared"):
        diff_sent(many, many)
    image = "data:image/png;base64," + "QUJD" * 500_000
    pair = [Sent("", (), json.dumps({"messages": [{"url": image}, {"text": text}]})) for text in ("one", "two")]
    assert [item.path for item in diff_sent(*pair)] == ["messages[1].text"]


def test_beginning_of_long_answers_is_compared_and_marked_as_cut() -> None:
    long = [(1.0, chunk({"content": "some words " * (MOST_TEXT // 8)})), (2.0, DONE)]
    result = compare(indexed(exchange(long)), indexed(exchange([(1.0, chunk({"content": "some words"}) + DONE)])))
    assert result.cut
    assert sum(len(piece.text) for piece in result.answer) <= 2 * MOST_TEXT
    short = [(1.0, chunk({"content": "some words"}) + DONE)]
    assert not compare(indexed(exchange(short)), indexed(exchange(short))).cut


@each_case(
    ("left", "right", "unit", "words"),
    [
        (0.31, 0.42, "s", "0.310 s → 0.420 s (+0.110 s)"),
        (3.0, 1.5, "s", "3.00 s → 1.50 s (−1.50 s)"),
        (10, 10, "tokens", "10 → 10 (±0)"),
        (0.0271, 0.0272, "s", "0.027 s → 0.027 s (±0.000 s)"),
        (0.42, 1.176, "s", "0.420 s → 1.18 s (+0.76 s)"),
        (303.6, 304.4, "tokens/s", "304 tok/s → 304 tok/s (±0 tok/s)"),
        (None, 1200, "tokens", "not known → 1,200"),
        (20.4, 61, "tokens/s", "20 tok/s → 61 tok/s (+41 tok/s)"),
        (5, 12_000, "bytes", "5 bytes → 12,000 bytes (+11,995 bytes)"),
    ],
)
def test_figure_has_the_words_of_its_difference(left: float | None, right: float | None, unit: str, words: str) -> None:
    assert Metric("It", unit, left, right).words == words


def test_figures_of_several_choices_have_their_number() -> None:
    second = json.dumps({"choices": [{"index": 1, "delta": {"content": "Two."}}]})
    used = {"prompt_tokens": 5, "completion_tokens": 10}
    several = [(1.0, chunk({"content": "One."}) + f"data: {second}\n\n".encode()), (2.0, chunk({}, usage=used) + DONE)]
    item = [(1.0, chunk({"content": "One."})), (2.0, chunk({}, "stop", usage=used) + DONE)]
    results = {
        f.label: (f.first, f.second) for f in compare(indexed(exchange(several)), indexed(exchange(item))).metrics
    }
    assert [results[label] for label in ("Choices, all of them counted", "Completion tokens")] == [(2, 1), (10, 10)]
    alone = compare(indexed(exchange(item)), indexed(exchange(item))).metrics
    assert not any("Choices" in figure.label for figure in alone)


def test_two_exchanges_are_compared_in_request_answer_and_figures() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 10}
    before_tape = exchange(
        [
            (1.0, chunk({"reasoning_content": "hm"})),
            (2.0, chunk({"content": "It is warm."})),
            (3.0, chunk({}, "stop", usage=usage) + DONE),
        ]
    )
    right = exchange(
        [(0.5, chunk({"content": "It is cold."})), (1.0, call_chunk(fragment("{}", index=0, id="i", name="f")) + DONE)],
        asked={"model": "m-2", "messages": []},
    )
    result = compare(indexed(before_tape), indexed(right))
    request = diff_sent(sent(before_tape), sent(right))
    assert [item.path for item in request] == ["model", "messages[0]", "stream"]
    assert [piece.text for piece in result.answer if piece.kind is Side.REMOVED] == ["warm."]
    assert "".join(piece.text for piece in result.answer if piece.kind is not Side.REMOVED) == "It is cold.\nf({})"
    assert [(piece.kind, piece.text) for piece in result.reasoning] == [(Side.REMOVED, "hm")]
    figures = {figure.label: (figure.first, figure.second) for figure in result.metrics}
    expected = {
        "Time to first content": (2.0, 0.5),
        "Time to first reasoning": (1.0, None),
        "Completion tokens": (10, None),
        "Whole time": (3.0, 1.0),
        "Speed": (pytest.approx(10.0), None),
    }
    assert {label: figures[label] for label in expected} == expected


def test_bodies_that_are_no_json_are_compared() -> None:
    assert request_of(sent(exchange(request_body=b""))) is None
    assert request_of(sent(exchange(request_body=b"no JSON"))) == "no JSON"
    refused = exchange([(0.1, b"Not allowed")], status=403)
    result = compare(indexed(refused), indexed(exchange()))
    assert [(piece.kind, piece.text) for piece in result.answer] == [(Side.REMOVED, "Not allowed")]
