"""Exchanges written to a file that a person chooses: a recording or an HTTP archive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtWidgets import QWidget

from playground.engine.library.store import StoreError
from playground.jsonkit.texts import quantity
from playground.ui.widgets.dialogs import ask_where, file_name

if TYPE_CHECKING:
    from playground.engine.gateways.secrets import Secret
    from playground.engine.session.session import Exchange
    from playground.jsonkit.values import JSONObject

CASSETTES: Final = "Recordings (*.cassette.json);;All files (*)"
ARCHIVES: Final = "HTTP archives (*.har);;All files (*)"
SUFFIX: Final = ".cassette.json"

#: Returns an exchange with its bodies. Raises StoreError or CassetteError.
LoadBodies = Callable[["Exchange"], Awaitable["Exchange"]]


class SaveResult(NamedTuple):
    """The result in words, empty if a person cancelled, and whether the file was written."""

    words: str = ""
    is_saved: bool = False


def count_exchanges(exchanges: Sequence[Exchange]) -> str:
    """Return the number of exchanges in words."""
    return quantity(len(exchanges), "exchange")


async def save_recording(
    window: QWidget,
    exchanges: Sequence[Exchange],
    title: str,
    load: LoadBodies,
    secrets: Iterable[Secret],
    unknown_members: JSONObject | None = None,
    *,
    heading: str = "",
) -> SaveResult:
    """Ask for a file and write a recording."""
    from playground.engine.cassettes.cassette import CassetteError, save

    heading = heading or f"Save {count_exchanges(exchanges)} as recording"
    path = await ask_where(window, heading, file_name(title, "exchanges") + SUFFIX, CASSETTES, "cassette.json")
    if path is None:
        return SaveResult()
    try:
        complete = [await load(exchange) for exchange in exchanges]
        await asyncio.to_thread(save, path, complete, title, secrets, unknown_members or {})
    except (CassetteError, StoreError) as error:
        return SaveResult(str(error))
    return SaveResult(f"{count_exchanges(exchanges)} saved as {path}. It contains no keys.", True)


async def export_archive(
    window: QWidget, exchanges: Sequence[Exchange], title: str, load: LoadBodies, secrets: Iterable[Secret]
) -> SaveResult:
    """Ask for a file and write an HTTP archive."""
    from playground.engine.cassettes.cassette import CassetteError
    from playground.engine.cassettes.har import write
    from playground.engine.gateways.redaction import write_output

    name = file_name(title, "exchanges") + ".har"
    path = await ask_where(window, f"Export {count_exchanges(exchanges)} as HAR", name, ARCHIVES, "har")
    if path is None:
        return SaveResult()
    try:
        complete = [await load(exchange) for exchange in exchanges]
        await asyncio.to_thread(lambda: write_output(path, write(complete, secrets), secrets))
    except (CassetteError, StoreError, OSError) as error:
        if isinstance(error, OSError):
            return SaveResult(f"{path} cannot be written: {error.strerror}.")
        return SaveResult(str(error))
    return SaveResult(f"{count_exchanges(exchanges)} exported to {path}. It contains no keys.", True)
