"""Scenes of choosing a model: the panel of the tool bar, found, sorted, with and without facts, and many at once."""

from __future__ import annotations

import json
from typing import Any

from playground.engine.gateways.profiles import Profile
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.models.browser import ModelBrowser
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage
from tests.support.fault_server import FaultServer, send, whole

CAN = ["temperature", "top_p", "max_tokens", "seed", "stop", "response_format"]


def _entry(id: str, name: str, context: int, price: tuple[str, str], inputs: str, **more: Any) -> dict[str, Any]:
    results = {
        "id": id,
        "name": name,
        "context_length": context,
        "architecture": {"input_modalities": inputs.split(), "output_modalities": ["text"]},
        "pricing": {"prompt": price[0], "completion": price[1]},
        "supported_parameters": CAN,
        "created": 1_750_000_000 + context,
        "description": f"{name} is a model of a gateway that was made up for a picture. It answers questions, writes "
        "texts and reads what it is given.",
    }
    return {**results, **more}


TOOLS = {"supported_parameters": [*CAN, "tools", "tool_choice"]}
THINKS = {"supported_parameters": [*CAN, "tools", "tool_choice", "reasoning"]}
LISTED_MODELS: list[dict[str, Any]] = [
    _entry("maker/writer-large", "Writer Large", 200_000, ("0.000003", "0.000015"), "text image file", **THINKS),
    _entry("maker/writer-small", "Writer Small", 128_000, ("0.0000002", "0.0000006"), "text image", **TOOLS),
    _entry("studio/ears-and-eyes", "Ears and Eyes", 1_048_576, ("0.00000125", "0.00001"), "text image audio video"),
    _entry(
        "open/chat-17b-instruct-with-a-name-that-goes-on-for-longer-than-any-line:free",
        "Chat 17B Instruct (free)",
        8_192,
        ("0", "0"),
        "text",
    ),
    _entry("odd/\u202ereversed\u200b", "\u202eReversed", 32_768, ("0.000001", "0.000001"), "text"),
    {"id": "rtl/نموذج-كبير", "name": "نموذج كبير", "context_length": 65_536},
    {"id": "silent/nothing-told"},
    {"id": "maker/embedder", "name": "Embedder", "type": "embedding", "context_length": 8_192},
    *(
        _entry(f"many/model-{number}", f"Model {number}", 4_096 * number, ("0.000001", "0.000002"), "text", **TOOLS)
        for number in range(1, 30)
    ),
]


async def _listed(stage: Stage, server: FaultServer, entries: list[dict[str, Any]], **marks: Any) -> ModelPicker:
    """At a gateway of those models, its list read."""
    server.play(send(whole(200, "application/json", json.dumps({"data": entries}).encode())))
    created = Profile(name="Made-up router", base_url=server.url, retries=0, **marks)
    profile = stage.app.gateways.store.add_profile(created)
    stage.app.actions.features.gateways.choose(profile.id)
    picker = stage.window.bar.model
    await stage.until(lambda: len(picker.ids) == len(entries), "the models")
    return picker


async def _opened(stage: Stage, text: str = "") -> ModelBrowser:
    picker = stage.window.bar.model
    stage.window.activateWindow()
    stage.act("run.model")
    line = picker.lineEdit()
    if text and line is not None:
        line.setText(text)
        line.textEdited.emit(text)
    await stage.settle()
    assert picker.panel is not None
    return picker.panel.browser


@scene(sizes=BOTH)
async def models_panel(stage: Stage) -> None:
    """Models whose list tells much of them, with recent ones and favourites, the one in use looked at."""
    with FaultServer() as server:
        favourites = ("studio/ears-and-eyes", "gone/from-the-list")
        await _listed(
            stage, server, LISTED_MODELS, favourites=favourites, recent=("maker/writer-large", "maker/writer-small")
        )
        stage.session.change(model="maker/writer-large")
        await _opened(stage)
