"""What the Python snippets have in common: imports, arguments, secrets from the environment."""

from __future__ import annotations

from playground.engine.requests.snippets.literals import PYTHON, Spelling, comment, written
from playground.engine.requests.snippets.sent import Header, NotPossibleError, Sent
from playground.jsonkit.values import JSON


def environment(header: Header) -> str:
    """An expression for a header's value."""
    if not header.variable:
        return PYTHON.string(header.text)
    if header.text:
        return f"f\"{header.text}{{os.environ['{header.variable}']}}\""
    return f'os.environ["{header.variable}"]'


def argument(name: str, value: JSON, spelling: Spelling, depth: int = 1) -> str:
    """A keyword argument on lines of its own."""
    lead = f"{PYTHON.indent * depth}{name}="
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
