"""promptfoo configurations: what is imported, and notes on what is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.domain.checks import CHECKS
from playground.domain.checks.asked import Judge
from playground.domain.checks.calls import ToolCalled
from playground.domain.checks.check import Check
from playground.domain.checks.figures import Latency
from playground.domain.checks.json_answers import FitsSchema, IsJSON, PathEquals
from playground.domain.checks.texts import Contains, Equals, Matches
from playground.domain.roles import Role
from playground.engine.evaluation.imports.asserts import read_assert, write_assert
from playground.engine.evaluation.imports.promptfoo import Configuration, read_configuration, read_file
from playground.engine.evaluation.imports.table import CasesError
from playground.engine.session.settings import ExperimentSettings
from tests.support.each_case import each_case

REQUIRED = {"type": "object", "required": ["a"]}
ELSEWHERE = "it is in another file; open the configuration from its folder"
CONFIGURATION = """
description: Weather
prompts:
  - "What is the weather in {{city}}?"
providers:
  - openai:chat:gpt-4o
  - id: anthropic:messages:claude-sonnet
    label: Sonnet
    config: {temperature: 0.2, max_tokens: 100, apiKey: secret}
  - python:mine.py
defaultTest:
  vars: {unit: celsius}
  assert:
    - type: not-contains
      value: API key
    - type: javascript
      value: output.length < 5
tests:
  - description: South
    vars: {city: [Lisbon, Rome]}
    assert:
      - {type: icontains-all, value: [warm, sun], weight: 2}
      - {type: llm-rubric, value: is kind, threshold: 0.8}
  - vars: {city: Oslo}
    options: {transform: x}
  - 7
  - vars: {city: "file://cities.txt"}
