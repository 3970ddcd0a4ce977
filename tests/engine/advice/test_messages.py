"""Messages seen from gateways, proxies and model servers, one by one, and ones that only sound alike.

Each body goes through the reader of error bodies first, as on the wire.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.domain.errors import Failure, Sent
from playground.engine.advice import advise
from playground.engine.advice.parts import Action, add_header
from playground.engine.advice.refused_fields import header_names, parameter_named, place_of
from playground.gateway.retry import is_transient
from playground.protocols.errors import read_error
from tests.support.each_case import each_case


def failure_of(status: int | None, body: Any, *, keyed: bool | None = True, endpoint: str = "chat") -> Failure:
    text = body if isinstance(body, str) else json.dumps(body)
    sent = Sent(endpoint=endpoint, keyed=keyed, streamed=True)
    return read_error(text.encode(), status).model_copy(update={"sent": sent})


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def names(actions: tuple[Action, ...]) -> list[str]:
    return [action.name for action in actions]


def read(name: str) -> list[tuple[str, int | None, Any]]:
    """The lines of a file beside this one: what a body means, the status it came with, and the body."""
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [(line["meaning"], line["status"], line["body"]) for line in map(json.loads, lines)]


#: As gateways, proxies and model servers sent it.
REFUSALS = read("said.jsonl")
#: Refusals that hold some of the same words and mean something else, with what they are told as.
SOUNDS_ALIKE = read("sounds_alike.jsonl")


@each_case(("meaning", "status", "body"), REFUSALS)
def test_what_is_said_is_understood(meaning: str, status: int | None, body: Any) -> None:
    keyed = meaning != "key missing"
    advice = advise(failure_of(status, body, keyed=keyed))
    assert advice.meaning == meaning, advice.title


@each_case(("status", "body"), [(status, body) for meaning, status, body in REFUSALS if meaning == "balance"])
def test_an_empty_account_is_not_asked_again(status: int, body: Any) -> None:
    assert not is_transient(failure_of(status, body))


@each_case(("meaning", "status", "body"), SOUNDS_ALIKE)
def test_what_sounds_alike_is_told_as_what_it_is(meaning: str, status: int | None, body: Any) -> None:
    advice = advise(failure_of(status, body))
    assert advice.meaning == meaning, advice.title


def test_different_refusals_with_one_status_have_words_and_buttons_of_their_own() -> None:
    by_meaning = {m: advise(failure_of(s, b)) for m, s, b in REFUSALS if s == 400}
    assert len({value.title for value in by_meaning.values()}) == len(by_meaning)
    assert names(by_meaning["model"].actions) == ["model", "retry"]
    assert names(by_meaning["context"].actions) == ["turns", "model", "parameters", "retry"]
    assert by_meaning["header"].actions[0] == add_header("anthropic-version")
    assert names(by_meaning["key refused"].actions) == ["key", "retry"]
    assert names(by_meaning["tools"].actions) == ["model", "tools", "retry"]


def test_the_field_that_is_not_accepted_is_named_and_shown_where_it_is_set() -> None:
    message = {
        "temperature": ("parameters", "temperature"),
        "foo_bar": ("raw", "foo_bar"),
        "tools[1].function.name": ("tools", "tools[1].function.name"),
        "response_format.type": ("output", "response_format.type"),
        "stream_options": ("parameters", "stream_options"),
        "output_config.format": ("output", "output_config.format"),
        "output_config.effort": ("parameters", "output_config.effort"),
    }
    for name, (action, value) in message.items():
        advice = advise(failure_of(400, error("no", param=name)))
        assert (advice.actions[0].name, advice.actions[0].value) == (action, value)
        assert advice.title == f"The gateway does not accept “{name}”"
    assert place_of("messages[0].content") == "turns"
    assert advise(failure_of(400, error("no", param="messages[0].content"))).meaning == "turns"
    assert advise(failure_of(400, error("no", param="None"))).meaning == "400"
    assert advise(failure_of(500, error("no", param="temperature"))).meaning == "500"


def test_a_hostile_name_is_no_field() -> None:
    for name in ("<b>x</b>", "a" * 500, "x\ny", "../../etc", "\u202egnp"):
        assert parameter_named(failure_of(400, error("no", param=name))) == ""


@each_case(
    ("message", "headers"),
    [
        (
            "Either x-portkey-config or x-portkey-provider header is required",
            ("x-portkey-provider", "x-portkey-config"),
        ),
        ("anthropic-version: header is required", ("anthropic-version",)),
        ("The `OpenAI-Organization` header must be set", ("OpenAI-Organization",)),
        ("Please provide Helicone-Target-URL in the headers", ("Helicone-Target-URL",)),
        ("x-api-key header is required", ()),
        ("A non-empty header is required", ()),
        ("The X-Team header is invalid: it must be a number", ()),
        ("x-request-id abc: no such model", ()),
    ],
)
def test_headers_in_messages(message: str, headers: tuple[str, ...]) -> None:
    assert header_names(message) == headers


def test_a_key_is_asked_for_where_none_was_sent() -> None:
    bare = failure_of(401, {"error": "Unauthorized"}, keyed=False)
    assert advise(bare).meaning == "key missing"
    assert "No key is set" in advise(bare).remedy
    assert "PLAYGROUND_API_KEY" in advise(bare).command
    for status in (403, 500):
        for keyed, asks in ((False, True), (True, False), (None, False)):
            advice = advise(failure_of(status, "Internal Server Error", keyed=keyed))
            assert (advice.actions[0].name == "key") is asks
            assert ("many gateways answer like this without one" in advice.remedy) is asks
    assert "key" not in names(advise(failure_of(400, error("no"), keyed=False)).actions)
    assert "key" not in names(
        advise(failure_of(500, error("model is loading; model x is currently loading"), keyed=False)).actions
    )


@pytest.mark.parametrize(("endpoint", "second"), [("messages", "chat"), ("chat", "messages")])
def test_the_other_protocol_is_offered_where_an_endpoint_is_missing(endpoint: str, second: str) -> None:
    advice = advise(failure_of(404, {"detail": "Not Found"}, endpoint=endpoint))
    assert ("protocol", second) in [(action.name, action.value) for action in advice.actions]
    assert (
        advice.title
        == f"{'Messages' if endpoint == 'messages' else 'Chat completions'} cannot be found at this address"
    )
    assert "protocol" not in names(advise(failure_of(404, {"detail": "Not Found"}, endpoint="models")).actions)
