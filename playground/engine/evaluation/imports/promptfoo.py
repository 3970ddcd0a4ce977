"""A promptfoo configuration as cases, checks, variants and a conversation; what has no counterpart is named.

Of it are read: ``prompts``, ``providers``, ``tests``, ``scenarios``, ``defaultTest``, and the files below its folder
that these refer to. Nothing is fetched or run.
``https://www.promptfoo.dev/docs/configuration/reference`` describes it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

from playground.domain.checks.check import Check
from playground.domain.reasons import reason_of, shortened
from playground.domain.transcript import Turn
from playground.domain.variables import resolve
from playground.engine.evaluation.imports.asserts import read_asserts, waits_for_values
from playground.engine.evaluation.imports.csv_records import read_records
from playground.engine.evaluation.imports.prompts import (
    READABLE,
    Prompt,
    PromptError,
    chat_prompt,
    ends_as_file,
    is_chat,
    is_reference,
    prompts_in,
    read_prompt,
    read_provider,
    template_notes,
    yaml_template,
)
from playground.engine.evaluation.imports.references import DEEPEST, FILE, References, UnreadableFileError
from playground.engine.evaluation.imports.table import (
    LARGEST,
    REASONS,
    Cases,
    CasesError,
    Table,
    UnreadableRow,
    read_table,
    test_of,
    text_of,
    variable_name,
)
from playground.engine.io.files import decode_text
from playground.engine.io.yaml_text import YamlError, YamlText, read_yaml
from playground.engine.session.plan import EXPECTED, MOST_CASES, Case
from playground.engine.session.variants import Variant
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject
from playground.jsonkit.values import Path as Place
from playground.system.named_file import read_named

T = TypeVar("T")

_TAKEN: Final = frozenset(
    ("description", "prompts", "providers", "targets", "tests", "scenarios", "defaultTest", "$schema")
)
_OF_TEST: Final = frozenset(("vars", "assert", "description", "options"))
_OF_OPTIONS: Final = frozenset(("prefix", "suffix", "disableVarExpansion"))
_OF_SCENARIO: Final = frozenset(("description", "config", "tests"))
_TEST_FILES: Final = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Configuration(Cases):
    """The content of a configuration. ``turns`` is the conversation with the variables of the cases."""

    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class _Test:
    """A test, and the scenario's data and the defaults below it; ``where`` names its file unless it is the first."""

    line: int
    value: JSONObject
    below: tuple[JSONObject, ...] = ()
    where: str = ""

    def bad(self, words: str) -> UnreadableRow:
        return UnreadableRow(0, f"{self.where}: {words}") if self.where else UnreadableRow(self.line, words)

    def members(self, name: str) -> JSONObject:
        """Return the members of ``vars`` or ``options``, its own above those below it."""
        merged: JSONObject = {}
        for layer in (*self.below, self.value):
            if isinstance(inner := layer.get(name), dict):
                merged |= inner
        return merged


def is_promptfoo(value: JSON) -> bool:
    """Return whether a document is a configuration or the results of one, rather than a list of cases."""
    if not isinstance(value, dict):
        return False
    if "results" in value and is_promptfoo(value.get("config")):
        return True
    asks, answers = "prompts" in value, "providers" in value or "targets" in value
    return (asks and answers) or ((asks or answers) and ("tests" in value or "scenarios" in value))


def read_configuration(text: str, folder: Path | None = None) -> Configuration:
    """Read a configuration in YAML or JSON; files are read below ``folder``. Raises CasesError."""
    try:
        document = read_yaml(text)
    except YamlError as error:
        raise CasesError(f"The file is not YAML that can be read: {error}.") from None
    if not is_promptfoo(document.value):
        raise CasesError("This is no promptfoo configuration: it needs “prompts” or “providers”, and “tests”.")
    if "results" in document.value and is_promptfoo(document.value.get("config")):
        document = replace(document, value=document.value["config"])
    return _Reader(document, References(folder)).read()


