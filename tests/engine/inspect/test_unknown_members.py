"""What a gateway sends beside what is known, all the way: over a socket, on the disk, edited, shown, and sent back."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from playground.domain.errors import FailureKind
from playground.domain.parts import Image, Text, ToolCall, ToolResult
from playground.domain.transcript import Ending, Outcome, Role, Transcript, Turn, make_turn, new_id
from playground.engine.cassettes.transcript import transcript_of
from playground.engine.files.experiment_file import read, write
from playground.engine.files.export import HTML, MARKDOWN, export
from playground.engine.gateways.profiles import Profile
from playground.engine.gateways.secrets import Secret
from playground.engine.headless import json_output
from playground.engine.inspect.compare import Side, compare
from playground.engine.inspect.frame_summary import summarize_frame
from playground.engine.inspect.frames import Kind
from playground.engine.inspect.unknown_members import LONGEST_TEXT, beside_part, beside_turn, clipped
from playground.engine.requests.edit import apply_edit, read_edit
from playground.engine.session.session import Session
from playground.engine.session.snapshot import Snapshot, snapshot
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from tests.engine.exchanges import exchange, indexed
from tests.engine.library.store.conftest import MakeWorkspace, make_workspace, path  # noqa: F401 - fixtures
from tests.engine.session.test_run import begin
from tests.protocols.messages.test_decode import block, event, start
from tests.protocols.streams import DONE, call_chunk, chunk
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, head, hold, send

SIGNED = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
CITATION = {"type": "char_location", "cited_text": "Grass is green.", "file_id": None}
ENTRY = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"x":1}'}}
CALLED = call_chunk({**ENTRY, "extra_content": SIGNED}) + chunk({}, "tool_calls") + DONE
CITED = (
    start()
    + block(0, {"type": "text", "text": "Green."}, {"type": "citations_delta", "citation": CITATION})
    + event("message_delta", delta={"stop_reason": "end_turn"}, usage={})
    + event("message_stop")
)
KEY = "gw-canary-4f9c1d7e0a"


@pytest.fixture
async def connect_to() -> AsyncIterator[Callable[..., Session]]:
    clients: list[GatewayClient] = []

    def make(base_url: str, protocol: str = "chat", retries: int = 0) -> Session:
        client = GatewayClient(Connection(base_url=base_url, key=Secret(KEY), retries=retries))
        clients.append(client)

        async def connect(_profile_id: str) -> GatewayClient:
            return client

        profile = Profile(id="p", base_url=base_url)
        return Session(connect, profile_id="p", model="m", protocol=protocol, profile_of=lambda _: profile)

    yield make
    for client in clients:
        await client.aclose()


def answered(*parts: Any, **more: Any) -> Turn:
    return Turn(id=new_id(), role=Role.ASSISTANT, parts=parts, outcome=Outcome(ending=Ending.COMPLETE), **more)


def sent_calls(body: Any) -> Any:
    return next(message["tool_calls"] for message in body["messages"] if message["role"] == "assistant")


# Over a socket


async def test_a_gateway_that_wants_its_signature_back_gets_it(connect_to: Callable[..., Session]) -> None:
    with FaultServer() as server:
        session = connect_to(server.url)
        session.turns.add_turn(make_turn(Role.USER, "Look"))
        server.play(send(head(), CALLED))
        await session.run()
        (turn,) = [turn for turn in session.transcript.path if turn.calls]
        session.turns.edit_call(turn.id, "c1", '{"x": 2}')
        session.turns.answer("c1", "seen")
        server.play(send(head(), chunk({"content": "Done"}, "stop"), DONE))
        await session.run()
    function = {"name": "look", "arguments": '{"x": 2}'}
    assert sent_calls(server.requests[-1].json) == [
        {"id": "c1", "type": "function", "function": function, "extra_content": SIGNED}
    ]


async def test_stopped_in_the_middle_what_came_stays(connect_to: Callable[..., Session]) -> None:
    with FaultServer() as server:
        session = connect_to(server.url)
        session.turns.add_turn(make_turn(Role.USER, "Say"))
        server.play(
            send(head(), chunk({"audio": {"id": "au", "data": "AAAA"}}), chunk({"audio": {"data": "BB"}})), hold()
        )
        run = begin(session)
        await eventually(lambda: any("BB" in str(growing.extra) for growing in session.growing.values()))
        ((growing),) = [turn for turn in snapshot(session).turns if turn.outcome is not None]
        session.stop()
        await run
    assert growing.extra == session.transcript.path[-1].extra == {"chat": {"audio": {"id": "au", "data": "AAAABB"}}}


async def test_audio_is_content_nothing_is_tried_again_after_it(connect_to: Callable[..., Session]) -> None:
    with FaultServer() as server:
        session = connect_to(server.url, retries=3)
        session.turns.add_turn(make_turn(Role.USER, "Say"))
        server.play(send(head(), chunk({"audio": {"id": "au", "data": "AAAA"}})))
        await session.run()
    outcome = session.transcript.path[-1].outcome
    assert outcome is not None
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.CUT_OFF
    assert len(server.requests) == 1


# On the disk


async def test_store_and_file_keep_all_of_it(make_workspace: MakeWorkspace) -> None:  # noqa: F811
    call = ToolCall(id="c1", name="look", arguments="{}", extra={"chat": {"extra_content": SIGNED}})
    text = Text(text="Green.\nYes.", extra={"messages": {"citations": [CITATION]}})
    turn = answered(text, call, extra={"chat": {"annotations": [{"type": "file"}], "odd": None}})
    workspace = await make_workspace((Secret(KEY),))
    workspace.current.turns.add_turn(turn)
    workspace.current.turns.add_turn(
        answered(Text(text="b", extra={"chat": {"leak": KEY}}), extra={"chat": {"leak": KEY}})
    )
    kept = snapshot(workspace.current)
    back = read(write(kept))
    assert back.turns[0] == turn
    await workspace.close()
    workspace = await make_workspace()
    assert workspace.current.transcript.path[0] == turn
    files = [one.read_bytes() for one in Path(workspace.store.path).parent.iterdir()] if workspace.store else []
    assert files
    assert not any(KEY.encode() in data for data in [*files, write(kept, (Secret(KEY),))])


def test_a_file_of_before_opens() -> None:
    parts = [
        {"kind": "text", "text": "a"},
        {"kind": "tool_call", "id": "c1", "name": "look", "arguments": "{}"},
    ]
    turns = [{"id": "t", "role": "assistant", "parts": parts}]
    (turn,) = read(json.dumps({"experiment": 1, "id": "e", "turns": turns}).encode()).turns
    assert turn.parts == (Text(text="a"), ToolCall(id="c1", name="look", arguments="{}"))
    assert "extra" not in write(Snapshot(id="e", turns=(turn,))).decode()


def test_a_cassette_tells_of_it() -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "Look"}]}
    first = exchange([(1.0, CALLED)], asked=asked)
    call = {key: value for key, value in ENTRY.items() if key != "index"}
    back = [
        *asked["messages"],
        {"role": "assistant", "content": None, "tool_calls": [{**call, "extra_content": SIGNED}]},
        {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    ]
    second = exchange([(1.0, chunk({"content": "Done"}, "stop") + DONE)], asked={**asked, "messages": back}, id="e-2")
    _, called, *_ = transcript_of([first, second]).path
    assert called.outcome is not None  # the answer itself, not another turn that says the same
    assert called.calls[0].extra == {"chat": {"extra_content": SIGNED}}


# By hand


def session_with(*turns: Turn, protocol: str = "chat") -> Session:
    async def nowhere(_profile_id: str) -> GatewayClient:
        raise OSError

    profile = Profile(id="p", base_url="http://gateway.example/v1")
    session = Session(nowhere, profile_id="p", model="m", protocol=protocol, profile_of=lambda _: profile)
    for turn in turns:
        session.turns.add_turn(turn)
    return session


def edited(session: Session, change: Callable[[Any], None]) -> Transcript:
    body = json.loads(json.dumps(session.next_request.body()))
    change(body)
    apply_edit(session, read_edit(session, json.dumps(body)))
    return session.transcript


CALL = ToolCall(id="c1", name="look", arguments='{"x":1}', extra={"chat": {"extra_content": SIGNED}})


def test_a_call_edited_in_the_request_keeps_what_it_came_with() -> None:
    def other_arguments(body: Any) -> None:
        body["messages"][1]["tool_calls"][0]["function"]["arguments"] = '{"x":2}'

    session = session_with(make_turn(Role.USER, "Look"), answered(Text(text="a"), CALL))
    (call,) = edited(session, other_arguments).path[1].calls
    assert (call.arguments, call.received, call.extra) == ('{"x":2}', '{"x":1}', CALL.extra)


def test_members_taken_out_or_changed_in_the_request_are_so_from_then_on() -> None:
    def without(body: Any) -> None:
        message = body["messages"][1]
        del message["tool_calls"][0]["extra_content"]
        del message["audio"]
        message["extra_content"] = {"mine": 1}

    extra = {"chat": {"audio": {"id": "au", "data": "AAAA"}, "extra_content": SIGNED, "channel": "final"}}
    session = session_with(make_turn(Role.USER, "Look"), answered(CALL, extra=extra))
    assert {"audio", "extra_content"} <= session.next_request.body()["messages"][1].keys()
    turn = edited(session, without).path[1]
    assert turn.calls[0].extra == {}
    assert turn.calls[0].received is None
    sent = session.next_request.body()["messages"][1]
    assert (sent["extra_content"], "audio" in sent, "extra_content" in sent["tool_calls"][0]) == (
        {"mine": 1},
        False,
        False,
    )
    assert turn.extra["chat"]["channel"] == "final"
    session.undo()
    assert session.transcript.path[1].extra == extra


def test_another_edit_of_the_request_leaves_what_belongs_to_another_protocol() -> None:
    def other_arguments(body: Any) -> None:
        body["messages"][1]["tool_calls"][0]["function"]["arguments"] = '{"x":2}'
        body["messages"][1]["content"] = "Blue."

    cited = Text(text="Green.", extra={"messages": {"citations": [CITATION]}})
    call = ToolCall(id="c1", name="look", arguments="{}", extra={"messages": {"caller": {"type": "direct"}}})
    session = session_with(make_turn(Role.USER, "Look"), answered(cited, call))
    text, call = edited(session, other_arguments).path[1].parts  # type: ignore[assignment]
    assert text == cited.model_copy(update={"text": "Blue."})
    assert call.extra == {"messages": {"caller": {"type": "direct"}}}


def test_a_text_edited_by_hand_keeps_what_the_unchanged_ones_came_with() -> None:
    one, two, three = (
        Text(text=text, extra={"messages": {"citations": [text]}}) for text in ("One.", " Two.", " Three.")
    )
    session = session_with(answered(one, CALL, two, three), protocol="messages")
    turn_id = session.transcript.path[0].id
    session.turns.edit_text(turn_id, "One. Two. Three.")
    assert session.transcript.path[0].parts == (one, CALL, two, three)
    session.turns.edit_text(turn_id, "One. 2. Three.")
    assert session.transcript.path[0].parts == (one, CALL, two.model_copy(update={"text": " 2."}), three)
    session.turns.edit_text(turn_id, "One. 2. Three. Four.")
    assert session.transcript.path[0].parts[3:] == (three.model_copy(update={"text": " Three. Four."}),)
    session.turns.edit_text(turn_id, "Else")
    assert list(session.transcript.path[0].parts) == [Text(text="Else"), CALL]


# Shown


def test_what_goes_back_and_what_does_not_is_said() -> None:
    cited = Text(text="a", extra={"messages": {"citations": [CITATION]}})
    assert [(one.names, one.fate) for one in beside_part(cited)] == [("citations", "sent back over Messages")]
    assert [one.fate for one in beside_part(CALL)] == ["sent back over Chat completions"]
    fates = {
        "sent back over Chat completions": {"chat": {"extra_content": SIGNED}},
        "not sent back": {"chat": {"channel": "final", "annotations": [{"type": "url_citation"}]}},
        "part of audio and extra_content sent back over Chat completions": {
            "chat": {"audio": {"id": "au", "data": "A"}, "extra_content": SIGNED, "channel": "final"}
        },
    }
    assert {beside_turn(answered(extra=extra))[0].fate: extra for extra in fates.values()} == fates
    assert beside_turn(answered(extra={"messages": {"container": {"id": "k"}}}))[0].fate == "not sent back"
    assert beside_turn(answered(extra={"future": {"x": 1}}))[0].fate == "not sent back"
    assert beside_turn(answered(extra={"chat": {}})) == beside_part(Text(text="a")) == []


def test_a_result_that_was_edited_no_longer_goes_back_as_it_came() -> None:
    blocks = [{"type": "text", "text": "seen"}, {"type": "image"}]
    result = ToolResult(call_id="c", text="seen", extra={"messages": {"content": blocks, "cache_control": {"x": 1}}})
    assert beside_part(result)[0].fate == "sent back over Messages"
    edited = result.model_copy(update={"text": "else"})
    assert beside_part(edited)[0].fate == "cache_control sent back over Messages"
    pictured = Image(url="https://x.example", extra={"chat": {"image_url": {"fps": 2}}})
    assert beside_part(pictured)[0].fate == "sent back over Chat completions"
    broken = CALL.model_copy(update={"arguments": "{", "extra": {"messages": {"caller": 1}}})
    assert beside_part(broken)[0].fate == "sent back over Messages"


def test_very_many_members_are_judged_in_no_time() -> None:
    many = {f"m{n}": n for n in range(50_000)}
    began = time.process_time()
    (found,) = beside_part(CALL.model_copy(update={"extra": {"chat": many}}))
    assert found.fate == "sent back over Chat completions"
    assert len(found.names) < 200
    assert len(json.dumps(clipped(found.members))) < 5_000
    assert time.process_time() - began < 3


def test_what_is_long_is_cut_with_words() -> None:
    shown = clipped({"data": "A" * 3_000_000, "items": list(range(500)), **{f"m{n}": n for n in range(100)}})
    assert len(json.dumps(shown)) < 5_000
    assert shown["data"].endswith(f"… and {3_000_000 - LONGEST_TEXT:,} more characters")
    assert shown["items"][-1] == "… and 450 more"
    assert shown["…"] == "and 52 more"


async def test_exports_have_it(tmp_path: Path) -> None:
    cited = Text(text="Green.", extra={"messages": {"citations": [CITATION]}})
    turns = (answered(cited, CALL, extra={"chat": {"annotations": [{"url": "https://x.example/<b>`"}], "key": KEY}}),)
    made = Snapshot(id="e", model="m", turns=turns, head=turns[0].id)
    markdown = export(made, MARKDOWN, known=(Secret(KEY),))
    assert "**Unknown:** `extra_content` (sent back over Chat completions)" in markdown
    assert '"thought_signature": "c2lnbmF0dXJl"' in markdown
    assert "**Unknown:** `citations` (sent back over Messages)" in markdown
    assert "**Also received:** `annotations, key` (not sent back)" in markdown
    page = export(made, HTML, known=(Secret(KEY),))
    assert "<summary>unknown: extra_content · sent back over Chat completions</summary>" in page
    assert "Grass is green." in page
    assert "https://x.example/&lt;b&gt;`" in page.replace('<span class="s">', "").replace("</span>", "")
    assert KEY not in markdown + page
    (line,) = export(made, "chat", known=(Secret(KEY),)).splitlines()
    assert json.loads(line)["tool_calls"][0]["extra_content"] == SIGNED


def test_two_answers_are_compared_in_it() -> None:
    left = exchange([(1.0, CALLED)])
    right = exchange([(1.0, CALLED.replace(b"c2lnbmF0dXJl", b"b3RoZXI"))], id="e-2")
    found = compare(indexed(left), indexed(right))
    assert [piece.text.strip() for piece in found.beside if piece.kind is Side.REMOVED] == ["c2lnbmF0dXJl"]
    assert {piece.kind for piece in found.answer} == {Side.SAME}
    cited = exchange([(1.0, CITED)], protocol="messages", id="e-3")
    assert "Grass is green." in "".join(piece.text for piece in compare(indexed(left), indexed(cited)).beside)


def test_frames_say_that_they_brought_it() -> None:
    late = call_chunk({"index": 0, "extra_content": SIGNED})
    tape = exchange([(1.0, call_chunk(ENTRY)), (2.0, late), (3.0, chunk({"audio": {"data": "AAAA"}}, "stop") + DONE)])
    index = indexed(tape)
    rows = [index.row(number) for number in range(3)]
    assert [Kind.UNKNOWN in row.kinds for row in rows] == [False, True, True]
    assert summarize_frame(index, rows[1]) == "unknown: extra_content"
    assert summarize_frame(index, rows[2]) == "unknown: audio · stop"
    assert [span.part for span in index.span_of(1)] == [0]


def test_a_headless_run_tells_of_it() -> None:
    cited = Text(text="Green.", extra={"messages": {"citations": [CITATION]}})
    turn = answered(cited, CALL, extra={"chat": {"channel": "final"}})
    told = json_output.answer((turn,))
    assert told["tool_calls"][0]["extra"] == {"extra_content": SIGNED}
    assert told["texts"] == [{"kind": "text", "text": "Green.", "extra": {"citations": [CITATION]}}]
    assert told["extra"] == {"channel": "final"}
    plain = json_output.answer((answered(Text(text="a"), CALL.model_copy(update={"extra": {}})),))
    assert "extra" not in plain["tool_calls"][0]
    assert not {"extra", "texts"} & plain.keys()
