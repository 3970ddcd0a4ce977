"""The list of all calls, its exports, and the spans of the loop, over real runs."""

from __future__ import annotations

import csv
import io
import json

import pytest

from playground.domain.debugging import Answer, Policy
from playground.domain.parts import ToolCall, ToolResult
from playground.domain.tool_servers import Frame, ServerAnswer, ticket_id
from playground.domain.transcript import Ending, Outcome, Role, Turn, make_turn
from playground.domain.usage import Timing
from playground.engine.compare.lanes import Lanes
from playground.engine.inspect.calls import CallEntry, CallIndex, calls_csv, calls_json, sequence, served, shortened
from playground.engine.session.call_notes import answer_time_words
from playground.engine.session.session import Session
from playground.engine.tool_servers.tape import ServerTape
from playground.gateway.redact import Redactor
from tests.engine.debugging import THREE, ToolConversation
from tests.support.editors import edit_call


def calls_of(session: Session) -> list[CallEntry]:
    index = CallIndex(session)
    index.update_entries()
    return index.entries


async def test_list_of_calls_has_verdict_result_and_times(conversation: ToolConversation) -> None:
    await conversation.ask(f"{THREE} !broken=2")
    first, second = conversation.keys[:2]
    edit_call(conversation.session, second[0], second[1], '{"city": "Oslo"}')
    conversation.session.debugger.send(*first, "typed", is_error=True)
    entries = calls_of(conversation.session)
    assert [entry.turn_number for entry in entries] == [2, 2, 2]
    assert [entry.verdict.code for entry in entries] == ["fits", "misfit", "fits"]
    assert entries[1].verdict.problems[0].message == "“unit” is missing"
    assert [entry.answered for entry in entries] == ["you", "", ""]
    assert [entry.edited for entry in entries] == [False, True, False]
    assert entries[0].result is not None
    assert entries[0].result.is_error
    assert entries[0].seconds is not None
    assert all(entry.formed is not None and entry.formed >= 0 for entry in entries)
    assert "Lisbon" in entries[0].short


async def test_each_answer_of_a_call_is_listed_once(conversation: ToolConversation) -> None:
    conversation.table()
    await conversation.ask("Weather in Lisbon and Oslo")
    turn_id = conversation.path[1].id
    session, call_id = conversation.session, conversation.path[1].calls[0].id
    await Lanes(session).add_answers(session, turn_id, call_id, [Answer(text="a"), Answer(text="b")])
    entries = calls_of(conversation.session)
    lisbon, oslo = ([e for e in entries if city in e.short] for city in ("Lisbon", "Oslo"))
    assert [(e.result.text, e.on_path) for e in lisbon if e.result] == [("sunny", True), ("a", False), ("b", False)]
    assert [(e.result.text, e.on_path) for e in oslo if e.result] == [("sunny", True)]
    for entry in lisbon:
        conversation.session.turns.select_alternative(entry.result_turn_id or "")
        assert any(r.text == entry.result.text for t in conversation.path for r in t.results if entry.result)


async def test_exports_of_calls_hold_the_same_without_formulas(conversation: ToolConversation) -> None:
    conversation.rule(policy=Policy.FIXED, fixed=Answer(text='=HYPERLINK("http://evil")\n"x"'))
    await conversation.ask(THREE)
    entries = calls_of(conversation.session)
    rows = list(csv.DictReader(io.StringIO(calls_csv(entries), newline="")))
    values = json.loads(calls_json(entries))
    assert len(rows) == len(values) == 3
    assert values[0]["result"].startswith("=HYPERLINK")
    assert rows[0]["result"] == "'" + values[0]["result"], "a spreadsheet must not run it"
    assert [row["tool"] for row in rows] == ["get_weather"] * 3
    assert [json.loads(row["arguments"])["city"] for row in rows] == ["Lisbon", "Oslo", "Rome"]
    assert {row["answered"] for row in rows} == {"fixed"}
    assert {row["on_path"] for row in rows} == {"yes"}


async def test_spans_of_the_loop_follow_one_another(conversation: ToolConversation) -> None:
    conversation.rule(policy=Policy.FIXED, fixed=Answer(text="ok", delay=0.05, is_error=True))
    await conversation.ask("Weather in Lisbon and Oslo !broken=2")
    assert sequence(conversation.session)[0].kind == "request"
    conversation.session.debugger.send(*conversation.keys[0], "typed")
    await conversation.session.run()
    spans = sequence(conversation.session)
    kinds = [span.kind for span in spans if span.kind != "reasoning"]
    assert kinds == ["request", "call", "call", "result", "result", "request", "text"]
    assert [span.row for span in spans if span.kind == "call"] == [0, 1]
    assert [span.ok for span in spans if span.kind == "call"] == [True, False]
    results = [span for span in spans if span.kind == "result"]
    assert {(span.label, span.ok) for span in results} == {("fixed", False), ("you", True)}
    second = [span for span in spans if span.kind == "request"][1]
    assert spans[0].start == 0
    assert all(span.start <= span.end for span in spans)
    assert all(span.end <= second.start + 0.05 for span in results)
    assert second.start >= 0.05