env: {A: B}
"""


def test_configuration_becomes_cases_checks_and_variants() -> None:
    imported = read_configuration(CONFIGURATION)
    assert [turn.text for turn in imported.turns] == ["What is the weather in {{city}}?"]
    assert [(case.name, case.values) for case in imported.cases] == [
        ("South", {"unit": "celsius", "city": "Lisbon"}),
        ("South 2", {"unit": "celsius", "city": "Rome"}),
        ("", {"unit": "celsius", "city": "Oslo"}),
    ]
    assert imported.cases[0].checks == (
        Contains(text="warm", ignore_case=True, weight=2.0),
        Contains(text="sun", ignore_case=True, weight=2.0),
        Judge(rubric="is kind", least=0.8),
    )
    assert imported.checks == (Contains(text="API key", negated=True),)
    assert [variant.name for variant in imported.variants] == ["gpt-4o", "Sonnet"]
    applied = imported.variants[1].applied(ExperimentSettings())
    assert (applied.model, applied.current.set_fields["temperature"]) == ("claude-sonnet", 0.2)
    assert [str(bad) for bad in imported.bad] == [
        "Line 26: a test must be an object, not 7",
        f"Line 27: the value “city” (file://cities.txt) cannot be read: {ELSEWHERE}",
    ]
    notes = "\n".join(imported.notes)
    for words in ("“env”", "“javascript”", "“options”", "“apiKey”", "python:mine.py"):
        assert words in notes
    assert "secret" not in notes


@each_case(
    ("text", "words"),
    [("a: 1", "no promptfoo configuration"), ("prompts: [x", "line"), ("- 1", "no promptfoo configuration")],
)
def test_text_that_is_no_configuration_is_refused(text: str, words: str) -> None:
    with pytest.raises(CasesError, match=words):
        read_configuration(text)


@each_case(
    ("spelled", "check"),
    [
        ({"type": "contains-any", "value": ["a.b", "c"]}, Matches(pattern=r"a\.b|c")),
        ({"type": "is-json", "value": {"type": "object"}}, FitsSchema(json_schema={"type": "object"})),
        ({"type": "latency", "threshold": 2500}, Latency(seconds=2.5)),
        ({"type": "is-valid-openai-tools-call"}, ToolCalled(fits=True)),
        ({"type": "not-regex", "value": "^a"}, Matches(pattern="^a", negated=True)),
        ({"type": "contains-any", "value": 'a, "b, c",'}, Matches(pattern="a|b, c")),
        ({"type": "contains-json"}, IsJSON(anywhere=True)),
        ({"type": "is-json", "value": "type: object\nrequired: [a]"}, FitsSchema(json_schema=REQUIRED)),
        ({"type": "contains-json", "value": json.dumps(REQUIRED)}, FitsSchema(json_schema=REQUIRED, anywhere=True)),
        ({"type": "equals", "value": {"a": 1}}, PathEquals(path="$", value='{"a": 1}')),
        ({"type": "g-eval", "value": ["short", "kind"]}, Judge(rubric="short\nkind", least=0.7)),
        ("latency(500)", Latency(seconds=0.5)),
        ("not-contains: no", Contains(text="no", negated=True)),
        ("llm-rubric(0.7): kind", Judge(rubric="kind", least=0.7)),
        ("python", Equals(text="python")),
    ],
)
def test_assertion_becomes_a_check(spelled: object, check: Check) -> None:
    assert read_assert(spelled) == ((check,), ())


@each_case(
    "spelled",
    [
        *({"type": "contains", **fields} for fields in ({}, {"value": "file://x"})),
        *({"type": "contains-any", "value": []}, {"type": "contains-any", "value": "{{words}}"}),
        *({"value": "x"}, {"type": "similar", "value": "x"}, {"type": "latency", "value": "soon"}),
        *({"type": "is-json", "value": "{bad"}, "fn: output == 1", "similar(0.8): x", "file://check.py:score", 7),
    ],
)
def test_assertion_without_a_check_is_named(spelled: object) -> None:
    checks, notes = read_assert(spelled)
    assert checks == ()
    assert len(notes) == 1
    assert "left out" in notes[0]


def test_written_assertion_is_read_as_its_check() -> None:
    written = 0
    inputs = {"text": "x", "pattern": "x", "json_schema": {"type": "object"}, "rubric": "x"}
    for kind in CHECKS:
        created = kind.model_validate({name: inputs[name] for name in kind.model_fields if name in inputs})
        for negated in (False, True):
            check = created.model_copy(update={"negated": negated, "weight": 2.0})
            spelled = write_assert(check)
            if spelled is not None:
                written += 1
                assert read_assert(spelled)[0] == (check,), kind
    assert written >= 20


# Files, references and templates


def read(folder: Path, configuration: str, **files: str) -> Configuration:
    """Read a configuration beside files, whose names have ``__`` for a dot and ``___`` for a slash."""
    for name, text in files.items():
        path = folder / name.replace("___", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    path = folder / "promptfooconfig.yaml"
    path.write_text(configuration, encoding="utf-8")
    imported = read_file(path)
    assert isinstance(imported, Configuration)
    return imported


@each_case(
    ("written", "model"),
    [
        ("ollama:chat:llama3.2:1b", "llama3.2:1b"),
        ("ollama:llama3.2:1b", "llama3.2:1b"),
        ("openrouter:meta-llama/llama-3.1-8b-instruct:free", "meta-llama/llama-3.1-8b-instruct:free"),
        ("openai:chat:ft:gpt-3.5-turbo-0613:company::id", "ft:gpt-3.5-turbo-0613:company::id"),
        ("bedrock:anthropic.claude-3-5-sonnet-20241022-v2:0", "anthropic.claude-3-5-sonnet-20241022-v2:0"),
        ("bedrock:converse:amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0"),
        ("openai:responses:gpt-5", "gpt-5"),
        ("openai:gpt-4o", "gpt-4o"),
    ],
)
@each_case("form", ["['{}']", "'{}'", "[{{id: '{}'}}]", "[{{'{}': {{config: {{}}}}}}]", "{{'{}': {{}}}}"])
def test_provider_keeps_the_colons_of_its_model(form: str, written: str, model: str) -> None:
    imported = read_configuration(f"prompts: [Hi]\nproviders: {form.format(written)}\ntests: [{{}}]")
    assert [variant.applied(ExperimentSettings()).model for variant in imported.variants] == [model]


@each_case(
    "written", ["echo", "openai:embedding:ada", "https://h.example", "file://own.py", "openai:chat", "x:{{ env.M }}"]
)
def test_provider_that_is_no_text_model_is_named(written: str) -> None:
    imported = read_configuration(json.dumps({"prompts": ["Hi"], "providers": [written], "tests": [{}]}))
    assert imported.variants == ()
    assert any(written in note for note in imported.notes)


@each_case(
    "written",
    [
        *("file://nowhere.txt", "nowhere.txt", "prompts/*.txt", "file://../outside.txt", "/etc/hostname"),
        *("generate.py:make", "file://generate.js", "exec:./run.sh", "prompts/{{ env.LANG }}.txt"),
        *("langfuse://my-prompt:3:chat", "helicone://my id:1.0", "portkey://pp-1", "https://h.example/prompt"),
        '[{"role": "user", "content": {% if x %}"a"{% endif %}}]',
    ],
)
def test_prompt_that_cannot_be_read_is_named_and_never_a_text(tmp_path: Path, written: str) -> None:
    (tmp_path / "outside.txt").write_text("secret", encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    imported = read(
        folder, json.dumps({"prompts": [written], "providers": ["openai:m"], "tests": [{"vars": {"x": 1}}]})
    )
    assert [(case.values, case.turns) for case in imported.cases] == [({"x": "1"}, ())]
    assert imported.turns == ()
    assert any(written[:20] in note and "left out" in note for note in imported.notes)


def test_prompt_that_leads_out_of_the_folder_by_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("secret", encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    imported = read(folder, "prompts: ['*.txt', link.txt]\nproviders: ['openai:m']\ntests: [{}]")
    assert imported.turns == ()
    assert "secret" not in str(imported)


@each_case(
    "written", ["Answer yes/no: {{x}}", "Write *bold* {{x}}", "[INST] {{x}} [/INST]", "{{x}}.txt", "See README.md"]
)
def test_prompt_text_with_the_characters_of_paths_stays_a_text(tmp_path: Path, written: str) -> None:
    imported = read(tmp_path, json.dumps({"prompts": [written], "providers": ["openai:m"], "tests": [{}]}))
    assert [turn.text for turn in imported.turns] == [written]
    chat = '[{"role": "user", "content": {{ x | dump }}}]'
    imported = read_configuration(json.dumps({"prompts": [chat], "providers": ["openai:m"], "tests": [{}]}))
    assert [turn.text for turn in imported.turns] == ["{{x}}"]


CHAT = [(Role.SYSTEM, "Be brief"), (Role.USER, "Say {{x}}")]
YAML_CHAT = "- role: system\n  content: Be brief\n- role: user\n  content: Say {{x}}\n"
JSON_CHAT = '[{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Say {{x}}"}]'


@each_case(
    "prompts",
    [
        *([YAML_CHAT], [JSON_CHAT], [f'{{"messages": {JSON_CHAT}}}'], [{"raw": YAML_CHAT, "label": "chat"}]),
        *("file://chat.yaml", ["chat.json"], [{"id": "file://chat.json", "label": "chat"}], {"chat.json": "chat"}),
        *(["*.yaml"], [json.loads(JSON_CHAT)], "file://list.yml"),
    ],
)
def test_prompt_that_is_a_chat_becomes_turns(tmp_path: Path, prompts: object) -> None:
    configuration = json.dumps({"prompts": prompts, "providers": ["openai:m"], "tests": [{"vars": {"x": 1}}]})
    (tmp_path / "chat.yaml").write_text(YAML_CHAT, encoding="utf-8")
    (tmp_path / "chat.json").write_text(JSON_CHAT, encoding="utf-8")
    (tmp_path / "list.yml").write_text("- file://chat.yaml\n", encoding="utf-8")
    imported = read_configuration(configuration, tmp_path)
    assert [(turn.role, turn.text) for turn in imported.turns] == CHAT


def test_prompt_files_are_split_and_listed(tmp_path: Path) -> None:
    imported = read(
        tmp_path,
        "prompts: ['prompts/*.txt']\nproviders: ['openai:m']\n"
        "tests: [{vars: {x: 1}, options: {prefix: 'P ', suffix: ' S'}}]",
        prompts___a__txt="One {{x}}\n---\nTwo {{x}}\n",
        prompts___b__txt="Three {{x}}",
    )
    assert [case.turns[0].text for case in imported.cases] == ["P One {{x}} S", "P Two {{x}} S", "P Three {{x}} S"]
    assert "Files that were read, too: prompts/a.txt, prompts/b.txt." in imported.notes


@each_case(
    ("template", "words"),
    [("{% if x %}a{% endif %}", "{% if %}"), ("{{ x | upper }}", "filters"), ("{{ env.KEY }}", "{{ env.KEY }}")],
)
@each_case("place", ["prompt", "value", "assertion"])
def test_template_that_is_not_filled_gets_a_note(place: str, template: str, words: str) -> None:
    texts = {name: template if name == place else "x" for name in ("prompt", "value", "assertion")}
    test = {"vars": {"v": texts["value"]}, "assert": [{"type": "contains", "value": texts["assertion"]}]}
    imported = read_configuration(
        json.dumps({"prompts": [texts["prompt"]], "providers": ["openai:m"], "tests": [test]})
    )
    assert [note for note in imported.notes if words in note and place in note]


CSV_TESTS = (
    "x,__expected1,__expected2,__metric,__threshold,__prefix,__description,__config:__expected2:threshold\n"
    '"Hi, there",is-json,llm-rubric: kind,accuracy,0.5,"Please: ",first,0.9\n'
    'b,"contains-any: a, ""b, c""",latency(500),,,,,\n'
    "c,contains-json,,,,,,\n"
)


