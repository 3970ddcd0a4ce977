"""Dialog that imports a request from a curl command, HAR or JSON body, with a preview before loading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from playground.engine.gateways.profiles import Profile
from playground.engine.requests.pasted import Imported, ImportRefusedError, read
from playground.ui.features.code.gateway_choice import GatewayChoice
from playground.ui.widgets.import_dialog import ImportDialog, ImportKind, Preview, Source
from playground.ui.widgets.import_outline import outline


@dataclass(frozen=True)
class Import:
    """The accepted import: the request, the gateway (``NEW`` for one to set up), and whether to store its secrets."""

    request: Imported
    profile_id: str
    keep: bool


class ImportRequestDialog(ImportDialog[Imported]):
    """Import of a request; ``imported`` carries an ``Import``."""

    kind = ImportKind(
        title="Import request",
        placeholder=(
            "Paste here: a curl command, an HTTP archive (HAR), or the JSON body of a request of either protocol."
        ),
        files="Requests (*.json *.har *.sh *.txt *.http)",
        button="Load as a new experiment",
        refused=(ImportRefusedError,),
    )

    def __init__(self, profiles: Sequence[Profile], current: str, parent: QWidget) -> None:
        self.gateway = GatewayChoice(profiles, current)
        super().__init__(parent, options=(self.gateway,))

    def reader(self) -> Callable[[Source], Preview[Imported]]:
        """Return the function that reads a request."""
        return _read

    def show_content(self, content: Imported | None) -> None:
        """Offer the gateways for the request."""
        if content is not None:
            self.gateway.show_request(content)

    def add_content(self, content: Imported, checked: tuple[int, ...]) -> None:
        """Import the request."""
        self.imported.emit(Import(content, self.gateway.profile_id, self.gateway.keep))
        self.accept()


def _read(source: Source) -> Preview[Imported]:
    imported = read(source.text)
    secrets = [*([imported.key] if imported.key is not None else []), *imported.secret_headers.values()]
    return Preview(imported, f"Understood as {imported.source}:", outline(imported), imported.notes, secrets)
