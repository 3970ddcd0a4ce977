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
    """Base of dialogs that set up a gateway. It checks for a keyring when shown, and opens no socket itself.

    ``tester`` tests a connection (``engine.gateways.connection_test.try_gateway``); ``spawn(coro, name=...)`` starts
    a task.
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
        self._keyring_checked = False
        self._services = services

    def _describe_key(self) -> None:
        """Show where the key is or will be stored."""
        raise NotImplementedError

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._keyring_checked:
            self._keyring_checked = True
            self._spawn(self._check_keyring(), name="look for a keyring")

    async def _check_keyring(self) -> None:
        await self._keys.check()
        if shiboken6.isValid(self):
            self._describe_key()
