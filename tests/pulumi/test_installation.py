"""What docs/installation.md says is so: the check of an installation, and the messages if something does not fit."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
import yaml
from values.programs import TEMPLATE, template
from workspace import ROOT, Workspace, pulumi_folder

from gcpx import __version__
from gcpx.protocol.engine import OLDEST_CLI

pytestmark = [pytest.mark.pulumi, pytest.mark.languages]
NEWER = "9.0.0"
DOCUMENT = (ROOT / "docs" / "installation.md").read_text()
SECTION = re.sub(r"\s+", " ", DOCUMENT.split("## Troubleshooting")[1])
NAME = "pulumi-resource-gcpx"


@pytest.fixture
def user(tmp_path, cloud):
    """Someone with a program, and without plugins; the CLI may not download any."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "Pulumi.yaml").write_text("{name: test, runtime: yaml}")
    (tmp_path / "home").mkdir()
    user = Workspace.make(tmp_path / "source", tmp_path, cloud.host, tmp_path / "home")
    return with_variables(user, PATH=f"{pulumi_folder()}:/usr/bin:/bin")


def with_variables(user, **more):
    return attrs.evolve(user, variables={**user.variables, **more})


def write(user, **versions):
    """Write a program with a template for each name, which requires a version of the plugin, or any."""
    resources = {
        name: {"type": TEMPLATE, "properties": template(), "options": {"version": version} if version else {}}
        for name, version in versions.items()
    }
    text = yaml.safe_dump({"name": "test", "runtime": "yaml", "resources": resources})
    (user.program / "Pulumi.yaml").write_text(text)


def plugin(folder, version=__version__):
    """Write a plugin that says that it has a version; return its folder."""
    code = f"import gcpx; gcpx.__version__ = {version!r}; import gcpx.__main__ as plugin; plugin.main()"
    return executable(folder, f'#!/bin/sh\nexec \'{sys.executable}\' -c "{code}" "$@"\n'.encode())


def executable(folder, content):
    folder.mkdir()
    (folder / NAME).write_bytes(content)
    (folder / NAME).chmod(0o755)
    return folder


def install(user, folder, version=__version__, *more):
    user.run("plugin", "install", "resource", "gcpx", version, "--file", str(folder), *more)


