"""Scenes of choosing a model: the panel of the tool bar, found, sorted, told of or not, and many at once."""

from __future__ import annotations

import json
from typing import Any

from playground.domain.parts import Image, Text
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.ui.features.tools.samples import SAMPLE
from playground.ui.shell.features import GATEWAYS
from playground.ui.widgets.model_picker import ModelPicker
from playground.ui.widgets.models.browser import ModelBrowser
from playground.ui.widgets.models.listing import SORTING, Order
from playground.ui.widgets.models_dialog import ModelsDialog
from tests.scenes.registry import BOTH, SMALL, scene
from tests.scenes.stage import Stage
from tests.support.fault_server import FaultServer, send, whole

CAN = ["temperature", "top_p", "max_tokens", "seed", "stop", "response_format"]


def _entry(id: str, name: str, context: int, price: tuple[str, str], inputs: str, **more: Any) -> dict[str, Any]:
    found = {
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
    return {**found, **more}


TOOLS = {"supported_parameters": [*CAN, "tools", "tool_choice"]}
THINKS = {"supported_parameters": [*CAN, "tools", "tool_choice", "reasoning"]}
TOLD: list[dict[str, Any]] = [
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
    made = Profile(name="Made-up router", base_url=server.url, retries=0, **marks)
    profile = stage.app.gateways.store.add_profile(made)
    stage.app.actions.of(GATEWAYS).choose(profile.id)
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
    picker.panel.browser.settle()
    return picker.panel.browser


@scene(sizes=BOTH)
async def models_panel(stage: Stage) -> None:
    """Models whose list tells much of them, with recent ones and favourites, the one in use looked at."""
    with FaultServer() as server:
        favourites = ("studio/ears-and-eyes", "gone/from-the-list")
        await _listed(stage, server, TOLD, favourites=favourites, recent=("maker/writer-large", "maker/writer-small"))
        stage.session.change(model="maker/writer-large")
        await _opened(stage)


@scene(sizes=BOTH)
async def models_found(stage: Stage) -> None:
    """Some found by a word, sorted by price, the second looked at with its entry as listed."""
    with FaultServer() as server:
        await _listed(stage, server, TOLD)
        SORTING.choose(Order.PRICE)
        browser = await _opened(stage, "ma")
        browser.step(2)
        browser.details.raw_button.click()


@scene(sizes=SMALL)
async def models_no_list(stage: Stage) -> None:
    """A gateway that lists nothing."""
    with FaultServer() as server:
        await _listed(stage, server, [])
        await _opened(stage)


@scene(sizes=SMALL)
async def models_odd(stage: Stage) -> None:
    """Names with hidden characters, from right to left, and longer than any line; the oddest looked at."""
    with FaultServer() as server:
        entries = [*TOLD[3:7], {"id": "x" * 1_000_000, "name": "y" * 1_000_000, "description": "z" * 1_000_000}]
        await _listed(stage, server, entries)
        browser = await _opened(stage)
        browser.step(5)


@scene(sizes=SMALL)
async def models_ticked(stage: Stage) -> None:
    """The dialog for several, of models that are told of."""
    with FaultServer() as server:
        await _listed(stage, server, TOLD, favourites=("maker/writer-small",))
        stage.act("compare.models")
        await stage.until(lambda: bool(stage.window.findChildren(ModelsDialog)), "the dialog")
        (dialog,) = stage.window.findChildren(ModelsDialog)
        dialog.models.step(2)
        dialog.models.rows.toggle(dialog.models.list.currentIndex())
        dialog.models.step(1)


@scene(sizes=BOTH)
async def models_flags(stage: Stage) -> None:
    """Tools, an image and parameters for a model that takes none of them by its gateway's list."""
    with FaultServer() as server:
        await _listed(stage, server, TOLD)
        session = stage.session
        session.change(model="open/chat-17b-instruct-with-a-name-that-goes-on-for-longer-than-any-line:free")
        session.change(tools=(SAMPLE,))
        session.set_parameters(session.settings.current.with_value("presence_penalty", 0.5))
        parts = (Text(text="What is on it?"), Image(url="https://images.invalid/a.png"))
        session.turns.add_turn(make_turn(Role.USER, "").model_copy(update={"parts": parts}))
        stage.window.side.show_page("Tools")
        await stage.settle()
