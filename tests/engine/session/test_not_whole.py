"""Answers that arrived to their end and are not whole all the same: a hole in them, or a call that is no JSON.

Over a real socket, in both protocols: what the turn says, what no rule does, and how the command line ends.
"""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from playground.domain.debugging import Answer, AnswerRow, Debugging, Policy, ResultDraft, ToolRule
from playground.domain.encoding import encode
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Ending, Role, Turn, make_turn
from playground.engine.cassettes.transcript import answers_of
from playground.engine.files.export.markdown import markdown
from playground.engine.files.export.selection import Selection
from playground.engine.gateways.secrets import Secret
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.run import RunOptions, run_file
from playground.engine.session.session import Session
from playground.engine.session.snapshot import decode, restore, snapshot
from playground.gateway.client import GatewayClient
from playground.gateway.connection import Connection
from tests.protocols.messages.test_decode import said, start, stop, used
from tests.protocols.streams import DONE, chunk, fragment
from tests.support.fault_server import FaultServer, head, send

BROKEN = b"data: {broken\n\n"
SUNNY = AnswerRow(answer=Answer(text="sunny"))
EVERYTHING = Debugging(default=ToolRule(policy=Policy.TABLE, rows=(SUNNY,), pause_on_misfit=False))
MEND = {"chat": "tool_calls", "messages": "tool_use"}


@dataclass
class FaultyConversation:
    """A session on a gateway that sends what it is told to."""

    server: FaultServer
    session: Session
    folder: Path

    def plays(self, *body: bytes) -> None:
        self.server.play(send(head()), send(*body))

    def text(self, *between: bytes) -> bytes:
        """“Hello”, with something in the middle."""
        if self.session.settings.protocol == "chat":
            return b"".join([chunk({"content": "Hel"}), *between, chunk({"content": "lo"}, "stop"), DONE])
        return b"".join([start(), said("Hel"), *between, said("lo", index=1), stop()])

    def call(self, arguments: str, *before: bytes, reason: str = "") -> bytes:
        """A call with these arguments, and a finish reason that says that it is one."""
        reason = reason or MEND[self.session.settings.protocol]
        if self.session.settings.protocol == "chat":
            called = chunk({"tool_calls": [fragment(arguments, index=0, id="c1", name="get_weather")]})
            return b"".join([*before, called, chunk({}, reason), DONE])
        return b"".join([start(), *before, used(arguments, id="c1", name="get_weather"), stop(reason)])

    async def ask(self) -> Turn:
        self.session.turns.add_turn(make_turn(Role.USER, "Weather?"))
        await self.session.run()
        return self.session.transcript.path[-1]

    @property
    def why(self) -> list[str]:
        debugger = self.session.debugger
        found = [debugger.reason(turn_id, call.id) for turn_id, call in debugger.waiting]
        return [reason.code.value if reason is not None else "" for reason in found]

    async def loop(self) -> tuple[int, str]:
        """The loop at the command line, with a row for every call: exit code and what is said on the error stream."""
        request, table = self.folder / "request.json", self.folder / "table.json"
        messages = [{"role": "user", "content": "Weather?"}]
        content = {"playground": 1, "protocol": self.session.settings.protocol, "model": "m", "messages": messages}
        request.write_text(json.dumps({**content, "parameters": {"max_tokens": 50}}), encoding="utf-8")
        table.write_text(json.dumps({"playground_answers": 1, "tools": {"*": [{"result": "sunny"}]}}), encoding="utf-8")
        err = io.StringIO()
        code = await run_file(request, RunOptions(base_url=self.server.url, answers=table), io.StringIO(), err)
        return code, err.getvalue()


@pytest.fixture(params=["chat", "messages"])
async def conversation(
    request: pytest.FixtureRequest, server: FaultServer, tmp_path: Path
) -> AsyncIterator[FaultyConversation]:
    client = GatewayClient(Connection(base_url=server.url, key=Secret("k")))

    async def connect(_profile_id: str) -> GatewayClient:
        return client

    session = Session(connect, profile_id="p", protocol=request.param, model="m")
    session.set_parameters(session.settings.current.model_copy(update={"max_tokens": 50}))
    session.change(debugging=EVERYTHING)
    yield FaultyConversation(server, session, tmp_path)
    await client.aclose()


async def test_an_answer_with_a_hole_is_kept_and_not_whole(conversation: FaultyConversation) -> None:
    conversation.plays(conversation.text(BROKEN))
    turn = await conversation.ask()
    assert turn.text == "Hello"
    assert turn.outcome is not None
    assert (turn.outcome.ending, turn.outcome.failure, turn.outcome.whole) == (Ending.COMPLETE, None, False)
    assert turn.outcome.holes == ("not_json",)
    assert turn.outcome.holes[0] in dict(turn.outcome.deviations)
    assert not turn.truncated  # what is there did not break off


