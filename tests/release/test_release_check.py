"""`make release-check` finds everything that is wrong with a release that was built, and lists all causes at once."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from generate import package_schema
from workspace import ROOT

from gcpx import __version__
from release import archive_check, frozen_plugin, plugin_archive

pytestmark = pytest.mark.languages
AROUND = shutil.ignore_patterns(
    ".*_cache", ".git", ".venv", ".work", "__pycache__", "build", "dist", "node_modules", "*.egg-info"
)
NEXT = "99.0.0"


def _archive(folder, script):
    """Write an archive whose plugin is a script."""
    with tarfile.open(plugin_archive.path_in(folder), "w:gz") as tar:
        member = tarfile.TarInfo(frozen_plugin.NAME)
        member.size, member.mode = len(script), 0o755
        tar.addfile(member, io.BytesIO(script))
    return plugin_archive.path_in(folder)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (b"#!/bin/sh\necho one library is missing >&2\nexit 1\n", "does not start: one library is missing"),
        (b"#!/bin/sh\nexit 0\n", "does not start: it prints no port"),
        (b"\x7fELF of another machine", "does not start: [Errno 8] Exec format error"),
    ],
)
def test_an_archive_whose_plugin_does_not_start_is_found(tmp_path, script, reason):
    (problem,) = archive_check.problems(_archive(tmp_path, script), "")

    assert reason in problem


def test_an_archive_of_another_url_is_found(release):
    (problem,) = archive_check.problems(release.archive, package_schema.text("https://example.com/another"))

    assert "does not give the schema of this checkout: pluginDownloadURL" in problem


def _check(root, *arguments):
    """Run `make release-check` in another checkout."""
    paths = os.pathsep.join(str(root / name) for name in ("provider", "tools", "sdk/python"))
    command = [sys.executable, "-m", "release.check", *arguments]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path):
    """A copy of this checkout in which the version was raised, and nothing else was done."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT, root, ignore=AROUND)
    source = root / "provider" / "gcpx" / "__init__.py"
    source.write_text(source.read_text().replace(f'"{__version__}"', f'"{NEXT}"'))
    return root


def test_all_causes_are_listed_at_once(checkout, tmp_path):
    done = _check(checkout, str(tmp_path / "dist"), "ftp://example.com", "v1.0.0")

    assert done.returncode == 1
    first, *lines = done.stderr.splitlines()
    assert first == f"make release-check: {NEXT} cannot be released yet"
    assert all(line.startswith("- ") and "; " in line for line in lines)
    for cause in (
        "the tag v1.0.0 is not v99.0.0", "schema.json has the version", "CHANGELOG.md has no section 99.0.0", "README.md names gcpx",
        "the release cannot be built: DOWNLOAD_URL=ftp://example.com is not",
    ):  # fmt: skip
        assert any(cause in line for line in lines), (cause, lines)
    outdated = next(line for line in lines if line.startswith("- out of date: "))
    assert "schema.json" in outdated, lines


def test_a_build_that_fails_is_one_of_the_causes(checkout, tmp_path):
    settings = checkout / "provider" / "gcpx_push" / "pyproject.toml"
    settings.write_text(settings.read_text().replace("hatchling.build", "no_such_backend"))
    done = _check(checkout, str(tmp_path / "dist"))

    assert done.returncode == 1
    assert "- CHANGELOG.md has no section 99.0.0" in done.stderr
    assert "-m pip wheel ...` failed; read the tool's message above, and run `make dist` to repeat it" in done.stderr


def _prepare(root):
    """Do what docs/releasing.md says."""
    paths = os.pathsep.join(str(root / name) for name in ("provider", "tools"))
    for what in ("documents", "sdk"):
        command = [sys.executable, "-m", "generate", what]
        subprocess.run(command, cwd=root, env={**os.environ, "PYTHONPATH": paths}, check=True)
    changelog = root / "CHANGELOG.md"
    changelog.write_text(re.sub(r"^## \S+", f"## {NEXT}", changelog.read_text(), count=1, flags=re.MULTILINE))
    for path in (root / "README.md", *(root / "docs").glob("*.md")):
        path.write_text(path.read_text().replace(__version__, NEXT))


def test_a_raised_version_can_be_released(checkout, tmp_path):
    _prepare(checkout)
    done = _check(checkout, str(tmp_path / "dist"), "https://downloads.example.com/gcpx", f"v{NEXT}")

    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"{NEXT} can be released; its files are in {tmp_path / 'dist'}\n")
    with zipfile.ZipFile(tmp_path / "dist" / f"pulumi_gcpx-{NEXT}-py3-none-any.whl") as wheel:
        assert f'"version": "{NEXT}"' in wheel.read("pulumi_gcpx/pulumi-plugin.json").decode()
