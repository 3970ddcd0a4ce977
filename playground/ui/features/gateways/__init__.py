"""Gateways: settings, connect wizard, connection test, models and prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, TOOLS, Action

if TYPE_CHECKING:
    from playground.ui.features.gateways.control import GatewayControl

ACTIONS: tuple[Action[GatewayControl], ...] = (
    Action("run.model", "Choose model", lambda it: it.choose_model(), RUN, 300, "Ctrl+L"),
    Action("run.models", "Refresh models", lambda it: it.load_models(refresh=True), TOOLS, 110, synonyms="reload"),
    Action("run.price", "Set model price…", lambda it: it.open_price(), TOOLS, 120, synonyms="cost"),
    Action("gateway.connect", "Connect gateway…", lambda it: it.connect_new(), synonyms="add key provider"),
    Action(
        "gateway.nearby", "Find local gateways…", lambda it: it.look_nearby(), TOOLS, 100, synonyms="ollama localhost"
    ),
    Action(
        "gateway.settings",
        "Gateway settings…",
        lambda it: it.open_settings(),
        keys="Ctrl+G",
        synonyms="key proxy timeout headers url",
    ),
)
