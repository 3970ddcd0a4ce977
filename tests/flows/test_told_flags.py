"""A model that its gateway's list says little good of: said where a person acts, and nothing is kept from going out."""

from __future__ import annotations

import json

from playground.domain.parts import Image, Text
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.ui.shell.features import GATEWAYS, OUTPUT_PANEL, PARAMETER_PANEL, TOOLS_PANEL
from tests.flows.conftest import Person, Stage
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


def test_what_the_list_says_of_a_model_is_told_where_one_acts_and_goes_with_it(stage: Stage) -> None:
    async def scene(person: Person) -> None:
        window, panels, session = person.app.window, person.app.window.panels, person.session
        session.change(tools=(ToolDefinition(name="look", parameters={"type": "object"}),))
        session.set_parameters(session.settings.current.with_value("top_p", 0.5).with_value("response_format", SCHEMA))
        parts = (Text(text="Look"), Image(url="https://images.invalid/a.png"))
        session.turns.add_turn(make_turn(Role.USER, "").model_copy(update={"parts": parts}))
        tools, output = panels.of(TOOLS_PANEL).head.told, panels.of(OUTPUT_PANEL).told
        row, composer = panels.of(PARAMETER_PANEL).rows["top_p"], window.composer
        with FaultServer() as server:
            server.play(send(whole(200, "application/json", json.dumps({"data": [LITTLE, MUCH]}).encode())))
            profile = person.app.gateways.store.add_profile(Profile(name="G", base_url=server.url, retries=0))
            person.app.actions.of(GATEWAYS).choose(profile.id)
            session.change(model="text-only")
            await person.until(lambda: "calls no tools" in tools.text(), "the flag of the tools, when the list came")
            await person.until(lambda: "takes no images" in composer.told.text(), "the flag of images")
            assert "by the gateway's list" in tools.text()
            assert "does not take it, by the gateway's list" in output.text()
            assert "does not take it, by the gateway's list" in row.flag_label.text()
            session.change(model="does-all")
            await person.until(
                lambda: not tools.text() and not output.text() and not row.flag_label.text(), "no flag left"
            )
            await person.until(lambda: not composer.told.text(), "no flag of images")

    stage.play(scene)
