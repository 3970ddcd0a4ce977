"""How gateways deviate from the protocol in their streams, as data; ``!like`` chooses one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True)
class Habits:
    """The deviations of one gateway; the defaults are the protocol itself.

    ``changing_ids`` tells when the ids of items change: in the last event of an item, or in every event. With
    ``late_items`` every ``output_item.done`` is sent at the very end. ``short_created`` leaves all but id, object and
    status out of the first event. ``argument_size`` is the length of the pieces of arguments in characters; 0 for
    tokens.
    """

    event_lines: Literal["first", "last", "none"] = "first"
    has_indexes: bool = True
    has_done_mark: bool = False
    has_argument_deltas: bool = True
    argument_size: int = 0
    comments: bool = False
    changing_ids: Literal["never", "at_end", "always"] = "never"
    late_items: bool = False
    short_created: bool = False
    reasoning: Literal["summary", "text", "plain_summary"] = "summary"
    call_prefix: str = ""
    bare_error: bool = False


HABITS: Final[Mapping[str, Habits]] = {
    "": Habits(),
    "bedrock": Habits(event_lines="last"),
    "copilot": Habits(changing_ids="always"),
    "deepseek": Habits(reasoning="text"),
    "litellm": Habits(event_lines="none", argument_size=10, bare_error=True),
    "llama.cpp": Habits(has_indexes=False, late_items=True, short_created=True, reasoning="text", call_prefix="fc_"),
    "lmstudio": Habits(has_argument_deltas=False, reasoning="text"),
    "ollama": Habits(reasoning="plain_summary"),
    "openrouter": Habits(event_lines="none", has_done_mark=True, comments=True, changing_ids="at_end"),
}
