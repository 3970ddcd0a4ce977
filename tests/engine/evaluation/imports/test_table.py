"""Cases from tables: columns, rows, encodings and bad rows."""

from __future__ import annotations

import json

import pytest

from playground.domain.checks.asked import Judge
from playground.domain.checks.json_answers import IsJSON
from playground.domain.checks.texts import Contains, Equals, Matches
from playground.domain.transcript import Role
from playground.engine.evaluation.imports.table import CasesError, ColumnMapping, guess, read_table, to_cases
from playground.engine.session.plan import MOST_CASES
from tests.support.each_case import each_case


def test_csv_becomes_cases() -> None:
    table = read_table('\ufeffname,city,expected\r\nA,"Lis""bon\nAlfama",21\r\n\r\nB,Oslo,4\r\n'.encode(), ".csv")
    assert table.columns == ("name", "city", "expected")
    assert [row.line for row in table.rows] == [2, 5]
    mapping = guess(table)
    assert mapping == ColumnMapping({"city": "city"}, "expected", "name")
    imported = to_cases(table, mapping)
    assert [(case.name, case.values, case.expected) for case in imported.cases] == [
        ("A", {"city": 'Lis"bon\nAlfama'}, "21"),
        ("B", {"city": "Oslo"}, "4"),
    ]
    assert not imported.bad
    odd = read_table("Straße nach,2nd,--\na,b,c\n".encode(), ".csv")
    assert guess(odd).variables == {"Straße nach": "Straße_nach", "2nd": "_2nd", "--": "column"}
    separated = read_table(b"sep=;\na;b\n1;2\n3\n", ".csv")
    assert ([row.line for row in separated.rows], [bad.line for bad in separated.bad]) == ([3], [4])
    tabs = read_table(b'q\ta\n"Hi" he said\t1\n', ".tsv")
    assert [row.cells for row in tabs.rows] == [{"q": '"Hi" he said', "a": "1"}]


def test_bad_row_is_named_by_its_line() -> None:
    table = read_table(b"city,expected\nLisbon,21\nOslo\nRome,20,too many\nBergen,9\n", ".csv")
    assert [str(bad) for bad in table.bad] == [
        "Line 3: 1 cells, and there are 2 columns",
        "Line 4: 3 cells, and there are 2 columns",
    ]
    assert len(table.rows) == 2
    lines = read_table(b'{"city": "Lisbon"}\n{"city": \n\n[1]\n"How are you?"\n', ".jsonl")
    assert [bad.line for bad in lines.bad] == [2, 4]
    assert [row.line for row in lines.rows] == [1, 5]
    assert lines.rows[1].cells == {"input": "How are you?"}


@each_case(
    ("data", "suffix", "words"),
    [
        (b"", ".csv", "empty"),
        (b"a,a\n1,2", ".csv", "two columns are called"),
        (b"a\n\xff", ".csv", "not UTF-8 text \\(line 2\\)"),
        (b"{}", ".json", "list of cases"),
        (b"{", ".json", "not JSON"),
        (b"a: [", ".yaml", "line 2"),
        (b"x", ".xlsx", "Cases are read from"),
    ],
)
def test_file_that_is_no_table_is_refused(data: bytes, suffix: str, words: str) -> None:
    with pytest.raises(CasesError, match=words):
        read_table(data, suffix)


def test_huge_cell_and_open_quote_are_bad_rows() -> None:
    table = read_table(b"a,b\n1,2\n3," + b"x" * 5_000_000 + b"\n5,6\n", ".csv")
    assert [bad.line for bad in table.bad] == [3]
    assert [row.cells["a"] for row in table.rows] == ["1", "5"]
    megabyte = read_table(b"a\n" + b"x" * 1_000_000 + b"\n", ".csv")
    assert len(megabyte.rows[0].cells["a"]) == 1_000_000
    broken = read_table(b'a,b\n1,2\n3,"never\n5,6\n', ".csv")
    assert [bad.line for bad in broken.bad] == [3]
    assert len(broken.rows) == 1


def test_too_many_rows_are_refused() -> None:
    table = read_table(b"a\n" + b"x\n" * 20_001, ".csv")
    with pytest.raises(CasesError, match=f"20,001 rows; an evaluation has {MOST_CASES:,} cases at most"):
        to_cases(table, guess(table))


def test_json_and_yaml_lists_become_cases() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    data = json.dumps({"cases": [{"messages": messages, "target": {"a": 1}, "n": 2, "odd name!": None}]}).encode()
    table = read_table(data, ".json")
    (case,) = to_cases(table, guess(table)).cases
    assert [(turn.role, turn.text) for turn in case.turns] == [(Role.USER, "Hi")]
    assert (case.expected, case.values) == ('{"a": 1}', {"n": "2"})
    yaml = read_table(b"- {city: Oslo, expected: 4}\n- just text\n- [1]\n", ".yml")
    assert [(row.line, row.cells) for row in yaml.rows] == [
        (1, {"city": "Oslo", "expected": 4}),
        (2, {"input": "just text"}),
    ]
    assert [bad.line for bad in yaml.bad] == [3]
    turns = read_table(b'{"messages": [{"role": "user", "content": "Hi"}]}\n{"messages": [7]}', ".jsonl")
    assert [bad.line for bad in to_cases(turns, guess(turns)).bad] == [2]
    nested = read_table(b'{"vars": {"city": "Oslo"}, "id": "o"}\n{"vars": {"town": "Bergen"}}', ".jsonl")
    assert [(case.name, case.values) for case in to_cases(nested, guess(nested)).cases] == [
        ("o", {"city": "Oslo"}),
        ("", {"town": "Bergen"}),
    ]


