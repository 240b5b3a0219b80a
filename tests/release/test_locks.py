"""What the set-up, CI and a release install is proved by hashes: all that is required is locked, and nothing else installs."""

from __future__ import annotations

import json
import re
import tomllib

import lock
import pytest
import yaml
from generate import sdk
from packaging.requirements import Requirement
from workspace import ROOT

LOCKS = [lock.PACKAGES, *lock.OTHERS]
NPM_LOCKS = [lock.NPM_SDK, lock.NPM_EXAMPLE]
WRITTEN = [path for path in lock.PROJECTS if not path.is_relative_to(sdk.FOLDER)]
"""All but the SDK's description, which Pulumi's generator writes; builds here take what is installed."""
INSTALLING = [
    ROOT / "Makefile",
    ROOT / "provider" / "gcpx_emulator" / "Containerfile",
    *sorted((ROOT / ".github" / "workflows").glob("*.yml")),
]
TARGETS = {
    "linux-amd64": "x86_64-manylinux_2_35",
    "linux-arm64": "aarch64-manylinux_2_35",
    "darwin-amd64": "x86_64-apple-darwin",
    "darwin-arm64": "aarch64-apple-darwin",
    "windows-amd64": "x86_64-pc-windows-msvc",
}
"""What uv calls the platforms of a release."""


def _entries(path):
    """Return the lines of a lock, each with its hashes."""
    return re.split(r"\n(?! )", path.read_text().strip().replace("\\\n", ""))


def _locked():
    """Return the versions of each package that is locked; markers choose between several."""
    versions = {}
    for entry in _entries(lock.PACKAGES):
        requirement = Requirement(re.split(r"\s+--hash", entry, maxsplit=1)[0])
        versions.setdefault(lock.normalized(requirement.name), []).append(str(requirement.specifier).removeprefix("=="))
    return versions


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_locked_package_has_one_version_and_hashes(path):
    for entry in _entries(path):
        assert re.fullmatch(r"[\w.-]+==[\w.!+-]+( ; [^\n]+?)?(\s+--hash=sha256:[0-9a-f]{64})+", entry), entry


def test_everything_that_a_distribution_requires_is_locked():
    versions = _locked()
    for text in lock.requirements():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate():
            found = versions.get(lock.normalized(requirement.name), [])
            assert found, f"{text}: run `make lock`"
            assert all(requirement.specifier.contains(version) for version in found), f"{text}: run `make lock`"


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.parent.name)
def test_a_distribution_is_built_with_the_version_that_is_locked(path):
    (version,) = _locked()["hatchling"]

    assert tomllib.loads(path.read_text())["build-system"]["requires"] == [f"hatchling=={version}"]


def test_every_package_has_a_wheel_on_the_platforms_of_a_release():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    targets = {row["target"] for row in jobs["archive"]["strategy"]["matrix"]["include"]}

    assert {TARGETS[target] for target in targets} == set(lock.PLATFORMS), "`make lock` looks for the wheels"


@pytest.mark.parametrize("path", INSTALLING, ids=lambda path: path.name)
def test_pip_and_npm_install_only_what_a_lock_proves(path):
    text = path.read_text().replace("\\\n", " ")
    for command in re.findall(r"\bpip3? (?:install|download|wheel)\b.*", text):
        # Without a wheel, pip would build a package with others, whose hashes it does not check.
        assert "--require-hashes --only-binary :all:" in command or "--no-index" in command, command
    for command in re.findall(r"^\s*(?:- run: )?(npm .*)", text, re.MULTILINE):
        assert re.match(r"npm (ci --ignore-scripts$|run build$|pack \./bin$|publish \./\*\.tgz )", command), command
    assert not re.search(r"\b(pipx|uvx|npx|uv pip|pnpm|yarn)\b", text)


@pytest.mark.parametrize("path", NPM_LOCKS, ids=lambda path: path.parent.name)
def test_a_lock_of_npm_has_hashes_and_no_addresses(path):
    packages = json.loads(path.read_text())["packages"]
    others = {name: package for name, package in packages.items() if name.startswith("node_modules/")}
    ours = {name for name, package in others.items() if package.get("link")}

    assert ours <= {"node_modules/pulumi-gcpx"}
    assert [name for name in others if name not in ours and "integrity" not in others[name]] == []
    assert "://" not in path.read_text()


def test_the_example_requires_what_its_lock_has():
    program = json.loads((lock.NPM_EXAMPLE.parent / "package.json").read_text())
    locked = json.loads(lock.NPM_EXAMPLE.read_text())["packages"][""]

    assert [locked[kind] for kind in ("dependencies", "devDependencies")] == [
        program[kind] for kind in ("dependencies", "devDependencies")
    ]


@pytest.mark.languages
def test_the_sdk_requires_what_its_lock_has(tmp_path):
    sdk.write(tmp_path, language="nodejs")
    program = json.loads((tmp_path / "package.json").read_text())
    locked = json.loads(lock.NPM_SDK.read_text())["packages"][""]

    assert (locked["name"], locked["dependencies"]) == (program["name"], program["dependencies"])
