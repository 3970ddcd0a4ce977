"""Two exchanges side by side."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.engine.inspect.compare import (
    MOST_TEXT,
    MOST_TOKENS,
    Figure,
    Sent,
    Side,
    TooLargeError,
    _anchored,
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


def test_members_that_differ() -> None:
    before = {"model": "a", "n": 1, "stop": ["x"], "messages": [{"role": "user", "content": "one"}]}
    after = {"model": "b", "n": 1.0, "messages": [{"role": "user", "content": "two"}], "seed": 1}
    found = [(one.path, one.kind, one.before, one.after) for one in diff_json(before, after)]
    assert found == [
        ("model", Side.CHANGED, "a", "b"),
        ("n", Side.CHANGED, 1, 1.0),
        ("messages[0].content", Side.CHANGED, "one", "two"),
        ("seed", Side.ADDED, None, 1),
        ("stop", Side.REMOVED, ["x"], None),
    ]


def test_a_message_put_in_is_one_difference() -> None:
    one, two, new = ({"role": "user", "content": text} for text in ("one", "two", "new"))
    found = diff_json({"messages": [one, two]}, {"messages": [one, new, two, new]})
    assert [(each.path, each.kind) for each in found] == [("messages[1]", Side.ADDED), ("messages[3]", Side.ADDED)]
    found = diff_json([one, new, two], [one, two])
    assert [(each.path, each.kind, each.before) for each in found] == [("[1]", Side.REMOVED, new)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, JSON)
def test_alike_and_only_alike_values_have_no_differences(one: object, two: object) -> None:
    assert diff_json(one, one) == ()
    alike = json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
    assert bool(diff_json(one, two)) is not alike


@given(st.text(st.sampled_from("ab \n.")), st.text(st.sampled_from("ab \n.")))
def test_pieces_give_both_texts_back(before: str, after: str) -> None:
    pieces = diff_words(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind is not Side.ADDED) == before
    assert "".join(piece.text for piece in pieces if piece.kind is not Side.REMOVED) == after


def test_words_are_whole() -> None:
    pieces = diff_words("The quick brown fox.", "The slow brown fox!")
    assert [(piece.kind, piece.text) for piece in pieces] == [
        (Side.SAME, "The "),
        (Side.REMOVED, "quick "),
        (Side.ADDED, "slow "),
        (Side.SAME, "brown fox"),
        (Side.REMOVED, "."),
        (Side.ADDED, "!"),
    ]


def test_long_texts_are_compared_in_time() -> None:
    before = "".join(f"line {number} of the text\n\n" for number in range(8000))
    after = before.replace("line 4000 of", "line 4000 in")
    begun = time.process_time()
    pieces = diff_words(before, after)
    assert time.process_time() - begun < 3
    assert "".join(piece.text for piece in pieces if piece.kind is not Side.ADDED) == before
    assert "".join(piece.text for piece in pieces if piece.kind is not Side.REMOVED) == after
    assert sum(len(piece.text) for piece in pieces if piece.kind is Side.ADDED) < 200


@pytest.mark.parametrize(
    ("before", "after"),
    [("." * 2000, ";." * 1000), ("some words that are said " * 250, "other words that were said " * 250)],
)
def test_what_stands_everywhere_is_compared_in_time(before: str, after: str) -> None:
    begun = time.process_time()
    pieces = diff_words(before, after)
    assert time.process_time() - begun < 3  # it took minutes
    assert "".join(piece.text for piece in pieces if piece.kind is not Side.ADDED) == before
    assert "".join(piece.text for piece in pieces if piece.kind is not Side.REMOVED) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (list(range(20_000)), list(range(20_000, 0, -1))),
        ({"required": [f"p{n}" for n in range(20_000)]}, {"required": [f"q{n}" for n in range(20_000)]}),
    ],
)
def test_very_many_items_in_another_order_are_compared_in_time(before: object, after: object) -> None:
    begun = time.process_time()
    assert diff_json(before, after)
    assert time.process_time() - begun < 5  # it took minutes


@given(st.lists(st.integers(0, 9), max_size=20), st.lists(st.integers(0, 9), max_size=20))
def test_very_many_are_matched_as_few_are(ours: list[int], theirs: list[int]) -> None:
    before, after = list(map(str, ours)), list(map(str, theirs))
    found = list(_anchored(before, after))
    assert [one for op, i, j, _, _ in found if op != "insert" for one in before[i:j]] == before
    assert [one for op, _, _, k, m in found if op != "delete" for one in after[k:m]] == after
    assert all(before[i:j] == after[k:m] for op, i, j, k, m in found if op == "equal")
    if before == after:
        assert {op for op, *_ in found} <= {"equal"}


def test_lines_that_differ_all_over_a_long_text_are_found_one_by_one() -> None:
    before = "".join(f"line {at}\n\nof some and some\n\n" for at in range(3_000))
    pieces = diff_words(before, before.replace("some\n", "such\n"))
    assert sum(piece.kind is Side.ADDED for piece in pieces) == 3_000


def test_one_of_very_many_items_is_one_difference() -> None:
    before = [{"name": f"p{n}"} for n in range(20_000)]
    after = [*before[:9_000], {"name": "new"}, *before[9_000:]]
    assert [(one.path, one.kind) for one in diff_json(before, after)] == [("[9000]", Side.ADDED)]
    after = [*before[:9_000], {"name": "other"}, *before[9_001:]]
    assert [(one.path, one.kind) for one in diff_json(before, after)] == [("[9000].name", Side.CHANGED)]


def test_where_a_request_went_and_its_headers_are_compared_with_its_body() -> None:
    one = Sent("http://a.example/v1/messages", (("Content-Length", "3"), ("X-Tag", "a")), '{"n": 1}')
    two = Sent("http://b.example/v1/messages", (("content-length", "9"), ("x-tag", "b"), ("Beta", "c")), '{"n": 2}')
    found = [(one.path, one.kind) for one in diff_sent(one, two)]
    assert found == [
        ("URL", Side.CHANGED),
        ("header x-tag", Side.CHANGED),
        ("header beta", Side.ADDED),
        ("n", Side.CHANGED),
    ]
    assert [each.path for each in diff_sent(one, two._replace(url="", headers=()))] == ["n"], "what is not known"


def test_a_request_of_too_many_values_is_not_compared_and_one_of_long_texts_is() -> None:
    many = Sent("", (), f"[{','.join('1' * (MOST_TOKENS // 2 + 1))}]")
    with pytest.raises(TooLargeError, match="not compared"):
        diff_sent(many, many)
    image = "data:image/png;base64," + "QUJD" * 2_500_000
    pair = [Sent("", (), json.dumps({"messages": [{"url": image}, {"text": text}]})) for text in ("one", "two")]
    assert [one.path for one in diff_sent(*pair)] == ["messages[1].text"]


def test_of_long_answers_the_beginning_is_compared_and_it_is_known() -> None:
    long = [(1.0, chunk({"content": "some words " * (MOST_TEXT // 8)})), (2.0, DONE)]
    found = compare(indexed(exchange(long)), indexed(exchange([(1.0, chunk({"content": "some words"}) + DONE)])))
    assert found.cut
    assert sum(len(piece.text) for piece in found.answer) <= 2 * MOST_TEXT
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
def test_a_figure_says_how_it_differs(left: float | None, right: float | None, unit: str, words: str) -> None:
    assert Figure("It", unit, left, right).words == words


def test_figures_of_several_choices_say_of_how_many_they_are() -> None:
    second = json.dumps({"choices": [{"index": 1, "delta": {"content": "Two."}}]})
    used = {"prompt_tokens": 5, "completion_tokens": 10}
    several = [(1.0, chunk({"content": "One."}) + f"data: {second}\n\n".encode()), (2.0, chunk({}, usage=used) + DONE)]
    one = [(1.0, chunk({"content": "One."})), (2.0, chunk({}, "stop", usage=used) + DONE)]
    found = {f.label: (f.left, f.right) for f in compare(indexed(exchange(several)), indexed(exchange(one))).figures}
    assert [found[label] for label in ("Choices, all of them counted", "Completion tokens")] == [(2, 1), (10, 10)]
    alone = compare(indexed(exchange(one)), indexed(exchange(one))).figures
    assert not any("Choices" in figure.label for figure in alone)


def test_two_exchanges() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 10}
    left = exchange(
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
    found = compare(indexed(left), indexed(right))
    asked = diff_sent(sent(left), sent(right))
    assert [one.path for one in asked] == ["model", "messages[0]", "stream"]
    assert [piece.text for piece in found.answer if piece.kind is Side.REMOVED] == ["warm."]
    assert "".join(piece.text for piece in found.answer if piece.kind is not Side.REMOVED) == "It is cold.\nf({})"
    assert [(piece.kind, piece.text) for piece in found.reasoning] == [(Side.REMOVED, "hm")]
    figures = {figure.label: (figure.left, figure.right) for figure in found.figures}
    wanted = {
        "Time to first content": (2.0, 0.5),
        "Time to first reasoning": (1.0, None),
        "Completion tokens": (10, None),
        "Whole time": (3.0, 1.0),
        "Speed": (pytest.approx(10.0), None),
    }
    assert {label: figures[label] for label in wanted} == wanted


def test_bodies_of_any_kind() -> None:
    assert request_of(sent(exchange(request_body=b""))) is None
    assert request_of(sent(exchange(request_body=b"no JSON"))) == "no JSON"
    refused = exchange([(0.1, b"Not allowed")], status=403)
    found = compare(indexed(refused), indexed(exchange()))
    assert [(piece.kind, piece.text) for piece in found.answer] == [(Side.REMOVED, "Not allowed")]
