"""Nothing is packed without its licence."""

from __future__ import annotations

import importlib.metadata
import sysconfig
from pathlib import Path

import pytest
from release.frozen_plugin import FrozenPlugin

from release import archive_licenses


def _write(tmp_path, **origins):
    archive_licenses.write(FrozenPlugin(tmp_path, origins), tmp_path / "licenses")
    return {path.name for path in (tmp_path / "licenses").iterdir()}


def test_each_distribution_gets_a_folder_with_its_texts(tmp_path):
    source = Path(importlib.metadata.distribution("httpx").locate_file("httpx/__init__.py"))
    folder = f"httpx-{importlib.metadata.version('httpx')}"

    assert _write(tmp_path, **{"httpx/__init__.pyc": source, "httpx/_api.pyc": source}) == {folder}
    assert "Redistribution" in (tmp_path / "licenses" / folder / "LICENSE.md").read_text()


def test_the_standard_library_has_the_licence_of_python(tmp_path):
    (name,) = _write(tmp_path, **{"json/__init__.pyc": Path(sysconfig.get_path("stdlib")) / "json" / "__init__.py"})

    assert name.startswith("Python-")
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in (tmp_path / "licenses" / name / "LICENSE.txt").read_text()


def test_a_file_whose_licence_is_not_found_ends_the_build(tmp_path):
    (tmp_path / "libmystery.so.1").write_text("a library that was built by hand")
    with pytest.raises(archive_licenses.MissingLicenseError, match=r"no licence text was found for libmystery\.so\.1"):
        _write(tmp_path, **{"libmystery.so.1": tmp_path / "libmystery.so.1"})
