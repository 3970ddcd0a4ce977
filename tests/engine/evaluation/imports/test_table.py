"""Cases from tables: what the columns are, and which rows are none."""

from __future__ import annotations

import json

import pytest

from playground.domain.checks.asked import Judge
from playground.domain.checks.texts import Contains, Equals
from playground.domain.transcript import Role
from playground.engine.evaluation.imports.table import CasesError, Mapping, guess, read_table, to_cases
from playground.engine.session.plan import MOST_CASES


def test_a_csv_with_its_columns_rows_and_lines() -> None:
    table = read_table('\ufeffname,city,expected\r\nA,"Lis""bon\nAlfama",21\r\n\r\nB,Oslo,4\r\n'.encode(), ".csv")
    assert table.columns == ("name", "city", "expected")
    assert [row.line for row in table.rows] == [2, 5]
    mapping = guess(table)
    assert mapping == Mapping({"city": "city"}, "expected", "name")
    found = to_cases(table, mapping)
    assert [(case.name, case.values, case.expected) for case in found.cases] == [
        ("A", {"city": 'Lis"bon\nAlfama'}, "21"),
        ("B", {"city": "Oslo"}, "4"),
    ]
    assert not found.bad


@pytest.mark.parametrize(("head", "suffix"), [("a;b", ".csv"), ("a\tb", ".csv"), ("a\tb", ".tsv")])
def test_other_delimiters_are_seen(head: str, suffix: str) -> None:
    table = read_table(f"{head}\n{head.replace('a', '1').replace('b', '2')}\n".encode(), suffix)
    assert [row.cells for row in table.rows] == [{"a": "1", "b": "2"}]


def test_bad_rows_are_named_by_line_and_the_others_are_there() -> None:
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


@pytest.mark.parametrize(
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
def test_a_file_that_is_no_table_is_refused_in_words(data: bytes, suffix: str, words: str) -> None:
    with pytest.raises(CasesError, match=words):
        read_table(data, suffix)


def test_a_cell_without_end_and_a_quote_that_never_closes_are_bad_rows() -> None:
    table = read_table(b"a,b\n1,2\n3," + b"x" * 5_000_000 + b"\n5,6\n", ".csv")
    assert [bad.line for bad in table.bad] == [3]
    assert [row.cells["a"] for row in table.rows] == ["1", "5"]
    megabyte = read_table(b"a\n" + b"x" * 1_000_000 + b"\n", ".csv")
    assert len(megabyte.rows[0].cells["a"]) == 1_000_000
    broken = read_table(b'a,b\n1,2\n3,"never\n5,6\n', ".csv")
    assert [bad.line for bad in broken.bad] == [3]
    assert len(broken.rows) == 1


def test_too_many_rows_are_refused_and_not_cut_short() -> None:
    table = read_table(b"a\n" + b"x\n" * 100_000, ".csv")
    assert len(table.rows) == 100_000
    with pytest.raises(CasesError, match=f"100,000 rows; an evaluation has {MOST_CASES:,} cases at most"):
        to_cases(table, guess(table))


def test_json_and_yaml_lists_with_turns_and_values() -> None:
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
    nested = read_table(b'{"vars": {"city": "Oslo"}, "id": "o"}\n{"vars": {"town": "Bergen"}}', ".jsonl")
    assert [(case.name, case.values) for case in to_cases(nested, guess(nested)).cases] == [
        ("o", {"city": "Oslo"}),
        ("", {"town": "Bergen"}),
    ]


def test_turns_that_are_none_make_a_bad_row() -> None:
    table = read_table(b'{"messages": [{"role": "user", "content": "Hi"}]}\n{"messages": [7]}', ".jsonl")
    found = to_cases(table, guess(table))
    assert (len(found.cases), [bad.line for bad in found.bad]) == (1, [2])


def test_what_is_expected_may_be_spelled_as_an_assertion() -> None:
    rows = 'Oslo,contains:cold\nRome,"llm-rubric(0.7): is about Rome"\nBergen,it: rains\nX,fn:output == 1\n'
    table = read_table(f"city,__expected\n{rows}".encode(), ".csv")
    found = to_cases(table, guess(table))
    assert [case.checks for case in found.cases] == [
        (Contains(text="cold"),),
        (Judge(rubric="is about Rome", least=0.7),),
        (Equals(text="{{expected}}"),),
        (),
    ]
    assert found.cases[2].expected == "it: rains"
    assert found.notes == ("“fn” was left out: there is no such check here.",)


def test_names_that_no_variable_can_have_are_made_into_some() -> None:
    table = read_table("Straße nach,2nd,--\na,b,c\n".encode(), ".csv")
    assert guess(table).variables == {"Straße nach": "Straße_nach", "2nd": "_2nd", "--": "column"}
