"""Facts about a model from the gateway's list of models; None for what the list does not contain."""

from __future__ import annotations

from typing import Final

from playground.domain.prices import Price
from playground.domain.values import Value

#: The distinguished kinds of input and output.
KINDS: Final = frozenset({"text", "image", "audio", "video", "file"})

#: The note on everything that follows from these facts.
BY_LIST: Final = "by the gateway's list"


class ModelFacts(Value):
    """Facts about one model, as its gateway lists them.

    ``context`` and ``output`` are limits in tokens. ``price`` is that of a million tokens. ``inputs`` are the accepted
    kinds of ``KINDS`` and ``refused`` the rejected ones; a kind in neither is unknown. ``outputs`` are the generated
    kinds. ``parameters`` are the names of supported body fields. ``tools``, ``reasoning`` and ``schema_kept`` tell
    whether the model supports tool calls, reasoning, and answers that follow a JSON Schema. ``mode`` is the listed
    purpose of a model that is not for chat ("embedding"); ``owner`` its vendor. ``created`` is a Unix time in seconds.
    ``about`` is a description. All texts are foreign, and cut.
    """

    context: int | None = None
    output: int | None = None
    price: Price | None = None
    inputs: frozenset[str] | None = None
    refused: frozenset[str] = frozenset()
    outputs: frozenset[str] | None = None
    parameters: frozenset[str] | None = None
    tools: bool | None = None
    reasoning: bool | None = None
    schema_kept: bool | None = None
    mode: str = ""
    owner: str = ""
    created: float | None = None
    about: str = ""

    @property
    def is_known(self) -> bool:
        """Return whether the list has any fact about the model besides its name."""
        return self != NOTHING_TOLD

    def takes(self, kind: str) -> bool | None:
        """Return whether the model accepts a kind of input; None if unknown."""
        if self.inputs is not None and kind in self.inputs:
            return True
        return False if kind in self.refused else None


NOTHING_TOLD = ModelFacts()


def joined(facts: ModelFacts, more: ModelFacts) -> ModelFacts:
    """Merge two sets of facts; ``more`` wins."""
    if not more.is_known or not facts.is_known:
        return more if more.is_known else facts
    return facts.model_copy(update={name: value for name, value in more if value != getattr(NOTHING_TOLD, name)})


def agreed(several: list[ModelFacts]) -> ModelFacts:
    """Return the facts on which all agree that contain them, for several models behind one name."""
    common = {}
    for name, unknown in NOTHING_TOLD:
        values = [value for facts in several if (value := getattr(facts, name)) != unknown]
        if values and all(value == values[0] for value in values):
            common[name] = values[0]
    return NOTHING_TOLD.model_copy(update=common) if common else NOTHING_TOLD
