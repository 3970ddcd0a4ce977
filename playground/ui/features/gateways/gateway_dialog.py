"""The base of dialogs that set up gateways."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import shiboken6
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QWidget

from playground.engine.gateways.connection_test import ConnectionReport
from playground.engine.gateways.profiles import Connection, ProfileStore
from playground.engine.gateways.secrets import Keys
from playground.engine.gateways.services import KnownGateways

Tester = Callable[[Connection], Awaitable[ConnectionReport]]
Spawn = Callable[..., "asyncio.Task[Any]"]


class GatewayDialog(QDialog):
    """Base of those that set up a gateway: opens no socket and no keyring itself, and asks whether there is a keyring.

    ``tester`` asks a gateway whether it answers (``engine.profiles.try_gateway``); ``spawn(coro, name=...)`` starts a
    task.
    """

    def __init__(
        self,
        store: ProfileStore,
        keys: Keys,
        services: KnownGateways,
        tester: Tester,
        spawn: Spawn,
        parent: QWidget | None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._keys = keys
        self._tester = tester
        self._spawn = spawn
        self._asked_keyring = False
        self._known = services

    def _describe_key(self) -> None:
        """Show where the key is, or will be stored."""
        raise NotImplementedError

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._asked_keyring:
            self._asked_keyring = True
            self._spawn(self._ask_keyring(), name="look for a keyring")

    async def _ask_keyring(self) -> None:
        await self._keys.check()
        if shiboken6.isValid(self):
            self._describe_key()