def use_checkout(user, folder):
    """Copy what makes a checkout a plugin, and write a program that uses it."""
    folder.mkdir()
    for name in ("PulumiPlugin.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder)
    write(user, web=None)
    program = yaml.safe_load((user.program / "Pulumi.yaml").read_text())
    (user.program / "Pulumi.yaml").write_text(yaml.safe_dump({**program, "packages": {"gcpx": str(folder)}}))


def said(user, *arguments, fails=True):
    """Return what the CLI prints, without line breaks."""
    done = user.run(*arguments, check=False)
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return re.sub(r"\s+", " ", done.stdout + done.stderr)


def assert_quoted(words, output):
    """Assert that the CLI prints a message, and that the documentation quotes it."""
    assert words in output, output
    assert f"`{words}`" in SECTION


def test_the_program_that_checks_the_installation(user, tmp_path, cloud):
    install(user, plugin(tmp_path / "plugin"))
    (user.program / "Pulumi.yaml").write_text(DOCUMENT.split("<<'END'\n")[1].split("END\n")[0])
    user.run("stack", "init", "check")

    assert "Version: " + __version__ in user.run("package", "info", "gcpx").stdout
    assert "+ 2 created" in user.run("up", "--yes").stdout


def test_a_plugin_that_is_not_installed(user):
    write(user, web=__version__)

    assert_quoted("no resource plugin 'pulumi-resource-gcpx' found in the workspace", said(user, "preview"))


def test_a_plugin_that_cannot_be_downloaded(user):
    # Nothing listens on the port of the proxy.
    allowed = with_variables(
        user, PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION="false", HTTPS_PROXY="http://127.0.0.1:1"
    )
    write(user, web=__version__)
    assert_quoted("Could not automatically download and install resource plugin", said(allowed, "preview"))
    write(user, web=None)
    assert_quoted("could not find latest version for provider gcpx", said(allowed, "preview"))


def test_a_plugin_that_is_built_again_with_the_same_version(user, tmp_path):
    install(user, plugin(tmp_path / "plugin"))
    rebuilt = executable(tmp_path / "rebuilt", b"#!/bin/sh\n")
    installed = Path(user.variables["PULUMI_HOME"]) / "plugins" / f"resource-gcpx-v{__version__}" / NAME
    install(user, rebuilt)
    assert installed.read_bytes() != (rebuilt / NAME).read_bytes()
    install(user, rebuilt, __version__, "--reinstall")

    assert installed.read_bytes() == (rebuilt / NAME).read_bytes()


@pytest.mark.parametrize("name", ["README.md", "docs/installation.md"])
def test_documented_commands_replace_a_plugin_of_the_same_version(name):
    commands = re.findall(r"^pulumi plugin install .*--file.*", (ROOT / name).read_text(), re.MULTILINE)

    assert commands
    assert all("--reinstall" in command for command in commands)


def test_an_sdk_that_is_newer_than_the_installed_plugin(user, tmp_path):
    install(user, plugin(tmp_path / "plugin"))
    write(user, web=NEWER)

    assert f"found in the workspace at version v{NEWER}" in said(user, "preview")


def test_an_sdk_that_is_newer_than_the_plugin_on_path(user, tmp_path):
    folder = plugin(tmp_path / "plugin")
    ambient = with_variables(user, PULUMI_IGNORE_AMBIENT_PLUGINS="false", PATH=f"{folder}:{user.variables['PATH']}")
    write(user, web=NEWER)
    output = said(ambient, "preview", fails=False)

    assert f"is expected to have version >={NEWER}, but has {__version__}" in output
    assert_quoted("resource plugin gcpx is expected to have version", output)
    assert_quoted("using pulumi-resource-gcpx from $PATH", output)


def test_versions_of_the_plugin_beside_each_other(user, tmp_path):
    install(user, plugin(tmp_path / "plugin"))
    install(user, plugin(tmp_path / "newer", NEWER), NEWER)
    write(user, web=__version__)
    user.run("up", "--yes", "--skip-preview")
    write(user, web=NEWER)
    user.run("preview", "--expect-no-changes")
    write(user, web=NEWER, api=__version__)
    user.run("up", "--yes", "--skip-preview")
    write(user, web=__version__, api=__version__)
    user.run("preview", "--expect-no-changes")
    user.run("destroy", "--yes", "--skip-preview")

    assert "can be installed beside each other" in DOCUMENT


def test_a_state_whose_version_is_no_longer_installed(user, tmp_path):
    install(user, plugin(tmp_path / "plugin"))
    write(user, web=__version__)
    user.run("up", "--yes", "--skip-preview")
    user.run("plugin", "rm", "resource", "gcpx", __version__, "--yes")
    install(user, plugin(tmp_path / "newer", NEWER), NEWER)
    write(user, web=NEWER)
    user.run("preview", "--expect-no-changes")
    write(user)
    found = said(user, "up", "--yes", "--skip-preview")

    assert f"found in the workspace at version v{__version__}" in found


def test_a_plugin_for_another_processor(user, tmp_path):
    program = bytearray(Path(sys.executable).resolve().read_bytes()[:4096])
    program[18:20] = (243).to_bytes(2, sys.byteorder)  # the number of RISC-V in the header of ELF
    install(user, executable(tmp_path / "plugin", bytes(program)))
    write(user, web=__version__)

    assert_quoted("exec format error", said(user, "preview"))


@pytest.fixture(scope="session")
def old_cli(tmp_path_factory):
    """The CLI with another version in it: whatever asks for its version gets 3.100.0."""
    folder = tmp_path_factory.mktemp("old")
    source = pulumi_folder()
    version = re.search(r"pulumi-([\d.]+)", str(source))
    known = (version[1] if version else Workspace(ROOT, {}).run("version").stdout.strip().removeprefix("v")).encode()
    old = b"3.100.0".ljust(len(known), b"0")
    (folder / "pulumi").write_bytes((source / "pulumi").read_bytes().replace(b"v" + known, b"v" + old))
    shutil.copymode(source / "pulumi", folder / "pulumi")
    (folder / "pulumi-language-yaml").symlink_to(source / "pulumi-language-yaml")
    return folder


@pytest.fixture
def old_user(user, old_cli):
    return with_variables(user, PATH=f"{old_cli}:{user.variables['PATH']}")


def test_a_cli_that_is_too_old(user, old_user, tmp_path):
    install(user, plugin(tmp_path / "plugin"))
    write(user, web=__version__)
    for output in (
        said(old_user, "preview"),
        said(old_user, "package", "get-schema", "gcpx"),
        said(old_user, "package", "add", str(tmp_path / "plugin" / NAME)),
    ):
        assert_quoted(f"gcpx needs the Pulumi CLI {OLDEST_CLI} or later", output)
        assert "Pulumi CLI version 3.100.0" in output
        assert "https://www.pulumi.com/docs/install" in output
        assert "exited prematurely" not in output


def test_a_cli_that_is_too_old_for_a_checkout(old_user, tmp_path):
    use_checkout(old_user, tmp_path / "gcpx")

    assert_quoted("does not satisfy the version range", said(old_user, "preview"))


def test_a_cli_that_is_too_old_for_a_stack_that_exists(user, old_user, tmp_path):
    install(user, plugin(tmp_path / "plugin"))
    write(user, web=__version__)
    user.run("up", "--yes", "--skip-preview")

    assert f"gcpx needs the Pulumi CLI {OLDEST_CLI} or later" in said(old_user, "destroy", "--yes", "--skip-preview")


def test_the_folder_of_an_archive_that_is_added(user, tmp_path):
    folder = plugin(tmp_path / "plugin")
    write(user)
    assert_quoted("or a PulumiPlugin file", said(user, "package", "add", str(folder)))
    install(user, folder)
    user.run("package", "add", "gcpx")

    assert yaml.safe_load((user.program / "Pulumi.yaml").read_text())["packages"] == {"gcpx": f"gcpx@{__version__}"}


WITHOUT_PACKAGES = f"#!/bin/sh\nexec '{sys.executable}' -S \"$@\"\n"
TOO_OLD = (
    f"#!/bin/sh\nexec '{sys.executable}' -c 'import runpy, sys; sys.version_info = (3, 9, 1); "
    'runpy.run_path(sys.argv[1], run_name="__main__")\' "$@"\n'
)
ENVIRONMENTS = {
    "incomplete": (WITHOUT_PACKAGES, "a package that the plugin needs is not installed"),
    "too old": (TOO_OLD, "the plugin needs Python 3.11 or later. This is Python 3.9.1"),
}


@pytest.mark.parametrize(("python", "reason"), ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_a_checkout_whose_environment_does_not_work(tmp_path, python, reason):
    (tmp_path / "python").write_text(python)
    (tmp_path / "python").chmod(0o755)
    command = [str(tmp_path / "python"), str(ROOT / "__main__.py"), "127.0.0.1:1"]  # as Pulumi's Python host does
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert_quoted("gcpx cannot start", done.stderr)
    assert reason in done.stderr
    assert f"delete the folder {ROOT / 'venv'}, and run `pulumi install`" in done.stderr
    assert "plugin archive, which needs no Python" in done.stderr
