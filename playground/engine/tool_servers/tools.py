"""Tools of a server in an experiment: their names in requests, and their trust: is a tool as the person accepted it?

Both protocols take the same names (``NAME_RULE``). A name that cannot be sent, or that another tool has, is replaced by
one that tells its origin: the same on every computer, in whatever order tools are listed. A changed description can
carry instructions to the model, so a tool that differs between the experiment, the server's list and the accepted
definitions is not called until a person has seen the difference. Pure functions.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from playground.domain.hidden import short_name, show_hidden
from playground.domain.tool_servers import Hints, ServerTool, ToolServer
from playground.domain.tools import NAME_RULE, ToolDefinition
from playground.jsonkit.values import JSON, JSONObject, same

LONGEST: Final = 64  # characters of a name that the protocols take
MARK: Final = 6  # digits that tell equal names apart
LONGEST_PREFIX: Final = 32  # characters
_UNSENDABLE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_NO_HINTS: Final = Hints()


class ToolTrust(StrEnum):
    """Relation between a tool of an experiment, its server's list and the accepted definitions."""

    SAME = "same"  # as accepted, as far as known
    CHANGED = "changed"  # the listed definition differs from the accepted one or from the experiment's copy
    NEW = "new"  # not accepted on this computer
    GONE = "gone"  # not listed any more
    UNKNOWN = "unknown"  # this copy was not accepted, and the server has not listed its tools yet


#: Tools that are disabled until a person has seen them.
UNSEEN = frozenset({ToolTrust.CHANGED, ToolTrust.NEW})


# ---- names -----------------------------------------------------------------------------------------------------------


def _is_sendable(name: str) -> bool:
    return NAME_RULE.match(name) is not None


def cleaned(text: str) -> str:
    """Replace the characters that no name may hold; the result may be empty."""
    plain = unicodedata.normalize("NFKD", text[:1_000])
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return _UNSENDABLE.sub("_", letters).strip("_")


def prefixed(prefix: str, name: str) -> str:
    """Join a prefix and a name, with a separator unless the prefix ends in one."""
    if not prefix:
        return name
    return f"{prefix}{name}" if prefix[-1] in "_-" else f"{prefix}_{name}"


def prefix_problem(prefix: str) -> str:
    """Return the reason why a prefix cannot be used; empty for none."""
    if len(prefix) > LONGEST_PREFIX:
        return f"At most {LONGEST_PREFIX} characters: names of tools have room for {LONGEST}."
    if prefix and not _is_sendable(prefix):
        return "Use letters, digits, _ and - only: both protocols refuse other names."
    return ""


def sent_names(server: ToolServer, tools: Iterable[str], used: Collection[str]) -> dict[str, str]:
    """Return the name to send for each tool of a server, by its name on the server; none is among ``used``.

    Names that can be sent unchanged are assigned first, so that none of them yields to a replaced one.
    """
    used = set(used)
    names = sorted(set(tools))
    preferred = {name: prefixed(server.prefix, name) for name in names}
    out: dict[str, str] = {}
    for name in sorted(names, key=lambda name: not _is_sendable(preferred[name])):
        out[name] = _free_name(server, name, preferred[name], used)
        used.add(out[name])
    return out


