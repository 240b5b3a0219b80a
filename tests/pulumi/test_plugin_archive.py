"""The plugin's archive: installed into an empty home on a machine without Python, it serves a program in YAML."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
import zipfile

import dist
import plugin_archive
import pytest
from programs import PROJECT
from workspace import pulumi_folder

from gcpx import __version__

pytestmark = pytest.mark.languages
URL = "https://downloads.example.com/gcpx"
PROGRAM = """
name: without-python
runtime: yaml
resources:
  web:
    type: gcpx:compute:InstanceTemplate
    properties:
      properties:
        machineType: e2-small
        disks:
          - boot: true
            initializeParams: {sourceImage: projects/debian-cloud/global/images/family/debian-12}
        networkInterfaces: [{network: global/networks/default}]
variables:
  templates:
    fn::invoke:
      function: gcpx:compute:listInstanceTemplates
      arguments: {filter: name eq "web-.*"}
outputs:
  count: ${templates.items}
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A folder with the files of a release."""
    folder = tmp_path_factory.mktemp("release")
    dist.dist(folder, URL)
    return folder


@pytest.fixture
def archive(release):
    return release / f"pulumi-resource-gcpx-v{__version__}-{plugin_archive.target()}.tar.gz"


@pytest.fixture
def pulumi(tmp_path, cloud):
    """Run the CLI with nothing on PATH but itself and the host of YAML programs."""
    for name in ("bin", "state", "program"):
        (tmp_path / name).mkdir()
    for name in ("pulumi", "pulumi-language-yaml"):
        (tmp_path / "bin" / name).symlink_to(pulumi_folder() / name)
    (tmp_path / "program" / "Pulumi.yaml").write_text(PROGRAM)
    variables = {
        "HOME": str(tmp_path),
        "PATH": str(tmp_path / "bin"),
        "PULUMI_BACKEND_URL": f"file://{tmp_path / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE": "demo",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "GCPX_EMULATOR_HOST": cloud.host,
        "GOOGLE_PROJECT": PROJECT,
    }

    def run(*arguments):
        command = [str(tmp_path / "bin" / "pulumi"), *arguments, "--non-interactive", "--color", "never"]
        return subprocess.run(
            command, cwd=tmp_path / "program", env=variables, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    return run


def test_the_archive_serves_a_program_on_a_machine_without_python(archive, pulumi, cloud):
    pulumi("plugin", "install", "resource", "gcpx", __version__, "--file", str(archive))
    pulumi("stack", "init", "dev")
    assert "+ 2 to create" in pulumi("preview")
    pulumi("up", "--yes")
    assert cloud.emulator.store.counts()["instanceTemplates"] == 1
    assert json.loads(pulumi("stack", "output", "--json"))["count"] == []
    pulumi("preview", "--expect-no-changes", "--refresh")
    pulumi("destroy", "--yes")
    assert "instanceTemplates" not in cloud.emulator.store.counts()


def test_the_checksums_of_a_release_are_those_of_its_files(release):
    lines = (release / "SHA256SUMS").read_text().splitlines()
    sums = {name: total for total, name in (line.split("  ") for line in lines)}

    assert sums == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in release.iterdir()
        if path.name != "SHA256SUMS"
    }
    assert len(sums) == 6


def test_the_sdk_and_the_plugin_know_where_the_plugin_is_downloaded_from(release, archive):
    (wheel,) = release.glob("pulumi_gcpx-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        plugin = json.loads(opened.read("pulumi_gcpx/pulumi-plugin.json"))
    assert plugin == {"resource": True, "name": "gcpx", "version": __version__, "server": URL}
    with tarfile.open(archive) as tar:
        (name,) = [name for name in tar.getnames() if name.endswith("gcpx/schema.json")]
        schema = tar.extractfile(name)
        assert schema is not None
        assert json.load(schema)["pluginDownloadURL"] == URL
