"""Options of the command line: what goes out, time limits, how often tried, what is kept."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.domain.request import ReasoningReturn, SendReasoning
from playground.engine.cassettes import cassette
from playground.engine.gateways.profiles import Auth
from playground.engine.gateways.secrets import Secret
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.run import RunOptions, run_file
from tests.engine.debugging import begin
from tests.engine.headless.runs import CANARY, Desk, experiment
from tests.protocols.streams import DONE, call_chunk, chunk
from tests.support.eventually import eventually
from tests.support.fault_server import FaultServer, head, hold, send, sleep, sse, text_chunk, whole
from tests.support.proxy import Proxy, Socks

FINE = send(head(), sse(text_chunk("Hi", "stop"), "[DONE]"))
BUSY = send(whole(503, "application/json", b'{"code": 1, "message": "busy", "data": null}'))


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        running.play(FINE)
        yield running


@pytest.fixture
def desk(tmp_path: Path, server: FaultServer) -> Desk:
    return Desk(tmp_path, server.url)


# What goes out


async def test_headers_and_the_way_of_the_key(desk: Desk, server: FaultServer) -> None:
    ended = await desk.run(experiment(), headers=(("X-Team", "a b"), ("X-Portkey-Virtual-Key", "hush-4711-hush")))
    assert ended.code == ExitCode.OK
    assert server.requests[-1].header("X-Team") == "a b"
    assert server.requests[-1].header("X-Portkey-Virtual-Key") == "hush-4711-hush"
    assert server.requests[-1].header("Authorization") == f"Bearer {CANARY}"
    for protocol in ("chat", "messages"):
        await desk.run(experiment(protocol=protocol), key_style=Auth.X_API_KEY)
        assert server.requests[-1].header("x-api-key") == CANARY
        assert server.requests[-1].header("Authorization") is None
    await desk.run(experiment(), headers=(("authorization", "Basic dXNlcjpwYXNz"),))
    assert server.requests[-1].header("Authorization") == "Basic dXNlcjpwYXNz"


async def test_a_header_that_no_request_can_carry_is_named_without_its_value(desk: Desk, server: FaultServer) -> None:
    for name, value in (("X Team", "hush"), ("X-Team", "hush\nX-More: y"), ("Content-Length", "hush")):
        ended = await desk.run(experiment(), headers=((name, value),))
        assert ended.code == ExitCode.BAD_INPUT
        assert name in ended.err
        assert "hush" not in ended.err
    assert server.requests == []


async def test_what_is_odd_about_the_key_is_said_without_it(desk: Desk, server: FaultServer) -> None:
    ended = await desk.run(experiment(), key=Secret(f" Bearer {CANARY}\n"))
    assert server.requests[-1].header("Authorization") == f"Bearer {CANARY}"
    assert "PLAYGROUND_API_KEY: Line breaks were removed." in ended.err
    ended = await desk.run(experiment(), key=Secret("ключ-" + CANARY[:4]))
    assert ended.code == ExitCode.BAD_INPUT
    assert len(server.requests) == 1


async def test_an_address_that_was_repaired_is_said(desk: Desk, server: FaultServer) -> None:
    ended = await desk.run(experiment(), base_url=f"127.0.0.1:{server.port}/v1/chat/completions")
    assert ended.code == ExitCode.OK
    using = f"playground: Using {server.url} (added http://; removed /chat/completions, which is added by itself)."
    assert ended.err.strip() == using
    assert server.requests[-1].target == "/v1/chat/completions"
    plain = await desk.run(experiment())
    assert plain.err == ""
    none = await desk.run(experiment(), base_url="")
    assert none.code == ExitCode.BAD_INPUT
    assert "Enter the gateway's base URL" in none.err


@pytest.mark.parametrize("secret", [{"key": Secret(CANARY)}, {"key": None, "headers": (("x-api-key", CANARY),)}])
async def test_no_secret_goes_out_unencrypted_without_consent(desk: Desk, secret: dict[str, object]) -> None:
    address_options = {"base_url": "http://gateway.invalid/v1", **secret}
    ended = await desk.run(experiment(), **address_options)
    assert ended.code == ExitCode.BAD_INPUT
    assert "http://gateway.invalid is not encrypted" in ended.err
    assert "--allow-http" in ended.err
    assert (await desk.run(experiment(), allow_http=True, **address_options)).code == ExitCode.TRANSPORT
    assert (await desk.run(experiment(), base_url=address_options["base_url"], key=None)).code == ExitCode.TRANSPORT


async def test_a_proxy_of_its_own_whose_password_is_shown_nowhere(desk: Desk, server: FaultServer) -> None:
    names = {"gateway.example": ("127.0.0.1", server.port), "127.0.0.1": ("127.0.0.1", server.port)}
    tape = desk.folder / "a.cassette.json"
    with Proxy(names, "me:pass-word-4711") as proxy:
        address_options = {"base_url": "http://gateway.example/v1", "allow_http": True}
        way = f"http://me:pass-word-4711@127.0.0.1:{proxy.port}"
        assert (await desk.run(experiment(), proxy=way, record=tape, **address_options)).code == ExitCode.OK
        assert (await desk.run(experiment(), proxy=way)).code == ExitCode.OK, "this machine is reached through it, too"
        assert [login for _, login in proxy.asked] == ["me:pass-word-4711"] * 2
        refused = await desk.run(experiment(), proxy=way.replace("4711", "4712"), **address_options)
        assert refused.code == ExitCode.HTTP
        assert "--proxy" in refused.err
        nobody = await desk.run(experiment(), proxy="http://me:pass-word-4711@127.0.0.1:1", **address_options)
        assert nobody.code == ExitCode.TRANSPORT
        assert "Nothing answers at the proxy 127.0.0.1:1 (given for this gateway)" in nobody.err
        assert "pass-word" not in tape.read_text(encoding="utf-8") + refused.err + nobody.err
    with Socks(names, "me:pass-word-4711") as socks:
        way = f"socks5h://me:pass-word-4711@127.0.0.1:{socks.port}"
        assert (await desk.run(experiment(), proxy=way, record=tape, **address_options)).code == ExitCode.OK
        assert socks.asked == [("gateway.example", 80, "me:pass-word-4711")]
        assert "pass-word" not in tape.read_text(encoding="utf-8")
    for slip in (
        "not a url",
        "http://",
        "socks4://proxy.example",
        "http://proxy.example:port",
        "http://me:pass-word-4711@proxy.example/way",
    ):
        none = await desk.run(experiment(), proxy=slip)
        assert none.code == ExitCode.BAD_INPUT
        assert "The proxy's address" in none.err
        assert "pass-word" not in none.err
    leaving = await desk.run(experiment(), proxy="http://proxy.example:3128")
    assert leaving.code == ExitCode.BAD_INPUT
    assert "through that proxy is not encrypted" in leaving.err


async def test_a_secret_header_that_comes_back_is_masked(desk: Desk, server: FaultServer) -> None:
    server.play(send(head(), sse(text_chunk("It is hush-4711-hush.", "stop"), "[DONE]")))
    for as_json in (False, True):
        ended = await desk.run(experiment(), headers=(("X-Portkey-Virtual-Key", "hush-4711-hush"),), as_json=as_json)
        assert "It is ••••." in ended.out


# The content of the file is sent


async def test_reasoning_goes_back_as_the_file_has_it_or_as_asked(desk: Desk, server: FaultServer) -> None:
    text = {"role": "assistant", "content": "4", "reasoning_content": "2 + 2", "reasoning_details": [{"type": "x"}]}
    messages = [{"role": "user", "content": "2 + 2?"}, text, {"role": "user", "content": "Sure?"}]
    await desk.run(experiment(messages=messages))
    assert server.requests[-1].json["messages"] == messages
    await desk.run(experiment(messages=messages), reasoning=ReasoningReturn())
    assert "reasoning_content" not in server.requests[-1].json["messages"][1]
    rule = ReasoningReturn(when=SendReasoning.ALWAYS, field="reasoning")
    await desk.run(experiment(messages=messages), reasoning=rule)
    assert server.requests[-1].json["messages"][1]["reasoning"] == "2 + 2"


async def test_messages_of_a_request_file_go_out_as_they_stand(desk: Desk, server: FaultServer) -> None:
    text = r"Write {{name}}, \{{name}}, \\{{name}} and {{ name }}."
    braces = [{"role": "system", "content": text}, {"role": "user", "content": text}]
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    open_ = [{"role": "user", "content": "?"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    after = [*open_, {"role": "user", "content": "!"}]
    for messages in (braces, open_, after, [{"role": "assistant", "content": ""}], []):
        ended = await desk.run(experiment(messages=messages))
        assert (ended.code, ended.err) == (ExitCode.OK, "")
        assert server.requests[-1].json["messages"] == messages
    await desk.run(experiment(messages=braces), max_steps=3)
    assert server.requests[-1].json["messages"] == braces


async def test_blocks_of_the_native_protocol_go_out_as_they_stand(desk: Desk, server: FaultServer) -> None:
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eHl6"},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}},
    ]
    messages = [
        {"role": "user", "content": "Look!"},
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Nothing."}]},
    ]
    tools = [{"type": "web_search_20250305", "name": "web_search", "max_uses": 2}]
    system = {"role": "system", "content": "Be brief."}
    await desk.run(experiment(protocol="messages", messages=[system, *messages], tools=tools))
    sent = server.requests[-1].json
    assert sent["system"] == "Be brief."
    assert sent["messages"] == messages
    assert sent["tools"] == tools


@pytest.mark.parametrize("protocol", ["chat", "messages"])
async def test_tools_go_out_as_they_stand(desk: Desk, server: FaultServer, protocol: str) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    chat = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    native = {"name": "f", "input_schema": {"type": "object"}}
    own, second = (chat, native) if protocol == "chat" else (native, chat)
    for tools in ([own], [{**own, **mark}]):
        await desk.run(experiment(protocol=protocol, tools=tools))
        assert server.requests[-1].json["tools"] == tools
    await desk.run(experiment(protocol=protocol, tools=[second]))
    assert server.requests[-1].json["tools"] == [own]
    await desk.run(experiment(protocol=protocol, tools=[]))
    assert "tools" not in server.requests[-1].json


async def test_custom_call_is_answered_by_its_row_and_returned(desk: Desk, server: FaultServer) -> None:
    tool = {"type": "custom", "custom": {"name": "code", "format": {"type": "text"}}}
    call = {"id": "a", "type": "custom", "custom": {"name": "code", "input": "print(1)"}}
    server.play_next(send(head()), send(call_chunk({"index": 0, **call}) + chunk({}, "tool_calls") + DONE))
    table = {"playground_answers": 1, "tools": {"code": [{"equal": "print(1)", "result": "1"}]}}
    ended = await desk.run(experiment(tools=[tool]), answers=desk.write("table.json", table))
    assert ended.code == ExitCode.OK
    assert server.requests[0].json["tools"] == [tool]
    assert server.requests[1].json["messages"][1:] == [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ]


# Waiting and trying again


async def test_a_failure_that_passes_is_tried_again_and_said(desk: Desk, server: FaultServer) -> None:
    server.play_next(BUSY)
    server.play_next(send(whole(429, "application/json", b"{}", "Retry-After: 0.2")))
    ended = await desk.run(experiment(), retries=2)
    assert (ended.code, ended.out) == (ExitCode.OK, "Hi\n")
    busy, first, _, second = ended.err.splitlines()
    assert busy == "playground: The gateway is overloaded (503): busy"
    assert first.startswith("playground: Trying again in 0.")
    assert first.endswith(" s (try 2 of 3).")
    assert second.endswith(" s (try 3 of 3).")
    assert len(server.requests) == 3


async def test_it_is_not_tried_more_often_than_asked_nor_after_content(desk: Desk, server: FaultServer) -> None:
    server.play(BUSY)
    ended = await desk.run(experiment(), retries=1)
    assert ended.code == ExitCode.HTTP
    assert len(server.requests) == 2
    server.play(send(head(), sse(text_chunk("Half"))))
    ended = await desk.run(experiment(), retries=4)
    assert (ended.code, ended.out) == (ExitCode.INCOMPLETE, "Half\n")
    assert len(server.requests) == 3


async def test_a_wait_that_is_too_long_is_told_instead(desk: Desk, server: FaultServer) -> None:
    server.play(send(whole(429, "application/json", b"{}", "Retry-After: 3600")))
    ended = await desk.run(experiment(), retries=4)
    assert ended.code == ExitCode.HTTP
    assert "The gateway requests a wait of 1 h." in ended.err
    assert len(server.requests) == 1


async def test_clock_that_runs_out_names_its_option(desk: Desk, server: FaultServer) -> None:
    for clock, code in (("first", ExitCode.TRANSPORT), ("idle", ExitCode.INCOMPLETE), ("total", ExitCode.INCOMPLETE)):
        server.play(hold() if clock == "first" else send(head(), sse(text_chunk("Half"))), hold())
        ended = await desk.run(experiment(), timeouts={clock: 0.2})
        assert ended.code == code
        assert f" with --timeout {clock}=SECONDS" in ended.err


async def test_a_ca_file_and_caps_are_used(desk: Desk, server: FaultServer) -> None:
    ended = await desk.run(experiment(), base_url="https://127.0.0.1:1/v1", ca=desk.folder / "none.pem")
    assert ended.code == ExitCode.BAD_INPUT
    assert "none.pem cannot be used" in ended.err
    server.play(send(head(), sse(text_chunk("x" * 3_000_000, "stop"))))
    for option in ("max_event", "max_body"):
        ended = await desk.run(experiment(), **{option: 1})
        assert ended.code == ExitCode.INCOMPLETE
        assert "--max-event MIB or --max-body MIB" in ended.err


# The recording


async def test_all_tries_are_recorded_without_secrets(desk: Desk, server: FaultServer) -> None:
    server.play_next(BUSY)
    path = desk.folder / "a.cassette.json"
    headers = (("X-Portkey-Virtual-Key", "hush-4711-hush"),)
    ended = await desk.run(experiment(f"Is it {CANARY}?"), retries=1, headers=headers, record=path)
    assert ended.code == ExitCode.OK
    tape = path.read_text(encoding="utf-8")
    assert CANARY not in tape
    assert "hush-4711" not in tape
    assert [exchange.status for exchange in cassette.open_file(path).exchanges] == [503, 200]


async def test_a_recording_that_cannot_be_made_is_refused_before_anything_is_sent(
    desk: Desk, server: FaultServer
) -> None:
    for path in (desk.folder, desk.folder / "none" / "a.json", desk.folder / "experiment.json"):
        ended = await desk.run(experiment(), record=path)
        assert ended.code == ExitCode.BAD_INPUT
        assert str(path) in ended.err
    assert server.requests == []


async def test_an_answer_whose_recording_failed_is_shown_and_not_called_done(desk: Desk, server: FaultServer) -> None:
    path = desk.folder / ("x" * 250 + ".json")  # too long a name for its temporary file
    ended = await desk.run(experiment(), record=path)
    assert (ended.code, ended.out) == (ExitCode.FAILED, "Hi\n")
    assert "cannot be written" in ended.err


async def test_an_interrupt_while_it_waits_for_the_next_try(desk: Desk, server: FaultServer) -> None:
    server.play(send(whole(429, "application/json", b"{}", "Retry-After: 60")), sleep(0))
    out, err = io.StringIO(), io.StringIO()
    file = desk.write("experiment.json", experiment())
    running = begin(run_file(file, RunOptions(base_url=server.url), out, err))
    await eventually(lambda: "Trying again in 1 min" in err.getvalue())
    running.cancel()
    assert await running == ExitCode.INTERRUPTED
