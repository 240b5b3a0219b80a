"""The plugin's archive: it needs no Python, behaves like the plugin of the wheel, and contains its licences."""

from __future__ import annotations

import importlib.metadata
import json
import re
import signal
import subprocess
import sys

import pytest
from engines.clock import HANGS
from generate import package_schema
from release.frozen_plugin import NAME, PACKAGES
from workspace import ROOT

from gcpx import __version__
from release import archive_check

pytestmark = pytest.mark.languages
PROGRAM = {
    "name": "without-python",
    "resources": {
        "web": {
            "type": "gcpx:compute:InstanceTemplate",
            "properties": {
                "properties": {
                    "machineType": "e2-small",
                    "disks": [
                        {
                            "boot": True,
                            "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"},
                        }
                    ],
                    "networkInterfaces": [{"network": "global/networks/default"}],
                }
            },
        }
    },
    "variables": {
        "templates": {
            "fn::invoke": {
                "function": "gcpx:compute:listInstanceTemplates",
                "arguments": {"filter": 'name eq "api-.*"'},
            }
        }
    },
    "outputs": {"others": "${templates.items}"},
}


def _install(cli, release):
    cli.run("plugin", "install", "resource", "gcpx", __version__, "--file", str(release.archive))


def test_the_archive_serves_a_program_on_a_machine_without_python(release, cli, cloud):
    _install(cli, release)
    cli.write(PROGRAM)
    cli.run("stack", "init", "dev")
    assert "+ 2 to create" in cli.run("preview")
    cli.run("up", "--yes")
    assert cloud.emulator.store.counts()["instanceTemplates"] == 1
    assert json.loads(cli.run("stack", "output", "--json")) == {"others": []}
    cli.run("preview", "--expect-no-changes", "--refresh")
    cli.run("destroy", "--yes")
    assert "instanceTemplates" not in cloud.emulator.store.counts()


def test_the_plugin_gives_the_schema_of_the_release(release):
    schema = package_schema.text(release.url)

    assert json.loads(schema)["pluginDownloadURL"] == release.url
    assert list(archive_check.problems(release.archive, schema)) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_plugin_ends_on_a_signal(unpacked, number):
    with subprocess.Popen([str(unpacked / NAME)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as plugin:
        assert plugin.stdout.readline().strip().isdigit()
        plugin.send_signal(number)

        assert plugin.wait(timeout=HANGS) == 0
        assert plugin.stderr.read() == ""


def _packed_distributions(unpacked):
    """Name the distributions that have a module in the archive, and their versions."""
    modules = {
        path.relative_to(unpacked / "_internal").as_posix().replace(".pyc", ".py")
        for path in (unpacked / "_internal").rglob("*")
    }
    for found in importlib.metadata.distributions():
        if modules & {str(file) for file in found.files or () if file.suffix in {".py", ".so"}}:
            yield f"{found.name}-{found.version}"


def test_everything_in_the_archive_has_its_licence(unpacked):
    licences = {path.name: list(path.iterdir()) for path in (unpacked / "licenses").iterdir()}
    python = f"Python-{'.'.join(map(str, sys.version_info[:3]))}"
    expected = {*_packed_distributions(unpacked), python, f"gcpx-{__version__}"}

    assert expected >= {python, f"grpcio-{importlib.metadata.version('grpcio')}"}
    assert expected <= licences.keys()
    assert all(texts and all(text.stat().st_size for text in texts) for texts in licences.values())


def test_each_shared_library_of_the_system_has_its_licence(unpacked):
    licences = {path.name.rpartition("-")[0].partition("-")[0] for path in (unpacked / "licenses").iterdir()}
    libraries = [path.name for path in (unpacked / "_internal").glob("lib*.so*") if "python" not in path.name]
    for name in libraries:
        owners = subprocess.run(
            ["dpkg-query", "--search", f"*/{name}"], capture_output=True, text=True, check=True
        ).stdout
        packages = set(re.findall(r"^([^:\s]+)", owners, re.MULTILINE))
        assert {package.partition("-")[0] for package in packages} & licences, name


def test_the_archive_leaves_out_what_the_plugin_never_loads(unpacked):
    tops = {path.name for path in (unpacked / "_internal").iterdir()}

    assert not tops & {"PyInstaller", "_pytest", "altgraph", "click", "gcpx_emulator", "pip", "pygments", "rich"}
    assert tops >= set(PACKAGES)
    assert (unpacked / "_internal" / "gcpx" / "schema.json").read_text() != (ROOT / "schema.json").read_text()


def test_a_plugin_for_another_processor_is_named_as_such(release, cli, tmp_path):
    """The engine names the file and says that it is not a program for this machine."""
    _install(cli, release)
    (plugin,) = (tmp_path / ".pulumi" / "plugins").glob(f"*/{NAME}")
    program = bytearray(plugin.read_bytes())
    program[18:20] = (243).to_bytes(2, sys.byteorder)  # the number of RISC-V in the header of ELF
    plugin.unlink()
    plugin.write_bytes(program)
    plugin.chmod(0o755)
    cli.write(PROGRAM)
    cli.run("stack", "init", "dev")
    done = cli.attempt("preview")

    assert done.returncode
    assert "exec format error" in done.stdout + done.stderr
    assert NAME in done.stdout + done.stderr
