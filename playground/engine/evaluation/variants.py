"""Variants out of what there is already: the lanes of Compare, presets."""

from __future__ import annotations

from playground.domain.transcript import Transcript, new_id
from playground.engine.compare.lanes import Lanes
from playground.engine.files.presets import Preset, beside
from playground.engine.session.branching import system_text
from playground.engine.session.session import Session
from playground.engine.session.variants import Variant


def of_lane(lane: Session) -> Variant:
    """A lane as a variant: what is set in it otherwise, and its system turn. What was asked in it stays there."""
    held = Lanes(lane).variant(lane) or Variant()
    return held.model_copy(update={"id": new_id(), "system": _system(lane.main, lane.transcript)})


def of_preset(session: Session, preset: Preset) -> Variant:
    """A variant that is called as a preset is, and set as it says. Raises PresetError."""
    main = session.main
    transcript, settings = beside(main, preset)
    return Variant(name=preset.name, system=_system(main, transcript)).with_settings(main.settings, settings)


def copy_of(variant: Variant) -> Variant:
    """The same once more, to be set otherwise."""
    name = f"{variant.name} copy" if variant.name else ""
    return variant.model_copy(update={"id": new_id(), "name": name})


def _system(main: Session, transcript: Transcript) -> str | None:
    text = system_text(transcript)
    return text if text != system_text(main.transcript) else None
