"""The pages of the window's centre, in the order of the switch in the tool bar. Read on the way to the first paint."""

from __future__ import annotations

from typing import Final

from playground.ui.features import compare, evaluate

CONVERSATION: Final = "Conversation"
PAGES: Final = (CONVERSATION, compare.TITLE, evaluate.TITLE)
