"""Complete answers with unreadable parts or malformed calls: the turn, the rules and the command line."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from playground.domain.debugging import Answer, AnswerRow, Debugging, Policy, ResultDraft, ToolRule
from playground.domain.encoding import encode
from playground.domain.errors import RunRefusedError
from playground.domain.transcript import Ending, Role, Turn, make_turn
from playground.engine.cassettes.replay import answers_of
from playground.engine.files.export.markdown import to_markdown
from playground.engine.files.export.selection import Selection
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.run import RunOptions, run_file
from playground.engine.session.session import Experiment, Session
from playground.engine.session.snapshot import decode, restore, snapshot
from tests.engine.session.conftest import Connect
from tests.protocols.messages.test_decode import start, stop, text_block, used
from tests.protocols.streams import DONE, chunk, fragment
from tests.support.editors import edit_call
from tests.support.fault_server import FaultServer, head, send

BROKEN = b"data: {broken\n\n"
SUNNY = AnswerRow(answer=Answer(text="sunny"))
EVERYTHING = Debugging(default=ToolRule(policy=Policy.TABLE, rows=(SUNNY,), pause_on_misfit=False))
MEND = {"chat": "tool_calls", "messages": "tool_use"}


@dataclass
class FaultyConversation:
    """A session on a gateway that plays faulty answers."""

    server: FaultServer
    session: Session
    folder: Path

    def plays(self, *body: bytes) -> None:
        self.server.play(send(head()), send(*body))

    def text(self, *between: bytes) -> bytes:
        """“Hello”, with something in the middle."""
        if self.session.settings.protocol == "chat":
            return b"".join([chunk({"content": "Hel"}), *between, chunk({"content": "lo"}, "stop"), DONE])
        return b"".join([start(), text_block("Hel"), *between, text_block("lo", index=1), stop()])

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
        reasons = [debugger.reason(turn_id, call.id) for turn_id, call in debugger.waiting]
        return [reason.code.value if reason is not None else "" for reason in reasons]

    async def loop(self) -> tuple[int, str]:
        """The loop at the command line, with a row for every call: exit code and text of the error stream."""
        request, table = self.folder / "request.json", self.folder / "table.json"
        messages = [{"role": "user", "content": "Weather?"}]
        content = {"playground": 1, "protocol": self.session.settings.protocol, "model": "m", "messages": messages}
        request.write_text(json.dumps({**content, "parameters": {"max_tokens": 50}}), encoding="utf-8")
        table.write_text(json.dumps({"playground_answers": 1, "tools": {"*": [{"result": "sunny"}]}}), encoding="utf-8")
        err = io.StringIO()
        code = await run_file(request, RunOptions(base_url=self.server.url, answers=table), io.StringIO(), err)
        return code, err.getvalue()


@pytest.fixture
async def conversation(
    request: pytest.FixtureRequest, server: FaultServer, connect_to: Connect, tmp_path: Path
) -> FaultyConversation:
    session = connect_to(server.url, protocol=getattr(request, "param", "chat"))
    session.set_parameters(session.settings.current.model_copy(update={"max_tokens": 50}))
    session.change(debugging=EVERYTHING)
    return FaultyConversation(server, session, tmp_path)


@pytest.mark.parametrize("conversation", ["chat", "messages"], indirect=True)
async def test_answer_with_a_hole_is_saved_as_not_whole(conversation: FaultyConversation) -> None:
    conversation.plays(conversation.text(BROKEN))
    turn = await conversation.ask()
    assert turn.text == "Hello"
    assert turn.outcome is not None
    assert (turn.outcome.ending, turn.outcome.failure, turn.outcome.is_complete) == (Ending.COMPLETE, None, False)
    assert turn.outcome.holes == ("not_json",)
    assert "not_json" in dict(turn.outcome.deviations)
    assert not turn.truncated  # the text did not break off
    saved = snapshot(conversation.session)
    (again,) = [item for item in decode(json.loads(json.dumps(encode(saved)))).turns if item.id == turn.id]
    assert again.outcome == turn.outcome
    assert "Part of the answer could not be read." in to_markdown(Selection(saved, (), whole_tree=False))
    (replayed,) = answers_of(conversation.session.exchanges[turn.outcome.exchange or ""])
    assert replayed.outcome is not None
    assert replayed.outcome.holes == turn.outcome.holes


async def test_call_of_an_answer_with_a_hole_is_answered_by_a_person_only(conversation: FaultyConversation) -> None:
    conversation.plays(conversation.call('{"city": "Oslo"}', BROKEN))
    await conversation.ask()
    debugger = conversation.session.debugger
    assert (conversation.why, len(conversation.server.requests)) == (["hole"], 1)
    for go in (debugger.go_on, debugger.run_to_end):
        with pytest.raises(RunRefusedError, match="could not be read"):
            await go()
    second = Experiment(conversation.session.experiment.connect, profile_id="p").main
    restore(snapshot(conversation.session), second)
    ((turn_id, call),) = debugger.waiting
    assert second.debugger.reason(turn_id, call.id) == debugger.reason(turn_id, call.id)
    conversation.plays(conversation.text())
    debugger.notes.set_draft(turn_id, call.id, ResultDraft(text="cold"))
    await debugger.go_on()
    assert conversation.session.transcript.path[-1].text == "Hello"


@pytest.mark.parametrize("arguments", ['{"city": "', "{malformed <<<", '["Oslo"]'])
async def test_malformed_arguments_are_refused(conversation: FaultyConversation, arguments: str) -> None:
    conversation.plays(conversation.call(arguments))
    await conversation.ask()
    debugger = conversation.session.debugger
    assert conversation.why == ["malformed"]
    ((turn_id, call),) = debugger.waiting
    for go in (debugger.go_on, debugger.run_to_end, lambda: debugger.step(turn_id, call.id)):
        with pytest.raises(RunRefusedError, match="get_weather are malformed"):
            await go()
    assert len(conversation.server.requests) == 1
    edit_call(conversation.session, turn_id, call.id, '{"city": "Oslo"}')
    assert conversation.why == [""], "what was corrected is a call like any other"
    conversation.plays(conversation.text())
    await debugger.go_on()
    assert conversation.session.transcript.path[-1].text == "Hello"


async def test_loop_at_the_command_line_stops_with_the_reason(conversation: FaultyConversation) -> None:
    for number, (body, words) in enumerate(
        [
            (conversation.call('{"city": "'), "get_weather are malformed (not JSON:"),
            (conversation.call('{"city": "Oslo"}', BROKEN), "could not be read"),
            (conversation.call('{"city": "', reason="length"), "broke off"),
        ],
        1,
    ):
        conversation.plays(body)
        code, error = await conversation.loop()
        assert (code, len(conversation.server.requests)) == (ExitCode.INCOMPLETE, number)
        assert words in error


async def test_empty_arguments_are_whole(conversation: FaultyConversation) -> None:
    conversation.server.play_next(send(head()), send(conversation.call("")))
    conversation.plays(conversation.text())
    assert (await conversation.ask()).text == "Hello"
    assert [turn.role.value[0] for turn in conversation.session.transcript.path] == ["u", "a", "t", "a"]
