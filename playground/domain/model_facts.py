"""What a gateway's list says of a model. All of it is the gateway's word; None is what it does not tell."""

from __future__ import annotations

from typing import Final

from playground.domain.prices import Price
from playground.domain.values import Value

#: The kinds of input and output that are told apart.
KINDS: Final = frozenset({"text", "image", "audio", "video", "file"})


#: What is said with everything that follows from it.
BY_LIST: Final = "by the gateway's list"


class ModelFacts(Value):
    """``context`` and ``output`` are limits in tokens. ``price`` is for a million tokens, as everywhere.

    ``inputs`` are the kinds (of ``KINDS``) that it is said to take, ``refused`` those that it is said not to take: a
    list that names all it takes leaves none open, one that tells of images alone leaves the others. ``outputs`` are
    those it gives. ``parameters`` are the names of the body's fields that it is said to support. ``tools``,
    ``reasoning`` and ``schema_kept`` say whether it is said to call tools, to think, and to keep to a JSON schema.
    ``mode`` is what it is for where that is not a conversation, as the list says it ("embedding"); ``owner`` who made
    it. ``created`` is a Unix time in seconds. ``about`` is a description. All texts are foreign, and cut.
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
    def told(self) -> bool:
        """Whether the list says anything of the model besides its name."""
        return self != NOTHING_TOLD

    def takes(self, kind: str) -> bool | None:
        """Whether it takes that kind of input; None where the list does not tell."""
        if self.inputs is not None and kind in self.inputs:
            return True
        return False if kind in self.refused else None


NOTHING_TOLD = ModelFacts()


def joined(one: ModelFacts, more: ModelFacts) -> ModelFacts:
    """Both together; where both tell of the same, ``more`` is believed."""
    if not more.told:
        return one
    return (
        one.model_copy(update={name: value for name, value in more if value != getattr(NOTHING_TOLD, name)})
        if one.told
        else more
    )


def agreed(several: list[ModelFacts]) -> ModelFacts:
    """What those that tell of it say alike: they stand behind one name, and which one answers is not known."""
    alike = {}
    for name, untold in NOTHING_TOLD:
        said = [value for one in several if (value := getattr(one, name)) != untold]
        if said and all(value == said[0] for value in said):
            alike[name] = said[0]
    return NOTHING_TOLD.model_copy(update=alike) if alike else NOTHING_TOLD
