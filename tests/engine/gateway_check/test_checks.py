"""The series of checks: green on the demo gateway, and each fault of a gateway named by its own line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from playground.demo.server import DemoConfig, DemoServer
from playground.domain.adaptations import AdaptationKind
from playground.domain.prices import Price
from playground.engine.gateway_check import check_run
from playground.engine.gateway_check.check_run import CheckEvent, CheckRun, LineAdded, costs_of, keys_of
from playground.engine.gateway_check.checks import supported_protocols, total_cost
from playground.engine.gateway_check.report import Verdict
from playground.protocols import PROTOCOLS
from tests.engine.gateway_check.checking import KEY, checked, target, verdicts
from tests.support.fault_server import FaultServer, hold, send, whole
from tests.support.twisted_gateway import TwistedGateway

WORKS, DEVIATES, REFUSED = Verdict.WORKS, Verdict.DEVIATES, Verdict.REFUSED
UNSUPPORTED, WRONG, FAILED = Verdict.UNSUPPORTED, Verdict.WRONG, Verdict.FAILED
UNTOLD, SKIPPED = Verdict.UNTOLD, Verdict.SKIPPED
#: What the demo, whose answers are composed, cannot show: it measures a picture and names no colour, it lets every key
#: in, and gives its requests no ids.
EXPLAINED = {"image": UNTOLD, "wrong_key": UNSUPPORTED, "request_id": UNSUPPORTED}

Body = dict[str, Any]


def unexpected(verdicts: dict[str, Verdict]) -> dict[str, Verdict]:
    """Return the verdicts that differ from those of the demo gateway."""
    return {check: verdict for check, verdict in verdicts.items() if verdict is not EXPLAINED.get(check, WORKS)}


@pytest.mark.parametrize(("model", "protocol"), [("demo-reasoner", "chat"), ("demo-messages", "messages")])
async def test_demo_gateway_passes_with_known_exceptions(gateway: DemoServer, model: str, protocol: str) -> None:
    run = await checked(target(gateway.base_url, model))
    result = verdicts(run, protocol)
    assert unexpected(result) == {}
    words = {line.check: line.words for line in run.report.lines if line.protocol in ("", protocol)}
    assert "does not name its colour" in words["image"]
    assert "does not check keys" in words["wrong_key"]
    assert supported_protocols(run.report)[protocol]
    assert not run.report.stopped
    assert run.report.ended >= run.report.begun
    for line in run.report.lines:
        exchange_ids = {exchange.id for exchange in run.exchanges}
        assert set(line.exchanges) <= exchange_ids


async def test_protocol_without_the_model_is_skipped_in_one_line(gateway: DemoServer) -> None:
    run = await checked(target(gateway.base_url, "demo-reasoner"))
    lines = [line for line in run.report.lines if line.protocol == "messages"]
    assert [(line.check, line.verdict) for line in lines] == [("whole", SKIPPED)]
    assert "other endpoints" in lines[0].words
    insisted = await checked(target(gateway.base_url, "demo-reasoner"), ("models", "whole"), ("messages",))
    assert verdicts(insisted, "messages")["whole"] is REFUSED


async def test_wrong_key_is_no_variant_of_the_real_one(gateway: DemoServer) -> None:
    config = DemoConfig(key=KEY, tokens_per_second=0, time_to_first_token=0)
    with DemoServer(config) as guarded, TwistedGateway(guarded.base_url) as twisted:
        run = await checked(target(twisted.url), ("whole", "wrong_key"), ("chat",))
        assert verdicts(run) == {"whole": WORKS, "wrong_key": WORKS}
        assert twisted.keys == [f"Bearer {KEY}", "Bearer playground-check-a-key-that-nobody-has"]
        keyless = await checked(target(twisted.url, key=None), ("wrong_key",), ("chat",))
        assert verdicts(keyless) == {"wrong_key": SKIPPED}


SCHEMA_ERROR = (
    "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), "
    "'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}"
)


def refuse_if(condition: Callable[[Body], object], status: int, message: str) -> Any:
    """Return a twist that refuses the requests for which the condition holds."""
    return lambda _path, body: (status, {"error": {"message": message}}) if condition(body) else None


NO_TOOLS = refuse_if(lambda body: "tools" in body, 400, "tools are not supported by this model")
NO_SCHEMA = refuse_if(lambda body: body.get("response_format", {}).get("type") == "json_schema", 500, SCHEMA_ERROR)
NO_IMAGES = refuse_if(lambda body: "image_url" in json.dumps(body), 500, "image input is not supported - hint: mmproj")
NO_STREAMS = refuse_if(lambda body: body.get("stream"), 500, "stream broke")
STREAMS_ONLY = refuse_if(lambda body: not body.get("stream"), 500, "only streams")


def without(*names: str) -> Any:
    def ask(body: Body) -> Body:
        return {name: value for name, value in body.items() if name not in names}

    return ask


def without_usage(content_type: str, data: bytes) -> tuple[str, bytes]:
    if "json" in content_type and (value := json.loads(data)) and "usage" in value:
        return content_type, json.dumps({**value, "usage": None}).encode()
    return content_type, data


def calls_as_text(content_type: str, data: bytes) -> tuple[str, bytes]:
    value = json.loads(data) if "json" in content_type else {}
    for choice in value.get("choices", []):
        if calls := choice["message"].pop("tool_calls", None):
            choice["message"]["content"] = json.dumps(calls[0]["function"])
            choice["finish_reason"] = "stop"
    return content_type, json.dumps(value).encode() if value else data


def calls_not_json(content_type: str, data: bytes) -> tuple[str, bytes]:
    return content_type, data.replace(b'{\\"city\\": \\"Oslo\\"}', b"city=Oslo") if "json" in content_type else data


def without_end(content_type: str, data: bytes) -> tuple[str, bytes]:
    return content_type, data.replace(b"data: [DONE]", b": nothing")


ALL_TOOLS = ("tool", "tool_stream", "tool_required", "tool_named", "tool_result")


def cut_off(content_type: str, data: bytes) -> tuple[str, bytes]:
    return content_type, data[: len(data) // 2] if "event-stream" in content_type else data


@pytest.mark.parametrize(
    ("twist", "otherwise"),
    [
        ({"answer": cut_off}, {"stream": WRONG, "stream_usage": SKIPPED, "tool_stream": SKIPPED}),
        ({"refuse": NO_TOOLS}, dict.fromkeys(ALL_TOOLS, REFUSED)),
        ({"refuse": NO_SCHEMA}, {"schema": REFUSED}),
        ({"refuse": NO_IMAGES}, {"image": REFUSED}),
        ({"refuse": NO_STREAMS}, {"stream": FAILED, "stream_usage": SKIPPED, "tool_stream": SKIPPED}),
        ({"ask": without("stream")}, {"stream": UNSUPPORTED, "stream_usage": SKIPPED, "tool_stream": SKIPPED}),
        ({"ask": without("stream_options")}, {"stream_usage": UNSUPPORTED}),
        (
            {"ask": without("stop", "n", "response_format")},
            dict.fromkeys(("stop", "n", "json", "schema"), UNSUPPORTED),
        ),
        ({"ask": without("tool_choice", "tools")}, dict.fromkeys(ALL_TOOLS[:4], UNTOLD)),
        ({"ask": without("max_completion_tokens", "max_tokens")}, {"limit": UNSUPPORTED}),
        ({"answer": without_usage}, {"usage": UNSUPPORTED}),
        ({"answer": calls_as_text}, {"tool": UNSUPPORTED, "tool_required": UNSUPPORTED, "tool_named": UNSUPPORTED}),
        ({"answer": calls_not_json}, {"tool": WRONG, "tool_required": WRONG, "tool_named": WRONG}),
        ({"answer": without_end}, {"stream": DEVIATES}),
    ],
    ids=lambda value: "" if isinstance(value, dict) and "limit" not in value else None,
)
async def test_fault_of_a_gateway_is_named_by_its_line(
    gateway: DemoServer, twist: dict[str, Any], otherwise: Any
) -> None:
    with TwistedGateway(gateway.base_url, **twist) as twisted:
        run = await checked(target(twisted.url, retries=0), protocols=("chat",))
    result = unexpected(verdicts(run))
    result.pop("limits", None)  # the twisted gateway passes no such headers on
    assert result == otherwise


async def test_gateway_with_streams_only_is_checked_by_streams(gateway: DemoServer) -> None:
    with TwistedGateway(gateway.base_url, refuse=STREAMS_ONLY) as twisted:
        run = await checked(target(twisted.url, retries=0), ("whole", "stream", "tool", "schema"), ("chat",))
        assert verdicts(run) == {"whole": FAILED, "stream": WORKS, "tool": WORKS, "schema": WORKS}


async def test_older_name_of_the_limit_is_learned(gateway: DemoServer) -> None:
    with TwistedGateway(gateway.base_url, ask=without("max_completion_tokens")) as twisted:
        run = await checked(target(twisted.url, "demo-chat"), ("whole", "limit", "temperature"), ("chat",))
    line = run.report.line("limit", "chat")
    assert line is not None
    assert (line.verdict, line.without) == (WORKS, ("max_completion_tokens (sent as max_tokens)",)), line.deviations
    (rule,) = run.report.learnt
    assert (rule.kind, rule.field, rule.to) == (AdaptationKind.RENAME, "max_completion_tokens", "max_tokens")
    assert "the limit was" in rule.why
    assert len(line.exchanges) == 2


async def test_unreachable_gateway_is_not_asked_further() -> None:
    run = await checked(target("http://127.0.0.1:1/v1", retries=0))
    assert {line.verdict for line in run.report.lines} == {FAILED, SKIPPED}
    of_each = 3  # an answer, a stream, an unknown model
    assert len(run.exchanges) <= 1 + len(PROTOCOLS) * of_each  # the list, too
    assert not any(supported_protocols(run.report).values())


async def test_wait_asked_for_by_a_gateway_is_reported() -> None:
    busy = whole(429, "application/json", b'{"code":429,"message":"RPM reached","data":null}', "Retry-After: 0.2")
    messages: list[CheckEvent] = []
    with FaultServer() as server:
        server.play(send(busy))
        run = CheckRun(target(server.url, retries=1), [("whole", "chat")], messages.append)
        await run.perform()
    assert any("RPM reached" in item.words for item in messages if isinstance(item, check_run.WaitChanged))
    assert verdicts(run) == {"whole": FAILED}


async def test_stopped_check_has_its_finished_lines() -> None:
    begun = asyncio.Event()
    with FaultServer() as server:
        server.play_at("/v1/models", send(whole(200, "application/json", b'{"data": [{"id": "demo-reasoner"}]}')))
        server.play(hold())
        whom = target(server.url)
        run = CheckRun(whom, keys_of(whom), lambda notices: begun.set() if isinstance(notices, LineAdded) else None)
        task = asyncio.get_running_loop().create_task(run.perform())
        await begun.wait()
        await asyncio.to_thread(server.wait_requests, 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [(line.check, line.verdict) for line in run.report.lines] == [("models", WORKS)]
    assert run.report.stopped
    assert run.report.ended


async def test_huge_answer_is_wrong_and_not_stored(gateway: DemoServer) -> None:
    def huge(content_type: str, data: bytes) -> tuple[str, bytes]:
        return content_type, b'{"choices": "' + b"x" * 10_000_000 + b'"}' if b"choices" in data else data

    with TwistedGateway(gateway.base_url, answer=huge) as twisted:
        run = await checked(target(twisted.url, retries=0), ("models", "whole"), ("chat",))
    assert verdicts(run) == {"models": WORKS, "whole": WRONG}
    assert sum(exchange.size for exchange in run.exchanges) <= 8 * 1024 * 1024


def test_cost_is_estimated_before_a_check() -> None:
    whom = target("http://127.0.0.1:1/v1")
    keys = keys_of(whom, ("chat",))
    unknown = total_cost(costs_of(whom, keys).values())
    assert unknown.amount is None
    assert unknown.price_words == "price not known"
    priced = costs_of(replace(whom, price=Price(input=1.0, output=2.0)), keys)
    assert (priced["usage", "chat"].price_words, priced["unknown_model", "chat"].words) == ("free", "free")
    item = priced["whole", "chat"]
    assert item.amount == pytest.approx((item.prompt + 2 * item.output) / 1_000_000)
    assert priced["n", "chat"].output == 2 * item.output
    assert priced["image", "chat"].prompt < 500  # a picture is not counted by the letters of its data


async def test_key_repeated_by_a_gateway_is_masked(gateway: DemoServer) -> None:
    def tell(_path: str, body: Body) -> tuple[int, Body] | None:
        before = [key for key in twisted.keys if KEY in key]
        return (401, {"error": {"message": f"Wrong key. Did you mean {before}?"}}) if len(twisted.keys) > 1 else None

    with TwistedGateway(gateway.base_url, refuse=tell) as twisted:
        run = await checked(target(twisted.url), ("whole", "wrong_key"), ("chat",))
    assert all(verdict.fine for verdict in verdicts(run).values())
    assert "Did you mean" in run.report.model_dump_json()
    assert (
        KEY
        not in repr(run.exchanges) + repr([exchange.body for exchange in run.exchanges]) + run.report.model_dump_json()
    )


def refusing(field: str, words: str = "Unrecognized request argument supplied: {}") -> Any:
    def refuse(_path: str, body: Body) -> tuple[int, Body] | None:
        return (400, {"error": {"message": words.format(field), "param": field}}) if field in body else None

    return refuse


async def test_refused_field_is_renamed_and_learned(gateway: DemoServer) -> None:
    use = "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead."
    with TwistedGateway(gateway.base_url, refuse=refusing("max_completion_tokens", use)) as twisted:
        run = await checked(target(twisted.url, "demo-chat"), ("whole", "stream", "limit"), ("chat",))
    lines = {line.check: line for line in run.report.lines}
    assert {check: line.without for check, line in lines.items()} == dict.fromkeys(
        ("whole", "stream", "limit"), ("max_completion_tokens (sent as max_tokens)",)
    )
    assert all(line.verdict.fine for line in lines.values())
    assert [(rule.field, rule.to) for rule in run.report.learnt] == [("max_completion_tokens", "max_tokens")]
    assert len(lines["whole"].exchanges) == 2
    assert len(lines["stream"].exchanges) == 1, "what was learnt is not asked again"


async def test_refused_option_is_omitted_and_learned(gateway: DemoServer) -> None:
    with TwistedGateway(gateway.base_url, refuse=refusing("stream_options")) as twisted:
        run = await checked(target(twisted.url, "demo-chat"), ("stream", "stream_usage"), ("chat",))
    assert verdicts(run) == {"stream": WORKS, "stream_usage": REFUSED}
    assert [(rule.kind, rule.field) for rule in run.report.learnt] == [(AdaptationKind.OMIT, "stream_options")]
    with TwistedGateway(gateway.base_url, refuse=refusing("temperature")) as twisted:
        run = await checked(target(twisted.url, "demo-chat"), ("whole", "temperature"), ("chat",))
    line = run.report.line("temperature", "chat")
    assert line is not None
    assert (line.verdict, run.report.learnt) == (REFUSED, ()), "the check is about this very field"
    assert "Without temperature it is answered" in line.words
