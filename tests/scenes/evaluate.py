"""Scenes of evaluations: nothing to ask yet, the sample as it came, answered, under way, its views and its panels."""

from __future__ import annotations

from playground.engine.files.experiment_file import open_experiment
from playground.ui.shell.features import EVALUATE
from tests.scenes.registry import BOTH, scene
from tests.scenes.stage import SAMPLES, Stage
