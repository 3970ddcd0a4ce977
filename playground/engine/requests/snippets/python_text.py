"""What the Python snippets have in common: headers, secrets from the environment, texts that stand in variables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from playground.engine.requests.snippets.literals import PYTHON, Spelling, comment, long_texts, written
from playground.engine.requests.snippets.sent import Header, NotPossibleError, Sent
from playground.jsonkit.values import JSON, JSONObject

STEP = "    "


def spelling_for(body: JSONObject) -> tuple[Spelling, str]:
    """How values are written, and the lines that give the long texts of ``body`` a name."""
    names = long_texts(body)
    lines = "".join(f"{name} = {PYTHON.string(text)}\n" for text, name in names.items())
    return replace(PYTHON, names=names), lines + "\n" if lines else ""


def environment(header: Header) -> str:
    """An expression for a header's value."""
    if not header.variable:
        return PYTHON.string(header.text)
    if header.text:
        return f"f\"{header.text}{{os.environ['{header.variable}']}}\""
    return f'os.environ["{header.variable}"]'


def mapping(pairs: Iterable[tuple[str, str]], depth: int) -> str:
    """A dictionary of names and expressions, one a line."""
    inner = "".join(f"{STEP * (depth + 1)}{PYTHON.string(name)}: {value},\n" for name, value in pairs)
    return "{\n" + inner + STEP * depth + "}"


def argument(name: str, value: JSON, spelling: Spelling, depth: int = 1) -> str:
    """A keyword argument on lines of its own."""
    lead = f"{STEP * depth}{name}="
    return f"{lead}{written(value, spelling, depth, len(lead))},\n"


def top(sent: Sent, *lines: str) -> str:
    """Imports in two groups (standard library, then the package), after what is to be known about certificates."""
    *standard, package = lines
    about = comment("#", f"Run with SSL_CERT_FILE={sent.ca_file} (the gateway's own authority).") + "\n"
    first = "".join(f"{line}\n" for line in standard if line)
    return (about if sent.ca_file else "") + (f"{first}\n" if first else "") + f"{package}\n\n"


def refuse_halves(sent: Sent, package: str) -> None:
    """Raises NotPossibleError where a text holds half of a surrogate pair: the package writes plain UTF-8."""
    if sent.has_halves:
        raise NotPossibleError(
            f"A text of this request holds half of a character (a lone surrogate), which {package} cannot write. "
            "Use curl or Python · httpx."
        )
