"""Stacks as ``faulthandler`` writes them, made fit to keep: names, files and lines, no folder of the user's. No Qt."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+|\?\?\?) in (?P<name>.*)$')
_THREAD = re.compile(r"(?:Current thread|Thread) 0x(?P<id>[0-9a-f]+)")
_HEADING = re.compile(
    r"^(?:(?:Fatal Python error|Windows fatal exception): [ \w:()-]{1,80}|Timeout \([\d:.]{1,20}\)!)$"
)
_PACKAGES = ("site-packages", "dist-packages")


def plain_stack(raw: str, names: Mapping[int | None, str] | None = None) -> str:
    """Return the text of ``faulthandler`` with short paths and the ``names`` of threads, by their idents."""
    return "\n".join(_plain(line, names or {}) for line in raw.splitlines() if line.strip())


def _plain(line: str, names: Mapping[int | None, str]) -> str:
    frame = _FRAME.match(line)
    if frame is not None:
        return f"  {frame['name']} ({short(frame['file'])}:{frame['line']})"
    thread = _THREAD.match(line)
    if thread is not None:
        return f"Thread “{names.get(int(thread['id'], 16), 'without a name')}”:"
    return line if _HEADING.match(line) else "  …"


def short(file: str) -> str:
    """A file's path from the package on; of a file that belongs to none, only its name."""
    parts = re.split(r"[/\\]+", file)
    for index in range(len(parts) - 1, 0, -1):
        if parts[index - 1] in _PACKAGES or parts[index] == "playground":
            return "/".join(parts[index:])
    for prefix in {sys.base_prefix, sys.prefix}:
        if Path(file).is_relative_to(prefix):
            return "/".join(("python", *Path(file).relative_to(prefix).parts))
    return parts[-1]
