"""Warnings about features that a model lacks according to its gateway's list; nothing is kept from being sent."""

from __future__ import annotations

import json

from PySide6.QtWidgets import QLabel

from playground.domain.parts import Image, Text
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from tests.flows.conftest import Person, flow
from tests.flows.pages.gateways import GatewayBar
from tests.flows.pages.steps import open_tab
from tests.support.fault_server import FaultServer, send, whole

LITTLE = {
    "id": "text-only",
    "context_length": 4096,
    "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
    "supported_parameters": ["temperature", "max_tokens"],
}
MUCH = {
    "id": "does-all",
    "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
    "supported_parameters": ["temperature", "top_p", "max_tokens", "tools", "tool_choice", "response_format"],
}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
UNSUPPORTED = "Output", "Parameters"  # tabs with a setting that the model does not take


@flow()
async def test_warnings_about_a_model_follow_the_list_and_disappear_with_the_model(person: Person) -> None:
    session = person.session

    def shows(*texts: str) -> bool:
        displayed = [label.text() for label in person.find(QLabel)]
        return all(any(text in label for label in displayed) for text in texts)

    async def wait_for_warning(tab: str, *texts: str) -> None:
        await open_tab(person, tab)
        await person.until(lambda: shows(*texts), f"the warning in {tab}")

    session.change(tools=(ToolDefinition(name="look", parameters={"type": "object"}),))
    session.set_parameters(session.settings.current.with_value("top_p", 0.5).with_value("response_format", SCHEMA))
    parts = (Text(text="Look"), Image(url="https://images.invalid/a.png"))
    session.turns.add_turn(make_turn(Role.USER, "").model_copy(update={"parts": parts}))
    with FaultServer() as server:
        server.play(send(whole(200, "application/json", json.dumps({"data": [LITTLE, MUCH]}).encode())))
        person.app.gateways.store.add_profile(Profile(name="Restricted", base_url=server.url, retries=0))
        await GatewayBar(person).choose_gateway("Restricted")
        session.change(model="text-only")
        await wait_for_warning("Tools", "calls no tools", "does not support images", "by the gateway's list")
        for tab in UNSUPPORTED:
            await wait_for_warning(tab, "does not take it, by the gateway's list")
        session.change(model="does-all")
        for tab in ("Tools", *UNSUPPORTED):
            await open_tab(person, tab)
            await person.until(lambda: not shows("by the gateway's list"), f"no warning in {tab}")
        await person.until(lambda: not shows("does not support images"), "no warning about images")
