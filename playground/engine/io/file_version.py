"""Whether a file that people write names a version of its format that is known here, and words where it does not."""

from __future__ import annotations

from playground.jsonkit.values import JSONObject


def version_problem(value: JSONObject, name: str, known: int) -> str:
    """Why a file whose member ``name`` is the version of its format cannot be read; empty when it can."""
    version = value.get(name)
    if type(version) is int and version > known:
        return f'"{name}": {version} is a version from a newer application; this one knows {known}. Update it'
    if version is None:
        return f'"{name}": {known} is missing; it names the version of the format'
    if type(version) is not int or version != known:
        return f'"{name}" must be {known}, the version of the format, not {version!r:.40}'
    return ""