@dataclass
class _Reader:
    document: YamlText
    references: References
    notes: dict[str, None] = field(default_factory=dict)
    bad: list[UnreadableRow] = field(default_factory=list)
    referred: dict[str, None] = field(default_factory=dict)  # members of the configuration that “$ref” leads to

    def read(self) -> Configuration:
        value = self.document.value
        prompts = list(self._prompts(value.get("prompts")))
        default = self._default(value.get("defaultTest"))
        asserts = self._assert_list(default.get("assert"))
        checks = self._checks([entry for entry in asserts if not waits_for_values(entry)])
        layer = {**default, "assert": [entry for entry in asserts if waits_for_values(entry)]}
        cases = list(itertools.islice(self._all_cases(layer, prompts), MOST_CASES + 1))
        if len(cases) > MOST_CASES:
            raise CasesError(f"The file makes more than {MOST_CASES:,} cases, which is the most of an evaluation.")
        if len(prompts) > 1:
            self._note(f"There are {len(prompts)} prompts: each test is a case with each of them.")
        variants = tuple(self._variants(value.get("providers", value.get("targets"))))
        self._note_unknown(value, _TAKEN | self.referred.keys(), "")
        if self.references.names:
            self._note(f"Files that were read, too: {', '.join(self.references.names)}.")
        return Configuration(
            turns=prompts[0].turns if len(prompts) == 1 else (),
            cases=tuple(cases),
            checks=checks,
            variants=variants,
            bad=tuple(sorted(self.bad, key=lambda bad: bad.line)),
            notes=tuple(self.notes),
        )

    def _note(self, words: str) -> None:
        self.notes[words] = None

    def _note_unknown(self, value: JSONObject, members: Set[str], where: str) -> None:
        for name in value:
            if name not in members:
                self._note(f"{where}“{name}” was left out: {REASONS.get(name, 'it has no counterpart')}.")

    def _note_template(self, value: JSON, what: str) -> None:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for words in template_notes(text, what):
            self._note(words)

    def _resolved(self, value: JSON) -> JSON:
        """Return the target of ``{"$ref": "#/…"}``, with its other members added; other values unchanged."""
        for _ in range(DEEPEST):
            if not isinstance(value, dict) or not isinstance(pointer := value.get("$ref"), str):
                return value
            target: JSON = self.document.value
            steps = pointer.removeprefix("#").strip("/").split("/")
            self.referred[steps[0]] = None
            for step in steps:
                name = step.replace("~1", "/").replace("~0", "~")
                target = target.get(name) if isinstance(target, dict) else None
            if target is None or not pointer.startswith("#/"):
                self._note(f"“$ref: {shortened(pointer)}” was left out: it leads nowhere in this file.")
                return None
            others = {name: inner for name, inner in value.items() if name != "$ref"}
            value = {**target, **others} if isinstance(target, dict) else target
        return None

    def _items(self, value: JSON) -> list[JSON]:
        items = value if isinstance(value, list) else [] if value is None else [value]
        return [self._resolved(item) for item in items]

    # Prompts

    def _prompts(self, source: JSON) -> Iterator[Prompt]:
        if isinstance(source, dict) and not {"raw", "id", "$ref"} & source.keys():
            source = [{"id": path, "label": label} for path, label in source.items()]  # an older form
        if is_chat(source):
            source = [source]
        for item in self._items(source):
            yield from self._prompts_of(item)

    def _prompts_of(self, item: JSON) -> Iterator[Prompt]:
        if isinstance(item, dict):
            self._note_unknown(item, frozenset(("raw", "id", "label", "display")), "prompts: ")
            content = item.get("raw", item.get("id"))
        else:
            content = item
        try:
            if is_chat(content):
                yield chat_prompt(content)
                self._note_template(content, "A prompt")
            elif not isinstance(content, str):
                raise PromptError("it is neither a text nor a chat")
            elif is_reference(content) or (ends_as_file(content) and self.references.exists(content)):
                yield from self._prompts_at(content.strip())
            else:
                yield read_prompt(content)
                self._note_template(content, "A prompt")
        except (PromptError, UnreadableFileError) as error:
            self._note(f"The prompt {_quoted(content)} was left out: {error}.")

    def _prompts_at(self, reference: str) -> Iterator[Prompt]:
        """Yield the prompts in the files of a reference. Raises PromptError, UnreadableFileError."""
        if reference.startswith("exec:"):
            raise PromptError("it is a program, which is not run")
        return self._read_each(self.references.files(reference), "prompt", self._prompts_in)

    def _read_each(self, files: list[Path], what: str, read: Callable[[Path, str], Iterator[T]]) -> Iterator[T]:
        """Yield the results of ``read`` for each file and its name; note the files that cannot be read."""
        for path in files:
            name = self.references.name(path)
            try:
                with self.references.opened(path):
                    yield from read(path, name)
            except (PromptError, UnreadableFileError) as error:
                self._note(f"The {what} {name} was left out: {error}.")

    def _prompts_in(self, path: Path, name: str) -> Iterator[Prompt]:
        """Yield the prompts of a file. Raises PromptError, UnreadableFileError."""
        suffix = path.suffix.lower()
        if suffix not in READABLE:
            raise PromptError("files of its kind are not read")
        text = self.references.text(path)
        listed = yaml_template(text) if suffix in (".yaml", ".yml") else None
        if isinstance(listed, list) and not is_chat(listed):
            for item in listed:
                yield from self._prompts_of(self._resolved(item))
            return
        for piece in [listed] if isinstance(listed, str) else prompts_in(text, suffix):
            try:
                yield read_prompt(piece)
                self._note_template(piece, f"The prompt {name}")
            except PromptError as error:
                self._note(f"The prompt {name} was left out: {error}.")

    # Tests

    def _default(self, source: JSON) -> JSONObject:
        """Return the defaults of all tests, which may be in a file."""
        source = self._resolved(source)
        if isinstance(source, str):
            try:
                source = self.references.load(source)
            except UnreadableFileError as error:
                self._note(f"“defaultTest: {shortened(source)}” was left out: {error}.")
                return {}
        if source is not None and not isinstance(source, dict):
            self._note("“defaultTest” was left out: it is no object.")
        return source if isinstance(source, dict) else {}

    def _all_cases(self, default: JSONObject, prompts: list[Prompt]) -> Iterator[Case]:
        self._note_unknown(default, _OF_TEST, "defaultTest: ")
        value = self.document.value
        if value.get("tests") is None and value.get("scenarios") is None:
            tests = iter([_Test(0, {}, (default,))])  # without tests each prompt is asked once
        else:
            scenarios = (test for item in self._items(value.get("scenarios")) for test in self._scenario(item, default))
            tests = itertools.chain(self._tests(value.get("tests"), ("tests",), (default,)), scenarios)
        for test in tests:
            for case in self._cases(test):
                yield from self._with_prompts(test, case, prompts)

    def _with_prompts(self, test: _Test, case: Case, prompts: list[Prompt]) -> Iterator[Case]:
        options = test.members("options")
        prefix, suffix = (text_of(options.get(name)) for name in ("prefix", "suffix"))
        if (prefix or suffix) and any(prompt.text is None for prompt in prompts):
            self._note("“prefix” and “suffix” were left out where a prompt is a chat.")
        if (prefix or suffix) and not prompts:
            self._note("“prefix” and “suffix” were left out: there is no prompt.")
        sent = [prompt.between(prefix, suffix) for prompt in prompts] if prefix or suffix else prompts
        if len(sent) < 2:
            yield case.model_copy(update={"turns": sent[0].turns}) if sent != prompts else case
            return
        for number, prompt in enumerate(sent, 1):
            name = f"{case.name} · prompt {number}" if case.name else ""
            yield case.model_copy(update={"id": f"{case.id}-{number}", "turns": prompt.turns, "name": name})

    def _tests(self, source: JSON, place: Place, below: tuple[JSONObject, ...]) -> Iterator[_Test]:
        for number, item in enumerate(self._items(source)):
            position = (*place, number) if isinstance(source, list) else place
            line = self.document.line(position) if place else 0
            path = item.get("path") if isinstance(item, dict) else item
            if isinstance(path, str):
                yield from self._tests_at(path, below)
            elif isinstance(item, dict):
                yield _Test(line, item, below)
            else:
                self.bad.append(UnreadableRow(line, f"a test must be an object, not {shortened(json.dumps(item))}"))

    def _tests_at(self, reference: str, below: tuple[JSONObject, ...]) -> Iterator[_Test]:
        try:
            files = self.references.files(reference)
        except UnreadableFileError as error:
            self._note(f"The file of tests {shortened(reference)} was left out: {error}.")
            return
        yield from self._read_each(files, "file of tests", lambda path, name: self._tests_in(path, name, below))

    def _tests_in(self, path: Path, name: str, below: tuple[JSONObject, ...]) -> Iterator[_Test]:
        suffix = path.suffix.lower()
        if suffix not in _TEST_FILES:
            raise UnreadableFileError("files of its kind are not read")
        if suffix in (".csv", ".tsv"):
            rows = self._rows(path, name)
        else:
            value = self.references.value(path)
            rows = enumerate(value if isinstance(value, list) else [value], 1)
        unit = "line" if suffix in (".csv", ".tsv") else "test"
        for number, written in rows:
            row = self._resolved(written)
            where = f"{name}, {unit} {number}"
            if isinstance(row, str) and row.startswith(FILE):
                yield from self._tests_at(row, below)
            elif not isinstance(row, dict):
                self.bad.append(
                    UnreadableRow(0, f"{where}: a test must be an object, not {shortened(json.dumps(row))}")
                )
            elif suffix in (".csv", ".tsv") or not {"vars", "assert", "options", "provider"} & row.keys():
                try:
                    yield _Test(0, test_of(row), below, where)
                except ValueError as error:
                    self.bad.append(UnreadableRow(0, f"{where}: {error}"))
            else:
                yield _Test(0, row, below, where)

    def _rows(self, path: Path, name: str) -> Iterator[tuple[int, JSON]]:
        """Yield the rows of a table. Raises UnreadableFileError."""
        records = read_records(self.references.text(path), "\t" if path.suffix.lower() == ".tsv" else "")
        header = [cell.strip() for cell in records[0].cells] if records else []
        if records and records[0].problem:
            raise UnreadableFileError(records[0].problem)
        if doubled := next((name for name in header if name and header.count(name) > 1), ""):
            raise UnreadableFileError(f"two columns are called “{doubled}”")
        for record in records[1:]:
            if record.problem:
                self.bad.append(UnreadableRow(0, f"{name}, line {record.line}: {record.problem}"))
            elif any(cell.strip() for cell in record.cells[len(header) :]):
                words = f"{len(record.cells)} cells, and there are {len(header)} columns"
                self.bad.append(UnreadableRow(0, f"{name}, line {record.line}: {words}"))
            else:
                cells = itertools.chain(record.cells, itertools.repeat(""))
                yield record.line, {column: cell for column, cell in zip(header, cells, strict=False) if column}

    def _scenario(self, source: JSON, default: JSONObject) -> Iterator[_Test]:
        """Yield each test of a scenario with each of its data."""
        for item in self._loaded(source, "scenario"):
            if not isinstance(item, dict):
                self._note(f"A scenario was left out: {shortened(json.dumps(item))}")
                continue
            self._note_unknown(item, _OF_SCENARIO, "scenarios: ")
            data = [
                entry for raw in self._items(item.get("config")) for entry in self._loaded(raw, "data of a scenario")
            ]
            for layer in data or [{}]:
                if isinstance(layer, dict):
                    yield from self._tests(item.get("tests") or [{}], (), (default, layer))
                else:
                    self._note(f"The data of a scenario was left out: {shortened(json.dumps(layer))}")

    def _loaded(self, source: JSON, what: str) -> list[JSON]:
        """Return a value, or those in the files that a text refers to."""
        if not isinstance(source, str):
            return [source]
        try:
            values = [self.references.value(path) for path in self.references.files(source)]
        except UnreadableFileError as error:
            self._note(f"The {what} {shortened(source)} was left out: {error}.")
            return []
        return [item for value in values for item in (value if isinstance(value, list) else [value])]

    # Cases

    def _cases(self, test: _Test) -> Iterator[Case]:
        for layer in (*test.below[1:], test.value):
            self._note_unknown(layer, _OF_TEST, "tests: ")
        for layer in (*test.below, test.value):
            if isinstance(options := layer.get("options"), dict):
                self._note_unknown(options, _OF_OPTIONS, "tests: “options”: ")
        try:
            values = self._values(test)
        except UnreadableFileError as error:
            self.bad.append(test.bad(str(error)))
            return
        names = [variable_name(name) for name in values]
        expand = not test.members("options").get("disableVarExpansion")
        lists = [value if isinstance(value, list) and value and expand else [value] for value in values.values()]
        asserts = [entry for layer in (*test.below, test.value) for entry in self._assert_list(layer.get("assert"))]
        checks = self._checks([entry for entry in asserts if not waits_for_values(entry)])
        waiting = [entry for entry in asserts if waits_for_values(entry)]
        description = next(
            (layer["description"] for layer in (test.value, *test.below[::-1]) if "description" in layer), ""
        )
        for number, choice in enumerate(itertools.islice(itertools.product(*lists), MOST_CASES + 1), 1):
            filled = self._filled(dict(zip(names, map(text_of, choice), strict=True)))
            try:
                yield Case(
                    name=text_of(description) + (f" {number}" if number > 1 else ""),
                    values=filled,
                    expected=filled.get(EXPECTED, ""),
                    checks=(*checks, *self._checks(waiting, filled)),
                )
            except ValueError as error:
                self.bad.append(test.bad(reason_of(error)))

    def _filled(self, values: dict[str, str]) -> dict[str, str]:
        """Return the values with those that they mention put in, as promptfoo does."""
        for value in values.values():
            self._note_template(value, "A value")
        return {name: resolve(value, {**values, name: value}) for name, value in values.items()}

    def _values(self, test: _Test) -> JSONObject:
        """Return the variables of a test, lists where it makes several cases. Raises UnreadableFileError."""
        values: JSONObject = {}
        for layer in (*test.below, test.value):
            own = self._resolved(layer.get("vars"))
            if isinstance(own, str) or (isinstance(own, list) and all(isinstance(entry, str) for entry in own)):
                for path in (path for entry in self._items(own) for path in self._files_of("vars", entry)):
                    inner = self.references.value(path)
                    values |= inner if isinstance(inner, dict) else {}
            elif isinstance(own, dict):
                values |= own
            elif own is not None:
                raise UnreadableFileError("“vars” must be an object")
        return {name: self._value(name, value) for name, value in values.items()}

    def _value(self, name: str, value: JSON) -> JSON:
        if isinstance(value, list):
            return [self._value(name, entry) for entry in value]
        if not isinstance(value, str) or not value.startswith(FILE):
            return value
        loaded = [self._content(name, path) for path in self._files_of(name, value)]
        return loaded if len(loaded) > 1 else loaded[0]

    def _files_of(self, name: str, reference: str) -> list[Path]:
        try:
            return self.references.files(reference)
        except UnreadableFileError as error:
            raise UnreadableFileError(f"the value “{name}” ({shortened(reference)}) cannot be read: {error}") from None

    def _content(self, name: str, path: Path) -> str:
        try:
            if path.suffix.lower() in (".yaml", ".yml"):
                return text_of(self.references.value(path))
            return self.references.text(path)
        except UnreadableFileError as error:
            raise UnreadableFileError(f"the value “{name}” ({path.name}) cannot be read: {error}") from None

    def _assert_list(self, source: JSON) -> list[JSON]:
        return [
            {**entry, "assert": self._items(entry.get("assert"))}
            if isinstance(entry, dict) and "assert" in entry
            else entry
            for entry in self._items(self._resolved(source))
        ]

    def _checks(self, asserts: list[JSON], values: dict[str, str] | None = None) -> tuple[Check, ...]:
        for entry in asserts:
            if isinstance(entry, dict) and str(entry.get("type")).removeprefix("not-") not in ("javascript", "python"):
                self._note_template(entry.get("value"), "An assertion")
        checks, left_out = read_asserts(asserts, values, self.references.load)
        for words in left_out:
            self._note(words)
        return checks

    # Providers

    def _variants(self, source: JSON) -> Iterator[Variant]:
        if isinstance(source, dict) and "id" not in source and "$ref" not in source:
            source = [{name: options} for name, options in source.items()]
        for item in self._items(source):
            for provider in self._providers(item):
                variant, left_out = read_provider(provider)
                for words in left_out:
                    self._note(words)
                if variant is not None:
                    yield variant

    def _providers(self, item: JSON) -> list[JSON]:
        """Return a provider, or those in a file."""
        if isinstance(item, str) and item.startswith(FILE) and item.lower().endswith((".yaml", ".yml", ".json")):
            return self._loaded(item, "provider")
        return [item]


