"""The files shipped with the application, in a wheel, a checkout or a frozen build; and templates among them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


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
