"""Scenes of what a gateway does not take: offered in the error, listed in its settings, told on the Request page."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QScrollArea, QWidget

from playground.domain.adaptations import Adaptation, AdaptationKind
from playground.domain.transcript import Role, make_turn
from playground.engine.gateways.profiles import Profile
from playground.protocols import DEFAULT
from tests.scenes.registry import scene
from tests.scenes.stage import Stage

RULES = (
    Adaptation(
        kind=AdaptationKind.OMIT,
        field="stream_options",
        protocol=DEFAULT,
        why="Extra parameters ['stream_options'] are not allowed when extra-parameters is not set.",
        learnt="2026-11-23",
    ),
    Adaptation(
        kind=AdaptationKind.RENAME,
        field="max_tokens",
        to="max_completion_tokens",
        protocol=DEFAULT,
        model="demo-chat",
        why="Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        learnt="2026-11-22",
    ),
    Adaptation(kind=AdaptationKind.REPLACE, field="tool_choice", to="auto", protocol=DEFAULT, learnt="2026-11-20"),
    Adaptation(kind=AdaptationKind.ROLE, field="developer", to="system", protocol=DEFAULT, on=False),
    Adaptation(kind=AdaptationKind.OMIT, field="seed", protocol=DEFAULT, why='Unknown name "seed" <b> \u202e'),
)


@scene()
async def refused_fields(stage: Stage) -> None:
    """Refusals that name a field, each with what would mend it: once, always, for the model or the gateway."""
    stage.fresh("demo-chat", max_tokens=200)
    stage.session.turns.add_turn(make_turn(Role.DEVELOPER, "Be short."))
    await stage.ask("Hello !refuse=stream_options")
    await stage.ask("Hello !refuse=max_tokens")
    stage.person.conversation.errors[-1].widget.setFocus()


@scene()
async def gateway_rules(stage: Stage) -> None:
    """The list of rules in the settings of a gateway."""
    profile = Profile(name="Team gateway", base_url="http://127.0.0.1:9/v1", adaptations=RULES)
    stage.session.change(profile_id=stage.app.gateways.store.add_profile(profile).id)
    stage.app.actions.features.gateways.show_rules()
    await stage.settle()
    dialog = await stage.dialog("Gateways")
    area, row = stage.find(QScrollArea, inside=dialog), stage.find(QWidget, "Action", dialog)
    bar = area.verticalScrollBar()
    bar.setValue(bar.value() + row.mapTo(area, QPoint()).y() - 60)
    await stage.settle()
