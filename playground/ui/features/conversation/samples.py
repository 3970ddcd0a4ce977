"""The sample experiments: their names and what each one shows. All run on the demo gateway, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from playground.engine.io.files import resource_root


class Sample(NamedTuple):
    """A sample. ``action`` is the id of the action that opens it; ``shows`` is one line."""

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
        "The answer arrives piece by piece; the timeline shows when.",
        "streaming.json",
    ),
    Sample(
        "sample.reasoning",
        "Reasoning",
        "The model's reasoning, with its time and tokens.",
        "reasoning.json",
    ),
    Sample(
        "sample.tools",
        "Tool calls",
        "The model calls a tool twice and waits for your results.",
        "weather.json",
    ),
    Sample(
        "sample.servers",
        "Real tools",
        "A tool server answers one call by itself, the other when you ask.",
        "real-tools.playground.json",
    ),
    Sample(
        "sample.schema",
        "JSON schema",
        "The answer follows a schema and is checked against it.",
        "json-schema.json",
    ),
    Sample(
        "sample.responses",
        "Responses",
        "Reasoning and a web search by the gateway, as items.",
        "responses.json",
    ),
    Sample(
        "sample.images",
        "Images",
        "A picture inside the request, shown as it was sent.",
        "images.json",
    ),
    Sample(
        "sample.errors",
        "Errors",
        "A busy gateway is retried twice; then the answer breaks off.",
        "errors.json",
    ),
    Sample(
        "sample.evaluation",
        "Evaluation",
        "Which of two prompts is better, and how sure is that?",
        "evaluation.playground.json",
    ),
)

#: The sample of "Try it now".
FIRST: Final = next(sample for sample in SAMPLES if sample.action == "sample.tools")
