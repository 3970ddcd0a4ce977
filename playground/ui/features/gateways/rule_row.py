"""An adaptation rule as typed in the form, valid or not; no widgets in here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from playground.domain.adaptations import Adaptation, AdaptationKind, today
from playground.engine.gateways.secrets import secret_in
from playground.engine.requests.protocol_info import message_lists
from playground.jsonkit.reading import read_typed
from playground.jsonkit.values import JSON

_BEGUN: Final = ("{", "[", '"')


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule as typed. ``to`` is a name, or a value as JSON; ``why`` and ``learnt`` are not editable."""

    kind: AdaptationKind
    field: str
    to: str
    protocol: str
    model: str = ""
    why: str = ""
    learnt: str = ""
    on: bool = True

    def __bool__(self) -> bool:
        return bool(self.field or self.to or self.model or self.why)

    @classmethod
    def from_rule(cls, rule: Adaptation) -> RuleRow:
        """Return the row for a rule."""
        value = rule.kind is AdaptationKind.REPLACE
        to = json.dumps(rule.to, ensure_ascii=False) if value else "" if rule.to is None else str(rule.to)
        return cls(rule.kind, rule.field, to, rule.protocol, rule.model, rule.why, rule.learnt, rule.on)

    @classmethod
    def blank(cls, protocol: str) -> RuleRow:
        """Return the row for a new rule."""
        return cls(AdaptationKind.OMIT, "", "", protocol, learnt=today())

    @property
    def problem(self) -> str:
        """The reason why the row cannot be saved; empty if it can."""
        field = self.field.strip()
        if not field:
            return "A rule names no field. Enter one, or remove the rule."
        if (field == "model" or field in message_lists()) and self.kind is not AdaptationKind.ROLE:
            return f"A request always has “{field}”: no rule can change it."
        if self.kind is not AdaptationKind.OMIT and not self.to.strip():
            return f"The rule for “{field}” has no replacement."
        if self.kind is AdaptationKind.REPLACE:
            try:
                value = self.value
            except ValueError:
                return f"The replacement of “{field}” is not JSON. Correct or clear it."
            if name := secret_in({field: value}):
                return f"“{name}” in a rule looks like a key, and rules are saved in a file. Remove it."
        return ""

    @property
    def value(self) -> JSON:
        """The value sent instead. Raises ValueError for incomplete JSON."""
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
        """The rule of a row without a problem."""
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
    """Return the rows for some rules."""
    return tuple(map(RuleRow.from_rule, rules))


def rules_of(rows: Iterable[RuleRow]) -> tuple[Adaptation, ...]:
    """Return the rules of rows without problems; a later rule replaces one for the same field and model."""
    rules: dict[tuple[str, str, str, bool], Adaptation] = {}
    for rule in (row.rule for row in rows):  # a dictionary stays fast with thousands of rules
        rules.pop(rule.place, None)
        rules[rule.place] = rule
    return tuple(rules.values())