def _quoted(content: JSON) -> str:
    return shortened(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))


# ---- files -----------------------------------------------------------------------------------------------------------


_MAY_BE: Final = (".yaml", ".yml", ".json")
_MEMBERS: Final = ("prompts", "providers", "targets")  # of which a configuration has one


def imported_cases(source: Cases) -> Cases:
    """Return the cases of a file; those without turns get the turns of the configuration."""
    if not isinstance(source, Configuration) or not source.turns:
        return source
    turns = {"turns": source.turns}
    return replace(source, cases=tuple(case if case.turns else case.model_copy(update=turns) for case in source.cases))


def read_file(path: Path) -> Table | Configuration:
    """Read a file of cases and, for a configuration, the files it refers to; it may take seconds. Raises CasesError."""
    try:
        data = read_named(path, LARGEST)
    except OSError as error:
        raise CasesError(f"The file cannot be read: {error.strerror or error}.") from None
    return read_data(data, path.suffix.lower(), path.parent)


def read_text(text: str) -> Table | Configuration:
    """Read a pasted text of any kind, without the files that it refers to. Raises CasesError."""
    return read_data(text.encode("utf-8", "surrogatepass"), suffix_of(text))


def suffix_of(text: str) -> str:
    """Return how the name of a file with this text would end."""
    text = text.strip()
    if text[:1] in ("{", "["):
        try:
            parse_json(text)
        except ValueError:
            return ".jsonl"
        return ".json"
    return ".csv" if is_table(text) else ".yaml"


def is_table(text: str) -> bool:
    """Return whether the first two lines have the same number of cells, and more than one."""
    first, _, rest = text.partition("\n")
    second = rest.partition("\n")[0]
    return any(first.count(mark) and first.count(mark) == second.count(mark) for mark in ",;\t")


def read_data(data: bytes, suffix: str, folder: Path | None = None) -> Table | Configuration:
    """Read the content of a file whose name ends in ``suffix``; the files that it refers to are below ``folder``.

    Without a folder they are named as left out. Raises CasesError.
    """
    text = _configuration_text(data) if suffix in _MAY_BE else ""
    return read_configuration(text, folder) if text else read_table(data, suffix)


def _configuration_text(data: bytes) -> str:
    """Return the text of a configuration; empty for any other file, which says itself why it cannot be read."""
    try:
        text = decode_text(data)
        if not any(member in text for member in _MEMBERS):
            return ""
        return text if is_promptfoo(read_yaml(text).value) else ""
    except ValueError:
        return ""