async def test_a_hole_is_kept_in_the_store_in_a_file_in_an_export_and_found_again_on_the_tape(
    conversation: FaultyConversation,
) -> None:
    conversation.plays(conversation.text(BROKEN))
    turn = await conversation.ask()
    assert turn.outcome is not None
    kept = snapshot(conversation.session)
    (again,) = [one for one in decode(json.loads(json.dumps(encode(kept)))).turns if one.id == turn.id]
    assert again.outcome == turn.outcome
    assert "Part of the answer could not be read." in markdown(Selection(kept, (), whole_tree=False))
    exchange = conversation.session.exchanges.get(turn.outcome.exchange or "")
    assert exchange is not None
    (read,) = answers_of(exchange)
    assert read.outcome is not None
    assert read.outcome.holes == turn.outcome.holes


async def test_no_rule_answers_the_calls_of_an_answer_with_a_hole_and_a_person_may(
    conversation: FaultyConversation,
) -> None:
    conversation.plays(conversation.call('{"city": "Oslo"}', BROKEN))
    await conversation.ask()
    assert (conversation.why, len(conversation.server.requests)) == (["hole"], 1)
    for go in (conversation.session.debugger.go_on, conversation.session.debugger.run_to_end):
        with pytest.raises(RunRefusedError, match="could not be read"):
            await go()
    other = Session(conversation.session.experiment.connect, profile_id="p")
    restore(snapshot(conversation.session), other)
    assert [other.debugger.reason(turn_id, call.id) for turn_id, call in other.debugger.waiting] == [
        conversation.session.debugger.reason(turn_id, call.id)
        for turn_id, call in conversation.session.debugger.waiting
    ]
    conversation.plays(conversation.text())
    (turn_id, call), *_ = conversation.session.debugger.waiting
    conversation.session.debugger.notes.set_draft(turn_id, call.id, ResultDraft(text="cold"))
    await conversation.session.debugger.go_on()
    assert conversation.session.transcript.path[-1].text == "Hello"


@pytest.mark.parametrize("arguments", ['{"city": "', '{"city": "Oslo"', "{malformed <<<", '["Oslo"]'])
async def test_arguments_that_are_not_whole_are_answered_by_no_rule(
    conversation: FaultyConversation, arguments: str
) -> None:
    """The finish reason says that the model called a tool, and meant to."""
    conversation.plays(conversation.call(arguments))
    await conversation.ask()
    assert (conversation.why, len(conversation.server.requests)) == (["malformed"], 1)
    for go in (conversation.session.debugger.go_on, conversation.session.debugger.run_to_end):
        with pytest.raises(RunRefusedError, match="get_weather are malformed"):
            await go()
    (turn_id, call), *_ = conversation.session.debugger.waiting
    with pytest.raises(RunRefusedError, match="get_weather are malformed"):
        await conversation.session.debugger.step(turn_id, call.id)
    assert len(conversation.server.requests) == 1
    conversation.session.turns.edit_call(turn_id, call.id, '{"city": "Oslo"}')
    assert conversation.why == [""], "what was corrected is a call like any other"
    conversation.plays(conversation.text())
    await conversation.session.debugger.go_on()
    assert conversation.session.transcript.path[-1].text == "Hello"


async def test_arguments_cut_off_by_the_limit_are_said_to_be_so(conversation: FaultyConversation) -> None:
    conversation.plays(
        conversation.call(
            '{"city": "', reason={"chat": "length", "messages": "max_tokens"}[conversation.session.settings.protocol]
        )
    )
    await conversation.ask()
    assert conversation.why == ["truncated"]
    code, said_so = await conversation.loop()
    assert code == ExitCode.INCOMPLETE
    assert "broke off" in said_so


@pytest.mark.parametrize(
    ("arguments", "before", "words"),
    [('{"city": "', (), "get_weather are malformed (not JSON:"), ('{"city": "Oslo"}', (BROKEN,), "could not be read")],
)
async def test_the_loop_at_the_command_line_stops_and_says_why(
    conversation: FaultyConversation, arguments: str, before: tuple[bytes, ...], words: str
) -> None:
    conversation.plays(conversation.call(arguments, *before))
    code, said_so = await conversation.loop()
    assert code == ExitCode.INCOMPLETE
    assert words in said_so
    assert len(conversation.server.requests) == 1


async def test_empty_arguments_are_whole(conversation: FaultyConversation) -> None:
    conversation.server.play_next(send(head()), send(conversation.call("")))
    conversation.plays(conversation.text())
    turn = await conversation.ask()
    assert turn.text == "Hello"
    assert [one.role.value for one in conversation.session.transcript.path] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
