"""Descriptions for package managers: complete, with the checksums of the release, and about the same packages."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from playground import __version__

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://git.example.com/tools/gateway-playground"
NAMES = {
    "linux": f"gateway-playground-{__version__}-linux-x86_64.tar.gz",
    "windows": f"gateway-playground-{__version__}-windows-x86_64-setup.exe",
    "arm": f"gateway-playground-{__version__}-macos-arm64.dmg",
    "intel": f"gateway-playground-{__version__}-macos-x86_64.dmg",
}


def write_manifests(folder: Path, *systems: str, repository: str = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """Run the script for packages of these systems; the descriptions are in `folder/out`."""
    packages = folder / "packages"
    packages.mkdir()
    for system in systems:
        (packages / NAMES[system]).write_text(system)
    script = str(ROOT / "packaging" / "manifests.py")
    command = [sys.executable, "-B", script, str(packages), str(folder / "out"), "--repository", repository]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def checksum(system: str) -> str:
    return hashlib.sha256(system.encode()).hexdigest()


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    ended = write_manifests(tmp_path, *NAMES)
    assert ended.returncode == 0, ended.stderr
    return tmp_path / "out"


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_manifests_have_no_placeholder_and_one_host(manifests: Path) -> None:
    paths = list(manifests.iterdir())
    assert len(paths) == 5
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"@[A-Z0-9_]+@", text), path.name
        hosts = {host for host in re.findall(r"https://([^/\s\"]+)", text) if host != "aka.ms"}
        assert hosts <= {"git.example.com"}, path.name


def test_flatpak_manifest_downloads_the_portable_archive(manifests: Path) -> None:
    manifest = load(manifests / "app.gateway_playground.GatewayPlayground.yaml")
    (metainfo,) = (ROOT / "packaging" / "linux").glob("*.metainfo.xml.in")
    assert f"<id>{manifest['id']}</id>" in metainfo.read_text(encoding="utf-8")
    (source,) = manifest["modules"][0]["sources"]
    assert source["url"] == f"{REPOSITORY}/releases/download/v{__version__}/{NAMES['linux']}"
    assert source["sha256"] == checksum("linux")
    for key in ("rename-desktop-file", "rename-mime-file"):
        assert (ROOT / "packaging" / "linux" / manifest[key]).is_file()


def test_winget_manifests_describe_the_installer(manifests: Path) -> None:
    loaded = [load(path) for path in sorted(manifests.glob("GatewayPlayground.*"))]
    assert {manifest["PackageVersion"] for manifest in loaded} == {__version__}
    assert len({manifest["PackageIdentifier"] for manifest in loaded}) == 1
    assert sorted(manifest["ManifestType"] for manifest in loaded) == ["defaultLocale", "installer", "version"]
    (described,) = [manifest for manifest in loaded if manifest["ManifestType"] == "installer"]
    (installer,) = described["Installers"]
    assert installer["InstallerUrl"].endswith(f"/v{__version__}/{NAMES['windows']}")
    assert installer["InstallerSha256"] == checksum("windows")
    script = (ROOT / "packaging" / "windows" / "installer.nsi").read_text(encoding="utf-8")
    assert f'Uninstall\\{described["AppsAndFeaturesEntries"][0]["ProductCode"]}"' in script
    assert "RequestExecutionLevel user" in script
    assert described["Scope"] == "user"


def test_homebrew_cask_has_both_images(manifests: Path) -> None:
    cask = manifests / "gateway-playground.rb"
    text = cask.read_text(encoding="utf-8")
    assert f'version "{__version__}"' in text
    assert checksum("arm") in text
    assert checksum("intel") in text
    build = (ROOT / "packaging" / "macos" / "build.sh").read_text(encoding="utf-8")
    assert "gateway-playground-$version-macos-$(uname -m).dmg" in build
    if ruby := shutil.which("ruby"):
        subprocess.run([ruby, "-c", str(cask)], check=True, capture_output=True, timeout=60)


def test_manifest_without_its_package_is_left_out_and_named(tmp_path: Path) -> None:
    ended = write_manifests(tmp_path, "linux", "arm")
    assert ended.returncode == 0, ended.stderr
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert "app.gateway_playground.GatewayPlayground.yaml" in written
    assert "gateway-playground.rb" not in written
    assert "gateway-playground.rb is left out: no value for SHA256_MACOS_X86_64." in ended.stdout


def test_repository_without_https_is_refused(tmp_path: Path) -> None:
    ended = write_manifests(tmp_path, "linux", repository="http://git.example.com/x")
    assert ended.returncode == 2
    assert "https://" in ended.stderr
