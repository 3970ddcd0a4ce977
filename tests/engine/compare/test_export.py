"""Lanes as Markdown, as a page with columns and as a table: complete, without keys and without active content."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from playground.domain.parts import Text
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn, new_id
from playground.engine.compare.lanes import Lanes
from playground.engine.compare.words import columns_of
from playground.engine.files.export.markdown import Column, lanes_markdown, lanes_page, lanes_table
from playground.engine.gateways.secrets import Secret
from playground.engine.session.session import Session
from tests.engine.files.export.test_export import HOSTILE, KEY
from tests.engine.session.test_session import make_session


def answered(lane: Session, text: str) -> None:
    outcome = Outcome(ending=Ending.COMPLETE, model=lane.settings.model, exchange=new_id())
    lane.turns.add_turn(Turn(id=new_id(), role=Role.ASSISTANT, parts=(Text(text=text),), outcome=outcome))


@pytest.fixture
def columns() -> list[Column]:
    session = make_session(make_turn(Role.SYSTEM, "Be brief."), make_turn(Role.USER, "First {{city}}?"))
    session.change(variables={"city": "Oslo"}, title="Two | lanes")
    lanes = Lanes(session)
    hostile = lanes.add(name=HOSTILE)
    hostile.set_parameters(hostile.settings.current.with_value("temperature", 1))
    hostile.change(model="n")
    answered(session, "=one | cell\nand more")
    answered(hostile, f"two {HOSTILE} {KEY}")
    session.turns.add_turn(make_turn(Role.USER, "Second?"))
    answered(session, "three")
    return columns_of(lanes, lambda _profile, _model: None, lambda key: key)


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        assert not [name for name, _ in attrs if name.startswith("on")]


def test_page_has_a_column_for_each_lane_and_no_active_content(columns: list[Column]) -> None:
    text = lanes_page(columns, [Secret(KEY)])
    page = Page(text)
    assert KEY not in text
    assert not {"script", "iframe", "form", "object", "link"} & set(page.tags)
    assert all(address.startswith(("https://", "http://")) for address in page.addresses)
    assert page.tags.count("section") == len(page.ids) == len(set(page.ids)) == 5 + 3
    assert "First Oslo?" in text
    assert "temperature 1" in text
    policy = re.search(r'content="(default-src [^"]+)"', text)
    assert policy is not None
    assert "script" not in policy[1]


def test_markdown_has_each_question_with_the_answers_of_all_lanes(columns: list[Column]) -> None:
    text = lanes_markdown(columns, [Secret(KEY)])
    assert KEY not in text
    lines = text.splitlines()
    assert lines[0] == "# Two | lanes"
    assert [line for line in lines if re.match(r"## Question \d", line)] == ["## Question 1", "## Question 2"]
    assert [line.split(" ")[1] for line in lines if line.startswith("### ")][:3] == ["A", "B", "A"]
    table = [line for line in lines if line.startswith("| ")]
    assert [re.sub(r"\\\|", "", row).count("|") for row in table[:4]] == [4, 4, 4, 4]


def test_table_has_a_column_for_each_lane_and_no_formula(columns: list[Column]) -> None:
    text, html = lanes_table(columns, [Secret(KEY)])
    rows = list(csv.reader(io.StringIO(text), "excel-tab"))
    assert {len(row) for row in rows} == {2}
    assert rows[1][0] == "'=one | cell\nand more"
    assert rows[2] == ["three", ""]
    assert KEY not in text + html
    assert Page(html).tags.count("th") == 2
    assert "<script" not in html


def test_single_lane_without_an_answer_is_a_column() -> None:
    session = make_session()
    columns = columns_of(Lanes(session), lambda _profile, _model: None, lambda key: key)
    assert "A" in lanes_markdown(columns)
    assert lanes_page(columns).count("<th>") == 1
    assert lanes_table(columns)[0].startswith("A")
