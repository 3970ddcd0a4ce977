"""Named sets of what is set for an experiment, and the file they are kept in: used again with one click.

A preset holds parameters (the output format is one of them), the system turn and the tools, and where it is wanted
protocol and model. It holds no conversation, no gateway and no secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from pydantic import Field, ValidationError

from playground.domain.encoding import encode
from playground.domain.parameter_conversion import convert_parameters
from playground.domain.parameters import Parameters
from playground.domain.parts import Text
from playground.domain.roles import Role
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import Transcript, Turn, make_turn
from playground.domain.values import Value
from playground.engine.files.experiment_file import structure_words
from playground.engine.files.experiment_file.layout import lay_out
from playground.engine.gateways.known_secrets import redactor_of
from playground.engine.gateways.secrets import Secret
from playground.engine.io.list_file import ListFile, ListFileError
from playground.engine.session.branching import with_system_text
from playground.engine.session.settings import ExperimentSettings
from playground.jsonkit.values import JSONObject
from playground.protocols import DEFAULT, PROTOCOLS
from playground.protocols.protocol import parameters_of as parameters_of

if TYPE_CHECKING:
    from playground.engine.session.session import Session

FILE_VERSION: Final = 1


class PresetError(Exception):
    """A preset cannot be kept or used. The text is a sentence that says why."""


class Preset(Value):
    """One preset. What is None is left as it is where the preset is applied.

    ``system`` is the text of the system turn, empty for none. ``parameters`` are the fields that are set, of
    ``protocol``. ``switches`` says whether applying it speaks that protocol; otherwise the parameters that have a
    counterpart in the experiment's own are taken over; ``by_hand`` are those a person set to what a new experiment
    begins with. ``model`` is empty where it does not matter.
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
    """What is set in an experiment, as a preset; ``with_model``: with protocol and model."""
    system = _system(session.transcript)
    return Preset(
        name=_name(name),
        protocol=session.settings.protocol,
        switches=with_model,
        model=session.settings.model if with_model else "",
        system=system.text if system is not None else "",
        tools=session.settings.tools,
        parameters=session.settings.current.set_fields,
        by_hand=session.settings.current.by_hand,
    )


def apply(session: Session, preset: Preset) -> bool:
    """Set all that a preset holds, as one edit that can be undone. Returns whether anything was set differently.

    Raises PresetError; then nothing is changed.
    """
    transcript, settings = _applied(session, preset)
    if _is_so(session, transcript, settings):
        return False
    session.set_up(transcript, settings)
    return True


def fits(session: Session, preset: Preset) -> bool:
    """Whether all that a preset holds is set in an experiment already."""
    try:
        return _is_so(session, *_applied(session, preset))
    except PresetError:
        return False


def beside(session: Session, preset: Preset) -> tuple[Transcript, ExperimentSettings]:
    """The turns and the settings of a lane beside ``session``, which stays as it is, set as a preset says.

    Raises PresetError.
    """
    return _applied(session, preset, apart=True)


def _is_so(session: Session, transcript: Transcript, settings: ExperimentSettings) -> bool:
    return transcript is session.transcript and settings == session.settings


def _applied(session: Session, preset: Preset, *, apart: bool = False) -> tuple[Transcript, ExperimentSettings]:
    """The transcript and the settings with a preset in them, ``apart`` from other lanes. Raises PresetError."""
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
    elif preset.system is not None:  # the other lanes stay under theirs
        transcript = with_system_text(transcript, preset.system)
    return transcript, settings


def _parameters(session: Session, preset: Preset, protocol: str) -> Parameters:
    try:
        found = parameters_of(preset.protocol, preset.parameters or {}, preset.by_hand)
    except ValueError:
        raise PresetError(f"The parameters of “{preset.name}” cannot be read.") from None
    if protocol == preset.protocol:
        return found
    return convert_parameters(found, session.settings.current)


def _system(transcript: Transcript) -> Turn | None:
    """The system turn: the first of the path, where it is one."""
    path = transcript.path
    return path[0] if path and path[0].role in (Role.SYSTEM, Role.DEVELOPER) else None


