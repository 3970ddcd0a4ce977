"""Parameter models with a field for each editor."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import StrictBool, StrictFloat, StrictInt, StrictStr

from playground.domain.parameters import Hint, Parameters

Number = StrictInt | StrictFloat


class SampleParameters(Parameters):
    """Every kind of row once."""

    temperature: Annotated[
        Number | None,
        Hint("Temperature", "Sampling", "number", "How bold.", low=0, high=2, step=0.05, start=1, common=1),
    ] = None
    seed: Annotated[StrictInt | None, Hint("Seed", "Sampling", "integer", "The same again.", start=1)] = None
    limit: Annotated[
        StrictInt | None,
        Hint("Limit", "Length", "integer", "At most.", low=1, soft_high=8192, step=1, start=1024, common=2),
    ] = None
    stop: Annotated[StrictStr | tuple[StrictStr, ...] | None, Hint("Stop", "Length", "list", "Ends.", most=4)] = None
    effort: Annotated[
        StrictStr | None, Hint("Effort", "Reasoning", "choice", "How deep.", suggestions=("low", "high"))
    ] = None
    tool_choice: Annotated[
        StrictStr | dict[str, Any] | None, Hint("Tool choice", "Tools", "tool_choice", "Which tool.")
    ] = None
    stream: Annotated[StrictBool | None, Hint("Stream", "Delivery", "switch", "Piece by piece.")] = None
    user: Annotated[StrictStr | None, Hint("User", "Delivery", "text", "Who.")] = None
    bias: Annotated[
        dict[str, Any] | None, Hint("Bias", "Delivery", "json", "Words.", path="logit.bias", start={"50256": -100})
    ] = None
