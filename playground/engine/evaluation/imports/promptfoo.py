"""A promptfoo configuration as cases, checks, variants and a conversation; what we do not have is said in words.

Of it are read: ``prompts``, ``providers``, ``tests``, ``defaultTest``. Nothing it refers to is fetched or run.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from playground.domain.checks.check import Check
from playground.domain.reasons import reason_of, shortened
from playground.domain.transcript import Turn
from playground.engine.evaluation.imports.asserts import read_asserts
from playground.engine.evaluation.imports.table import Bad, CasesError, text_of, variable_name
from playground.engine.io.yaml_text import YamlError, YamlText, read_yaml
from playground.engine.session.plan import MOST_CASES, Case
from playground.engine.session.variants import Variant
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT

_TAKEN: Final = frozenset({"description", "prompts", "providers", "targets", "tests", "defaultTest", "$schema"})
_OF_TEST: Final = frozenset({"vars", "assert", "description"})
_OF_CONFIG: Final = frozenset(
    {"temperature", "max_tokens", "top_p", "frequency_penalty", "presence_penalty", "stop", "seed"}
)
#: What a provider may be that is no model of a gateway.
_ELSEWHERE: Final = ("file", "exec", "python", "http", "https")


@dataclass(frozen=True, slots=True)
class Configuration:
    """What came of one. ``turns`` is the conversation in which the variables of the cases stand."""

    turns: tuple[Turn, ...] = ()
    cases: tuple[Case, ...] = ()
    checks: tuple[Check, ...] = ()
    variants: tuple[Variant, ...] = ()
    bad: tuple[Bad, ...] = ()
    notes: tuple[str, ...] = ()


def is_configuration(value: JSON) -> bool:
    """Whether a document is one, rather than a list of cases."""
    return isinstance(value, dict) and ("prompts" in value or "providers" in value) and "tests" in value


def read_configuration(text: str) -> Configuration:
    """What a configuration in YAML or JSON asks for. Raises CasesError."""
    try:
        found = read_yaml(text)
    except YamlError as error:
        raise CasesError(f"The file is not YAML that can be read: {error}.") from None
    if not is_configuration(found.value):
        raise CasesError("This is no promptfoo configuration: it needs “prompts” or “providers”, and “tests”.")
    return _Reader(found).read()


class _Reader:
    def __init__(self, found: YamlText) -> None:
        self._found = found
        self._value: JSONObject = found.value
        self._notes: dict[str, None] = {}
        self._bad: list[Bad] = []

    def read(self) -> Configuration:
        self._note_unknown(self._value, _TAKEN, "")
        prompts = list(self._prompts())
        default = self._value.get("defaultTest")
        default = default if isinstance(default, dict) else {}
        self._note_unknown(default, _OF_TEST, "defaultTest: ")
        checks = self._checks(default.get("assert"))
        cases = list(self._cases(default))
        if len(prompts) > 1:
            cases = [
                case.model_copy(update={"id": f"{case.id}-{number}", "turns": turns, "name": _numbered(case, number)})
                for case in cases
                for number, turns in enumerate(prompts, 1)
            ]
            self._note(f"There are {len(prompts)} prompts: each test is a case with each of them.")
        if len(cases) > MOST_CASES:
            raise CasesError(f"The file makes {len(cases):,} cases; an evaluation has {MOST_CASES:,} at most.")
        return Configuration(
            turns=prompts[0] if len(prompts) == 1 else (),
            cases=tuple(cases),
            checks=checks,
            variants=tuple(self._variants()),
            bad=tuple(sorted(self._bad, key=lambda one: one.line)),
            notes=tuple(self._notes),
        )

    def _note(self, words: str) -> None:
        self._notes[words] = None

    def _note_unknown(self, value: JSONObject, known: frozenset[str], where: str) -> None:
        for name in value:
            if name not in known:
                self._note(f"{where}“{name}” was left out: there is nothing like it here.")

    def _checks(self, found: JSON) -> tuple[Check, ...]:
        if found is None:
            return ()
        checks, left = read_asserts(found if isinstance(found, list) else [found])
        for words in left:
            self._note(words)
        return checks

    # What is asked

    def _prompts(self) -> Iterator[tuple[Turn, ...]]:
        found = self._value.get("prompts") or []
        for one in found if isinstance(found, list) else [found]:
            content = one.get("raw", one.get("id")) if isinstance(one, dict) else one
            if not isinstance(content, str):
                self._note(f"A prompt was left out: {shortened(json.dumps(one))}")
            elif content.startswith(("file://", "exec:")):
                self._note(f"The prompt {shortened(content)} was left out: it stands in another file.")
            else:
                yield self._turns(content)

    def _turns(self, content: str) -> tuple[Turn, ...]:
        if "|" in content and "{{" in content and any("|" in piece.split("}}")[0] for piece in content.split("{{")[1:]):
            self._note("A prompt filters its variables ({{name | filter}}); that stays as it is written.")
        if content.lstrip()[:1] == "[":
            try:
                return Case.model_validate({"turns": parse_json(content)}).turns
            except ValueError:
                pass  # a text that begins with a bracket
        return Case.model_validate({"turns": [content]}).turns

    # Cases

    def _cases(self, default: JSONObject) -> Iterator[Case]:
        found = self._value.get("tests")
        if not isinstance(found, list):
            raise CasesError("“tests” must be a list: tests that stand in other files are not fetched.")
        common = default.get("vars")
        for place, one in enumerate(found):
            line = self._found.line(("tests", place))
            if not isinstance(one, dict):
                self._bad.append(Bad(line, f"a test must be an object, not {shortened(json.dumps(one))}"))
                continue
            self._note_unknown(one, _OF_TEST, "tests: ")
            own = one.get("vars") or {}
            if not isinstance(own, dict):
                self._bad.append(Bad(line, "“vars” must be an object"))
                continue
            values = {**(common if isinstance(common, dict) else {}), **own}
            if any(isinstance(value, str) and value.startswith("file://") for value in values.values()):
                self._bad.append(Bad(line, "a value stands in another file, which is not fetched"))
                continue
            checks = self._checks(one.get("assert"))
            names = [variable_name(name) for name in values]
            lists = [value if isinstance(value, list) and value else [value] for value in values.values()]
            for number, chosen in enumerate(itertools.islice(itertools.product(*lists), MOST_CASES + 1), 1):
                texts = [text_of(value) for value in chosen]
                try:
                    yield Case(
                        name=text_of(one.get("description")) + (f" {number}" if number > 1 else ""),
                        values=dict(zip(names, texts, strict=True)),
                        expected=dict(zip(names, texts, strict=True)).get("expected", ""),
                        checks=checks,
                    )
                except ValueError as error:
                    self._bad.append(Bad(line, reason_of(error)))

    # Whom it is asked of

    def _variants(self) -> Iterator[Variant]:
        found = self._value.get("providers", self._value.get("targets")) or []
        for one in found if isinstance(found, list) else [found]:
            made = self._variant(one)
            if made is not None:
                yield made

    def _variant(self, found: JSON) -> Variant | None:
        config: JSONObject = {}
        label = ""
        if isinstance(found, dict):
            config = found.get("config") or {}
            label, found = str(found.get("label") or ""), found.get("id")
        if not isinstance(found, str) or ":" not in found or found.split(":")[0] in _ELSEWHERE:
            self._note(f"The provider {shortened(json.dumps(found))} was left out: it is no model of a gateway.")
            return None
        *_, model = found.split(":")
        known = {name: value for name, value in config.items() if name in _OF_CONFIG}
        for name in config.keys() - _OF_CONFIG:
            self._note(f"The provider {found}: “{name}” was left out.")
        differences = {"model": model, **({"parameters": {DEFAULT: known}} if known else {})}
        return Variant.model_validate({"name": label or model, "differences": differences})


def _numbered(case: Case, number: int) -> str:
    return f"{case.name} · prompt {number}" if case.name else ""