def _with_system(transcript: Transcript, text: str) -> Transcript:
    """The same conversation under another system turn; a turn that is on other branches is the same there."""
    turn = _system(transcript)
    if (turn.text if turn is not None else "") == text:
        return transcript
    if turn is None:
        made = make_turn(Role.SYSTEM, text)
        return transcript.insert(made, before=transcript.path[0].id) if transcript.path else transcript.append(made)
    if not text:
        return transcript.remove(turn.id)
    rest = tuple(part for part in turn.parts if not isinstance(part, Text))
    return transcript.replace(turn.model_copy(update={"parts": (Text(text=text), *rest)}))


# ---- the file --------------------------------------------------------------------------------------------------------


def default_path() -> Path:
    """Where the presets are kept: the platform's folder for settings."""
    from platformdirs import user_config_path

    return user_config_path("gateway-playground", appauthor=False) / "presets.json"


class PresetStore:
    """The presets, in the order they are shown, in a JSON file that is replaced as a whole.

    Every change is written at once; methods block for one small write and raise PresetError where it fails, and then
    nothing is changed. ``known`` gives the secrets of this process: none of them is written. ``messages`` say what
    could not be read; entries that were not understood stay in the file as they are.
    """

    def __init__(self, path: Path | None = None, known: Callable[[], Iterable[Secret]] = tuple) -> None:
        self._file = ListFile(path or default_path(), "presets", FILE_VERSION)
        self._known = known
        self._presets: list[Preset] = []
        self._unread: list[Any] = []
        for entry in self._file.load().get("presets", []):
            self._take(entry)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._file.path

    @property
    def messages(self) -> list[str]:
        """Sentences on what could not be read."""
        return self._file.messages

    @property
    def presets(self) -> tuple[Preset, ...]:
        """All of them, in the order they are shown."""
        return tuple(self._presets)

    def get(self, preset_id: str) -> Preset | None:
        """The preset of that id, or None."""
        return next((preset for preset in self._presets if preset.id == preset_id), None)

    def named(self, name: str) -> Preset | None:
        """The preset of that name, or None: to ask before one is replaced."""
        return next((preset for preset in self._presets if preset.name == name.strip()), None)

    def put(self, preset: Preset) -> Preset:
        """Keep a preset: in the place of the one of its id, else as the last. Returns it as kept."""
        kept = preset.model_copy(update={"name": _name(preset.name)})
        if self.get(kept.id) is None:
            self._commit([*self._presets, kept])
        else:
            self._commit([kept if other.id == kept.id else other for other in self._presets])
        return kept

    def remove(self, preset_id: str) -> None:
        """Take a preset off the list; one that is not there is no error."""
        self._commit([preset for preset in self._presets if preset.id != preset_id])

    def move(self, preset_id: str, to: int) -> None:
        """Show a preset at position ``to``. Raises KeyError for one that is not there."""
        preset = self.get(preset_id)
        if preset is None:
            raise KeyError(preset_id)
        others = [other for other in self._presets if other is not preset]
        self._commit([*others[:to], preset, *others[to:]])

    def _commit(self, presets: list[Preset]) -> None:
        """Write first, then believe: what is in memory is what is on disk."""
        redactor = redactor_of(self._known())
        entries = [*(encode(preset) for preset in presets), *self._unread]
        try:
            self._file.save(entries, lambda content: lay_out(content, redactor, structure_words()))
        except ListFileError as error:
            raise PresetError(str(error)) from error
        self._presets = presets

    def _take(self, entry: Any) -> None:
        try:
            preset = Preset.model_validate(entry)
        except (ValidationError, RecursionError):
            name = entry.get("name") if isinstance(entry, dict) else None
            self._unread.append(entry)
            self.messages.append(f"The preset “{name or 'without a name'}” could not be read; it is kept as it is.")
            return
        if self.get(preset.id) is not None:
            preset = preset.model_copy(update={"id": uuid4().hex})
        self._presets.append(preset)


def _name(name: str) -> str:
    words = " ".join(name.split())
    if not words:
        raise PresetError("A preset needs a name.")
    return words