def test_tests_in_csv_files_keep_their_assertions(tmp_path: Path) -> None:
    imported = read(
        tmp_path, "prompts: ['Say {{x}}']\nproviders: ['openai:m']\ntests: file://tests.csv", tests__csv=CSV_TESTS
    )
    assert [(case.name, case.values, case.checks) for case in imported.cases] == [
        ("first", {"x": "Hi, there"}, (IsJSON(), Judge(rubric="kind", least=0.9))),
        ("", {"x": "b"}, (Matches(pattern="a|b, c"), Latency(seconds=0.5))),
        ("", {"x": "c"}, (IsJSON(anywhere=True),)),
    ]
    assert imported.cases[0].turns[0].text == "Please: Say {{x}}"
    notes = "\n".join(imported.notes)
    assert "“metric”" in notes
    assert "“threshold”" in notes


def test_tests_in_other_files_and_their_values_are_read(tmp_path: Path) -> None:
    imported = read(
        tmp_path,
        "prompts: ['{{x}}']\nproviders: ['openai:m']\ntests: [tests.jsonl, 'tests/*.yaml', 'file://make.py', 'huggingface://x']",
        tests__jsonl='{"vars": {"x": "j"}, "assert": [{"type": "contains", "value": "q"}]}\n',
        tests___a__yaml="- vars: {x: file://long.txt}\n  assert: [{type: is-json, value: file://schema.json}]\n",
        long__txt="a long text",
        schema__json=json.dumps(REQUIRED),
    )
    assert [(case.values, case.checks) for case in imported.cases] == [
        ({"x": "j"}, (Contains(text="q"),)),
        ({"x": "a long text"}, (FitsSchema(json_schema=REQUIRED),)),
    ]
    assert all(any(name in note for note in imported.notes) for name in ("make.py", "huggingface://x"))


