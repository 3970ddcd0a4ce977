"""The sample experiments: what they are called and what each one shows.

Read on the way to the first paint, so the experiments themselves stay in their files until one is opened. All of them
run on the demo gateway, without a network.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from playground.engine.io.resources import resource_root


class Sample(NamedTuple):
    """One sample. ``action`` is the id of the action that opens it, ``shows`` one line on what there is to see."""

    action: str
    title: str
    shows: str
    file: str

    @property
    def path(self) -> Path:
        """The run file, or the experiment's."""
        return resource_root() / "samples" / self.file


SAMPLES: Final = (
    Sample(
        "sample.streaming",
        "Streaming",
        "An answer arrives piece by piece; the timeline below has each piece with its time.",
        "streaming.json",
    ),
    Sample(
        "sample.reasoning",
        "Reasoning",
        "A model thinks first: its reasoning stands apart from the answer, with its time and tokens.",
        "reasoning.json",
    ),
    Sample(
        "sample.tools",
        "Tool calls",
        "The model calls a tool twice, and each call waits until you give its result.",
        "weather.json",
    ),
    Sample(
        "sample.servers",
        "Real tools",
        "A tool server on this computer answers: one call by itself, the other when you press “Ask the server”.",
        "real-tools.playground.json",
    ),
    Sample(
        "sample.schema",
        "JSON schema",
        "The answer has to follow a schema, and is checked against it.",
        "json-schema.json",
    ),
    Sample(
        "sample.images",
        "Images",
        "A picture travels inside the request, where you can look at it as it was sent.",
        "images.json",
    ),
    Sample(
        "sample.errors",
        "Errors",
        "The gateway is busy twice and is asked again; then the answer breaks off, and its text stays.",
        "errors.json",
    ),
    Sample(
        "sample.evaluation",
        "Evaluation",
        "Twelve sums, two prompts, two answers each: which prompt is better, and how sure that is.",
        "evaluation.playground.json",
    ),
)

#: The one behind "Try it now".
FIRST: Final = next(sample for sample in SAMPLES if sample.action == "sample.tools")
