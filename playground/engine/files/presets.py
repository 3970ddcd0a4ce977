"""Presets: named settings of experiments, and their file.

A preset holds parameters (with the output format), the system turn and the tools, and optionally protocol and model. It
holds no conversation, no gateway and no secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pydantic import Field

from playground.domain.encoding import encode
from playground.domain.parameter_conversion import convert_parameters
from playground.domain.parameters import Parameters
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Transcript
from playground.domain.values import Value
from playground.engine.files.experiment_file import structure_words
from playground.engine.files.experiment_file.content import lay_out
from playground.engine.gateways.redaction import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.io.list_file import JsonListStore, ListFileError
from playground.engine.session.branching import system_text, system_turn, turn_with_system_text, with_system_text
from playground.engine.session.settings import ExperimentSettings
from playground.jsonkit.values import JSONObject
from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.protocol import parameters_of as parameters_of

if TYPE_CHECKING:
    from playground.engine.session.session import Session


class PresetError(ListFileError):
    """A preset cannot be saved or applied; the text is a sentence with the reason."""


class Preset(Value):
    """One preset. Applying it does not change what is None in it.

    ``system`` is the text of the system turn, empty for none. ``parameters`` are the set fields of ``protocol``.
    ``switches``: applying it changes the protocol; otherwise the parameters are converted to the experiment's protocol.
    ``by_hand`` are fields that a person set to their default. ``model`` is empty to keep the experiment's.
    """

    id: str = Field(default_factory=lambda: uuid4().hex)
    name: str
    protocol: str = DEFAULT
    switches: bool = False
    model: str = ""
    system: str | None = None
    tools: tuple[ToolDefinition, ...] | None = None
    parameters: JSONObject | None = None
    by_hand: tuple[str, ...] = ()


def from_session(session: Session, name: str, *, with_model: bool = False) -> Preset:
    """Return the settings of an experiment as a preset; ``with_model`` includes protocol and model."""
    return Preset(
        name=_name(name),
        protocol=session.settings.protocol,
        switches=with_model,
        model=session.settings.model if with_model else "",
        system=system_text(session.transcript),
        tools=session.settings.tools,
        parameters=session.settings.current.set_fields,
        by_hand=session.settings.current.by_hand,
    )


def apply(session: Session, preset: Preset) -> bool:
    """Apply a preset as one edit that can be undone; return whether it changed anything.

    Raises PresetError; then nothing is changed.
    """
    transcript, settings = _applied(session, preset)
    if _is_applied(session, transcript, settings):
        return False
    session.set_up(transcript, settings)
    return True


def fits(session: Session, preset: Preset) -> bool:
    """Return whether applying a preset to an experiment would change nothing."""
    try:
        return _is_applied(session, *_applied(session, preset))
    except PresetError:
        return False


def preset_for_lane(session: Session, preset: Preset) -> tuple[Transcript, ExperimentSettings]:
    """Return turns and settings of a new lane with a preset applied to those of ``session``. Raises PresetError."""
    return _applied(session, preset, apart=True)


def _is_applied(session: Session, transcript: Transcript, settings: ExperimentSettings) -> bool:
    return transcript is session.transcript and settings == session.settings


def _applied(session: Session, preset: Preset, *, apart: bool = False) -> tuple[Transcript, ExperimentSettings]:
    """Return transcript and settings with a preset applied, ``apart`` from other lanes. Raises PresetError."""
    if (preset.switches or preset.parameters is not None) and preset.protocol not in PROTOCOLS:
        raise PresetError(f"“{preset.name}” is for the protocol “{preset.protocol}”, which this version does not know.")
    settings = session.settings
    if preset.switches:
        settings = settings.changed(protocol=preset.protocol)
    if preset.model:
        settings = settings.changed(model=preset.model)
    if preset.tools is not None:
        settings = settings.changed(tools=preset.tools)
    if preset.parameters is not None:
        settings = settings.with_parameters(_parameters(session, preset, settings.protocol))
    transcript = session.transcript
    if preset.system is not None and session.main is session and not apart:
        transcript = _with_system(transcript, preset.system)
    elif preset.system is not None:  # other lanes keep their system turn
        transcript = with_system_text(transcript, preset.system)
    return transcript, settings


def _parameters(session: Session, preset: Preset, protocol: str) -> Parameters:
    try:
        parameters = parameters_of(preset.protocol, preset.parameters or {}, preset.by_hand)
    except ValueError:
        raise PresetError(f"The parameters of “{preset.name}” cannot be read.") from None
    if protocol == preset.protocol:
        return parameters
    return convert_parameters(parameters, session.settings.current)


def _with_system(transcript: Transcript, text: str) -> Transcript:
    """Return the conversation with another system turn, which other branches share."""
    if system_text(transcript) == text:
        return transcript
    turn = system_turn(transcript)
    if turn is None:
        new = turn_with_system_text(None, text)
        return transcript.insert(new, before=transcript.path[0].id) if transcript.path else transcript.append(new)
    return transcript.replace(turn_with_system_text(turn, text)) if text else transcript.remove(turn.id)


# ---- the file --------------------------------------------------------------------------------------------------------


def default_path() -> Path:
    """Return the path of the file in the platform's folder for settings."""
    from platformdirs import user_config_path

    return user_config_path("gateway-playground", appauthor=False) / "presets.json"


class PresetStore(JsonListStore[Preset]):
    """The presets, in the order in which they are shown. ``secrets`` returns the secrets that no file may hold."""

    member = "presets"
    noun = "preset"
    error = PresetError

    def __init__(self, path: Path | None = None, secrets: Callable[[], Iterable[Secret]] = tuple) -> None:
        self._secrets = secrets
        super().__init__(path or default_path())

    @property
    def presets(self) -> tuple[Preset, ...]:
        """All presets, in the order in which they are shown."""
        return self.items

    def named(self, name: str) -> Preset | None:
        """Return the preset of that name, or None."""
        return next((preset for preset in self._items if preset.name == name.strip()), None)

    def put(self, preset: Preset) -> Preset:
        """Save a preset in place of the one of its id, else as the last; return it as saved. Raises PresetError."""
        preset = preset.model_copy(update={"name": _name(preset.name)})
        self._put(preset)
        return preset

    def move(self, preset_id: str, to: int) -> None:
        """Move a preset to position ``to``. Raises KeyError for an unknown id, and PresetError."""
        preset = self.get(preset_id)
        if preset is None:
            raise KeyError(preset_id)
        rest = [item for item in self._items if item is not preset]
        self.save([*rest[:to], preset, *rest[to:]])

    def _read(self, entry: Any) -> Preset:
        preset = Preset.model_validate(entry)
        return preset if self.get(preset.id) is None else preset.model_copy(update={"id": uuid4().hex})

    def _write(self, item: Preset) -> JSONObject:
        return encode(item)

    def _serialize(self, content: JSONObject) -> str:
        return lay_out(content, redactor_of(self._secrets()), structure_words())


def _name(name: str) -> str:
    words = " ".join(name.split())
    if not words:
        raise PresetError("A preset needs a name.")
    return words
