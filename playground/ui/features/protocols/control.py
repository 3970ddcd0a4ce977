"""Speaks the protocol that a person chooses, after asking where something is at stake."""

from __future__ import annotations

from collections.abc import Callable

from playground.engine.requests.spoken import TITLES
from playground.ui.features.host import Host
from playground.ui.features.protocols.switch import ProtocolSwitch


class ProtocolControl:
    """``show`` marks the protocol in use; ``switched`` is called when another one is spoken."""

    def __init__(self, host: Host, show: Callable[[str], None], switched: Callable[[], None]) -> None:
        self._host = host
        self._show = show
        self.switch = ProtocolSwitch()
        self.switch.switched.connect(switched)
        host.pane.add_bar(self.switch)

    def follow_session(self) -> None:
        """Another experiment is looked at."""
        self.switch.follow(self._host.session)

    def show_session(self) -> None:
        """Mark the protocol of the experiment looked at."""
        self._show(self._host.session.settings.protocol)

    def choose(self, name: str) -> None:
        """Speak the protocol of that name, after asking when it cannot carry everything."""
        self._host.workspace.keep_current()
        self.switch.choose(self._host.session, name)
        self.show_session()

    def speak_next(self) -> None:
        """Speak the next protocol."""
        names = list(TITLES)
        self.choose(names[(names.index(self._host.session.settings.protocol) + 1) % len(names)])
