"""A rule for what a gateway does not take as it stands in the form, right or not yet; no widgets in here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from playground.domain.adaptations import Adaptation, AdaptationKind, today
from playground.engine.gateways.secrets import secret_in
from playground.engine.requests.protocol_info import MESSAGES
from playground.jsonkit.reading import read_typed
from playground.jsonkit.values import JSON

_BEGUN: Final = ("{", "[", '"')


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule as typed. ``to`` is a name, or a value as JSON; ``why`` and ``learnt`` are not typed."""

    kind: AdaptationKind
    field: str
    to: str
    protocol: str
    model: str = ""
    why: str = ""
    learnt: str = ""
    on: bool = True

    @classmethod
    def of(cls, rule: Adaptation) -> RuleRow:
        """The row that says just that."""
        value = rule.kind is AdaptationKind.REPLACE
        to = json.dumps(rule.to, ensure_ascii=False) if value else "" if rule.to is None else str(rule.to)
        return cls(rule.kind, rule.field, to, rule.protocol, rule.model, rule.why, rule.learnt, rule.on)

    @classmethod
    def blank(cls, protocol: str) -> RuleRow:
        """The row for one more."""
        return cls(AdaptationKind.OMIT, "", "", protocol, learnt=today())

    @property
    def problem(self) -> str:
        """Why it cannot be kept, in words; empty when it can."""
        field = self.field.strip()
        if not field:
            return "A rule names no field. Enter one, or remove the rule."
        if field in ("model", MESSAGES) and self.kind is not AdaptationKind.ROLE:
            return f"A request always has “{field}”: no rule can change it."
        if self.kind is not AdaptationKind.OMIT and not self.to.strip():
            return f"The rule for “{field}” does not say what is sent instead."
        if self.kind is AdaptationKind.REPLACE:
            try:
                value = self.value
            except ValueError:
                return f"What is sent instead of “{field}” is not JSON. Correct it, or empty it."
            if name := secret_in({field: value}):
                return f"“{name}” in a rule looks like a key, and rules are kept in a file. Take it out."
        return ""

    @property
    def value(self) -> JSON:
        """What is sent instead. Raises ValueError for JSON that was only begun."""
        if self.kind is AdaptationKind.OMIT:
            return None
        text = self.to.strip()
        if self.kind is not AdaptationKind.REPLACE:
            return text
        try:
            return read_typed(text)
        except ValueError:
            if text.startswith(_BEGUN):
                raise
            return text

    @property
    def rule(self) -> Adaptation:
        """The rule, of one that has no problem."""
        return Adaptation(
            kind=self.kind,
            field=self.field.strip(),
            to=self.value,
            protocol=self.protocol,
            model=self.model.strip(),
            why=self.why,
            learnt=self.learnt,
            on=self.on,
        )


def rule_rows(rules: Iterable[Adaptation]) -> tuple[RuleRow, ...]:
    """Rules as rows."""
    return tuple(map(RuleRow.of, rules))


def rules_of(rows: Iterable[RuleRow]) -> tuple[Adaptation, ...]:
    """Rows without problems as rules; of two about one field of one model the later counts."""
    found: dict[tuple[str, str, str, bool], Adaptation] = {}
    for rule in (row.rule for row in rows):  # thousands may be kept: none is compared with all before it
        found.pop(rule.place, None)
        found[rule.place] = rule
    return tuple(found.values())
