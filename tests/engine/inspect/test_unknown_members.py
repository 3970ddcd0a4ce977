"""Unknown members of answers: received, stored, edited, shown and sent back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playground.domain.errors import FailureKind
from playground.domain.parts import Image, Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.engine.cassettes.replay import transcript_of
from playground.engine.files.experiment_file import read, write
from playground.engine.files.export import export
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.headless import json_output
from playground.engine.inspect.frame_summary import summarize_frame
from playground.engine.inspect.frames import Kind
from playground.engine.inspect.unknown_members import (
    LONGEST_TEXT,
    clipped,
    unknown_in_part,
    unknown_in_turn,
)
from playground.engine.requests.edit import apply_edit, read_edit
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import Snapshot, snapshot
from tests.engine.exchanges import exchange, indexed
from tests.engine.library.store.conftest import MakeWorkspace, make_workspace, path  # noqa: F401 - fixtures
from tests.engine.session.conftest import Connect
from tests.engine.session.test_run import begin
from tests.protocols.streams import DONE, call_chunk, chunk
from tests.support.editors import edit_call, edit_text, no_gateway
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, head, hold, send

SIGNED = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
CITATION = {"type": "char_location", "cited_text": "Grass is green.", "file_id": None}
ENTRY = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"x":1}'}}
CALLED = call_chunk({**ENTRY, "extra_content": SIGNED}) + chunk({}, "tool_calls") + DONE
KEY = "gw-canary-4f9c1d7e0a"


def answered(*parts: Any, **more: Any) -> Turn:
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=parts, outcome=Outcome(ending=Ending.COMPLETE), **more)


def session_with(*turns: Turn, protocol: str = "chat") -> Session:
    profile = Profile(id="p", base_url="http://gateway.example/v1")
    session = Experiment(no_gateway, profile_id="p", model="m", protocol=protocol, profile_of=lambda _: profile).main
    for turn in turns:
        session.turns.add_turn(turn)
    return session


async def test_unknown_member_of_a_call_is_sent_back(connect_to: Connect, server: FaultServer) -> None:
    session = connect_to(server.url)
    session.turns.add_turn(make_turn(Role.USER, "Look"))
    server.play(send(head(), CALLED))
    await session.run()
    (turn,) = [turn for turn in session.transcript.path if turn.calls]
    edit_call(session, turn.id, "c1", '{"x": 2}')
    session.turns.answer("c1", "seen")
    server.play(send(head(), chunk({"content": "Done"}, "stop"), DONE))
    await session.run()
    function = {"name": "look", "arguments": '{"x": 2}'}
    assert server.requests[-1].json["messages"][1]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": function, "extra_content": SIGNED}
    ]


async def test_unknown_members_of_a_stopped_answer_are_kept(connect_to: Connect, server: FaultServer) -> None:
    session = connect_to(server.url)
    session.turns.add_turn(make_turn(Role.USER, "Say"))
    server.play(send(head(), chunk({"audio": {"id": "au", "data": "AAAA"}}), chunk({"audio": {"data": "BB"}})), hold())
    run = begin(session)
    await eventually(lambda: any("BB" in str(growing.extra) for growing in session.growing.values()))
    (growing,) = [turn for turn in snapshot(session).turns if turn.outcome is not None]
    session.stop()
    await run
    assert growing.extra == session.transcript.path[-1].extra == {"chat": {"audio": {"id": "au", "data": "AAAABB"}}}


async def test_nothing_is_retried_after_audio(connect_to: Connect, server: FaultServer) -> None:
    session = connect_to(server.url, retries=3)
    session.turns.add_turn(make_turn(Role.USER, "Say"))
    server.play(send(head(), chunk({"audio": {"id": "au", "data": "AAAA"}})))
    await session.run()
    outcome = session.transcript.path[-1].outcome
    assert outcome is not None
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.CUT_OFF
    assert len(server.requests) == 1


async def test_store_and_file_keep_unknown_members_without_keys(make_workspace: MakeWorkspace) -> None:  # noqa: F811
    call = ToolCall(id="c1", name="look", arguments="{}", extra={"chat": {"extra_content": SIGNED}})
    text = Text(text="Green.\nYes.", extra={"messages": {"citations": [CITATION]}})
    turn = answered(text, call, extra={"chat": {"annotations": [{"type": "file"}], "odd": None}})
    workspace = await make_workspace((Secret(KEY),))
    workspace.current.turns.add_turn(turn)
    workspace.current.turns.add_turn(
        answered(Text(text="b", extra={"chat": {"leak": KEY}}), extra={"chat": {"leak": KEY}})
    )
    saved = snapshot(workspace.current)
    back = read(write(saved))
    assert back.turns[0] == turn
    await workspace.close()
    workspace = await make_workspace()
    assert workspace.current.transcript.path[0] == turn
    folder = Path(workspace.store.path).parent if workspace.store else None
    files = [file.read_bytes() for file in folder.rglob("*") if file.is_file()] if folder else []
    assert files
    assert not any(KEY.encode() in data for data in [*files, write(saved, (Secret(KEY),))])


def test_transcript_of_a_cassette_has_unknown_members() -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "Look"}]}
    first = exchange([(1.0, CALLED)], asked=request)
    call = {key: value for key, value in ENTRY.items() if key != "index"}
    back = [
        *request["messages"],
        {"role": "assistant", "content": None, "tool_calls": [{**call, "extra_content": SIGNED}]},
        {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    ]
    second = exchange([(1.0, chunk({"content": "Done"}, "stop") + DONE)], asked={**request, "messages": back}, id="e-2")
    _, called, *_ = transcript_of([first, second]).path
    assert called.outcome is not None  # the answer itself, not another turn that says the same
    assert called.calls[0].extra == {"chat": {"extra_content": SIGNED}}


def edited(session: Session, change: Callable[[Any], None]) -> Transcript:
    body = json.loads(json.dumps(session.next_request.body()))
    change(body)
    apply_edit(session, read_edit(session, json.dumps(body)))
    return session.transcript


CALL = ToolCall(id="c1", name="look", arguments='{"x":1}', extra={"chat": {"extra_content": SIGNED}})


def test_members_removed_or_changed_in_the_request_stay_so() -> None:
    def change(body: Any) -> None:
        message = body["messages"][1]
        del message["tool_calls"][0]["extra_content"]
        del message["audio"]
        message["extra_content"] = {"mine": 1}

    extra = {"chat": {"audio": {"id": "au", "data": "AAAA"}, "extra_content": SIGNED, "channel": "final"}}
    session = session_with(make_turn(Role.USER, "Look"), answered(CALL, extra=extra))
    assert {"audio", "extra_content"} <= session.next_request.body()["messages"][1].keys()
    turn = edited(session, change).path[1]
    assert (turn.calls[0].extra, turn.calls[0].received) == ({}, None)
    sent = session.next_request.body()["messages"][1]
    assert sent["extra_content"] == {"mine": 1}
    assert "audio" not in sent
    assert "extra_content" not in sent["tool_calls"][0]
    assert turn.extra["chat"]["channel"] == "final"
    session.undo()
    assert session.transcript.path[1].extra == extra


def test_edited_call_and_text_keep_members_of_either_protocol() -> None:
    def change(body: Any) -> None:
        body["messages"][1]["tool_calls"][0]["function"]["arguments"] = '{"x":2}'
        body["messages"][1]["content"] = "Blue."

    cited = Text(text="Green.", extra={"messages": {"citations": [CITATION]}})
    for call in (CALL, CALL.model_copy(update={"extra": {"messages": {"caller": {"type": "direct"}}}})):
        session = session_with(make_turn(Role.USER, "Look"), answered(cited, call))
        text, changed = edited(session, change).path[1].parts
        assert text == cited.model_copy(update={"text": "Blue."})
        assert changed == call.model_copy(update={"arguments": '{"x":2}', "received": '{"x":1}'})


def test_edited_text_keeps_the_members_of_unchanged_parts() -> None:
    item, two, three = (
        Text(text=text, extra={"messages": {"citations": [text]}}) for text in ("One.", " Two.", " Three.")
    )
    session = session_with(answered(item, CALL, two, three), protocol="messages")
    for text, parts in (
        ("One. Two. Three.", (item, CALL, two, three)),
        ("One. 2. Three.", (item, CALL, two.model_copy(update={"text": " 2."}), three)),
        ("Else", (Text(text="Else"), CALL)),
    ):
        edit_text(session, session.transcript.path[0].id, text)
        assert session.transcript.path[0].parts == parts


def test_members_are_shown_with_the_protocol_they_are_sent_back_over() -> None:
    cited = Text(text="a", extra={"messages": {"citations": [CITATION]}})
    assert [(item.names, item.fate) for item in unknown_in_part(cited)] == [("citations", "sent back over Messages")]
    assert [item.fate for item in unknown_in_part(CALL)] == ["sent back over Chat completions"]
    broken = CALL.model_copy(update={"arguments": "{", "extra": {"messages": {"caller": 1}}})
    assert unknown_in_part(broken)[0].fate == "sent back over Messages"
    pictured = Image(url="https://x.example", extra={"chat": {"image_url": {"fps": 2}}})
    assert unknown_in_part(pictured)[0].fate == "sent back over Chat completions"
    blocks = [{"type": "text", "text": "seen"}, {"type": "image"}]
    result = ToolResult(call_id="c", text="seen", extra={"messages": {"content": blocks, "cache_control": {"x": 1}}})
    assert unknown_in_part(result)[0].fate == "sent back over Messages"
    changed = result.model_copy(update={"text": "else"})
    assert unknown_in_part(changed)[0].fate == "cache_control sent back over Messages"
    audio = {"audio": {"id": "au", "data": "A"}, "extra_content": SIGNED, "channel": "final"}
    for extra, fate in (
        ({"chat": {"extra_content": SIGNED}}, "sent back over Chat completions"),
        ({"chat": {"channel": "final", "annotations": [{"type": "url_citation"}]}}, "not sent back"),
        ({"chat": audio}, "part of audio and extra_content sent back over Chat completions"),
        ({"messages": {"container": {"id": "k"}}}, "not sent back"),
        ({"future": {"x": 1}}, "not sent back"),
    ):
        assert unknown_in_turn(answered(extra=extra))[0].fate == fate
    assert unknown_in_turn(answered(extra={"chat": {}})) == unknown_in_part(Text(text="a")) == []


def test_long_and_many_members_are_cut_with_a_count() -> None:
    displayed = clipped({"data": "A" * 300_000, "items": list(range(500)), **{f"m{n}": n for n in range(100)}})
    assert len(json.dumps(displayed)) < 5_000
    assert displayed["data"].endswith(f"… and {300_000 - LONGEST_TEXT:,} more characters")
    assert displayed["items"][-1] == "… and 450 more"
    assert displayed["…"] == "and 52 more"
    many = {f"m{n}": n for n in range(10_000)}
    (result,) = unknown_in_part(CALL.model_copy(update={"extra": {"chat": many}}))
    assert len(result.names) < 200
    assert len(json.dumps(clipped(result.members))) < 5_000


def test_exports_have_unknown_members_without_keys() -> None:
    cited = Text(text="Green.", extra={"messages": {"citations": [CITATION]}})
    turns = (answered(cited, CALL, extra={"chat": {"annotations": [{"url": "https://x.example/<b>`"}], "key": KEY}}),)
    created = Snapshot(id="e", model="m", turns=turns, head=turns[0].id)
    markdown = export(created, "markdown", (Secret(KEY),))
    assert "**Unknown:** `extra_content` (sent back over Chat completions)" in markdown
    assert '"thought_signature": "c2lnbmF0dXJl"' in markdown
    assert "**Unknown:** `citations` (sent back over Messages)" in markdown
    assert "**Also received:** `annotations, key` (not sent back)" in markdown
    page = export(created, "html", (Secret(KEY),))
    assert "<summary>unknown: extra_content · sent back over Chat completions</summary>" in page
    assert "Grass is green." in page
    assert "https://x.example/&lt;b&gt;`" in page.replace('<span class="s">', "").replace("</span>", "")
    assert KEY not in markdown + page
    (line,) = export(created, "chat", (Secret(KEY),)).splitlines()
    assert json.loads(line)["tool_calls"][0]["extra_content"] == SIGNED


def test_frames_with_unknown_members_are_marked() -> None:
    late = call_chunk({"index": 0, "extra_content": SIGNED})
    tape = exchange([(1.0, call_chunk(ENTRY)), (2.0, late), (3.0, chunk({"audio": {"data": "AAAA"}}, "stop") + DONE)])
    index = indexed(tape)
    rows = [index.row(number) for number in range(3)]
    assert [Kind.UNKNOWN in row.kinds for row in rows] == [False, True, True]
    assert summarize_frame(index, rows[1]) == "unknown: extra_content"
    assert summarize_frame(index, rows[2]) == "unknown: audio · stop"
    assert [span.part for span in index.span_of(1)] == [0]


def test_headless_output_has_unknown_members() -> None:
    cited = Text(text="Green.", extra={"messages": {"citations": [CITATION]}})
    turn = answered(cited, CALL, extra={"chat": {"channel": "final"}})
    notices = json_output.answer_json((turn,))
    assert notices["tool_calls"][0]["extra"] == {"extra_content": SIGNED}
    assert notices["texts"] == [{"kind": "text", "text": "Green.", "extra": {"citations": [CITATION]}}]
    assert notices["extra"] == {"channel": "final"}
    plain = json_output.answer_json((answered(Text(text="a"), CALL.model_copy(update={"extra": {}})),))
    assert "extra" not in plain["tool_calls"][0]
    assert not {"extra", "texts"} & plain.keys()
