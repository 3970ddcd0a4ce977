"""Files: replaced as a whole, so that a reader gets the old content or the new; decoded; those of the application.

`ExportFormat` is a row in the tables of formats that experiments, evaluations and gateway checks are exported in.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Generic, TypeVar
from uuid import uuid4

from playground.system.private import make_folder

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """Replace or create the file at ``path``; a link stays a link, and a file keeps its mode.

    Only the owner can read a ``private`` file, and its folder is created if it is missing. Blocks until the data is on
    disk. Raises OSError, and leaves the old file and nothing else.
    """
    try:
        target = path.resolve()
    except RuntimeError as error:  # links in a circle, on older versions of Python
        raise OSError(str(error)) from None
    if private:
        make_folder(target.parent)
    temporary = target.with_name(f".{target.name}.{uuid4().hex}.tmp")
    try:
        with os.fdopen(os.open(temporary, _NEW, 0o600 if private else 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not private and target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins like that one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE: Final = 4_000  # bytes that are looked at where there is no mark


def decode_text(data: bytes) -> str:
    """Decode a file's content, without its byte order mark. Raises ValueError that names the line."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "") or _guess(data[:_SAMPLE])
    try:
        return data.decode(encoding).lstrip("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"The file is not UTF-8 text (line {line}). Save it as UTF-8.") from None


def _guess(sample: bytes) -> str:
    """Return the encoding of a text without a mark: every other byte of UTF-16 is zero in most languages."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > len(sample) // 6 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > len(sample) // 6 and not odd else "utf-8"


@cache
def resource_root() -> Path:
    """Return the folder of icons, templates and samples. Raises FileNotFoundError."""
    package = Path(__file__).resolve().parents[2]
    frozen = getattr(sys, "_MEIPASS", None)
    folders = [Path(frozen) / "resources"] if frozen else []
    folders += [package / "resources", package.parent / "resources"]
    for folder in folders:
        if folder.is_dir():
            return folder
    raise FileNotFoundError("the application's resources folder is missing; please install it again")


W = TypeVar("W", bound=Callable[..., Any])


@dataclass(frozen=True)
class ExportFormat(Generic[W]):
    """A format of exported files: its name in commands, its label and note for people, the suffix without its dot.

    ``write`` returns the text of a file.
    """

    name: str
    label: str
    suffix: str
    write: W
    note: str = ""


def render_template(template: str, clean: Callable[[str], str], **values: Any) -> str:
    """Render a template of ``resources/templates``. Each text is passed through ``clean`` and escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # the window starts without it

    environment = Environment(
        loader=FileSystemLoader(resource_root() / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: clean(value) if type(value) is str else value,
    )
    return environment.get_template(template).render(values)