def _free_name(server: ToolServer, name: str, preferred: str, used: Collection[str]) -> str:
    digest = hashlib.sha256(f"{server.name}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
    first = _valid_name(preferred, digest)
    candidates = [first]
    if not server.prefix:
        candidates.append(_valid_name(prefixed(cleaned(server.name)[:LONGEST_PREFIX] or "server", name), digest))
    candidates += (_marked(first, digest[:length]) for length in range(MARK, len(digest) + 1))
    return next((candidate for candidate in candidates if candidate not in used), candidates[-1])


def _valid_name(name: str, digest: str) -> str:
    if _is_sendable(name):
        return name
    clean = cleaned(name) or "tool"
    return clean if len(clean) <= LONGEST and len(name) <= LONGEST else _marked(clean, digest[:MARK])


def _marked(name: str, mark: str) -> str:
    return f"{name[: LONGEST - 1 - len(mark)]}_{mark}"[-LONGEST:]


def renamed(tools: Sequence[ToolDefinition], server: ToolServer) -> tuple[ToolDefinition, ...]:
    """Return all tools of an experiment, those of ``server`` under the names that its present prefix gives."""
    used = {tool.name for tool in tools if tool.server != server.name}
    names = sent_names(server, (tool.name_there for tool in tools if tool.server == server.name), used)
    out: list[ToolDefinition] = []
    for tool in tools:
        name = names.get(tool.name_there, tool.name) if tool.server == server.name else tool.name
        remote = "" if name == tool.name_there else tool.name_there
        out.append(tool if name == tool.name else tool.model_copy(update={"name": name, "remote": remote}))
    return tuple(out)


def own_copy(tool: ToolDefinition, used: Collection[str]) -> ToolDefinition:
    """Copy a server's tool as a tool without a server, under a name that is not in ``used``."""
    name, number = tool.name, 1
    while name in used:
        suffix = "_copy" if number == 1 else f"_copy_{number}"
        name, number = f"{tool.name[: LONGEST - len(suffix)]}{suffix}", number + 1
    changes = {"name": name, "group": "", "server": "", "remote": "", "output": None, "hints": None}
    return tool.model_copy(update=changes)


def mapping_words(tool: ToolDefinition) -> str:
    """Explain why a tool is sent under another name than its own; empty where it is not."""
    if not tool.remote or tool.remote == tool.name:
        return ""
    words = f"“{show_hidden(short_name(tool.remote))}” is sent as {show_hidden(short_name(tool.name))}"
    if len(tool.remote) > LONGEST:
        return f"{words}: the protocols take at most {LONGEST} characters."
    if not _is_sendable(tool.remote):
        return f"{words}: the protocols take letters, digits, _ and - only."
    return f"{words}: another tool had that name, or the server has a prefix."


# ---- definitions -----------------------------------------------------------------------------------------------------


def by_name(tools: Iterable[ServerTool]) -> dict[str, ServerTool]:
    """Map tools by name; of several with one name the first counts, since no call reaches another."""
    out: dict[str, ServerTool] = {}
    for tool in tools:
        out.setdefault(tool.name, tool)
    return out


def definition_of(
    server: ToolServer, tool: ServerTool, name: str, group: str | None = None, *, enabled: bool = True
) -> ToolDefinition:
    """Return a server's tool as a tool of an experiment, sent as ``name``; ``group`` is the server's by default."""
    hints = _hints(tool)
    return ToolDefinition(
        name=name,
        description=tool.description,
        parameters=tool.parameters,
        enabled=enabled,
        group=server.name if group is None else group,
        server=server.name,
        remote="" if name == tool.name else tool.name,
        output=tool.output,
        hints=None if hints == _NO_HINTS else hints,
    )


def as_offered(tool: ToolDefinition) -> ServerTool:
    """Return the experiment's copy in the form in which its server would list it."""
    hints = tool.hints or _NO_HINTS
    return ServerTool(
        name=tool.name_there,
        title=hints.title,
        description=tool.description,
        parameters=tool.parameters or {},
        output=tool.output,
        hints=hints,
    )


def alike(first: ServerTool, second: ServerTool) -> bool:
    """Return whether two tools are equal in everything that a model, a person or a check sees of them."""
    return (
        first.name == second.name
        and first.description == second.description
        and _hints(first) == _hints(second)
        and same(first.parameters, second.parameters)
        and same(first.output, second.output)
    )


def _hints(tool: ServerTool) -> Hints:
    title = tool.hints.title or tool.title
    return tool.hints if tool.hints.title == title else tool.hints.model_copy(update={"title": title})


def new_tools(
    tools: Iterable[ToolDefinition],
    server: ToolServer,
    offered: Iterable[ServerTool],
    accepted: Mapping[str, ServerTool],
    *,
    enabled: bool = True,
) -> tuple[ToolDefinition, ...]:
    """Return the offered tools that are not among an experiment's ``tools``, as definitions for it.

    Adding the tools of a server accepts them where none of its tools was accepted before; later, new and changed tools
    are disabled.
    """
    tools = list(tools)
    present = {tool.name_there for tool in tools if tool.server == server.name}
    missing = {name: tool for name, tool in by_name(offered).items() if name not in present}
    names = sent_names(server, missing, {tool.name for tool in tools})
    group = next((tool.group for tool in tools if tool.server == server.name), server.name)

    def is_accepted(tool: ServerTool) -> bool:
        return not accepted or (tool.name in accepted and alike(accepted[tool.name], tool))

    return tuple(
        definition_of(server, tool, names[name], group, enabled=enabled and is_accepted(tool))
        for name, tool in missing.items()
    )


def accepted_copy(tool: ToolDefinition, offered: ServerTool) -> ToolDefinition:
    """Return the experiment's copy with the definition that the server offers now, enabled; name and place stay."""
    hints = _hints(offered)
    return tool.model_copy(
        update={
            "description": offered.description,
            "parameters": offered.parameters,
            "output": offered.output,
            "hints": None if hints == _NO_HINTS else hints,
            "source": None,
            "text": None,
            "enabled": True,
        }
    )


# ---- trust -----------------------------------------------------------------------------------------------------------


def trust_of(
    tool: ToolDefinition, accepted: Mapping[str, ServerTool], offered: Mapping[str, ServerTool] | None
) -> ToolTrust:
    """Compare a tool with its server's ``accepted`` and ``offered`` tools, both by their names on the server.

    ``offered`` is None as long as the server has not listed its tools.
    """
    copy, seen = as_offered(tool), accepted.get(tool.name_there)
    if tool.source is not None:
        return ToolTrust.CHANGED
    if offered is None:
        return ToolTrust.SAME if seen is not None and alike(copy, seen) else ToolTrust.UNKNOWN
    now = offered.get(tool.name_there)
    if now is None:
        return ToolTrust.GONE
    if not alike(copy, now):
        return ToolTrust.CHANGED
    if seen is None:
        return ToolTrust.NEW
    return ToolTrust.SAME if alike(now, seen) else ToolTrust.CHANGED


def refusal(tool: ToolDefinition, trust: ToolTrust) -> str:
    """Return the reason why a tool of this trust is not called on its server; empty where it may be."""
    name, server = (show_hidden(short_name(text)) for text in (tool.name_there, tool.server))
    if trust is ToolTrust.CHANGED:
        return (
            f"“{name}” is not what you accepted from “{server}” any more. "
            "Look at the difference in the Tools panel, and accept it there."
        )
    if trust is ToolTrust.NEW:
        return f"“{name}” from “{server}” was not accepted on this computer yet. Look at it in the Tools panel."
    if trust is ToolTrust.GONE:
        return f"“{server}” does not offer “{name}” any more. Answer by hand, or remove the tool."
    return ""


class Difference(NamedTuple):
    """Two definitions as JSON, to be compared member by member."""

    before: JSON
    now: JSON


def difference(tool: ToolDefinition, accepted: Mapping[str, ServerTool], now: ServerTool) -> Difference:
    """Return the difference to show: of the experiment's copy, or, where it is as offered, of the accepted tool.

    ``before`` is None where nothing was accepted.
    """
    copy = as_offered(tool)
    if not alike(copy, now):
        return Difference(_described(copy), _described(now))
    seen = accepted.get(tool.name_there)
    return Difference(_described(seen) if seen is not None else None, _described(now))


def _described(tool: ServerTool) -> JSONObject:
    """Return a definition under the words that people read."""
    hints = _hints(tool)
    claims: dict[str, JSON] = {
        "read-only": hints.read_only,
        "destructive": hints.destructive,
        "idempotent": hints.idempotent,
        "open world": hints.open_world,
    }
    out: JSONObject = {"title": hints.title, "description": tool.description, "parameters": tool.parameters}
    out["result"] = tool.output
    out["says it is"] = {name: value for name, value in claims.items() if value is not None}
    return {name: value for name, value in out.items() if value not in ("", None, {})}
