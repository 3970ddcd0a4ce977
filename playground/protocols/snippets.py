"""What code that shows an answer has to know of a protocol: the lines for each language that has no library for it."""

from __future__ import annotations

from typing import Protocol as Interface


class AnswerCode(Interface):
    """Lines of code, not indented. ``choices`` is how many answers there are, ``tools`` whether one may be a call.

    Those for a stream show one ``event``, parsed, as it comes; the others show the answer in ``response``.
    """

    def python_stream(self, choices: int, *, tools: bool) -> list[str]:
        """With ``print``."""
        ...

    def python_whole(self, *, tools: bool) -> list[str]:
        """With ``print``."""
        ...

    def javascript_stream(self, choices: int, *, tools: bool) -> list[str]:
        """With ``process.stdout``."""
        ...

    def javascript_whole(self, *, tools: bool) -> list[str]:
        """With ``console``."""
        ...
