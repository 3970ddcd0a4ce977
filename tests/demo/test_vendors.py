"""The libraries of OpenAI and Anthropic against the demo gateway."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import openai
import pytest

from playground.demo.models import MODELS
from playground.demo.server import DemoConfig, DemoServer
from tests.support.each_case import each_case

KEY = "sk-demo"
STATUSES = {
    400: ("Context length exceeded", 40003, "invalid_request_error"),
    401: ("The token has expired", 40103, "authentication_error"),
    404: ("The model is not available to this account", 40401, "not_found_error"),
    429: ("Rate limit exceeded: RPM", 42901, "rate_limit_error"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with DemoServer(DemoConfig(key=KEY, tokens_per_second=0, time_to_first_token=0, rate_limit=0)) as running:
        yield running


@pytest.fixture
def chat(server: DemoServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture
def native(server: DemoServer) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=server.base_url.removesuffix("/v1"), api_key=KEY, max_retries=0) as client:
        yield client


def test_models_are_listed(chat: openai.OpenAI, native: anthropic.Anthropic) -> None:
    ids = [model.id for model in MODELS]
    assert [model.id for model in chat.models.list()] == [model.id for model in native.models.list()] == ids
    item = chat.models.retrieve("demo-tools")
    assert (item.id, item.object, item.owned_by) == ("demo-tools", "model", "demo-gateway")
    same = native.models.retrieve("demo-tools")
    assert (same.id, same.type, same.display_name) == ("demo-tools", "model", "Demo Tools")
    assert int(same.created_at.timestamp()) == item.created
    with pytest.raises(openai.AuthenticationError, match="The key is not valid"):
        chat.with_options(api_key="sk-wrong").models.list()
    with pytest.raises(anthropic.AuthenticationError, match="The key is not valid"):
        native.with_options(api_key="sk-wrong").models.list()


@each_case("status", STATUSES)
def test_error_has_its_code_and_type(status: int, chat: openai.OpenAI, native: anthropic.Anthropic) -> None:
    words, code, kind = STATUSES[status]
    with pytest.raises(openai.APIStatusError) as error:
        chat.chat.completions.create(model="demo-chat", messages=[{"role": "user", "content": f"!{status}"}])
    assert error.value.message.startswith(f"Error code: {status} - {words}")
    assert (error.value.status_code, error.value.code, error.value.type) == (status, str(code), kind)
    with pytest.raises(anthropic.APIStatusError, match=words) as also:
        native.messages.create(
            model="demo-messages", max_tokens=9, messages=[{"role": "user", "content": f"!{status}"}]
        )
    assert also.value.status_code == status
    assert isinstance(also.value.body, dict)
    assert (also.value.body["type"], also.value.body["error"]["type"]) == ("error", kind)
    assert (also.value.body["code"], also.value.body["data"]) == (code, None)