def test_default_test_in_a_file_is_read_and_fills_lists_of_words(tmp_path: Path) -> None:
    imported = read(
        tmp_path,
        "prompts: ['{{x}}']\nproviders: ['openai:m']\ndefaultTest: file://default.yaml\n"
        "tests: [{vars: {words: 'a, b'}}]",
        default__yaml="vars: {x: '1'}\n"
        "assert: [{type: contains, value: ok}, {type: contains-any, value: '{{words}}'}]\n",
    )
    assert imported.checks == (Contains(text="ok"),)
    assert [(case.values, case.checks) for case in imported.cases] == [
        ({"x": "1", "words": "a, b"}, (Matches(pattern="a|b"),))
    ]
    missing = read_configuration("prompts: [a]\nproviders: ['openai:m']\ndefaultTest: file://default.yaml\ntests: [{}]")
    assert any("defaultTest" in note and "left out" in note for note in missing.notes)


def test_scenario_asks_each_test_with_each_of_its_data() -> None:
    imported = read_configuration(
        "prompts: ['{{x}} {{y}}']\nproviders: ['openai:m']\nscenarios:\n"
        "  - config: [{vars: {x: 1}}, {vars: {x: 2}, assert: [{$ref: '#/assertionTemplates/t'}, {$ref: '#/no'}]}]\n"
        "    tests: [{vars: {y: a}}, {vars: {y: b}, assert: [{type: contains, value: b}]}]\n"
        "assertionTemplates: {t: {type: contains, value: two}}\n"
    )
    assert any("#/no" in note for note in imported.notes)
    assert [(tuple(case.values.values()), tuple(check.words for check in case.checks)) for case in imported.cases] == [
        (("1", "a"), ()),
        (("1", "b"), ("“b”",)),
        (("2", "a"), ("“two”",)),
        (("2", "b"), ("“two”", "“b”")),
    ]


def test_files_that_refer_to_themselves_are_named(tmp_path: Path) -> None:
    imported = read(
        tmp_path,
        "prompts: [file://p.yaml]\nproviders: ['openai:m']\ntests: file://t.yaml",
        p__yaml="[file://p.yaml, file://p.yaml]",
        t__yaml="[file://t.yaml, file://t.yaml]",
    )
    assert sum("refers to itself" in note for note in imported.notes) == 2
