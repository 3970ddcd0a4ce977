"""Carries out what an error card advises beyond the turn itself: leads to the place where it is mended."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from playground.engine.advice.parts import Action
from playground.ui.features import output, parameters, raw, tools
from playground.ui.features.gateways.control import GatewayControl
from playground.ui.shell.features import PARAMETER_PANEL, RAW_PANEL, REASONING_RETURN
from playground.ui.shell.main_window import MainWindow

#: Parameters that mean the same; the one that is set is shown.
ALIKE = {"max_tokens": ("max_completion_tokens", "max_tokens")}
PAGES = {"parameters": parameters.PAGE, "tools": tools.PAGE, "output": output.PAGE, "raw": raw.PAGE}


class AdviceControl(QObject):
    """``choose_protocol`` speaks the protocol of that name, after asking where something is at stake."""

    def __init__(self, window: MainWindow, gateways: GatewayControl, choose_protocol: Callable[[str], None]) -> None:
        super().__init__(window)
        self._window = window
        self._gateways = gateways
        self._choose_protocol = choose_protocol
        window.pane.advice_asked.connect(self.take)

    def take(self, action: Action) -> None:
        """Do what the button said."""
        match action.name:
            case "gateway":
                self._gateways.open_settings()
            case "key":
                self._gateways.enter_key()
            case "header":
                self._gateways.add_header(action.value)
            case "timeout":
                self._gateways.raise_timeouts()
            case "model":
                self._window.bar.model.setFocus()
            case "protocol":
                self._choose_protocol(action.value)
            case "parameters" | "tools" | "output" | "raw":
                self._show(PAGES[action.name], action.value)
            case _:
                pass

    def _show(self, page: str, about: str) -> None:
        window, panels = self._window, self._window.panels
        window.right_dock.show()
        window.side.show_page(page)
        if page == parameters.PAGE and about == "reasoning_return":
            panels.of(REASONING_RETURN).when.setFocus()
        elif page == parameters.PAGE and about:
            panels.of(PARAMETER_PANEL).show_row(*ALIKE.get(about, (about,)))
        elif page == raw.PAGE:
            panels.of(RAW_PANEL).show_place("headers" if about == "headers" else "body")