def test_expected_column_may_hold_an_assertion() -> None:
    rows = 'Oslo,contains:cold\nRome,"llm-rubric(0.7): is about Rome"\nBergen,it: rains\nX,fn:output == 1\n'
    table = read_table(f"city,__expected\n{rows}".encode(), ".csv")
    imported = to_cases(table, guess(table))
    assert [case.checks for case in imported.cases] == [
        (Contains(text="cold"),),
        (Judge(rubric="is about Rome", least=0.7),),
        (Equals(text="{{expected}}"),),
        (),
    ]
    assert imported.cases[2].expected == "it: rains"
    assert imported.notes == ("“fn” was left out: there is no such check.",)


@each_case(
    ("text", "cells"),
    [
        ('q,a\n"x; y; z","1; 2"\n"d; e",3\n', [{"q": "x; y; z", "a": "1; 2"}, {"q": "d; e", "a": "3"}]),
        ('"q";"a"\n"x, y";1,5\nz;2,25\n', [{"q": "x, y", "a": "1,5"}, {"q": "z", "a": "2,25"}]),
        ("sep=;\r\nq;a\r\n1,5;2\r\n", [{"q": "1,5", "a": "2"}]),
        ('"sep=|"\nq|a\nx|y\n', [{"q": "x", "a": "y"}]),
        ("q|a\nx|1, 2\n", [{"q": "x", "a": "1, 2"}]),
        ("q\nHello, world; again\nWhat, when|where?\n", [{"q": "Hello, world; again"}, {"q": "What, when|where?"}]),
        ('q\n"Hello, ""you"""\n', [{"q": 'Hello, "you"'}]),
        ('q, a\n"What, now?", "x, y"\n', [{"q": "What, now?", "a": "x, y"}]),
        ('q,a\n"He said \\"hi, you\\"",1\n', [{"q": 'He said "hi, you"', "a": "1"}]),
        ('q,a\nwhat?,{"answer": ""}\n', [{"q": "what?", "a": '{"answer": ""}'}]),
        ("q,a\rx,1\ry,2\r", [{"q": "x", "a": "1"}, {"q": "y", "a": "2"}]),
        ('q,a\r\n"x\r\ny",1\r\n', [{"q": "x\r\ny", "a": "1"}]),
        ("q,a\nx\u2028y\x0bz\x0cv\x85w\x1cu,1\n", [{"q": "x\u2028y\x0bz\x0cv\x85w\x1cu", "a": "1"}]),
        ("q,a,,\nx,1,,\ny,2,,\n", [{"q": "x", "a": "1"}, {"q": "y", "a": "2"}]),
        ("q,a\nx,1,,\n", [{"q": "x", "a": "1"}]),
        ("q,,a\nx,,1\n", [{"q": "x", "a": "1"}]),
        (",q,a,\n0,x,1,note\n", [{"column 1": "0", "q": "x", "a": "1", "column 4": "note"}]),
    ],
)
def test_csv_as_programs_write_it_has_its_cells(text: str, cells: list[dict[str, str]]) -> None:
    table = read_table(text.encode(), ".csv")
    assert [row.cells for row in table.rows] == cells
    assert table.bad == ()


@each_case("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_table_in_an_encoding_of_spreadsheets_is_read(encoding: str) -> None:
    table = read_table("q\texpected\r\nHällo\t1,5\r\n".encode(encoding), ".csv")
    assert [row.cells for row in table.rows] == [{"q": "Hällo", "expected": "1,5"}]
    table = read_table('[{"q": "Hällo"}]'.encode(encoding), ".json")
    assert [row.cells for row in table.rows] == [{"q": "Hällo"}]


def test_columns_of_several_assertions_become_checks_and_others_are_named() -> None:
    header = "q,__expected1,__expected2,__expected3,__prefix,__metric,__threshold,__config:__expected3:threshold"
    table = read_table(f"{header}\nx,plain,contains-json,llm-rubric: kind,Please,m,0.5,0.9\n".encode(), ".csv")
    imported = to_cases(table, guess(table))
    (case,) = imported.cases
    assert (case.values, case.expected) == ({"q": "x"}, "plain")
    assert case.checks == (Equals(text="{{expected}}"), IsJSON(anywhere=True), Judge(rubric="kind", least=0.9))
    assert [note.split("”")[0][1:] for note in imported.notes] == ["__prefix", "__metric", "__threshold"]


@each_case("suffix", [".yaml", ".json", ".jsonl"])
def test_tests_of_promptfoo_keep_their_assertions(suffix: str) -> None:
    tests = [
        {"vars": {"q": ["a", "b"]}, "description": "d", "assert": [{"type": "contains-any", "value": "{{q}}, z"}]},
        {"vars": {"q": "c"}, "assert": [{"type": "javascript", "value": "1"}], "options": {"transform": "x"}},
    ]
    lines = "\n".join(map(json.dumps, tests))
    table = read_table((lines if suffix == ".jsonl" else json.dumps(tests)).encode(), suffix)
    imported = to_cases(table, guess(table))
    assert [(case.name, case.values, case.checks) for case in imported.cases] == [
        ("d", {"q": "a"}, (Matches(pattern="a|z"),)),
        ("d 2", {"q": "b"}, (Matches(pattern="b|z"),)),
        ("", {"q": "c"}, ()),
    ]
    assert [any(word in note for note in imported.notes) for word in ("javascript", "options")] == [True, True]
