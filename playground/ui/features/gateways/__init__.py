"""Setting up gateways: address, key, headers, time-outs, and a test of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playground.ui.features.action import RUN, Action

if TYPE_CHECKING:
    from playground.ui.features.gateways.control import GatewayControl

ACTIONS: tuple[Action[GatewayControl], ...] = (
    Action("run.model", "Choose a model", RUN, 400, lambda it: it.choose_model(), ("Ctrl+L",)),
    Action("run.models", "Ask the gateway for its models again", RUN, 420, lambda it: it.load_models(refresh=True)),
    Action("run.price", "Price of the model", RUN, 430, lambda it: it.open_price()),
    Action("gateway.connect", "Connect a gateway…", RUN, 450, lambda it: it.connect_new()),
    Action("gateway.nearby", "Look for gateways on this computer…", RUN, 455, lambda it: it.look_nearby()),
    Action(
        "gateway.settings", "Gateway settings", RUN, 460, lambda it: it.open_settings(), ("Ctrl+G",), in_settings=True
    ),
)
