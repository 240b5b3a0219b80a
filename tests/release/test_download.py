"""The CLI downloads the plugin from the URL of a release."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from values.programs import PROJECT
from workspace import Workspace

from gcpx import __version__
from release import plugin_archive

pytestmark = pytest.mark.languages
PROGRAM = """
import pulumi_gcpx as gcpx

gcpx.compute.InstanceTemplate(
    "web",
    properties={
        "machine_type": "e2-small",
        "disks": [{"boot": True, "initialize_params": {"source_image": "family/debian-12"}}],
        "network_interfaces": [{"network": "default"}],
    },
)
"""
# Without a URL, the CLI would ask Pulumi's own server. A proxy that refuses everything keeps the test on this machine.
DOWNLOADING = {
    "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "false",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1",
}
INSTALLED = f"resource-gcpx-v{__version__}"


def test_the_plugin_is_installed_from_a_server(release, cli, asked, tmp_path):
    cli.run("plugin", "install", "resource", "gcpx", __version__, "--server", release.url)

    assert asked == [f"/{plugin_archive.path_in(release.folder).name}"]
    assert (tmp_path / ".pulumi" / "plugins" / INSTALLED / "pulumi-resource-gcpx").exists()


@pytest.fixture
def python(release, constraints, tmp_path):
    """The programs of a virtual environment that has the SDK of the release, and no plugin."""
    environment = tmp_path / "environment"
    venv.create(environment)
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--find-links", str(release.folder)]
    command = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install", *options]
    requirements = ["pip", f"pulumi-gcpx=={__version__}"]  # Pulumi's Python host lists the packages with pip
    subprocess.run([*command, *requirements, "--constraint", str(constraints)], check=True)
    return environment / "bin"


@pytest.fixture
def workspace(tmp_path, cloud, python):
    """A program in Python, and a PULUMI_HOME without plugins."""
    source, home = tmp_path / "source", tmp_path / "home"
    source.mkdir()
    home.mkdir()
    (source / "Pulumi.yaml").write_text("name: download\nruntime: python\n")
    (source / "__main__.py").write_text(PROGRAM)
    made = Workspace.make(source, tmp_path / "stack", cloud.host, home)
    made.run("config", "set", "gcpx:project", PROJECT)
    path = os.pathsep.join((str(python), made.variables["PATH"]))
    return Workspace(made.program, {**made.variables, "PATH": path, **DOWNLOADING})


def test_a_program_brings_the_plugin_that_its_sdk_names(release, workspace, cloud, asked):
    workspace.run("up", "--yes")

    assert asked == [f"/{plugin_archive.path_in(release.folder).name}"]
    assert (Path(workspace.variables["PULUMI_HOME"]) / "plugins" / INSTALLED / "pulumi-resource-gcpx").exists()
    assert cloud.emulator.store.counts()["instanceTemplates"] == 1
    workspace.run("destroy", "--yes")
