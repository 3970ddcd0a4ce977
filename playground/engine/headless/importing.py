"""``playground import``: the window's importers on the command line. Nothing is run, sent or fetched.

The content goes to standard output or to a file, in a format that this program opens; everything else goes to standard
error. With ``as_json`` one object on standard output says all of it. Each kind calls the functions that the window's
dialog calls.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TextIO

from playground.domain.hidden import show_hidden
from playground.domain.tool_servers import Hints
from playground.domain.tools import ToolDefinition
from playground.domain.transcript import new_id
from playground.engine.evaluation.imports.promptfoo import (
    Configuration,
    imported_cases,
    is_promptfoo,
    is_table,
    read_data,
    suffix_of,
)
from playground.engine.evaluation.imports.table import SUFFIXES, CasesError, guess, to_cases
from playground.engine.files import messages as conversations
from playground.engine.files.experiment_file import write as write_experiment
from playground.engine.files.tool_import import export_tools, import_tools
from playground.engine.files.tool_import.collector import KIND_WORDS
from playground.engine.gateways.redaction import write_output
from playground.engine.gateways.secrets import Secret, key_from_environment
from playground.engine.headless.command import check_output
from playground.engine.headless.exit_codes import ExitCode
from playground.engine.headless.show import Console
from playground.engine.io.files import decode_text
from playground.engine.io.weighed_json import check_weight
from playground.engine.io.yaml_text import YamlError, read_yaml
from playground.engine.requests import pasted
from playground.engine.requests.request_file import STDIN, BadInputError, write_request
from playground.engine.session.plan import Plan
from playground.engine.session.snapshot import Snapshot
from playground.engine.tool_servers import imports as server_imports
from playground.engine.tool_servers.imports import write_configuration
from playground.jsonkit.problems import JsonTextError
from playground.jsonkit.reading import parse_json
from playground.jsonkit.relaxed import read_relaxed
from playground.jsonkit.texts import listed
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT, MESSAGES
from playground.protocols.protocol import body_of_answer, conversation_in
from playground.system.named_file import read_named, read_standard_input

LARGEST: Final = 256 * 1024 * 1024  # bytes of a file that is read
AUTO: Final = "auto"
REQUEST, CONVERSATIONS, TOOLS, CASES, SERVERS = "request", MESSAGES, "tools", "cases", "servers"
#: Columns of cases that no conversation has.
_EXPECTATIONS: Final = frozenset(
    {"expected", "__expected", "expected_output", "expectedoutput", "ideal", "target", "reference", "answer"}
)
_BY_SUFFIX: Final = {".csv": CASES, ".tsv": CASES, ".har": REQUEST, ".http": REQUEST, ".py": TOOLS}

_HEAD: Final = 4_000  # characters that are looked at before a text is read as YAML, which takes long
_RELAXED: Final = re.compile(r"[{\[\"]|//|/\*")
_YAML: Final = re.compile(r"(?m)^(?:---\s|- |[\w\"'$-][\w \"'.$-]{0,100}:(?:\s|$))")


@dataclass(frozen=True)
class ImportOptions:
    """Options of the command line; ``kind`` is a name of ``IMPORTERS`` or ``AUTO``."""

    path: Path
    kind: str = AUTO
    out: Path | None = None
    as_json: bool = False


class UnreadableError(Exception):
    """Nothing can be imported; the text says why."""


@dataclass(frozen=True, slots=True)
class Source:
    """The text to import, how the name of its file ends (".csv"; empty for none), and what to call it.

    ``folder`` is where files are that it refers to; None for standard input.
    """

    text: str
    suffix: str
    name: str
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class ImportedContent:
    """``text`` is the content in our format, ``by_line`` a JSON value a line.

    ``words`` say what was read, ``members`` are further members of the report, and ``next_step`` says what reads the
    file. ``secrets`` were in the source and must not be written.
    """

    text: str
    words: str
    next_step: str
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()
    members: JSONObject = field(default_factory=dict)
    by_line: bool = False


def import_file(options: ImportOptions, out: TextIO, err: TextIO) -> int:
    """Import what the options name. Returns an exit code. Raises OutputError where ``out`` fails."""
    console = Console(out, err)
    try:
        check_output(options.out, options.path)
        source = _read(options.path)
        kind = kind_of_source(source) if options.kind == AUTO else options.kind
        imported = _import(source, kind, automatic=options.kind == AUTO)
    except (UnreadableError, BadInputError) as error:
        console.say(show_hidden(str(error)))
        return ExitCode.BAD_INPUT
    key = key_from_environment()
    console.hide((*imported.secrets, *([key] if key is not None else [])))
    text = console.clean(imported.text)
    if options.out is not None:
        try:
            write_output(options.out, text, console.secrets)
        except OSError as error:
            console.say(f"{options.out} cannot be written: {error.strerror or error}")
            return ExitCode.FAILED
    if options.as_json:
        console.json(_report(imported, kind, options))
    else:
        for words in _lines(imported, kind, options):
            console.say(show_hidden(words))
        if options.out is None:
            console.raw(text)
    console.end()
    return ExitCode.OK


def _read(path: Path) -> Source:
    """The text of the file, or of standard input. Raises UnreadableError."""
    name = "Standard input" if path == STDIN else str(path)
    try:
        data = read_standard_input(LARGEST) if path == STDIN else read_named(path, LARGEST)
        check_weight(data)
    except OSError as error:
        raise UnreadableError(f"{name} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise UnreadableError(f"{name} cannot be read: {error}") from None
    try:
        text = decode_text(data)
    except ValueError as error:
        words = "it is a binary file, not text" if b"\0" in data[:4096] else str(error)
        raise UnreadableError(f"{name} cannot be read: {words}") from None
    if "\0" in text:
        raise UnreadableError(f"{name} cannot be read: it is a binary file, not text")
    if not text.strip():
        raise UnreadableError(f"{name} cannot be imported: it is empty")
    if path == STDIN:
        return Source(text, "", name)
    return Source(text, path.suffix.lower(), name, path.parent)


def _import(source: Source, kind: str, *, automatic: bool) -> ImportedContent:
    try:
        return IMPORTERS[kind](source)
    except UnreadableError as error:
        words = str(error).rstrip(".")
        others = ", ".join(name for name in IMPORTERS if name != kind)
        hint = f". It was taken for {kind}; for another kind, give --as ({others})" if automatic else ""
        raise UnreadableError(f"{source.name} cannot be imported: {words}{hint}.") from None


def _lines(imported: ImportedContent, kind: str, options: ImportOptions) -> list[str]:
    """The lines on standard error: what the text was read as, notes, and where the content went."""
    how = "recognised" if options.kind == AUTO else "as asked"
    lines = [f"Read as {kind} ({how}): {imported.words}."]
    lines += imported.notes
    lines += (f"Left out: {words}" for words in imported.left_out)
    if options.out is not None:
        lines.append(f"Written to {options.out}. {imported.next_step}")
    return lines


def _report(imported: ImportedContent, kind: str, options: ImportOptions) -> JSONObject:
    """The object of ``--json``."""
    return {
        "kind": kind,
        "recognised": options.kind == AUTO,
        "read_as": imported.words,
        **imported.members,
        "notes": list(imported.notes),
        "left_out": list(imported.left_out),
        "out": str(options.out) if options.out is not None else None,
        "content": [json.loads(line) for line in imported.text.split("\n") if line]
        if imported.by_line
        else json.loads(imported.text),
    }


# ---- recognising -----------------------------------------------------------------------------------------------------


def kind_of_source(source: Source) -> str:
    """The kind of a text, by its content; the name of its file decides where that leaves it open.

    Raises UnreadableError for what is none of them.
    """
    text = source.text.strip()
    if source.suffix not in (".csv", ".tsv") and pasted.is_command(text):
        return REQUEST
    if source.suffix in _BY_SUFFIX:
        return _BY_SUFFIX[source.suffix]
    value = _value_of(pasted.unfenced(text))
    kind = _kind_of_value(value) if value is not None else ""
    if not kind and source.suffix == ".toml":
        kind = SERVERS
    if not kind and import_tools(text).tools:
        kind = TOOLS
    if not kind and value is None and (source.suffix in SUFFIXES or is_table(text)):
        kind = CASES
    if not kind:
        raise UnreadableError(
            f"{source.name} cannot be imported: it is none of what can be recognised (a curl command or a request's "
            f"body, messages, tools, cases, tool servers). Name its kind with --as ({', '.join(IMPORTERS)})."
        )
    return kind


def _value_of(text: str) -> JSON:
    """The JSON, the list of JSON lines, or the YAML that a text is; None for other text."""
    try:
        return parse_json(text)
    except ValueError:
        pass
    try:
        return [parse_json(line) for line in text.split("\n")[:50] if line.strip()]
    except ValueError:
        pass
    if _RELAXED.match(text):
        try:
            return read_relaxed("{" + text.rstrip(",") + "}" if text.startswith('"') else text)
        except JsonTextError:
            return None
    if not _YAML.search(text[:_HEAD]):
        return None
    try:
        value = read_yaml(text).value
    except YamlError:
        return None
    return value if isinstance(value, dict | list) else None


def _kind_of_value(value: JSON) -> str:
    """The kind of a JSON value; empty where nothing in it tells."""
    if isinstance(value, list):
        return _kind_of_list(value)
    if not isinstance(value, dict):
        return ""
    for name, words in _OWN.items():
        if name in value:
            raise UnreadableError(f"This is {words}")
    if "playground" in value or _is_archive(value):
        return REQUEST
    if is_promptfoo(value):
        return CASES
    if "openapi" in value or "swagger" in value:
        return TOOLS
    if conversation_in(value):
        return REQUEST if isinstance(value.get("model"), str) else CONVERSATIONS
    if body_of_answer(value) is not None:
        return REQUEST
    if conversations.is_conversation(value):
        return CONVERSATIONS
    if _is_tools(value):
        return TOOLS
    if _is_servers(value):
        return SERVERS
    return CASES if any(isinstance(value.get(name), list) for name in ("cases", "tests", "data")) else ""


#: Members that name a format of this program which has a command of its own.
_OWN: Final = {
    "experiment": "a saved experiment, and nothing to import: open it in the window, or run it with “playground run”.",
    "cassette": "a cassette, and nothing to import: open it in the window, or serve it with “playground replay”.",
    "playground_answers": "an answer table, and nothing to import: give it to “playground run” with --answers.",
}


def _kind_of_list(items: list[JSON]) -> str:
    first = next((item for item in items if item), None)
    if isinstance(first, list):
        return CONVERSATIONS if all(isinstance(item, dict) for item in first) else ""
    if not isinstance(first, dict):
        return CASES if isinstance(first, str) else ""
    if any(name.casefold() in _EXPECTATIONS for name in first):
        return CASES
    if conversation_in(first) or conversations.is_conversation(first) or conversations.is_message(first):
        return CONVERSATIONS
    if _is_tools(first):
        return TOOLS
    return SERVERS if _is_servers(items) and _is_servers(first) else CASES


def _is_archive(value: JSONObject) -> bool:
    log = value.get("log")
    return isinstance(log, dict) and isinstance(log.get("entries"), list)


def _is_tools(value: JSONObject) -> bool:
    lists = ("tools", "functions", "function_declarations", "functionDeclarations")
    schemas = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
    return (
        any(isinstance(value.get(name), list) for name in lists)
        or ("name" in value and any(isinstance(value.get(name), dict) for name in schemas))
        or isinstance(value.get("function"), dict)
        or (value.get("type") == "object" and isinstance(value.get("properties"), dict))
        or (isinstance(value.get("result"), dict) and _is_tools(value["result"]))
    )


def _is_servers(value: JSON) -> bool:
    try:
        imported = server_imports.read_servers(json.dumps(value), {})
    except server_imports.ImportRefusedError:
        return isinstance(value, dict) and "mcpServers" in value
    return any(not server.problem for server in imported.servers)


# ---- each kind -------------------------------------------------------------------------------------------------------


def _import_request(source: Source) -> ImportedContent:
    try:
        imported = pasted.read(source.text)
        content = write_request(imported.request)
    except ValueError as error:
        raise UnreadableError(str(error)) from None
    notes = list(imported.notes)
    secrets = [*([imported.key] if imported.key is not None else []), *imported.secret_headers.values()]
    if imported.key is not None:
        notes.append("The key was left out: set it in PLAYGROUND_API_KEY, or run the file with --gateway.")
    if imported.secret_headers:
        names = listed(list(imported.secret_headers))
        notes.append(f"Left out as secrets: the headers {names}. Give them with --header when you run the file.")
    if imported.base_url:
        notes.append(f"The address is no part of the file: run it with --base-url {imported.base_url}")
    return ImportedContent(
        _indented(content),
        f"{imported.source}, {imported.request.protocol} protocol, {_count(len(imported.request.turns), 'turn')}",
        "Run it with “playground run”, or open it in the window.",
        tuple(notes),
        secrets=tuple(secrets),
        members={
            "protocol": imported.request.protocol,
            "model": imported.request.model,
            "base_url": imported.base_url,
            "key": imported.auth.value if imported.auth is not None else None,
            "secret_headers": list(imported.secret_headers),
        },
    )


def _import_messages(source: Source) -> ImportedContent:
    try:
        imported = conversations.read(source.text)
        contents = [_without_nulls(write_request(conversation.request)) for conversation in imported.conversations]
    except ValueError as error:
        raise UnreadableError(str(error)) from None
    many = len(contents) > 1
    notes = tuple(
        f"Conversation {conversation.number}: {note}" if many else note
        for conversation in imported.conversations
        for note in conversation.notes
    )
    left_out = list(imported.problems)
    if imported.total > len(contents):
        left_out.append(f"{imported.total - len(contents):,} further conversations. Split the file to import them.")
    return ImportedContent(
        "".join(json.dumps(content, ensure_ascii=False) + "\n" for content in contents)
        if many
        else _indented(contents[0]),
        f"{imported.words}, {_count(imported.total, 'conversation')}",
        "Each line is a request: import it in the window."
        if many
        else "Run it with “playground run”, or open it in the window.",
        notes,
        tuple(left_out),
        members={"conversations": imported.total, "titles": [item.title for item in imported.conversations]},
        by_line=many,
    )


def _without_nulls(content: JSONObject) -> JSONObject:
    """A request file that streams by default where the conversation is no whole request, which names its model."""
    if "model" in content:
        return content
    parameters = {name: value for name, value in content.get("parameters", {}).items() if value is not None}
    rest = {name: value for name, value in content.items() if name != "parameters"}
    return {**rest, "parameters": parameters} if parameters else rest


def _import_tools(source: Source) -> ImportedContent:
    imported = import_tools(source.text)
    if not imported.tools:
        raise UnreadableError("; ".join((imported.problem or "there are no tools in it", *imported.notes)))
    return ImportedContent(
        export_tools(imported.tools, DEFAULT) + "\n",
        f"{KIND_WORDS[imported.kind]}, {_count(len(imported.tools), 'tool')}",
        "It is the “tools” of a request file; the window imports it.",
        (*imported.notes, *_window_only(imported.tools)),
        members={"tools": [tool.name for tool in imported.tools]},
    )


def _window_only(tools: Iterable[ToolDefinition]) -> Iterator[str]:
    """Name the members of tools that only the window keeps: a definition that is sent has no place for them."""
    for tool in tools:
        members = {
            "title": tool.hints is not None and tool.hints.title,
            "annotations": tool.hints is not None and tool.hints != Hints(title=tool.hints.title),
            "outputSchema": tool.output is not None,
        }
        if names := [name for name, is_present in members.items() if is_present]:
            yield f"{tool.name}: left out {listed(names)}. A request has no place for them; the window keeps them."


def _import_cases(source: Source) -> ImportedContent:
    try:
        read = read_data(
            source.text.encode("utf-8", "surrogatepass"),
            source.suffix if source.suffix in SUFFIXES else suffix_of(source.text),
            source.folder,
        )
        imported = imported_cases(read if isinstance(read, Configuration) else to_cases(read, guess(read)))
    except CasesError as error:
        raise UnreadableError(str(error)) from None
    if not imported.cases:
        raise UnreadableError("; ".join(map(str, imported.bad)) or "there are no cases in it")
    notes = list(imported.notes)
    if not all(case.turns for case in imported.cases):
        names = dict.fromkeys(f"{{{{{name}}}}}" for case in imported.cases for name in case.values)
        variables = f" with {listed(list(names))}" if names else ""
        notes.append(f"The cases have no messages: write one{variables} in the experiment.")
    now = time.time()
    plan = Plan(cases=imported.cases, checks=imported.checks, variants=imported.variants, as_set=not imported.variants)
    experiment = Snapshot(id=new_id(), title="Imported cases", created_at=now, changed_at=now, evaluation=plan)
    counts = [_count(len(imported.cases), "case")]
    counts += [_count(len(imported.checks), "check")] if imported.checks else []
    counts += [_count(len(imported.variants), "variant")] if imported.variants else []
    return ImportedContent(
        write_experiment(experiment).decode(),
        f"{'a promptfoo configuration' if isinstance(read, Configuration) else 'a table'}, {', '.join(counts)}",
        "It is an experiment: run it with “playground eval”, or open it in the window.",
        tuple(notes),
        tuple(map(str, imported.bad)),
        members={"cases": len(imported.cases), "checks": len(imported.checks), "variants": len(imported.variants)},
    )


def _import_servers(source: Source) -> ImportedContent:
    try:
        imported = server_imports.read_servers(source.text, {})
    except server_imports.ImportRefusedError as error:
        raise UnreadableError(str(error)) from None
    written = write_configuration(imported.servers)
    names = list(written.content["mcpServers"])
    if not names:
        raise UnreadableError(" ".join(written.left_out))
    return ImportedContent(
        _indented(written.content),
        f"{imported.kind}, {_count(len(names), 'server')}",
        "Give it to “playground run” with --mcp; the window imports it.",
        written.notes,
        written.left_out,
        written.secrets,
        members={"servers": names},
    )


IMPORTERS: Final[Mapping[str, Callable[[Source], ImportedContent]]] = {
    REQUEST: _import_request,
    CONVERSATIONS: _import_messages,
    TOOLS: _import_tools,
    CASES: _import_cases,
    SERVERS: _import_servers,
}


def _indented(content: JSON) -> str:
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