def test_time_of_an_answer_is_split_by_who_took_it(session: Session) -> None:
    server = ServerAnswer(server="Sky", tool="t", seconds=0.004)
    result = ToolResult(call_id="c0", text="x", by="server", seconds=50.004, served=server)
    timing = Timing(started_at=1000, headers=0.1, first_content=0.2, end=1.0)
    outcome = Outcome(ending=Ending.COMPLETE, model="m", timing=timing)
    calls = (ToolCall(id="c0", name="f", arguments="{}"),)
    session.turns.add_turn(Turn(id="a", role=Role.ASSISTANT, parts=calls, outcome=outcome))
    session.turns.add_turn(make_turn(Role.TOOL, "", result))
    assert [entry.time_words for entry in calls_of(session)] == ["you 50.0 s · server 4 ms"]
    (span,) = [span for span in sequence(session) if span.kind == "result"]
    assert (span.note, round(span.person, 3)) == ("you 50.0 s · server 4 ms", 50.0)
    for change, words in (
        ({"seconds": 0.004}, "server 4 ms"),
        ({"by": "you", "served": None}, "you 50.0 s"),
        ({"by": "table", "served": None, "seconds": 2.0}, "2.00 s"),
        ({"by": "table", "served": server.model_copy(update={"recorded": True}), "seconds": 0.0}, "0 ms"),
        ({"by": "", "served": None, "seconds": None}, ""),
    ):
        assert answer_time_words(result.model_copy(update=change)) == words


async def test_cut_off_call_has_its_verdict_and_the_one_before_fits(conversation: ToolConversation) -> None:
    await conversation.ask("Weather in Lisbon and Oslo !cutargs")
    assert [entry.verdict.code for entry in calls_of(conversation.session)] == ["fits", "cut_off"]
    assert not next(span for span in sequence(conversation.session) if span.kind == "call" and span.row == 1).ok
    assert shortened('{\n  "a":   1\n}') == '{ "a": 1 }'
    assert len(shortened("x" * 1_000_000)) == 80
    assert shortened("x" * 200).endswith("…")


def test_written_calls_are_listed(session: Session) -> None:
    calls = tuple(ToolCall(id=f"c{n}", name="f", arguments="{bad") for n in range(2))
    session.turns.add_turn(Turn(id="a", role=Role.ASSISTANT, parts=calls))
    session.turns.add_turn(make_turn(Role.TOOL, "", ToolResult(call_id="c0", text="x")))
    entries = calls_of(session)
    assert [entry.answered for entry in entries] == ["someone", ""]
    assert {entry.verdict.code for entry in entries} == {"not_json"}
    assert (entries[0].formed, entries[0].seconds) == (None, None)
    assert sequence(session) == []
    assert json.loads(calls_json(entries))[0]["arguments"] == "{bad"


async def test_sequence_shows_when_a_server_worked_at_a_call(conversation: ToolConversation) -> None:
    await conversation.ask(THREE)
    (turn_id, first), (_, second) = conversation.keys[:2]
    session, tape = conversation.session, ServerTape(lambda: Redactor(()))
    timing = conversation.path[1].outcome.timing if conversation.path[1].outcome else None
    assert timing is not None
    start = timing.started_at + 5.0
    for call_id, number in ((first, "1"), (second, "2")):
        ticket = ticket_id(turn_id, call_id)
        frame = Frame(server="s", time=start, sent=True, text="{}", size=2, method="tools/call", id=number, call=ticket)
        tape.add([frame, frame.model_copy(update={"sent": False, "id": "", "method": "progress", "time": start + 1})])
    tape.add([Frame(server="s", time=start + 2, sent=False, text="{}", size=2, id="1")])
    spans = [span for span in sequence(session, tape) if span.kind == "server"]
    assert [(span.call_id, span.label, span.row, span.ok) for span in spans] == [
        (first, "s", 0, True),
        (second, "s", 1, False),
    ]
    assert [span.start for span in spans] == pytest.approx([5.0, 5.0])
    assert [span.end for span in spans] == pytest.approx([7.0, 6.0])
    assert not [span for span in sequence(session) if span.kind == "server"]
    exchange = session.exchanges[conversation.path[1].outcome.exchange or ""] if conversation.path[1].outcome else None
    assert exchange is not None
    assert exchange.ended is not None
    assert [(item.server, item.ok) for item in served(session, exchange, tape)] == [("s", True), ("s", False)]
    first_asked = tape.entries[0].frame
    tape.clear()
    assert served(session, exchange, tape) == ()
    long_after = first_asked.model_copy(update={"time": exchange.started_at + exchange.ended * 2 + 60})
    tape.add([long_after])
    assert served(session, exchange, tape) == (), "another exchange does not show it"
