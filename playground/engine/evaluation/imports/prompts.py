"""Prompts and providers of a promptfoo configuration: texts and chats, references to files, models as variants.

A prompt is a template of Nunjucks. ``{{name}}`` is a variable here, too; anything else of a template stays as it is
written and is named. ``https://www.promptfoo.dev/docs/configuration/prompts`` describes prompts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from playground.domain.reasons import reason_of, shortened
from playground.domain.transcript import Turn
from playground.domain.variables import mentions
from playground.engine.evaluation.imports.csv_records import read_records
from playground.engine.evaluation.imports.references import FILE, SCRIPTS, is_script
from playground.engine.io.yaml_text import read_yaml
from playground.engine.session.plan import Case
from playground.engine.session.variants import Variant
from playground.jsonkit.reading import parse_json
from playground.jsonkit.values import JSON, JSONObject
from playground.protocols import DEFAULT, MESSAGES, PROTOCOLS

#: Files that hold prompts.
READABLE: Final = (".txt", ".md", ".markdown", ".j2", ".jinja", ".jinja2", ".json", ".jsonl", ".yaml", ".yml", ".csv")
_SUFFIXES: Final = (*READABLE, *SCRIPTS, ".prompty", ".xml", ".html", ".toml", ".xlsx", ".docx", ".pdf")
_SEPARATOR: Final = re.compile(r"^[ \t]*---[ \t]*\r?$", re.MULTILINE)
_EXPRESSION: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_DUMPED: Final = re.compile(r"-?\s*([^\W\d]\w*)\s*\|\s*(?:dump|tojson|safe)\s*(?:\(\s*\))?\s*-?\Z")
_LOGIC: Final = re.compile(r"\{%-?\s*(\w*)|\{#")
_SERVICES: Final = ("langfuse://", "helicone://", "portkey://")  # their names may have spaces
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S", re.IGNORECASE)
_PATH: Final = re.compile(r"[\w./\\*\[\]~:@+=-]+\Z")
_HOLD: Final = re.compile("\ue000(\\d+)\ue001")


class PromptError(ValueError):
    """A prompt cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as turns: a chat, or one text of the user."""

    turns: tuple[Turn, ...]
    text: str | None = None

    def between(self, prefix: str, suffix: str) -> Prompt:
        """Return a text with others around it. A chat stays as it is."""
        return text_prompt(f"{prefix}{self.text}{suffix}") if self.text is not None else self


def text_prompt(text: str) -> Prompt:
    """Return a text of the user."""
    return Prompt(Case.model_validate({"turns": [text]}).turns, text)


def chat_prompt(messages: JSON) -> Prompt:
    """Return a chat. Raises PromptError for messages that cannot be read."""
    try:
        return Prompt(Case.model_validate({"turns": messages}).turns)
    except ValueError as error:
        raise PromptError(f"its messages cannot be read: {reason_of(error)}") from None


def is_chat(value: JSON) -> bool:
    """Return whether a value is a list of messages."""
    return (
        isinstance(value, list) and bool(value) and all(isinstance(entry, dict) and "role" in entry for entry in value)
    )


def is_reference(text: str) -> bool:
    """Return whether a prompt names a file, a pattern, a script or an address rather than being the text itself."""
    text = text.strip()
    if text.startswith((FILE, "exec:", *_SERVICES)) or (_ADDRESS.match(text) and len(text.split()) == 1):
        return True
    if "\n" in text or "{%" in text or not text:
        return False
    first, *more = _EXPRESSION.sub("x", text).split()
    if more or "{{" in text:
        return not (more and "{{" in text) and ends_as_file(text) and ("/" in first or "\\" in first)
    return ends_as_file(text) or (_PATH.match(text) is not None and re.search(r"[*/\\]", text) is not None)


def ends_as_file(text: str) -> bool:
    """Return whether a text of one line ends as the name of a file does."""
    return "\n" not in text and (text.strip().lower().endswith(_SUFFIXES) or is_script(text.strip()))


def prompts_in(text: str, suffix: str) -> Iterator[str]:
    """Yield the templates of prompts in the text of a file. Raises PromptError."""
    match suffix:
        case ".txt":
            yield from (piece.strip() for piece in _SEPARATOR.split(text) if piece.strip())
        case ".jsonl":
            yield from (line for line in text.split("\n") if line.strip())
        case ".csv":
            yield from _column(text)
        case ".yaml" | ".yml":
            yield text.strip().removeprefix("---").strip()
        case _:
            yield text.strip()


def _column(text: str) -> Iterator[str]:
    """Yield the cells of the column ``prompt``, or all lines of a text with a single column."""
    records = [list(record.cells) for record in read_records(text) if not record.problem]
    header = [cell.strip().lower() for cell in records[0]] if records else []
    if "prompt" not in header and len(header) > 1:
        raise PromptError("its table has no column “prompt”")
    place = header.index("prompt") if "prompt" in header else 0
    for cells in records[1 if "prompt" in header else 0 :]:
        if len(cells) > place and cells[place].strip():
            yield cells[place]


def read_prompt(text: str) -> Prompt:
    """Read a template: a chat in JSON or YAML, or a text. Raises PromptError for a chat that cannot be read."""
    stripped = text.strip()
    is_yaml = re.match(r"-\s+[\"']?(role|content)[\"']?\s*:", stripped) is not None
    if not is_yaml and stripped[:1] not in ("[", "{"):
        return text_prompt(text)
    try:
        value = _template_value(stripped, is_yaml)
    except ValueError as error:
        if re.search(r"\brole\b[\"']?\s*:", stripped):
            logic = " with template logic ({% … %})" if "{%" in stripped else ""
            raise PromptError(f"it is a chat{logic} that is no {'YAML' if is_yaml else 'JSON'}: {error}") from None
        return text_prompt(text)
    if isinstance(value, dict) and is_chat(value.get(MESSAGES)):
        value = value[MESSAGES]
    return chat_prompt(value) if is_chat(value) else text_prompt(text)


def yaml_template(text: str) -> JSON:
    """Return the value of a template in YAML. Raises PromptError."""
    try:
        return _template_value(text, True)
    except ValueError as error:
        raise PromptError(f"it is no YAML that can be read: {error}") from None


def _template_value(text: str, is_yaml: bool) -> JSON:
    """Return the value of a template in JSON or YAML, whose expressions may be outside of quotes."""
    expressions: list[str] = []

    def hold(match: re.Match[str]) -> str:
        dumped = _DUMPED.match(match[1])
        expressions.append(f"{{{{{dumped[1]}}}}}" if dumped else match[0])
        return f"\ue000{len(expressions) - 1}\ue001"

    marked = _EXPRESSION.sub(hold, text)
    if is_yaml:
        return _released(read_yaml(marked).value, expressions)
    try:
        value = parse_json(marked)
    except ValueError:
        value = parse_json(re.sub(f"([:,\\[]\\s*)({_HOLD.pattern})(?=\\s*[,\\]}}])", r'\1"\2"', marked))
    return _released(value, expressions)


def _released(value: JSON, expressions: list[str]) -> JSON:
    if isinstance(value, str):
        return _HOLD.sub(lambda match: expressions[int(match[1])], value)
    if isinstance(value, list):
        return [_released(item, expressions) for item in value]
    if isinstance(value, dict):
        return {_released(name, expressions): _released(item, expressions) for name, item in value.items()}
    return value


def template_notes(text: str, what: str) -> Iterator[str]:
    """Say what of a template is not filled here; ``what`` names its place."""
    if match := _LOGIC.search(text):
        words = f"{{% {match[1]} %}}" if match[1] else "{# … #}" if match[0] == "{#" else "{% … %}"
        yield f"{what} uses template logic ({words}), which is sent unchanged. Edit it before you run."
    for match in _EXPRESSION.finditer(text):
        if not mentions(match[0]) and not _DUMPED.match(match[1]):
            kind = "filters a variable" if "|" in match[1] else "has an expression"
            written = shortened(match[0])
            yield f"{what} {kind} ({written}), which is sent unchanged. Edit it before you run."
            return


# ---- providers -------------------------------------------------------------------------------------------------------


_PARAMETERS: Final = frozenset(
    (
        *("temperature", "max_tokens", "max_completion_tokens", "top_p", "frequency_penalty", "presence_penalty"),
        *("stop", "seed", "reasoning_effort", "response_format"),
    )
)
_MEMBERS: Final = frozenset(("id", "label", "config"))
#: Vendors that are no model of a gateway.
_ELSEWHERE: Final = frozenset(
    (
        *("file", "exec", "python", "ruby", "golang", "go", "http", "https", "ws", "wss", "websocket", "webhook"),
        *("browser", "mcp", "echo", "promptfoo", "package", "sequence", "manual-input", "a2a", "slack", "stdio"),
        *("elevenlabs", "voyage"),
    )
)
#: Endpoints between the vendor and the model.
_ENDPOINTS: Final = frozenset(
    (*PROTOCOLS, "chat-completion", "completion", "completions", "converse", "text-generation")
)
#: Endpoints that answer with something else than text.
_OTHER_ENDPOINTS: Final = frozenset(
    (
        *("embedding", "embeddings", "image", "images", "moderation", "assistant", "agents", "agent", "realtime"),
        "live",
        *("transcription", "speech", "tts", "audio", "voice", "video", "chatkit", "codex", "codex-sdk", "kb"),
        *("knowledge-base", "text-classification", "feature-extraction", "sentence-similarity", "token-classification"),
        *("token-extraction", "claude-agent-sdk", "claude-code", "nova-sonic", "nova-reel", "luma-ray", "rerank"),
    )
)
_SCRIPT: Final = re.compile(r"\S+\.(py|js|mjs|cjs|ts|rb|go|sh)(:\w+)?\Z")


def read_provider(source: JSON) -> tuple[Variant | None, tuple[str, ...]]:
    """Return a provider as a variant, None where it is no model of a gateway; and what was left out, in sentences."""
    options = _options(source)
    written = options.get("id")
    if not isinstance(written, str):
        return None, (f"The provider {shortened(str(written))} was left out: it has no id.",)
    model, reason = _model(written)
    if not model:
        return None, (f"The provider {shortened(written)} was left out: {reason}.",)
    config = options.get("config")
    config = config if isinstance(config, dict) else {}
    parameters = {name: value for name, value in config.items() if name in _PARAMETERS and _is_plain(value)}
    notes = [f"The provider {shortened(written)}: “{name}” was left out." for name in config.keys() - parameters.keys()]
    notes += [_member_note(written, name) for name in options if name not in _MEMBERS]
    if "config" in options and not isinstance(options["config"], dict):
        notes.append(_member_note(written, "config"))
    differences = {"model": model, **({"parameters": {DEFAULT: parameters}} if parameters else {})}
    name = str(options.get("label") or model)
    return Variant.model_validate({"name": name, "differences": differences}), tuple(sorted(notes))


def _options(source: JSON) -> JSONObject:
    """Return the members of a provider, whose id may be in three places."""
    if not isinstance(source, dict):
        return {"id": source}
    if isinstance(inner := source.get("provider"), str) and ":" not in str(source.get("id", "")):
        label = source.get("label") or source.get("id") or ""
        rest = {name: source[name] for name in source if name not in ("id", "provider")}
        return {**rest, "id": inner, "label": label}
    if "id" not in source and len(source) == 1:
        (written, options), *_ = source.items()
        return {"id": written, **options} if isinstance(options, dict) else {"id": written}
    return source


def _model(written: str) -> tuple[str, str]:
    """Return the model of an id; empty with the reason where there is none."""
    vendor, colon, rest = written.strip().partition(":")
    if "{{" in written:
        return "", "its id is a template"
    if vendor.lower() in _ELSEWHERE or rest.startswith("//") or _SCRIPT.match(written):
        return "", "it is no model of a gateway"
    endpoint, deeper, model = rest.partition(":")
    if endpoint in _OTHER_ENDPOINTS:
        return "", "it does not answer with text"
    if deeper and endpoint in _ENDPOINTS:
        rest = model
    if not colon or not rest.strip() or rest in _ENDPOINTS:
        return "", "it names no model of a gateway"
    return rest.strip(), ""


def _is_plain(value: JSON) -> bool:
    """Return whether a value can be sent: it is no reference and no template."""
    return value is not None and not (isinstance(value, str) and ("{{" in value or value.startswith("file://")))


def _member_note(written: str, member: str) -> str:
    words = {
        "prompts": "every model gets every prompt",
        "transform": "answers are not transformed",
        "delay": "pauses are not supported",
    }
    return (
        f"The provider {shortened(written)}: “{member}” was left out: {words.get(member, 'there is nothing like it')}."
    )
