"""Facts of a gateway's model list where they are used: the estimate, the parameters, prices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from playground.engine.gateways.profiles import Profile
from playground.jsonkit.values import JSON
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import Stage
from tests.support.fault_server import FaultServer, head, keep, send, sse, text_chunk, whole

MODEL = "vendor/model-large"
ENTRY: dict[str, JSON] = {
    "id": MODEL,
    "context_length": 128_000,
    "max_completion_tokens": 8_192,
    "pricing": {"prompt": "0.0000025", "completion": "0.00001", "input_cache_read": "0.00000125"},
    "architecture": {"input_modalities": ["text"]},
}
USAGE = {"prompt_tokens": 3_104, "completion_tokens": 212, "total_tokens": 3_316}


@contextmanager
def _gateway(**more: JSON) -> Iterator[FaultServer]:
    """One that tells of its model, and answers in a sentence."""
    with FaultServer() as server:
        listed = json.dumps({"data": [{**ENTRY, **more}]}).encode()
        server.play_at("/v1/models", send(whole(200, "application/json", listed)), keep())
        last = json.dumps({"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": USAGE})
        server.play(send(head(), sse(text_chunk("Twelve steps lead down to the quay.", "stop"), last, "[DONE]")))
        yield server


async def _use(stage: Stage, server: FaultServer, **parameters: JSON) -> str:
    profile = stage.app.gateways.store.add_profile(Profile(name="Team gateway", base_url=f"{server.url}/v1"))
    stage.session.change(profile_id=profile.id)
    stage.fresh(MODEL, **parameters)
    stage.act("run.models")
    await stage.until(lambda: stage.app.gateways.facts(profile.id, MODEL).is_known, "what the list tells")
    await stage.settle()
    return profile.id


@scene(sizes=BOTH)
async def told_costs(stage: Stage) -> None:
    """A model with a context, a limit and prices by its list: shares and costs are said to be by that."""
    with _gateway() as server:
        await _use(stage, server, max_completion_tokens=4_096)
        stage.act("view.parameters")
        await stage.ask("How many steps are there? " * 40)
        stage.window.pane.composer.set_text("And how many lead up again? " * 60)
        await stage.settle()
