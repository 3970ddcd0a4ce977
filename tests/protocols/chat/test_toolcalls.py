"""Every line on tool calls in a stream that is seen in the wild."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.domain.parts import ToolCall
from playground.domain.transcript import Role, make_turn
from playground.protocols.chat.body import read_messages
from playground.protocols.chat.encode import encode_turns
from playground.protocols.protocol import get_protocol, protocol_of_tool
from tests.protocols.streams import DONE, call_chunk, calls, chat, chunk, data, fragment
from tests.support.each_case import each_case

read_tool = get_protocol("chat").read_tool
write_tool = get_protocol("chat").write_tool

END = chunk({}, "tool_calls") + DONE
A = ("a", "f", '{"x":1}')
B = ("b", "g", '{"y":2}')


OPEN_A = fragment("", index=0, id="a", name="f")
WHOLE_A = fragment('{"x":1}', index=0, id="a", name="f")
WHOLE_B = fragment('{"y":2}', index=1, id="b", name="g")


def more(arguments: str | None, **members: Any) -> dict[str, Any]:
    """A later fragment of the call with the index 0."""
    return fragment(arguments, index=0, **members)


@each_case(
    ("name", "stream", "code"),
    [
        ("the norm", [[OPEN_A], [more('{"x"')], [more(":1}")], [WHOLE_B]], ""),
        (
            "two calls interleaved",
            [[OPEN_A, fragment("", index=1, id="b", name="g")], [more('{"x":1}'), fragment('{"y":2}', index=1)]],
            "",
        ),
        (
            "no index: by id",
            [
                [fragment('{"x"', id="a", name="f")], [fragment('{"y"', id="b", name="g")],
                [fragment(":1}", id="a")], [fragment(":2}", id="b")],
            ],
            "tool_index_missing",
        ),
        (
            "no index, no id on continuations: the open call",
            [
                [fragment("", id="a", name="f")], [fragment('{"x":1}')],
                [fragment("", id="b", name="g")], [fragment('{"y"')], [fragment(":2}")],
            ],
            "tool_index_missing",
        ),
        (
            "no index, several in a delta: by position",
            [
                [fragment("", id="a", name="f"), fragment("", id="b", name="g")],
                [fragment('{"x":1}'), fragment('{"y":2}')],
            ],
            "tool_index_missing",
        ),
        (
            "an index that is no number",
            [[{**WHOLE_A, "index": "zero"}], [{**WHOLE_B, "index": "one"}]],
            "tool_index_missing",
        ),
        ("indexes from 1", [[{**WHOLE_A, "index": 1}], [{**WHOLE_B, "index": 2}]], "tool_index_start"),
        (
            "all index 0 with new ids",
            [[OPEN_A], [more('{"x":1}')], [more("", id="b", name="g")], [more('{"y":2}')]],
            "tool_index_shared",
        ),
        ("all index 0 in one delta", [[WHOLE_A, {**WHOLE_B, "index": 0}]], "tool_index_shared"),
        ("the id repeated", [[OPEN_A], [more('{"x":1}', id="a")], [WHOLE_B]], None),
        ("a blank id and name", [[OPEN_A], [more('{"x":1}', id="", name="")], [WHOLE_B]], None),
        (
            "the name repeated",
            [[OPEN_A], [more('{"x"', name="f")], [more(":1}", name="f")], [WHOLE_B]],
            "tool_name_repeated",
        ),
        ("the name last", [[more('{"x":1}', id="a")], [more(None, name="f")], [WHOLE_B]], "tool_name_late"),
        ("whole calls in one delta", [[WHOLE_A, WHOLE_B]], None),
        ("an object", [[fragment({"x": 1}, index=0, id="a", name="f")], [WHOLE_B]], "tool_arguments_object"),
        (
            "all once more at the end",
            [[OPEN_A], [more('{"x"')], [more(":1}")], [WHOLE_B], [WHOLE_A, WHOLE_B]],
            "tool_call_repeated",
        ),
        (
            "an index that moves",
            [[OPEN_A], [more('{"x"')], [fragment(":1}", index=5, id="a")], [WHOLE_B]],
            "tool_index_moved",
        ),
        ("a placeholder that says nothing", [[more(None)], [WHOLE_A], [WHOLE_B]], None),
        (
            "members outside the function",
            [[{"index": 0, "id": "a", "name": "f", "arguments": '{"x":1}'}], [WHOLE_B]],
            "tool_call_flat",
        ),
        ("one entry that is no list", [WHOLE_A, [WHOLE_B]], None),
    ],
)  # fmt: skip
def test_each_deviation_gives_the_same_two_calls(name: str, stream: list[Any], code: str | None) -> None:
    answer = chat(*(chunk({"tool_calls": entries}) for entries in stream), END)
    assert [(id_, tool, arguments.replace(" ", "")) for id_, tool, arguments in calls(answer)] == [A, B], name
    if code:
        assert code in answer.deviations
    else:
        assert answer.deviations.keys() <= ({"tool_name_repeated"} if code is None else set())


@each_case(
    "stream",
    [
        [[more("", name="f")], [more('{"x":1}')], [fragment('{"y":2}', index=1, name="g")]],
        [[fragment('{"x":1}', name="f"), fragment('{"y":2}', name="g")]],
        [[fragment('{"x":1}', name="f")], [fragment('{"y":2}', name="g")]],
        [[fragment('{"x":1}', index=0, id="", name="f"), fragment('{"y":2}', index=0, id="", name="g")]],
    ],
)
def test_calls_without_ids_get_marked_ones(stream: list[Any]) -> None:
    answer = chat(*(call_chunk(*entries) for entries in stream), END)
    assert calls(answer) == [("made_1", "f", '{"x":1}'), ("made_2", "g", '{"y":2}')]
    assert all(call.id_is_ours for call in answer.choices[0].calls.values())
    assert "tool_id_missing" in answer.deviations


PIECES = ['{"l":[', "{}", ",", '{"a":1}', ",", '{"a":1}', "]", "}"]
SAME = more('{"x":1}', name="f")


@each_case(
    ("stream", "expected", "code"),
    [
        # equal calls without ids: in one delta two, in a later one a summary
        ([[SAME, SAME]], [("made_1", "f", '{"x":1}'), ("made_2", "f", '{"x":1}')], "tool_id_missing"),
        ([[SAME], [SAME]], [("made_1", "f", '{"x":1}')], "tool_call_repeated"),
        # ids: late, another on each fragment, in pieces
        ([[more("", name="f")], [more("{}", id="a")]], [("a", "f", "{}")], None),
        ([[OPEN_A], [more('{"x"', id="r1")], [more(":1}", id="r2")]], [A], "tool_id_changed"),
        ([[more("", id="c_", name="f")], [more("", id="x")], [more("", id="y")]], [("c_xy", "f", "")], None),
        ([[more("", id="c_", name="f")], [more("", id="c_x")]], [("c_x", "f", "")], None),
        ([[more("", id="call_1", name="f")], [more("", id="call_2")]], [("call_1", "f", "")], None),  # another id
        # arguments: missing, blank, with objects inside that look like a repeat
        ([[more(None, id="a", name="f")]], [("a", "f", "")], None),
        ([[more(" ", id="a", name="f")]], [("a", "f", " ")], None),
        ([[OPEN_A], *([more(piece)] for piece in PIECES)], [("a", "f", "".join(PIECES))], None),
        # no arguments, beside one another
        (
            [
                [more("{}", id="a", name="f")], [more("{}", id="b", name="f")],
                [fragment("{}", index=1, id="c", name="f")],
            ],
            [("a", "f", "{}"), ("b", "f", "{}"), ("c", "f", "{}")],
            None,
        ),
        ([[more("{}", name="f")], [SAME]], [("made_1", "f", "{}"), ("made_2", "f", '{"x":1}')], None),
        # two calls in fragments with one index and id
        (
            [[OPEN_A], [more('{"x":1}')], [OPEN_A], [more('{"y"')], [more(":2}")]],
            [A, ("made_1", "f", '{"y":2}')],
            None,
        ),
    ],
)  # fmt: skip
def test_calls_of_a_stream_are_told_apart(
    stream: list[list[Any]], expected: list[tuple[str, str, str]], code: str | None
) -> None:
    answer = chat(*(call_chunk(*entries) for entries in stream), END)
    assert calls(answer) == expected
    assert [call.id_is_ours for call in answer.choices[0].calls.values()] == [
        id_[:4] == "made" for id_, _, _ in expected
    ]
    assert code is None or code in answer.deviations


def test_calls_of_two_choices_are_apart_and_text_after_a_call_is_a_new_part() -> None:
    answer = chat(
        chunk({"content": "a"}),
        chunk({"tool_calls": [fragment('{"x":1}', index=0, id="a", name="f")]}),
        chunk({"tool_calls": [fragment('{"y":2}', index=0, id="b", name="g")]}, index=1),
        chunk({"content": "b"}),
        DONE,
    )
    assert (calls(answer, 0), calls(answer, 1)) == ([A], [B])
    assert [part.kind for part in answer.choices[0].parts] == ["text", "tool_call", "text"]


REAL = '{"city": "Oslo"}'


@each_case(
    ("pieces", "expected", "noted"),
    [
        # the first is a placeholder, however the real ones come
        (["{}", REAL], REAL, "tool_arguments_placeholder"),
        (["", "{}", REAL], REAL, "tool_arguments_placeholder"),
        (["{}", '{"ci', 'ty": "Oslo"}'], REAL, "tool_arguments_placeholder"),
        (["{ }\n", " ", '{"ci', 'ty": "Oslo"}'], REAL, "tool_arguments_placeholder"),
        (["{}", "{}", REAL], REAL, "tool_arguments_placeholder"),
        (["{}", REAL, REAL], REAL, "tool_call_repeated"),
        ([{}, {"city": "Oslo"}], REAL, "tool_arguments_placeholder"),
        (["{}", '{"a": [', "{}", ",", "{}", "]", "}"], '{"a": [{},{}]}', "tool_arguments_placeholder"),
        # it is what was meant
        (["{}"], "{}", None),
        (["", "{}", ""], "{}", None),
        (["{", "}"], "{}", None),
        (["{}", "{}"], "{}", "tool_call_repeated"),
        ([" {}", "{ }"], " {}", "tool_call_repeated"),
        # the same once more, spelled otherwise
        ([REAL, '{"city":"Oslo"}'], REAL, "tool_call_repeated"),
        (['{"a": 1, "b": 2}', '{"b":2,"a":1}'], '{"a": 1, "b": 2}', "tool_call_repeated"),
        # two that differ are both kept: no JSON, so that neither is mistaken for the intended one
        ([REAL, '{"city": "Rome"}'], REAL + '{"city": "Rome"}', "tool_arguments_twice"),
        (['{"x": 1}', '{"x": true}'], '{"x": 1}{"x": true}', "tool_arguments_twice"),
        (["{", "}", REAL], "{}" + REAL, "tool_arguments_twice"),
        ([REAL, "{}"], REAL + "{}", "tool_arguments_twice"),
        (["{}", '"city": "Oslo"}'], '{}"city": "Oslo"}', None),
    ],
)
@each_case("repeated", [{}, {"id": "a"}, {"name": "f"}])
def test_arguments_that_come_more_than_once(
    pieces: list[Any], expected: str, noted: str | None, repeated: dict[str, str]
) -> None:
    first, *rest = pieces
    answer = chat(
        call_chunk(fragment(first, index=0, id="a", name="f")),
        *(call_chunk(fragment(piece, index=0, **repeated)) for piece in rest),
        END,
    )
    assert calls(answer) == [("a", "f", expected)]
    odd = {"tool_call_repeated", "tool_arguments_placeholder", "tool_arguments_twice"} & answer.deviations.keys()
    assert (noted in odd) if noted else not odd


@pytest.mark.parametrize("last", [{}, {"finish_reason": "tool_calls"}])
def test_summary_in_a_whole_message_has_the_real_arguments(last: dict[str, Any]) -> None:
    """The fragments held the placeholder only."""
    message = {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": REAL}},
        {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
        {"id": "c", "type": "function", "function": {"name": "h", "arguments": REAL}},
    ]}  # fmt: skip
    answer = chat(
        call_chunk(fragment("{}", index=0, id="a", name="f"), fragment("{}", index=1, id="b", name="g")),
        data({"choices": [{"index": 0, "message": message, **last}]}),
        END,
    )
    assert calls(answer) == [("a", "f", REAL), ("b", "g", "{}"), ("c", "h", REAL)]
    assert "tool_arguments_placeholder" in answer.deviations
    assert not answer.holes


def test_older_form_of_a_call_is_one_call_and_an_empty_one_is_none() -> None:
    answer = chat(
        chunk({"function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"x":1}'}}, "function_call"),
        DONE,
    )
    assert calls(answer) == [("made_1", "f", '{"x":1}')]
    assert "function_call" in answer.deviations
    empty = {"content": "a", "function_call": {"name": "", "arguments": ""}, "tool_calls": None}
    for reason in ("stop", "tool_calls", "function_call"):
        answer = chat(chunk(empty, reason), DONE)
        assert calls(answer) == []
        assert ("finish_without_calls" in answer.deviations) is (reason != "stop")
        assert answer.complete


@each_case(
    ("junk", "left_out"),
    [
        (7, ["tool_call_shape"]),
        ("x", ["tool_call_shape"]),
        ([7, None, "x"], ["tool_call_shape"]),
        ([None], []),
        ([{}], []),
        ([{"function": 7}], []),
        ([{"index": {}, "function": {"name": 7}}], []),
        ([{"index": 0, "id": "a", "function": {"name": "f", "arguments": 7}}], ["tool_arguments_shape"]),
    ],
)
def test_junk_in_tool_calls_is_left_out_as_a_hole(junk: Any, left_out: list[str]) -> None:
    answer = chat(chunk({"tool_calls": junk, "content": "a"}, "stop"), DONE)
    assert list(answer.holes) == left_out
    assert answer.complete is (not left_out)


# -- names, ids and indexes in pieces ---------------------------------------------------------------------------------

EDIT = [("a", "edit_existing_file", '{"x":1}')]


@each_case(
    "stream",
    [
        # the pieces with and without a repeated id
        [{"id": "a", "name": "edit_ex"}, {"name": "isting_file"}, {"arguments": '{"x":1}'}],
        [{"id": "a", "name": "edit_ex"}, {"id": "a", "name": "isting_file"}, {"id": "a", "arguments": '{"x":1}'}],
        [{"id": "a", "name": "edit_ex", "arguments": ""}, {"id": "", "name": "isting_file", "arguments": '{"x":1}'}],
        [{"id": "a", "name": "e"}, *({"name": c} for c in "dit_existing_file"), {"arguments": '{"x":1}'}],
        # the last piece comes with the first arguments
        [{"id": "a", "name": "edit_"}, {"name": "existing_file", "arguments": '{"x"'}, {"arguments": ":1}"}],
        # whole in every fragment
        [{"id": "a", "name": "edit_existing_file"}] + [
            {"name": "edit_existing_file", "arguments": piece} for piece in ('{"x"', ":1}")
        ],
        [{"id": "a", "name": "edit_existing_file", "arguments": piece} for piece in ("", '{"x"', ":1}", "")],
        # a piece, then longer each time, then whole again
        [{"id": "a", "name": n} for n in ("edit", "edit_existing", "edit_existing_file", "edit_existing_file")] + [
            {"arguments": '{"x":1}'}
        ],
        [
            {"id": "a", "name": "edit_ex"}, {"name": "isting_file"},
            {"name": "edit_existing_file", "arguments": '{"x"'}, {"name": "edit_existing_file", "arguments": ":1}"},
        ],
        # arguments, then the name in pieces
        [{"id": "a", "arguments": '{"x":1}'}, {"name": "edit_ex"}, {"name": "isting_file"}],
        # the id after the name, and in pieces
        [{"name": "edit_ex"}, {"name": "isting_file"}, {"id": "a", "arguments": '{"x":1}'}],
    ],
)  # fmt: skip
@each_case("index", [0, "0", 0.0, 3, None])
def test_name_in_pieces_is_joined_and_a_repeated_name_is_not_doubled(stream: list[Any], index: Any) -> None:
    if index is None:
        stream = [{"id": "a", **entry} for entry in stream]  # without either, two names are two calls
    answer = chat(*(call_chunk(fragment(index=index, **entry)) for entry in stream), END)
    assert calls(answer) == EDIT
    assert not answer.holes


def test_endless_pieces_of_a_name_or_an_id_are_not_joined_without_end() -> None:
    begin = call_chunk(fragment(index=0, id="i", name="n"))
    pieces = [call_chunk(fragment(index=0, name="m")), call_chunk(fragment(index=0, id="j"))] * 1500
    ((id_, name, _),) = calls(chat(begin, *pieces, END))
    assert 1000 < len(id_) < 2000
    assert 1000 < len(name) < 2000


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ([{"id": "a", "name": "f"}, {"index": 1, "arguments": '{"x"'}, {"index": 2, "arguments": ":1}"}], [A]),
        ([{"id": "a", "name": "f", "arguments": '{"x"'}, {"index": 1, "arguments": ":1}"}], [A]),
        ([{"id": "a", "name": "f"}, {"index": 1, "name": "f", "arguments": '{"x"'}, {"index": 2, "arguments": ":1}"}],
         [A]),
        ([{"id": "a", "name": "f"}, {"index": 1, "id": "r1", "arguments": '{"x"'}, {"index": 2, "id": "r2",
          "arguments": ":1}"}], [A]),
        ([{"id": "a", "name": "f"}, {"index": "1", "arguments": '{"x"'}, {"index": 99, "arguments": ":1}"}], [A]),
        # an object inside the arguments, and a second call after
        (
            [
                {"id": "a", "name": "f", "arguments": '{"x":1'}, {"index": 1, "arguments": "}"},
                {"index": 2, "id": "b", "name": "g"}, {"index": 3, "arguments": '{"y"'},
                {"index": 4, "arguments": ":2}"},
            ],
            [A, B],
        ),
        # the second call under an index that the first one ran over
        (
            [
                {"id": "a", "name": "f"}, {"index": 1, "arguments": '{"x"'}, {"index": 2, "arguments": ":1}"},
                {"index": 1, "id": "b", "name": "g"}, {"index": 1, "arguments": '{"y":2}'},
            ],
            [A, B],
        ),
    ],
)  # fmt: skip
def test_index_that_runs_on_within_a_call_is_one_call(stream: list[Any], expected: list[tuple[str, str, str]]) -> None:
    answer = chat(*(call_chunk(fragment(**{"index": 0, **entry})) for entry in stream), END)
    assert calls(answer) == expected
    assert "tool_index_runs_on" in answer.deviations


@each_case("apart", [False, True])
@each_case(("second", "arguments"), [("f", '{"y":2}'), ("g", '{"y":2}'), ("g", "{}"), ("g", '{"x":1}')])
def test_two_whole_calls_with_one_index_and_id_are_two(apart: bool, second: str, arguments: str) -> None:
    entries = [fragment('{"x":1}', index=0, id="a", name="f"), fragment(arguments, index=0, id="a", name=second)]
    deltas = [call_chunk(entry) for entry in entries] if apart else [call_chunk(*entries)]
    answer = chat(*deltas, END)
    assert calls(answer) == [("a", "f", '{"x":1}'), ("made_1", second, arguments)]
    assert {"tool_index_shared", "tool_id_repeated"} <= answer.deviations.keys()


def custom(text: str | None = None, **members: Any) -> dict[str, Any]:
    """A fragment of a call of a custom tool, with only what is given."""
    inner = {name: value for name, value in (("name", members.pop("name", None)), ("input", text)) if value is not None}
    return {**members, "custom": inner}


@each_case("pieces", [["print(", '"hi")'], ['print("hi")'], ["", 'print("h', 'i")'], list('print("hi")')])
def test_streamed_custom_call_has_its_input_as_text(pieces: list[str]) -> None:
    first, *rest = pieces
    answer = chat(
        call_chunk(custom(first, index=0, id="a", type="custom", name="code"), fragment("", index=1, id="b", name="g")),
        *(call_chunk(custom(piece, index=0)) for piece in rest),
        call_chunk(fragment('{"y":2}', index=1)),
        END,
    )
    call, second = answer.choices[0].freeze()
    assert call == ToolCall(id="a", name="code", arguments='print("hi")', free_text=True)
    assert second == ToolCall(id="b", name="g", arguments='{"y":2}')
    assert answer.complete
    assert answer.deviations == {}


@each_case("text", ["", "{}", "{}{}", '{"a":1}', '"x"', " spaces \n", "é\u2028", "x" * 100_000])
@each_case("streamed", [True, False])
def test_custom_call_goes_back_in_the_shape_in_which_it_came(text: str, streamed: bool) -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "code", "input": text, "grammar": "g"}, "extra": {"s": 1}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    if streamed:
        answer = chat(call_chunk({"index": 0, **call}), END)
    else:
        answer = chat(
            json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()
        )
    assert encode_turns((make_turn(Role.ASSISTANT, "", *answer.choices[0].freeze()),)) == [message]


def test_message_with_a_custom_call_is_read_as_one() -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "code", "input": "x = 1"}}
    (turn,) = read_messages([{"role": "assistant", "content": None, "tool_calls": [call]}])
    assert turn.calls == (ToolCall(id="a", name="code", arguments="x = 1", free_text=True),)


def test_custom_tool_is_defined_as_it_was_read() -> None:
    definition = {"type": "custom", "custom": {"name": "code", "description": "d", "format": {"type": "text"}}}
    assert protocol_of_tool(definition) == "chat"
    assert write_tool(read_tool(definition)) == definition
