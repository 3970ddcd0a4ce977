"""A call that a tool server works at while another experiment is shown, the turn or the experiment is deleted, or the
window is closed; and real answers, recorded and given again.
"""

from __future__ import annotations

import os
from pathlib import Path

from playground.domain.debugging import Debugging, Policy, ToolRule
from playground.domain.transcript import Role, make_turn
from playground.engine.session.changes import RunState
from playground.engine.tool_servers.tools import definition_of
from tests.flows.conftest import Person, Stage, flow
from tests.flows.pages.conversation import CallCard


async def offer_tools(person: Person, *names: str, policy: Policy = Policy.SERVER) -> None:
    """Offer these tools of the demo's own server, each with a rule of its own."""
    servers = person.app.workspace.tool_servers
    live = await servers.start("demo")
    servers.book.accept("demo", live.tools)
    tools = tuple(definition_of(live.server, tool, tool.name) for tool in live.tools if tool.name in names)
    rules = Debugging(rules={name: ToolRule(policy=policy) for name in names})
    person.session.change(tools=tools, model="demo-tools", debugging=rules)


def sent(person: Person) -> int:
    """The number of calls sent to tool servers."""
    entries = person.app.workspace.tool_servers.tape.entries
    return sum(entry.method == "tools/call" and entry.frame.sent for entry in entries)


async def begin_count(person: Person, to: int = 40) -> tuple[str, str]:
    """Ask the server about a call that waits; it works at it for a while."""
    await offer_tools(person, "count_slowly", policy=Policy.PAUSE)
    person.session.turns.add_turn(make_turn(Role.USER, f"Use count_slowly to {to} with pause 0.05"))
    await person.session.run()
    ((turn_id, call),) = person.session.debugger.waiting
    card = await CallCard.wait(person)
    await card.press("Call server")
    debugger = person.session.debugger
    await person.until(lambda: (ticket := debugger.ticket(turn_id, call.id)) is not None and ticket.done, "progress")
    return turn_id, call.id


@flow()
async def test_real_answers_are_recorded_and_given_again(person: Person) -> None:
    await offer_tools(person, "roll_dice", "clock")
    await person.run("Use clock, then roll_dice")
    await person.until(lambda: person.session.state is RunState.IDLE and len(person.path) > 3, "the answers")
    request = sent(person)
    assert request == 2
    first = [result.text for turn in person.path for result in turn.results]
    await person.trigger("debug.record")
    rules = person.session.debugger.debugging.rules
    assert {rule.policy for rule in rules.values()} == {Policy.TABLE}
    await person.run("Use clock, then roll_dice")
    await person.until(lambda: person.session.state is RunState.IDLE and len(person.path) > 8, "them again")
    again = [result for turn in person.path[5:] for result in turn.results]
    assert [result.text for result in again] == first, "dice that fell are not thrown again"
    assert [result.by for result in again] == ["table", "table"]
    assert sent(person) == request


@flow()
async def test_call_is_answered_or_cancelled_behind_other_experiments_and_deletions(person: Person) -> None:
    workspace = person.app.workspace

    # Another experiment is shown meanwhile
    key = await begin_count(person)
    session = person.session
    await person.do(workspace.new)
    assert person.session is not session
    await person.until(lambda: not session.experiment.calls_server, "the answer")
    draft = session.debugger.notes.draft(*key)
    assert draft is not None
    assert draft.served is not None
    await workspace.show(session.id)
    await person.idle()
    assert session.debugger.paused

    # The turn is deleted, and restored with the answer
    await person.do(workspace.new)
    key = await begin_count(person)
    session = person.session
    await person.do(lambda: session.delete_turn(key[0]))
    await person.until(lambda: not session.experiment.calls_server, "the answer")
    await person.do(session.undo)
    draft = session.debugger.notes.draft(*key)
    assert draft is not None
    assert draft.served is not None
    assert session.debugger.waiting

    # The experiment is deleted: the call is cancelled
    await person.do(workspace.new)
    key = await begin_count(person, 1000)
    session = person.session
    await person.do(lambda: workspace.delete(session.id))
    await person.until(lambda: not session.experiment.calls_server, "the end of the call")
    await person.do(lambda: workspace.undelete())
    await person.until(lambda: person.session is session, "the experiment")
    reason = session.debugger.reason(*key)
    assert reason is not None
    assert "Cancelled" in reason.words
    assert session.debugger.waiting


def test_servers_end_with_window_closed_during_calls(stage: Stage) -> None:
    pids: list[int] = []

    async def scene(person: Person) -> None:
        await begin_count(person, 1000)
        by_hand = person.session
        await person.do(person.app.workspace.new)
        await offer_tools(person, "count_slowly")
        await person.run("Use count_slowly to 1000")
        await person.until(lambda: person.session.experiment.calls_server and sent(person) == 2, "the call of a rule")
        assert by_hand.experiment.calls_server
        pids.extend(_children())
        assert pids, "the process of tool servers"

    stage.play(scene)
    assert not [pid for pid in pids if _lives(pid)], "nothing is left"


def _children() -> list[int]:
    """The processes of tool servers that this process started, and those below them."""
    results: list[int] = []
    parents = {os.getpid()}
    while parents:
        parents = {pid for pid in map(_number, Path("/proc").iterdir()) if pid and _parent(pid) in parents}
        results += parents
    return list(filter(_lives, results))


def _number(folder: Path) -> int:
    return int(folder.name) if folder.name.isdigit() else 0


def _parent(pid: int) -> int:
    stat = _read(pid, "stat")
    return int(stat.rpartition(b")")[2].split()[1]) if stat else 0


def _lives(pid: int) -> bool:
    return b"tool" in _read(pid, "cmdline")


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""  # it has ended
