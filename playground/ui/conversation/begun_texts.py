"""Long texts that are drawn a little at a time, so that no frame waits for all of one."""

from __future__ import annotations

from playground.ui.conversation.text_view import TextView

BEGUN = 700  # characters that are drawn at once


class BegunTexts:
    """Texts that are in their views in part only."""

    def __init__(self) -> None:
        self._rest: list[tuple[TextView, str]] = []  # the view, and all it is to show

    def __len__(self) -> int:
        return len(self._rest)

    def begin(self, view: TextView, text: str) -> None:
        """Draw the beginning of ``text``, or all of it if it is short."""
        view.set_text(text[:BEGUN])
        if len(text) > BEGUN:
            self._rest.append((view, text))

    def go_on(self) -> bool:
        """Draw some more. Returns whether a text is whole now."""
        view, text = self._rest[0]
        view.set_text(text[: len(view.source) + BEGUN])
        if len(view.source) < len(text):
            return False
        del self._rest[0]
        return True

    def forget(self) -> None:
        """What is to be shown is something else."""
        self._rest.clear()
