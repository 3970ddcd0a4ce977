"""Checks of the text of an answer."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from playground.domain.checks.check import SHOWN, Check, Facts, Verdict, judged, not_judged, quoted, row
from playground.domain.values import LongText
from playground.jsonkit import limits
from playground.jsonkit.patterns import PatternError, found_in
from playground.jsonkit.texts import cut

_CELLS: Final = 4_000_000  # product of two lengths for which the edit distance takes a few milliseconds


class _OfText(Check):
    text: Annotated[
        LongText, row("Text", "lines", "The text to look for; {{name}} is replaced by a value of the case.")
    ] = ""
    ignore_case: Annotated[bool, row("Ignore case", "switch", "Capital and small letters are the same.")] = False

    @property
    def words(self) -> str:
        return quoted(self.text)

    @property
    def lack(self) -> str:
        return "" if self.text else "There is no text to look for."

    def _sides(self, facts: Facts) -> tuple[str, str]:
        text, expected = facts.text, self.text
        return (text.casefold(), expected.casefold()) if self.ignore_case else (text, expected)


class Contains(_OfText):
    """The answer contains a text."""

    TITLE = "Contains"
    HELP = "Passes when the text is anywhere in the answer."
    kind: Literal["contains"] = "contains"

    def _look(self, facts: Facts) -> Verdict:
        text, expected = self._sides(facts)
        passed = expected in text
        return judged(passed, f"{quoted(self.text)} is {'' if passed else 'not '}in the answer")


class StartsWith(_OfText):
    """The answer begins with a text."""

    TITLE = "Starts with"
    HELP = "Passes when the answer begins with the text; spaces and line breaks before it do not count."
    kind: Literal["starts_with"] = "starts_with"

    def _look(self, facts: Facts) -> Verdict:
        text, expected = self._sides(facts)
        passed = text.lstrip().startswith(expected.lstrip())
        return judged(passed, f"it begins with {quoted(facts.text.lstrip()[:SHOWN])}")


class Equals(_OfText):
    """The answer equals a text."""

    TITLE = "Equals"
    HELP = "Passes when the answer is this text; spaces and line breaks around it do not count."
    kind: Literal["equals"] = "equals"

    @property
    def lack(self) -> str:
        return ""  # an empty answer may be expected

    def _look(self, facts: Facts) -> Verdict:
        text, expected = self._sides(facts)
        passed = text.strip() == expected.strip()
        return judged(passed, f"it is {'' if passed else 'not '}{quoted(self.text)}")


class Matches(Check):
    """The answer matches a regular expression."""

    TITLE = "Regex"
    HELP = (
        "Passes when the regular expression finds something in the answer. It is written as in JSON Schema "
        "(ECMA 262); (?i) at its beginning ignores case, (?s) lets a dot match a line break, too."
    )
    kind: Literal["regex"] = "regex"
    pattern: Annotated[LongText, row("Pattern", "lines", "A regular expression.")] = ""

    @property
    def words(self) -> str:
        return cut(self.pattern, SHOWN)

    @property
    def lack(self) -> str:
        return "" if self.pattern else "There is no pattern."

    @property
    def problem(self) -> str:
        try:
            found_in(self.pattern, "")
        except PatternError:
            return f"{quoted(self.pattern)} is no regular expression." if not self.names else ""
        return self.lack

    def _look(self, facts: Facts) -> Verdict:
        try:
            passed = found_in(self.pattern, facts.text)
        except PatternError:
            return not_judged(f"{quoted(self.pattern)} is no regular expression.")
        return judged(passed, f"{cut(self.pattern, SHOWN)} finds {'something' if passed else 'nothing'}")


class Similar(_OfText):
    """The answer is similar to a text."""

    TITLE = "Similar"
    HELP = (
        "Passes when the answer resembles the text: 1 is equal, 0 has no letter in common. It relates the "
        "inserted, deleted and changed letters (edit distance) to the longer of both."
    )
    kind: Literal["similar"] = "similar"
    least: Annotated[
        float, Field(ge=0, le=1), row("At least", "number", "The least similarity.", low=0, high=1, step=0.05)
    ] = 0.8

    @property
    def words(self) -> str:
        return f"{quoted(self.text)}, at least {self.least:g}"

    def _look(self, facts: Facts) -> Verdict:
        text, expected = (side.strip() for side in self._sides(facts))
        longest = max(len(text), len(expected))
        likeness = 1.0 - edit_distance(text, expected) / longest if longest else 1.0
        return Verdict(likeness >= self.least, likeness, f"{likeness:.2f} like {quoted(self.text)}")


def edit_distance(first: str, second: str) -> int:
    """Return the number of letters to insert, delete or replace to turn one text into the other (Levenshtein).

    All columns of a row are computed at once in the bits of an integer: G. Myers, "A fast bit-vector algorithm for
    approximate string matching", J. ACM 46 (1999), in the form of H. Hyyrö (2003). Raises TooCostlyError.
    """
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    if not short:
        return len(long)
    if len(long) * len(short) > _CELLS:
        limits.refuse(f"{len(long):,} letters against {len(short):,}")
    positions: dict[str, int] = {}
    for index, letter in enumerate(long):
        positions[letter] = positions.get(letter, 0) | 1 << index
    mask, top = (1 << len(long)) - 1, 1 << (len(long) - 1)
    more, less, distance = mask, 0, len(long)
    for letter in short:
        match = positions.get(letter, 0)
        same_ = (((match & more) + more) ^ more) | match | less
        up, down = less | ~(same_ | more), more & same_
        distance += bool(up & top) - bool(down & top)
        up, down = (up << 1 | 1) & mask, (down << 1) & mask
        more, less = (down | ~(same_ | up)) & mask, up & same_
    return distance
