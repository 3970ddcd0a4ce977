"""The bill of materials of a frozen application, as CycloneDX 1.6 in JSON: what is in it, whose, in which version.

Made from the files that are bundled and the installed distributions they came from, like the licences (notices.py), so
that nothing is listed that is not in it. The same content gives the same bytes. The standard library alone is needed.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any
from urllib.parse import quote

import notices

NAME = "sbom.cdx.json"
OURS = "gateway-playground"
_PLACE = uuid.UUID("f3b9f9c6-4f0b-5c58-9d0c-7f3a0f6f6f2e")  # of the names below it; means nothing
_WORD = re.compile(r"[A-Za-z0-9._-]+")
#: An expression of SPDX names, as distributions spell it since they agreed on one; anything else is a text.
_EXPRESSION = re.compile(r"[A-Za-z0-9.+-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+-]+)*")

Component = dict[str, Any]


def collect(sources: list[Path], out: Path) -> list[notices.Entry]:
    """Write what ``sources`` came from to the file ``out``. Returns what is to be bundled."""
    packages = {name: _version_in_the_system(name) for name in notices.of_the_system(sources)}
    content = bill(notices.bundled(sources), packages, int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    out.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    return [(NAME, str(out), "DATA")]


def bill(used: dict[str, Distribution], packages: dict[str, str], made_at: int) -> Component:
    """The document. ``packages`` are those of a Debian system with their versions; ``made_at`` is Unix time."""
    distributions = {plain(one.name): one for one in used.values()}
    ours = distributions.pop(OURS)
    refs = {name: _purl("pypi", name, one.version) for name, one in distributions.items()}
    components = [_of_distribution(distributions[name], ref) for name, ref in refs.items()]
    version = platform.python_version()
    python: Component = {"type": "platform", "bom-ref": f"python@{version}", "name": "Python", "version": version}
    python["licenses"] = [{"license": {"id": "PSF-2.0"}}]
    python["purl"] = f"pkg:generic/python@{version}"
    components.append(python)
    qt = next((one.version for one in distributions.values() if plain(one.name) == "pyside6-essentials"), None)
    if qt is not None:
        found: Component = {"type": "library", "bom-ref": f"qt@{qt}", "name": "Qt", "version": qt}
        components.append(found | {"licenses": [{"license": {"id": "LGPL-3.0-only"}}], "purl": f"pkg:generic/qt@{qt}"})
    for name, installed in packages.items():
        ref = _purl("deb/debian", name, installed)
        components.append({"type": "library", "bom-ref": ref, "name": name, "version": installed, "purl": ref})
    components.sort(key=lambda one: str(one["bom-ref"]))
    root = _of_distribution(ours, _purl("pypi", OURS, ours.version)) | {"type": "application"}
    needs: dict[str, list[str]] = {refs[name]: _needed(one, refs) for name, one in distributions.items()}
    if qt is not None:
        needs[refs["pyside6-essentials"]] += [f"qt@{qt}"]
    # What nothing else names is there for the whole application, the interpreter first.
    named = {ref for some in (_needed(ours, refs), *needs.values()) for ref in some}
    needs[str(root["bom-ref"])] = _needed(ours, refs) + [
        str(one["bom-ref"]) for one in components if one["bom-ref"] not in named
    ]
    content: Component = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(made_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": root,
            "properties": [{"name": "gateway-playground:system", "value": f"{sys.platform} {platform.machine()}"}],
        },
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(some))} for ref, some in sorted(needs.items())],
    }
    return {**content, "serialNumber": f"urn:uuid:{uuid.uuid5(_PLACE, json.dumps(content, sort_keys=True))}"}


def plain(name: str) -> str:
    """A distribution's name in the one spelling that counts."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _of_distribution(found: Distribution, ref: str) -> Component:
    component: Component = {"type": "library", "bom-ref": ref, "name": found.name, "version": found.version}
    if about := notices.field(found, "Summary"):
        component["description"] = about
    said = notices.licence(found)
    if _EXPRESSION.fullmatch(said) and notices.field(found, "License-Expression"):
        component["licenses"] = [{"expression": said}]
    elif said:
        component["licenses"] = [{"license": {"name": said}}]
    return component | {"purl": ref}


def _needed(found: Distribution, refs: dict[str, str]) -> list[str]:
    """Those of ``refs`` that a distribution asks for. What was left out of the bundle, or is for others, is none."""
    words = [match[0] for line in found.requires or () if "extra ==" not in line and (match := _WORD.match(line))]
    return [refs[plain(word)] for word in words if plain(word) in refs]


def _purl(kind: str, name: str, version: str) -> str:
    return f"pkg:{kind}/{quote(name)}@{quote(version, safe='.-_~')}"


def _version_in_the_system(package: str) -> str:
    asked = ["dpkg-query", "--show", "--showformat=${Version}", package]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()[0]
