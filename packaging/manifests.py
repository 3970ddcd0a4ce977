"""Writes the descriptions of a release for package managers: Flatpak, winget and Homebrew.

Usage: manifests.py PACKAGES OUT --repository URL. PACKAGES is the folder of the release, whose checksums
go into the descriptions. URL is the address of the repository that publishes them below `/releases/download`. The
description for a package manager is left out, and named, when PACKAGES lacks one of its packages.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import freeze

ROOT = freeze.ROOT
TEMPLATES = freeze.HERE / "managers"
#: Packages that descriptions refer to, by their names in templates.
PACKAGES = {
    "LINUX_X86_64": "gateway-playground-{version}-linux-x86_64.tar.gz",
    "WINDOWS_X86_64": "gateway-playground-{version}-windows-x86_64-setup.exe",
    "MACOS_ARM64": "gateway-playground-{version}-macos-arm64.dmg",
    "MACOS_X86_64": "gateway-playground-{version}-macos-x86_64.dmg",
}
PLACEHOLDER = re.compile(r"@([A-Z0-9_]+)@")


def main() -> int:
    """Write the descriptions whose packages exist. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--repository", required=True, help="https address of the repository")
    arguments = parser.parse_args()
    repository = str(arguments.repository).rstrip("/")
    if urlsplit(repository).scheme != "https" or not urlsplit(repository).hostname:
        parser.error("the address of the repository must begin with https://")
    values = release_values(arguments.packages, repository)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for template in sorted(TEMPLATES.glob("*.in")):
        text = template.read_text(encoding="utf-8")
        missing = sorted(set(PLACEHOLDER.findall(text)) - values.keys())
        if missing:
            print(f"{template.stem} is left out: no value for {', '.join(missing)}.")
            continue
        (arguments.out / template.stem).write_text(
            PLACEHOLDER.sub(lambda match: values[match[1]], text), encoding="utf-8"
        )
        print(template.stem)
    return 0


def release_values(packages: Path, repository: str) -> dict[str, str]:
    """The values of placeholders; names and checksums only of the packages that exist."""
    version = read_version()
    values = {
        "VERSION": version,
        "DATE": datetime.fromtimestamp(int(freeze.source_date()), UTC).date().isoformat(),
        "REPOSITORY": repository,
        "DOWNLOADS": f"{repository}/releases/download/v{version}",
    }
    for key, pattern in PACKAGES.items():
        path = packages / pattern.format(version=version)
        if path.is_file():
            values[key] = path.name
            with path.open("rb") as file:
                values[f"SHA256_{key}"] = hashlib.file_digest(file, "sha256").hexdigest()
    return values


def read_version() -> str:
    """The version of the source tree."""
    text = (ROOT / "playground" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if match is None:
        raise SystemExit("playground/__init__.py has no version.")
    return match[1]


if __name__ == "__main__":
    sys.exit(main())
