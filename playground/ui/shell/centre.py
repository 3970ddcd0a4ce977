"""The pages of the window's centre, in the order of the switch in the tool bar. Read on the way to the first paint."""

from __future__ import annotations

from typing import Final

from playground.ui.features import compare, evaluate, listen

CONVERSATION: Final = "Conversation"
PAGES: Final = (CONVERSATION, compare.TITLE, evaluate.TITLE, listen.TITLE)
PAGE_ICONS: Final = ("conversation", "compare", "evaluate", "listen")
PAGE_TIPS: Final = (
    "One conversation, message by message",
    "The same question to several models or settings (Ctrl+Shift+K)",
    "Many questions with checks on the answers (Ctrl+Shift+A)",
    "What another program sends, and what it gets (Ctrl+Shift+H)",
)
