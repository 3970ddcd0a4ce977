"""Packages contain the tested versions: locks that fit the project, actions named by commit, a bill of materials."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, distributions
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.each_case import each_case

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SYSTEMS = [
    {"sys_platform": system, "platform_system": name, "os_name": os_name, "python_version": version}
    | {"python_full_version": f"{version}.5", "implementation_name": "cpython", "extra": ""}
    | {"platform_python_implementation": "CPython"}
    for system, name, os_name in (
        ("linux", "Linux", "posix"),
        ("win32", "Windows", "nt"),
        ("darwin", "Darwin", "posix"),
    )
    for version in ("3.11", "3.12", "3.13")
]
#: Runs packaging/sbom.py for the distributions that are installed here.
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import sbom
from importlib.metadata import distribution
used = {name: distribution(name) for name in sys.argv[3:]}
json.dump(sbom.bill(used, {"libexample1": "1:2.0+b1~deb12"}, int(sys.argv[2])), sys.stdout)
"""


def lock(name: str) -> dict[str, list[Requirement]]:
    """The lines of a lock by the names of their distributions, without hashes."""
    text = (PACKAGING / "locks" / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    requirements: dict[str, list[Requirement]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line.partition(" --hash=")[0])
            requirements.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return requirements


def version_for(lines: list[Requirement], system: dict[str, str]) -> str | None:
    """The version that is installed on a system; None for none."""
    fitting = [line for line in lines if line.marker is None or line.marker.evaluate(system)]
    assert len(fitting) <= 1
    return str(fitting[0].specifier).removeprefix("==") if fitting else None


def requirements_of(*extras: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    return [
        requirement
        for requirement in map(Requirement, lines)
        if canonicalize_name(requirement.name) != "gateway-playground"
    ]


@each_case(("name", "extras"), [("app", ()), ("dev", ("dev", "bench"))])
def test_locks_fit_the_requirements(name: str, extras: tuple[str, ...]) -> None:
    locked = lock(name)
    for system in SYSTEMS:
        for requirement in requirements_of(*extras):
            if requirement.marker is not None and not requirement.marker.evaluate(system):
                continue
            version = version_for(locked.get(canonicalize_name(requirement.name), []), system)
            assert version is not None, f"{requirement} is not locked for {system}: run packaging/lock.sh"
            assert requirement.specifier.contains(version), (
                f"{requirement}, but {version} is locked: run packaging/lock.sh"
            )


def test_locks_agree() -> None:
    app, build, dev = lock("app"), lock("build"), lock("dev")
    assert app.keys() <= dev.keys()
    for system in SYSTEMS:
        for name in dev:
            versions = {version_for(locked[name], system) for locked in (app, build, dev) if name in locked} - {None}
            assert len(versions) <= 1, f"{name}: {versions}"


@each_case("name", ["app", "build", "dev"])
def test_locks_have_hashes_and_no_hosts(name: str) -> None:
    text = (PACKAGING / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^-|--(?:index|extra|find|trusted)", text.replace("    --hash", ""), re.MULTILINE)
    entries = [line for line in text.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    assert entries
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9.-]+==\S+( ; [^\\#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*", entry), entry[:80]
    assert "3.11 to 3.13 on Linux, Windows and macOS" in text


def test_ci_and_packages_install_from_locks_only() -> None:
    scripts = [*(path for path in (ROOT / ".ci").iterdir() if path.is_file()), *WORKFLOWS]
    lines = [line.strip() for path in scripts for line in path.read_text(encoding="utf-8").splitlines()]
    installs = [line for line in lines if re.search(r"/pip\"? (?:install|wheel)\b", line)]
    unlocked = [line for line in installs if "--require-hashes" not in line and "--no-deps" not in line]
    assert len(installs) >= 10
    assert len(unlocked) == 2
    setup = (ROOT / ".ci" / "setup.sh").read_text(encoding="utf-8")
    newest = setup.partition("install_newest() {")[2].partition("\n}\n")[0]
    assert all(line in newest for line in unlocked), "only what tries the newest versions goes without the locks"
    assert "--newest" in (ROOT / ".github" / "workflows" / "newest.yml").read_text(encoding="utf-8")
    freeze = (PACKAGING / "freeze.py").read_text(encoding="utf-8")
    assert '"--require-hashes", *locked' in freeze
    assert freeze.count('"install"') == 2
    assert freeze.count('"--no-deps"') == 2


def test_actions_are_named_by_one_commit_each() -> None:
    commits: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        used = re.findall(r"uses:\s*(\S+)(.*)", path.read_text(encoding="utf-8"))
        assert used, path
        for action, comment in used:
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r"\s+# v\d+\.\d+\.\d+", comment), f"{action} does not say which version it is"
            name, _, commit = action.partition("@")
            commits.setdefault(name, set()).add(commit)
    assert all(len(some) == 1 for some in commits.values())


def make_bill(names: list[str], epoch: int = 1_700_000_000) -> Any:
    command = [sys.executable, "-c", PROGRAM, str(PACKAGING), str(epoch), *names]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def validate(bill: Any) -> None:
    validation: Any = importlib.import_module("cyclonedx.validation.json")
    schema: Any = importlib.import_module("cyclonedx.schema")
    assert validation.JsonStrictValidator(schema.SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None


def test_bill_of_materials_has_all_components() -> None:
    names = ["gateway-playground", *(needed.name for needed in requirements_of())]
    bill = make_bill(names)
    validate(bill)
    components = {component["name"]: component for component in bill["components"]}
    for name in names[1:]:
        installed = distribution(name)
        assert components[installed.name]["version"] == installed.version
        assert components[installed.name]["purl"] == f"pkg:pypi/{canonicalize_name(name)}@{installed.version}"
    assert components["Qt"]["version"] == distribution("PySide6-Essentials").version
    assert components["Python"]["version"] == sys.version.split()[0]
    assert components["libexample1"]["purl"] == "pkg:deb/debian/libexample1@1%3A2.0%2Bb1~deb12"
    refs = {component["bom-ref"] for component in bill["components"]}
    assert len(refs) == len(bill["components"])
    edges = {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
    assert {ref for some in edges.values() for ref in some} == refs  # all hang together
    root = bill["metadata"]["component"]
    assert (root["type"], root["licenses"]) == ("application", [{"expression": "MIT"}])
    assert components["h11"]["bom-ref"] in edges[root["bom-ref"]]


def test_bill_of_materials_of_all_distributions_is_valid() -> None:
    names = sorted({each.name for each in distributions() if each.name} | {"gateway-playground"})
    bill = make_bill(names)
    validate(bill)
    assert len(bill["components"]) >= len({canonicalize_name(name) for name in names})


def test_bill_of_materials_depends_on_its_content_only() -> None:
    names = ["gateway-playground", "httpx", "h11", "PySide6-Essentials"]
    bill = make_bill(names)
    assert json.dumps(bill) == json.dumps(make_bill(names[::-1]))
    assert bill["serialNumber"] != make_bill(names[:-1])["serialNumber"]
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"


def test_packages_contain_the_bill_of_materials() -> None:
    for path in ("linux/build.sh", "windows/build.ps1", "macos/build.sh"):
        text = (PACKAGING / path).read_text(encoding="utf-8")
        assert "sbom.cdx.json" in text
        assert ".cdx.json" in text.replace("sbom.cdx.json", "")
    assert "sbom.collect(" in (PACKAGING / "playground.spec").read_text(encoding="utf-8")
    assert (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8").count("*.cdx.json") == 3


def test_files_named_in_security_page_exist() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = [name for name in re.findall(r"`([\w./*-]+/[\w./*-]*)`", text) if "://" not in name]
    assert len(named) > 15
    assert [name for name in named if not list(ROOT.glob(name.rstrip("/")))] == []


def test_every_push_is_tested_on_three_systems() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    triggers = workflow[True]  # YAML 1.1 reads the key "on" as a truth value
    assert triggers["push"] == {"branches": ["**"]}
    jobs = workflow["jobs"]
    systems = [jobs["linux"]["runs-on"], *jobs["others"]["strategy"]["matrix"]["runs-on"]]
    assert [system.partition("-")[0] for system in systems] == ["ubuntu", "windows", "macos"]
    assert jobs["linux"]["steps"][-1]["run"] == ".ci/run"
    assert jobs["others"]["steps"][-1]["run"] == "python -m pytest"
    assert jobs["others"]["strategy"]["fail-fast"] is False


def test_release_of_one_system_does_not_wait_for_others() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))["jobs"]
    release = jobs.pop("release")
    assert set(release["needs"]) == set(jobs) == {"linux", "windows", "macos"}
    assert "!cancelled()" in release["if"]
    assert not any("needs" in job for job in jobs.values())
    assert all(job["strategy"]["fail-fast"] is False for job in jobs.values() if "strategy" in job)
