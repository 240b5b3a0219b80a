"""Collects the licence texts of everything in the plugin's archive, on the machine that builds it.

Every file belongs to gcpx, to CPython, to an installed distribution, or to a package of the system (shared libraries,
on Debian and its relatives). A file without a known licence ends the build. Tools such as pip-licenses only know
distributions.
"""

from __future__ import annotations

import importlib.metadata
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import Final

import attrs
from workspace import ROOT

from gcpx import __version__
from release.frozen_plugin import NAME, PACKAGES, FrozenPlugin

_TEXT: Final = re.compile(r"(licen[cs]e|copying|notice)", re.IGNORECASE)
_DOCUMENTS: Final = Path("/usr/share/doc")
_COMMON: Final = Path("/usr/share/common-licenses")
_STANDARD_LIBRARY: Final = Path(sysconfig.get_path("stdlib"))
_PYTHON: Final = ("LICENSE.txt", "LICENSE")


class MissingLicenseError(Exception):
    """A file in the archive has no licence text."""


@attrs.frozen
class Work:
    """A licensed work.

    Attributes:
        texts: the files with the licence.
    """

    name: str
    texts: tuple[Path, ...]


def write(frozen: FrozenPlugin, folder: Path) -> None:
    """Copy the licences of everything in a frozen plugin into a folder, with a folder for each work.

    Raises:
        MissingLicenseError: a licence was not found; the message names the file.
    """
    for work in sorted({_work(name, origin) for name, origin in frozen.origins.items()}, key=lambda work: work.name):
        (folder / work.name).mkdir(parents=True)
        for text in work.texts:
            shutil.copyfile(text, folder / work.name / text.name)


def _work(name: str, origin: Path) -> Work:
    """Return the work to which a file of the frozen plugin belongs."""
    inside = name.partition(".pyc")[0] + ".py" if name.endswith(".pyc") else name
    top = inside.partition("/")[0].partition(".")[0]
    if top in PACKAGES or name.startswith("pulumi_gcpx_provider-"):
        found = Work(f"gcpx-{__version__}", (ROOT / "LICENSE",))
    elif name.partition(".exe")[0] == NAME:
        found = _distribution("pyinstaller")  # its loader
    elif inside in _owners():
        found = _distribution(_owners()[inside])
    elif (_STANDARD_LIBRARY / inside).exists() or origin.is_relative_to(_STANDARD_LIBRARY):
        found = _python()
    elif _debian_package(origin):
        found = _system_package(origin)
    else:
        found = _python() if origin.is_relative_to(sys.base_prefix) else Work(name, ())
    if not found.texts:
        raise MissingLicenseError(f"no licence text was found for {name}, which comes from {origin}")
    return found


@cache
def _owners() -> dict[str, str]:
    """Return the name of the distribution of each installed file, by its path below site-packages."""
    every = [(found.name, found.files or ()) for found in importlib.metadata.distributions()]
    return {file.as_posix(): name for name, files in every for file in files}


@cache
def _distribution(name: str) -> Work:
    found = importlib.metadata.distribution(name)
    described = [file for file in found.files or () if ".dist-info/" in file.as_posix()]
    texts = sorted(Path(str(file.locate())) for file in described if _TEXT.search(file.name))
    return Work(f"{found.name}-{found.version}", tuple(texts))


@cache
def _python() -> Work:
    """Find the licence of CPython, which also covers the libraries in its installers."""
    folders = (_STANDARD_LIBRARY, Path(sys.base_prefix))
    texts = [folder / name for folder in folders for name in _PYTHON if (folder / name).exists()]
    return Work(f"Python-{platform.python_version()}", tuple(texts[:1]))


def _system_package(origin: Path) -> Work:
    """Find the Debian package of a shared library, and its copyright file with the licences that it refers to."""
    package, _, version = _debian_package(origin).partition(" ")
    copyright_file = _DOCUMENTS / package / "copyright"
    if not copyright_file.exists():
        return Work(package, ())
    named = re.findall(rf"{_COMMON}/([A-Za-z]+(?:-[\d.]*\d)?)", copyright_file.read_text())
    common = sorted({_COMMON / name for name in named if (_COMMON / name).exists()})
    return Work(f"{package}-{version.partition(':')[2] or version}", (copyright_file, *common))


@cache
def _debian_package(origin: Path) -> str:
    """Return the name and the version of a file's package; empty if there is none."""
    resolved = origin.resolve()
    if not shutil.which("dpkg-query"):
        return ""
    for path in (
        origin,
        resolved,
        Path("/") / resolved.relative_to("/usr") if resolved.is_relative_to("/usr") else origin,
    ):
        done = subprocess.run(["dpkg-query", "--search", str(path)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            package = done.stdout.partition(": ")[0]
            show = ["dpkg-query", "--show", "--showformat", "${Package} ${Version}", package]
            return subprocess.run(show, capture_output=True, text=True, check=True).stdout
    return ""
