"""What a server's tools are called in a request: their own names, or others where those cannot be sent.

Both protocols take the same names (``NAME_RULE``), so that one name holds whichever is spoken. A name that cannot be
sent, or that another tool has, becomes one that tells where it is from. The same servers and tools have the same names
on every computer and whatever order they are listed in; once a tool is in an experiment, its name is kept with it.
Pure functions.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from playground.domain.hidden import short_name, show_hidden
from playground.domain.tool_servers import Hints, ServerTool, ToolServer
from playground.domain.tools import NAME_RULE, ToolDefinition

LONGEST: Final = 64  # characters of a name that the protocols take
MARK: Final = 6  # letters that tell names apart which would be alike
LONGEST_PREFIX: Final = 32  # characters
_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]+")
NOTHING_SAID: Final = Hints()


def sendable(name: str) -> bool:
    """Whether the protocols take a name as it is."""
    return NAME_RULE.match(name) is not None


def cleaned(text: str) -> str:
    """A text with what no name may hold replaced; empty where nothing of it may stand in one."""
    plain = unicodedata.normalize("NFKD", text[:1_000])
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return _REFUSED.sub("_", letters).strip("_")


def prefixed(prefix: str, name: str) -> str:
    """A name with a prefix before it, and something between them where the prefix has nothing at its end."""
    if not prefix:
        return name
    return f"{prefix}{name}" if prefix[-1] in "_-" else f"{prefix}_{name}"


def prefix_problem(prefix: str) -> str:
    """What is wrong with a prefix somebody typed; empty where nothing is."""
    if len(prefix) > LONGEST_PREFIX:
        return f"At most {LONGEST_PREFIX} characters: names of tools have room for {LONGEST}."
    if prefix and not sendable(prefix):
        return "Use letters, digits, _ and - only: both protocols refuse other names."
    return ""


def sent_names(server: ToolServer, tools: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """The name each of a server's tools is sent under, by its name there; none of them is among ``taken``.

    Names that can be sent as they are come first: none of them gives way to one that has to be another.
    """
    used = set(taken)
    names = sorted(set(tools))
    wanted = {name: prefixed(server.prefix, name) for name in names}
    out: dict[str, str] = {}
    for name in sorted(names, key=lambda name: not sendable(wanted[name])):
        out[name] = _free(server, name, wanted[name], used)
        used.add(out[name])
    return out


def _free(server: ToolServer, name: str, wanted: str, used: Collection[str]) -> str:
    whole = hashlib.sha256(f"{server.name}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
    first = _fitting(wanted, whole)
    if first not in used:
        return first
    if not server.prefix:
        second = _fitting(prefixed(cleaned(server.name)[:LONGEST_PREFIX] or "server", name), whole)
        if second not in used:
            return second
    for length in range(MARK, len(whole)):
        marked = _marked(first, whole[:length])
        if marked not in used:
            return marked
    return _marked(first, whole)  # nobody has that many names


def _fitting(name: str, whole: str) -> str:
    if sendable(name):
        return name
    clean = cleaned(name) or "tool"
    return clean if len(clean) <= LONGEST and len(name) <= LONGEST else _marked(clean, whole[:MARK])


def _marked(name: str, mark: str) -> str:
    return f"{name[: LONGEST - 1 - len(mark)]}_{mark}"[-LONGEST:]


def definition_of(
    server: ToolServer, tool: ServerTool, name: str, group: str | None = None, *, enabled: bool = True
) -> ToolDefinition:
    """A server's tool as it stands in an experiment, sent under ``name``; without a ``group`` in the server's own."""
    title = tool.hints.title or tool.title
    hints = tool.hints if tool.hints.title == title else tool.hints.model_copy(update={"title": title})
    return ToolDefinition(
        name=name,
        description=tool.description,
        parameters=tool.parameters,
        enabled=enabled,
        group=server.name if group is None else group,
        server=server.name,
        remote="" if name == tool.name else tool.name,
        output=tool.output,
        hints=None if hints == NOTHING_SAID else hints,
    )


def renamed(tools: Sequence[ToolDefinition], server: ToolServer) -> tuple[ToolDefinition, ...]:
    """All tools of an experiment, those of this server under the names that its prefix gives them now."""
    taken = {tool.name for tool in tools if tool.server != server.name}
    names = sent_names(server, (tool.name_there for tool in tools if tool.server == server.name), taken)
    out: list[ToolDefinition] = []
    for tool in tools:
        name = names.get(tool.name_there, tool.name) if tool.server == server.name else tool.name
        remote = "" if name == tool.name_there else tool.name_there
        out.append(tool if name == tool.name else tool.model_copy(update={"name": name, "remote": remote}))
    return tuple(out)


def own_copy(tool: ToolDefinition, taken: Collection[str]) -> ToolDefinition:
    """A tool of a person's own made of a server's, under a free name."""
    name, number = tool.name, 1
    while name in taken:
        end = "_copy" if number == 1 else f"_copy_{number}"
        name, number = f"{tool.name[: LONGEST - len(end)]}{end}", number + 1
    changed = {"name": name, "group": "", "server": "", "remote": "", "output": None, "hints": None}
    return tool.model_copy(update=changed)


def mapping_words(tool: ToolDefinition) -> str:
    """What a tool is sent as and why, where that is not its name on its server; empty where it is."""
    if not tool.remote or tool.remote == tool.name:
        return ""
    said = f"“{show_hidden(short_name(tool.remote))}” is sent as {show_hidden(short_name(tool.name))}"
    if len(tool.remote) > LONGEST:
        return f"{said}: the protocols take at most {LONGEST} characters."
    if not sendable(tool.remote):
        return f"{said}: the protocols take letters, digits, _ and - only."
    return f"{said}: another tool had that name, or the server has a prefix."
