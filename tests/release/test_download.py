"""The CLI downloads the plugin from the URL of a release."""

from __future__ import annotations

import subprocess
import sys
import venv

import plugin_archive
import pytest
from programs import PROJECT
from workspace import ROOT, Workspace

from gcpx import __version__

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
INSTALLED = f"resource-gcpx-v{__version__}"


@pytest.fixture
def asked(release):
    """The requests that the server of the release gets during the test."""
    release.asked.clear()
    return release.asked


def test_the_plugin_is_installed_from_a_server(release, cli, asked, tmp_path):
    cli.run("plugin", "install", "resource", "gcpx", __version__, "--server", release.url)

    assert asked == [f"/{plugin_archive.path_in(release.folder).name}"]
    assert (tmp_path / ".pulumi" / "plugins" / INSTALLED / "PulumiPlugin.yaml").exists() is False
    assert (tmp_path / ".pulumi" / "plugins" / INSTALLED / "pulumi-resource-gcpx").exists()


@pytest.fixture
def program(release, tmp_path):
    """A program in Python whose virtual environment has the SDK of the release and no plugin."""
    environment, source = tmp_path / "environment", tmp_path / "source"
    venv.create(environment)
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--find-links", str(release.folder)]
    command = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install", *options]
    # The language host of the tests asks this environment's pip for the packages.
    requirements = ["pip", f"pulumi-gcpx=={__version__}"]
    subprocess.run([*command, *requirements, "--constraint", str(ROOT / "constraints.txt")], check=True)
    source.mkdir()
    runtime = f"runtime: {{name: python, options: {{virtualenv: {environment}}}}}"
    (source / "Pulumi.yaml").write_text(f"name: download\n{runtime}\n")
    (source / "__main__.py").write_text(PROGRAM)
    return source


def test_a_program_brings_the_plugin_that_its_sdk_names(release, program, cloud, asked, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    workspace = Workspace.make(program, tmp_path / "stack", cloud.host, home)
    workspace.run("config", "set", "gcpx:project", PROJECT)
    workspace.run("up", "--yes", variables={"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "false"})

    assert asked == [f"/{plugin_archive.path_in(release.folder).name}"]
    assert (home / "plugins" / INSTALLED / "pulumi-resource-gcpx").exists()
    assert cloud.emulator.store.counts()["instanceTemplates"] == 1
    workspace.run("destroy", "--yes")
