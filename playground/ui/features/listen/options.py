"""Options of listening: the gateway, the key, the port and the recording, and where the window remembers them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, ValidationError
from PySide6.QtCore import QSettings

from playground.domain.hints import Hint, hints_of, setting
from playground.domain.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playground.engine.gateways.profiles import Profile

_KEY: Final = "listen/options"
_AGREED: Final = "listen/recording-agreed"
MOST_PORT: Final = 65_535


class KeySource(StrEnum):
    """The key that the gateway gets."""

    GATEWAY = "gateway"
    PROGRAM = "program"


class ListenOptions(Value):
    """The choices of the start panel."""

    gateway: Annotated[str, setting("Gateway", editor="pick", help="Requests are passed on to this gateway only.")] = ""
    key: Annotated[
        KeySource,
        setting(
            "Key",
            choices=((KeySource.GATEWAY.value, "Saved key"), (KeySource.PROGRAM.value, "Program's own key")),
            help="Saved key: programs may send any key; it is replaced. Program's own: it is passed on and not kept.",
        ),
    ] = KeySource.GATEWAY
    port: Annotated[
        int, setting("Port", zero="any free port", help="A fixed port keeps the address for the next time.")
    ] = Field(default=0, ge=0, le=MOST_PORT)
    record: Annotated[
        bool, setting("Record", help="Save each exchange to a folder. Otherwise they are gone when you stop.")
    ] = True


def option_hints(gateways: Sequence[Profile]) -> dict[str, Hint]:
    """Return the rows of the start panel, with these gateways to choose from."""
    hints = hints_of(ListenOptions)
    names = tuple((profile.id, profile.name) for profile in gateways)
    return {**hints, "gateway": replace(hints["gateway"], choices=names)}


def load_options(settings: QSettings) -> ListenOptions:
    """Return the options of the last time; the usual ones if there are none that can be read."""
    with suppress(ValidationError):
        return ListenOptions.model_validate_json(str(settings.value(_KEY, "{}")))
    return ListenOptions()


def save_options(settings: QSettings, options: ListenOptions) -> None:
    """Remember the options."""
    settings.setValue(_KEY, options.model_dump_json())


def has_agreed(settings: QSettings) -> bool:
    """Return whether a person has agreed to recordings before."""
    return bool(settings.value(_AGREED, False, type=bool))


def note_agreement(settings: QSettings) -> None:
    """Remember that a person has agreed to recordings."""
    settings.setValue(_AGREED, True)
