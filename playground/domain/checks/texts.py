"""Checks of what an answer says."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from playground.domain.checks.check import SHOWN, Check, Facts, Verdict, judged, not_judged, quoted, row
from playground.domain.values import LongText
from playground.jsonkit import limits
from playground.jsonkit.patterns import PatternError, found_in
from playground.jsonkit.texts import cut

_CELLS: Final = 4_000_000  # letters of one text times those of another whose likeness is found in 3 ms


class _OfText(Check):
    text: Annotated[LongText, row("Text", "lines", "What is looked for; {{name}} stands for a value of the case.")] = ""
    ignore_case: Annotated[bool, row("Ignore case", "switch", "Capital and small letters are the same.")] = False

    @property
    def words(self) -> str:
        return quoted(self.text)

    @property
    def lack(self) -> str:
        return "" if self.text else "There is no text to look for."

    def _sides(self, facts: Facts) -> tuple[str, str]:
        text, wanted = facts.text, self.text
        return (text.casefold(), wanted.casefold()) if self.ignore_case else (text, wanted)


class Contains(_OfText):
    """The answer has a text in it."""

    TITLE = "Contains"
    HELP = "Passes when the text stands anywhere in the answer."
    kind: Literal["contains"] = "contains"

    def _look(self, facts: Facts) -> Verdict:
        text, wanted = self._sides(facts)
        found = wanted in text
        return judged(found, f"{quoted(self.text)} is {'' if found else 'not '}in the answer")


class StartsWith(_OfText):
    """The answer begins with a text."""

    TITLE = "Starts with"
    HELP = "Passes when the answer begins with the text; spaces and line breaks before it do not count."
    kind: Literal["starts_with"] = "starts_with"

    def _look(self, facts: Facts) -> Verdict:
        text, wanted = self._sides(facts)
        found = text.lstrip().startswith(wanted.lstrip())
        return judged(found, f"it begins with {quoted(facts.text.lstrip()[:SHOWN])}")


class Equals(_OfText):
    """The answer is a text, and nothing else."""

    TITLE = "Equals"
    HELP = "Passes when the answer is this text; spaces and line breaks around it do not count."
    kind: Literal["equals"] = "equals"

    @property
    def lack(self) -> str:
        return ""  # an answer may well have to be empty

    def _look(self, facts: Facts) -> Verdict:
        text, wanted = self._sides(facts)
        found = text.strip() == wanted.strip()
        return judged(found, f"it is {'' if found else 'not '}{quoted(self.text)}")


class Matches(Check):
    """A regular expression finds something in the answer."""

    TITLE = "Regex"
    HELP = (
        "Passes when the regular expression finds something in the answer. It is written as in JSON Schema "
        "(ECMA 262); (?i) at its beginning ignores case, (?s) lets a dot stand for a line break, too."
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
            found = found_in(self.pattern, facts.text)
        except PatternError:
            return not_judged(f"{quoted(self.pattern)} is no regular expression.")
        return judged(found, f"{cut(self.pattern, SHOWN)} finds {'something' if found else 'nothing'}")


class Similar(_OfText):
    """The answer is nearly a text."""

    TITLE = "Similar"
    HELP = (
        "Passes when the answer is like the text: 1 is the same, 0 has no letter in its place. It counts the letters "
        "to be put in, taken out or changed (edit distance) against the longer of both."
    )
    kind: Literal["similar"] = "similar"
    least: Annotated[
        float, Field(ge=0, le=1), row("At least", "number", "How like it has to be.", low=0, high=1, step=0.05)
    ] = 0.8

    @property
    def words(self) -> str:
        return f"{quoted(self.text)}, at least {self.least:g}"

    def _look(self, facts: Facts) -> Verdict:
        text, wanted = (side.strip() for side in self._sides(facts))
        longest = max(len(text), len(wanted))
        likeness = 1.0 - edit_distance(text, wanted) / longest if longest else 1.0
        return Verdict(likeness >= self.least, likeness, f"{likeness:.2f} like {quoted(self.text)}")


def edit_distance(one: str, other: str) -> int:
    """How many letters have to be put in, taken out or changed to make one text of the other (Levenshtein).

    All columns of a row are worked out at once in the bits of one number: G. Myers, "A fast bit-vector algorithm for
    approximate string matching", J. ACM 46 (1999), in the form of H. Hyyrö (2003). Raises TooCostlyError.
    """
    if len(one) < len(other):
        one, other = other, one
    if not other:
        return len(one)
    if len(one) * len(other) > _CELLS:
        limits.refuse(f"{len(one):,} letters against {len(other):,}")
    where: dict[str, int] = {}
    for place, letter in enumerate(one):
        where[letter] = where.get(letter, 0) | 1 << place
    mask, top = (1 << len(one)) - 1, 1 << (len(one) - 1)
    more, less, distance = mask, 0, len(one)
    for letter in other:
        match = where.get(letter, 0)
        same_ = (((match & more) + more) ^ more) | match | less
        up, down = less | ~(same_ | more), more & same_
        distance += bool(up & top) - bool(down & top)
        up, down = (up << 1 | 1) & mask, (down << 1) & mask
        more, less = (down | ~(same_ | up)) & mask, up & same_
    return distance
